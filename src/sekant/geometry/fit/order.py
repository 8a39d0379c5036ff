"""The order of the rows along the path, found by projection on a first estimate of it.

A time column, if there is one, determines the order; otherwise, the order of the file is the first assumption. Single
rows far from their place in the file are moved to the right place, or are outliers if there is none.
Unordered rows, and several strokes over one travel, are ordered by a minimum spanning tree of the points. The
remaining jitter along the path is removed: each point moves to the nearest point of the smoothed polygon.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.geometry.fit.chains import FEW, shortest_chain, smooth_way, straightest, strokes_of
from sekant.geometry.fit.data import PoseData
from sekant.geometry.fit.knots import halved_knots
from sekant.geometry.fit.noise import BACK, smoothed, step_cosines
from sekant.geometry.fit.outliers import strays
from sekant.geometry.fit.polyline import (
    Array,
    Index,
    chord_length,
    from_segment,
    project,
    size_of,
)

_TIME_UNITS = ("s", "ms", "us", "min", "h")
_TIME_NAMES = ("t", "time", "timestamp")
_SINGLE = 0.1  # largest share of rows that count as single rows out of order; more of them count as jitter
_NOISY = 0.1  # noise of a column, relative to its range, up to which smoothing along the rows determines their order
_SIMPLER = 1.1  # factor by which the residual noise of a simpler curve may be larger
_ENOUGH = 20  # rows needed to estimate the noise of a column
_NEAR = 3  # largest number of places by which jitter moves a row; a row farther from its place was swapped


@dataclass(frozen=True)
class Arranged:
    """Data in their order along the path."""

    poses: PoseData
    u: Array  # (n,) first parameter [m], increasing
    jitter: (
        bool  # the points go back and forth along the path, so that their polygon is not a measure of length
    )
    index: Index  # (n,) rows of the original data
    outliers: Index  # rows of the original data that were left out
    warnings: tuple[AnalysisWarning, ...] = ()
    shuffled: bool = False  # the order comes from the points alone
    timed: bool = False  # a time column determines it


def arrange(poses: PoseData, item: str) -> Arranged:
    """Find the order, the first parameter, and warnings. `item`: label of the path in warnings."""
    count = len(poses)
    notes: list[str] = []
    warnings: list[AnalysisWarning] = []
    index = np.arange(count)
    timed = _time_column(poses)
    if timed is not None:
        index = np.argsort(poses.columns[timed], kind="stable")
        moved = int(np.sum(index != np.arange(count)))
        if moved:
            notes.append(f"{moved} of {count} rows were sorted by the column '{timed}'")
    index = index[_distinct(poses, index, notes)]
    r = poses.position[index]
    way = smooth_way(r) if timed is None else None
    arranged = None if way is None else _put_in_order(poses, index, way, item, notes, warnings)
    if arranged is not None:
        return arranged
    away = strays(r)
    keep = np.setdiff1d(np.arange(len(r)), away)
    chain = shortest_chain(r[keep]) if len(keep) > 3 else None
    if chain is not None and chain.shuffled and timed is None:
        chain = shortest_chain(r) if away.size else chain
        if chain.line is None:
            raise poses.error(
                "the rows are not in order along the path, and the points alone do not determine their "
                "order (the path crosses or approaches itself); sort the rows, or add a time column"
            )
        warnings.append(_shuffled(item, r, chain.length))
        return replace(_along(poses, item, index, chain.place(r), notes, warnings), shuffled=True)
    passes = strokes_of(r[keep], chain) if chain is not None else None
    if passes is not None and chain is not None and chain.line is not None:
        notes.append(
            f"{passes.count} strokes over the same travel were merged; the rows are {passes.distance:.3g} m "
            "(rms) away from a line through all of them"
        )
        line, place, off = chain.line, passes.place, passes.distance
    else:
        line, place, off = _single_pass(r[keep], notes)
    lost = np.zeros(0, np.int64)
    if away.size:
        spacing = float(np.median(np.linalg.norm(np.diff(r[keep], axis=0), axis=1)))
        there, gap = project(r[away], line)
        home = gap <= max(spacing, 6.0 * off)
        home &= (there > -4.0 * spacing) & (there < place.max() + 4.0 * spacing) & (timed is None)
        lost = away[~home]
        if home.any():
            warnings.append(_swapped(poses, item, index[away[home]]))
        keep, place = np.concatenate([keep, away[home]]), np.concatenate([place, there[home]])
    return replace(
        _along(poses, item, index[keep], place, notes, warnings, index[lost]), timed=timed is not None
    )


def without_repeats(poses: PoseData, name: str) -> PoseData:
    """The rows without those that repeat another one at any place: the same value of a column and the same pose."""
    q = poses.quaternion
    turned = () if q is None else (np.where(q[:, :1] < 0.0, -q, q),)
    rows = np.column_stack([poses.columns[name], poses.position, *turned])
    first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    lost = np.setdiff1d(np.arange(len(rows)), first)
    if not lost.size:
        return poses
    return replace(poses.take(first), notes=(*poses.notes, _left_out(poses, lost)))


def along_column(poses: PoseData, name: str) -> PoseData:
    """The rows in the order of a column; strokes over one travel are merged: rows with equal values are averaged.

    This requires that the poses are a function of the column: sorted by it, points may differ from the line
    between their neighbors by at most 2 % of the size (rms). Otherwise the rows are returned unchanged.
    """
    u = poses.columns[name]
    step = np.diff(u)
    if not np.all(np.isfinite(u)) or np.all(step >= 0.0) or np.all(step <= 0.0):
        return poses
    found = poses.take(np.argsort(u, kind="stable"))
    r = found.position
    gap = from_segment(r[1:-1], r[:-2], r[2:])
    if np.sqrt(np.mean(gap**2)) > 0.02 * size_of(found.position):
        return poses
    merged = found.averaged(np.unique(found.columns[name], return_inverse=True)[1])
    strokes = 1 + int(np.sum(np.diff(np.sign(step[step != 0.0])) != 0.0))
    text = (
        f"the rows were sorted by '{name}'"
        if strokes > len(u) // 4
        else f"{strokes} strokes over '{name}' were merged"
    )
    return replace(merged, notes=(*merged.notes, text))


def without_noise(poses: PoseData, name: str) -> PoseData:
    """The rows with a noisy column smoothed along them, if that makes it monotone: rows in the order of the motion,
    whose angle or travel was measured with an error larger than its steps. Otherwise (several strokes,
    unordered rows) they are returned unchanged."""
    u = poses.columns[name]
    step = np.diff(u)
    if not np.all(np.isfinite(u)) or np.all(step >= 0.0) or np.all(step <= 0.0) or len(u) < _ENOUGH:
        return poses
    row = np.linspace(-1.0, 1.0, len(u))
    found = halved_knots(row, u[:, None], np.zeros(0))
    tried = [(found.spline(row)[:, 0], len(found.spline.c))]
    tried += [(np.polynomial.Polynomial.fit(row, u, degree)(row), degree + 1) for degree in (3, 1)]
    noises = [float(np.sqrt(np.sum((u - smooth) ** 2) / (len(u) - count))) for smooth, count in tried]
    most = min(_SIMPLER * noises[0], _NOISY * float(np.ptp(tried[0][0])))
    for (smooth, _), noise in zip(tried, noises, strict=True):
        if noise <= most and np.all(np.diff(smooth) * (smooth[-1] - smooth[0]) > 0.0):
            break
    else:
        return poses
    text = (
        f"'{name}' has noise of {noise:.3g} {poses.units.get(name, '')}".rstrip()
        + " (standard deviation), which exceeds its steps; the column was smoothed along the rows"
    )
    return replace(poses, columns={**poses.columns, name: smooth}, notes=(*poses.notes, text))


def _single_pass(r: Array, notes: list[str]) -> tuple[Array, Array, float]:
    """Line, places (n,) [m] of the points on it and their median distance, for points in roughly the right order.

    Points in their order need less smoothing than before, and the line through them shows the order better:
    the two steps alternate until the order no longer changes.
    """
    order = np.arange(len(r))
    if not _goes_back(r):  # there may be sharp bends, which an estimate would cut
        return r, chord_length(r), 0.0
    for _ in range(10):
        line, window = smoothed(r[order])
        thin = max(1, window // 4)
        line = line if thin == 1 else np.concatenate([line[:-1:thin], line[-1:]])
        near = np.empty(len(r), np.int64)
        near[order] = np.arange(len(r)) // thin
        place, gaps = project(r, line, near, 3 * window // thin + 2)
        before, order = order, np.argsort(place, kind="stable")
        if np.array_equal(before, order):
            break
    moved = int(np.sum(np.diff(place) < 0.0))
    if moved:
        notes.append(_to_and_fro(moved))
    return line, place, float(np.median(gaps))


def _along(
    poses: PoseData,
    item: str,
    index: Index,
    place: Array,
    notes: list[str],
    warnings: list[AnalysisWarning],
    lost: Index | None = None,
) -> Arranged:
    """The rows `index` sorted by their place on the first estimate; if no step goes back, their polygon
    determines the parameter. Single rows that must be moved are reported, if there are few rows."""
    order = np.argsort(place, kind="stable")
    r = poses.position[index]
    if len(order) <= FEW and _goes_back(
        r[order]
    ):  # for few points the straightest order is the best estimate
        order = straightest(r, [order])
        place = np.empty(len(order))
        place[order] = chord_length(r[order])
    moved = out_of_order(order)
    if not warnings and len(order) <= FEW and 0 < len(moved) <= max(2, _SINGLE * len(order)):
        warnings.append(_swapped(poses, item, index[moved]))
    found = poses.take(index[order])
    keep = _distinct(found, np.arange(len(found)), notes)
    if len(keep) < len(order):  # rows that became neighbors by the order along the path
        found, order = found.take(keep), order[keep]
    found = replace(found, notes=(*found.notes, *notes))
    changed = bool(np.any(np.diff(order) != 1))
    cosine = step_cosines(found.position)
    jitter = bool(np.mean(cosine) <= 0.5 or (changed and np.mean(cosine < BACK) > 0.02))
    u = place[order] - place[order[0]] if jitter else chord_length(found.position)
    if not np.all(np.diff(u) > 1e-12 * u[-1]):
        u = u + 1e-9 * max(float(u[-1]), 1e-300) / len(u) * np.arange(len(u))
    lost = np.zeros(0, np.int64) if lost is None else lost
    return Arranged(found, u, jitter, index[order], lost, tuple(warnings))


def _goes_back(r: Array) -> bool:
    """Whether some step is opposite to both the previous and the next one; at a sharp bend it is opposite to
    only one."""
    back = step_cosines(r) < BACK
    return bool(np.any(back[1:] & back[:-1]))


def _time_column(poses: PoseData) -> str | None:
    """A column of times, by its name or unit, whose values are all different."""
    for name, values in poses.columns.items():
        timed = name.lower() in _TIME_NAMES or poses.units.get(name) in _TIME_UNITS
        if timed and np.all(np.isfinite(values)) and len(np.unique(values)) == len(values):
            return name
    return None


def _distinct(poses: PoseData, index: Index, notes: list[str]) -> Index:
    """Positions in `index` without rows that repeat the pose of the previous row; DataError if only the
    position is repeated, because then the body rotates in place and length is not a parameter."""
    r = poses.position[index]
    least = 1e-13 * max(size_of(r), float(np.abs(r).max()))  # rounding errors
    same = np.flatnonzero(np.linalg.norm(np.diff(r, axis=0), axis=1) <= least)
    if not same.size:
        return np.arange(len(index))
    if poses.quaternion is not None:
        q = poses.quaternion[index]
        turned = np.flatnonzero(np.abs(np.sum(q[same + 1] * q[same], axis=1)) < 1.0 - 1e-9)
        if turned.size:
            i = int(same[turned[0]])
            raise poses.error(
                f"the position repeats that of {poses.row(int(index[i]))}, but the orientation differs "
                f"({turned.size} such row{'s' if turned.size > 1 else ''}): while the body turns in place, "
                "the arc length does not change; fit over a column instead",
                int(index[i + 1]),
            )
    notes.append(_left_out(poses, index[same + 1]))
    return np.delete(np.arange(len(index)), same + 1)


def _left_out(poses: PoseData, rows: Index) -> str:
    word = "rows were" if rows.size > 1 else "row was"
    return f"{rows.size} repeated {word} left out, the first is {poses.row(int(rows[0]))}"


def _put_in_order(
    poses: PoseData, index: Index, way: Index, item: str, notes: list[str], warnings: list[AnalysisWarning]
) -> Arranged | None:
    """The rows in an order `way` (n,) without sharp turns; rows from distant places are reported. None if
    these are many and the order is still hardly shorter than that of the file: then the points are too far
    apart to decide."""
    count, r = len(way), poses.position[index]
    place = np.empty(count)
    place[way] = chord_length(r[way])
    out = out_of_order(way)
    rank = np.empty(count, np.int64)
    rank[way] = np.arange(count)
    far = np.sort(out[np.abs(rank[out] - out) > _NEAR])
    if len(far) > 0.2 * count:
        if chord_length(r)[-1] < 1.3 * place.max():
            return None
        warnings.append(_shuffled(item, r, float(place.max())))
        return replace(_along(poses, item, index, place, notes, warnings), shuffled=True)
    if far.size:
        warnings.append(_swapped(poses, item, index[far]))
    if len(out) > len(far):
        notes.append(_to_and_fro(int(np.sum(np.diff(rank) < 0))))
    return _along(poses, item, index, place, notes, warnings)


def out_of_order(way: Index) -> Index:
    """The entries of `way` (n,), all different, that are not in its longest increasing subsequence."""
    ends: list[int] = []  # positions of the smallest last entries of increasing runs, by length
    values: list[int] = []  # these entries
    before: list[int] = []
    for k, value in enumerate(way.tolist()):
        length = bisect_left(values, value)
        before.append(ends[length - 1] if length else -1)
        ends[length : length + 1], values[length : length + 1] = [k], [value]
    kept, k = [], ends[-1]
    while k >= 0:
        kept.append(k)
        k = before[k]
    return np.delete(way, kept)


def _to_and_fro(steps: int) -> str:
    back = f"{steps} step{'s' if steps != 1 else ''} back"
    return (
        f"rows go back and forth along the path ({back}); Sekant ordered them by their projection on the path"
    )


def _shuffled(item: str, r: Array, length: float) -> AnalysisWarning:
    return AnalysisWarning(
        "rows_reordered",
        item,
        f"{len(r)} rows",
        "neighboring rows are not neighbors on the path: the polygon through the rows is "
        f"{chord_length(r)[-1]:.4g} m long in the order of the file, but {length:.4g} m in the order along "
        "the path; Sekant ordered the rows by their projection on a line through the points",
        "check the picture of the fit, or sort the rows",
    )


def _swapped(poses: PoseData, item: str, rows: NDArray[np.int64]) -> AnalysisWarning:
    cause = "this row is" if len(rows) == 1 else "these rows are"
    return AnalysisWarning(
        "rows_reordered",
        item,
        poses.row_list(rows),
        f"{cause} not in order along the path; Sekant sorted the rows along the path",
        "sort the rows, or add a time column if the order of the data is correct",
    )
