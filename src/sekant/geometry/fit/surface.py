"""Pose surfaces from measured poses: a polynomial of degree 5 x 5 (HALL 3.3.2) or tensor-product quintic splines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning, DataError, suggest
from sekant.geometry.fit.checks import unread_angles
from sekant.geometry.fit.data import PoseData, read_poses
from sekant.geometry.fit.report import EVERY, FitReport, root_mean_square
from sekant.geometry.fit.surface_checks import check_surface, scattered_noise
from sekant.geometry.fit.surface_models import PatchModel, fit_polynomial, fit_spline, interpolate_grid
from sekant.geometry.pose_kinematics import component_names, rotations
from sekant.geometry.rotations import (
    angle_between,
    continue_signs,
    euler_from_quaternion,
    quaternion_from_rotation,
)
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.tables.table import Table2

Array = NDArray[np.float64]
KINDS = ("auto", "polynomial", "spline")


@dataclass(frozen=True)
class _Points:
    """Components over two parameters; `shape` (n1, n2) if they form a grid with u1 varying slowest."""

    u: Array  # (n, 2)
    y: Array  # (n, m)
    rows: NDArray[np.int64]
    shape: tuple[int, int] | None


def fit_surface(
    data: Any,
    parameters: tuple[str, str] = ("u1", "u2"),
    *,
    kind: str = "auto",
    degree: tuple[int, int] = (5, 5),
    total: bool = True,
    orientation: str = "auto",
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    sequence: str | None = None,
    weights: Any = None,
    extrapolation: str | tuple[str, str] = "error",
    allow_gaps: bool = False,
    name: str = "",
) -> PoseSurface:
    """Pose surface over the two columns `parameters` of the data (see `data.read_poses`), with a report.

    `kind`: "polynomial", one polynomial of `degree`, with `total` only the terms of total degree up to the larger of
    the two (MATLAB's poly55, HALL's choice); "spline", quintic tensor-product splines, which interpolate a
    clean grid and are otherwise as smooth as the noise allows (see `smoothing`); "auto" is a spline.

    DataError if the points do not determine the surface: if it predicts left-out points worse than planes
    through their neighbors, or if it is uncertain in parts of the rectangle without points (unless `allow_gaps`).
    """
    if kind not in KINDS:
        raise DataError(f"unknown kind '{kind}' of surface; {suggest(kind, KINDS, 'kinds')}")
    poses = read_poses(data, columns=columns, units=units, sequence=sequence, weights=weights)
    points, tag = _points(poses, parameters, orientation)
    ends = (extrapolation, extrapolation) if isinstance(extrapolation, str) else extrapolation
    w = None if poses.weights is None else poses.weights[points.rows]
    model = _fit(points, kind, degree, total, w, ends)
    (first, second) = parameters
    names = (poses.units.get(first, ""), poses.units.get(second, ""))
    table = Table2(model.breaks1, model.breaks2, model.coefficients, ends, name)
    surface = PoseSurface(table, tag, parameters=parameters, units=names, name=name)
    item = f"surface '{name}'" if name else ""
    found = check_surface(
        poses,
        points.rows,
        points.u,
        points.y,
        model,
        tuple(component_names(tag)),
        forced=kind == "polynomial",
        allow_gaps=allow_gaps,
        item=item,
    )
    found = [*found, *unread_angles(poses, parameters, orientation, item)]
    report = _report(surface, poses, points, model, w, ends, item, found)
    return replace(surface, report=report)


def _points(poses: PoseData, parameters: tuple[str, str], wanted: str) -> tuple[_Points, str]:
    for parameter in parameters:
        if parameter not in poses.columns:
            raise poses.error(
                f"there is no column '{parameter}'; {suggest(parameter, list(poses.columns), 'columns found')}"
            )
    u = np.stack([poses.columns[p] for p in parameters], axis=1)
    bad = np.argwhere(~np.isfinite(u))
    if bad.size:
        row, column = bad[0]
        raise poses.error(f"{parameters[column]} is {u[row, column]}; remove the row", int(row))
    order = np.lexsort((u[:, 1], u[:, 0]))
    same = np.flatnonzero(np.all(np.diff(u[order], axis=0) == 0.0, axis=1))
    if same.size:
        i, j = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        raise poses.error(
            f"({parameters[0]}, {parameters[1]}) = ({u[j, 0]:.6g}, {u[j, 1]:.6g}) repeats the values of "
            f"{poses.row(i)}; average or remove the repeated rows",
            j,
        )
    if min(np.ptp(u, axis=0)) == 0.0:
        which = int(np.argmin(np.ptp(u, axis=0)))
        raise poses.error(
            f"{parameters[which]} is {u[0, which]:g} in all rows; a surface needs two varying parameters; "
            "fit a curve instead"
        )
    n1, n2 = (len(np.unique(u[:, k])) for k in (0, 1))
    shape = (n1, n2) if n1 * n2 == len(u) else None
    tag, turns = _orientation(poses, wanted, order, shape)
    y = poses.position[order]
    if turns is not None:
        y = np.concatenate([y, turns], axis=1)
    return _Points(u[order], y, order, shape), tag


def _orientation(
    poses: PoseData, wanted: str, order: NDArray[np.int64], shape: tuple[int, int] | None
) -> tuple[str, Array | None]:
    """Orientation tag and components on one continuous branch, in the order of the grid."""
    kind, sequence = poses.wanted_orientation(wanted)
    if poses.quaternion is None or kind == "none":
        return "none", None
    q = _one_branch(poses, poses.quaternion[order], order, shape)
    if kind == "quaternion":
        return "quaternion", q
    if poses.angles is not None and poses.sequence == sequence:
        angles = poses.angles[order]
    else:
        angles = euler_from_quaternion(q, sequence)
    if shape is not None:
        grid = np.unwrap(np.unwrap(angles.reshape(*shape, -1), axis=1), axis=0)
        return f"euler:{sequence}", grid.reshape(len(angles), -1)
    middle = np.angle(np.mean(np.exp(1j * angles), axis=0))
    return f"euler:{sequence}", middle + np.angle(np.exp(1j * (angles - middle)))


def _one_branch(poses: PoseData, q: Array, order: NDArray[np.int64], shape: tuple[int, int] | None) -> Array:
    """Quaternions with continuous signs over a grid; scattered ones on the side of their mean."""
    if shape is not None:
        grid = q.reshape(*shape, 4).copy()
        grid[:, 0] = continue_signs(grid[:, 0])
        for i in range(shape[0]):
            grid[i] = continue_signs(grid[i])
        return grid.reshape(-1, 4)
    mean = np.linalg.eigh(q.T @ q)[1][:, -1]
    side = q @ mean
    bad = np.flatnonzero(np.abs(side) < 0.15)
    if bad.size:
        raise poses.error(
            "the orientation is about half a turn from the mean orientation, so its sign is ambiguous in "
            "scattered data; give the data on a grid",
            int(order[bad[0]]),
        )
    return q * np.sign(side)[:, None]


def _fit(
    points: _Points, kind: str, degree: tuple[int, int], total: bool, w: Array | None, ends: tuple[str, str]
) -> PatchModel:
    n = len(points.u)
    if kind == "polynomial":
        return fit_polynomial(points.u, points.y, degree, total, w)
    if points.shape is not None and min(points.shape) >= 6:
        model = interpolate_grid(points.u, points.y, points.shape, ends)
        if model is not None:
            return model
    if "periodic" in ends:
        raise DataError(
            "a periodic surface needs noise-free data on a grid whose first and last lines have the same poses"
        )
    if n < 36:
        raise DataError(
            f"{n} points are too few for a quintic surface; give at least 36 points that cover the range, "
            "or fit a polynomial of lower degree, e.g. kind='polynomial', degree=(2, 2)"
        )
    return fit_spline(points.u, points.y, w)


def _report(
    surface: PoseSurface,
    poses: PoseData,
    points: _Points,
    model: PatchModel,
    w: Array | None,
    ends: tuple[str, str],
    item: str,
    found: list[AnalysisWarning],
) -> FitReport:
    r, q = poses.position[points.rows], None
    gaps = np.linalg.norm(surface.position(points.u[:, 0], points.u[:, 1]) - r, axis=1)
    values: dict[str, Any] = {"position_rms": root_mean_square(gaps), "position_max": float(gaps.max())}
    residuals: dict[str, Any] = {"u": points.u, "position": r, "position_error": gaps}
    if poses.quaternion is not None and surface.orientation != "none":
        q = poses.quaternion[points.rows]
        turn = angle_between(surface.quaternion(points.u[:, 0], points.u[:, 1]), q)
        values |= {"orientation_rms": root_mean_square(turn), "orientation_max": float(turn.max())}
        residuals["orientation_error"] = turn
    held, predicted = _predicted(points, model, w, ends)
    if held.any():
        gap = np.linalg.norm(predicted[:, :3] - r[held], axis=1)
        values |= {"held_out_position_rms": root_mean_square(gap), "held_out_position_max": float(gap.max())}
        if q is not None:
            R = rotations(predicted, surface.orientation, surface.R_constant)
            turn = angle_between(quaternion_from_rotation(R), q[held])
            values |= {
                "held_out_orientation_rms": root_mean_square(turn),
                "held_out_orientation_max": float(turn.max()),
            }
    if model.left_out is not None and not model.method.startswith("polynomial"):
        noise = scattered_noise(points.u, points.y)
        values["noise"] = float(noise[:3].max())
        if q is not None:
            values["orientation_noise"] = float(noise[3:].max()) * (
                2.0 if surface.orientation == "quaternion" else 1.0
            )
    degenerate = surface.degenerate_points()
    warnings = [
        AnalysisWarning(
            "surface_degenerate",
            item,
            f"near ({u1:.6g}, {u2:.6g})",
            "both coordinates move the body in the same way, so a surface joint loses a degree of freedom "
            "there",
            "avoid this position, or choose other coordinates",
        )
        for u1, u2, _ in degenerate
    ]
    return FitReport(
        source="surface data" + (" on a grid" if points.shape else ", scattered"),
        method=model.method,
        parameter=" x ".join(surface.parameters),
        unit=" x ".join(unit or "1" for unit in surface.units),
        orientation=surface.orientation,
        points=len(poses),
        held_out=int(held.sum()),
        pieces=model.coefficients.shape[0] * model.coefficients.shape[1],
        knots=model.coefficients.shape[0] + model.coefficients.shape[1] - 2,
        degenerate=tuple(degenerate),
        warnings=(*found, *warnings),
        notes=poses.notes,
        residuals=residuals,
        **values,
    )


def _predicted(
    points: _Points, model: PatchModel, w: Array | None, ends: tuple[str, str]
) -> tuple[NDArray[np.bool_], Array]:
    """Indices of left-out points, and their components (k, m) predicted by fits to the others: all points one
    at a time or, for an interpolated grid, every fifth inner line in both directions at once."""
    held = np.zeros(len(points.u), bool)
    if model.left_out is not None:
        if len(held) < 100:
            return held, np.zeros((0, points.y.shape[1]))
        return ~held, points.y - model.left_out
    assert points.shape is not None
    lines = [np.isin(np.arange(n), np.arange(2, n - 2, EVERY)) & (n >= 12) for n in points.shape]
    if len(held) >= 100:
        held = (lines[0][:, None] | lines[1][None, :]).ravel()
    if not held.any():
        return held, np.zeros((0, points.y.shape[1]))
    u, y = points.u[~held], points.y[~held]
    shape = (len(np.unique(u[:, 0])), len(np.unique(u[:, 1])))
    rest = _Points(u, y, points.rows[~held], shape)
    other = _fit(rest, "spline", (5, 5), True, None if w is None else w[~held], ends)
    table = Table2(other.breaks1, other.breaks2, other.coefficients, "polynomial")
    return held, np.asarray(table(points.u[held, 0], points.u[held, 1]))
