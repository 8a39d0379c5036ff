"""The classical Runge-Kutta method of order 4.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., table II.1.2.
"""

from __future__ import annotations

from sekant.loops.declare.calls import call_native, tail
from sekant.loops.declare.procedures import inner
from sekant.solvers.common.memory import LARGEST_STATE, call, set_time
from sekant.solvers.common.vectors import normalize
from sekant.solvers.ode.projection import project

EVALUATIONS_PER_STEP = 4


@inner
def rk4_steps(run, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `run.x` holds the bad state and `run.x_old` the last good one.
    """
    x, x_old, k, stage, clock, blocks = run.x, run.x_old, run.k, run.stage, run.clock, run.blocks
    rhs, arg, res, work = run.rhs.function, run.rhs.arg, run.rhs.res, run.rhs.work
    n, projection, has_projection = x.size, run.projection.held, run.projection.held.function != 0
    for i in range(first, last):
        t = base + i * h
        set_time(clock, t)
        call(run.rhs_x)
        for j in range(n):
            stage[j] = x[j] + 0.5 * h * k[0, j]
        set_time(clock, t + 0.5 * h)
        call_native(rhs, arg, tail(res, 1), work)
        for j in range(n):
            stage[j] = x[j] + 0.5 * h * k[1, j]
        call_native(rhs, arg, tail(res, 2), work)
        for j in range(n):
            stage[j] = x[j] + h * k[2, j]
        set_time(clock, t + h)
        call_native(rhs, arg, tail(res, 3), work)
        good = True
        for j in range(n):
            x_old[j] = x[j]
            x[j] += h / 6.0 * (k[0, j] + 2.0 * (k[1, j] + k[2, j]) + k[3, j])
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        normalize(x, blocks)
        if has_projection and not project(run, projection, x, base + (i + 1) * h):
            return i - first
    return last - first
