"""Pose curves and surfaces through swept poses, with a tolerance that is checked at points not used in the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.report import root_mean_square
from sekant.geometry.pose_tables.pose_table import PoseTable
from sekant.geometry.rotations import angle_between_rotations
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.progress_bar import through
from sekant.reduction.poses import DrivenMechanism

Array = NDArray[np.float64]
METHODS = ("table", "path")
MOST = 3200  # points of a sweep for a path
MOST_LINES = 129  # of a surface, in either direction


@dataclass(frozen=True)
class PoseError:
    """Errors of a fitted pose at unseen points: of the body's origin [m] and its orientation [rad]."""

    position_max: float
    position_rms: float
    angle_max: float
    angle_rms: float

    @classmethod
    def of(cls, found: tuple[Array, Array], exact: tuple[Array, Array]) -> PoseError:
        """Error of positions p (n, 3) and rotations R (n, 3, 3) from the exact ones."""
        gap = np.linalg.norm(found[0] - exact[0], axis=-1)
        turn = np.asarray(angle_between_rotations(found[1], exact[1]))
        return cls(float(gap.max()), root_mean_square(gap), float(turn.max()), root_mean_square(turn))

    @property
    def worst(self) -> float:
        return max(self.position_max, self.angle_max)


@dataclass(frozen=True, eq=False)
class Fits:
    """A curve or surface for each body, errors, and the number of poses in each direction."""

    shapes: dict[str, Any]
    errors: dict[str, PoseError]
    nodes: tuple[int, ...]
    how: str


def fit_poses(
    poses: DrivenMechanism,
    names: Sequence[str],
    method: str,
    tolerance: float | None,
    nodes: Sequence[int] | None,
) -> Fits:
    """Poses of bodies over the drives.

    Over one drive: "table", a table of pose and derivatives with quintic interpolation; "path", the path generation
    from swept poses alone. Over two: "table", quintic splines through a grid; "path", a polynomial of degree 5 x 5
    (Hall). Without `nodes`, `tolerance` (m, rad) determines their number; with both, the tolerance is only checked.
    """
    if method not in METHODS:
        raise DataError(f"reduce: unknown method '{method}'; use {' or '.join(METHODS)}")
    if len(poses.drives) == 2:
        return _surfaces(poses, names, method, tolerance, nodes)
    if method == "table":
        return _table(poses, names, tolerance, nodes)
    return _paths(poses, names, tolerance, nodes)


def _table(
    poses: DrivenMechanism, names: Sequence[str], tolerance: float | None, nodes: Sequence[int] | None
) -> Fits:
    def exact(u: Array):
        return poses.bodies(names, u)

    label: dict[str, Any] = {"parameter": poses.drives[0], "unit": poses.units[0]}
    (low, high) = poses.ranges[0]
    if nodes is None:
        table = PoseTable.adapted(exact, (low, high), tolerance or 1e-8, **label)
    else:
        table = PoseTable.sampled(exact, np.linspace(low, high, nodes[0]), **label)
        if tolerance is not None:
            table.check(exact, tolerance)
    shapes = {name: table.curve(name, name=name) for name in names}
    return Fits(shapes, _errors(poses, shapes), (table.drive.size,), "pose table, quintic interpolation")


def _paths(
    poses: DrivenMechanism, names: Sequence[str], tolerance: float | None, nodes: Sequence[int] | None
) -> Fits:
    count = 101 if nodes is None else nodes[0]
    drive, unit = poses.drives[0], poses.units[0]
    while True:
        u = np.linspace(*poses.ranges[0], count)
        shapes = {}
        for name, motion in poses.bodies(names, u).items():
            data = {drive: u, "position": motion.position, "rotation": motion.rotation}
            shapes[name] = PoseCurve.fit(data, drive, units={drive: unit}, name=name)
        errors = _errors(poses, shapes)
        if _good(errors, tolerance, nodes):
            how = next(iter(shapes.values())).report.method
            return Fits(shapes, errors, (count,), f"path generation, {how}")
        if nodes is not None or 2 * count > MOST:
            raise _too_coarse(errors, tolerance, f"the path of {count} poses")
        count = 2 * count - 1


def _surfaces(poses: DrivenMechanism, names: Sequence[str], method: str, tolerance, nodes) -> Fits:
    """Surfaces, with a separate grid for each body: a body that turns far with a coordinate needs many lines
    in its direction."""
    shapes, used = {}, [0, 0]
    for name in through(names):
        shapes[name], counts = _surface(poses, name, method, tolerance, nodes)
        used = [max(pair) for pair in zip(used, counts, strict=True)]
    errors = _errors(poses, shapes)
    if not _good(errors, tolerance, nodes):
        raise _too_coarse(errors, tolerance, f"the surface of {used[0]} x {used[1]} poses")
    how = next(iter(shapes.values())).report.method
    return Fits(shapes, errors, tuple(used), f"surface, {how}")


def _surface(
    poses: DrivenMechanism, name: str, method: str, tolerance, nodes
) -> tuple[PoseSurface, list[int]]:
    """The surface of one body; lines are doubled in the direction with the larger error."""
    kind = "spline" if method == "table" else "polynomial"
    counts = list(nodes) if nodes is not None else [9, 9] if kind == "spline" else [21, 9]
    first, second = poses.drives
    units = dict(zip(poses.drives, poses.units, strict=True))
    while True:
        axes = [np.linspace(*span, n) for span, n in zip(poses.ranges, counts, strict=True)]
        motion = poses.bodies([name], *axes)[name]
        g1, g2 = (g.ravel() for g in np.meshgrid(*axes, indexing="ij"))
        data = {first: g1, second: g2, "position": motion.position, "rotation": motion.rotation}
        surface = PoseSurface.fit(data, (first, second), kind=kind, units=units, name=name)
        if nodes is not None or kind == "polynomial":
            return surface, counts
        between = [0.5 * (axis[:-1] + axis[1:]) for axis in axes]
        off = [
            _error(poses, name, surface, between[0], axes[1][::4]).worst,
            _error(poses, name, surface, axes[0][::4], between[1]).worst,
        ]
        coarse = [error > 0.5 * (tolerance or 1e-8) for error in off]
        if not any(coarse) or max(counts) >= MOST_LINES:
            return surface, counts
        counts = [2 * n - 1 if bad else n for n, bad in zip(counts, coarse, strict=True)]


def _good(errors: dict[str, PoseError], tolerance: float | None, nodes: Sequence[int] | None) -> bool:
    if tolerance is None:
        return nodes is not None or all(error.worst <= 1e-8 for error in errors.values())
    return all(error.worst <= tolerance for error in errors.values())


def _too_coarse(errors: dict[str, PoseError], tolerance: float | None, what: str) -> DataError:
    name = max(errors, key=lambda key: errors[key].worst)
    error = errors[name]
    return DataError(
        f"reduce: {what} is too coarse: between the poses, '{name}' has errors of {error.position_max:.3g} m and "
        f"{error.angle_max:.3g} rad (tolerance {tolerance or 1e-8:g}); use more nodes, method 'table', a "
        "narrower range, or a larger tolerance"
    )


def _errors(poses: DrivenMechanism, shapes: dict[str, Any]) -> dict[str, PoseError]:
    """Errors at points that are not nodes of any fit: at irrational fractions of evenly spaced intervals."""
    counts = (97,) if len(poses.drives) == 1 else (23, 19)
    axes = [
        low + (high - low) * (np.arange(n) + (np.sqrt(5.0) - 1) / 2) / n
        for (low, high), n in zip(poses.ranges, counts, strict=True)
    ]
    return {name: _error(poses, name, shape, *axes) for name, shape in shapes.items()}


def _error(poses: DrivenMechanism, name: str, shape: Any, *axes: Array) -> PoseError:
    """Error of a fitted pose at values of the drive, or on a grid of two."""
    motion = poses.bodies([name], *axes)[name]
    R, p = shape.pose(*(a.ravel() for a in np.meshgrid(*axes, indexing="ij")))
    return PoseError.of((p, R), (motion.position, motion.rotation))
