"""The points of one or two drives, and the paths by which they are reached.

Two drives span a grid. Over a grid the solutions may form several sheets, joined at folds (dead points). If a point
could be reached from every neighbor, the sweep could go around the end of a fold and return on another sheet.
Therefore each point is reached by one path with one corner: the second drive moves from the start to its value, then
the first drive to its own. A row of the grid (the first drive at one value of the second) is then the same as a
sweep of the first drive alone. Only rows that the second drive cannot enter at the start are reached in the other
order.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError
from sekant.solvers.sweep import Sweep, SweepPool, SweepProblem, sweep

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]


def grid_points(axes: list[Vector], held: Vector) -> Vector:
    """All points (N, m) of the grid; the last drive varies fastest, and values of held drives are last."""
    if len(axes) == 1 and not held.size:
        return axes[0][:, None].copy()
    points = np.column_stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")])
    return np.hstack([points, np.broadcast_to(held, (points.shape[0], held.size))])


def path_points(names: tuple[str, ...], values: list[Vector], held: Vector) -> tuple[Vector, list[Vector]]:
    """The points (N, m) of a path, with values of held drives last, and its single axis, the index of the point."""
    counts = {len(column) for column in values}
    if len(counts) > 1:
        listed = ", ".join(f"{name}: {len(column)}" for name, column in zip(names, values, strict=True))
        raise SekantError(
            f"kinematics: with path=True, all drives need the same number of values (got {listed})"
        )
    points = np.column_stack(values)
    points = np.hstack([points, np.broadcast_to(held, (points.shape[0], held.size))])
    return points, [np.arange(points.shape[0], dtype=float)]


def walk(
    problem: SweepProblem,
    q0: Vector,
    d0: Vector,
    axes: list[Vector],
    points: Vector,
    tolerance: float,
    pool: SweepPool,
) -> Sweep:
    """Sweep over the `points` (N, m) that can be reached from q0 (nq,) at the drive values d0 (m,)."""
    shape = tuple(axis.size for axis in axes)
    edges = [_neighbors(shape, tuple(np.argsort(axis).tolist()), k) for k, axis in enumerate(axes)]
    if len(axes) == 1:
        return sweep(problem, q0, d0, points, edges[0], tolerance, pool)
    index = np.arange(points.shape[0]).reshape(shape)
    nearest = int(np.argmin(np.linalg.norm(points - d0, axis=1)))
    first, second = np.unravel_index(nearest, index.shape)
    rows = sweep(problem, q0, d0, points, _comb(edges, 1, index[first, :]), tolerance, pool)
    entered = rows.reached.reshape(index.shape)[first, :] > 0
    if entered.all() or not rows.reached.any():
        return rows
    columns = sweep(problem, q0, d0, points, _comb(edges, 0, index[:, second]), tolerance, pool)
    return _merged(rows, columns, np.isin(np.arange(points.shape[0]), index[:, ~entered]))


@lru_cache(maxsize=64)
def _neighbors(shape: tuple[int, ...], order: tuple[int, ...], k: int) -> Integers:
    """Indices (N, 2) of the points before and after each one in the `order` of the values of drive k, -1 for none.
    The array is read-only because it is shared."""
    index = np.arange(int(np.prod(shape))).reshape(shape)
    ranked = np.moveaxis(np.take(index, order, axis=k), k, 0)
    near = np.full((index.size, 2), -1, dtype=np.int64)
    near[ranked[1:].ravel(), 0] = ranked[:-1].ravel()
    near[ranked[:-1].ravel(), 1] = ranked[1:].ravel()
    near.flags.writeable = False
    return near


def _comb(edges: list[Integers], along: int, spine: Integers) -> Integers:
    """Neighbors (N, 4) in a comb: its spine goes along one drive through the points `spine`, its teeth go along the
    other drive."""
    back = np.full_like(edges[along], -1)
    back[spine] = edges[along][spine]
    return np.hstack([edges[1 - along], back])


def _merged(rows: Sweep, columns: Sweep, late: NDArray[np.bool_]) -> Sweep:
    """One sweep with the points `late` (N,) and the paths to them from `columns`, all others from `rows`."""

    def chosen(first: Vector, second: Vector) -> Vector:
        return np.where(late.reshape(-1, *[1] * (first.ndim - 1)), second, first)

    known = late | ((rows.reached > 0) & (np.abs(columns.q - rows.q).max(axis=1) < 1e-6))
    start, to = columns.failed.T
    met, met_late = ~late[rows.meetings[:, 1]], late[columns.meetings[:, 1]]
    return replace(
        rows,
        reached=np.where(late, columns.reached, rows.reached),
        q=chosen(rows.q, columns.q),
        w=chosen(rows.w, columns.w),
        ww=chosen(rows.ww, columns.ww),
        failed=np.vstack([rows.failed[~late[rows.failed[:, 1]]], columns.failed[late[to] & known[start]]]),
        meetings=np.vstack([rows.meetings[met], columns.meetings[met_late]]),
        meeting_at=np.vstack([rows.meeting_at[met], columns.meeting_at[met_late]]),
        iterations=rows.iterations + columns.iterations,
    )
