"""Ordinary differential equations: initial value problems whose right-hand side is a compiled function."""

from sekant.solvers.ode.integrate import integrate
from sekant.solvers.ode.methods import METHODS, Method
from sekant.solvers.ode.problem import NativeFunction, OdeOutcome, OdeProblem, OdeStats, Status

__all__ = [
    "METHODS",
    "Method",
    "NativeFunction",
    "OdeOutcome",
    "OdeProblem",
    "OdeStats",
    "Status",
    "integrate",
]
