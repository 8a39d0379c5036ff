"""Differential-algebraic systems of index 3 and stiff ordinary ones: implicit integrators."""

from sekant.solvers.dae.integrate import integrate_dae
from sekant.solvers.dae.methods import METHODS
from sekant.solvers.dae.problem import DaeOutcome, DaeProblem, DaeStats
from sekant.solvers.dae.stiffness import stiffness

__all__ = [
    "METHODS",
    "DaeOutcome",
    "DaeProblem",
    "DaeStats",
    "integrate_dae",
    "stiffness",
]
