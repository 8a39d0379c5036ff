"""Residuals of all load levels relative to the equilibria of a model, with exact derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.compliance.load_case import DIRECTIONS, DISPLACEMENTS, LoadCase
from sekant.analyses.compliance.response import Response, Rested, displacement
from sekant.analyses.compliance.result import Coefficient

Array = NDArray[np.float64]


class StiffnessProblem:
    """Residuals (m) and their derivatives with respect to the logarithms of the stiffnesses; `length` (m)
    converts angles."""

    def __init__(
        self, response: Response, cases: Sequence[LoadCase], levels: int, length: float, direct: bool
    ):
        self.response = response
        self.directions = [case.direction for case in cases]
        self.cases = [(case.direction, *case.levels(levels), float(case.load[0])) for case in cases]
        rows = [(direction, len(loads)) for direction, loads, _, _ in self.cases]
        used = [np.tile(np.eye(6, dtype=bool)[DIRECTIONS.index(d)] | (not direct), n) for d, n in rows]
        self.used = np.concatenate(used)
        self.weight = np.tile([1.0, 1.0, 1.0, length, length, length], len(self.used) // 6)
        self._last: tuple[Array, Array, Array] | None = None

    def evaluate(self, x: Array) -> tuple[Array, Array]:
        """Residuals (r,) and Jacobian (r, n) at x = log(k) (n,), of the displacements in use."""
        gaps, slopes = self._all(x)
        return (self.weight * gaps)[self.used], (self.weight[:, None] * slopes)[self.used]

    def errors(self, x: Array) -> Array:
        """Errors (levels, 6), model minus data: m, rad."""
        return self._all(x)[0].reshape(-1, 6)

    def _all(self, x: Array) -> tuple[Array, Array]:
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = (x.copy(), *self._compute(np.exp(x)))
        return self._last[1], self._last[2]

    def _compute(self, k: Array) -> tuple[Array, Array]:
        first = self.response.first(k)
        gaps, slopes = [], []
        for direction, loads, moved, begin in self.cases:
            zero = first if begin == 0.0 else self._under(first, k, direction, begin)
            state = zero
            for load, seen in zip(loads, moved, strict=True):
                state = self._under(state, k, direction, float(load))
                d, slope = displacement(state, zero)
                gaps.append(d - seen)
                slopes.append(slope[:, : k.size] * k)
        return np.concatenate(gaps), np.vstack(slopes)

    def _under(self, state: Rested, k: Array, direction: str, load: float) -> Rested:
        loads = load * np.eye(6)[DIRECTIONS.index(direction)]
        return self.response.rest(state.q, state.lam, self.response.parameters(k, loads))

    def coefficients(self, k: Array) -> Iterator[Coefficient]:
        """Slopes of the displacements by the loads at zero load, measured and of the model."""
        first = self.response.first(k)
        for direction, loads, moved, _ in self.cases:
            A = np.column_stack([np.ones_like(loads), loads, loads**2])
            size = np.abs(A).max(axis=0)
            inverse = np.linalg.pinv(A / size) / size[:, None]
            fit = inverse @ moved
            left = moved - A @ fit
            spread = np.sqrt(np.sum(left**2, axis=0) / max(1, len(loads) - 3)) * np.linalg.norm(inverse[1])
            by = first.slope[:, k.size + DIRECTIONS.index(direction)]
            for i, name in enumerate(DISPLACEMENTS):
                yield Coefficient(direction, name, float(fit[1, i]), float(spread[i]), float(by[i]))
