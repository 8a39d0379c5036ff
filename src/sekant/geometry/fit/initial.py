"""The first spline through raw data: interpolation of clean data, Tao-Watson least squares for noisy data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from sekant.geometry.fit.bsplines import DEGREE, admissible, clamped_knots, least_squares
from sekant.geometry.fit.knots import tao_watson
from sekant.geometry.fit.noise import noise_level

Array = NDArray[np.float64]
_BINS = 1500  # knots are searched on at most so many block means


@dataclass(frozen=True)
class Initial:
    """Spline y(u) through data, how it was found, and its noise level."""

    spline: BSpline
    inner: Array
    noise: float
    interpolated: bool
    method: str


def first_spline(
    u: Array,
    y: Array,
    *,
    method: str = "auto",
    noise: float | None = None,
    corners: Sequence[tuple[float, int]] = (),
    weights: Array | None = None,
    C: float | None = None,
) -> Initial:
    """Quintic spline of y (n, m) over increasing u (n,).

    Data are clean if interpolation would disturb second derivatives by less than a thousandth of size / range^2:
    noise < 1e-3 size / n^2, or of the size of rounding errors. `corners` are (u, multiplicity) of knots that must be
    there: multiplicity 5 leaves the spline C0, 4 leaves it C1, 3 leaves it C2.
    """
    size = float(np.max(np.ptp(y, axis=0))) + 1e-300
    sigma = noise_level(u, y) if noise is None else float(noise)
    rounding = 1e-13 * max(size, float(np.abs(y).max()))
    clean = sigma <= max(1e-3 * size / len(u) ** 2, rounding)
    if method == "interpolation" or (method == "auto" and clean):
        return _interpolation(u, y, corners, sigma, "of clean data" if clean else "")
    fixed = np.concatenate([np.full(k, place) for place, k in corners]) if corners else np.zeros(0)
    step = -(-len(u) // _BINS)
    bu, by, bw = (u, y, weights) if step == 1 else _block_means(u, y, weights, step)
    found = tao_watson(bu, by, noise=sigma / np.sqrt(step), C=C, fixed=admissible(bu, fixed), weights=bw)
    if method == "auto" and noise is None and C is None and found.residual_variance * step > 9.0 * sigma**2:
        return _interpolation(u, y, corners, sigma, "(too few points to tell noise from shape)")
    spline = found.spline if step == 1 else least_squares(u, y, admissible(u, found.inner), weights)
    return Initial(spline, found.inner, sigma, False, f"Tao-Watson knots; stopped by {found.stopped}")


def _interpolation(
    u: Array, y: Array, corners: Sequence[tuple[float, int]], sigma: float, why: str
) -> Initial:
    spline = make_interp_spline(u, y, DEGREE, t=_interpolation_knots(u, corners))
    inner = spline.t[DEGREE + 1 : -DEGREE - 1]
    return Initial(spline, inner, sigma, True, f"quintic interpolation {why}".strip())


def _interpolation_knots(u: Array, corners: Sequence[tuple[float, int]]) -> Array:
    """Not-a-knot vector with inner knots at the data u[3:-3]; around a corner they move onto it."""
    inner = u[3:-3].copy()
    last = 0
    for place, k in sorted(corners):
        i = int(np.argmin(np.abs(u - place)))
        if i - last < 7 or i > len(u) - 8:  # no room for a knot of this multiplicity
            continue
        last = i
        low = i - 3 - k // 2
        inner[low : low + k] = u[i]
    return clamped_knots(u[0], u[-1], inner)


def _block_means(u: Array, y: Array, weights: Array | None, step: int) -> tuple[Array, Array, Array | None]:
    """Means over blocks of `step` points; the first and the last point stay, so that the range does."""
    n = (len(u) - 2) // step * step
    body = slice(1, 1 + n)

    def mean(a: Array) -> Array:
        blocks = a[body].reshape(-1, step, *a.shape[1:]).mean(axis=1)
        return np.concatenate([a[:1], blocks, a[-1:]])

    return mean(u), mean(y), None if weights is None else mean(weights)


def foot_points(spline: BSpline, u: Array, r: Array, rounds: int = 4) -> Array:
    """Parameters (n,) of the points of the spline nearest to r (n, 3), starting from u; steps are
    limited, and the ends may be left by 2 % of the range."""
    a, b = spline.t[DEGREE], spline.t[-DEGREE - 1]
    limit = 0.02 * (b - a)
    x = u.copy()
    for _ in range(rounds):
        gap = spline(x) - r
        slope = spline(x, 1)
        speed2 = np.sum(slope**2, axis=1)
        curve = speed2 + np.sum(gap * spline(x, 2), axis=1)
        step = np.sum(gap * slope, axis=1) / np.maximum(curve, 0.25 * speed2)
        x = np.clip(x - np.clip(step, -limit, limit), a - limit, b + limit)
    return x
