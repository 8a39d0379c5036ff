"""Taylor series of arbitrary order for ordinary differential equations and differential-algebraic ones of index 3."""

from sekant.solvers.taylor.problem import TaylorProblem
from sekant.solvers.taylor.run import TaylorRun, integrate, order_for

__all__ = [
    "TaylorProblem",
    "TaylorRun",
    "integrate",
    "order_for",
]
