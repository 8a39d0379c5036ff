"""Events: where a quantity crosses zero, signals are set, or the run ends."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics, Event
from sekant.model.quantities import AnyQuantity, SignalName
from sekant.model.signals.base import Signal, register

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@register
class EventSignal(Signal):
    """When the expression `when` crosses zero, the event sets another signal, resets signals to their start
    values, or ends the run.

    The value of the signal is the number of crossings so far. Events can set signals of the types `held`,
    `sampled`, `integral`, `lowpass`, `rate_limit`, `hysteresis` (its branch, 0 or 1) and `pid` (its integral part).
    """

    type: ClassVar[str] = "event"
    summary: ClassVar[str] = (
        "a zero crossing that sets or resets signals, or ends the run; the signal counts the crossings"
    )
    signals: ClassVar = ("when", "to")
    settable: ClassVar = "count"

    when: AnyQuantity
    """expression whose zero crossings trigger the event"""
    direction: Literal["rising", "falling", "both"] = "both"
    """direction of the zero crossings that trigger the event"""
    set: SignalName | None = None
    """signal that the event sets"""
    to: AnyQuantity = 0.0
    """new value of the signal named by `set`, evaluated just before the event"""
    reset: tuple[SignalName, ...] = ()
    """signals that return to their start values"""
    stop: bool | str = False
    """whether the event ends the run; a string also ends it and is reported as the reason"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(when=stage.signal(), direction="rising", stop=True)

    @model_validator(mode="after")
    def _sensible(self):
        if isinstance(self.when, float):
            raise ValueError(
                f"when is the number {self.when:g}, which never crosses zero; give an expression"
            )
        return self

    def output(self, name: str, motion: ElementKinematics) -> SX:
        return motion.held(name, "count")

    def events(self, name: str, motion: ElementKinematics) -> tuple[Event, ...]:
        sets = {(name, "count"): motion.held(name, "count") + 1}
        if self.set is not None:
            sets[self.set, _part(motion, self.set)] = motion.value(self.to)
        for other in self.reset:
            key = (other, _part(motion, other))
            sets[key] = motion.start_of(*key)
        text = f"event '{name}'" if self.stop is True else (self.stop or "")
        return (Event(name, motion.value(self.when), DIRECTIONS[self.direction], sets, stop=text),)


def _part(motion: ElementKinematics, other: str) -> str:
    """The state or held value of a signal that events set; made by its output."""
    motion.signal(other)
    part = motion.model.signals[other].settable
    motion.start_of(other, part)
    return part
