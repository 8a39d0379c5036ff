"""A signal that is sampled and held."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics, Sampled
from sekant.model.quantities import AnyQuantity, NotNegative, Positive, Time
from sekant.model.signals.base import Signal, register


@register
class SampledSignal(Signal):
    """y is the input at the most recent of the sample times `offset` + k `period` (k = 0, 1, 2, ...). Before the
    first sample, y = `start`.

    All samples that are taken at the same time use the values just before this time. A sampled signal may therefore
    use its own value, as in the sum ``total + period * error``, and loops of sampled signals are not algebraic loops.
    """

    type: ClassVar[str] = "sampled"
    summary: ClassVar[str] = "samples its input at regular times and holds the value between samples"
    settable: ClassVar = "value"

    input: AnyQuantity
    """expression that is sampled"""
    period: Positive[Time]
    """time between samples"""
    offset: NotNegative[Time] = 0.0
    """time of the first sample"""
    start: AnyQuantity = 0.0
    """value at the start"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), period=0.05, offset=0.01, start=0.2)

    def output(self, name: str, motion: ElementKinematics) -> SX:
        return motion.held(name, "value", motion.value(self.start), self.unit)

    def samples(self, name: str, motion: ElementKinematics) -> tuple[Sampled, ...]:
        period, offset = (fixed_time(name, field, getattr(self, field)) for field in ("period", "offset"))
        return (Sampled((name, "value"), motion.value(self.input), period, offset),)


def fixed_time(name: str, field: str, value: object) -> float:
    """A time that must be known as a number before a run."""
    if isinstance(value, SX) and value.is_constant():
        value = float(value)
    if not isinstance(value, (int, float)):
        raise ModelError(
            f"{field} cannot be a run-time parameter, because the sampling times of a run must be fixed; "
            "compile without this parameter",
            path=("signals", name, field),
        )
    return float(value)
