"""Quintic splines through the points of a line or a grid, with NumPy alone: SciPy takes 0.4 s to import.

Reductions need them for every moved point of a mechanism.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DEGREE = 5  # quintic: C4 with simple knots


def interpolating_knots(x: Array) -> Array:
    """Knots of a quintic interpolant through points at x (n,), n > 5: no knot next to the ends."""
    half = (DEGREE + 1) // 2
    ends = np.full(DEGREE + 1, x[0]), np.full(DEGREE + 1, x[-1])
    return np.concatenate([ends[0], x[half:-half], ends[1]])


def basis(t: Array, x: Array, degree: int) -> Array:
    """(k, n): the n = len(t) - degree - 1 B-splines on the knots t at x (k,), by de Boor's recursion."""
    count = len(t) - degree - 1
    piece = np.clip(np.searchsorted(t, x, side="right") - 1, degree, count - 1)
    values = np.zeros((len(x), degree + 1))
    values[:, 0] = 1.0
    for k in range(
        1, degree + 1
    ):  # after it, column j is the B-spline of degree k that begins at piece - k + j
        before = np.zeros(len(x))
        for j in range(k):
            low, high = t[piece + j + 1 - k], t[piece + j + 1]
            share = values[:, j] / (high - low)
            values[:, j] = before + (high - x) * share
            before = (x - low) * share
        values[:, k] = before
    found = np.zeros((len(x), count))
    rows = np.arange(len(x))[:, None]
    found[rows, piece[:, None] - degree + np.arange(degree + 1)] = values
    return found


def interpolant(x: Array, y: Array) -> tuple[Array, Array]:
    """Knots (n + 6,) and coefficients (n, m) of the quintic through y (n, m) at x (n,), n >= 6."""
    t = interpolating_knots(x)
    coefficients: Array = np.linalg.solve(basis(t, x, DEGREE), y).astype(np.float64, copy=False)
    return t, coefficients


def spline_pieces(t: Array, c: Array, degree: int = DEGREE) -> tuple[Array, Array]:
    """Breaks (p + 1,) and coefficients (p, m, degree + 1), ascending local powers, of a spline with coefficients
    c (n, m), over its domain."""
    breaks = np.unique(t[degree : len(t) - degree])
    starts, knots, terms = breaks[:-1], t, []
    for k in range(degree + 1):
        terms.append(basis(knots, starts, degree - k) @ c / factorial(k))
        if (
            k < degree
        ):  # the derivative is a spline of one degree less on the knots without the first and the last
            width = knots[degree - k + 1 : -1] - knots[1 : k - degree - 1]
            steep = np.divide(degree - k, width, out=np.zeros_like(width), where=width > 0.0)
            c, knots = np.diff(c, axis=0) * steep[:, None], knots[1:-1]
    return breaks, np.stack(terms, axis=-1)
