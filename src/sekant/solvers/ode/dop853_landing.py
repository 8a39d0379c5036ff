"""DOP853 at changes of modes of sites: breaks of tables and curves, signs, comparisons, floors.

The modes (see `sekant.solvers.common.modes`) are held within a step, so that all its stages use one smooth
function. Where a guard has left its interval by the end of a trial step, the slope there with the modes that
are valid there is compared with the slope that was used,

    cost = h (1 - theta) ||f_new - f_old|| ,   theta: where the guard left, norm: that of the error estimate,

which bounds the error of continuing in the old modes. A step with a cost of at most a tenth of the tolerance
is accepted, and the new modes apply from its end. Any other step ends at the earliest crossing, located on the dense
output to round-off; there the mode changes to the neighbor, and the next step starts on the other side. The
state at the crossing is that of the dense output, whose error vanishes towards the end of the step; a step
that goes beyond by more than a twentieth is repeated. To make this rare, the next crossing is predicted
(`aim`) by the cubic through the last two guards and their rates, if this break, or the previous ones of the
site, required a landing.
"""

from __future__ import annotations

from math import inf

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.landing import (
    NEGLIGIBLE,
    NONE,
    PANELS,
    landing,
    leaves,
    note_sides,
    outside,
)
from sekant.solvers.common.modes import (
    MOST_BREAKS,
    begin_step,
    decide,
    farthest_site,
    guards_jumped,
    inside_piece,
    keep,
    move_on,
    pieces_passed,
    restore,
    switched,
)
from sekant.solvers.common.vectors import normalize, put
from sekant.solvers.ode.dop853_modes import AT_ONCE, guards_at, note, settle
from sekant.solvers.ode.dop853_stages import evaluate, inside, interpolate, prepare_dense, scale_of_work
from sekant.solvers.ode.dop853_tableau import N_STAGES
from sekant.solvers.ode.memory import CHANGED, Run
from sekant.solvers.ode.projection import project

# What `watch` finds.
UNCHANGED, STEPPED_OVER, LANDED, FLIPPED, REPEAT, CHATTERS = range(6)
CLOSE = 0.95  # part of a step beyond which the dense output is as accurate as its end
HELD = N_STAGES + 1  # a row of k that is free once the dense output is available


@inner
def _look(run, watch, t, h, theta, dense):
    """Guards at a point of the step, on the dense output or the cubic."""
    inside(run, h, theta, dense)
    guards_at(run, t + theta * h)


first_exit, excursion, _, reach = landing(_look)


@inner
def _change(run, row):
    """Norm of the difference between the slopes k[CHANGED] and k[row]; the larger one of motion and work."""
    x, k, atol, rtol, n = run.x, run.k, run.plan.atol, run.plan.rtol, run.n_error
    square = 0.0
    for j in range(n):
        difference = (k[CHANGED, j] - k[row, j]) / (atol[j] + rtol * abs(x[j]))
        square += difference * difference
    norm = (square / n) ** 0.5
    if x.size > n:
        scale, square = scale_of_work(run, run.x_old), 0.0
        for j in range(n, x.size):
            difference = (k[CHANGED, j] - k[row, j]) / scale
            square += difference * difference
        norm = max(norm, (square / (x.size - n)) ** 0.5)
    return norm


@inner
def _cost_inside(run, t, h, s, passed):
    """Largest change of the slope in the pieces of site s that the step crosses completely, on the cubic."""
    m, largest = run.modes, 0.0
    side = 1.0 if passed > 0.0 else -1.0
    keep(m)
    for i in range(1, int(abs(passed))):
        moment = t + h * reach(run, m.watch, t, h, False, s, inside_piece(m, s, side * i), side)
        if evaluate(run, moment, HELD) >= 0:
            return inf
        settle(run, moment, 0.0)
        bad = evaluate(run, moment, CHANGED)
        restore(m)
        if bad >= 0:
            return inf
        largest = max(largest, _change(run, HELD))
    return largest


@inner
def _cost_of_first(run, t, h):
    """Cost of the first of several changes, on the cubic: between switches are modes that neither end of the step
    has, such as that of `a < x and x < b`."""
    m = run.modes
    theta = first_exit(run, m.watch, t, h, False, PANELS)
    if theta == NONE:
        return 0.0
    _look(run, m.watch, t, h, theta, False)
    if evaluate(run, t + theta * h, HELD) >= 0:
        return inf
    keep(m)
    settle(run, t + theta * h, 0.0)
    bad = evaluate(run, t + theta * h, CHANGED)
    restore(m)
    return inf if bad >= 0 else h * (1.0 - theta) * _change(run, HELD)


@inner
def _take_over(run, t, h):
    """Set modes, guards and slope at the end of a step that crossed a change."""
    m = run.modes
    put(run.stage, 0, run.x_old)
    settle(run, t + h, 0.0)
    begin_step(m)
    put(run.k[N_STAGES], 0, run.saved)
    return STEPPED_OVER


@inner
def _excursion(run, t, h):
    """Whether a guard leaves its interval and returns within the step, at a cost that is not negligible."""
    m, watch = run.modes, run.modes.watch
    put(watch.a, 0, watch.start)
    _look(run, watch, t, h, 0.5, False)
    put(watch.middle, 0, watch.value)
    theta = 0.5 if leaves(watch) else excursion(run, watch, t, h, False, 0.0, 1.0)
    if theta == 0.0:
        return False
    moment = t + theta * h
    if evaluate(run, moment, HELD) >= 0:
        return True
    keep(m)
    settle(run, moment, 0.0)
    bad = evaluate(run, moment, CHANGED)
    restore(m)
    return bad >= 0 or not h * _change(run, HELD) <= NEGLIGIBLE


@inner
def _move(run):
    """Change the modes of the sites that have a side; returns whether none of them chatters."""
    m = run.modes
    good = True
    for s in range(m.sites.kind.size):
        if m.watch.side[s] != 0:
            good = good and move_on(m, s, m.watch.side[s])
    return good


@inner
def _move_at(run, t, state):
    """Like `_move`, at a state; sites whose guards jump with the modes of others follow. Returns whether none
    chatters."""
    m, watch = run.modes, run.modes.watch
    put(run.stage, 0, state)
    guards_at(run, t)
    put(watch.a, 0, watch.value)
    good = _move(run)
    for _ in range(m.sites.kind.size):
        guards_at(run, t)
        changed = False
        for s in range(m.sites.kind.size):
            if watch.side[s] == 0 and (watch.value[s] != watch.a[s] or watch.value[s] == 0.0):
                watch.start[s] = watch.value[s]
                if outside(watch, s, watch.value[s]) != 0 and decide(m, s):
                    changed = True
        if not changed:
            break
    return good


@inner
def _land(run, t, h):
    m = run.modes
    if run.step.wanted == 0:
        put(run.stage, 0, run.x_old)
        if prepare_dense(run, t, h) >= 0:
            run.step.theta = 0.25
            return REPEAT
    theta = first_exit(run, m.watch, t, h, True, PANELS)
    if theta == NONE:
        return UNCHANGED
    run.step.theta = theta
    if theta <= AT_ONCE or t + theta * h == t:
        return FLIPPED if _move_at(run, t, run.x) else CHATTERS
    note(run, True)
    if theta < CLOSE:
        return REPEAT
    put(m.watch.start, 0, m.watch.b)
    end = run.x_old
    interpolate(run, run.x, theta, end)
    normalize(end, run.blocks)
    if run.projection.held.function != 0 and not project(run, run.projection.held, end, t + theta * h):
        return REPEAT
    for s in range(m.sites.kind.size):
        m.flips[s] = 0
    return LANDED if _move_at(run, t + theta * h, end) else CHATTERS


@procedure(Run, "Dormand-Prince integrator", 0.5)
def watch(run, t, h):
    """Check the guards of a successful trial step from `run.x` to `run.x_old` with the slopes k[0], k[12].

    UNCHANGED or STEPPED_OVER: the step is accepted. LANDED: it ends at the part `run.step.theta` of its
    length, and `run.x_old` is the state there. FLIPPED: a mode changed at its start. REPEAT: repeat it so
    that it ends a little beyond that part. The dense output is prepared if requested.
    """
    m = run.modes
    put(run.stage, 0, run.x_old)
    guards_at(run, t + h)
    put(m.watch.b, 0, m.watch.value)
    if not leaves(m.watch):
        if _excursion(run, t, h):
            verdict = _land(run, t, h)
            if verdict != UNCHANGED:
                return verdict
        put(run.stage, 0, run.x_old)
        guards_at(run, t + h)
        begin_step(m)
        return UNCHANGED
    keep(m)
    settle(run, t + h, 0.0)
    farthest = farthest_site(m)
    passed = pieces_passed(m, farthest)
    distance = max(1.0, abs(passed))
    hidden, several = guards_jumped(m.watch, m.watch.b), switched(m) > 1
    bad = evaluate(run, t + h, CHANGED)
    restore(m)
    if bad < 0 and distance <= MOST_BREAKS and not hidden:
        cost = h * _change(run, N_STAGES)
        part = 1.0
        if cost > NEGLIGIBLE:
            part = 1.0 - first_exit(run, m.watch, t, h, False, PANELS)
        if cost * part <= NEGLIGIBLE:
            if run.step.aimed == 0 and distance == 1.0:
                note_sides(m.watch)
                note(run, False)
            put(run.saved, 0, run.k[CHANGED])
            within = 0.0
            if distance > 1.0:
                within = _cost_inside(run, t, h, farthest, passed)
            first = 0.0
            if several:
                first = _cost_of_first(run, t, h)
            if max(h * part * within, first) <= NEGLIGIBLE:
                return _take_over(run, t, h)
    return _land(run, t, h)
