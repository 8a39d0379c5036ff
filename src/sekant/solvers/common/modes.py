"""Modes of the sites of a right-hand side, held within a step: what is valid where, and what comes next.

See `sekant.solvers.common.sites` for what a site is. A mode is valid while the guard stays within [low, high]. A
landing integrator (`sekant.solvers.ode.dop853_landing`) ends its step where a guard leaves that interval, and the
mode moves on to the neighbor: the next piece of a table, the other sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Integers, Struct, Vector
from sekant.solvers.common.sites import FLOOR, NUMBERS, PIECE, SIGN, Site, free_modes
from sekant.tables.pieces import extrapolation_limits
from sekant.tables.table import Table, Table2

MOST_FLIPS = 12
"""Changes of the mode of one site at one time, beyond which it chatters."""
MOST_BREAKS = 4.0
"""Of one table, over which a step may go without landing."""
PROBE = 0.38
"""Where in each piece that a step goes over completely the equations are looked at."""


@dataclass(frozen=True)
class Switching:
    """The sites of a right-hand side and their guards.

    `guards`: a function of the same arguments as the right-hand side, M included, with the result g (ns,). `tables`:
    those by whose numbers the sites name them.
    """

    guards: Any
    sites: Sequence[Site]
    tables: Sequence[Table | Table2]

    def axis(self, site: Site) -> tuple[NDArray[np.float64], str]:
        """Breaks and kind of extrapolation of the axis of a PIECE."""
        table = self.tables[site.table]
        if isinstance(table, Table2):
            return (table.breaks1, table.breaks2)[site.axis], table.extrapolation[site.axis]
        return table.breaks, table.extrapolation

    def label(self, number: int) -> str:
        """What a reader would call a site."""
        site = self.sites[number]
        if site.kind == PIECE:
            return self.tables[site.table].label
        return "a switch (abs, sign, min, max, if_else)" if site.kind == SIGN else "a switch (floor, mod)"


class SiteModes(Struct):
    """The memory of the `ns` sites of a right-hand side."""

    # What the sites are: for each PIECE the `count` entries of `breaks` from `first` on, `limits` (2 ns,) where its
    # table ends, `period` (0: not periodic).
    kind: Integers
    first: Integers
    count: Integers
    breaks: Vector
    limits: Vector
    period: Vector
    # What holds: row and lap (see `sites`; of SIGN and FLOOR lap is the value), valid for guards within low, high.
    # kept_row, kept_lap: modes set aside. code, value: M as integers and as floats. other_code, other_value,
    # other_site: M of a second function, and for each of its sites the number of the same site here, or -1.
    row: Integers
    lap: Vector
    low: Vector
    high: Vector
    kept_row: Integers
    kept_lap: Vector
    code: Integers
    value: Vector
    other_code: Integers
    other_value: Vector
    other_site: Integers
    # Guards: g where the function writes them, g_start at the start of a step, g_a, g_b at both ends of a bracket.
    # side: to which side a site leaves. flips: changes at the present time.
    g: Vector
    g_start: Vector
    g_a: Vector
    g_b: Vector
    side: Integers
    flips: Integers
    # For prediction: g_now, rate of the guards at the start of the step, g_before, rate_before at that of the last
    # one. rough: whether each break had to be landed on (-1: not passed yet), expected: for how many more breaks of
    # a site that is expected.
    rate: Vector
    g_now: Vector
    rate_before: Vector
    g_before: Vector
    rough: Integers
    expected: Integers


def lay_out_modes(
    switching: Switching | None, own: Sequence[Site] = (), other: Sequence[Site] = ()
) -> SiteModes:
    """Memory with all sites free. Without `switching` there is none to hold, and `own` only sizes M.

    `other`: sites of a function that is used along with the right-hand side.
    """
    sites = switching.sites if switching is not None else ()
    ns = len(sites)
    breaks: list[NDArray[np.float64]] = [np.zeros(0)]
    first, count = np.zeros(ns, dtype=np.int64), np.zeros(ns, dtype=np.int64)
    limits, period = np.zeros(2 * ns), np.zeros(ns)
    for s, site in enumerate(sites):
        if site.kind == PIECE and switching is not None:
            points, extrapolation = switching.axis(site)
            first[s], count[s] = sum(part.size for part in breaks), points.size
            limits[2 * s : 2 * s + 2] = extrapolation_limits(points, extrapolation)
            period[s] = points[-1] - points[0] if extrapolation == "periodic" else 0.0
            breaks.append(points)
    number = {site.key: s for s, site in enumerate(sites)}
    value, other_value = free_modes(own), free_modes(other)
    whole = ("row", "side", "flips", "kept_row", "expected")
    real = ("lap", "g", "g_start", "g_a", "g_b", "kept_lap", "rate", "g_now", "rate_before", "g_before")
    return SiteModes(
        kind=np.array([site.kind for site in sites], dtype=np.int64),
        first=first,
        count=count,
        breaks=np.concatenate(breaks),
        limits=limits,
        period=period,
        low=np.full(ns, -np.inf),
        high=np.full(ns, np.inf),
        code=value.view(np.int64),
        value=value,
        other_code=other_value.view(np.int64),
        other_value=other_value,
        other_site=np.array([number.get(site.key, -1) for site in other], dtype=np.int64),
        rough=np.full(max(1, sum(part.size for part in breaks)), -1, dtype=np.int64),
        **{name: np.zeros(ns, dtype=np.int64) for name in whole},
        **{name: np.zeros(ns) for name in real},
    )


@inner
def _bounds(m, s):
    """Set the interval of guards for which the mode of site s is valid."""
    kind, row, lap = m.kind[s], m.row[s], m.lap[s]
    low, high = -np.inf, np.inf
    if kind == PIECE:
        start, pieces, period = m.first[s], m.count[s] - 1, m.period[s]
        shift = lap * period
        if row > pieces:
            low = m.limits[2 * s + 1]
        elif row > 0:
            low = m.breaks[start + row - 1] + shift if row > 1 or period > 0.0 else m.limits[2 * s]
        if row == 0:
            high = m.limits[2 * s]
        elif row <= pieces:
            high = m.breaks[start + row] + shift if row < pieces or period > 0.0 else m.limits[2 * s + 1]
    elif kind == FLOOR:
        low, high = lap, lap + 1.0
    else:
        if lap >= 0.0:
            low = 0.0
        if lap <= 0.0:
            high = 0.0
    m.low[s], m.high[s] = low, high


@inner
def set_mode(m, s, row, lap):
    """Hold site s: the row and lap of a table, or the value `lap` of a switch."""
    m.row[s], m.lap[s] = row, lap
    _bounds(m, s)
    code = row + 1 if m.kind[s] == PIECE else 1
    m.code[NUMBERS * s], m.value[NUMBERS * s + 1] = code, lap
    for i in range(m.other_site.size):
        if m.other_site[i] == s:
            m.other_code[NUMBERS * i], m.other_value[NUMBERS * i + 1] = code, lap


@inner
def decide(m, s):
    """Hold site s by the value of its guard in g; returns whether that is a change."""
    g, kind = m.g[s], m.kind[s]
    row, lap = 0, 0.0
    if not abs(g) < np.inf:
        return False
    if kind == FLOOR:
        lap = float(floor(g))
    elif kind == SIGN:
        lap = 1.0 if g > 0.0 else -1.0 if g < 0.0 else 0.0
    else:
        start, count = m.first[s], m.count[s]
        if m.period[s] > 0.0:
            lap = float(floor((g - m.breaks[start]) / m.period[s]))
            g -= lap * m.period[s]
        row, above = 1, count  # breaks[row - 1] <= g < breaks[above - 1], if g lies in the range
        while above - row > 1:
            middle = (row + above) // 2
            if g >= m.breaks[start + middle - 1]:
                row = middle
            else:
                above = middle
        if g < m.limits[2 * s]:
            row = 0
        elif g > m.limits[2 * s + 1]:
            row = count
    changed = m.code[NUMBERS * s] == 0 or m.row[s] != row or m.lap[s] != lap
    if changed:
        set_mode(m, s, row, lap)
    return changed


@inner
def outside(m, s, g):
    """On which side (-1, 1) a guard lies outside the interval of the mode of site s; 0: inside, or not finite.

    A sign that rests at zero has come there by a landing, which is exact to round-off only. A guard that was zero at
    the start of the step and still is, as that of `x*y < 0` once x is held at zero, has left either sign.
    """
    slack = 0.0
    if m.kind[s] == SIGN and m.lap[s] == 0.0:
        slack = 8.0 * abs(m.g_start[s])
    elif m.kind[s] == SIGN and g == 0.0 and m.g_start[s] == 0.0:
        return -1 if m.lap[s] > 0.0 else 1
    return 1 if g > m.high[s] + slack else -1 if g < m.low[s] - slack else 0


@inner
def move_on(m, s, side):
    """Take the mode beyond the upper (side 1) or lower (-1) bound of site s. False: it chatters."""
    m.flips[s] += 1
    kind, old = m.kind[s], m.lap[s]
    row, lap = 0, old
    if kind == FLOOR:
        lap = old + side
    elif kind == PIECE:
        row, pieces = m.row[s] + side, m.count[s] - 1
        if m.period[s] > 0.0:
            if row > pieces:
                row, lap = 1, lap + 1.0
            elif row < 1:
                row, lap = pieces, lap - 1.0
    elif m.flips[s] == 3:  # both signs lead back: it may rest at zero
        lap = 0.0
    else:
        if m.flips[s] > 3 and old == 0.0:
            return False
        lap = float(side)
    set_mode(m, s, row, lap)
    return m.flips[s] <= MOST_FLIPS


@inner
def keep(m):
    """Set all modes aside."""
    for s in range(m.kind.size):
        m.kept_row[s], m.kept_lap[s] = m.row[s], m.lap[s]


@inner
def restore(m):
    """Hold the modes that were set aside."""
    for s in range(m.kind.size):
        set_mode(m, s, m.kept_row[s], m.kept_lap[s])


@inner
def pieces_passed(m, s):
    """Breaks of site s that lie between the mode that was set aside and the one that holds, with sign."""
    if m.kind[s] != PIECE:
        return 0.0
    turns = (m.lap[s] - m.kept_lap[s]) * (m.count[s] - 1)
    return turns + m.row[s] - m.kept_row[s]


@inner
def farthest_site(m):
    """The site that has passed the most breaks."""
    found = 0
    for s in range(m.kind.size):
        if abs(pieces_passed(m, s)) > abs(pieces_passed(m, found)):
            found = s
    return found


@inner
def inside_piece(m, s, ahead):
    """A value of the guard of site s inside the piece that lies `ahead` breaks from the one that holds."""
    start, pieces, period = m.first[s], m.count[s] - 1, m.period[s]
    index, lap = m.row[s] - 1 + int(ahead), m.lap[s]
    if period > 0.0:
        lap += index // pieces
        index = index % pieces
    index = min(max(index, 0), pieces - 1)
    low, high = m.breaks[start + index], m.breaks[start + index + 1]
    return low + PROBE * (high - low) + lap * period
