"""Checks the energy balance of a run against its tolerances, and names the element that is the likely cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.functions.motion import right_hand_side
from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.solvers.common.modes import Switching
from sekant.solvers.common.sites import PIECE
from sekant.tables.pieces import locate

Floats = NDArray[np.float64]
FACTOR = 1000.0
"""Largest drift of the balance that gives no warning, relative to ``rtol`` times the energy in the system: the errors
of many steps add up."""
ROUND_OFF = 1e-11
"""Relative round-off of the computed energies, whose potentials have arbitrary zeros; smaller differences are
noise."""


NEAR_ROWS, NEAR_PART = 20.0, 0.02
"""Number of rows, and fraction of the run, within which a break counts as the cause of a change; a step may be as
long as that."""


class EnergyWatch:
    """Follows the balance (J) row by row and records where it changes most.

    `worst`: (t, x) of the rows before and after the largest change.
    """

    def __init__(self) -> None:
        self.largest = 0.0
        self.worst: tuple[tuple[float, Floats], tuple[float, Floats]] | None = None
        self._last: tuple[float, Floats, float] | None = None
        self._begin = np.nan

    @property
    def _span(self) -> float:
        return self._last[0] - self._begin if self._last else 0.0

    def add(self, t: Floats, x: Floats, balance: Floats) -> None:
        before = self._last
        self._begin = float(t[0]) if before is None else self._begin
        values = balance if before is None else np.concatenate([[before[2]], balance])
        shift = 0 if before is None else 1
        changes = np.abs(values[1:] - values[:-1])
        i = int(changes.argmax()) if changes.size else 0  # of the first NaN, if there is one
        if changes.size and not np.isfinite(changes[i]):
            changes = np.where(np.isfinite(changes), changes, -1.0)
            i = int(changes.argmax())
        if changes.size and changes[i] > self.largest:
            self.largest = float(changes[i])
            first = (
                (before[0], before[1]) if shift and i == 0 and before else (t[i - shift], x[i - shift].copy())
            )
            self.worst = (float(first[0]), first[1]), (float(t[i + 1 - shift]), x[i + 1 - shift].copy())
        self._last = float(t[-1]), x[-1].copy(), float(balance[-1])

    def warning(
        self,
        system: System,
        least: Floats,
        most: Floats,
        rtol: float,
        parameters: Mapping[str, ArrayLike] | None,
    ) -> AnalysisWarning | None:
        """A warning if the balance drifts; None otherwise.

        `least`, `most` (3 + nw,) J: extremes of kinetic energy, potential energy, balance and the work of each
        element.
        """
        low, high = least.tolist(), most.tolist()
        drift = max(high[2], -low[2])
        work = max([0.0, *high[3:], *(-x for x in low[3:])])
        present = high[0] + high[1] - low[1] + work
        unresolved = ROUND_OFF * (present + max(abs(low[1]), abs(high[1])))
        if not drift > FACTOR * rtol * present + unresolved or self.worst is None or present == 0.0:
            return None
        (begin, _), (end, _) = self.worst
        return AnalysisWarning(
            "energy_drift",
            self._suspect(system, parameters),
            f"between t = {begin:.6g} s and {end:.6g} s",
            f"the energy balance drifts by {drift:.3g} J in total, {drift / present:.1e} of the "
            f"{present:.3g} J in the system, although rtol = {rtol:g} should keep it within "
            f"{FACTOR * rtol:.0e}; most of the drift arises in this interval",
            "the force of an element may jump or be too rough for the step size: give it a smoother law "
            "or table, tighten rtol, or compare with another method (taylor, radau5)",
        )

    def _suspect(self, system: System, parameters: Mapping[str, ArrayLike] | None) -> str:
        """The table whose piece changes where the balance changes most; otherwise the element that does the most
        work there."""
        assert self.worst is not None
        (t0, x0), (t1, x1) = self.worst
        rhs: Any = right_hand_side(system, True)
        p = system.parameter_vector(parameters)
        if rhs.sites and x0.size == rhs.shapes_in[1][0]:
            switching = Switching(rhs.guards, rhs.sites, rhs.sources)
            g0, g1 = (rhs.guards([t], x, p)[0] for t, x in ((t0, x0), (t1, x1)))
            near = {
                s: _time_to_break(*switching.axis(site), float(g0[s]), float(g1[s]), t1 - t0)
                for s, site in enumerate(rhs.sites)
                if site.kind == PIECE
            }
            nearest = min(near, key=lambda s: near[s], default=-1)
            if nearest >= 0 and near[nearest] <= max(NEAR_ROWS * (t1 - t0), NEAR_PART * self._span):
                return switching.label(nearest)
        count = len(system.work_names)
        if count == 0 or x0.size < system.nq + system.nv + system.nz + count:
            return ""
        done = np.abs(x1 - x0)[-count:]
        return f"'{system.work_names[int(np.argmax(done))]}'" if done.max() > 0 else ""


def _time_to_break(breaks: Floats, extrapolation: str, g0: float, g1: float, dt: float) -> float:
    """Time (s) from a guard that goes from g0 to g1 in dt to the nearest break; 0 if it passes one."""
    _, row, lap = locate(breaks, extrapolation, np.array([g0, g1]))
    if row[0] != row[1] or lap[0] != lap[1]:
        return 0.0
    if g0 == g1 or not np.isfinite(g0 + g1):
        return np.inf
    shift = lap[0] * (breaks[-1] - breaks[0])
    return (
        float(np.min(np.abs(np.concatenate([breaks + shift - g0, breaks + shift - g1])))) / abs(g1 - g0) * dt
    )
