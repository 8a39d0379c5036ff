"""The time loop of fixed-step methods without constraints; landings as in `common.fixed_steps`."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.fixed_steps import count_steps, ending_at_events, next_steps
from sekant.solvers.common.memory import LARGEST_STATE
from sekant.solvers.common.outcome import CONSTRAINTS, EVENT, FINISHED, MORE, NOT_FINITE, TOO_MANY_STEPS
from sekant.solvers.common.vectors import put
from sekant.solvers.ode.euler import euler_steps
from sekant.solvers.ode.memory import Run
from sekant.solvers.ode.rk4 import rk4_steps
from sekant.solvers.ode.segments import enter_segment, keep_held
from sekant.solvers.ode.semi_implicit_euler import semi_implicit_euler_steps


@inner
def _retake(run, kernel, t, h):
    """One step from `run.x_old`; returns whether it succeeded."""
    put(run.x, 0, run.x_old)
    return take_steps(run, kernel, t, 0, 1, h) == 1


ended_by_event = ending_at_events(_retake)


@inner
def _give_up(run, h):
    """Go back to the last good state; returns a code of `memory`."""
    x, x_old = run.x, run.x_old
    run.failed.t = run.clock.t + h
    for j in range(x.size - 1, -1, -1):
        if not abs(x[j]) < LARGEST_STATE:
            run.failed.component = j
        x[j] = x_old[j]
    return NOT_FINITE if run.failed.component >= 0 else CONSTRAINTS


@procedure(Run, "fixed-step integrators", 0.6)
def advance_fixed(run, a, b):
    """Take at most `a` steps by the method of number `b`; returns a code of `memory`."""
    return _advance(run, a, b)


@procedure(Run, "fixed-step integrators in lanes", 0.9, long_loops=True)
def advance_lanes(run, a, b):
    """Like `advance_fixed`, for several systems at once."""
    return _advance(run, a, b)


@inner
def _advance(run, a, b):
    clock, counts, plan, watched = run.clock, run.counts, run.plan, run.watched
    budget, kernel = int(a), int(b)
    t_eval, edges, rows, x = plan.t_eval, plan.edges, run.rows, run.x
    if clock.started == 0:
        enter_segment(run, 0)
    while clock.row < t_eval.size:
        if watched.which >= 0:
            return EVENT
        row, segment = clock.row, clock.segment
        at_edge, landing, total, origin, first, last, h = next_steps(run)
        pause = first + budget
        if kernel == EULER and run.group.size > 0:  # between groups, so that interruptions change nothing
            pause += -pause % run.group.size
        last = min(last, pause, first + plan.max_steps - counts.steps)
        if watched.call.function != 0:
            last = min(last, first + 1)
        done = take_steps(run, kernel, origin, first, last, h)
        if watched.call.function != 0 and done == 1 and ended_by_event(run, kernel, origin + first * h, h):
            return EVENT
        budget -= done
        landed = count_steps(run, done, landing, total, origin, first, h)
        if done < last - first:
            return _give_up(run, h)
        if not landed:
            if budget > 0 and counts.steps < plan.max_steps:
                continue
            return TOO_MANY_STEPS if counts.steps >= plan.max_steps else MORE
        if at_edge and segment + 2 < edges.size:
            counts.restarts += 1
            enter_segment(run, segment + 1)
        if abs(t_eval[row] - landing) <= plan.snap:
            put(rows[row], 0, x)
            keep_held(run, row)
            clock.row += 1
    return EVENT if watched.which >= 0 else FINISHED


EULER, SEMI_IMPLICIT_EULER, RK4 = range(3)


@inner
def take_steps(run, kernel, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded."""
    if kernel == EULER:
        return euler_steps(run, base, first, last, h)
    if kernel == SEMI_IMPLICIT_EULER:
        return semi_implicit_euler_steps(run, base, first, last, h)
    return rk4_steps(run, base, first, last, h)
