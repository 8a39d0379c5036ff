"""Ordinary differential equations: initial value problems whose right-hand side is a compiled function."""

from sekant.solvers.common.methods import Method
from sekant.solvers.ode.integrate import METHODS, integrate, register
from sekant.solvers.ode.pool import RunPool
from sekant.solvers.ode.problem import OdeProblem, Sampling

__all__ = [
    "METHODS",
    "Method",
    "OdeProblem",
    "RunPool",
    "Sampling",
    "integrate",
    "register",
]
