"""Differential-algebraic systems of index 3 and stiff ordinary ones: implicit integrators."""

from sekant.solvers.dae.integrate import METHODS, integrate_dae
from sekant.solvers.dae.problem import DaeProblem
from sekant.solvers.dae.stiffness import stiffness

__all__ = [
    "METHODS",
    "DaeProblem",
    "integrate_dae",
    "stiffness",
]
