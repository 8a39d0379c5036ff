"""Prescribed motions: a joint coordinate as a function of time."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.examples import Stage
from sekant.model.quantities import AnyQuantity, Description, JointName


class Motion(Description):
    """q(t) of one coordinate of a joint; its velocity and acceleration follow by differentiation."""

    signals: ClassVar[tuple[str, ...]] = ("value",)

    joint: JointName
    """joint that moves"""
    coordinate: int = 0
    """index of its coordinate, starting at 0"""
    value: AnyQuantity
    """value of the coordinate, a function of time t"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.coordinate(), value="30 deg")
