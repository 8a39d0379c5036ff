"""Output rows: states between the steps, projected, with accelerations and multipliers."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import open_segment, set_time
from sekant.solvers.common.outcome import CONSTRAINTS, MORE, NOT_FINITE
from sekant.solvers.common.vectors import normalize, put, take
from sekant.solvers.dae.memory import DaeMemory, set_state
from sekant.solvers.dae.projection import accelerations, factorize_at, project
from sekant.solvers.dae.radau_dense import between


@procedure(DaeMemory, "Radau integrator", 0.1)
def write_row(memory, t, consistent):
    """Write the state as the next output row; returns -1 or the constraint that cannot be satisfied.

    `consistent`: 1 if that state needs no projection.
    """
    solution = memory.saddle.x
    n = memory.clock.row
    x = memory.rows[n]
    if memory.m > 0 and consistent == 0.0:
        bad = project(memory, t, x)
        if bad >= 0:
            memory.failed.component, memory.failed.t = bad, t
            return bad
    else:
        normalize(x, memory.blocks)
        set_time(memory.clock, t)
        set_state(memory, x)
        factorize_at(memory)
    accelerations(memory)
    take(memory.a_rows[n], solution, 0)
    take(memory.lam_rows[n], solution, memory.nv)
    memory.clock.row += 1
    return -1


@inner
def start_run(memory):
    """Consistent start, first row; returns MORE or a code of failure."""
    x, given, a = memory.x, memory.step.trial, memory.a_now
    nq, nv, t = memory.point.q.size, a.size, memory.clock.t
    open_segment(memory.clock, memory.plan, 0)
    put(given, 0, x)
    bad = project(memory, t, x)
    if bad >= 0:
        memory.failed.component, memory.failed.t = bad, t
        return CONSTRAINTS
    for j in range(nq):
        memory.moved_q = max(memory.moved_q, abs(x[j] - given[j]))
    for j in range(nq, nq + nv):
        memory.moved_v = max(memory.moved_v, abs(x[j] - given[j]))
    put(memory.rows[0], 0, x)
    put(memory.x_old, 0, x)
    write_row(memory, t, 1.0)
    put(a, 0, memory.a_rows[0])
    put(memory.lam_now, 0, memory.lam_rows[0])
    for j in range(nv):
        if not abs(a[j]) < 1e300:
            memory.failed.component, memory.failed.t = nq + j, t
            return NOT_FINITE
    return MORE


@inner
def write_rows(memory, budget):
    """Write the outputs up to the current time, at most `budget` of them; returns the budget left.

    Returns -1 after a failure.
    """
    clock = memory.clock
    t_eval = memory.plan.t_eval
    t = clock.t
    while budget > 0 and clock.row < t_eval.size and t_eval[clock.row] <= t:
        t_row = t_eval[clock.row]
        x = memory.rows[clock.row]
        if t_row == t:
            put(x, 0, memory.x)
        else:
            between(memory, (t_row - memory.step.start) / memory.step.length, x)
        if write_row(memory, t_row, 1.0 if t_row == t else 0.0) >= 0:
            return -1
        budget -= 1
    return budget
