"""A named expression."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity
from sekant.model.signals.base import Signal, register


@register
class ExpressionSignal(Signal):
    """Any expression of time, parameters, joint coordinates, sensors and other signals."""

    type: ClassVar[str] = "expression"
    summary: ClassVar[str] = "an expression of time, parameters, coordinates, sensors and other signals"
    signals: ClassVar = ("value",)

    value: AnyQuantity
    """an expression of the motion, time, inputs and signals"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(value=f"0.3*sin(2*t) + 0.2*{stage.signal()}")

    def output(self, name: str, motion: ElementKinematics) -> SX:
        return motion.value(self.value)
