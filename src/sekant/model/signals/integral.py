"""The integral of a signal."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity
from sekant.model.signals.base import Signal, register


@register
class Integral(Signal):
    """y' = input, with y = `start` at the start of the run."""

    type: ClassVar[str] = "integral"
    summary: ClassVar[str] = "integral of an input over time"
    settable: ClassVar = "value"

    input: AnyQuantity
    """expression that is integrated"""
    start: AnyQuantity = 0.0
    """value at the start"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), start=0.3)

    def output(self, name: str, motion: ElementKinematics) -> SX:
        return motion.state(name, "value", motion.value(self.start), self.unit)

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        return {"value": motion.value(self.input)}
