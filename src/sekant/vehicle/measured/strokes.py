"""Up and down strokes of a rig: told apart by the order of the rows, and averaged; their gap is the hysteresis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError

Vector = NDArray[np.float64]
LEAST = 0.5  # of the range: a stroke between two turns that goes less far is a jitter
COVERED = 0.8  # of the range, by the strokes of either direction


@dataclass(frozen=True, eq=False)
class Averaged:
    """Rows (n, k) over rising travel, and the largest gap (k,) of up and down strokes (0: there was one)."""

    rows: Vector
    gap: Vector
    strokes: int


def turns_of(travel: Vector) -> NDArray[np.int64]:
    """Rows (m,) at which the travel turns back."""
    way = np.sign(np.diff(travel))
    for i in range(1, way.size):  # a pause belongs to the stroke before it
        way[i] = way[i] or way[i - 1]
    return np.flatnonzero(way[1:] * way[:-1] < 0) + 1


def averaged(rows: Vector, at: int) -> Averaged:
    """The rows (n, k) of one sweep, in the order in which they were taken; column `at` is the travel.

    Raises `ModelError` where the travel goes back and forth without strokes of the whole range.
    """
    travel = rows[:, at]
    ends = turns_of(travel)
    if not ends.size:
        order = np.argsort(travel, kind="stable")
        return Averaged(_distinct(rows[order], at), np.zeros(rows.shape[1]), 1)
    parts = [rows[a : b + 1] for a, b in zip([0, *ends], [*ends, len(rows) - 1], strict=True)]
    span = float(np.ptp(travel))
    short = [i for i, part in enumerate(parts[1:-1], 1) if np.ptp(part[:, at]) < LEAST * span]
    ways = [[p for p in parts if (p[-1, at] - p[0, at]) * sign > 0] for sign in (1.0, -1.0)]
    covered = [_covered(way, at) for way in ways]
    if short or min(covered) < COVERED * span:
        row = int(ends[short[0] - 1] if short else ends[0])
        error = ModelError(
            f"travel turns back at {1e3 * travel[row]:.4g} mm, and not at an end of its range; rows of one stroke go "
            "one way, and an up and a down stroke each go over the whole range: put the rows in order, or smooth the "
            "travel"
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
    return Averaged(_distinct(middle[order], at), gap, len(parts))


def _distinct(rows: Vector, at: int) -> Vector:
    """Without rows at which the rig only paused: equal travel, one after the other, becomes its mean."""
    starts = np.flatnonzero(np.r_[True, np.diff(rows[:, at]) > 0])
    return np.array([part.mean(axis=0) for part in np.split(rows, starts[1:])])


def _covered(parts: list[Vector], at: int) -> float:
    if not parts:
        return 0.0
    return float(max(p[:, at].max() for p in parts) - min(p[:, at].min() for p in parts))


def _mean(parts: list[Vector], grid: Vector, at: int) -> Vector:
    """Of strokes of one direction at the travels of `grid`, where at least one of them was."""
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
    """Between rows a cubic that keeps to them (Akima), a straight line through fewer than five."""
    from scipy.interpolate import Akima1DInterpolator

    inside = np.clip(at, x[0], x[-1])
    if x.size < 5 or not np.isfinite(y).all():
        return np.interp(inside, x, y)
    return np.asarray(Akima1DInterpolator(x, y)(inside), float)
