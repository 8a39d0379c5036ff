"""Switches: values whose side, sign, floor or table piece is held during a step.

The mode of a switch is valid while its value g stays within [low, high]. A step ends where some g leaves its
interval; there the mode moves on to the neighbor.
"""

from __future__ import annotations

from math import floor, inf

from sekant.loops.declare.procedures import inner
from sekant.solvers.taylor.machine import HELD, WATCH
from sekant.solvers.taylor.nodes import FLOOR, NOT_BELOW, PIECE, SIGN
from sekant.solvers.taylor.roots import first_exit
from sekant.solvers.taylor.series import run_values

MOST_FLIPS = 12  # of one switch at one time


@inner
def _set_side(m, s, value):
    """Modes of the kinds with few values: 0 or 1; -1, 0 or 1; an integer."""
    kind, low, high = m.code.s_kind[s], m.low, m.high
    m.series[m.code.s_mode[s], 0] = value
    if kind == FLOOR:
        low[s], high[s] = value, value + 1.0
    elif kind == SIGN:
        low[s] = 0.0 if value >= 0.0 else -inf
        high[s] = 0.0 if value <= 0.0 else inf
    else:
        low[s] = 0.0 if value > 0.0 else -inf
        high[s] = inf if value > 0.0 else 0.0


@inner
def _set_piece(m, s, row, lap):
    """Origin, interval and coefficients for a row and a lap of an axis."""
    rows, laps = m.piece_row, m.lap
    rows[s], laps[s] = row, lap
    breaks, start, pieces = m.code.breaks, m.code.s_breaks[s], m.code.s_count[s] - 1
    limits, period = m.code.limits, m.code.period[s]
    shift = lap * period
    m.series[m.code.s_mode[s], 0] = breaks[start + max(row - 1, 0)] + shift
    low, high = -inf, inf
    if row > pieces:
        low = limits[2 * s + 1]
    elif row > 0:
        low = breaks[start + row - 1] + shift if row > 1 or period > 0.0 else limits[2 * s]
    if row == 0:
        high = limits[2 * s]
    elif row <= pieces:
        high = breaks[start + row] + shift if row < pieces or period > 0.0 else limits[2 * s + 1]
    m.low[s], m.high[s] = low, high
    x = m.code.s_lookup[s]
    first, second = m.code.k_axes[2 * x], m.code.k_axes[2 * x + 1]
    row2 = rows[second] if second >= 0 else 0
    count, table, growth = m.code.k_count[x], m.code.table, m.code.growth
    base = m.code.k_data[x] + (rows[first] * m.code.k_rows2[x] + row2) * count
    target, rise = m.code.k_first[x], m.code.k_growth[x]
    for i in range(count):
        m.series[target + i, 0] = table[base + i] + laps[first] * growth[rise + i]


@inner
def _count_up_to(breaks, start, count, g):
    """How many of `count` rising numbers from index `start` on are at most g."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if breaks[start + middle] <= g:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _decide(m, s):
    """Give the switch the mode that belongs to its value in T; returns whether that is a change."""
    g = m.series[m.code.s_value[s], 0]
    kind, mode = m.code.s_kind[s], m.code.s_mode[s]
    m.fresh[s] = 0
    if not abs(g) < inf:
        return False
    if kind != PIECE:
        if kind == FLOOR:
            value = float(floor(g))
        elif kind == SIGN:
            value = 1.0 if g > 0.0 else -1.0 if g < 0.0 else 0.0
        else:
            value = 1.0 if g > 0.0 or (kind == NOT_BELOW and g == 0.0) else 0.0
        changed = m.series[mode, 0] != value
        _set_side(m, s, value)
        return changed
    start, count, limits = m.code.s_breaks[s], m.code.s_count[s], m.code.limits
    period, lap = m.code.period[s], 0.0
    if period > 0.0:
        lap = float(floor((g - m.code.breaks[start]) / period))
        g -= lap * period
    row = min(max(_count_up_to(m.code.breaks, start, count, g), 1), count - 1)
    if g < limits[2 * s]:
        row = 0
    elif g > limits[2 * s + 1]:
        row = count
    changed = m.piece_row[s] != row or m.lap[s] != lap
    _set_piece(m, s, row, lap)
    return changed


@inner
def decide_all(m):
    """Modes of all switches at the point in T; as often as one may depend on another."""
    switches = m.code.s_value.size
    run_values(m, HELD)
    for _ in range(switches + 1):
        run_values(m, WATCH)
        changed = False
        for s in range(switches):
            if _decide(m, s):
                changed = True
        run_values(m, HELD)
        if not changed:
            break


@inner
def _move_on(m, s, side):
    """The mode beyond the upper (side +1) or lower (-1) bound; its value is on that bound. False: it chatters."""
    fresh, flips = m.fresh, m.flips
    flips[s] += 1
    fresh[s] = 1 if side > 0 else 2
    kind, old = m.code.s_kind[s], m.series[m.code.s_mode[s], 0]
    if kind == FLOOR:
        _set_side(m, s, old + side)
    elif kind == SIGN:
        if flips[s] > 3 and old == 0.0:
            return False
        if flips[s] == 3:
            fresh[s] = 3
            _set_side(m, s, 0.0)
        else:
            _set_side(m, s, float(side))
    elif kind == PIECE:
        row, lap, pieces = m.piece_row[s] + side, m.lap[s], m.code.s_count[s] - 1
        if m.code.period[s] > 0.0:
            if row > pieces:
                row, lap = 1, lap + 1.0
            elif row < 1:
                row, lap = pieces, lap - 1.0
        _set_piece(m, s, row, lap)
    else:
        _set_side(m, s, 1.0 if side > 0 else 0.0)
    return flips[s] <= MOST_FLIPS


@inner
def move_switches(m):
    """Move on the switches that have a side; returns one that chatters, or -1."""
    sides = m.side
    for s in range(sides.size):
        if sides[s] != 0:
            if not _move_on(m, s, sides[s]):
                return s
            sides[s] = 0
    run_values(m, HELD)
    return -1


@inner
def decide_outside(m):
    """Give the switches that have a side the modes of their values in T; returns one that chatters, or -1."""
    for s in range(m.side.size):
        if m.side[s] != 0:
            m.flips[s] += 1
            _decide(m, s)
            m.side[s] = 0
            if m.flips[s] > MOST_FLIPS:
                return s
    run_values(m, HELD)
    return -1


@inner
def _stays_at_zero(m, s, n):
    """Whether the value of the switch is zero throughout, as that of `x*y < 0` once x is held at zero, but its mode
    is that of another value: the bound on which it lies would keep it for good."""
    kind, c = m.code.s_kind[s], m.series[m.code.s_value[s]]
    stays = c[0] == 0.0 and kind != FLOOR and kind != PIECE
    if stays:
        stays = m.series[m.code.s_mode[s], 0] != (1.0 if kind == NOT_BELOW else 0.0)
        for k in range(1, n + 1):
            stays = stays and c[k] == 0.0
    return stays


@inner
def _exit_of(m, s, n, h):
    """When the switch s leaves its interval within h, and to which side."""
    c, fresh = m.series[m.code.s_value[s]], m.fresh[s]
    first, side = inf, 0
    if _stays_at_zero(m, s, n):
        return -1.0, 1
    for direction in range(-1, 2, 2):
        bound = m.low[s] if direction < 0 else m.high[s]
        if abs(bound) < inf:
            at = first_exit(m, c, n, h, bound, direction, fresh & (1 if direction < 0 else 2) != 0)
            if at < first:
                first, side = at, direction
    return first, side


@inner
def find_switches(m, n, h, moment):
    """The first time within h at which a switch leaves its interval (infinite if none), and that switch.

    `n`: degree of the series. All that leave within a moment after it get their side. -1: some lie outside already.
    """
    sides = m.side
    first, leader, leads = inf, -1, 0
    for s in range(sides.size):
        sides[s] = 0
        at, side = _exit_of(m, s, n, h if first < 0.0 else min(h, first))
        if at < first:
            first, leader, leads = at, s, side
    if leader >= 0:
        for s in range(sides.size):
            at, side = _exit_of(m, s, n, h if first < 0.0 else first + moment)
            if at <= first + moment:
                sides[s] = side
        sides[leader] = leads  # within a moment, what starts at rest does not leave
    return first, leader
