"""Solves for steady motions by a damped Newton's method. If that stalls, the residual of the start is removed step by
step. There may be more equations than unknowns; they are consistent at the solution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.steady.checks import start_of
from sekant.analyses.steady.equations import SteadyEquations, Trial
from sekant.engine.functions.linear import MotionPoint
from sekant.errors import SolverError
from sekant.progress_bar import counting
from sekant.solvers.newton import Damping, Found, FunctionProblem, Rows, follow, newton

Array = NDArray[Any]
SINGULAR = 1e-10
"""Singular values of the scaled Jacobian below this, relative to the largest, count as zero."""
LONGEST = 0.6
"""Largest change of a coordinate in a step (rad, m), unless the coordinate itself is large."""

CLOSINGS, CLOSED, FAR = 4, 1e-11, 1.0
"""Largest number of corrections back onto the constraints after each step; corrections are made for residuals (m,
rad) between the other two values."""


@dataclass(frozen=True, eq=False)
class Steady:
    """The end of a search. `error`: largest scaled residual. `values`: residuals in SI units. `free`: directions of
    change that no row determines."""

    trial: Trial
    values: Array
    error: float
    iterations: int
    method: str
    free: Array


class Solver:
    def __init__(self, equations: SteadyEquations, start: Trial, tolerance: float):
        self.equations, self.start, self.tolerance = equations, start, tolerance
        self.iterations, self.count = 0, counting("points of the search")
        self.scale = np.ones(equations.residual(start).size)
        self.scale[: equations.system.nv] = equations.force_scales(start)

    def solve(self) -> Steady:
        found, method = self._newton(self.start, np.zeros(self.scale.size)), "newton"
        trial = found.point
        if found.error > self.tolerance:
            stepped = self._load_steps()
            if stepped is not None:
                trial, method = stepped, "load stepping"
        values = self.equations.residual(trial)
        error = float(np.max(np.abs(values / self.scale), initial=0.0))
        return Steady(trial, values, error, self.iterations, method, self._rows(trial).free())

    def _rows(self, trial: Trial, offset: Array | float = 0.0, steep: Array | float = 1.0) -> Rows:
        residual = (self.equations.residual(trial) / self.scale - offset) / steep
        divided = np.reshape(steep, (-1, 1))
        return Rows(residual, lambda: self._slopes(trial) / divided, rank=SINGULAR, unit_columns=True)

    def _slopes(self, trial: Trial) -> Array:
        """Derivatives of the scaled residual."""
        self.count()
        slopes = self.equations.jacobian(trial) / self.scale[:, None]
        bad = ~np.isfinite(slopes).all(axis=1)
        if bad.any():
            name = self.equations.names[int(np.argmax(bad))]
            raise SolverError(
                f"steady motion: '{name}' has no derivative at this point of the search, as when a speed or a radius "
                "is zero; give a guess in which the body moves and is not on the axis"
            )
        return slopes

    def _newton(self, trial: Trial, offset: Array, most: int = 60) -> Found[Trial, Rows]:
        """Newton's method for residual = offset (scaled), with one additional step, since a double eigenvalue has an
        error of the square root of that of the solution.

        Rows are weighted by their slopes at the start, so that a stiff spring counts with its small deflection in a
        step, not with its large force.
        """
        n = self.equations.system.nv
        steep = np.maximum(1.0, np.linalg.norm(self._slopes(trial)[:, :n], axis=1))
        problem = FunctionProblem(
            lambda x: self._rows(x, offset, steep),
            lambda x, step: self._settled(self.equations.moved(x, self._bounded(x, step))),
        )

        def done(_: Trial, rows: Rows) -> bool:
            return float(np.max(np.abs(rows.residual * steep), initial=0.0)) <= 1e-3 * self.tolerance

        found = newton(problem, trial, Damping(), done, most=most, further=1)
        found = replace(found, linear=self._rows(found.point, offset))
        self.iterations += found.iterations
        return found

    def _settled(self, trial: Trial) -> Trial:
        """`trial` with consistent velocities, accelerations and multipliers; the search is only over the rest."""
        return start_of(self.equations, trial.g, self._closed(trial.point), trial.point.p)

    def _closed(self, point: MotionPoint) -> Array:
        """The position (nq,) corrected onto the constraints. The error of a step is of second order; without the
        correction, stiff springs would allow only very small steps of bodies that are held by constraints alone."""
        functions, used = self.equations.functions, self.equations.rows & self.equations.functions.holonomic
        for _ in range(CLOSINGS if np.any(used) else 0):
            Phi = functions.residual(point)[1][used]
            if not CLOSED < float(np.max(np.abs(Phi))) < FAR:
                break
            G = functions.tangent(point).G[used]
            point = replace(
                point, q=self.equations.geometry.move(point.q, -np.linalg.pinv(G, SINGULAR) @ Phi)
            )
        return point.q

    def _bounded(self, trial: Trial, step: Array) -> Array:
        n = self.equations.system.nv
        limit = LONGEST * max(1.0, 0.1 * float(np.max(np.abs(trial.point.q), initial=0.0)))
        largest = float(np.max(np.abs(step[:n]), initial=0.0))
        return step * (limit / largest) if largest > limit else step

    def _load_steps(self) -> Trial | None:
        first = self.equations.residual(self.start) / self.scale

        def attempt(trial: Trial, share: float) -> Trial | None:
            found = self._newton(trial, (1.0 - share) * first, most=20)
            return found.point if found.error <= self.tolerance else None

        return follow(attempt, self.start, first=0.25, growth=1.5, cut=0.4)
