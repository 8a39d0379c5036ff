"""B-splines: least squares, knots with multiplicity, conversion to piecewise polynomials (HALL 2.4-2.6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_lsq_spline

from sekant.geometry.fit.spline_grids import DEGREE as DEGREE
from sekant.tables.splines import bspline_pieces

Array = NDArray[np.float64]


def clamped_knots(a: float, b: float, inner: Array) -> Array:
    """Full knot vector on [a, b] from the inner knots (each repeated as often as it occurs there)."""
    return np.concatenate([np.full(DEGREE + 1, a), np.sort(inner), np.full(DEGREE + 1, b)])


def least_squares(u: Array, y: Array, inner: Array, weights: Array | None = None) -> BSpline:
    """Quintic spline with given inner knots and the least weighted sum of squares (2.5) through u (n,), y (n, m)."""
    return make_lsq_spline(u, y, clamped_knots(u[0], u[-1], inner), DEGREE, w=weights)


def admissible(u: Array, inner: Array) -> Array:
    """The inner knots without those for which the data do not determine the spline.

    Schoenberg and Whitney: basis function j must have its own point strictly inside its support (t[j], t[j +
    6]). Points and functions are matched greedily from the left; a function without a point loses a knot.
    """
    inner = np.sort(np.asarray(inner, float))
    inner = inner[(inner > u[0]) & (inner < u[-1])]
    while inner.size:
        t = clamped_knots(u[0], u[-1], inner)
        count = len(t) - DEGREE - 1
        first = np.searchsorted(u, t[:count], side="right")  # first point right of the support's start
        first[: DEGREE + 1] = 0
        index = np.arange(count)
        first = np.maximum.accumulate(first - index) + index  # distinct points, in order
        last = np.searchsorted(u, t[DEGREE + 1 :], side="left") - 1
        last[t[DEGREE + 1 :] == u[-1]] = len(u) - 1
        bad = np.flatnonzero(first > last)
        if not bad.size:
            break
        middle = np.clip(bad[0] - DEGREE // 2 - 1, 0, inner.size - 1)
        inner = np.delete(inner, middle)
    return inner


def periodic_least_squares(
    u: Array, y: Array, knots: Array, period: float, signs: Array, weights: Array | None = None
) -> BSpline:
    """Quintic with simple knots (k,) in [a, a + period), knots[0] = a, through u (n,), y (n, m), where component j
    repeats after a period (signs[j] = 1) or changes its sign (-1).

    The five coefficients after the k-th repeat the first five, with that sign: columns of the design matrix
    are added accordingly.
    """
    from scipy.sparse import csc_array, csr_array
    from scipy.sparse.linalg import splu

    k = len(knots)
    laps = -(-(DEGREE + 1) // k)
    before = np.concatenate([knots - (i + 1) * period for i in reversed(range(laps))])[-DEGREE:]
    after = np.concatenate([knots + (i + 1) * period for i in range(laps)])[: DEGREE + 1]
    t = np.concatenate([before, knots, after])
    full = csr_array(BSpline.design_matrix(u, t, DEGREE))
    if weights is not None:
        full, y = full.multiply(weights[:, None]).tocsr(), y * weights[:, None]
    index = np.arange(k + DEGREE)
    out = np.zeros((k + DEGREE, y.shape[1]))
    for sign in np.unique(signs):
        use = signs == sign
        factor = sign ** (index // k)
        A = full @ csr_array((factor, (index, index % k)), shape=(k + DEGREE, k))
        solved = splu(csc_array(A.T @ A)).solve(np.asarray(A.T @ y[:, use]))
        out[:, use] = solved[index % k] * factor[:, None]
    return BSpline(t, out, DEGREE)


def merged_pieces(splines: list[BSpline]) -> tuple[Array, Array]:
    """Breaks and coefficients of several splines over one range, combined on the union of their knots."""
    a = max(s.t[s.k] for s in splines)
    b = min(s.t[len(s.t) - s.k - 1] for s in splines)
    breaks = np.unique(np.concatenate([s.t for s in splines]))
    breaks = breaks[(breaks >= a) & (breaks <= b)]
    close = np.diff(breaks) < 1e-12 * (b - a)
    breaks = breaks[np.concatenate([[True], ~close])]
    breaks[-1] = b
    return breaks, np.concatenate([bspline_pieces(s, breaks)[1] for s in splines], axis=1)
