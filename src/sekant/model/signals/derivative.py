"""The derivative of a signal, filtered."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity, Positive, Time
from sekant.model.signals.base import Signal, register


@register
class Derivative(Signal):
    """y = (input - x) / T with T x' = input - x: the transfer function is s / (1 + T s). The run begins with
    x = `start`."""

    type: ClassVar[str] = "derivative"
    summary: ClassVar[str] = "derivative of an input, through a first-order filter"

    input: AnyQuantity
    """expression that is differentiated"""
    time_constant: Positive[Time]
    """time constant T of the filter, which differentiates changes that are slower than T"""
    start: AnyQuantity = 0.0
    """filtered input x at the start; the derivative starts at (input - start) / T"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), time_constant=0.13)

    def output(self, name: str, motion: ElementKinematics) -> SX:
        x = motion.state(name, "filtered", motion.value(self.start), f"({self.unit})*s")
        return (motion.value(self.input) - x) / motion.value(self.time_constant)

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        return {"filtered": motion.signal(name)}
