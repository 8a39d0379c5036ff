"""Base class of signals, and the registry of their types.

A signal is a number with a name that forces, sensors and other signals may use. Its value (`output`) may depend on
time, parameters, the motion, other signals, and on its own states, whose rates (`rates`) are evaluated once the
outputs of all signals are known; so a loop of signals is allowed if it contains a state.
"""

from __future__ import annotations

from typing import ClassVar

from sekant.geometry.spatial import SX
from sekant.model.motion import Delayed, ElementKinematics, Event, Sampled
from sekant.model.quantities import UnitName
from sekant.model.registry import Item, Registry


class Signal(Item):
    """A named quantity that may have states."""

    signals: ClassVar[tuple[str, ...]] = ("input",)  # fields that may vary in time
    settable: ClassVar[str] = ""
    """the state or held value that events set; empty if there is none"""

    unit: UnitName = "1"
    """unit of the value, for results and plots"""

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the parts of the value; none for a scalar."""
        return ()

    def output(self, name: str, motion: ElementKinematics) -> SX:
        """The value of the signal `name`; states are taken from ``motion.state``."""
        raise NotImplementedError(f"signal type '{self.type}' does not implement 'output'")

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        """The rate of each state, by the name with which `output` made it."""
        return {}

    def events(self, name: str, motion: ElementKinematics) -> tuple[Event, ...]:
        """The events that set held values of this signal, which `output` makes."""
        return ()

    def samples(self, name: str, motion: ElementKinematics) -> tuple[Sampled, ...]:
        """Held values of this signal that are set at given times."""
        return ()

    def delays(self, name: str, motion: ElementKinematics) -> tuple[Delayed, ...]:
        """Inputs of this signal that it uses after a delay."""
        return ()

    def smooth(self) -> Signal:
        """The signal that replaces this one in linear models and equilibria."""
        return self


SIGNALS: Registry[Signal] = Registry("signal", package="sekant.model.signals")
register, signal_class = SIGNALS.register, SIGNALS.find
