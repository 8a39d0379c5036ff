"""Signals: named quantities, with or without states, that forces and other signals may use.

Each type is one file of this folder, where the registry finds it. Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant.model.signals.base import SIGNALS, Signal, register, signal_class

if TYPE_CHECKING:
    from sekant.model.signals.delay import Delay
    from sekant.model.signals.derivative import Derivative
    from sekant.model.signals.event import EventSignal as Event
    from sekant.model.signals.expression import ExpressionSignal as Expression
    from sekant.model.signals.held import Held
    from sekant.model.signals.hysteresis import Hysteresis
    from sekant.model.signals.integral import Integral
    from sekant.model.signals.lowpass import Lowpass
    from sekant.model.signals.noise import Noise
    from sekant.model.signals.numeric import Numeric
    from sekant.model.signals.pid import Pid
    from sekant.model.signals.rate_limit import RateLimit
    from sekant.model.signals.sampled import SampledSignal as Sampled
    from sekant.model.signals.state_space import StateSpace
    from sekant.model.signals.tracing import traced
    from sekant.model.signals.transfer_function import TransferFunction

__all__ = [
    "SIGNALS",
    "Delay",
    "Derivative",
    "Event",
    "Expression",
    "Held",
    "Hysteresis",
    "Integral",
    "Lowpass",
    "Noise",
    "Numeric",
    "Pid",
    "RateLimit",
    "Sampled",
    "Signal",
    "StateSpace",
    "TransferFunction",
    "register",
    "signal_class",
    "traced",
]


def __getattr__(name: str) -> Any:
    if name == "traced":
        from sekant.model.signals.tracing import traced

        return traced
    return SIGNALS.exported(name)


def __dir__() -> list[str]:
    return sorted(__all__)
