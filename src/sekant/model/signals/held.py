"""A number that events set."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity
from sekant.model.signals.base import Signal, register


@register
class Held(Signal):
    """Keeps its value until an event (a signal of type `event`) sets it."""

    type: ClassVar[str] = "held"
    summary: ClassVar[str] = "a number that keeps its value until an event sets it"
    signals: ClassVar = ()
    settable: ClassVar = "value"

    start: AnyQuantity = 0.0
    """value at the start"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(start=stage.uniform(0.2, 0.9))

    def output(self, name: str, motion: ElementKinematics) -> SX:
        return motion.held(name, "value", motion.value(self.start), self.unit)
