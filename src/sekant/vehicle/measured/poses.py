"""Poses of one wheel over travel, or over travel and rack, from curves or from rows of poses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.data import QUATERNION
from sekant.geometry.rotations import (
    quaternion_from_rotation,
    rotation_from_euler,
    rotation_from_quaternion,
)
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.vehicle.curves import wheel
from sekant.vehicle.curves.table import SuspensionCurves
from sekant.vehicle.measured.strokes import on_one_grid, strokes_of
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.anti_roll_bar import MIRROR

Vector = NDArray[np.float64]
FEW = 7  # least number of lines for quintic splines
LINES = 9  # number of lines in a direction that was measured at fewer positions


@dataclass(frozen=True, eq=False)
class WheelPoses:
    """Positions p (n, m, 3) m and unit quaternions (n, m, 4) of a wheel's frame at travel (n,) m and rack (m,) m.

    The y axis of the frame is the spin axis and points to the left.
    """

    travel: Vector
    rack: Vector
    p: Vector
    quaternion: Vector

    def mirrored(self) -> WheelPoses:
        """Poses of the wheel on the other side, with a rack that moves in the opposite direction."""
        p = self.p[:, ::-1] * MIRROR
        quaternion = self.quaternion[:, ::-1] * np.array([1.0, -1.0, 1.0, -1.0])
        return WheelPoses(self.travel, -self.rack[::-1] + 0.0, p, quaternion)

    def shape(self, name: str) -> PoseCurve | PoseSurface:
        """A curve versus travel, or a surface over travel and rack."""
        if self.rack.size == 1:
            one = _refined(self) if self.travel.size < FEW else self
            data = {"position": one.p[:, 0], "quaternion": one.quaternion[:, 0], "travel": one.travel}
            return PoseCurve.fit(data, parameter="travel", name=name)
        fine = _refined(self)
        u1, u2 = np.meshgrid(fine.travel, fine.rack, indexing="ij")
        data = {"position": fine.p.reshape(-1, 3), "quaternion": fine.quaternion.reshape(-1, 4)}
        data |= {"travel": u1.ravel(), "rack": u2.ravel()}
        units = {"travel": "m", "rack": "m"}
        return PoseSurface.fit(data, ("travel", "rack"), kind="spline", units=units, name=name)

    def steer_slope(self) -> float:
        """d(steer angle)/d(rack) straight ahead at the design position, rad/m."""
        i = int(np.argmin(np.abs(self.travel)))
        e = rotation_from_quaternion(self.quaternion[i])[..., :, 1]
        angle = np.arctan2(-e[:, 0], e[:, 1])
        return float(np.polyfit(self.rack, angle, min(2, self.rack.size - 1))[-2])


def poses_of_curves(
    measured: SuspensionCurves, center: Vector, radius: float, axle: str | None
) -> WheelPoses:
    """Poses from camber, toe, and changes of track and wheelbase. With a column caster, the upright turns about the
    wheel's axis like the steering axis."""
    if axle is None and "wheelbase_change" in measured.names:
        raise ModelError(
            "axle is missing, but the sign of the column wheelbase_change depends on it; write axle: front or "
            "axle: rear",
            path=("axle",),
        )
    p, quaternion = _wheel_poses(measured, center, radius, axle or "front")
    shape = measured["camber"].shape
    return WheelPoses(measured.travel, measured.steering, p.reshape(*shape, 3), quaternion.reshape(*shape, 4))


def poses_of_rows(
    p: Vector, quaternion: Vector, travel: Vector | None, rack: Vector | None, center: Vector
) -> WheelPoses:
    """Poses from rows of positions (n, 3) and quaternions (n, 4) in measured order, at travel (n,) and rack (n,).

    By default, travel is the height above `center`. The poses are shifted such that zero travel is at `center`.
    """
    z = p[:, 2] - center[2] if travel is None else travel
    names = ["travel", "x", "y", "z", *QUATERNION]
    numbers = np.column_stack([z, p, quaternion])
    if rack is not None:
        names, numbers = [*names, "rack"], np.column_stack([numbers, rack])
    numbers, _ = strokes_of(numbers, names, strict=True)
    travel, racks, grid = on_one_grid(numbers, names)
    if not travel[0] < 0 < travel[-1]:
        raise ModelError(
            f"travel must include zero, but it ranges from {1e3 * travel[0]:.4g} mm to {1e3 * travel[-1]:.4g} mm; "
            "measure the travel from the design position"
        )
    turned = grid[..., 4:8] / np.linalg.norm(grid[..., 4:8], axis=-1, keepdims=True)
    place = grid[..., 1:4]
    straight = int(np.argmin(np.abs(racks)))
    start = np.array([np.interp(0.0, travel, place[:, straight, k]) for k in range(3)])
    return WheelPoses(travel, racks, place + (center - start), turned)


def _refined(poses: WheelPoses) -> WheelPoses:
    numbers = np.concatenate([poses.p, poses.quaternion], axis=-1)
    data = {str(k): ("1", numbers[..., k]) for k in range(7)}
    fine = _finer(SuspensionCurves("", "", poses.travel, poses.rack, data))
    found = np.stack([fine[str(k)] for k in range(7)], axis=-1)
    q = found[..., 3:] / np.linalg.norm(found[..., 3:], axis=-1, keepdims=True)
    return WheelPoses(fine.travel, fine.steering, found[..., :3], q)


def _finer(measured: SuspensionCurves) -> SuspensionCurves:
    """Poses with as many lines in both directions as quintic splines require; splines of lower degree interpolate
    between few lines."""
    from scipy.interpolate import make_interp_spline

    axes, data = [measured.travel, measured.steering], dict(measured.data)
    for i, axis in enumerate(axes):
        if axis.size >= FEW or axis.size == 1:
            continue
        axes[i] = np.linspace(axis[0], axis[-1], LINES)
        degree = min(3, axis.size - 1)
        data = {
            name: (unit, make_interp_spline(axis, values, degree, axis=i)(axes[i]))
            for name, (unit, values) in data.items()
            if np.isfinite(values).all()
        }
    return SuspensionCurves(measured.name, measured.side, axes[0], axes[1], data)


def _axes(camber: Vector, toe: Vector, s: float) -> tuple[Vector, Vector]:
    """Spin axis (n, 3) and axes (n, 3, 3) of a wheel on the side s that does not turn about its spin axis."""
    e = s * np.column_stack([np.cos(camber) * np.sin(toe), s * np.cos(camber) * np.cos(toe), -np.sin(camber)])
    return e, np.array([members.wheel_axes(axis) for axis in e])


def _wheel_poses(
    measured: SuspensionCurves, center: Vector, radius: float, axle: str
) -> tuple[Vector, Vector]:
    """Positions (n m, 3) m and unit quaternions (n m, 4) of the wheel's center, with the rack varying fastest."""
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
        R = R @ rotation_from_euler(_pitch(measured)[:, None], "y")
    return p, quaternion_from_rotation(R)


def _pitch(measured: SuspensionCurves) -> Vector:
    """Rotation (n m,) rad of the upright about the spin axis along the travel, which is that of the steering axis."""
    j = measured.design()[1]
    caster = measured["caster"][:, j]
    leaned = caster - np.interp(0.0, measured.travel, caster)
    return -np.repeat(leaned, measured.steering.size)


def contact_at_rest(measured: SuspensionCurves, radius: float, s: float) -> tuple[Vector, Vector]:
    """Vector from the center to the contact (3,) m and axes (3, 3) of the wheel at zero travel, straight ahead."""
    j = measured.design()[1]
    camber, toe = (np.interp(0.0, measured.travel, measured[name][:, j]) for name in ("camber", "toe"))
    e, R = _axes(np.array([camber]), np.array([toe]), s)
    return wheel.contact(np.zeros((1, 3)), e, radius)[0], R[0]
