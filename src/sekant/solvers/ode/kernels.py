"""The step kernels of the fixed-step methods, by number."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner
from sekant.solvers.ode.euler import euler_steps
from sekant.solvers.ode.rk4 import rk4_steps
from sekant.solvers.ode.semi_implicit_euler import semi_implicit_euler_steps

EULER, SEMI_IMPLICIT_EULER, RK4 = range(3)


@inner
def take_steps(run, kernel, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded."""
    if kernel == EULER:
        return euler_steps(run, base, first, last, h)
    if kernel == SEMI_IMPLICIT_EULER:
        return semi_implicit_euler_steps(run, base, first, last, h)
    return rk4_steps(run, base, first, last, h)
