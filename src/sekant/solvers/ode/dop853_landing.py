"""Landing of DOP853 where a site changes its mode: on breaks of tables and curves, signs, comparisons, floors.

The modes (see `sekant.solvers.common.modes`) are held within a step, so that all its stages see one smooth function.
Where a guard has left its interval by the end of a trial step, the slope there with the modes that belong to it is
compared to the one that was used,

    cost = h (1 - theta) ||f_new - f_old|| ,   theta: where the guard left, norm: that of the error estimate,

which bounds what the step is off by having gone on in the old modes. A step that costs at most a tenth of the
tolerance stands, with the new modes from its end on. Any other ends at the earliest crossing, found on the dense
output to round-off; there the mode moves on to the neighbor, and the next step starts on the other side.
The state at the crossing is that of the dense output, whose error vanishes towards the end of the step; a step that
goes farther than a twentieth beyond is repeated. So that this is rare, the next crossing is predicted (`aim`) by
the cubic through the last two guards and their rates, wherever the break, or the ones that the site passed before,
had to be landed on.
"""

from __future__ import annotations

from math import inf

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.modes import (
    MOST_BREAKS,
    decide,
    farthest_site,
    inside_piece,
    keep,
    move_on,
    outside,
    pieces_passed,
    restore,
)
from sekant.solvers.ode.dop853_exits import first_exit, leaves, look, turns_outside
from sekant.solvers.ode.dop853_modes import AT_ONCE, copy, guards_at, note, settle
from sekant.solvers.ode.dop853_stages import evaluate, interpolate, prepare_dense, scale_of_work
from sekant.solvers.ode.dop853_tableau import N_STAGES
from sekant.solvers.ode.memory import CHANGED, Run
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

# What `watch` finds.
UNCHANGED, STEPPED_OVER, LANDED, FLIPPED, REPEAT, CHATTERS = range(6)
NEGLIGIBLE = 0.1  # of the tolerance: what stepping over a change may cost
CLOSE = 0.95  # part of a step beyond which the dense output is as good as its end
BISECTIONS = 12  # to find a point in a piece
JUMP = 1e-3  # of a guard, over its size; a table that is continued beyond its piece changes it by far less
HELD = N_STAGES + 1  # a row of k that is free once the dense output is made


@inner
def _change(run, row):
    """Norm of the difference between the slopes k[CHANGED] and k[row]; of motion or work, the larger one."""
    x, k, atol, rtol, n = run.x, run.k, run.atol, run.rtol, run.n_error
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
    """Largest change of the slope in the pieces of site s that the step goes over completely, on the cubic."""
    m, largest = run.modes, 0.0
    side = 1.0 if passed > 0.0 else -1.0
    keep(m)
    for i in range(1, int(abs(passed))):
        target, a, b = inside_piece(m, s, side * i), 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (a + b)
            look(run, t, h, middle, False)
            if side * (m.g[s] - target) > 0.0:
                b = middle
            else:
                a = middle
        moment = t + b * h
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
def _end(run):
    for j in range(run.x.size):
        run.stage[j] = run.x_old[j]


@inner
def _take_over(run, t, h):
    """Modes, guards and slope at the end of a step that went over a change."""
    m = run.modes
    _end(run)
    settle(run, t + h, 0.0)
    copy(m.g, m.g_start)
    for s in range(m.kind.size):
        m.flips[s] = 0
    for j in range(run.x.size):
        run.k[N_STAGES, j] = run.saved[j]
    return STEPPED_OVER


@inner
def _excursion(run, t, h):
    """Whether a guard leaves its interval and returns within the step, and that costs more than may be neglected."""
    m = run.modes
    copy(m.g, m.g_b)
    look(run, t, h, 0.5, False)
    copy(m.g, m.g_a)
    theta = 0.0
    for s in range(m.kind.size):
        theta = max(theta, turns_outside(m, s))
    if theta == 0.0 or not look(run, t, h, theta, False):
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
    """Move on the sites that have a side; returns whether none of them chatters."""
    m = run.modes
    good = True
    for s in range(m.kind.size):
        if m.side[s] != 0:
            run.blame = s
            good = good and move_on(m, s, m.side[s])
    return good


@inner
def _move_at(run, t, state):
    """`_move` at a state; sites whose guards jump with the modes of others follow. Returns whether none chatters."""
    m = run.modes
    for j in range(state.size):
        run.stage[j] = state[j]
    guards_at(run, t)
    copy(m.g, m.g_a)
    good = _move(run)
    for _ in range(m.kind.size):
        guards_at(run, t)
        changed = False
        for s in range(m.kind.size):
            if m.side[s] == 0 and (m.g[s] != m.g_a[s] or m.g[s] == 0.0):
                m.g_start[s] = m.g[s]
                if outside(m, s, m.g[s]) != 0 and decide(m, s):
                    changed = True
        if not changed:
            break
    return good


@inner
def _land(run, t, h):
    m = run.modes
    if run.wanted == 0:
        _end(run)
        if prepare_dense(run, t, h) >= 0:
            run.theta = 0.25
            return REPEAT
    theta = first_exit(run, t, h, True)
    if theta > 1.0:
        return UNCHANGED
    run.theta = theta
    if theta <= AT_ONCE or t + theta * h == t:
        return FLIPPED if _move_at(run, t, run.x) else CHATTERS
    note(m, True)
    if theta < CLOSE:
        return REPEAT
    copy(m.g_b, m.g_start)
    end = run.x_old
    interpolate(run, run.x, theta, end)
    normalize(end, run.blocks)
    if run.projection != 0 and not project(run, end, t + theta * h, run.arg_projection):
        return REPEAT
    for s in range(m.kind.size):
        m.flips[s] = 0
    return LANDED if _move_at(run, t + theta * h, end) else CHATTERS


@inner
def _guards_jumped(m):
    """Whether a guard jumped with the modes of others (g against g_b): it may have left its interval and returned."""
    found = False
    for s in range(m.kind.size):
        found = found or abs(m.g[s] - m.g_b[s]) > JUMP * (abs(m.g[s]) + abs(m.g_b[s]))
    return found


@procedure(Run, "Dormand-Prince integrator", 0.5)
def watch(run, t, h):
    """Look at the guards of a trial step that passed, from `run.x` to `run.x_old` with the slopes k[0], k[12].

    UNCHANGED or STEPPED_OVER: the step stands. LANDED: it ends at the part `run.theta` of its length, and
    `run.x_old` is the state there. FLIPPED: a mode was left at its start, where it has changed now. REPEAT: to be
    repeated so that it ends a little beyond that part. The dense output has been prepared where it is wanted.
    """
    m = run.modes
    _end(run)
    guards_at(run, t + h)
    copy(m.g, m.g_b)
    if not leaves(m):
        if _excursion(run, t, h):
            verdict = _land(run, t, h)
            if verdict != UNCHANGED:
                return verdict
        _end(run)
        guards_at(run, t + h)
        copy(m.g, m.g_start)
        for s in range(m.kind.size):
            m.flips[s] = 0
        return UNCHANGED
    keep(m)
    settle(run, t + h, 0.0)
    farthest = farthest_site(m)
    passed = pieces_passed(m, farthest)
    distance = max(1.0, abs(passed))
    hidden = _guards_jumped(m)
    bad = evaluate(run, t + h, CHANGED)
    restore(m)
    if bad < 0 and distance <= MOST_BREAKS and not hidden:
        cost = h * _change(run, N_STAGES)
        part = 1.0
        if cost > NEGLIGIBLE:
            part = 1.0 - first_exit(run, t, h, False)
        if cost * part <= NEGLIGIBLE:
            if run.aimed == 0 and distance == 1.0:
                for s in range(m.kind.size):
                    m.side[s] = outside(m, s, m.g_b[s])
                note(m, False)
            for j in range(run.x.size):
                run.saved[j] = run.k[CHANGED, j]
            inside = 0.0
            if distance > 1.0:
                inside = _cost_inside(run, t, h, farthest, passed)
            if h * part * inside <= NEGLIGIBLE:
                return _take_over(run, t, h)
    return _land(run, t, h)
