"""The compiled time loop of the Taylor method.

A step: the series from the present point; its length follows from the last coefficients of the velocities;
then the first switch or event within it is located, and the end is evaluated and projected onto the
constraints. Output rows come from the series.
"""

from __future__ import annotations

from math import inf, nan

import numpy as np

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.outcome import (
    CHATTERING,
    CONSTRAINTS,
    EVENT,
    FINISHED,
    MORE,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)
from sekant.solvers.common.vectors import put, take
from sekant.solvers.taylor.machine import READY, START, WATCH, TaylorMemory
from sekant.solvers.taylor.project import project
from sekant.solvers.taylor.recurrences import passed
from sekant.solvers.taylor.roots import bend_length, first_exit, horner, trusted_length
from sekant.solvers.taylor.series import expand, factorize_here, run_values, set_point
from sekant.solvers.taylor.switches import decide_all, decide_outside, find_switches, move_switches

ONE = np.int64(1)
LARGEST = 1e100
SAFETY = 0.9
HALVINGS = 30
MAYBE_ON_EVENT, ON_EVENT = 1, 2
BEGINS_ON_EVENT = 1e-13  # value of an event function, relative to its changes
MOST_CUTS = 100  # successive steps that a switch may end ...
CUT_SHORT = 1e-6  # ... within this part of the step that the series would have allowed
TOGETHER = 1e-13  # switches that act within this time, relative, act together


@inner
def _turning(m, k):
    """The largest coefficient of order k of unit quaternions, over the tolerance.

    If a body spins uniformly, its velocities are constant, and only its orientation limits a step.
    """
    Q, blocks = m.step.q, m.code.unit_blocks
    size = 0.0
    for block in range(0, blocks.size, 2):
        for i in range(blocks[block], blocks[block] + blocks[block + 1]):
            size = max(size, abs(Q[i, k]) / max(m.plan.rtol, m.plan.tol))
    return size


@inner
def step_length(m, order):
    """The longest step whose last coefficients of v, and of orientations, are within the tolerance, and the
    velocity that limits it."""
    V, v, scale = m.step.v, m.point.v, m.plan.scale_abs
    tol, rtol = m.plan.tol, m.plan.rtol
    h, blame = inf, -1
    for k in range(max(1, order - 3), order + 1):
        size, worst = 0.0, -1
        for i in range(v.size):
            one = abs(V[i, k]) / (scale[i] + rtol * abs(v[i]))
            if not one <= size:
                size, worst = one, i
        if not size < inf:
            return nan, worst
        size = max(size, _turning(m, k))
        if size > 0.0:
            here = size ** (-1.0 / k)
            if k < order - 1:
                here *= tol ** (1.0 / (order - 1) - 1.0 / k)
            if here < h:
                h, blame = here, worst
    return SAFETY * h, blame


@inner
def seen_length(m, n, h):
    """The longest step up to `h` over which the series of watched values, of degree n, are reliable."""
    events, switches = m.code.out_events, m.code.s_value
    for e in range(events.size):
        h = trusted_length(m.series[events[e]], n, h)
    for s in range(switches.size):
        h = trusted_length(m.series[switches[s]], n, h)
    return h


@inner
def smooth_length(m, n, h):
    """The longest step up to `h` in which no root bends sharply; `n`: degree of the series under roots."""
    roots, regions = m.code.radicands, m.code.radicand_regions
    for i in range(roots.size):
        if not passed(m.series, regions[i]):
            h = bend_length(m, m.series[roots[i]], n, h)
    return h


@inner
def accounted_length(m, order, h):
    """The longest step up to `h` whose last terms of the works are within the tolerance.

    All works have the scale of the largest, as terms of one balance; the work exchanged in the step is included.
    """
    W, step = m.step.w, 0.0
    for i in range(m.point.w.size):
        m.worst.work = max(m.worst.work, abs(W[i, 0]))
        step = max(step, abs(W[i, 1]) * h, abs(W[i, 2]) * h * h)
    scale = m.plan.atol_work + m.plan.rtol * max(m.worst.work, step)
    for k in range(order - 1, order + 1):
        size = 0.0
        for i in range(m.point.w.size):
            size = max(size, abs(W[i, k]))
        if size * h**k > scale:
            h = (scale / size) ** (1.0 / k)
    return h


@inner
def keep_series(m, order):
    """Copy the series of q and v, and integrate those of powers: the coefficients can then be reused for
    other points."""
    T, in_q, in_v, Q, V = m.series, m.code.in_q, m.code.in_v, m.step.q, m.step.v
    powers, w, W = m.code.out_powers, m.point.w, m.step.w
    for i in range(in_q.size):
        for k in range(order + 2):
            Q[i, k] = T[in_q[i], k]
    for i in range(in_v.size):
        for k in range(order + 1):
            V[i, k] = T[in_v[i], k]
    for i in range(powers.size):
        W[i, 0] = w[i]
        for k in range(order):
            W[i, k + 1] = T[powers[i], k] / (k + 1.0)


@inner
def evaluate(m, h, order, q, v):
    """Evaluate the point at the time h of the stored series."""
    Q, V = m.step.q, m.step.v
    for i in range(q.size):
        q[i] = horner(Q[i], order + 1, h)
    for i in range(v.size):
        v[i] = horner(V[i], order, h)


@inner
def work_done(m, h, order, w):
    """The works at the time h of the stored series."""
    for i in range(w.size):
        w[i] = horner(m.step.w[i], order, h)


@inner
def blown_up(x):
    """Index of the first entry that is not finite or beyond 1e100, or -1."""
    for i in range(x.size):
        if not abs(x[i]) < LARGEST:
            return i
    return -1


@inner
def find_event(m, n, h, span):
    """The first crossing of an event function within h (infinite if none), its number, and the sign after it.

    A run that begins on an event, up to round-off, leaves it without triggering it: that is, if the function
    is negligible compared with its changes in this step, or in the `span` of the run at the current rate.
    """
    events, fresh = m.code.out_events, m.events.fresh
    first, which, sign = inf, -1, 0
    for e in range(events.size):
        c, limit = m.series[events[e]], min(h, first)
        inside = 1 if c[0] > 0.0 else -1
        on_it = fresh[e] == ON_EVENT
        if fresh[e] == MAYBE_ON_EVENT:
            largest, power = abs(c[1]) * span, 1.0
            for k in range(1, n + 1):
                power *= limit
                largest = max(largest, abs(c[k]) * power)
            on_it = abs(c[0]) <= BEGINS_ON_EVENT * largest
        at = first_exit(m, c, n, limit, 0.0, -inside, on_it)
        if at == 0.0:
            inside, on_it = -inside, abs(c[0]) < inf
            at = first_exit(m, c, n, limit, 0.0, -inside, on_it)
        if 0.0 < at < first:
            first, which, sign = at, e, -inside
    return first, which, sign


@inner
def keep_sides(m, n, h):
    """Store the side of zero on which the event functions are just before a switch at h."""
    events, side = m.code.out_events, m.events.side
    for e in range(events.size):
        value = horner(m.series[events[e]], n, h)
        side[e] = 1 if value > 0.0 else -1 if value < 0.0 else 0


@inner
def jumped_event(m):
    """The first event whose function has jumped over zero with the last switch, or -1; clears the sides."""
    events, side, found = m.code.out_events, m.events.side, -1
    for e in range(events.size):
        value = m.series[events[e], 0]
        counts = m.plan.direction[e] == 0 or m.plan.direction[e] == -side[e]
        if found < 0 and side[e] * value < 0.0 and counts:
            found = e
        side[e] = 0
    return found


@inner
def polish(m, order, node, bound, t, h):
    """Correct a root found on a series so that the value at that point is on the bound.

    Overwrites order 0 of the watched values.
    """
    c, q, v = m.scratch.first, m.end.q, m.end.v
    for k in range(order):
        c[k] = m.series[node, k]
    for _ in range(4):
        slope = 0.0
        for k in range(order - 1, 0, -1):
            slope = slope * h + k * c[k]
        evaluate(m, h, order, q, v)
        set_point(m, t + h, q, v)
        run_values(m, WATCH)
        change = (m.series[node, 0] - bound) / slope
        if not abs(change) <= 1e-2 * h:
            break
        h -= change
        if abs(change) <= 2e-16 * h:
            break
    return h


@inner
def write_row(m, t, q, v, w):
    """The next output row: the point and the work, and accelerations and multipliers there if requested.

    The matrix at this point is factorized.
    """
    x, row, nq, nv = m.factor.x, m.clock.row, q.size, v.size
    put(m.rows.x[row], 0, q)
    put(m.rows.x[row], nq, v)
    put(m.rows.x[row], nq + nv, w)
    if m.plan.reactions != 0:
        set_point(m, t, q, v)
        expand(m, ONE)
        take(m.rows.a[row], x, 0)
        take(m.rows.lam[row], x, nv)
    m.clock.row += 1


@inner
def write_rows(m, order, t, end):
    """Output rows at requested times before `end`, from the series; False if one cannot be projected."""
    t_eval, snap = m.plan.t_eval, m.plan.snap
    q, v, w = m.output.q, m.output.v, m.output.w
    while m.clock.row < t_eval.size and t_eval[m.clock.row] < end - snap:
        at = t_eval[m.clock.row]
        evaluate(m, at - t, order, q, v)
        if not project(m, at, q, v):
            return False
        work_done(m, at - t, order, w)
        write_row(m, at, q, v, w)
    return True


@inner
def start(m):
    """Find the modes at the point, project it, and find the modes at the projected point."""
    q, v = m.point.q, m.point.v
    for _ in range(2):
        set_point(m, m.clock.t, q, v)
        decide_all(m)
        if not project(m, m.clock.t, q, v):
            m.ending.t_failed = m.clock.t
            m.ending.which = int(m.scratch.result[1])
            return CONSTRAINTS
    clear(m.modes.flips)
    fresh = m.events.fresh
    for e in range(fresh.size):
        fresh[e] = max(fresh[e], MAYBE_ON_EVENT)
    m.clock.phase = READY
    return MORE


@inner
def slides(m, t, end, reach):
    """Whether switches end many steps within a short time: then both sides push toward the switch.

    `reach`: the length of this step without switches.
    """
    if m.cuts.count == 0:
        m.cuts.since, m.cuts.reach = t, reach
    m.cuts.count += 1
    if end - m.cuts.since > CUT_SHORT * m.cuts.reach:
        m.cuts.count = 0
    return m.cuts.count > MOST_CUTS


@inner
def arrive(m, order, t, h, end):
    """Evaluate the series at h (time `end`) and project; halve h as long as that fails.

    Returns the code, the step taken and how often it was halved.
    """
    q, v = m.end.q, m.end.v
    for halvings in range(HALVINGS):
        at = end if halvings == 0 else t + h
        evaluate(m, h, order, q, v)
        bad = max(blown_up(q), blown_up(v))
        if bad < 0 and project(m, at, q, v):
            result = m.scratch.result
            m.worst.position = max(m.worst.position, result[0])
            m.worst.velocity = max(m.worst.velocity, result[2])
            return MORE, h, halvings
        m.ending.t_failed = at
        h *= 0.5
    m.ending.component = blown_up(v)
    m.ending.which = int(m.scratch.result[1])
    return (NOT_FINITE if bad >= 0 else CONSTRAINTS), h, HALVINGS


@inner
def clear(flags):
    for i in range(flags.size):
        flags[i] = 0


@procedure(TaylorMemory, "Taylor integrator", 1.8)
def advance(m, a, b):
    """Take at most `a` steps; returns one of the codes above."""
    budget = int(a)
    t_eval, order, snap = m.plan.t_eval, m.plan.order, m.plan.snap
    q, v, t_end = m.point.q, m.point.v, t_eval[t_eval.size - 1]
    while True:
        t = m.clock.t
        if m.clock.phase == START:
            result = start(m)
            if result != MORE:
                return result
        if m.clock.row < t_eval.size and t_eval[m.clock.row] <= t + snap:
            write_row(m, t, q, v, m.point.w)
        if m.clock.row == t_eval.size:
            return FINISHED
        if m.counts.steps + m.counts.shortened >= m.plan.max_steps:
            return TOO_MANY_STEPS
        if budget <= 0:
            return MORE
        budget -= 1

        set_point(m, t, q, v)
        finite = expand(m, order)
        keep_series(m, order)
        m.clock.step_start = t
        h, blame = step_length(m, order)
        if not (finite and h > 0.0):
            m.ending.component = blame
            m.ending.t_failed = t
            return NOT_FINITE
        if h < 1e-14 * max(abs(t), abs(t_end - t)):
            m.ending.component = blame
            m.ending.t_failed = t + h
            return STEP_TOO_SMALL
        h = accounted_length(m, order, min(h, m.plan.max_step, t_end - t))
        h = smooth_length(m, order - 1, seen_length(m, order - 1, h))
        end = t + h
        if end >= t_end - snap:
            h, end = t_end - t, t_end
        reach = h
        moment = TOGETHER * max(abs(t), h)
        switch_at, leader = find_switches(m, order - 1, h, moment)
        event_at, event, sign = find_event(m, order - 1, h, t_end - t)
        at_switch = leader >= 0 and switch_at <= event_at
        at_event = event >= 0 and event_at <= switch_at + moment
        if at_switch and switch_at <= 0.0:
            m.counts.shortened += 1
            chatters = move_switches(m) if switch_at == 0.0 else decide_outside(m)
            if chatters >= 0:
                m.ending.which = chatters
                m.ending.t_failed = t
                return CHATTERING
            continue
        jumped = jumped_event(m)
        if jumped >= 0:
            m.events.fresh[jumped] = ON_EVENT
            m.counts.landings += 1
            m.ending.which, m.ending.jumped = jumped, 1
            return EVENT
        if at_switch:
            h = switch_at
            keep_sides(m, order - 1, h)
            if m.code.s_algebraic[leader] == 0:
                watch = m.modes.watch
                bound = watch.low[leader] if watch.side[leader] < 0 else watch.high[leader]
                h = polish(m, order, m.code.s_value[leader], bound, t, h)
            end = t + h
        elif at_event:
            h = polish(m, order, m.code.out_events[event], 0.0, t, event_at)
            end = t + h
        result, h, halvings = arrive(m, order, t, h, end)
        if result != MORE:
            return result
        if halvings > 0 and h < 1e-12 * max(abs(t), abs(t_end - t)):
            m.ending.which = int(m.scratch.result[1])
            return CONSTRAINTS
        if halvings > 0:
            end, at_switch, at_event = t + h, False, False
            clear(m.events.side)
            m.counts.shortened += halvings
        if m.clock.row < t_eval.size and t_eval[m.clock.row] < end - snap:
            if not write_rows(m, order, t, end):
                m.ending.t_failed = t_eval[m.clock.row]
                m.ending.which = int(m.scratch.result[1])
                return CONSTRAINTS
            set_point(m, end, m.end.q, m.end.v)
            factorize_here(m)
        put(q, 0, m.end.q)
        put(v, 0, m.end.v)
        work_done(m, h, order, m.point.w)
        m.clock.t = end
        m.counts.steps += 1
        clear(m.modes.flips)
        clear(m.fresh)
        if h > BEGINS_ON_EVENT * (t_end - t):  # a switch may end a step up to round-off of where it began
            clear(m.events.fresh)
        if not at_switch:
            m.cuts.count = 0
        elif slides(m, t, end, reach):
            m.ending.which = leader
            m.ending.t_failed = end
            return CHATTERING
        if at_switch:
            m.counts.landings += 1
            move_switches(m)
        if at_event:
            m.events.fresh[event] = ON_EVENT
            if m.plan.direction[event] == 0 or m.plan.direction[event] == sign:
                m.counts.landings += 1
                m.ending.which, m.ending.jumped = event, 0
                return EVENT
