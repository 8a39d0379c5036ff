"""Breaks of tables that fixed steps cross, and an estimate of the error that this causes.

Adaptive methods end a step at breaks that matter. A fixed step that contains a break uses the wrong piece for a part
of the step. After the run, the rows of the result show which breaks were crossed. At each, the rates one step beyond
it are computed with the piece before and with the piece behind; their difference bounds the error of one crossing:
h |f_behind - f_before|.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.solvers.common.modes import Switching
from sekant.solvers.common.sites import NUMBERS, PIECE
from sekant.tables.numeric import NumericFunction
from sekant.tables.pieces import locate

Floats = NDArray[np.float64]
MATTERS = 1e-3
"""Smallest sum of the errors of all crossings of a table that causes a warning, relative to the largest value of the
state."""
SMALL = 1e-3
MOST_LOOKED_AT = 100
"""Largest number of crossings of one table at which the error is estimated; the others count with the mean error."""


class _Crossing(NamedTuple):
    """The guard passes the break `at` between the rows i and i + 1, from piece `before` to piece `behind`.

    `part`: fraction of the row interval at the crossing. `pieces`: number of pieces in a period, through all of
    which the pieces are counted; 0 if the table is not periodic.
    """

    i: int
    part: float
    at: float
    before: int
    behind: int
    pieces: int


class Stepped(NamedTuple):
    """Rows x (m, n) at times t (m,) of a run with fixed steps, and the rates `rhs` of x at the parameters p.

    `stops`: times (s) at which a step ended, so that no step crossed a break there.
    """

    rhs: Any
    p: Floats
    t: Floats
    x: Floats
    step: float
    stops: Sequence[float]

    def landed_on(self, crossing: _Crossing) -> bool:
        t = self.t[crossing.i] + crossing.part * (self.t[crossing.i + 1] - self.t[crossing.i])
        k = bisect_left(self.stops, t)
        return any(abs(stop - t) <= 1e-6 * self.step for stop in self.stops[max(k - 1, 0) : k + 1])


def breaks_crossed(run: Stepped, system: System) -> tuple[AnalysisWarning, ...]:
    """Warnings about tables whose breaks a run with fixed steps crossed, if the error matters."""
    rhs = run.rhs
    if run.t.size < 2 or not any(site.kind == PIECE for site in rhs.sites):
        return ()
    run = run._replace(p=run.p[: system.parameter_vector().size])
    switching = Switching(rhs.guards, rhs.sites, rhs.sources)
    guards = rhs.guards.map(run.t[:, None], np.ascontiguousarray(run.x), run.p[None, :])[0]
    found = []
    for s, site in enumerate(rhs.sites):
        if site.kind == PIECE:
            crossings = _crossings(*switching.axis(site), guards[:, s])
            gone_over = [crossing for crossing in crossings if not run.landed_on(crossing)]
            warning = _warning_about(run, system, switching.label(s), s, gone_over)
            found += [warning] if warning else []
    return tuple(found)


def stepped_over(system: System) -> tuple[AnalysisWarning, ...]:
    """The warning about an engine without modes: its steps cross breaks, but it does not find out which."""
    if system.engine != "casadi":
        return ()
    tables = [
        table.label
        for table in system.equations.lookups.tables
        if not isinstance(table, NumericFunction)
        and any(n > 1 for n in table.coefficients.shape[: table.dimension])
    ]
    if not tables:
        return ()
    return (
        AnalysisWarning(
            "breaks_stepped_over",
            tables[0] if len(tables) == 1 else f"{tables[0]} and {len(tables) - 1} more",
            "wherever a piece ends",
            "the engine 'casadi' cannot stop at breaks of tables and curves: steps cross them, and the "
            "tolerances are not met there",
            "use the default engine ('casadi' is an independent check of the code), or method 'taylor', "
            "which stops at breaks with any engine",
        ),
    )


def _crossings(breaks: Floats, extrapolation: str, g: Floats) -> list[_Crossing]:
    """The crossings of breaks that the rows show."""
    _, row, laps = locate(breaks, extrapolation, g)
    pieces, period = breaks.size - 1, float(breaks[-1] - breaks[0])
    periodic = extrapolation == "periodic"
    index = row + laps * pieces
    found: list[_Crossing] = []
    for i in np.flatnonzero(np.diff(index)).tolist():
        up = index[i + 1] > index[i]
        here, there = int(index[i]), int(index[i + 1])
        for k in range(here, there) if up else range(here, there, -1):
            before, behind = (k, k + 1) if up else (k, k - 1)
            lower = min(before, behind)
            lap = (lower - 1) // pieces if periodic else 0
            at = float(breaks[lower - lap * pieces]) + lap * period
            part = float(np.clip((at - g[i]) / (g[i + 1] - g[i]), 0.0, 1.0))
            found.append(_Crossing(i, part, at, before, behind, pieces if periodic else 0))
    return found


def _warning_about(
    run: Stepped, system: System, label: str, site: int, crossings: list[_Crossing]
) -> AnalysisWarning | None:
    if not crossings:
        return None
    counted = system.nq + system.nv + system.nz
    size = _sizes(run.x[:, :counted], (system.nq, system.nq + system.nv))
    chosen = crossings[:: max(1, len(crossings) // MOST_LOOKED_AT)]
    costs, worst = [], (0.0, 0, 0.0, 0.0)
    for crossing in chosen:
        change = _change(run, site, crossing)[:counted]
        relative = run.step * np.abs(change) / size
        relative[~np.isfinite(relative)] = 0.0
        j = int(np.argmax(relative))
        costs.append(float(relative[j]))
        if relative[j] >= worst[0]:
            worst = float(relative[j]), j, crossing.at, float(abs(change[j]))
    total = float(np.mean(costs)) * len(crossings)
    if total < MATTERS:
        return None
    places = sorted({crossing.at for crossing in crossings})
    shown = ", ".join(f"{place:.6g}" for place in places[:6]) + (", ..." if len(places) > 6 else "")
    _, j, at, change = worst
    return AnalysisWarning(
        "breaks_crossed",
        label,
        f"at {shown}",
        f"fixed steps of {run.step:g} s crossed its breaks {_times(len(crossings))}; the largest jump is at "
        f"{at:.6g}: one step beyond, the rate of '{system.state_names[j]}' differs by {change:.3g} between the two "
        f"pieces, and in total the crossings may cause a relative error of {total:.1e} in the motion",
        "use an adaptive method that stops at breaks (dop853, taylor, radau5), a shorter step, or a smoother table",
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _sizes(x: Floats, cuts: tuple[int, int]) -> Floats:
    """Largest absolute values (n,) of the states x (m, n); `cuts` separate positions, velocities and states of
    elements. Values below a thousandth of the largest value of their kind are replaced by that thousandth."""
    parts = np.split(np.max(np.abs(x), axis=0), cuts)
    return np.concatenate(
        [np.maximum(part, max(SMALL * float(np.max(part, initial=0.0)), 1e-300)) for part in parts]
    )


def _change(run: Stepped, site: int, c: _Crossing) -> Floats:
    """Difference of the rates (n,) between both pieces, one step beyond the break."""
    rhs, p = run.rhs, run.p
    t = run.t[c.i] + c.part * (run.t[c.i + 1] - run.t[c.i])
    x = run.x[c.i] + c.part * (run.x[c.i + 1] - run.x[c.i])
    beyond = x + run.step * rhs([t], x, p, modes=_held(len(rhs.sites), site, c, c.before))[0]
    rates = [
        rhs([t + run.step], beyond, p, modes=_held(len(rhs.sites), site, c, row))[0]
        for row in (c.before, c.behind)
    ]
    return rates[1] - rates[0]


def _held(sites: int, site: int, c: _Crossing, row: int) -> Floats:
    """Modes in which one site is fixed at a piece, counted through all periods, and the others are free."""
    modes = np.zeros(NUMBERS * sites)
    lap = (row - 1) // c.pieces if c.pieces else 0
    modes.view(np.int64)[NUMBERS * site] = row - lap * c.pieces + 1
    modes[NUMBERS * site + 1] = lap
    return modes
