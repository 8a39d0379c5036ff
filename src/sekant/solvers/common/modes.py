"""Modes of the sites of a right-hand side, which are constant within a step: the range in which each is
valid, and the next one.

See `sekant.solvers.common.sites` for the definition of a site. A mode is valid while the guard stays within
an interval. A landing integrator ends its step where a guard leaves it (`sekant.solvers.common.landing`), and
the mode moves on to the neighbor: the next piece of a table, the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Integer, Integers, Struct, Vector
from sekant.solvers.common.landing import Watch, lay_out_watch, outside
from sekant.solvers.common.sites import FLOOR, NOT_BELOW, NUMBERS, PIECE, SIGN, Site, free_modes
from sekant.tables.pieces import extrapolation_limits
from sekant.tables.table import Table, Table2

MOST_FLIPS = 12
"""Number of changes of a site's mode at one time above which it chatters."""
MOST_BREAKS = 4.0
"""Largest number of breaks of a table that a step may cross without stopping."""
JUMP = 1e-3
"""Jump of a guard, relative to its size; continuing a table beyond its piece changes it by far less."""
PROBE = 0.38
"""Point of each completely crossed piece at which the equations are evaluated."""


@dataclass(frozen=True)
class Switching:
    """The sites of a right-hand side and their guards.

    `guards`: a function of the same arguments as the right-hand side, M included, with the result g (ns,). `tables`:
    the tables to which the sites refer by number.
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
        """The name of a site for readers."""
        site = self.sites[number]
        if site.kind == PIECE:
            return self.tables[site.table].label
        return "a switch (abs, sign, min, max, if_else)" if site.kind == SIGN else "a switch (floor, mod)"


class Sites(Struct):
    """Description of the `ns` sites, see `sites`."""

    kind: Integers
    # Of each PIECE the `count` entries of `breaks` from `first` on, `limits` (2 ns,) where its table ends, `period`
    # (0: not periodic).
    first: Integers
    count: Integers
    breaks: Vector
    limits: Vector
    period: Vector


class HeldModes(Struct):
    """Modes of sites: row and lap (the value where there are no pieces), valid for guards within an interval."""

    sites: Sites
    row: Integers
    lap: Vector
    watch: Watch  # the guards
    flips: Integers  # changes at the present time
    last: Integer  # the site that has changed last


class SiteModes(HeldModes):
    """Modes of a right-hand side, in the form that its function reads."""

    # Saved modes.
    kept_row: Integers
    kept_lap: Vector
    kept_last: Integer
    # M as integers and as floats. other_: M of a second function, and for each of its sites the number of the same
    # site here, or -1.
    code: Integers
    value: Vector
    other_code: Integers
    other_value: Vector
    other_site: Integers


def lay_out_sites(
    kinds: Sequence[int],
    breaks: Sequence[NDArray[np.float64]],
    limits: Sequence[tuple[float, float]],
    periods: Sequence[float],
) -> Sites:
    """Breaks, limits and period of sites other than PIECE: none."""
    count = np.array([points.size for points in breaks], dtype=np.int64)
    return Sites(
        kind=np.array(kinds, dtype=np.int64),
        first=np.cumsum(count) - count,
        count=count,
        breaks=np.concatenate([np.zeros(0), *breaks]),
        limits=np.array(limits, dtype=float).ravel(),
        period=np.array(periods, dtype=float),
    )


def memory_of_modes(sites: Sites) -> dict[str, Any]:
    """The fields of `HeldModes`, with all sites free."""
    ns = sites.kind.size
    whole: NDArray[np.int64] = np.zeros(ns, dtype=np.int64)
    return {
        "sites": sites,
        "row": whole,
        "lap": np.zeros(ns),
        "watch": lay_out_watch(ns),
        "flips": whole.copy(),
    }


def lay_out_modes(
    switching: Switching | None, own: Sequence[Site] = (), other: Sequence[Site] = ()
) -> SiteModes:
    """Memory with all sites free. Without `switching` there are no sites, and `own` only sets the size of M.

    `other`: sites of a function that is used together with the right-hand side.
    """
    sites = switching.sites if switching is not None else ()
    points, limits, periods = [], [], []
    for site in sites:
        axis, extrapolation = switching.axis(site) if site.kind == PIECE and switching else (np.zeros(0), "")
        points.append(axis)
        limits.append(extrapolation_limits(axis, extrapolation) if axis.size else (0.0, 0.0))
        periods.append(axis[-1] - axis[0] if extrapolation == "periodic" else 0.0)
    number = {site.key: s for s, site in enumerate(sites)}
    value, other_value = free_modes(own), free_modes(other)
    return SiteModes(
        **memory_of_modes(lay_out_sites([site.kind for site in sites], points, limits, periods)),
        kept_row=np.zeros(len(sites), dtype=np.int64),
        kept_lap=np.zeros(len(sites)),
        code=value.view(np.int64),
        value=value,
        other_code=other_value.view(np.int64),
        other_value=other_value,
        other_site=np.array([number.get(site.key, -1) for site in other], dtype=np.int64),
    )


@inner
def hold_interval(m, s, row, lap):
    """Hold row and lap of site s, and set the interval of guards for which they are valid."""
    sites = m.sites
    kind = sites.kind[s]
    m.row[s], m.lap[s] = row, lap
    low, high = -np.inf, np.inf
    if kind == PIECE:
        start, pieces, period = sites.first[s], sites.count[s] - 1, sites.period[s]
        shift = lap * period
        if row > pieces:
            low = sites.limits[2 * s + 1]
        elif row > 0:
            low = sites.breaks[start + row - 1] + shift if row > 1 or period > 0.0 else sites.limits[2 * s]
        if row == 0:
            high = sites.limits[2 * s]
        elif row <= pieces:
            last = row == pieces and not period > 0.0
            high = sites.limits[2 * s + 1] if last else sites.breaks[start + row] + shift
    elif kind == FLOOR:
        low, high = lap, lap + 1.0
    else:
        if lap > 0.0 or (kind == SIGN and lap == 0.0):
            low = 0.0
        if lap <= 0.0:
            high = 0.0
    m.watch.low[s], m.watch.high[s] = low, high


@inner
def mode_at(m, s, g):
    """Row and lap for a finite guard of site s."""
    sites = m.sites
    kind, row, lap = sites.kind[s], 0, 0.0
    if kind == FLOOR:
        lap = float(floor(g))
    elif kind == SIGN:
        lap = 1.0 if g > 0.0 else -1.0 if g < 0.0 else 0.0
    elif kind != PIECE:
        lap = 1.0 if g > 0.0 or (kind == NOT_BELOW and g == 0.0) else 0.0
    else:
        start, count = sites.first[s], sites.count[s]
        if sites.period[s] > 0.0:
            lap = float(floor((g - sites.breaks[start]) / sites.period[s]))
            g -= lap * sites.period[s]
        row, above = 1, count  # breaks[row - 1] <= g < breaks[above - 1], if g lies in the range
        while above - row > 1:
            middle = (row + above) // 2
            if g >= sites.breaks[start + middle - 1]:
                row = middle
            else:
                above = middle
        if g < sites.limits[2 * s]:
            row = 0
        elif g > sites.limits[2 * s + 1]:
            row = count
    return row, lap


@inner
def neighbor(m, s, side):
    """Row and lap beyond the upper (side 1) or lower (-1) bound of site s, and whether it does not chatter."""
    sites = m.sites
    m.flips[s] += 1
    m.last = s
    kind, row, lap = sites.kind[s], 0, m.lap[s]
    good = m.flips[s] <= MOST_FLIPS
    if kind == FLOOR:
        lap += side
    elif kind == PIECE:
        row, pieces = m.row[s] + side, sites.count[s] - 1
        if sites.period[s] > 0.0:
            if row > pieces:
                row, lap = 1, lap + 1.0
            elif row < 1:
                row, lap = pieces, lap - 1.0
    elif kind != SIGN:
        lap = 1.0 if side > 0 else 0.0
    elif m.flips[s] == 3:  # both signs lead back: it may stay at zero
        lap = 0.0
    else:
        good = good and not (m.flips[s] > 3 and lap == 0.0)
        lap = float(side)
    return row, lap, good


@inner
def set_mode(m, s, row, lap):
    """Hold site s: the row and lap of a table, or the value `lap` of a switch."""
    hold_interval(m, s, row, lap)
    code = row + 1 if m.sites.kind[s] == PIECE else 1
    m.code[NUMBERS * s], m.value[NUMBERS * s + 1] = code, lap
    for i in range(m.other_site.size):
        if m.other_site[i] == s:
            m.other_code[NUMBERS * i], m.other_value[NUMBERS * i + 1] = code, lap


@inner
def decide(m, s):
    """Hold site s according to its guard; returns whether the mode changes."""
    g = m.watch.value[s]
    if not abs(g) < np.inf:
        return False
    row, lap = mode_at(m, s, g)
    changed = m.code[NUMBERS * s] == 0 or m.row[s] != row or m.lap[s] != lap
    if changed:
        m.last = s
        set_mode(m, s, row, lap)
    return changed


def settling(guards_at: Callable[..., Any]) -> Any:
    """Finds modes at a point; ``guards_at(m, t)`` evaluates the guards there."""

    @inner
    def settle(m, modes, t, everywhere):
        """Hold the modes given by the guards: of those outside their interval, or of all sites."""
        watch = modes.watch
        for _ in range(modes.sites.kind.size + 1):
            guards_at(m, t)
            changed = False
            for s in range(modes.sites.kind.size):
                if (everywhere or outside(watch, s, watch.value[s]) != 0) and decide(modes, s):
                    changed = True
            if not changed:
                break

    return settle


@inner
def guards_jumped(watch, before):
    """Whether a guard jumped from its value `before` (ns,) with the modes of others: it may have left its interval
    and returned."""
    found = False
    for s in range(watch.value.size):
        now = watch.value[s]
        found = found or abs(now - before[s]) > JUMP * (abs(now) + abs(before[s]))
    return found


@inner
def switched(m):
    """Number of switches whose modes differ from those of the last `keep`."""
    count = 0
    for s in range(m.sites.kind.size):
        if m.sites.kind[s] == SIGN and m.lap[s] != m.kept_lap[s]:
            count += 1
    return count


@inner
def begin_step(m):
    """Store the current guards as those at the start of a step."""
    for s in range(m.sites.kind.size):
        m.watch.start[s] = m.watch.value[s]
        m.flips[s] = 0


@inner
def move_on(m, s, side):
    """Take the mode beyond the upper (side 1) or lower (-1) bound of site s. False: it chatters."""
    row, lap, good = neighbor(m, s, side)
    if good:
        set_mode(m, s, row, lap)
    return good


@inner
def keep(m):
    """Save all modes."""
    m.kept_last = m.last
    for s in range(m.sites.kind.size):
        m.kept_row[s], m.kept_lap[s] = m.row[s], m.lap[s]


@inner
def restore(m):
    """Restore the saved modes."""
    for s in range(m.sites.kind.size):
        set_mode(m, s, m.kept_row[s], m.kept_lap[s])
    m.last = m.kept_last


@inner
def pieces_passed(m, s):
    """Signed number of breaks of site s between the saved mode and the current one."""
    if m.sites.kind[s] != PIECE:
        return 0.0
    turns = (m.lap[s] - m.kept_lap[s]) * (m.sites.count[s] - 1)
    return turns + m.row[s] - m.kept_row[s]


@inner
def farthest_site(m):
    """The site that has passed the most breaks."""
    found = 0
    for s in range(m.sites.kind.size):
        if abs(pieces_passed(m, s)) > abs(pieces_passed(m, found)):
            found = s
    return found


@inner
def inside_piece(m, s, ahead):
    """A guard of site s inside the piece that is `ahead` breaks from the current one."""
    start, pieces, period = m.sites.first[s], m.sites.count[s] - 1, m.sites.period[s]
    index, lap = m.row[s] - 1 + int(ahead), m.lap[s]
    if period > 0.0:
        lap += index // pieces
        index = index % pieces
    index = min(max(index, 0), pieces - 1)
    low, high = m.sites.breaks[start + index], m.sites.breaks[start + index + 1]
    return low + PROBE * (high - low) + lap * period
