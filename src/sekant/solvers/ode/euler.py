"""Explicit Euler: x_{k+1} = x_k + h f(t_k, x_k)."""

from __future__ import annotations

from sekant.native_call import call_native
from sekant.solvers.common.compiled import compiled
from sekant.solvers.ode.memory import LARGEST_STATE
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

EVALUATIONS_PER_STEP = 1


@compiled
def euler_steps(native, plan, x, x_old, base, first, last, h, low, high):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `x` holds the bad state and `x_old` the last good one. Where the problem has a function for a
    group of steps, groups begin at multiples of their size; one that fails is repeated step by step.
    """
    clock, k, n, blocks = native.clock, native.k[0], x.size, plan.unit_blocks
    rhs, arg, res, work = native.rhs, native.arg_x, native.res, native.work
    has_blocks, has_projection = blocks.shape[0] > 0, native.projection != 0
    group = native.group_size
    i = first
    while i < last:
        if group > 0 and i % group == 0 and last - i >= group:
            if _group_of_steps(native, x, base, i, h, low, high):
                i += group
                continue
            group = 0
        clock[0] = min(max(base + i * h, low), high)
        call_native(rhs, arg, res, work)
        good = True
        for j in range(n):
            x_old[j] = x[j]
            x[j] += h * k[j]
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        if has_blocks:
            normalize(x, blocks)
        if has_projection and not project(native, plan, x, base + (i + 1) * h, low, high):
            return i - first
        i += 1
    return last - first


@compiled
def _group_of_steps(native, x, base, i, h, low, high):
    """Take a group of steps; returns whether all states are good, else `x` is as before."""
    control, stage = native.control, native.stage
    control[0], control[1], control[2], control[3], control[4] = base, i, h, low, high
    call_native(native.euler_group, native.arg_group, native.group_res, native.work)
    good = True
    for j in range(x.size):
        good &= abs(stage[j]) < LARGEST_STATE
    if good:
        for j in range(x.size):
            x[j] = stage[j]
    return good
