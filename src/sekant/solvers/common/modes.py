"""Modes of the sites of a right-hand side, held within a step: what is valid where, and what comes next.

See `sekant.solvers.common.sites` for what a site is. A mode is valid while the guard stays within [low, high]. A
landing integrator (`sekant.solvers.ode.dop853_landing`) ends its step where a guard leaves that interval, and the
mode moves on to the neighbor: the next piece of a table, the other sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.common.compiled import inner
from sekant.solvers.common.sections import numbered
from sekant.solvers.common.sites import FLOOR, NUMBERS, PIECE, SIGN, Site, free_modes
from sekant.solvers.common.views import ints, table_of, vec
from sekant.tables.pieces import extrapolation_limits
from sekant.tables.table import Table, Table2

MOST_FLIPS = 12
"""Changes of the mode of one site at one time, beyond which it chatters."""


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


# Rows of the table. What the `ns` sites are: KIND (ns,), and for each PIECE the section of BREAKS that starts at
# FIRST with COUNT entries, LIMITS (2 ns,) where its table ends, PERIOD (0: not periodic).
KIND, FIRST, COUNT, BREAKS, LIMITS, PERIOD = numbered(6)
# What holds: ROW and LAP (see `sites`; of SIGN and FLOOR LAP is the value), valid for guards within LOW, HIGH.
# KEPT_ROW, KEPT_LAP: modes set aside. CODE, VALUE: M as integers and as floats. OTHER_CODE, OTHER_VALUE,
# OTHER_SITE: M of a second function, and for each of its sites the number of the same site here, or -1.
ROW, LAP, LOW, HIGH, KEPT_ROW, KEPT_LAP = (6 + i for i in numbered(6))
CODE, VALUE, OTHER_CODE, OTHER_VALUE, OTHER_SITE = (12 + i for i in numbered(5))
# Guards: G where the function writes them, G_START at the start of a step, G_A, G_B at both ends of a bracket.
# SIDE: to which side a site leaves. FLIPS: changes at the present time.
G, G_START, G_A, G_B, SIDE, FLIPS = (17 + i for i in numbered(6))
# For prediction: G_NOW, RATE of the guards at the start of the step, G_BEFORE, RATE_BEFORE at that of the last one.
# ROUGH: whether each break had to be landed on (-1: not passed yet), EXPECTED: for how many more breaks of a site
# that is expected.
RATE, G_NOW, RATE_BEFORE, G_BEFORE, ROUGH, EXPECTED = (23 + i for i in numbered(6))
N_ARRAYS = 29


class Modes(NamedTuple):
    """The memory of the sites of a right-hand side: arrays by the numbers above, and the table of their addresses."""

    arrays: dict[int, NDArray[Any]]
    table: NDArray[np.int64]

    def __getitem__(self, k: Any) -> NDArray[Any]:
        return self.arrays[k]


def lay_out_modes(switching: Switching | None, own: Sequence[Site] = (), other: Sequence[Site] = ()) -> Modes:
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

    def whole() -> NDArray[np.int64]:
        return np.zeros(ns, dtype=np.int64)

    def real() -> NDArray[np.float64]:
        return np.zeros(ns)

    arrays = {
        KIND: np.array([site.kind for site in sites], dtype=np.int64),
        FIRST: first,
        COUNT: count,
        BREAKS: np.concatenate(breaks),
        LIMITS: limits,
        PERIOD: period,
        ROW: whole(),
        LAP: real(),
        LOW: np.full(ns, -np.inf),
        HIGH: np.full(ns, np.inf),
        CODE: value.view(np.int64),
        VALUE: value,
        OTHER_CODE: other_value.view(np.int64),
        OTHER_VALUE: other_value,
        OTHER_SITE: np.array([number.get(site.key, -1) for site in other], dtype=np.int64),
        G: real(),
        G_START: real(),
        G_A: real(),
        G_B: real(),
        SIDE: whole(),
        FLIPS: whole(),
        KEPT_ROW: whole(),
        KEPT_LAP: real(),
        RATE: real(),
        G_NOW: real(),
        RATE_BEFORE: real(),
        G_BEFORE: real(),
        ROUGH: np.full(max(1, sum(part.size for part in breaks)), -1, dtype=np.int64),
        EXPECTED: whole(),
    }
    return Modes(arrays, table_of(arrays, N_ARRAYS))


@inner
def _bounds(m, s):
    """Set the interval of guards for which the mode of site s is valid."""
    kind, row, lap = ints(m, KIND)[s], ints(m, ROW)[s], vec(m, LAP)[s]
    low, high = -np.inf, np.inf
    if kind == PIECE:
        start, pieces, period = ints(m, FIRST)[s], ints(m, COUNT)[s] - 1, vec(m, PERIOD)[s]
        shift = lap * period
        if row > pieces:
            low = vec(m, LIMITS)[2 * s + 1]
        elif row > 0:
            low = (
                vec(m, BREAKS)[start + row - 1] + shift if row > 1 or period > 0.0 else vec(m, LIMITS)[2 * s]
            )
        if row == 0:
            high = vec(m, LIMITS)[2 * s]
        elif row <= pieces:
            high = (
                vec(m, BREAKS)[start + row] + shift
                if row < pieces or period > 0.0
                else vec(m, LIMITS)[2 * s + 1]
            )
    elif kind == FLOOR:
        low, high = lap, lap + 1.0
    else:
        if lap >= 0.0:
            low = 0.0
        if lap <= 0.0:
            high = 0.0
    vec(m, LOW)[s], vec(m, HIGH)[s] = low, high


@inner
def set_mode(m, s, row, lap):
    """Hold site s: the row and lap of a table, or the value `lap` of a switch."""
    ints(m, ROW)[s], vec(m, LAP)[s] = row, lap
    _bounds(m, s)
    code = row + 1 if ints(m, KIND)[s] == PIECE else 1
    ints(m, CODE)[NUMBERS * s], vec(m, VALUE)[NUMBERS * s + 1] = code, lap
    for i in range(ints(m, OTHER_SITE).size):
        if ints(m, OTHER_SITE)[i] == s:
            ints(m, OTHER_CODE)[NUMBERS * i], vec(m, OTHER_VALUE)[NUMBERS * i + 1] = code, lap


@inner
def decide(m, s):
    """Hold site s by the value of its guard in g; returns whether that is a change."""
    g, kind = vec(m, G)[s], ints(m, KIND)[s]
    row, lap = 0, 0.0
    if not abs(g) < np.inf:
        return False
    if kind == FLOOR:
        lap = float(floor(g))
    elif kind == SIGN:
        lap = 1.0 if g > 0.0 else -1.0 if g < 0.0 else 0.0
    else:
        start, count = ints(m, FIRST)[s], ints(m, COUNT)[s]
        if vec(m, PERIOD)[s] > 0.0:
            lap = float(floor((g - vec(m, BREAKS)[start]) / vec(m, PERIOD)[s]))
            g -= lap * vec(m, PERIOD)[s]
        row, above = 1, count  # breaks[row - 1] <= g < breaks[above - 1], if g lies in the range
        while above - row > 1:
            middle = (row + above) // 2
            if g >= vec(m, BREAKS)[start + middle - 1]:
                row = middle
            else:
                above = middle
        if g < vec(m, LIMITS)[2 * s]:
            row = 0
        elif g > vec(m, LIMITS)[2 * s + 1]:
            row = count
    changed = ints(m, CODE)[NUMBERS * s] == 0 or ints(m, ROW)[s] != row or vec(m, LAP)[s] != lap
    if changed:
        set_mode(m, s, row, lap)
    return changed


@inner
def outside(m, s, g):
    """On which side (-1, 1) a guard lies outside the interval of the mode of site s; 0: inside, or not finite.

    A sign that rests at zero has come there by a landing, which is exact to round-off only.
    """
    slack = 0.0
    if ints(m, KIND)[s] == SIGN and vec(m, LAP)[s] == 0.0:
        slack = 8.0 * abs(vec(m, G_START)[s])
    return 1 if g > vec(m, HIGH)[s] + slack else -1 if g < vec(m, LOW)[s] - slack else 0


@inner
def move_on(m, s, side):
    """Take the mode beyond the upper (side 1) or lower (-1) bound of site s. False: it chatters."""
    ints(m, FLIPS)[s] += 1
    kind, old = ints(m, KIND)[s], vec(m, LAP)[s]
    row, lap = 0, old
    if kind == FLOOR:
        lap = old + side
    elif kind == PIECE:
        row, pieces = ints(m, ROW)[s] + side, ints(m, COUNT)[s] - 1
        if vec(m, PERIOD)[s] > 0.0:
            if row > pieces:
                row, lap = 1, lap + 1.0
            elif row < 1:
                row, lap = pieces, lap - 1.0
    elif ints(m, FLIPS)[s] == 3:  # both signs lead back: it may rest at zero
        lap = 0.0
    else:
        if ints(m, FLIPS)[s] > 3 and old == 0.0:
            return False
        lap = float(side)
    set_mode(m, s, row, lap)
    return ints(m, FLIPS)[s] <= MOST_FLIPS


@inner
def keep(m):
    """Set all modes aside."""
    for s in range(ints(m, KIND).size):
        ints(m, KEPT_ROW)[s], vec(m, KEPT_LAP)[s] = ints(m, ROW)[s], vec(m, LAP)[s]


@inner
def restore(m):
    """Hold the modes that were set aside."""
    for s in range(ints(m, KIND).size):
        set_mode(m, s, ints(m, KEPT_ROW)[s], vec(m, KEPT_LAP)[s])
