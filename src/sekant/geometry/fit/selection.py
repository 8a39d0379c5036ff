"""Selection of the kind of spline: the one that predicts left-out points best, and better than the polygon does.

Each kind is fitted without some of the points and compared with them; the distance across the path counts. With up to
30 points every inner one is left out in turn, otherwise one in five. The polygon through the rest misses
a left-out point by its distance from the line between its neighbors. A spline with larger errors than the
polygon is not accepted.

In a fit over a column (`exact`), spline and polygon are compared with a point at its value of the column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.special import fdtri

from sekant.geometry.fit.bsplines import DEGREE, admissible, least_squares
from sekant.geometry.fit.initial import Initial, cubic, first_spline, polynomial
from sekant.geometry.fit.polyline import Array, from_segment
from sekant.geometry.fit.report import EVERY

FEW = 30
_MARGIN = 0.8  # interpolation is used if its error is below this share of the error of the polygon
_SHAPE = 3.0 * np.sqrt(2.0)  # noise levels above which an rms distance (two components across) is not noise
Corners = Sequence[tuple[float, int]]


@dataclass(frozen=True)
class Tried:
    """A kind of fit, and the distances of left-out points from it."""

    initial: Initial
    corners: list[tuple[float, int]]
    missed: float  # rms [m]
    polygon: float  # rms distance [m] of the same points from the polygon through the rest
    left: float  # rms distance [m] of the points from a fit with all of them
    white: float  # that of a least-squares fit if it is only noise, otherwise 0
    u: Array  # (n,) the parameter of the points
    lost: int = -1  # a point where the fit misses a stretch of points that the polygon follows; -1: none

    @property
    def rounding(self) -> float:
        """Uncertainty of distances [m]."""
        return 1e-13 * float(np.abs(self.initial.spline.c).max())

    @property
    def worth(self) -> bool:
        """Whether left-out points are closer to the fit than to the polygon, or as close as the fitted
        points, whose distances are noise: if noise is larger than the steps, the polygon fills the space
        around the path."""
        if self.lost >= 0:
            return False
        if self.initial.interpolated:
            return self.missed <= _MARGIN * self.polygon + self.rounding
        return self.missed <= max(self.polygon + self.rounding, 1.2 * self.white)


def folds(n: int) -> list[NDArray[np.int64]]:
    """Groups of inner points to be left out together."""
    if n <= FEW:
        return [np.array([i]) for i in range(1, n - 1)]
    groups = [np.arange(k, n - 1, EVERY) for k in range(1, EVERY + 1)]
    return [group for group in groups if group.size]


def polygon_distance(u: Array, r: Array, held: NDArray[np.int64], exact: bool) -> Array:
    """Distance of the points `held` from the straight lines between their remaining neighbors."""
    keep = np.setdiff1d(np.arange(len(r)), held)
    after = np.searchsorted(keep, held)
    i, j = keep[after - 1], keep[after]
    if not exact:
        return from_segment(r[held], r[i], r[j])
    share = (u[held] - u[i]) / (u[j] - u[i])
    return np.linalg.norm(r[held] - r[i] - share[:, None] * (r[j] - r[i]), axis=1)


def distance(spline: BSpline, u: Array, r: Array, step: float, exact: bool) -> Array:
    """Distance (n,) of points from the spline: at u if that is `exact`, else across the path."""
    return np.linalg.norm(r - spline(u), axis=1) if exact else across(spline, u, r, step)


def across(spline: BSpline, u: Array, r: Array, step: float) -> Array:
    """Distance (n,) of points from the spline at u, without the part along the path, if that is less than
    three typical steps [m] of the data."""
    gap = r - spline(u)
    slope = spline(u, 1)
    unit = slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-300)
    along = np.sum(gap * unit, axis=1)
    return np.linalg.norm(gap - np.where(np.abs(along) < 3.0 * step, along, 0.0)[:, None] * unit, axis=1)


def typical_step(r: Array) -> float:
    """Median distance [m] between neighbors."""
    return float(np.median(np.linalg.norm(np.diff(r, axis=0), axis=1)))


def missed(
    u: Array, r: Array, build: Callable[[Array, Array, NDArray[np.int64]], BSpline], exact: bool
) -> float:
    """Rms distance of left-out points from the fit `build(u, r, kept)` through the others."""
    total, count, step = 0.0, 0, typical_step(r)
    for held in folds(len(u)):
        keep = np.setdiff1d(np.arange(len(u)), held)
        try:
            spline = build(u[keep], r[keep], keep)
        except (ValueError, np.linalg.LinAlgError):
            return np.inf
        gap = distance(spline, u[held], r[held], step, exact)
        total, count = total + float(np.sum(gap**2)), count + len(held)
    value = float(np.sqrt(total / count))
    return value if np.isfinite(value) else np.inf


def polygon_missed(u: Array, r: Array, exact: bool) -> float:
    """Rms distance of the same left-out points from the polygon through the others."""
    gaps = np.concatenate([polygon_distance(u, r, held, exact) for held in folds(len(r))])
    return float(np.sqrt(np.mean(gaps**2)))


def try_initial(
    u: Array, r: Array, w: Array | None, initial: Initial, corners: Corners, exact: bool = False
) -> Tried:
    """Test how well a fit through all points predicts left-out ones."""

    def build(u_k: Array, r_k: Array, keep: NDArray[np.int64]) -> BSpline:
        return initial.through(u_k, r_k, corners, None if w is None else w[keep])

    left = float(np.sqrt(np.mean(distance(initial.spline, u, r, typical_step(r), exact) ** 2)))
    return Tried(
        initial,
        list(corners),
        missed(u, r, build, exact),
        polygon_missed(u, r, exact),
        left,
        left if _is_white(u, r, initial) else 0.0,
        u,
        _lost(u, r, initial, exact),
    )


def _is_white(u: Array, r: Array, initial: Initial) -> bool:
    """Whether residuals of neighbors are no more similar than those of noise."""
    miss = r - initial.spline(u)
    alike, total = float(np.sum(miss[1:] * miss[:-1])), float(np.sum(miss**2))
    return not initial.interpolated and alike <= 2.5 * total / np.sqrt(miss.size)


def _misses_shape(one: Tried, others: Sequence[Tried], components: int) -> bool:
    """Whether a least-squares fit with more coefficients has significantly smaller residuals, for few points:
    the gain per coefficient, relative to the residual per degree of freedom, exceeds Fisher's 99 % quantile.
    `components`: number of noise components in a distance."""
    n, p = len(one.u), _coefficients(one)
    for other in others:
        more, free = _coefficients(other) - p, n - _coefficients(other)
        if one.initial.interpolated or other.initial.interpolated or more < 1 or free < 1:
            continue
        gain, rest = (one.left**2 - other.left**2) / more, other.left**2 / free
        if gain > fdtri(components * more, components * free, 0.99) * rest + one.rounding**2:
            return True
    return False


def _coefficients(tried: Tried) -> int:
    return len(tried.initial.inner) + tried.initial.degree + 1


def _lost(u: Array, r: Array, initial: Initial, exact: bool) -> int:
    """The worst point of the worst five successive points whose distance from a least-squares fit exceeds
    noise and the distance from the polygon through their neighbors; -1 if there is none. For few points, all
    residuals must be noise, and noise above a quarter of their steps cannot be distinguished from disorder.
    If they are too few to show noise (`initial.noise` is 0), a twentieth of the steps is allowed. With a
    column that orders them, only the prediction of left-out points is tested."""
    if initial.interpolated:
        return -1
    step = typical_step(r)
    gap = distance(initial.spline, u, r, step, exact)
    if len(u) <= FEW:
        noise = min(_SHAPE * initial.noise, 0.25 * step) if initial.noise > 0.0 else 0.05 * step
        wrong = not exact and np.sqrt(np.mean(gap**2)) > noise
        return int(np.argmax(gap)) if wrong else -1
    sides = [polygon_distance(u, r, np.arange(k, len(u) - 1, 2), exact) for k in (1, 2)]
    chords = np.empty(len(u) - 2)
    chords[::2], chords[1::2] = sides
    own, straight = (np.convolve(x**2, np.full(5, 0.2), "valid") for x in (gap[1:-1], chords))
    bad = np.where((own > 16.0 * np.median(gap**2)) & (own > straight), own, 0.0)
    return int(np.argmax(bad)) + 3 if bad.max(initial=0.0) > 0.0 else -1


def best_of(
    u: Array, r: Array, w: Array | None, first: Initial, corners: Corners, forced: bool, exact: bool = False
) -> Tried:
    """The first choice if it predicts well, else the kind that predicts best.

    `first` stays if no other is better, or if the caller chose it (`forced`). Others: cubic interpolation,
    least-squares polynomials of degree 1 to 5, quintics with evenly spread knots.
    """
    tried = try_initial(u, r, w, first, corners, exact)
    n = len(u)
    clear = tried.missed < 0.3 * tried.polygon if first.interpolated else tried.white > 0.0
    if forced or (n > FEW and tried.worth and clear):
        return tried
    others: list[Tried] = []
    sigma = first.noise
    if not first.interpolated:
        settings = {"method": "interpolation", "noise": sigma, "corners": corners}
        with suppress(np.linalg.LinAlgError):  # points nearly coincide
            others.append(try_initial(u, r, w, first_spline(u, r, **settings), corners, exact))
    for name, x in [("cubic", u)] + ([] if exact else [("centripetal cubic", _centripetal(u, r))]):
        if n <= 10 * FEW and np.all(np.diff(x) > 1e-9 * (x[-1] - x[0])):
            initial = Initial(cubic(x, r), x[2:-2], sigma, True, f"{name} interpolation", 3)
            knots = [(float(p), 3) for p in x[2:-2]]
            others.append(replace(try_initial(x, r, w, initial, (), exact), corners=knots))
    for degree in range(1, DEGREE + 1):
        if n > degree + 2 and n <= 4 * FEW:
            name = f"least-squares polynomial of degree {degree}"
            initial = Initial(polynomial(u, r, degree, w), np.zeros(0), sigma, False, name, degree)
            others.append(try_initial(u, r, w, initial, (), exact))
    for count in sorted({1, 2, 4, 8, n // 40, n // 20, n // 10}):
        if count >= 1 and n > count + DEGREE + 3:
            inner = admissible(u, np.quantile(u, np.arange(1, count + 1) / (count + 1)))
            name = "evenly spread knots"
            initial = Initial(least_squares(u, r, inner, w), inner, sigma, False, name)
            others.append(try_initial(u, r, w, initial, (), exact))
    through = [t for t in (tried, *others) if t.initial.interpolated and t.worth]
    # a kind close to the best that interpolates all points is preferred: few points show no noise to smooth
    smooth = [t for t in (tried, *others) if t.worth]
    components = r.shape[1] - (not exact)
    enough = [t for t in smooth if n > FEW or not _misses_shape(t, smooth, components)]
    choice = through or enough or [tried, *others]
    least = min(t.missed for t in choice)
    best = min((t for t in choice if t.missed <= 1.03 * least), key=lambda t: len(t.initial.inner))
    good = any(t is tried for t in enough) and tried.missed <= 1.05 * best.missed + tried.rounding
    return tried if good else best


def _centripetal(u: Array, r: Array) -> Array:
    """Cumulative sums of the roots of the steps, scaled to the length of u."""
    root = np.concatenate([[0.0], np.cumsum(np.sqrt(np.linalg.norm(np.diff(r, axis=0), axis=1)))])
    return root * (u[-1] - u[0]) / root[-1]
