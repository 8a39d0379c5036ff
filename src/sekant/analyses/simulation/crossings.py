"""What fixed steps do where tables have breaks: they go over them. Which ones, and by how much that may be felt.

Adaptive methods land on breaks that matter. A fixed step that contains a break takes a part of its way with the wrong
piece. Afterwards, the rows of the result tell which breaks were passed; at each, the rates one step beyond it are
compared between the piece before and the piece behind, which bounds what one crossing costs:  h |f_behind -
f_before|.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.solvers.common.modes import Switching
from sekant.solvers.common.sites import NUMBERS, PIECE
from sekant.solvers.ode import OdeOutcome, OdeProblem
from sekant.tables.numeric import NumericFunction
from sekant.tables.pieces import locate

Floats = NDArray[np.float64]
MATTERS = 1e-3
"""Sum of the costs of all crossings of a table, over the largest value of a state, from which on they are
reported."""
MOST_LOOKED_AT = 100
"""Crossings of one table at which the cost is measured; those left out are taken as the mean of these."""


class _Crossing(NamedTuple):
    """Between the rows i and i + 1 the guard passes the break `at`, from piece `before` to `behind`.

    `pieces`: of one period, through all of which the pieces are counted; 0 if the table is not periodic.
    """

    i: int
    part: float
    at: float
    before: int
    behind: int
    pieces: int


def breaks_crossed(
    problem: OdeProblem, outcome: OdeOutcome, system: System, step: float
) -> tuple[AnalysisWarning, ...]:
    """Warnings about tables over whose breaks a run with fixed steps went, where that matters."""
    rhs: Any = problem.rhs
    if outcome.t.size < 2 or not any(site.kind == PIECE for site in rhs.sites):
        return ()
    switching = Switching(rhs.guards, rhs.sites, rhs.sources)
    guards = rhs.guards.map(outcome.t[:, None], outcome.x, problem.p[None, : _parameters(system)])[0]
    found = []
    for s, site in enumerate(rhs.sites):
        if site.kind == PIECE:
            crossings = _crossings(*switching.axis(site), guards[:, s])
            warning = _judged(problem, outcome, system, step, switching.label(s), s, crossings)
            found += [warning] if warning else []
    return tuple(found)


def stepped_over(system: System) -> tuple[AnalysisWarning, ...]:
    """The warning of an engine without modes: its steps go over breaks, and nothing tells which."""
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
            "the engine 'casadi' cannot hold a piece over a step, so that steps go over breaks of tables and curves, "
            "and the tolerances do not hold there",
            "leave the engine out (it is a check of the code, not a way to run models), or use method 'taylor', "
            "which lands on breaks with any engine",
        ),
    )


def _parameters(system: System) -> int:
    return system.parameter_vector().size


def _crossings(breaks: Floats, extrapolation: str, g: Floats) -> list[_Crossing]:
    """The passages of breaks between rows, as far as these tell."""
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


def _judged(
    problem: OdeProblem,
    outcome: OdeOutcome,
    system: System,
    step: float,
    label: str,
    site: int,
    crossings: list[_Crossing],
) -> AnalysisWarning | None:
    if not crossings:
        return None
    counted = system.nq + system.nv + system.nz
    size = np.maximum(np.max(np.abs(outcome.x[:, :counted]), axis=0), 1e-300)
    chosen = crossings[:: max(1, len(crossings) // MOST_LOOKED_AT)]
    costs, worst = [], (0.0, 0, 0.0, 0.0)
    for crossing in chosen:
        change = _change(problem, outcome, system, step, site, crossing)[:counted]
        relative = step * np.abs(change) / size
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
        f"fixed steps of {step:g} s went over its breaks {len(crossings)} times; the largest jump is at {at:.6g}: "
        f"one step beyond, the rate of '{system.state_names[j]}' differs by {change:.3g} between both "
        "pieces, and all "
        f"crossings together may cost {total:.1e} of the motion",
        "use an adaptive method (dop853, taylor, radau5), which lands on breaks, a shorter step, or a smoother table",
    )


def _change(
    problem: OdeProblem, outcome: OdeOutcome, system: System, step: float, site: int, c: _Crossing
) -> Floats:
    """Difference of the rates (n,) between both pieces, one step beyond the break."""
    rhs: Any = problem.rhs
    p = problem.p[: _parameters(system)]
    t = outcome.t[c.i] + c.part * (outcome.t[c.i + 1] - outcome.t[c.i])
    x = outcome.x[c.i] + c.part * (outcome.x[c.i + 1] - outcome.x[c.i])
    beyond = x + step * rhs([t], x, p, modes=_held(len(rhs.sites), site, c, c.before))[0]
    rates = [
        rhs([t + step], beyond, p, modes=_held(len(rhs.sites), site, c, row))[0]
        for row in (c.before, c.behind)
    ]
    return rates[1] - rates[0]


def _held(sites: int, site: int, c: _Crossing, row: int) -> Floats:
    """M with one site held at a piece, counted through all laps, the others free."""
    modes = np.zeros(NUMBERS * sites)
    lap = (row - 1) // c.pieces if c.pieces else 0
    modes.view(np.int64)[NUMBERS * site] = row - lap * c.pieces + 1
    modes[NUMBERS * site + 1] = lap
    return modes
