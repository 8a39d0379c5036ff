"""Prescribed motions: a joint coordinate as a function of time."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.examples import Stage
from sekant.model.quantities import AnyQuantity, Description, JointName


class Motion(Description):
    """q(t) of one coordinate of a joint; its velocity and acceleration follow by differentiation."""

    signals: ClassVar[tuple[str, ...]] = ("value",)

    joint: JointName
    """the joint"""
    coordinate: int = 0
    """which of its coordinates, from 0"""
    value: AnyQuantity
    """of the coordinate, a function of time t"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.coordinate(), value="30 deg")
