"""Solutions of F(q) = (0, d) for many values of d, each from its neighbor, by Newton's method with prediction."""

from sekant.solvers.sweep.problem import Sweep, SweepPool, SweepProblem, sweep

__all__ = ["Sweep", "SweepPool", "SweepProblem", "sweep"]
