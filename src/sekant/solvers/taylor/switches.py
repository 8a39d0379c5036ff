"""Switches: values whose side, sign, floor or table piece is held during a step.

The mode of a switch is valid while its value g stays within [low, high]. A step ends where some g leaves its
interval; there the mode changes to the neighbor.
"""

from __future__ import annotations

from math import inf

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.modes import MOST_FLIPS, hold_interval, mode_at, neighbor
from sekant.solvers.common.sites import FLOOR, NOT_BELOW, PIECE, SIGN
from sekant.solvers.taylor.machine import HELD, WATCH
from sekant.solvers.taylor.roots import first_exit
from sekant.solvers.taylor.series import run_values


@inner
def _set_mode(m, s, row, lap):
    """Hold switch s: its interval, and the value of its mode or the coefficients of its piece in the series."""
    modes = m.modes
    hold_interval(modes, s, row, lap)
    node = m.code.s_mode[s]
    if modes.sites.kind[s] != PIECE:
        m.series[node, 0] = lap
        return
    start, rows, laps = modes.sites.first[s], modes.row, modes.lap
    m.series[node, 0] = modes.sites.breaks[start + max(row - 1, 0)] + lap * modes.sites.period[s]
    x = m.code.s_lookup[s]
    first, second = m.code.k_axes[2 * x], m.code.k_axes[2 * x + 1]
    row2 = rows[second] if second >= 0 else 0
    count, table, growth = m.code.k_count[x], m.code.table, m.code.growth
    base = m.code.k_data[x] + (rows[first] * m.code.k_rows2[x] + row2) * count
    target, rise = m.code.k_first[x], m.code.k_growth[x]
    for i in range(count):
        m.series[target + i, 0] = table[base + i] + laps[first] * growth[rise + i]


@inner
def _decide(m, s):
    """Set the mode of a switch from its value in T; returns whether it changes."""
    g = m.series[m.code.s_value[s], 0]
    m.fresh[s] = 0
    if not abs(g) < inf:
        return False
    row, lap = mode_at(m.modes, s, g)
    changed = m.modes.row[s] != row or m.modes.lap[s] != lap
    _set_mode(m, s, row, lap)
    return changed


@inner
def decide_all(m):
    """Set the modes of all switches at the point in T, repeatedly if one may depend on another."""
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
    """Change to the mode beyond the upper (side +1) or lower (-1) bound; the value is on that bound. Returns
    False if it chatters."""
    row, lap, good = neighbor(m.modes, s, side)
    if good:
        rests = m.modes.sites.kind[s] == SIGN and lap == 0.0
        m.fresh[s] = 3 if rests else 1 if side > 0 else 2
        _set_mode(m, s, row, lap)
    return good


@inner
def move_switches(m):
    """Change the modes of the switches that have a side; returns one that chatters, or -1."""
    sides = m.modes.watch.side
    for s in range(sides.size):
        if sides[s] != 0:
            if not _move_on(m, s, sides[s]):
                return s
            sides[s] = 0
    run_values(m, HELD)
    return -1


@inner
def decide_outside(m):
    """Set the modes of the switches that have a side from their values in T; returns one that chatters, or -1."""
    for s in range(m.modes.watch.side.size):
        if m.modes.watch.side[s] != 0:
            m.modes.flips[s] += 1
            _decide(m, s)
            m.modes.watch.side[s] = 0
            if m.modes.flips[s] > MOST_FLIPS:
                return s
    run_values(m, HELD)
    return -1


@inner
def _stays_at_zero(m, s, n):
    """Whether the value of the switch is zero throughout, such as that of `x*y < 0` while x is constrained to
    zero, but its mode is that of another value: it would stay on its bound forever."""
    kind, c = m.modes.sites.kind[s], m.series[m.code.s_value[s]]
    stays = c[0] == 0.0 and kind != FLOOR and kind != PIECE
    if stays:
        stays = m.modes.lap[s] != (1.0 if kind == NOT_BELOW else 0.0)
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
        bound = m.modes.watch.low[s] if direction < 0 else m.modes.watch.high[s]
        if abs(bound) < inf:
            at = first_exit(m, c, n, h, bound, direction, fresh & (1 if direction < 0 else 2) != 0)
            if at < first:
                first, side = at, direction
    return first, side


@inner
def find_switches(m, n, h, moment):
    """The first time within h at which a switch leaves its interval (infinite if none), and that switch.

    `n`: degree of the series. All switches that leave immediately after it get their side, too. -1: some are
    already outside.
    """
    sides = m.modes.watch.side
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
        sides[leader] = leads  # within a short time, a value that starts at rest does not leave
    return first, leader
