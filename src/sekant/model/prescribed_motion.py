"""Prescribed motions: a joint coordinate as a function of time."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.examples import Stage
from sekant.model.quantities import AnyQuantity, Description, JointName


class Motion(Description):
    """Prescribes a joint coordinate as a function of time. Velocity and acceleration follow by differentiation."""

    signals: ClassVar[tuple[str, ...]] = ("value",)

    joint: JointName
    """joint whose coordinate is prescribed"""
    coordinate: int = 0
    """index of the joint's coordinate, starting at 0"""
    value: AnyQuantity
    """coordinate (m or rad) as a function of the time t"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.coordinate(), value="30 deg")
