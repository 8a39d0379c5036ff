"""The first spline through raw data: interpolation of clean data, Tao-Watson least squares for noisy data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from sekant.geometry.fit.bsplines import DEGREE, admissible, clamped_knots, least_squares
from sekant.geometry.fit.knots import halved_knots, iterative_knots, tao_watson
from sekant.geometry.fit.noise import noise_level

Array = NDArray[np.float64]
WALKED = 1e-6  # of the size of a component: allowed error of a longer piece on clean data
_BINS = 800  # largest number of block means in the knot search

_SEARCHED = 24  # largest number of knots that are placed optimally; more are placed by halving


@dataclass(frozen=True)
class Initial:
    """Spline y(u) through data, its method, and its noise level."""

    spline: BSpline
    inner: Array
    noise: float
    interpolated: bool
    method: str
    degree: int = DEGREE  # of the least-squares polynomial, if lower than that of the spline

    def again(self, u: Array, y: Array, inner: Array, weights: Array | None = None) -> BSpline:
        """A least-squares fit of the same kind to other data, with the inner knots `inner`."""
        if self.degree < DEGREE:
            return polynomial(u, y, self.degree, weights)
        return least_squares(u, y, admissible(u, inner), weights)

    def through(
        self, u: Array, y: Array, corners: Sequence[tuple[float, int]], weights: Array | None
    ) -> BSpline:
        """A spline of the same kind through other data; `corners` as for `first_spline`."""
        if self.interpolated and self.degree == 3:
            return cubic(u, y)
        if self.interpolated:
            return first_spline(u, y, method="interpolation", noise=0.0, corners=corners).spline
        return self.again(u, y, self.inner, weights)


def is_clean(y: Array, sigma: float) -> bool:
    """Whether interpolation would disturb second derivatives by less than a thousandth of size / range^2:
    noise < 1e-3 size / n^2, or of the size of rounding errors."""
    size = float(np.max(np.ptp(y, axis=0))) + 1e-300
    return sigma <= max(1e-3 * size / len(y) ** 2, 1e-13 * max(size, float(np.abs(y).max())))


def first_spline(
    u: Array,
    y: Array,
    *,
    method: str = "auto",
    noise: float | None = None,
    corners: Sequence[tuple[float, int]] = (),
    weights: Array | None = None,
    C: float | None = None,
    across: bool = False,
) -> Initial:
    """Quintic spline of y (n, m) over increasing u (n,).

    `corners` are (u, multiplicity) of required knots: the spline is C0 at multiplicity 5, C1 at 4, C2 at 3.
    `across`: the parameter is not exact, so only residuals across the curve show whether more knots are needed.
    """
    sigma = noise_level(u, y) if noise is None else float(noise)
    clean = is_clean(y, sigma)
    if method == "interpolation" or (method == "auto" and clean):
        return _interpolation(u, y, corners, sigma, "of clean data" if clean else "")
    fixed = np.concatenate([np.full(k, place) for place, k in corners]) if corners else np.zeros(0)
    if method == "hall":
        return _walked(u, y, fixed, sigma, weights)
    step = -(-len(u) // _BINS)
    bu, by, bw = (u, y, weights) if step == 1 else _block_means(u, y, weights, step)
    fixed = admissible(bu, fixed)
    found = halved_knots(bu, by, fixed, bw, across=across)
    name = found.stopped
    if method != "auto" or C is not None or found.inner.size - fixed.size <= _SEARCHED:
        settings = {"noise": sigma / np.sqrt(step), "C": C, "fixed": fixed, "weights": bw}
        most = found.inner.size - fixed.size + 4 if method == "auto" and C is None else 80
        searched = tao_watson(bu, by, most=most, **settings)
        if method != "auto" or C is not None or searched.residual_variance < 1.2 * found.residual_variance:
            found, name = searched, f"Tao-Watson knots; stopped by {searched.stopped}"
    unclear = method == "auto" and noise is None and C is None and not across
    if unclear and found.residual_variance * step > 9.0 * sigma**2:
        return _interpolation(u, y, corners, sigma, "(too few points to separate noise from shape)")
    spline = found.spline if step == 1 else least_squares(u, y, admissible(u, found.inner), weights)
    return Initial(spline, found.inner, sigma, False, name)


def _walked(u: Array, y: Array, fixed: Array, sigma: float, weights: Array | None) -> Initial:
    """HALL's Algorithm 1: knots where a quintic no longer follows the data, then least squares with all of them.

    His threshold is a user setting; here it is three times the noise, or one part in a million for clean data.
    """
    size = np.ptp(y, axis=0)
    threshold = np.maximum(3.0 * sigma, WALKED * np.maximum(size, size.max() * 1e-3))
    inner = admissible(u, np.sort(np.concatenate([fixed, iterative_knots(u, y, threshold)])))
    return Initial(least_squares(u, y, inner, weights), inner, sigma, False, "HALL's iterative knots")


def _interpolation(
    u: Array, y: Array, corners: Sequence[tuple[float, int]], sigma: float, why: str
) -> Initial:
    spline = make_interp_spline(u, y, DEGREE, t=_interpolation_knots(u, corners))
    inner = spline.t[DEGREE + 1 : -DEGREE - 1]
    return Initial(spline, inner, sigma, True, f"quintic interpolation {why}".strip())


def _interpolation_knots(u: Array, corners: Sequence[tuple[float, int]]) -> Array:
    """Not-a-knot vector with inner knots at the data u[3:-3]; near a corner they move onto the corner."""
    inner = u[3:-3].copy()
    last = 0
    for place, k in sorted(corners):
        i = int(np.argmin(np.abs(u - place)))
        if i - last < 7 or i > len(u) - 8:  # too few points for a knot of this multiplicity
            continue
        last = i
        low = i - 3 - k // 2
        inner[low : low + k] = u[i]
    return clamped_knots(u[0], u[-1], inner)


def _block_means(u: Array, y: Array, weights: Array | None, step: int) -> tuple[Array, Array, Array | None]:
    """Means over blocks of `step` points; the first and the last point are unchanged, so the range is, too."""
    n = (len(u) - 2) // step * step
    body = slice(1, 1 + n)

    def mean(a: Array) -> Array:
        blocks = a[body].reshape(-1, step, *a.shape[1:]).mean(axis=1)
        return np.concatenate([a[:1], blocks, a[-1:]])

    return mean(u), mean(y), None if weights is None else mean(weights)


def polynomial(u: Array, y: Array, degree: int, weights: Array | None = None) -> BSpline:
    """Least-squares polynomial of a degree up to five, as a quintic spline without inner knots."""
    x = 2.0 * (u - u[0]) / (u[-1] - u[0]) - 1.0
    w = np.ones(len(u)) if weights is None else weights
    V = np.polynomial.legendre.legvander(x, degree)
    c = np.linalg.lstsq(V * w[:, None], y * w[:, None], rcond=None)[0]
    at = np.cos(np.pi * np.arange(DEGREE, -1, -1) / DEGREE)
    places = u[0] + 0.5 * (1.0 + at) * (u[-1] - u[0])
    places[0], places[-1] = u[0], u[-1]
    values = np.polynomial.legendre.legvander(at, degree) @ c
    return make_interp_spline(places, values, DEGREE, t=clamped_knots(u[0], u[-1], np.zeros(0)))


def cubic(u: Array, y: Array) -> BSpline:
    """Cubic interpolation (C2) as a quintic spline with triple inner knots: it oscillates less between few points."""
    thin = make_interp_spline(u, y, 3)
    t = clamped_knots(u[0], u[-1], np.repeat(thin.t[4:-4], 3))
    sites = np.lib.stride_tricks.sliding_window_view(t[1:-1], DEGREE).mean(axis=1)  # Greville's
    sites[0], sites[-1] = u[0], u[-1]
    return make_interp_spline(sites, thin(sites), DEGREE, t=t)
