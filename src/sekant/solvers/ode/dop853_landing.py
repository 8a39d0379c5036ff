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

import numpy as np

from sekant.native_call import call_native
from sekant.solvers.common.compiled import inner
from sekant.solvers.common.modes import decide, keep, move_on, outside, restore
from sekant.solvers.common.sites import PIECE
from sekant.solvers.common.views import modes_at
from sekant.solvers.ode.dop853_stages import evaluate, interpolate, prepare_dense, scale_of_work
from sekant.solvers.ode.dop853_tableau import N_STAGES
from sekant.solvers.ode.memory import AIMED, BLAME, CHANGED, RATES_AT, RATES_SPAN, THETA
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

# What `watch` finds.
UNCHANGED, STEPPED_OVER, LANDED, FLIPPED, REPEAT, CHATTERS = range(6)
NEGLIGIBLE = 0.1  # of the tolerance: what stepping over a change may cost
CLOSE = 0.95  # part of a step beyond which the dense output is as good as its end
BEYOND = 1.02  # how far a step goes that is to land, over the way to the crossing
REMEMBERED = 8  # breaks for which a site that has to land on one is expected to land again
MOST_BREAKS = 4.0  # of one table, over which a step may go without landing
PROBE = 0.38  # where in each piece that a step goes over completely its slope is looked at
AT_ONCE = 1e-12  # part of a step within which a mode is left at its start
SAMPLES = 8  # points of a step at which guards are looked at for the first exit
MOST_HALVINGS = 80
BISECTIONS = 12  # to find a point in a piece
HELD = np.int64(N_STAGES + 1)  # a row of k that is free once the dense output is made


@inner
def guards_at(native, t, low, high):
    """g of the state in `native.stage` at time t."""
    native.clock[0] = min(max(t, low), high)
    call_native(native.guards, native.arg_stage, native.guards_res, native.work)


@inner
def settle(native, t, low, high, everywhere):
    """Hold at `native.stage` the modes that its guards ask for: of all sites, or of those outside their interval."""
    m = modes_at(native.modes)
    for _ in range(m.kind.size + 1):
        guards_at(native, t, low, high)
        changed = False
        for s in range(m.kind.size):
            if (everywhere or outside(m, s, m.g[s]) != 0) and decide(m, s):
                changed = True
        if not changed:
            break


@inner
def start_modes(native, run, t, low, high):
    """Modes at the start of a run or of a segment, from the guards alone."""
    m = modes_at(native.modes)
    for j in range(run.x.size):
        native.stage[j] = run.x[j]
    settle(native, t, low, high, True)
    for s in range(m.kind.size):
        m.g_start[s] = m.g[s]
        m.flips[s] = 0


@inner
def _change(native, plan, run, slope):
    """Norm of the difference between the slopes k[CHANGED] and `slope`; of motion or work, the larger one."""
    x, square = run.x, 0.0
    for j in range(plan.n_error):
        difference = (native.k[CHANGED, j] - slope[j]) / (plan.atol[j] + plan.rtol * abs(x[j]))
        square += difference * difference
    norm = (square / plan.n_error) ** 0.5
    if x.size > plan.n_error:
        scale, square = scale_of_work(plan, x, run.x_old), 0.0
        for j in range(plan.n_error, x.size):
            difference = (native.k[CHANGED, j] - slope[j]) / scale
            square += difference * difference
        norm = max(norm, (square / (x.size - plan.n_error)) ** 0.5)
    return norm


@inner
def _cubic(native, run, h, theta):
    """stage = the cubic through both ends of the step and their slopes."""
    x, end, k, stage = run.x, run.x_old, native.k, native.stage
    b = theta * theta * (3.0 - 2.0 * theta)
    c = h * theta * (1.0 - theta) * (1.0 - theta)
    d = -h * theta * theta * (1.0 - theta)
    for j in range(x.size):
        stage[j] = x[j] + b * (end[j] - x[j]) + c * k[0, j] + d * k[N_STAGES, j]


@inner
def _leaves(m):
    """Whether a guard in G is outside the interval of its mode."""
    found = False
    for s in range(m.kind.size):
        found = found or outside(m, s, m.g[s]) != 0
    return found


@inner
def _look(native, plan, run, t, h, theta, low, high, dense):
    """Guards at a point of the step, on the dense output or the cubic; returns whether one is outside."""
    m = modes_at(native.modes)
    if dense:
        interpolate(run.dense, run.x, theta, native.stage)
    else:
        _cubic(native, run, h, theta)
    normalize(native.stage, plan.unit_blocks)
    guards_at(native, t + theta * h, low, high)
    return _leaves(m)


@inner
def _pieces_passed(m, s):
    """Breaks of site s that lie between the mode that was set aside and the one that holds, with sign."""
    if m.kind[s] != PIECE:
        return 0.0
    turns = (m.lap[s] - m.kept_lap[s]) * (m.count[s] - 1)
    return turns + m.row[s] - m.kept_row[s]


@inner
def _farthest(m):
    """The site that has passed the most breaks."""
    found = 0
    for s in range(m.kind.size):
        if abs(_pieces_passed(m, s)) > abs(_pieces_passed(m, found)):
            found = s
    return found


@inner
def _inside_piece(m, s, ahead):
    """A value of the guard of site s inside the piece that lies `ahead` breaks from the one that holds."""
    start, pieces, period = m.first[s], m.count[s] - 1, m.period[s]
    index, lap = m.row[s] - 1 + int(ahead), m.lap[s]
    if period > 0.0:
        lap += index // pieces
        index = index % pieces
    index = min(max(index, 0), pieces - 1)
    low, high = m.breaks[start + index], m.breaks[start + index + 1]
    return low + PROBE * (high - low) + lap * period


@inner
def _cost_inside(native, plan, run, t, h, low, high, s, passed):
    """Largest change of the slope in the pieces of site s that the step goes over completely, on the cubic."""
    m, largest = modes_at(native.modes), 0.0
    side = 1.0 if passed > 0.0 else -1.0
    keep(m)
    for i in range(1, int(abs(passed))):
        target, a, b = _inside_piece(m, s, side * i), 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (a + b)
            _look(native, plan, run, t, h, middle, low, high, False)
            if side * (m.g[s] - target) > 0.0:
                b = middle
            else:
                a = middle
        moment = t + b * h
        if evaluate(native, run, moment, HELD, low, high) >= 0:
            return np.inf
        settle(native, moment, low, high, False)
        bad = evaluate(native, run, moment, CHANGED, low, high)
        restore(m)
        if bad >= 0:
            return np.inf
        largest = max(largest, _change(native, plan, run, native.k[HELD]))
    return largest


@inner
def _copy(source, target):
    for s in range(source.size):
        target[s] = source[s]


@inner
def _guess(m, a, b, weight_a, weight_b):
    """Where between a and b the first site that is outside at b crosses its bound, by regula falsi."""
    first = b
    for s in range(m.kind.size):
        side = outside(m, s, m.g_b[s])
        if side != 0:
            bound = m.high[s] if side > 0 else m.low[s]
            before, beyond = (
                weight_a * (bound - m.g_a[s]) * side,
                weight_b * (m.g_b[s] - bound) * side,
            )
            if before > 0.0:
                first = min(first, a + (b - a) * before / (before + beyond))
            else:
                first = a
    return first


@inner
def first_exit(native, plan, run, t, h, low, high, dense):
    """The first point of the step at which a guard is outside its interval; 2 if there is none.

    Sites that are outside there get their side. Regula falsi in the form of Illinois between two samples.
    """
    m = modes_at(native.modes)
    a, b = 0.0, 0.0
    _copy(m.g_start, m.g_a)
    found = False
    for i in range(1, SAMPLES + 1):
        b = i / SAMPLES
        found = _look(native, plan, run, t, h, b, low, high, dense)
        if found:
            break
        _copy(m.g, m.g_a)
        a = b
    if not found:
        return 2.0
    _copy(m.g, m.g_b)
    finest = max(4e-16 * abs(t) / h, 1e-15)
    weight_a, weight_b, last = 1.0, 1.0, 0
    for _ in range(MOST_HALVINGS):
        if b - a <= finest:
            break
        guess = _guess(m, a, b, weight_a, weight_b)
        if guess - a < 0.25 * finest or b - guess < 0.25 * finest:
            guess = (
                a + 0.5 * (b - a) if last == 0 else min(a + 0.5 * finest, b) if last > 0 else b - 0.5 * finest
            )
        if not a < guess < b:
            guess = a + 0.5 * (b - a)
            if not a < guess < b:
                break
        if _look(native, plan, run, t, h, guess, low, high, dense):
            b = guess
            _copy(m.g, m.g_b)
            weight_b = 1.0
            weight_a = 0.5 * weight_a if last > 0 else 1.0
            last = 1
        else:
            a = guess
            _copy(m.g, m.g_a)
            weight_a = 1.0
            weight_b = 0.5 * weight_b if last < 0 else 1.0
            last = -1
    for s in range(m.kind.size):
        m.side[s] = outside(m, s, m.g_b[s])
    return b


@inner
def _end(native, run):
    for j in range(run.x.size):
        native.stage[j] = run.x_old[j]


@inner
def _take_over(native, plan, run, t, h, low, high):
    """Modes, guards and slope at the end of a step that went over a change."""
    m = modes_at(native.modes)
    _end(native, run)
    settle(native, t + h, low, high, False)
    _copy(m.g, m.g_start)
    for s in range(m.kind.size):
        m.flips[s] = 0
    for j in range(run.x.size):
        native.k[N_STAGES, j] = native.saved[j]
    return STEPPED_OVER


@inner
def _turns_outside(m, s):
    """Where the parabola through the guard at start (g_start), middle (g_a) and end (g_b) is outermost; 0: inside."""
    rise, bend = (
        m.g_b[s] - m.g_start[s],
        m.g_b[s] - 2.0 * m.g_a[s] + m.g_start[s],
    )
    if outside(m, s, m.g_a[s]) != 0:
        return 0.5
    if bend == 0.0 or abs(rise) >= 2.0 * abs(bend):
        return 0.0
    theta = 0.5 - 0.25 * rise / bend
    extreme = m.g_a[s] - 0.125 * rise * rise / bend
    return theta if outside(m, s, extreme) != 0 else 0.0


@inner
def _excursion(native, plan, run, t, h, low, high):
    """Whether a guard leaves its interval and returns within the step, and that costs more than may be neglected."""
    m = modes_at(native.modes)
    _copy(m.g, m.g_b)
    _look(native, plan, run, t, h, 0.5, low, high, False)
    _copy(m.g, m.g_a)
    theta = 0.0
    for s in range(m.kind.size):
        theta = max(theta, _turns_outside(m, s))
    if theta == 0.0 or not _look(native, plan, run, t, h, theta, low, high, False):
        return False
    moment = t + theta * h
    if evaluate(native, run, moment, CHANGED, low, high) >= 0:
        return True
    for j in range(run.x.size):
        native.saved[j] = native.k[CHANGED, j]
    keep(m)
    settle(native, moment, low, high, False)
    bad = evaluate(native, run, moment, CHANGED, low, high)
    restore(m)
    return bad >= 0 or not h * _change(native, plan, run, native.saved) <= NEGLIGIBLE


@inner
def _break(m, s, side):
    """Index of the break that bounds the piece of site s on a side; -1 for switches."""
    if m.kind[s] != PIECE:
        return -1
    last = m.first[s] + m.count[s] - 1
    return min(max(m.first[s] + m.row[s] - (0 if side > 0 else 1), m.first[s]), last)


@inner
def _note(m, landing):
    """Remember for the sites that leave (`side`) whether a step had to land. Modes are those before the change."""
    for s in range(m.kind.size):
        if m.side[s] != 0:
            m.expected[s] = REMEMBERED if landing else 0
            place = _break(m, s, m.side[s])
            if place >= 0:
                m.rough[place] = 1 if landing else 0


@inner
def rates(native, run, t, h, low, high):
    """Rates of the guards at the start of a step, by a difference along the slope k[0]; the last ones are kept."""
    m, time = modes_at(native.modes), run.time
    small = 1e-4 * h
    for j in range(run.x.size):
        native.stage[j] = run.x[j] + small * native.k[0, j]
    guards_at(native, t + small, low, high)
    if t > time[RATES_AT]:
        time[RATES_SPAN], time[RATES_AT] = t - time[RATES_AT], t
        _copy(m.rate, m.rate_before)
        _copy(m.g_now, m.g_before)
    for s in range(m.kind.size):
        m.rate[s] = (m.g[s] - m.g_start[s]) / small
        m.g_now[s] = m.g_start[s]


@inner
def _ahead(m, s, span, h):
    """Guard of site s predicted h after the start of the step."""
    if not span > 0.0:
        return m.g_now[s] + h * m.rate[s]
    mean = (m.g_now[s] - m.g_before[s]) / span
    second = (2.0 * m.rate[s] + m.rate_before[s] - 3.0 * mean) / span
    third = (m.rate[s] + m.rate_before[s] - 2.0 * mean) / (span * span)
    return m.g_now[s] + h * (m.rate[s] + h * (second + h * third))


@inner
def aim(native, run, h):
    """The length of a step that goes a little beyond the next crossing that has to be landed on, or h."""
    m, span = modes_at(native.modes), run.time[RATES_SPAN]
    shortest = h
    for s in range(m.kind.size):
        side = 1 if m.rate[s] > 0.0 else -1
        bound = m.high[s] if side > 0 else m.low[s]
        place = _break(m, s, side)
        rough = m.rough[place] if place >= 0 else -1
        if not abs(bound) < np.inf or rough == 0 or (rough < 0 and m.expected[s] == 0):
            continue
        a, b = 0.0, 0.0
        for i in range(1, SAMPLES + 1):
            b = shortest * i / SAMPLES
            if side * (_ahead(m, s, span, b) - bound) > 0.0:
                break
            a = b
        if a < b:
            for _ in range(MOST_HALVINGS // 2):
                middle = 0.5 * (a + b)
                if side * (_ahead(m, s, span, middle) - bound) > 0.0:
                    b = middle
                else:
                    a = middle
            if b > AT_ONCE * h:
                shortest = min(shortest, BEYOND * b)
                if rough < 0:
                    m.expected[s] -= 1
    return shortest


@inner
def _move(native, run):
    """Move on the sites that have a side; returns whether none of them chatters."""
    m = modes_at(native.modes)
    good = True
    for s in range(m.kind.size):
        if m.side[s] != 0:
            run.count[BLAME] = s
            good = good and move_on(m, s, m.side[s])
    return good


@inner
def _land(native, plan, run, t, h, low, high, dense):
    m = modes_at(native.modes)
    if not dense:
        _end(native, run)
        if prepare_dense(native, run, t, h, low, high) >= 0:
            run.time[THETA] = 0.25
            return REPEAT
    theta = first_exit(native, plan, run, t, h, low, high, True)
    if theta > 1.0:
        return UNCHANGED
    run.time[THETA] = theta
    if theta <= AT_ONCE or t + theta * h == t:
        return FLIPPED if _move(native, run) else CHATTERS
    _note(m, True)
    if theta < CLOSE:
        return REPEAT
    _copy(m.g_b, m.g_start)
    end = run.x_old
    interpolate(run.dense, run.x, theta, end)
    normalize(end, plan.unit_blocks)
    if native.projection != 0 and not project(native, plan, end, t + theta * h, low, high):
        return REPEAT
    for s in range(m.kind.size):
        m.flips[s] = 0
    return LANDED if _move(native, run) else CHATTERS


@inner
def watch(native, plan, run, t, h, low, high, dense):
    """Look at the guards of a trial step that passed, from `run.x` to `run.x_old` with the slopes k[0], k[12].

    UNCHANGED or STEPPED_OVER: the step stands. LANDED: it ends at the part `time[THETA]` of its length, and
    `run.x_old` is the state there. FLIPPED: a mode was left at its start, where it has changed now. REPEAT: to be
    repeated so that it ends a little beyond that part. `dense`: whether the dense output has been prepared.
    """
    m = modes_at(native.modes)
    _end(native, run)
    guards_at(native, t + h, low, high)
    _copy(m.g, m.g_b)
    if not _leaves(m):
        if _excursion(native, plan, run, t, h, low, high):
            verdict = _land(native, plan, run, t, h, low, high, dense)
            if verdict != UNCHANGED:
                return verdict
        _end(native, run)
        guards_at(native, t + h, low, high)
        _copy(m.g, m.g_start)
        for s in range(m.kind.size):
            m.flips[s] = 0
        return UNCHANGED
    keep(m)
    settle(native, t + h, low, high, False)
    farthest = _farthest(m)
    passed = _pieces_passed(m, farthest)
    distance = max(1.0, abs(passed))
    bad = evaluate(native, run, t + h, CHANGED, low, high)
    restore(m)
    if bad < 0 and distance <= MOST_BREAKS:
        cost = h * _change(native, plan, run, native.k[N_STAGES])
        part = 1.0
        if cost > NEGLIGIBLE:
            part = 1.0 - first_exit(native, plan, run, t, h, low, high, False)
        if cost * part <= NEGLIGIBLE:
            if not run.time[AIMED] > 0.0 and distance == 1.0:
                for s in range(m.kind.size):
                    m.side[s] = outside(m, s, m.g_b[s])
                _note(m, False)
            for j in range(run.x.size):
                native.saved[j] = native.k[CHANGED, j]
            inside = 0.0
            if distance > 1.0:
                inside = _cost_inside(native, plan, run, t, h, low, high, farthest, passed)
            if h * part * inside <= NEGLIGIBLE:
                return _take_over(native, plan, run, t, h, low, high)
    return _land(native, plan, run, t, h, low, high, dense)
