"""Ordinary differential equations: initial value problems whose right-hand side is a compiled function."""

from sekant.solvers.ode.integrate import integrate
from sekant.solvers.ode.methods import METHODS, Method, register
from sekant.solvers.ode.problem import (
    NativeFunction,
    OdeEvent,
    OdeOutcome,
    OdeProblem,
    OdeStats,
    Sampling,
    Status,
)

__all__ = [
    "METHODS",
    "Method",
    "NativeFunction",
    "OdeEvent",
    "OdeOutcome",
    "OdeProblem",
    "OdeStats",
    "Sampling",
    "Status",
    "integrate",
    "register",
]
