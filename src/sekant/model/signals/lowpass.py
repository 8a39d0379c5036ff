"""Low-pass filters of first and second order."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity, Dimensionless, NotNegative, Positive, Time
from sekant.model.signals.base import Signal, register


@register
class Lowpass(Signal):
    """With order 1, T y' = input - y. With order 2, T^2 y'' + 2 damping T y' + y = input. y starts at
    `start`, with zero rate for order 2."""

    type: ClassVar[str] = "lowpass"
    summary: ClassVar[str] = "low-pass filter of first or second order"
    settable: ClassVar = "value"

    input: AnyQuantity
    """expression that is filtered"""
    time_constant: Positive[Time]
    """time constant T: inverse of the corner frequency in rad/s"""
    order: int = 1
    """order of the filter, 1 or 2"""
    damping: NotNegative[Dimensionless] = 1.0
    """damping ratio of a filter of order 2"""
    start: AnyQuantity = 0.0
    """value at the start"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), time_constant=0.13, order=2, damping=0.6)

    @model_validator(mode="after")
    def _sensible(self):
        if self.order not in (1, 2):
            raise ValueError(
                f"order must be 1 or 2 (got {self.order}); for a higher order, connect several filters in "
                "series"
            )
        return self

    def output(self, name: str, motion: ElementKinematics) -> SX:
        y = motion.state(name, "value", motion.value(self.start), self.unit)
        if self.order == 2:
            motion.state(name, "rate", SX(0), f"({self.unit})/s")
        return y

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        y, T, u = motion.state(name, "value"), motion.value(self.time_constant), motion.value(self.input)
        if self.order == 1:
            return {"value": (u - y) / T}
        r = motion.state(name, "rate")
        return {"value": r, "rate": ((u - y) / T - 2 * motion.value(self.damping) * r) / T}
