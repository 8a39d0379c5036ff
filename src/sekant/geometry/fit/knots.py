"""Placement of knots: Tao and Watson's method for noisy data, HALL's iterative search for clean data.

Both work on vector data y (n, m) over an increasing parameter u (n,), with components scaled so that they can
be added (meters with meters, unit quaternions among themselves).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from sekant.geometry.fit.bsplines import DEGREE, admissible, least_squares

Array = NDArray[np.float64]
_LEAST = 3  # least number of points in a segment after halving
CELL = 2 * (DEGREE + 1)
ROUNDS = 12  # of halving


@dataclass(frozen=True)
class KnotFit:
    """A quintic spline, its inner knots, and the reason why no more were added."""

    spline: BSpline
    inner: Array
    residual_variance: float
    stopped: str


def tao_watson(
    u: Array,
    y: Array,
    *,
    noise: float | None = None,
    C: float | None = None,
    fixed: Array | None = None,
    weights: Array | None = None,
    most: int = 80,
    patience: int = 3,
) -> KnotFit:
    """Add one knot at a time where it is needed most, and optimize its place and those of its neighbors.

    The sum of squares of segment j, SSR_j (2.10), over the total TSSR (2.11) and its share n_j / np of the points
    give the knot addition index KAI_j (2.12); the segment with the highest one is halved. Knots are added until

    (2.13)  (TSSR^0 - TSSR^(k-1)) / (TSSR^0 - TSSR^k) > C: a further knot no longer improves the fit, or
    (2.14)  TSSR / (np - n) grows with k: the spline begins to fit the noise,

    for `patience` additions in a row; the last knots without a gain are dropped. Without `C`, a knot must
    gain more than the best of all places would gain on pure noise: with probability 1 - 1/N that is less than m + 2
    sqrt(m L) + 2 L residual variances, L = log N (Laurent and Massart), for N places that a spline can
    distinguish. Several knots may help only together: a bump may need two or three. While the residual is
    clearly larger than `noise` (standard deviation of a component), the search continues longer. `fixed`:
    knots that are not moved (kinks, with their multiplicity).
    """
    n_points, m = y.shape
    fixed = np.zeros(0) if fixed is None else fixed
    w2 = np.ones(n_points) if weights is None else (weights / np.sqrt(np.mean(weights**2))) ** 2

    def squares(inner: Array) -> tuple[BSpline, Array]:
        spline = least_squares(u, y, np.concatenate([fixed, inner]), weights)
        return spline, w2 * np.sum((y - spline(u)) ** 2, axis=1)

    free = np.zeros(0)
    spline, residual = squares(free)
    start = total = float(residual.sum())
    best = KnotFit(spline, fixed, _variance(total, n_points, m, fixed.size, 0), "")
    least = DEGREE + 1
    price = _price(n_points, m)
    best_total, best_k = total, 0
    stopped = f"{most} knots reached"
    floor = 1e-28 * float(np.sum(y * y)) + 1e-300
    previous = best.residual_variance
    for k in range(1, most + 1):
        place = _worst_segment(u, residual, total, np.concatenate([fixed, free]), least)
        if place is None:
            stopped = "no segment has enough points for another knot"
            break
        rough = noise is not None and k > 20 and best.residual_variance > 4.0 * noise**2
        free = np.sort(np.append(free, place))
        free, spline, residual = _settle(u, squares, free, place, fixed, least, 2 if rough else 3)
        total = float(residual.sum())
        variance = _variance(total, n_points, m, fixed.size, k)
        if C is None:
            pays = best_total - total > (k - best_k) * price * variance
        else:
            pays = not start - best_total > C * (start - total) and variance <= best.residual_variance
        if pays:
            best = KnotFit(spline, np.sort(np.concatenate([fixed, free])), variance, "")
            best_total, best_k = total, k
        if total <= floor:
            stopped = "the fit is exact"
            break
        satisfied = noise is None or best.residual_variance < 2.0 * noise**2
        if k - best_k >= (patience if satisfied else 4 * patience):
            stopped = "rule (2.14)" if variance > previous else "rule (2.13)"
            break
        previous = variance
    return KnotFit(best.spline, best.inner, best.residual_variance, stopped)


def halved_knots(
    u: Array, y: Array, fixed: Array, weights: Array | None = None, *, across: bool = False
) -> KnotFit:
    """Halve the segments whose residuals are not noise, until those of all segments are white.

    Where a spline misses the shape, residuals of neighboring points are similar: their lag-one correlation (n_j
    points of m components) exceeds 2.5 standard errors, 2.5 / sqrt(m n_j), or they are much larger than elsewhere
    (means of squares relative to the median of all, 1.4 for noise). This needs no estimate of the noise level.
    Each half contains at least as many points as a quintic has coefficients, or three where residuals are
    large. Then useless knots are removed. With `across`, for a noisy parameter, only residuals across the
    curve are used: m - 1 components.
    """

    def missed(inner: Array) -> tuple[BSpline, Array]:
        spline = least_squares(u, y, inner, weights)
        miss = y - spline(u)
        if across:
            slope = spline(u, 1)
            along = np.sum(miss * slope, axis=1) / np.maximum(np.sum(slope * slope, axis=1), 1e-300)
            miss = miss - along[:, None] * slope
        return spline, miss

    n_points, m = len(y), y.shape[1] - across
    inner = np.sort(fixed)
    for _ in range(ROUNDS):
        inner = admissible(u, inner)
        _, miss = missed(inner)
        edges = np.concatenate([[u[0]], np.unique(inner), [u[-1]]])
        usual = float(np.median(np.sum(miss**2, axis=1)))
        split = []
        for a, b in pairwise(edges):
            i, c, j = (int(np.searchsorted(u, x)) for x in (a, 0.5 * (a + b), b))
            total = float(np.sum(miss[i:j] ** 2))
            alike = float(np.sum(miss[i : j - 1] * miss[i + 1 : j]))
            large = total > 6.0 * (j - i) * usual
            least = _LEAST if large else DEGREE + 1
            if min(c - i, j - c) >= least and (large or alike > 2.5 * total / np.sqrt(m * (j - i)) > 0.0):
                split.append(0.5 * (a + b))
        if not split:
            break
        inner = np.sort(np.concatenate([inner, split]))
    inner = _pruned(
        admissible(u, inner), fixed, lambda knots: float(np.sum(missed(knots)[1] ** 2)), n_points, m
    )
    spline, miss = missed(inner)
    variance = _variance(float(np.sum(miss**2)), n_points, m, inner.size, 0)
    return KnotFit(spline, inner, variance, "knots by halving; residuals are white")


def _pruned(inner: Array, fixed: Array, squares: Callable[[Array], float], n_points: int, m: int) -> Array:
    """Remove knots that gain less than a knot gains on noise, the least useful first."""
    free = np.setdiff1d(inner, fixed)
    total = squares(inner)
    gains = [squares(np.delete(inner, np.searchsorted(inner, knot))) - total for knot in free]
    for knot in free[np.argsort(gains)]:
        trial = np.delete(inner, np.searchsorted(inner, knot))
        without = squares(trial)
        if without - total < _price(n_points, m) * _variance(total, n_points, m, inner.size, 0):
            inner, total = trial, without
    return inner


def _price(n_points: int, m: int) -> float:
    """Gain of the best place for a knot on pure noise, in residual variances; see `tao_watson`."""
    places = np.log(max(n_points / (DEGREE + 1), 2.0))
    return m + 2.0 * np.sqrt(m * places) + 2.0 * places


def _variance(total: float, points: int, m: int, fixed: int, k: int) -> float:
    freedom = m * (points - DEGREE - 1 - fixed - k) - k
    return total / freedom if freedom > 0 else np.inf


def _worst_segment(u: Array, residual: Array, total: float, knots: Array, least: int) -> float | None:
    """Center of the segment with the highest knot addition index (2.12) that has points for two halves."""
    edges = np.concatenate([[u[0]], np.unique(knots), [u[-1]]])
    index = np.clip(np.searchsorted(edges, u, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(index, minlength=len(edges) - 1)
    sums = np.bincount(index, weights=residual, minlength=len(edges) - 1)
    kai = sums / max(total, 1e-300) + counts / len(u)
    centers = 0.5 * (edges[:-1] + edges[1:])
    left = np.searchsorted(u, centers) - np.searchsorted(u, edges[:-1])
    right = np.searchsorted(u, edges[1:]) - np.searchsorted(u, centers)
    kai[np.minimum(left, right) < least] = -1.0
    worst = int(np.argmax(kai))
    return float(centers[worst]) if kai[worst] > 0.0 else None


def _settle(u: Array, squares, free: Array, place: float, fixed: Array, least: int, rounds: int):
    """Move the new knot and its neighbors, two on each side or (`rounds` = 2) one, to minimize the sum of squares."""
    center = int(np.searchsorted(free, place))
    spline, residual = squares(free)
    total = residual.sum()
    around = [center, center - 1, center + 1, center - 2, center + 2, center]
    for i in around if rounds > 2 else around[:3]:
        if not 0 <= i < free.size:
            continue
        others = np.sort(np.concatenate([[u[0]], np.delete(free, i), fixed, [u[-1]]]))
        k = int(np.searchsorted(others, free[i]))
        low, high = others[k - 1], others[k]
        a = int(np.searchsorted(u, low, side="right")) + least - 1
        b = int(np.searchsorted(u, high, side="left")) - least
        if b <= a:
            continue
        low, high = u[a], u[b]
        width = min(high - low, 0.5 * (others[k] - others[k - 1]))
        for _ in range(rounds):
            trials = np.clip(free[i] + width * np.array([-0.5, -0.25, 0.25, 0.5]), low, high)
            for trial in np.unique(trials):
                candidate = free.copy()
                candidate[i] = trial
                trial_spline, trial_residual = squares(candidate)
                if trial_residual.sum() < total:
                    free, spline, residual = candidate, trial_spline, trial_residual
                    total = residual.sum()
            width *= 0.4
    return np.sort(free), spline, residual


def iterative_knots(u: Array, y: Array, threshold: Array) -> Array:
    """HALL's Algorithm 1: walk along clean data and place a knot where a quintic no longer fits them.

    The data are cut into cells of CELL points (at least k + 1). From each start a polynomial is fitted over one,
    two, ... cells; when its largest error exceeds that of the first cell by more than `threshold` (m,), the
    last good end becomes a knot and the next start. HALL compares each fit with the previous one; comparing
    with the first one also detects errors that grow slowly, and allows doubling and halving to find the end.
    """
    n = len(u)
    edges = np.append(np.arange(0, n - CELL, CELL), n - 1)
    last = len(edges) - 1
    knots: list[float] = []
    start = 0
    while start < last:
        first = _polynomial_error(u, y, edges[start], edges[start + 1])
        good, step = start + 1, 1
        bad = None
        while bad is None and good < last:
            trial = min(good + step, last)
            if np.all(_polynomial_error(u, y, edges[start], edges[trial]) - first <= threshold):
                good, step = trial, 2 * step
            else:
                bad = trial
        while bad is not None and bad - good > 1:
            middle = (good + bad) // 2
            if np.all(_polynomial_error(u, y, edges[start], edges[middle]) - first <= threshold):
                good = middle
            else:
                bad = middle
        if good < last:
            knots.append(float(u[edges[good]]))
        start = good
    return np.asarray(knots)


def _polynomial_error(u: Array, y: Array, i: int, j: int) -> Array:
    """Largest deviation (m,) of the points i..j from their best quintic; long runs are thinned to 160 points."""
    index = np.unique(np.linspace(i, j, min(j - i + 1, 160)).astype(int))
    x = 2.0 * (u[index] - u[i]) / (u[j] - u[i]) - 1.0
    V = np.polynomial.chebyshev.chebvander(x, DEGREE)
    c = np.linalg.lstsq(V, y[index], rcond=None)[0]
    return np.abs(y[index] - V @ c).max(axis=0)


def fit_to_tolerance(
    u: Array,
    y: Array,
    tolerance: Array,
    *,
    fixed: Array | None = None,
    start: Array | None = None,
    rounds: int = 12,
) -> tuple[BSpline, Array]:
    """Quintic spline within `tolerance` (m,) of dense clean data, and its errors (n, m) at them.

    Starts from the knots `start`, or from `iterative_knots`. A C4 spline has one coefficient per segment
    instead of the six of a free polynomial, so segments that miss the tolerance are halved until they meet it
    or have too few points. `fixed` knots (kinks) are not moved.
    """
    fixed = np.zeros(0) if fixed is None else fixed
    places = np.unique(fixed)
    spans = np.searchsorted(u, np.concatenate([[u[0]], places, [u[-1]]]))
    if start is None:
        found = [
            iterative_knots(u[i : j + 1], y[i : j + 1], tolerance) for i, j in pairwise(spans) if j - i > 12
        ]
        start = np.concatenate([*found, np.zeros(0)])
    apart = np.abs(start[:, None] - places).min(axis=1, initial=np.inf)
    inner = start[apart > 1e-9 * (u[-1] - u[0])]  # the place of a fixed knot is known up to rounding errors
    for _ in range(rounds):
        knots = admissible(u, np.concatenate([fixed, inner]))
        spline = least_squares(u, y, knots)
        miss = np.abs(y - spline(u)) / tolerance
        if miss.max() <= 1.0:
            break
        edges = np.unique(np.concatenate([[u[0]], knots, [u[-1]]]))
        index = np.clip(np.searchsorted(edges, u, side="right") - 1, 0, len(edges) - 2)
        worst = np.zeros(len(edges) - 1)
        np.maximum.at(worst, index, miss.max(axis=1))
        counts = np.bincount(index, minlength=len(worst))
        split = (worst > 1.0) & (counts >= 8)
        if not split.any():
            break
        inner = np.setdiff1d(np.concatenate([knots, 0.5 * (edges[:-1] + edges[1:])[split]]), fixed)
    return spline, np.abs(y - spline(u))
