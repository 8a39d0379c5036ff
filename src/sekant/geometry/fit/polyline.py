"""Polygons through points: length, nearest points, turning. Every fit is compared with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
_CANDIDATES = 16  # nearby segments among which the nearest one is searched first


def chord_length(r: Array) -> Array:
    """Cumulative distance (n,) of the points from the first along their polygon (HALL 3.74)."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(r, axis=0), axis=1))])


def size_of(r: Array) -> float:
    """Diagonal of the box around the points (n, 3)."""
    return float(np.linalg.norm(np.ptp(r, axis=0)))


def project(r: Array, line: Array, near: Index | None = None, reach: int = 0) -> tuple[Array, Array]:
    """Nearest points of the polygon `line` (k, 3) to the points r (n, 3): their length along it and distance.

    With `near` (n,) only the segments near[i] - reach ... near[i] + reach are used, so that the passes of a
    path that comes close to itself stay separate. Beyond the ends of the whole line its end segments are
    extended.
    """
    s = chord_length(line)
    d = np.diff(line, axis=0)
    length = np.linalg.norm(d, axis=1)
    count = len(d)

    def nearest(part: Index | slice, j: Index) -> None:
        """The nearest of the segments j (k, width) to each of the points `part`."""
        offset = r[part][:, None] - line[j]
        share = np.sum(offset * d[j], axis=2) / np.maximum(length[j] ** 2, 1e-300)
        low, high = np.where(j == 0, -np.inf, 0.0), np.where(j == count - 1, np.inf, 1.0)
        share = np.clip(share, low, high)
        gap = np.linalg.norm(offset - share[..., None] * d[j], axis=2)
        best = np.argmin(gap, axis=1)
        i = np.arange(len(best))
        place[part] = s[j[i, best]] + share[i, best] * length[j[i, best]]
        distance[part] = gap[i, best]

    place, distance = np.empty(len(r)), np.empty(len(r))
    left = np.arange(len(r))
    if near is None and count > 4 * _CANDIDATES:
        far, j = _candidates(r, line)
        nearest(slice(None), j)
        left = np.flatnonzero(distance > far - 0.5 * length.max())  # another segment may be nearer
    width = count if near is None else min(count, 2 * reach + 1)
    block = max(1, 200_000 // width)
    for start in range(0, len(left), block):
        part = left[start : start + block]
        first = np.zeros(len(part), int) if near is None else np.clip(near[part] - reach, 0, count - width)
        nearest(part, first[:, None] + np.arange(width))
    return place, distance


def _candidates(r: Array, line: Array) -> tuple[Array, Index]:
    """Segments (n, k) of the line whose middles are nearest to the points r (n, 3), and its ends; the distance (n,)
    of the farthest of these middles: those of all other segments are farther."""
    from scipy.spatial import KDTree

    middle = 0.5 * (line[1:] + line[:-1])
    found: Any = KDTree(middle).query(r, _CANDIDATES)
    ends = np.broadcast_to([0, len(middle) - 1], (len(r), 2))
    return found[0][:, -1], np.sort(np.concatenate([found[1], ends], axis=1), axis=1)


def from_segment(p: Array, a: Array, b: Array) -> Array:
    """Distance (n,) of each point p from the straight segment from a to b, (n, 3) each."""
    d = b - a
    share = np.clip(np.sum((p - a) * d, axis=1) / np.maximum(np.sum(d * d, axis=1), 1e-300), 0.0, 1.0)
    return np.linalg.norm(p - a - share[:, None] * d, axis=1)


def turning(r: Array) -> float:
    """Sum of the angles [rad] by which the polygon turns at its points."""
    d = np.diff(r, axis=0)
    d = d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-300)
    # from the chord between unit vectors: accurate for small angles, where the arc cosine is not
    return float(np.sum(2.0 * np.arcsin(np.clip(0.5 * np.linalg.norm(np.diff(d, axis=0), axis=1), 0.0, 1.0))))
