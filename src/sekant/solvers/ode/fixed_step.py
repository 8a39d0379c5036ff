"""The time loop of all fixed-step methods: from one landing (output time or stop) to the next.

Between two landings all steps have the requested length, except that the last one is shortened where the
distance is not a multiple of the step. A distance that misses a multiple by less than 1e-6 of a step counts
as one: its steps are made equal, so that round-off in the output times produces no sliver of a step. The
count of steps starts anew at each landing; step i begins at ``landing + i h`` without accumulated round-off.
"""

from __future__ import annotations

from sekant.solvers.common.compiled import compiled
from sekant.solvers.common.spans import divide
from sekant.solvers.ode.euler import euler_steps
from sekant.solvers.ode.memory import (
    COMPONENT,
    CONSTRAINTS,
    FINISHED,
    LARGEST_STATE,
    MORE,
    NOT_FINITE,
    RESTARTS,
    ROW,
    SEGMENT,
    SPAN_START,
    SPAN_STEP,
    STEPS,
    T_FAILED,
    TOO_MANY_STEPS,
    T,
)
from sekant.solvers.ode.rk4 import rk4_steps
from sekant.solvers.ode.semi_implicit_euler import semi_implicit_euler_steps

EULER, SEMI_IMPLICIT_EULER, RK4 = range(3)


@compiled
def _take_steps(kernel, native, plan, x, x_old, base, first, last, h, low, high):
    if kernel == EULER:
        return euler_steps(native, plan, x, x_old, base, first, last, h, low, high)
    if kernel == SEMI_IMPLICIT_EULER:
        return semi_implicit_euler_steps(native, plan, x, x_old, base, first, last, h, low, high)
    return rk4_steps(native, plan, x, x_old, base, first, last, h, low, high)


@compiled
def advance_fixed(kernel, native, plan, run, budget):
    """Take at most `budget` steps; returns a code of `memory`."""
    count, time, x, x_old = run.count, run.time, run.x, run.x_old
    t_eval, edges, m = plan.t_eval, plan.edges, plan.t_eval.size
    while count[ROW] < m:
        row, segment, base, i = count[ROW], count[SEGMENT], time[SPAN_START], count[SPAN_STEP]
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
        if kernel == EULER and native.group_size > 0:  # between groups, so that pauses change nothing
            pause += -pause % native.group_size
        last = min(last, pause, first + plan.max_steps - count[STEPS])
        low, high = plan.low[segment], plan.high[segment]
        done = _take_steps(kernel, native, plan, x, x_old, origin, first, last, h, low, high)
        budget -= done
        count[STEPS] += done
        count[SPAN_STEP] = i + done
        time[T] = landing if i + done == total else origin + (first + done) * h
        if done < last - first:
            time[T_FAILED] = time[T] + h
            for j in range(x.size - 1, -1, -1):
                if not abs(x[j]) < LARGEST_STATE:
                    count[COMPONENT] = j
            x[:] = x_old
            return NOT_FINITE if count[COMPONENT] >= 0 else CONSTRAINTS
        if i + done < total:
            if budget > 0 and count[STEPS] < plan.max_steps:
                continue
            return TOO_MANY_STEPS if count[STEPS] >= plan.max_steps else MORE
        time[SPAN_START] = landing
        count[SPAN_STEP] = 0
        if abs(t_eval[row] - landing) <= plan.snap:
            run.rows[row] = x
            count[ROW] += 1
        if at_edge and segment + 2 < edges.size:
            count[SEGMENT] += 1
            count[RESTARTS] += 1
    return FINISHED
