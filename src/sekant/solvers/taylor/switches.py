"""Switches: values whose side, sign, floor or table piece is held during a step.

The mode of a switch is valid while its value g stays within [low, high]. A step ends where some g leaves its
interval; there the mode moves on to the neighbor.
"""

from __future__ import annotations

from math import floor

import numpy as np

from sekant.solvers.common.compiled import inner
from sekant.solvers.taylor.machine import (
    BREAKS,
    FLIPS,
    FRESH,
    GROWTH,
    HELD,
    HIGH,
    K_AXES,
    K_COUNT,
    K_DATA,
    K_FIRST,
    K_GROWTH,
    K_ROWS2,
    LAP,
    LIMITS,
    LOW,
    PERIOD,
    PIECE_ROW,
    S_BREAKS,
    S_COUNT,
    S_KIND,
    S_LOOKUP,
    S_MODE,
    S_VALUE,
    SIDE,
    TABLE,
    WATCH,
    code,
    data,
    series,
    state,
    work,
)
from sekant.solvers.taylor.nodes import FLOOR, NOT_BELOW, PIECE, SIGN
from sekant.solvers.taylor.roots import first_exit
from sekant.solvers.taylor.series import run_values

MOST_FLIPS = 12  # of one switch at one time


@inner
def _set_side(m, s, value):
    """Modes of the kinds with few values: 0 or 1; -1, 0 or 1; an integer."""
    kind, low, high = code(m, S_KIND)[s], work(m, LOW), work(m, HIGH)
    series(m)[code(m, S_MODE)[s], 0] = value
    if kind == FLOOR:
        low[s], high[s] = value, value + 1.0
    elif kind == SIGN:
        low[s] = 0.0 if value >= 0.0 else -np.inf
        high[s] = 0.0 if value <= 0.0 else np.inf
    else:
        low[s] = 0.0 if value > 0.0 else -np.inf
        high[s] = np.inf if value > 0.0 else 0.0


@inner
def _set_piece(m, s, row, lap):
    """Origin, interval and coefficients for a row and a lap of an axis."""
    rows, laps = state(m, PIECE_ROW), work(m, LAP)
    rows[s], laps[s] = row, lap
    breaks, start, pieces = data(m, BREAKS), code(m, S_BREAKS)[s], code(m, S_COUNT)[s] - 1
    limits, period = data(m, LIMITS), data(m, PERIOD)[s]
    shift = lap * period
    series(m)[code(m, S_MODE)[s], 0] = breaks[start + max(row - 1, 0)] + shift
    low, high = -np.inf, np.inf
    if row > pieces:
        low = limits[2 * s + 1]
    elif row > 0:
        low = breaks[start + row - 1] + shift if row > 1 or period > 0.0 else limits[2 * s]
    if row == 0:
        high = limits[2 * s]
    elif row <= pieces:
        high = breaks[start + row] + shift if row < pieces or period > 0.0 else limits[2 * s + 1]
    work(m, LOW)[s], work(m, HIGH)[s] = low, high
    x = code(m, S_LOOKUP)[s]
    first, second = code(m, K_AXES)[2 * x], code(m, K_AXES)[2 * x + 1]
    row2 = rows[second] if second >= 0 else 0
    count, table, growth = code(m, K_COUNT)[x], data(m, TABLE), data(m, GROWTH)
    base = code(m, K_DATA)[x] + (rows[first] * code(m, K_ROWS2)[x] + row2) * count
    target, rise = code(m, K_FIRST)[x], code(m, K_GROWTH)[x]
    for i in range(count):
        series(m)[target + i, 0] = table[base + i] + laps[first] * growth[rise + i]


@inner
def _decide(m, s):
    """Give the switch the mode that belongs to its value in T; returns whether that is a change."""
    g = series(m)[code(m, S_VALUE)[s], 0]
    kind, mode = code(m, S_KIND)[s], code(m, S_MODE)[s]
    state(m, FRESH)[s] = 0
    if not abs(g) < np.inf:
        return False
    if kind != PIECE:
        if kind == FLOOR:
            value = float(floor(g))
        elif kind == SIGN:
            value = 1.0 if g > 0.0 else -1.0 if g < 0.0 else 0.0
        else:
            value = 1.0 if g > 0.0 or (kind == NOT_BELOW and g == 0.0) else 0.0
        changed = series(m)[mode, 0] != value
        _set_side(m, s, value)
        return changed
    start, count, limits = code(m, S_BREAKS)[s], code(m, S_COUNT)[s], data(m, LIMITS)
    breaks, period, lap = data(m, BREAKS)[start : start + count], data(m, PERIOD)[s], 0.0
    if period > 0.0:
        lap = float(floor((g - breaks[0]) / period))
        g -= lap * period
    row = min(max(np.searchsorted(breaks, g, side="right"), 1), count - 1)
    if g < limits[2 * s]:
        row = 0
    elif g > limits[2 * s + 1]:
        row = count
    changed = state(m, PIECE_ROW)[s] != row or work(m, LAP)[s] != lap
    _set_piece(m, s, row, lap)
    return changed


@inner
def decide_all(m):
    """Modes of all switches at the point in T; as often as one may depend on another."""
    switches = code(m, S_VALUE).size
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
    fresh, flips = state(m, FRESH), state(m, FLIPS)
    flips[s] += 1
    fresh[s] = 1 if side > 0 else 2
    kind, old = code(m, S_KIND)[s], series(m)[code(m, S_MODE)[s], 0]
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
        row, lap, pieces = state(m, PIECE_ROW)[s] + side, work(m, LAP)[s], code(m, S_COUNT)[s] - 1
        if data(m, PERIOD)[s] > 0.0:
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
    sides = state(m, SIDE)
    for s in range(sides.size):
        if sides[s] != 0:
            if not _move_on(m, s, sides[s]):
                return s
            sides[s] = 0
    run_values(m, HELD)
    return -1


@inner
def _exit_of(m, s, n, h):
    """When the switch s leaves its interval within h, and to which side."""
    c, fresh = series(m)[code(m, S_VALUE)[s]], state(m, FRESH)[s]
    first, side = np.inf, 0
    for direction in (-1, 1):
        bound = work(m, LOW)[s] if direction < 0 else work(m, HIGH)[s]
        if abs(bound) < np.inf:
            at = first_exit(m, c, n, h, bound, direction, fresh & (1 if direction < 0 else 2) != 0)
            if at < first:
                first, side = at, direction
    return first, side


@inner
def find_switches(m, n, h, moment):
    """The first time within h at which a switch leaves its interval (infinite if none), and that switch.

    `n`: degree of the series. All that leave within a moment after it get their side.
    """
    sides = state(m, SIDE)
    first, leader = np.inf, -1
    for s in range(sides.size):
        sides[s] = 0
        at, _ = _exit_of(m, s, n, min(h, first))
        if at < first:
            first, leader = at, s
    if leader >= 0:
        for s in range(sides.size):
            at, side = _exit_of(m, s, n, first + moment)
            if at <= first + moment:
                sides[s] = side
    return first, leader
