"""The compiled time loop of the Taylor method.

A step: the series from the present point; its length from the last coefficients of the velocities; the first
switch or event within it; evaluation, projection onto the constraints, output rows from the series.
"""

from __future__ import annotations

import numpy as np

from sekant.solvers.common.compiled import compiled, inner
from sekant.solvers.linear.ldl import X
from sekant.solvers.taylor.machine import (
    A_ROWS,
    CLOCK,
    COMPONENT,
    COUNT,
    CUT_REACH,
    CUT_SINCE,
    CUTS,
    DIRECTION,
    FLIPS,
    FRESH,
    FRESH_EVENT,
    HIGH,
    IN_Q,
    IN_V,
    LAM_ROWS,
    LANDINGS,
    LOW,
    MAX_STEP,
    MAX_STEPS,
    NOW,
    NUMBERS,
    ORDER,
    OUT_EVENTS,
    PHASE,
    Q_END,
    Q_NOW,
    Q_ROW,
    Q_SERIES,
    REACTIONS,
    READY,
    RESULT,
    ROW,
    ROWS,
    RTOL,
    S_ALGEBRAIC,
    S_VALUE,
    SCALE_ABS,
    SCRATCH1,
    SETTINGS,
    SHORTENED,
    SIDE,
    SMALLEST,
    SNAP,
    START,
    STEP_START,
    STEPS,
    T_EVAL,
    T_FAILED,
    TOL,
    V_END,
    V_NOW,
    V_ROW,
    V_SERIES,
    WATCH,
    WHICH,
    WORST_POSITION,
    WORST_VELOCITY,
    code,
    factor,
    series,
    state,
    work,
)
from sekant.solvers.taylor.project import project
from sekant.solvers.taylor.roots import first_exit, horner
from sekant.solvers.taylor.series import expand, factorize_here, run_values, set_point
from sekant.solvers.taylor.switches import decide_all, find_switches, move_switches

# What `advance` returns.
MORE, FINISHED, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS, EVENT, CONSTRAINTS, CHATTERING = range(8)

ONE = np.int64(1)
LARGEST = 1e100
SAFETY = 0.9
HALVINGS = 30
MAYBE_ON_EVENT, ON_EVENT = 1, 2
BEGINS_ON_EVENT = 1e-13  # value of an event function, relative to its changes in a step
MOST_CUTS = 100  # steps in a row that a switch may end ...
CUT_SHORT = 1e-6  # ... within this part of the step that the series would have allowed
TOGETHER = 1e-13  # switches that act within this time, relative, act together


@inner
def step_length(m, order):
    """The longest step whose last coefficients of v are within the tolerance, and the velocity to blame."""
    V, v, scale, settings = work(m, V_SERIES), work(m, V_NOW), work(m, SCALE_ABS), work(m, SETTINGS)
    tol, rtol = settings[TOL], settings[RTOL]
    h, blame = np.inf, -1
    for k in range(max(1, order - 3), order + 1):
        size, worst = 0.0, -1
        for i in range(v.size):
            one = abs(V[i * (order + 1) + k]) / (scale[i] + rtol * abs(v[i]))
            if not one <= size:
                size, worst = one, i
        if not size < np.inf:
            return np.nan, worst
        if size > 0.0:
            here = size ** (-1.0 / k)
            if k < order - 1:
                here *= tol ** (1.0 / (order - 1) - 1.0 / k)
            if here < h:
                h, blame = here, worst
    return SAFETY * h, blame


@inner
def keep_series(m, order):
    """Copy the series of q and v, so that the coefficients can serve for other points."""
    T, in_q, in_v, Q, V = series(m), code(m, IN_Q), code(m, IN_V), work(m, Q_SERIES), work(m, V_SERIES)
    for i in range(in_q.size):
        for k in range(order + 2):
            Q[i * (order + 2) + k] = T[in_q[i], k]
    for i in range(in_v.size):
        for k in range(order + 1):
            V[i * (order + 1) + k] = T[in_v[i], k]


@inner
def evaluate(m, h, order, q, v):
    """The point at the time h of the series that was kept."""
    Q, V = work(m, Q_SERIES), work(m, V_SERIES)
    for i in range(q.size):
        q[i] = horner(Q[i * (order + 2) : (i + 1) * (order + 2)], order + 1, h)
    for i in range(v.size):
        v[i] = horner(V[i * (order + 1) : (i + 1) * (order + 1)], order, h)


@inner
def blown_up(x):
    """Index of the first entry that is not finite or beyond 1e100, or -1."""
    for i in range(x.size):
        if not abs(x[i]) < LARGEST:
            return i
    return -1


@inner
def find_event(m, n, h):
    """The first crossing of an event function within h (infinite if none), its number, and the sign after it.

    A run that begins on an event, up to round-off, leaves it without its happening.
    """
    events, fresh = code(m, OUT_EVENTS), state(m, FRESH_EVENT)
    first, which, sign = np.inf, -1, 0
    for e in range(events.size):
        c, limit = series(m)[events[e]], min(h, first)
        inside = 1 if c[0] > 0.0 else -1
        on_it = fresh[e] == ON_EVENT
        if fresh[e] == MAYBE_ON_EVENT:
            largest, power = 0.0, 1.0
            for k in range(1, n + 1):
                power *= limit
                largest = max(largest, abs(c[k]) * power)
            on_it = abs(c[0]) <= BEGINS_ON_EVENT * largest
        at = first_exit(m, c, n, limit, 0.0, -inside, on_it)
        if at == 0.0:
            inside, on_it = -inside, abs(c[0]) < np.inf
            at = first_exit(m, c, n, limit, 0.0, -inside, on_it)
        if 0.0 < at < first:
            first, which, sign = at, e, -inside
    return first, which, sign


@inner
def polish(m, order, node, bound, t, h):
    """A root found on a series, moved to where the value at the point of the series is on the bound.

    Overwrites order 0 of the watched values.
    """
    c, q, v = work(m, SCRATCH1), work(m, Q_END), work(m, V_END)
    c[:order] = series(m)[node, :order]
    for _ in range(4):
        slope = 0.0
        for k in range(order - 1, 0, -1):
            slope = slope * h + k * c[k]
        evaluate(m, h, order, q, v)
        set_point(m, t + h, q, v)
        run_values(m, WATCH)
        change = (series(m)[node, 0] - bound) / slope
        if not abs(change) <= 1e-2 * h:
            break
        h -= change
        if abs(change) <= 2e-16 * h:
            break
    return h


@inner
def write_row(m, t, q, v):
    """The next output row: the point, and accelerations and multipliers there if asked for.

    The matrix at this point is factorized.
    """
    count, x = state(m, COUNT), factor(m, X)
    row, nq, nv, n = count[ROW], q.size, v.size, x.size
    rows = work(m, ROWS)
    rows[row * (nq + nv) : row * (nq + nv) + nq] = q
    rows[row * (nq + nv) + nq : (row + 1) * (nq + nv)] = v
    if state(m, NUMBERS)[REACTIONS] != 0:
        set_point(m, t, q, v)
        expand(m, ONE)
        work(m, A_ROWS)[row * nv : (row + 1) * nv] = x[:nv]
        work(m, LAM_ROWS)[row * (n - nv) : (row + 1) * (n - nv)] = x[nv:]
    count[ROW] += 1


@inner
def write_rows(m, order, t, end):
    """Output rows at requested times before `end`, from the series; False if one cannot be projected."""
    count, t_eval, snap = state(m, COUNT), work(m, T_EVAL), work(m, SETTINGS)[SNAP]
    q, v = work(m, Q_ROW), work(m, V_ROW)
    while count[ROW] < t_eval.size and t_eval[count[ROW]] < end - snap:
        at = t_eval[count[ROW]]
        evaluate(m, at - t, order, q, v)
        if not project(m, at, q, v):
            return False
        write_row(m, at, q, v)
    return True


@inner
def start(m):
    """Modes for the point, projection of the point, modes for the projected point."""
    count, clock, q, v = state(m, COUNT), work(m, CLOCK), work(m, Q_NOW), work(m, V_NOW)
    for _ in range(2):
        set_point(m, clock[NOW], q, v)
        decide_all(m)
        if not project(m, clock[NOW], q, v):
            clock[T_FAILED] = clock[NOW]
            count[WHICH] = int(work(m, RESULT)[1])
            return CONSTRAINTS
    state(m, FLIPS)[:] = 0
    fresh = state(m, FRESH_EVENT)
    for e in range(fresh.size):
        fresh[e] = max(fresh[e], MAYBE_ON_EVENT)
    count[PHASE] = READY
    return MORE


@inner
def slides(m, t, end, reach):
    """Whether switches end step after step, all within a moment: both sides push towards the switch.

    `reach`: the length of this step without switches.
    """
    count, clock = state(m, COUNT), work(m, CLOCK)
    if count[CUTS] == 0:
        clock[CUT_SINCE], clock[CUT_REACH] = t, reach
    count[CUTS] += 1
    if end - clock[CUT_SINCE] > CUT_SHORT * clock[CUT_REACH]:
        count[CUTS] = 0
    return count[CUTS] > MOST_CUTS


@inner
def arrive(m, order, t, h, end):
    """Evaluate the series at h (time `end`) and project; halve h as long as that fails.

    Returns the code, the step taken and how often it was halved.
    """
    clock, count, q, v = work(m, CLOCK), state(m, COUNT), work(m, Q_END), work(m, V_END)
    for halvings in range(HALVINGS):
        at = end if halvings == 0 else t + h
        evaluate(m, h, order, q, v)
        bad = max(blown_up(q), blown_up(v))
        if bad < 0 and project(m, at, q, v):
            result = work(m, RESULT)
            clock[WORST_POSITION] = max(clock[WORST_POSITION], result[0])
            clock[WORST_VELOCITY] = max(clock[WORST_VELOCITY], result[2])
            return MORE, h, halvings
        clock[T_FAILED] = at
        h *= 0.5
    count[COMPONENT] = blown_up(v)
    count[WHICH] = int(work(m, RESULT)[1])
    return (NOT_FINITE if bad >= 0 else CONSTRAINTS), h, HALVINGS


@compiled
def advance(m, budget):
    """Take at most `budget` steps; returns one of the codes above."""
    count, clock, numbers, settings = state(m, COUNT), work(m, CLOCK), state(m, NUMBERS), work(m, SETTINGS)
    t_eval, order, snap = work(m, T_EVAL), state(m, NUMBERS)[ORDER], work(m, SETTINGS)[SNAP]
    q, v, t_end = work(m, Q_NOW), work(m, V_NOW), t_eval[-1]
    while True:
        t = clock[NOW]
        if count[PHASE] == START:
            result = start(m)
            if result != MORE:
                return result
        if count[ROW] < t_eval.size and t_eval[count[ROW]] <= t + snap:
            write_row(m, t, q, v)
        if count[ROW] == t_eval.size:
            return FINISHED
        if count[STEPS] >= numbers[MAX_STEPS]:
            return TOO_MANY_STEPS
        if budget <= 0:
            return MORE
        budget -= 1

        set_point(m, t, q, v)
        finite = expand(m, order)
        keep_series(m, order)
        clock[STEP_START] = t
        h, blame = step_length(m, order)
        if not (finite and h > 0.0):
            count[COMPONENT] = blame
            clock[T_FAILED] = t
            return NOT_FINITE
        if h < 1e-14 * max(abs(t), abs(t_end - t)):
            count[COMPONENT] = blame
            clock[T_FAILED] = t + h
            return STEP_TOO_SMALL
        h = min(h, settings[MAX_STEP])
        end = t + h
        if end >= t_end - snap:
            h, end = t_end - t, t_end
        reach = h
        moment = TOGETHER * max(abs(t), h)
        switch_at, leader = find_switches(m, order - 1, h, moment)
        event_at, event, sign = find_event(m, order - 1, h)
        at_switch = leader >= 0 and switch_at <= event_at
        at_event = event >= 0 and event_at <= switch_at + moment
        if at_switch and switch_at == 0.0:
            chatters = move_switches(m)
            if chatters >= 0:
                count[WHICH] = chatters
                clock[T_FAILED] = t
                return CHATTERING
            continue
        if at_switch:
            h = switch_at
            if code(m, S_ALGEBRAIC)[leader] == 0:
                side = state(m, SIDE)[leader]
                bound = work(m, LOW)[leader] if side < 0 else work(m, HIGH)[leader]
                h = polish(m, order, code(m, S_VALUE)[leader], bound, t, h)
            end = t + h
        elif at_event:
            h = polish(m, order, code(m, OUT_EVENTS)[event], 0.0, t, event_at)
            end = t + h
        result, h, halvings = arrive(m, order, t, h, end)
        if result != MORE:
            return result
        if halvings > 0 and h < 1e-12 * max(abs(t), abs(t_end - t)):
            count[WHICH] = int(work(m, RESULT)[1])
            return CONSTRAINTS
        if halvings > 0:
            end, at_switch, at_event = t + h, False, False
            count[SHORTENED] += halvings
        if count[ROW] < t_eval.size and t_eval[count[ROW]] < end - snap:
            if not write_rows(m, order, t, end):
                clock[T_FAILED] = t_eval[count[ROW]]
                count[WHICH] = int(work(m, RESULT)[1])
                return CONSTRAINTS
            set_point(m, end, work(m, Q_END), work(m, V_END))
            factorize_here(m)
        q[:] = work(m, Q_END)
        v[:] = work(m, V_END)
        clock[NOW] = end
        clock[SMALLEST] = min(clock[SMALLEST], h)
        count[STEPS] += 1
        state(m, FLIPS)[:] = 0
        state(m, FRESH)[:] = 0
        state(m, FRESH_EVENT)[:] = 0
        if not at_switch:
            count[CUTS] = 0
        elif slides(m, t, end, reach):
            count[WHICH] = leader
            clock[T_FAILED] = end
            return CHATTERING
        if at_switch:
            count[LANDINGS] += 1
            move_switches(m)
        if at_event:
            state(m, FRESH_EVENT)[event] = ON_EVENT
            if state(m, DIRECTION)[event] == 0 or state(m, DIRECTION)[event] == sign:
                count[LANDINGS] += 1
                count[WHICH] = event
                return EVENT
