"""Properties of the data before any fit: noise level, smoothed positions, kinks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.geometry.fit.polyline import chord_length

Array = NDArray[np.float64]
BACK = -0.2  # cosine of the angle below which a step goes back instead of around a bend


@dataclass(frozen=True)
class Kink:
    """A place where the data have a corner (order 0: only the position is continuous) or a sudden bend (order 1)."""

    index: int
    order: int
    jump: float  # of the unit tangent [rad], or of the curvature vector [1/m]


def noise_level(u: Array, y: Array) -> float:
    """Standard deviation of the noise of a component, from the prediction of each point by its neighbors.

    Each y_i is compared with the polynomial through its 3, 4 and 5 neighbors on each side; for white noise the
    difference has variance sigma^2 (1 + sum l_j^2) with the Lagrange weights l_j. The median is insensitive to kinks
    and outliers; the least of the three estimates is used, because a difference that shrinks with the degree
    is not noise.
    """
    estimates = [_prediction_error(u, y, half) for half in (3, 4, 5) if len(u) >= 4 * half]
    return min(estimates, default=0.0)


def predictions(u: Array, y: Array, half: int) -> Array:
    """Distance of each y_i (i from `half` to n - half) from the polynomial through `half` neighbors on each
    side: components (n - 2 half, m) divided by their standard deviation for unit noise."""
    offsets = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
    i = np.arange(half, len(u) - half)
    near = u[i[:, None] + offsets]
    weights = np.ones_like(near)
    for a in range(len(offsets)):
        for b in range(len(offsets)):
            if a != b:
                weights[:, a] *= (u[i] - near[:, b]) / (near[:, a] - near[:, b])
    miss = y[i] - np.einsum("na,nam->nm", weights, y[i[:, None] + offsets])
    return miss / np.sqrt(1.0 + np.sum(weights**2, axis=1))[:, None]


def _prediction_error(u: Array, y: Array, half: int) -> float:
    size = np.sqrt(np.mean(predictions(u, y, half) ** 2, axis=1))
    m = y.shape[1]
    # median of sqrt(chi^2_m / m): by Wilson and Hilferty (1 - 2 / (9 m))^(3/2)
    return float(np.median(size) / (1.0 - 2.0 / (9.0 * m)) ** 1.5)


def smoothed(r: Array, back: float = 0.0) -> tuple[Array, int]:
    """Positions smoothed just enough that the order of the points along the path is clear, and the number of
    points averaged (1: none).

    The window of a running mean (with reflected ends) grows until at most a share `back` of the steps goes
    backward (where strokes turn), and steps turn by less than 60 degrees on average.
    """
    n = len(r)
    window = 1
    out = r
    while window < n // 4:
        cosine = step_cosines(out)
        if np.mean(cosine) > 0.5 and np.mean(cosine < BACK) <= back:
            break
        window = 2 * window + 1
        half = window // 2
        padded = np.concatenate([2 * r[0] - r[half:0:-1], r, 2 * r[-1] - r[-2 : -half - 2 : -1]])
        total = np.cumsum(np.concatenate([np.zeros((1, r.shape[1])), padded]), axis=0)
        out = (total[window:] - total[:-window]) / window
    return out, window


def step_cosines(r: Array) -> Array:
    """Cosines (n - 2,) of the angles by which the polygon through the points (n, 3) turns."""
    step = np.diff(r, axis=0)
    length = np.linalg.norm(step, axis=1)
    return np.sum(step[1:] * step[:-1], axis=1) / np.maximum(length[1:] * length[:-1], 1e-300)


def find_kinks(u: Array, r: Array, noise: float) -> list[Kink]:
    """Corners and sudden bends at data points, from cubics through the points left and right of each point.

    Smooth data give differences of slope and of second derivative that shrink with the window, a kink gives the
    same difference for both windows. The windows are 7 and 13 points, more if noise hides curvature in them.
    Differences within ten standard errors of the noise are ignored.
    """
    n = len(u)
    for small in (7, 13, 25):
        large = 2 * small - 1
        if n < 4 * large:
            return []
        first, second, spread1, spread2, curvature, *_ = _side_differences(u, r, small)
        wide1, wide2, _, _, _, misfit, width = _side_differences(u, r, large)
        scale = np.median(curvature[large:-large]) + 0.5 * np.max(curvature[large:-large])
        if 10.0 * noise * np.median(spread2[large:-large]) < 0.25 * scale:
            break
    corner = (first > 0.03) & (np.abs(first - wide1) < 0.5 * first) & (first > 10.0 * noise * spread1)
    bend = (
        (second > 0.25 * scale) & (np.abs(second - wide2) < 0.35 * second) & (second > 10.0 * noise * spread2)
    )
    bend &= second * (u[-1] - u[0]) > 0.2
    # both sides must be smooth: residuals of their cubics are little more than noise
    corner &= misfit < 2.2 * noise + 0.002 * first * width
    bend &= misfit < 2.2 * noise + 0.0002 * second * width**2
    kinks: list[Kink] = []
    inside = np.zeros(n, bool)
    inside[large : n - large] = True
    for order, flags, size in ((0, corner, first), (1, bend, second)):
        for i in _peaks(np.where(flags & inside, size, 0.0), small):
            if all(abs(i - k.index) > small for k in kinks) and _broken(u, r, i, order, large, noise):
                kinks.append(Kink(int(i), order, float(size[i])))
    return sorted(kinks, key=lambda k: k.index)


def _broken(u: Array, r: Array, i: int, order: int, window: int, noise: float) -> bool:
    """Whether two cubics that meet at point i with a jump fit its neighbors much better than one smooth
    polynomial with as many coefficients: by ten times their residual variance."""
    near = slice(max(0, i - window), i + window + 1)
    x = u[near] - u[i]
    x = x / np.abs(x).max()
    step = np.maximum(x, 0.0)[:, None]
    broken = np.concatenate([x[:, None] ** np.arange(4), step ** np.arange(1 + order, 4)], axis=1)
    smooth = np.polynomial.chebyshev.chebvander(x, 7)
    left = [np.sum((r[near] - V @ np.linalg.lstsq(V, r[near], rcond=None)[0]) ** 2) for V in (broken, smooth)]
    variance = max(float(left[0]) / (len(x) - broken.shape[1]), r.shape[1] * noise**2)
    return bool(left[1] - left[0] > 10.0 * variance)


def _peaks(size: Array, reach: int) -> list[int]:
    """Indices that are the largest within `reach` on both sides."""
    candidates = np.flatnonzero(size > 0.0)
    return [int(i) for i in candidates if size[i] == size[max(0, i - reach) : i + reach + 1].max()]


def _side_differences(u: Array, r: Array, window: int) -> tuple[Array, ...]:
    """Differences between cubics through `window` points on each side of a point, itself included.

    All (n,), zero near the ends: |difference| of the first derivative divided by the speed, of the second
    derivative, their standard errors for unit noise, the mean second derivative, the larger rms residual of
    the two cubics, their width.
    """
    n = len(u)
    i = np.arange(window, n - window)
    slopes, bends, errors1, errors2, misfits, widths = [], [], [], [], [], []
    for sign in (-1, 1):
        index = i[:, None] + sign * np.arange(window)
        x = u[index] - u[i, None]
        width = np.abs(x).max(axis=1)
        V = (x / width[:, None])[..., None] ** np.arange(4)
        normal = np.swapaxes(V, 1, 2) @ V + 1e-13 * np.eye(4)
        P = np.linalg.solve(normal, np.swapaxes(V, 1, 2))  # (n, 4, window)
        c = P @ r[index]
        slopes.append(c[:, 1] / width[:, None])
        bends.append(2.0 * c[:, 2] / width[:, None] ** 2)
        errors1.append(np.linalg.norm(P[:, 1], axis=1) / width)
        errors2.append(2.0 * np.linalg.norm(P[:, 2], axis=1) / width**2)
        misfits.append(np.sqrt(np.mean(np.sum((V @ c - r[index]) ** 2, axis=2), axis=1)))
        widths.append(width)
    speed = np.maximum(0.5 * np.linalg.norm(slopes[0] + slopes[1], axis=1), 1e-300)
    first = np.linalg.norm(slopes[1] - slopes[0], axis=1) / speed
    second = np.linalg.norm(bends[1] - bends[0], axis=1)
    mean = 0.5 * np.linalg.norm(bends[0] + bends[1], axis=1)
    spreads = np.hypot(*errors1) / speed, np.hypot(*errors2)
    values = (first, second, *spreads, mean, np.maximum(*misfits), np.maximum(*widths))
    return tuple(np.pad(v, window) for v in values)


def find_straights(r: Array, tolerance: float) -> list[tuple[int, int]]:
    """Runs (first, last index) of points (n, 3) that lie within `tolerance` [m] of a straight line and are longer
    than a twentieth of the path. Runs grow from each start by doubling and halving, as in the search for knots."""
    s = chord_length(r)
    n = len(r)
    runs: list[tuple[int, int]] = []
    start = 0
    while start < n - 3:
        reach = int(np.searchsorted(s, s[start] + 0.05 * s[-1]))
        if reach >= n:
            break
        if reach - start < 3 or not _is_straight(r[start : reach + 1], tolerance):
            start += max(1, (reach - start) // 8)
            continue
        while start > (runs[-1][1] if runs else 0) and _is_straight(r[start - 1 : reach + 1], tolerance):
            start -= 1
        good, step = reach, 1
        while good < n - 1:
            trial = min(good + step, n - 1)
            if _is_straight(r[start : trial + 1], tolerance):
                good, step = trial, 2 * step
            elif step == 1:
                break
            else:
                step = max(1, step // 4)
        runs.append((start, good))
        start = good
    return runs


def _is_straight(r: Array, tolerance: float) -> bool:
    d = r[-1] - r[0]
    length = np.linalg.norm(d)
    if length == 0.0:
        return False
    offset = r - r[0]
    off = offset - np.outer(offset @ d, d) / length**2
    return bool(np.max(np.sum(off**2, axis=1)) <= tolerance**2)
