"""Alternating projection and fit: noisy points move to their nearest points on the spline, and the spline is
fitted again over its own length, until the parameter converges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.interpolate import BSpline

from sekant.geometry.curves.arc_length import cumulative_length
from sekant.geometry.fit.bsplines import admissible
from sekant.geometry.fit.initial import Initial
from sekant.geometry.fit.outliers import robust_weights
from sekant.geometry.fit.polyline import Array, Index, chord_length, project

_ROUNDS = 12
_LONGER = 1.1  # times the first parameter: a spline that oscillates between the points
_REACH = 0.03  # of the length: largest distance of a nearest point from the previous place of the point


@dataclass(frozen=True)
class SettledSpline:
    """A spline over its own arc length."""

    u: Array  # (n,) [m], increasing
    order: Index  # (n,) the point at each u
    first: Initial
    corners: list[tuple[float, int]]
    change: float  # of the parameter in the last round [m]


def foot_points(spline: BSpline, u: Array, r: Array) -> Array:
    """Parameters (n,) of the points of the spline that are nearest to r (n, 3) and not far from u (n,).

    From a fine polygon of the spline, with Newton steps of at most its spacing; beyond the ends along the tangents.
    """
    a, b = spline.t[spline.k], spline.t[-spline.k - 1]
    count = int(np.clip(max(4 * len(u), 40 * (len(spline.c) - spline.k)), 200, 20_000))
    grid = np.linspace(a, b, count + 1)
    line = spline(grid)
    s = chord_length(line)
    near = np.clip(np.searchsorted(grid, u), 0, count - 1)
    widest = float(np.max(np.diff(u), initial=0.0)) / (b - a)
    reach = int(np.ceil(min(max(_REACH, 3.0 * widest), 1.0) * count)) + 2
    place = project(r, line, near, reach)[0]
    x = np.interp(place, s, grid)
    inside = (place > 0.0) & (place < s[-1])
    step = (b - a) / count
    for _ in range(3):
        gap, slope = spline(x) - r, spline(x, 1)
        speed2 = np.maximum(np.sum(slope**2, axis=1), 1e-300)
        bend = speed2 + np.sum(gap * spline(x, 2), axis=1)
        move = np.sum(gap * slope, axis=1) / np.maximum(bend, 0.25 * speed2)
        x = np.where(inside, np.clip(x - np.clip(move, -step, step), a, b), x)
    speed = [max(float(np.linalg.norm(spline(end, 1))), 1e-300) for end in (a, b)]
    x = np.where(place <= 0.0, a + place / speed[0], x)
    return np.where(place >= s[-1], b + (place - s[-1]) / speed[1], x)


def settle(
    u: Array, r: Array, w: Array | None, first: Initial, corners: list[tuple[float, int]], robust: bool
) -> SettledSpline:
    """Move from a first parameter u to arc length, and noisy points to their nearest points on the spline.

    Knots and corners move with them. Points far from the spline get less weight. Ends when the parameter
    changes by less than 1e-7 of the length, or when its change no longer decreases.
    """
    order, length = np.arange(len(u)), u[-1] - u[0]
    best = SettledSpline(u, order, first, corners, np.inf)
    for _ in range(_ROUNDS):
        spline = first.spline
        feet = foot_points(spline, u, r[order])
        rank = np.argsort(feet, kind="stable")
        moved, order = feet[rank], order[rank]
        moved = moved + (moved[-1] - moved[0]) * 1e-13 * np.arange(len(moved))
        places = np.array([place for place, _ in corners] + list(first.inner))
        ends = spline.t[[spline.k, -spline.k - 1]]
        grid = np.unique(np.concatenate([moved, places, ends]))
        s = cumulative_length(partial(_slope, spline), grid)
        s = s - np.interp(moved[0], grid, s)
        new = np.interp(moved, grid, s)
        change = float(np.sqrt(np.mean((new - u[rank]) ** 2)))
        if new[-1] > _LONGER * length:
            break
        corners = [(float(np.interp(place, grid, s)), k) for place, k in corners]
        inner = admissible(new, np.interp(first.inner, grid, s))
        weights = _weights(spline(np.clip(moved, *ends)) - r[order], w, order, robust)
        first = replace(first, spline=first.again(new, r[order], inner, weights), inner=inner)
        u = new
        better = change < 0.9 * best.change
        if better or best.change == np.inf:
            best = SettledSpline(u, order, first, corners, change)
        if change < 1e-7 * u[-1] or not better:
            break
    return best


def _slope(spline: BSpline, x: Array) -> Array:
    """First derivative; beyond the ends, its value at the ends."""
    return spline(np.clip(x, spline.t[spline.k], spline.t[-spline.k - 1]), 1)


def _weights(miss: Array, w: Array | None, order: Index, robust: bool) -> Array | None:
    given = None if w is None else w[order]
    if not robust:
        return given
    found = robust_weights(miss)
    return found if given is None else given * found
