"""Which kind of spline a path gets: the one that predicts left-out points best, and better than the polygon does.

Each kind is fitted without some of the points and compared with them; the distance across the path counts. With up to
30 points every inner one is left out in turn, otherwise one in five. The polygon through the rest misses
a left-out point by its distance from the line between its neighbors. A spline that does worse is no fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from sekant.geometry.fit.bsplines import DEGREE, admissible, least_squares
from sekant.geometry.fit.initial import Initial, cubic, first_spline, polynomial
from sekant.geometry.fit.polyline import Array, from_chord_of_neighbors

FEW = 30
_EVERY = 5
_MARGIN = 0.8  # interpolation is taken if it beats the polygon by this factor; noise makes it worse than that
Corners = Sequence[tuple[float, int]]


@dataclass(frozen=True)
class Tried:
    """A kind of fit, and how far left-out points lie from it."""

    initial: Initial
    corners: list[tuple[float, int]]
    missed: float  # rms [m]
    polygon: float  # rms distance [m] of the same points from the polygon through the rest
    white: float  # rms distance [m] of the points from a least-squares fit if it is but noise, else 0
    u: Array  # (n,) the parameter of the points
    lost: int = -1  # a point where the fit misses a stretch of points that the polygon follows; -1: none

    @property
    def worth(self) -> bool:
        """Left-out points are nearer than to the polygon, or as near as those that were fitted, whose distances are
        noise: the polygon through noise that is larger than the steps fills the space around the path."""
        rounding = 1e-13 * float(np.abs(self.initial.spline.c).max())
        if self.lost >= 0:
            return False
        if self.initial.interpolated:
            return self.missed <= _MARGIN * self.polygon + rounding
        return self.missed <= max(self.polygon + rounding, 1.2 * self.white)


def folds(n: int) -> list[NDArray[np.int64]]:
    """Groups of inner points to be left out together."""
    if n <= FEW:
        return [np.array([i]) for i in range(1, n - 1)]
    groups = [np.arange(k, n - 1, _EVERY) for k in range(1, _EVERY + 1)]
    return [group for group in groups if group.size]


def polygon_distance(r: Array, held: NDArray[np.int64]) -> Array:
    """Distance of the points `held` from the straight lines between their neighbors that are not held."""
    keep = np.setdiff1d(np.arange(len(r)), held)
    after = np.searchsorted(keep, held)
    a, b, p = r[keep[after - 1]], r[keep[after]], r[held]
    d = b - a
    share = np.clip(np.sum((p - a) * d, axis=1) / np.maximum(np.sum(d * d, axis=1), 1e-300), 0.0, 1.0)
    return np.linalg.norm(p - a - share[:, None] * d, axis=1)


def across(spline: BSpline, u: Array, r: Array, step: float) -> Array:
    """Distance (n,) of points from the spline at u, the part along the path not counted as far as it is less than
    three typical steps [m] of the data: farther away the spline is another one."""
    gap = r - spline(u)
    slope = spline(u, 1)
    unit = slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-300)
    along = np.sum(gap * unit, axis=1)
    return np.linalg.norm(gap - np.where(np.abs(along) < 3.0 * step, along, 0.0)[:, None] * unit, axis=1)


def typical_step(r: Array) -> float:
    """Median distance [m] between neighbors."""
    return float(np.median(np.linalg.norm(np.diff(r, axis=0), axis=1)))


def missed(u: Array, r: Array, build: Callable[[Array, Array, NDArray[np.int64]], BSpline]) -> float:
    """Rms distance of left-out points from what `build(u, r, kept)` makes of the others."""
    total, count, step = 0.0, 0, typical_step(r)
    for held in folds(len(u)):
        keep = np.setdiff1d(np.arange(len(u)), held)
        try:
            spline = build(u[keep], r[keep], keep)
        except (ValueError, np.linalg.LinAlgError):
            return np.inf
        gap = across(spline, u[held], r[held], step)
        total, count = total + float(np.sum(gap**2)), count + len(held)
    value = float(np.sqrt(total / count))
    return value if np.isfinite(value) else np.inf


def polygon_missed(r: Array) -> float:
    """Rms distance of the same left-out points from the polygon through the others."""
    gaps = np.concatenate([polygon_distance(r, held) for held in folds(len(r))])
    return float(np.sqrt(np.mean(gaps**2)))


def try_initial(u: Array, r: Array, w: Array | None, initial: Initial, corners: Corners) -> Tried:
    """How well a fit that was found with all points predicts some of them."""

    def build(u_k: Array, r_k: Array, keep: NDArray[np.int64]) -> BSpline:
        if initial.interpolated and initial.degree == 3:
            return cubic(u_k, r_k)
        if initial.interpolated:
            return first_spline(u_k, r_k, method="interpolation", noise=0.0, corners=corners).spline
        return initial.again(u_k, r_k, initial.inner, None if w is None else w[keep])

    return Tried(
        initial,
        list(corners),
        missed(u, r, build),
        polygon_missed(r),
        _white(u, r, initial),
        u,
        _lost(u, r, initial),
    )


def _white(u: Array, r: Array, initial: Initial) -> float:
    miss = r - initial.spline(u)
    total = float(np.sum(miss**2))
    if initial.interpolated or float(np.sum(miss[1:] * miss[:-1])) > 2.5 * total / np.sqrt(miss.size):
        return 0.0
    return float(np.sqrt(np.mean(across(initial.spline, u, r, typical_step(r)) ** 2)))


def _lost(u: Array, r: Array, initial: Initial) -> int:
    """The worst point of the worst stretch of five that a least-squares fit leaves by more than noise and by more
    than the polygon through their neighbors does; -1 if there is none. Of few points, noise of more than a quarter of
    their steps cannot be told from disorder."""
    if initial.interpolated:
        return -1
    gap = across(initial.spline, u, r, typical_step(r))
    if len(u) <= FEW:
        return int(np.argmax(gap)) if np.sqrt(np.mean(gap**2)) > 0.25 * typical_step(r) else -1
    own, straight = (
        np.convolve(x**2, np.full(5, 0.2), "valid") for x in (gap[1:-1], from_chord_of_neighbors(r))
    )
    bad = np.where((own > 16.0 * np.median(gap**2)) & (own > straight), own, 0.0)
    return int(np.argmax(bad)) + 3 if bad.max(initial=0.0) > 0.0 else -1


def best_of(u: Array, r: Array, w: Array | None, first: Initial, corners: Corners, forced: bool) -> Tried:
    """The first choice if it predicts well, else the kind that predicts best.

    `first` stays if nothing is to be gained, or if the caller asked for it (`forced`). Others: cubic interpolation,
    least-squares polynomials of degree 1 to 5, quintics with evenly spread knots.
    """
    tried = try_initial(u, r, w, first, corners)
    n = len(u)
    clear = tried.missed < 0.3 * tried.polygon if first.interpolated else tried.white > 0.0
    if forced or (n > FEW and tried.worth and clear):
        return tried
    others: list[Tried] = []
    sigma = first.noise
    centripetal = np.concatenate([[0.0], np.cumsum(np.sqrt(np.linalg.norm(np.diff(r, axis=0), axis=1)))])
    if not first.interpolated:
        settings = {"method": "interpolation", "noise": sigma, "corners": corners}
        others.append(try_initial(u, r, w, first_spline(u, r, **settings), corners))
    for name, x in (("cubic", u), ("centripetal cubic", centripetal * (u[-1] - u[0]) / centripetal[-1])):
        if n <= 10 * FEW and np.all(np.diff(x) > 1e-9 * x[-1]):
            initial = Initial(cubic(x, r), x[2:-2], sigma, True, f"{name} interpolation", 3)
            joints = [(float(p), 3) for p in x[2:-2]]
            others.append(replace(try_initial(x, r, w, initial, ()), corners=joints))
    for degree in range(1, DEGREE + 1):
        if n > degree + 2 and n <= 4 * FEW:
            name = f"least-squares polynomial of degree {degree}"
            initial = Initial(polynomial(u, r, degree, w), np.zeros(0), sigma, False, name, degree)
            others.append(try_initial(u, r, w, initial, ()))
    for count in sorted({1, 2, 4, 8, n // 40, n // 20, n // 10}):
        if count >= 1 and n > count + DEGREE + 3:
            inner = admissible(u, np.quantile(u, np.arange(1, count + 1) / (count + 1)))
            name = "evenly spread knots"
            initial = Initial(least_squares(u, r, inner, w), inner, sigma, False, name)
            others.append(try_initial(u, r, w, initial, ()))
    exact = [t for t in (tried, *others) if t.initial.interpolated and t.worth]
    # what comes near the best goes through all points: few of them show no noise that would have to be smoothed
    choice = exact or [t for t in (tried, *others) if t.worth] or [tried, *others]
    least = min(t.missed for t in choice)
    best = min((t for t in choice if t.missed <= 1.03 * least), key=lambda t: len(t.initial.inner))
    return tried if tried.worth and tried.missed <= 1.05 * best.missed else best
