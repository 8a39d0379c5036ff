"""The classical Runge-Kutta method of order 4.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., table II.1.2.
"""

from __future__ import annotations

from sekant.native_call import call_native
from sekant.solvers.common.compiled import compiled
from sekant.solvers.ode.memory import LARGEST_STATE
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

EVALUATIONS_PER_STEP = 4


@compiled
def rk4_steps(native, plan, x, x_old, base, first, last, h, low, high):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `x` holds the bad state and `x_old` the last good one.
    """
    clock, stage, n, blocks = native.clock, native.stage, x.size, plan.unit_blocks
    rhs, arg_stage, res, work = native.rhs, native.arg_stage, native.res, native.work
    k1, k2, k3, k4 = native.k[0], native.k[1], native.k[2], native.k[3]
    has_blocks, has_projection = blocks.shape[0] > 0, native.projection != 0
    for i in range(first, last):
        t = base + i * h
        clock[0] = min(max(t, low), high)
        call_native(rhs, native.arg_x, res, work)
        for j in range(n):
            stage[j] = x[j] + 0.5 * h * k1[j]
        clock[0] = min(max(t + 0.5 * h, low), high)
        call_native(rhs, arg_stage, res[1:], work)
        for j in range(n):
            stage[j] = x[j] + 0.5 * h * k2[j]
        call_native(rhs, arg_stage, res[2:], work)
        for j in range(n):
            stage[j] = x[j] + h * k3[j]
        clock[0] = min(max(t + h, low), high)
        call_native(rhs, arg_stage, res[3:], work)
        good = True
        for j in range(n):
            x_old[j] = x[j]
            x[j] += h / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j])
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        if has_blocks:
            normalize(x, blocks)
        if has_projection and not project(native, plan, x, base + (i + 1) * h, low, high):
            return i - first
    return last - first
