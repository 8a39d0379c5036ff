"""The derivative of a signal, filtered."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity, Time
from sekant.model.signals.base import Signal, register


@register
class Derivative(Signal):
    """y = (input - x) / T with T x' = input - x: the derivative s / (1 + T s), from x = start."""

    type: ClassVar[str] = "derivative"
    summary: ClassVar[str] = "derivative of an input, through a first-order filter"

    input: AnyQuantity  # expression of what goes in
    time_constant: Time
    """T of the filter: slower changes are differentiated, faster ones are not"""
    start: AnyQuantity = 0.0
    """value of the filtered input at the start; the derivative begins at (input - start) / T"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), time_constant=0.13)

    @model_validator(mode="after")
    def _sensible(self):
        if isinstance(self.time_constant, float) and self.time_constant <= 0:
            raise ValueError(
                f"time_constant must be positive (got {self.time_constant:g} s): without a filter the derivative of "
                "a signal that jumps has no value"
            )
        return self

    def output(self, name: str, motion: ElementKinematics) -> SX:
        x = motion.state(name, "filtered", motion.value(self.start), f"({self.unit})*s")
        return (motion.value(self.input) - x) / motion.value(self.time_constant)

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        return {"filtered": motion.signal(name)}
