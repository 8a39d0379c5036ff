"""Cubic pieces through points: the smooth spline and the one that never overshoots, without importing SciPy.

With widths h_i, slopes m_i of the straight lines between n points, and slopes s_i of the curve at them, piece i is

    y_i + s_i u + ((m_i - s_i)/h_i - t_i) u^2 + t_i/h_i u^3 ,   t_i = (s_i + s_{i+1} - 2 m_i)/h_i .
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bspline_pieces(spline: Any, breaks: Floats | None = None) -> tuple[Floats, Floats]:
    """Breaks (p + 1,), by default the knots, and coefficients (p, m, k + 1), in ascending local powers, of SciPy's
    BSpline of degree k over its domain."""
    t, k = spline.t, spline.k
    breaks = np.unique(t[k : len(t) - k]) if breaks is None else breaks
    starts = breaks[:-1]
    coefficients = np.stack([spline(starts, nu=j) / factorial(j) for j in range(k + 1)], axis=-1)
    return breaks, coefficients.reshape(len(starts), -1, k + 1)


def through_slopes(x: Floats, y: Floats, slopes: Floats) -> Floats:
    """(n - 1, m, 4): pieces through points x (n,), y (n, m) with slopes (n, m) there."""
    h = np.diff(x)[:, None]
    lines = np.diff(y, axis=0) / h
    bend = (slopes[:-1] + slopes[1:] - 2 * lines) / h
    return np.stack([y[:-1], slopes[:-1], (lines - slopes[:-1]) / h - bend, bend / h], axis=2)


def smooth_slopes(x: Floats, y: Floats) -> Floats:
    """(n, m), n > 3: the second derivative is continuous, and at the second and the last but one point also the
    third."""
    h = np.diff(x)
    lines = np.diff(y, axis=0) / h[:, None]
    first, last = x[2] - x[0], x[-1] - x[-3]
    below = np.concatenate([[0.0], h[1:], [last]])
    diagonal = np.concatenate([[h[1]], 2 * (h[:-1] + h[1:]), [h[-2]]])
    above = np.concatenate([[first], h[:-1], [0.0]])
    right = np.empty_like(y)
    right[1:-1] = 3 * (h[1:, None] * lines[:-1] + h[:-1, None] * lines[1:])
    right[0] = ((h[0] + 2 * first) * h[1] * lines[0] + h[0] ** 2 * lines[1]) / first
    right[-1] = (h[-1] ** 2 * lines[-2] + (2 * last + h[-1]) * h[-2] * lines[-1]) / last
    for i in range(1, x.size):  # elimination from the top: the diagonal remains positive
        share = below[i] / diagonal[i - 1]
        diagonal[i] -= share * above[i - 1]
        right[i] -= share * right[i - 1]
    right[-1] /= diagonal[-1]
    for i in range(x.size - 2, -1, -1):
        right[i] = (right[i] - above[i] * right[i + 1]) / diagonal[i]
    return right


def monotone_slopes(x: Floats, y: Floats) -> Floats:
    """(n, m), n > 2: harmonic means of the slopes on both sides, zero where these change sign (Fritsch and
    Butland, A method
    for constructing local monotone piecewise cubic interpolants, SIAM J. Sci. Stat. Comput. 5, 1984)."""
    h = np.diff(x)[:, None]
    lines = np.diff(y, axis=0) / h
    before, after = lines[:-1], lines[1:]
    same = before * after > 0.0
    first, second = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    one = np.where(same, before, 1.0), np.where(same, after, 1.0)
    inner = np.where(same, (first + second) / (first / one[0] + second / one[1]), 0.0)
    ends = [_end_slope(*h[:2], *lines[:2]), _end_slope(*h[:-3:-1], *lines[:-3:-1])]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end_slope(h0: Floats, h1: Floats, near: Floats, next_one: Floats) -> Floats:
    """(m,): slope of the parabola through three points, limited to preserve the shape of the data."""
    found = ((2 * h0 + h1) * near - h0 * next_one) / (h0 + h1)
    turns = (np.sign(near) != np.sign(next_one)) & (np.abs(found) > 3 * np.abs(near))
    return np.where(np.sign(found) != np.sign(near), 0.0, np.where(turns, 3 * near, found))
