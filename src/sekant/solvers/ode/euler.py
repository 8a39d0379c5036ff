"""Explicit Euler: x_{k+1} = x_k + h f(t_k, x_k)."""

from __future__ import annotations

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner
from sekant.solvers.ode.memory import LARGEST_STATE
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

EVALUATIONS_PER_STEP = 1


@inner
def euler_steps(run, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `run.x` holds the bad state and `run.x_old` the last good one. Where the problem has a function
    for a group of steps, groups begin at multiples of their size; one that fails is repeated step by step.
    """
    x, x_old, k, clock, blocks = run.x, run.x_old, run.k, run.clock, run.blocks
    rhs, arg, res, work = run.rhs, run.arg_x, run.res, run.work
    n, low, high, has_projection = x.size, run.earliest, run.latest, run.projection != 0
    group, i = run.group_size, first
    while i < last:
        if group > 0 and i % group == 0 and last - i >= group:
            if _group_of_steps(run, base, i, h):
                i += group
                continue
            group = 0
        clock[0] = min(max(base + i * h, low), high)
        call_native(rhs, arg, res, work)
        good = True
        for j in range(n):
            x_old[j] = x[j]
            x[j] += h * k[0, j]
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        normalize(x, blocks)
        if has_projection and not project(run, x, base + (i + 1) * h, run.arg_projection):
            return i - first
        i += 1
    return last - first


@inner
def _group_of_steps(run, base, i, h):
    """Take a group of steps; returns whether all states are good, else `run.x` is as before."""
    control, stage, x = run.control, run.stage, run.x
    control[0], control[1], control[2], control[3], control[4] = base, float(i), h, run.earliest, run.latest
    call_native(run.euler_group, run.arg_group, run.group_res, run.work)
    good = True
    for j in range(x.size):
        good &= abs(stage[j]) < LARGEST_STATE
    if good:
        for j in range(x.size):
            x[j] = stage[j]
    return good
