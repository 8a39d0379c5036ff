"""A signal that follows another one, at a limited rate."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity, Positive, Time
from sekant.model.signals.base import Signal, register


@register
class RateLimit(Signal):
    """y' = (input - y) / T, limited to the range from `-falling` to `rising`: an actuator with a lag and a
    maximum speed."""

    type: ClassVar[str] = "rate_limit"
    summary: ClassVar[str] = "follows an input with a lag and with limited rates"
    settable: ClassVar = "value"

    input: AnyQuantity
    """expression that is followed"""
    rising: Positive[AnyQuantity]
    """largest rate upward, per second"""
    falling: Positive[AnyQuantity] | None = None
    """largest rate downward, per second, as a positive number; by default the rate upward"""
    time_constant: Positive[Time] = 1e-3
    """time constant T of the lag while the rate is within its limits"""
    start: AnyQuantity = 0.0
    """value at the start"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), rising=1.7, falling=1.1)

    def output(self, name: str, motion: ElementKinematics) -> SX:
        return motion.state(name, "value", motion.value(self.start), self.unit)

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        free = (motion.value(self.input) - motion.state(name, "value")) / motion.value(self.time_constant)
        rising = motion.value(self.rising)
        falling = rising if self.falling is None else motion.value(self.falling)
        return {"value": ca.fmax(ca.fmin(free, rising), -falling)}
