"""A switch with two thresholds."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics, Event
from sekant.model.quantities import AnyQuantity
from sekant.model.signals.base import Signal, register


@register
class Hysteresis(Signal):
    """Two branches: `low` until the input rises above `on_above`, then `high` until it falls below `off_below`.

    The branch changes only when the input crosses a threshold. If the input starts between the thresholds,
    the run begins on the branch `start`.
    """

    type: ClassVar[str] = "hysteresis"
    summary: ClassVar[str] = "two branches, with one threshold for a rising input and one for a falling input"
    signals: ClassVar = ("input", "low", "high", "on_above", "off_below")
    settable: ClassVar = "branch"

    input: AnyQuantity
    """expression that switches between the branches"""
    on_above: AnyQuantity
    """threshold for the rising input"""
    off_below: AnyQuantity
    """threshold for the falling input"""
    low: AnyQuantity = 0.0
    """value of the lower branch: a number or an expression"""
    high: AnyQuantity = 1.0
    """value of the upper branch: a number or an expression"""
    start: Literal["low", "high"] = "low"
    """branch at the start of the run, if the input is between the thresholds"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), on_above=0.7, off_below=0.3, low=-0.2, high=1.4)

    @model_validator(mode="after")
    def _sensible(self):
        on, off = self.on_above, self.off_below
        if isinstance(on, float) and isinstance(off, float) and on <= off:
            raise ValueError(
                f"on_above must be larger than off_below (got {on:g} and {off:g}); otherwise, the signal "
                "would switch endlessly"
            )
        return self

    def output(self, name: str, motion: ElementKinematics) -> SX:
        branch = motion.held(name, "branch", 1.0 if self.start == "high" else 0.0)
        low, high = motion.value(self.low), motion.value(self.high)
        return low + branch * (high - low)

    def events(self, name: str, motion: ElementKinematics) -> tuple[Event, ...]:
        x, key = motion.value(self.input), (name, "branch")
        up, down = x - motion.value(self.on_above), x - motion.value(self.off_below)
        return (
            Event(name, up, 1, {key: SX(1)}, level=True),
            Event(name, down, -1, {key: SX(0)}, level=True),
        )
