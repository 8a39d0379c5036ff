"""The time loop of all fixed-step methods: from one landing (output time or stop) to the next.

Between two landings all steps have the requested length, except that the last one is shortened where the
distance is not a multiple of the step. A distance that misses a multiple by less than 1e-6 of a step counts
as one: its steps are made equal, so that round-off in the output times produces no sliver of a step. The
count of steps starts anew at each landing; step i begins at ``landing + i h`` without accumulated round-off.
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.fixed_events import ending_at_events
from sekant.solvers.common.memory import LARGEST_STATE, divide
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


end_at_event = ending_at_events(_retake)


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
def advance_wide(run, a, b):
    """The same for several systems side by side."""
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
        row, segment, base, i = clock.row, clock.segment, clock.span_start, clock.span_step
        edge = edges[segment + 1]
        at_edge = t_eval[row] >= edge - plan.snap
        landing = max(edge if at_edge else t_eval[row], base)
        whole, h, rest = divide(landing - base, plan.step)
        total = whole + (1 if rest > 0.0 else 0)
        if i < whole:
            origin, first, last = base, i, whole
        else:
            origin, first, last, h = base + whole * h, i - whole, total - whole, rest
        pause = first + budget
        if kernel == EULER and run.group.size > 0:  # between groups, so that pauses change nothing
            pause += -pause % run.group.size
        last = min(last, pause, first + plan.max_steps - counts.steps)
        if watched.call.function != 0:
            last = min(last, first + 1)
        done = take_steps(run, kernel, origin, first, last, h)
        if watched.call.function != 0 and done == 1:
            begin = origin + first * h
            length = end_at_event(run, kernel, begin, h)
            if watched.which >= 0:
                counts.steps += 1
                clock.t = begin + length
                return EVENT
        budget -= done
        counts.steps += done
        clock.span_step = i + done
        clock.t = landing if i + done == total else origin + (first + done) * h
        if done < last - first:
            return _give_up(run, h)
        if i + done < total:
            if budget > 0 and counts.steps < plan.max_steps:
                continue
            return TOO_MANY_STEPS if counts.steps >= plan.max_steps else MORE
        clock.span_start = landing
        clock.span_step = 0
        if at_edge and segment + 2 < edges.size:
            counts.restarts += 1
            enter_segment(run, segment + 1)
        if abs(t_eval[row] - landing) <= plan.snap:
            for j in range(x.size):
                rows[row, j] = x[j]
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
