"""Poses of a wheel from measured camber, toe, track and wheelbase changes: over travel, or over travel and rack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.rotations import quaternion_from_rotation
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.vehicle.curves import wheel
from sekant.vehicle.curves.table import SuspensionCurves
from sekant.vehicle.measured.strokes import averaged
from sekant.vehicle.suspension import members

Vector = NDArray[np.float64]
FEWEST = 4  # positions of one curve
LINES = 9  # of a surface along a direction that was measured at fewer places than its splines need
NEAR = 1e-6  # m: racks that differ by less are the same position


def strokes_of(numbers: Vector, names: Sequence[str], strict: bool) -> tuple[Vector, Vector]:
    """Rows (rows, k) with up and down strokes of each position of the rack averaged, and their largest gaps (k,).

    Unless `strict`, rows whose travel is not in strokes are left as they are.
    """
    at = list(names).index("travel")
    groups = [np.arange(len(numbers))]
    if "rack" in names:
        column = numbers[:, list(names).index("rack")]
        levels = np.unique(np.round(column / NEAR))
        groups = [np.flatnonzero(np.round(column / NEAR) == level) for level in levels]
    rows, gaps = [], np.zeros(numbers.shape[1])
    for group in groups:
        try:
            found = averaged(numbers[group], at)
        except ModelError as error:
            if strict:
                error.row = int(group[error.row])  # type: ignore[attr-defined]
                raise
            rows.append(numbers[group])
            continue
        still = (
            not strict and found.strokes == 1
        )  # repeated rows of a file without strokes are reported as such
        rows.append(numbers[group] if still else found.rows)
        gaps = np.maximum(gaps, found.gap)
    return np.vstack(rows), gaps


def on_one_grid(numbers: Vector, names: Sequence[str]) -> tuple[Vector, Vector, Vector]:
    """Travel (n,), rack (m,) and columns (n, m, k) of rows (rows, k) in any order.

    Without a column `rack` there is one curve. Several are brought to the travels of the shortest one by splines.
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
                f"holds {len(curve)} positions{where}; a curve needs at least {FEWEST}: measure more, or "
                "leave this position of the rack out"
            )
        if np.any(np.diff(curve[:, at]) <= 0):
            raise ModelError(f"the same travel occurs twice{where}; keep one row of each")
    if len(curves) == 2:
        raise ModelError(
            "holds two positions of the rack; a steered corner needs three or more, an unsteered one a single curve"
        )
    travel = min((curve[:, at] for curve in curves), key=np.ptp)
    low, high = max(c[0, at] for c in curves), min(c[-1, at] for c in curves)
    travel = travel[(travel >= low) & (travel <= high)]
    if travel.size < FEWEST:
        raise ModelError(
            "curves at different positions of the rack have no travel in common; measure it again"
        )
    if len(curves) == 1 or all(np.array_equal(curve[:, at], travel) for curve in curves):
        return travel, racks, np.stack(curves, axis=1)
    grid = np.stack([CubicSpline(curve[:, at], curve)(travel) for curve in curves], axis=1)
    grid[:, :, at] = travel[:, None]
    return travel, racks, grid


def _axes(camber: Vector, toe: Vector, s: float) -> tuple[Vector, Vector]:
    """Spin axis (n, 3) and axes (n, 3, 3) of a wheel on the side s that does not turn about it."""
    e = s * np.column_stack([np.cos(camber) * np.sin(toe), s * np.cos(camber) * np.cos(toe), -np.sin(camber)])
    return e, np.array([members.wheel_axes(axis) for axis in e])


def wheel_poses(
    measured: SuspensionCurves, center: Vector, radius: float, axle: str
) -> tuple[Vector, Vector]:
    """p (n m, 3) m and unit quaternions (n m, 4) of the wheel's center, rack running fastest."""
    s = 1.0 if center[1] > 0 else -1.0
    e, R = _axes(measured["camber"].ravel(), measured["toe"].ravel(), s)
    down = wheel.contact(np.zeros(e.shape), e, radius)  # from the center to the contact
    rest = contact_at_rest(measured, radius, s)[0]
    p = center + np.zeros(e.shape)
    p[:, 2] += np.broadcast_to(measured.travel[:, None], measured["camber"].shape).ravel()
    p[:, 1] += s * measured["track_change"].ravel() - (down[:, 1] - rest[1])
    if "wheelbase_change" in measured.names:
        front = 1.0 if axle == "front" else -1.0
        p[:, 0] += front * measured["wheelbase_change"].ravel() - (down[:, 0] - rest[0])
    if "caster" in measured.names and np.isfinite(measured["caster"]).all():
        R = R @ _turns(_pitch(measured))
    return p, quaternion_from_rotation(R)


def _pitch(measured: SuspensionCurves) -> Vector:
    """Turn (n m,) rad of the upright about its spin axis along the travel: as the steering axis leans."""
    j = measured.design()[1]
    caster = measured["caster"][:, j]
    leaned = caster - np.interp(0.0, measured.travel, caster)
    return -np.repeat(leaned, measured.steering.size)


def _turns(angle: Vector) -> Vector:
    """(n, 3, 3) about y."""
    found = np.zeros((angle.size, 3, 3))
    found[:, 0, 0] = found[:, 2, 2] = np.cos(angle)
    found[:, 0, 2], found[:, 2, 0], found[:, 1, 1] = np.sin(angle), -np.sin(angle), 1.0
    return found


def contact_at_rest(measured: SuspensionCurves, radius: float, s: float) -> tuple[Vector, Vector]:
    """From the center to the contact (3,) m and axes (3, 3) of the wheel at zero travel, straight ahead."""
    j = measured.design()[1]
    camber, toe = (np.interp(0.0, measured.travel, measured[name][:, j]) for name in ("camber", "toe"))
    e, R = _axes(np.array([camber]), np.array([toe]), s)
    return wheel.contact(np.zeros((1, 3)), e, radius)[0], R[0]


def pose_curve(measured: SuspensionCurves, center: Vector, radius: float, axle: str) -> PoseCurve:
    """Over the travel, of a single measured curve."""
    p, quaternion = wheel_poses(measured, center, radius, axle)
    data = {"position": p, "quaternion": quaternion, "travel": measured.travel}
    return PoseCurve.fit(data, parameter="travel", name="kc")


def pose_surface(measured: SuspensionCurves, center: Vector, radius: float, axle: str) -> PoseSurface:
    """Over travel and rack."""
    fine = refined(measured)
    p, quaternion = wheel_poses(fine, center, radius, axle)
    u1, u2 = np.meshgrid(fine.travel, fine.steering, indexing="ij")
    data = {"position": p, "quaternion": quaternion, "travel": u1.ravel(), "rack": u2.ravel()}
    units = {"travel": "m", "rack": "m"}
    return PoseSurface.fit(data, ("travel", "rack"), kind="spline", units=units, name="kc")


def refined(measured: SuspensionCurves) -> SuspensionCurves:
    """With as many lines in both directions as quintic splines need, by splines of lower degree between few ones."""
    from scipy.interpolate import make_interp_spline

    axes, data = [measured.travel, measured.steering], dict(measured.data)
    for i, axis in enumerate(axes):
        if axis.size >= 7 or axis.size == 1:
            continue
        axes[i] = np.linspace(axis[0], axis[-1], LINES)
        degree = min(3, axis.size - 1)
        data = {
            name: (unit, make_interp_spline(axis, values, degree, axis=i)(axes[i]))
            for name, (unit, values) in data.items()
            if np.isfinite(values).all()
        }
    return SuspensionCurves(measured.name, measured.side, axes[0], axes[1], data)
