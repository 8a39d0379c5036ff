"""Points that do not belong to the path: far from their place in the order, or from the prediction of their
neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.geometry.fit.data import PoseData
from sekant.geometry.fit.noise import predictions
from sekant.geometry.fit.polyline import Array, Index, size_of

_MOST = 0.1  # share of the rows that may be outliers
_REACH = 3  # neighbors on each side that a point is compared with


def strays(r: Array) -> Index:
    """Points (n, 3) far from the median of their six neighbors in the given order: by more than three local
    steps and six times the usual distance. None for fewer than 13 points, which are too few to decide which
    one is wrong."""
    n = len(r)
    if n < 13:
        return np.zeros(0, np.int64)
    step = np.linalg.norm(np.diff(r, axis=0), axis=1)
    offsets = np.concatenate([np.arange(-_REACH, 0), np.arange(1, _REACH + 1)])
    i = np.arange(_REACH, n - _REACH)
    away = np.zeros(n)
    away[i] = np.linalg.norm(r[i] - np.median(r[i[:, None] + offsets], axis=1), axis=1)
    for k in range(
        _REACH
    ):  # at the ends: not close to any of the next ones; a third is required because the first step may be long
        away[k] = np.linalg.norm(r[k] - np.delete(r[: 2 * _REACH], k, axis=0), axis=1).min() / 3.0
        last = np.linalg.norm(r[n - 1 - k] - np.delete(r[-2 * _REACH :], -1 - k, axis=0), axis=1)
        away[n - 1 - k] = last.min() / 3.0
    around = np.clip(np.arange(n) - 6, 0, n - 13)[:, None] + np.arange(12)
    return np.flatnonzero(away > 3.0 * np.median(step[around], axis=1) + 6.0 * np.median(away))


def unpredicted(u: Array, r: Array, sigma: float) -> Index:
    """Isolated points of otherwise smooth data, over u (n,).

    A point counts as isolated if its neighbors predict it with ten times the error with which they predict one
    another without it. At a corner or a sharp bend, they also predict one another badly.
    `sigma`: noise of a coordinate [m].
    """
    out: list[int] = []
    keep = np.arange(len(u))
    least = max(20.0 * sigma, 1e-7 * size_of(r))
    while len(keep) >= 4 * _REACH:
        gap = np.pad(_gaps(u[keep], r[keep]), _REACH)
        found = None
        for i in np.argsort(-gap)[:8]:
            if gap[i] <= least:
                break
            low, high = max(0, i - 3 * _REACH), min(len(keep), i + 3 * _REACH + 1)
            rest = np.delete(keep[low:high], i - low)
            if len(rest) < 2 * _REACH + 2:
                continue
            others = _gaps(u[rest], r[rest])
            if gap[i] > 10.0 * float(others.max(initial=0.0)):
                found = int(i)
                break
        if found is None:
            break
        out.append(int(keep[found]))
        keep = np.delete(keep, found)
        if len(out) > _MOST * len(u):
            break
    return np.array(sorted(out), dtype=np.int64)


def _gaps(u: Array, r: Array) -> Array:
    """Error [m] of the prediction of each point by its neighbors, divided by its value for unit noise."""
    return np.linalg.norm(predictions(u, r, _REACH), axis=1)


def unlikely(miss: Array) -> NDArray[np.bool_]:
    """Residual vectors (n, 3) that stand out from those of their neighbors: by more than six standard deviations,
    which come from the median. Where a spline misses a detail, the residuals of neighbors are similar, or
    several neighbors stand out: so at most two of any seven rows are outliers."""
    size = np.linalg.norm(miss, axis=1)
    usual = 6.0 * 1.4826 * float(np.median(size))
    out = (_apart(miss) > usual) & (size > usual)
    crowd = np.convolve(out, np.ones(2 * _REACH + 1), "same")
    return out & (crowd <= 2)


def robust_weights(miss: Array) -> Array:
    """Weights (n,) for least squares: 1 up to three standard deviations from the residuals of the neighbors, then
    falling as Huber's."""
    usual = 3.0 * 1.4826 * float(np.median(np.linalg.norm(miss, axis=1)))
    return np.sqrt(usual / np.maximum(_apart(miss), usual)) if usual > 0.0 else np.ones(len(miss))


def _apart(miss: Array) -> Array:
    """Distance (n,) of each residual from the median of its six neighbors; zero if there are too few points."""
    n = len(miss)
    if n < 4 * _REACH:
        return np.zeros(n)
    offsets = np.concatenate([np.arange(-_REACH, 0), np.arange(1, _REACH + 1)])
    around = np.clip(np.arange(n), _REACH, n - 1 - _REACH)[:, None] + offsets
    return np.linalg.norm(miss - np.median(miss[around], axis=1), axis=1)


def outlier_warning(poses: PoseData, item: str, rows: Index) -> AnalysisWarning:
    """A warning about the rows that were left out; DataError if they are too many to be exceptions."""
    if len(rows) > max(1.0, _MOST * len(poses)):
        raise poses.error(
            f"{len(rows)} of {len(poses)} points are far from any smooth path ({poses.row_list(rows)}); "
            "check the units, the columns and the order of the rows",
            int(rows[0]),
        )
    one = len(rows) == 1
    cause = f"outlier{'' if one else 's'}, far from the path that the other rows follow; left out of the fit"
    return AnalysisWarning(
        "outliers",
        item,
        poses.row_list(rows),
        cause,
        f"correct or remove {'this row' if one else 'these rows'}",
    )
