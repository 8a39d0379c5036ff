"""Rows of a rig on one grid. Up and down strokes, which their order distinguishes, are averaged; their gap is the
hysteresis."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, counted

Vector = NDArray[np.float64]
LEAST = 0.5  # of the range: shorter strokes between two reversals are jitter
FEWEST = 4  # least number of positions of a curve
NEAR = 1e-6  # m: positions of the rack with a smaller difference are the same
CLEAR = 0.1  # of the distance between two held positions of the rack: upper limit of the noise of a position
COVERED = 0.8  # of the range, which the strokes in each direction must cover


def turns_of(travel: Vector) -> NDArray[np.int64]:
    """Rows (m,) at which the travel reverses."""
    way = np.sign(np.diff(travel))
    for i in range(1, way.size):  # a pause belongs to the stroke before it
        way[i] = way[i] or way[i - 1]
    return np.flatnonzero(way[1:] * way[:-1] < 0) + 1


def averaged(rows: Vector, at: int) -> tuple[Vector, Vector, int]:
    """Rows over increasing travel, the largest gap (k,) of up and down strokes, and the number of strokes.

    They are computed from the rows (n, k) of one sweep, in measured order, whose column `at` is the travel. The gap
    of a single stroke is 0. Raises `ModelError` if the travel reverses without strokes over the whole range.
    """
    travel = rows[:, at]
    ends = turns_of(travel)
    if not ends.size:
        order = np.argsort(travel, kind="stable")
        return _distinct(rows[order], at), np.zeros(rows.shape[1]), 1
    parts = [rows[a : b + 1] for a, b in zip([0, *ends], [*ends, len(rows) - 1], strict=True)]
    span = float(np.ptp(travel))
    short = [i for i, part in enumerate(parts[1:-1], 1) if np.ptp(part[:, at]) < LEAST * span]
    ways = [[p for p in parts if (p[-1, at] - p[0, at]) * sign > 0] for sign in (1.0, -1.0)]
    covered = [_covered(way, at) for way in ways]
    if short or min(covered) < COVERED * span:
        row = int(ends[short[0] - 1] if short else ends[0])
        error = ModelError(
            f"travel reverses its direction at {1e3 * travel[row]:.4g} mm, inside its range, but every up and down "
            "stroke must cover the whole range; sort the rows, or smooth the travel"
        )
        error.row = row  # type: ignore[attr-defined]
        raise error
    longest = max(parts, key=lambda part: np.ptp(part[:, at]))
    up, down = (_mean(way, longest, at) for way in ways)
    known = np.isfinite(up[:, at]) & np.isfinite(down[:, at])
    middle = 0.5 * (up + down)[known]
    gap = np.nan_to_num(np.abs(up - down)[known]).max(axis=0, initial=0.0)
    gap[at] = 0.0
    order = np.argsort(middle[:, at])
    return _distinct(middle[order], at), gap, len(parts)


def _distinct(rows: Vector, at: int) -> Vector:
    """Rows without pauses of the rig: the mean of consecutive rows at one travel replaces them."""
    starts = np.flatnonzero(np.r_[True, np.diff(rows[:, at]) > 0])
    return np.array([part.mean(axis=0) for part in np.split(rows, starts[1:])])


def _covered(parts: list[Vector], at: int) -> float:
    if not parts:
        return 0.0
    return float(max(p[:, at].max() for p in parts) - min(p[:, at].min() for p in parts))


def _mean(parts: list[Vector], grid: Vector, at: int) -> Vector:
    """Mean of strokes in one direction at the travels of `grid` that at least one stroke covers."""
    found = []
    for part in parts:
        part = _distinct(part[np.argsort(part[:, at], kind="stable")], at)
        x, wanted = part[:, at], grid[:, at]
        values = np.column_stack([_line(x, column, wanted) for column in part.T])
        values[(wanted < x[0] - 1e-9) | (wanted > x[-1] + 1e-9)] = np.nan
        values[:, at] = np.where(np.isnan(values[:, at]), np.nan, wanted)
        found.append(values)
    count = np.sum([np.isfinite(v) for v in found], axis=0)
    total = np.sum([np.nan_to_num(v) for v in found], axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _line(x: Vector, y: Vector, at: Vector) -> Vector:
    """Interpolation between rows: a cubic without overshoot (Akima) or, with fewer than five rows, straight lines."""
    from scipy.interpolate import Akima1DInterpolator

    inside = np.clip(at, x[0], x[-1])
    if x.size < 5 or not np.isfinite(y).all():
        return np.interp(inside, x, y)
    return np.asarray(Akima1DInterpolator(x, y)(inside), float)


def held_racks(column: Vector) -> Vector:
    """The positions (n,) m of a rack without the noise at positions that the rig held.

    The rows of a held position get their mean, rounded to the digits above the noise. This requires that the noise is
    evident: that there are a few positions far apart, each with as many rows as a curve needs.
    """
    order = np.argsort(column, kind="stable")
    steps = np.diff(column[order])
    cuts = np.flatnonzero(steps > CLEAR * steps.max(initial=0.0)) + 1
    groups = np.split(order, cuts)
    widest = max(float(np.ptp(column[group])) for group in groups)
    apart = float(steps[cuts - 1].min()) if cuts.size else 0.0
    if min(len(group) for group in groups) < FEWEST or widest > CLEAR * apart:
        return column
    found = column.copy()
    for group in groups:
        if (noise := float(np.ptp(column[group]))) > NEAR:
            found[group] = round(column[group].mean(), -floor(log10(noise)))
    return found


def strokes_of(numbers: Vector, names: Sequence[str], strict: bool) -> tuple[Vector, Vector]:
    """Rows (rows, k) with the means of up and down strokes at each position of the rack, and the largest gaps (k,).

    Unless `strict`, rows whose travel does not form strokes are unchanged.
    """
    at = list(names).index("travel")
    groups = [np.arange(len(numbers))]
    if "rack" in names:
        where = list(names).index("rack")
        column = held_racks(numbers[:, where])
        numbers = np.column_stack([numbers[:, :where], column, numbers[:, where + 1 :]])
        levels = np.unique(np.round(column / NEAR))
        groups = [np.flatnonzero(np.round(column / NEAR) == level) for level in levels]
    rows, gaps = [], np.zeros(numbers.shape[1])
    for group in groups:
        try:
            mean, gap, strokes = averaged(numbers[group], at)
        except ModelError as error:
            if strict:
                error.row = int(group[error.row])  # type: ignore[attr-defined]
                raise
            rows.append(numbers[group])
            continue
        # repeated rows of a file without strokes are reported as such
        rows.append(numbers[group] if not strict and strokes == 1 else mean)
        gaps = np.maximum(gaps, gap)
    return np.vstack(rows), gaps


def on_one_grid(numbers: Vector, names: Sequence[str]) -> tuple[Vector, Vector, Vector]:
    """Travel (n,), rack (m,) and columns (n, m, k) from rows (rows, k) in any order.

    Without a column `rack`, there is one curve. Splines interpolate several curves to the travels of the shortest
    one.
    """
    from scipy.interpolate import CubicSpline

    at = list(names).index("travel")
    if "rack" not in names:
        curves, racks = [numbers], np.zeros(1)
    else:
        column = numbers[:, list(names).index("rack")]
        racks = np.sort(column)[np.r_[True, np.diff(np.sort(column)) > NEAR]]
        curves = [numbers[np.abs(column - rack) <= NEAR] for rack in racks]
    curves = [curve[np.argsort(curve[:, at])] for curve in curves]
    for rack, curve in zip(racks, curves, strict=True):
        where = f" at rack {1e3 * rack:.4g} mm" if len(curves) > 1 else ""
        if len(curve) < FEWEST:
            raise ModelError(
                f"contains only {counted(len(curve), 'positions')}{where}; a curve needs at least {FEWEST}; "
                "measure more, or remove the rows of this curve"
            )
        if np.any(np.diff(curve[:, at]) <= 0):
            raise ModelError(f"the same travel occurs in several rows{where}; keep one row for each travel")
    if len(curves) == 2:
        raise ModelError(
            "contains curves at two rack positions, but a steered corner needs at least three rack positions, and "
            "an unsteered corner only one; measure at more positions, or remove one curve"
        )
    travel = min((curve[:, at] for curve in curves), key=np.ptp)
    low, high = max(c[0, at] for c in curves), min(c[-1, at] for c in curves)
    travel = travel[(travel >= low) & (travel <= high)]
    if travel.size < FEWEST:
        raise ModelError(
            "the curves at different rack positions overlap in too small a range of travel; measure all of them "
            "over the same range"
        )
    if len(curves) == 1 or all(np.array_equal(curve[:, at], travel) for curve in curves):
        return travel, racks, np.stack(curves, axis=1)
    grid = np.stack([CubicSpline(curve[:, at], curve)(travel) for curve in curves], axis=1)
    grid[:, :, at] = travel[:, None]
    return travel, racks, grid
