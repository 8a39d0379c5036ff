"""Rows of a linearized problem and their shortest step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
FREE = 1e-9
"""Singular value, relative to the largest, below which a direction is free."""
NOTHING = 1e-10
"""Length of a column, relative to the longest, that counts as zero."""


class Rows:
    """A residual (m,) and its slopes (m, n). Singular values below `rank` times the largest one count as zero.

    `scale` (n,): steps minimize the norm of step / scale; entries whose scale is zero do not change; with
    `unit_columns` the scales are first divided by the lengths of the columns. The slopes may be given as a
    function, which is called when a step is first requested.
    """

    def __init__(
        self,
        residual: Vector,
        slopes: Matrix | Callable[[], Matrix],
        scale: Vector | None = None,
        rank: float = 1e-12,
        unit_columns: bool = False,
    ):
        self.residual = residual
        self._slopes, self._scale, self._rank, self._unit_columns = slopes, scale, rank, unit_columns

    @cached_property
    def _scaled(self) -> tuple[Matrix, Vector]:
        """Scaled slopes, and the scale."""
        slopes = self._slopes() if callable(self._slopes) else self._slopes
        scale = np.ones(slopes.shape[1]) if self._scale is None else self._scale
        if self._unit_columns:
            lengths = np.linalg.norm(slopes, axis=0)
            scale = scale / np.where(lengths > NOTHING * np.max(lengths, initial=0.0), lengths, 1.0)
        return slopes * scale, scale

    @cached_property
    def _parts(self) -> tuple[Matrix, Vector, Matrix]:
        """Singular values and vectors of the scaled slopes."""
        return np.linalg.svd(self._scaled[0], full_matrices=False)

    def step(self, damping: float = 0.0) -> Vector:
        """See `Linear`; NaN where a slope is not finite."""
        slopes, scale = self._scaled
        if not np.all(np.isfinite(slopes)):
            return np.full(scale.size, np.nan)
        U, sizes, V = self._parts
        kept = sizes > self._rank * np.max(sizes, initial=0.0)
        inverse = np.where(kept, sizes / np.where(kept, sizes**2 + damping, 1.0), 0.0)
        return -scale * (V.T @ (inverse * (U.T @ self.residual)))

    def free(self) -> Matrix:
        """(k, n): directions that no row determines, of unit length in step / scale."""
        _, sizes, V = np.linalg.svd(self._scaled[0], full_matrices=True)
        return V[int(np.sum(sizes > FREE * np.max(sizes, initial=0.0))) :]
