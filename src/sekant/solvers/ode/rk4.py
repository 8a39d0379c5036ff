"""The classical Runge-Kutta method of order 4.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., table II.1.2.
"""

from __future__ import annotations

from sekant.loops.declare.calls import call_native, tail
from sekant.loops.declare.procedures import inner
from sekant.solvers.ode.memory import LARGEST_STATE
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

EVALUATIONS_PER_STEP = 4


@inner
def rk4_steps(run, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `run.x` holds the bad state and `run.x_old` the last good one.
    """
    x, x_old, k, stage, clock, blocks = run.x, run.x_old, run.k, run.stage, run.clock, run.blocks
    rhs, arg_x, arg_stage, res, work = run.rhs, run.arg_x, run.arg_stage, run.res, run.work
    n, low, high, has_projection = x.size, run.earliest, run.latest, run.projection != 0
    for i in range(first, last):
        t = base + i * h
        clock[0] = min(max(t, low), high)
        call_native(rhs, arg_x, res, work)
        for j in range(n):
            stage[j] = x[j] + 0.5 * h * k[0, j]
        clock[0] = min(max(t + 0.5 * h, low), high)
        call_native(rhs, arg_stage, tail(res, 1), work)
        for j in range(n):
            stage[j] = x[j] + 0.5 * h * k[1, j]
        call_native(rhs, arg_stage, tail(res, 2), work)
        for j in range(n):
            stage[j] = x[j] + h * k[2, j]
        clock[0] = min(max(t + h, low), high)
        call_native(rhs, arg_stage, tail(res, 3), work)
        good = True
        for j in range(n):
            x_old[j] = x[j]
            x[j] += h / 6.0 * (k[0, j] + 2.0 * (k[1, j] + k[2, j]) + k[3, j])
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        normalize(x, blocks)
        if has_projection and not project(run, x, base + (i + 1) * h, run.arg_projection):
            return i - first
    return last - first
