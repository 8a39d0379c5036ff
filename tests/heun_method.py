"""Heun's method of order 2, as a newcomer adds it: one file, with the compiled loop and its registration."""

from sekant.loops.declare.calls import call_native, tail
from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.fixed_steps import count_steps, next_steps
from sekant.solvers.common.memory import LARGEST_STATE, call, set_time
from sekant.solvers.common.outcome import FINISHED, MORE, NOT_FINITE
from sekant.solvers.common.vectors import normalize
from sekant.solvers.ode import Method, register
from sekant.solvers.ode.memory import Run
from sekant.solvers.ode.segments import enter_segment, keep_held


@inner
def _step(run, t, h):
    """x += h/2 (f(t, x) + f(t + h, x + h f(t, x))); returns whether the state is good."""
    x, k, stage, rhs = run.x, run.k, run.stage, run.rhs
    set_time(run.clock, t)
    call(run.rhs_x)
    for j in range(x.size):
        stage[j] = x[j] + h * k[0, j]
    set_time(run.clock, t + h)
    call_native(rhs.function, rhs.arg, tail(rhs.res, 1), rhs.work)
    good = True
    for j in range(x.size):
        x[j] += 0.5 * h * (k[0, j] + k[1, j])
        good &= abs(x[j]) < LARGEST_STATE
    normalize(x, run.blocks)
    return good


@procedure(Run, "Heun's method", 1.0)
def advance(run, a, b):
    """Take at least `a` steps, to the output after them; returns a code of `memory`."""
    clock, plan = run.clock, run.plan
    budget, t_eval, edges, x = int(a), plan.t_eval, plan.edges, run.x
    if clock.started == 0:
        enter_segment(run, 0)
    while clock.row < t_eval.size:
        if budget <= 0:
            return MORE
        at_edge, landing, total, origin, first, last, h = next_steps(run)
        for i in range(first, last):
            if not _step(run, origin + i * h, h):
                return NOT_FINITE
        budget -= last - first
        if not count_steps(run, last - first, landing, total, origin, first, h):
            continue
        if abs(t_eval[clock.row] - landing) <= plan.snap:
            for j in range(x.size):
                run.rows[clock.row, j] = x[j]
            keep_held(run, clock.row)
            clock.row += 1
        if at_edge and clock.segment + 2 < edges.size:
            run.counts.restarts += 1
            enter_segment(run, clock.segment + 1)
    return FINISHED


HEUN = register(Method("heun", 2, False, "Heun, fixed step", advance, evaluations_per_step=2))
