"""Newton's method for more equations than unknowns that agree at the solution, damped where it must be.

Each step solves the least-squares problem by the singular values of the scaled Jacobian: the plain step first, then
with Levenberg and Marquardt's damping until the residual falls. If that stalls, the residual of the start is let go
step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from sekant.analyses.steady.checks import start_of
from sekant.analyses.steady.equations import SteadyEquations, Trial

Array = NDArray[Any]
SINGULAR = 1e-10
"""Singular values of the scaled Jacobian below this, against the largest, count as zero."""
LONGEST = 0.6
"""The most that a coordinate moves in a step (rad, m), unless it is large itself."""


@dataclass(frozen=True, eq=False)
class Found:
    """`error`: largest scaled residual. `values`: residual in SI units. `free` (k, nv): what no row fixes."""

    trial: Trial
    values: Array
    error: float
    worst: int
    iterations: int
    method: str
    free: Array


class Solver:
    def __init__(self, equations: SteadyEquations, start: Trial, tolerance: float):
        self.equations, self.start, self.tolerance = equations, start, tolerance
        self.iterations = 0
        self.scale = np.ones(equations.residual(start).size)
        self.scale[: equations.system.nv] = equations.force_scales(start)

    def solve(self) -> Found:
        found, method = self._newton(self.start, np.zeros(self.scale.size)), "newton"
        if found[1] > self.tolerance:
            stepped = self._load_steps()
            if stepped is not None:
                found, method = stepped, "load stepping"
        trial = found[0]
        values = self.equations.residual(trial)
        scaled = np.abs(values / self.scale)
        free = self._free(trial)
        worst = int(np.argmax(scaled)) if scaled.size else 0
        return Found(trial, values, float(np.max(scaled, initial=0.0)), worst, self.iterations, method, free)

    def _scaled(self, trial: Trial) -> tuple[Array, Array]:
        """The Jacobian with rows scaled and columns of unit length, and these lengths."""
        J = self.equations.jacobian(trial) / self.scale[:, None]
        lengths = np.linalg.norm(J, axis=0)
        lengths = np.where(lengths > 1e-10 * np.max(lengths, initial=0.0), lengths, 1.0)
        return J / lengths, lengths

    def _newton(self, trial: Trial, offset: Array, most: int = 60) -> tuple[Trial, float]:
        """Toward residual = offset (scaled). Returns the last trial and its largest scaled residual."""
        r = self.equations.residual(trial) / self.scale - offset
        damping, polished = 0.0, False
        for _ in range(most):
            error = float(np.max(np.abs(r), initial=0.0))
            if polished or not np.isfinite(error):
                break
            # One step more than needed: a double eigenvalue shows the root of the error.
            polished = error <= 1e-3 * self.tolerance
            J, lengths = self._scaled(trial)
            U, sizes, V = scipy.linalg.svd(J, full_matrices=False)
            kept = sizes > SINGULAR * sizes[0]
            along = U.T @ r
            for _ in range(30):
                factors = (
                    np.where(kept, sizes / (sizes**2 + damping), 0.0) if damping else _inverse(sizes, kept)
                )
                step = self._bounded(trial, -(V.T @ (factors * along)) / lengths)
                ahead = self._settled(self.equations.moved(trial, step))
                new = self.equations.residual(ahead) / self.scale - offset
                if np.all(np.isfinite(new)) and np.linalg.norm(new) < (1 - 1e-4) * np.linalg.norm(r):
                    break
                damping = max(10 * damping, 1e-8)
            else:
                break
            self.iterations += 1
            trial, r = ahead, new
            damping = damping / 10 if damping > 1e-7 else 0.0
        return trial, float(np.max(np.abs(r), initial=0.0))

    def _settled(self, trial: Trial) -> Trial:
        """Velocities, accelerations and multipliers as they belong to the position: only the rest is searched for."""
        return start_of(self.equations, trial.g, trial.point.q, trial.point.p)

    def _bounded(self, trial: Trial, step: Array) -> Array:
        n = self.equations.system.nv
        limit = LONGEST * max(1.0, 0.1 * float(np.max(np.abs(trial.point.q), initial=0.0)))
        largest = float(np.max(np.abs(step[:n]), initial=0.0))
        return step * (limit / largest) if largest > limit else step

    def _load_steps(self) -> tuple[Trial, float] | None:
        trial, share, size = self.start, 1.0, 0.25
        first = self.equations.residual(self.start) / self.scale
        while share > 0.0:
            goal = max(0.0, share - size)
            ahead, error = self._newton(trial, goal * first, most=20)
            if error <= self.tolerance:
                trial, share, size = ahead, goal, 1.5 * size
                continue
            size *= 0.4
            if size < 1e-3:
                return None
        return trial, error

    def _free(self, trial: Trial) -> Array:
        J, _ = self._scaled(trial)
        _, sizes, V = scipy.linalg.svd(J, full_matrices=True)
        rank = int(np.sum(sizes > 1e-9 * sizes[0])) if sizes.size else 0
        return V[rank:]


def _inverse(sizes: Array, kept: NDArray[np.bool_]) -> Array:
    return np.where(kept, 1.0 / np.where(kept, sizes, 1.0), 0.0)
