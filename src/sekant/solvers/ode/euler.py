"""Explicit Euler: x_{k+1} = x_k + h f(t_k, x_k)."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.memory import LARGEST_STATE, call, set_time
from sekant.solvers.common.vectors import normalize, put
from sekant.solvers.ode.projection import project

EVALUATIONS_PER_STEP = 1


@inner
def euler_steps(run, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `run.x` holds the bad state and `run.x_old` the last good one. Where the problem has a function
    for a group of steps, groups begin at multiples of their size; a failed group is repeated step by step.
    """
    x, x_old, k, clock, blocks = run.x, run.x_old, run.k, run.clock, run.blocks
    rhs = run.rhs_x
    n, projection, has_projection = x.size, run.projection.held, run.projection.held.function != 0
    group, i = run.group.size, first
    while i < last:
        if group > 0 and i % group == 0 and last - i >= group:
            if _group_of_steps(run, base, i, h):
                i += group
                continue
            group = 0
        set_time(clock, base + i * h)
        call(rhs)
        good = True
        for j in range(n):
            x_old[j] = x[j]
            x[j] += h * k[0, j]
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        normalize(x, blocks)
        if has_projection and not project(run, projection, x, base + (i + 1) * h):
            return i - first
        i += 1
    return last - first


@inner
def _group_of_steps(run, base, i, h):
    """Take a group of steps; returns whether all states are good, else `run.x` is as before."""
    control, stage, x = run.group.control, run.stage, run.x
    control[0], control[1], control[2] = base, float(i), h
    control[3], control[4] = run.clock.earliest, run.clock.latest
    call(run.group.call)
    good = True
    for j in range(x.size):
        good &= abs(stage[j]) < LARGEST_STATE
    if good:
        put(x, 0, stage)
    return good
