"""Poses of one wheel over travel, or over travel and rack, from curves or from rows of poses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.rotations import rotation_from_quaternion
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.vehicle.curves.table import SuspensionCurves
from sekant.vehicle.kc.measured_poses import on_one_grid, refined, strokes_of, wheel_poses

Vector = NDArray[np.float64]
LINES = 7  # that a quintic path needs
MIRROR = np.array([1.0, -1.0, 1.0])
QUATERNION = ("qw", "qx", "qy", "qz")


@dataclass(frozen=True, eq=False)
class WheelPoses:
    """p (n, m, 3) m and unit quaternions (n, m, 4) of a wheel's frame, y along the spin axis to the left, over travel
    (n,) m and rack (m,) m."""

    travel: Vector
    rack: Vector
    p: Vector
    quaternion: Vector

    def mirrored(self) -> WheelPoses:
        """Those of the wheel on the other side, over a rack that goes the other way."""
        p = self.p[:, ::-1] * MIRROR
        quaternion = self.quaternion[:, ::-1] * np.array([1.0, -1.0, 1.0, -1.0])
        return WheelPoses(self.travel, -self.rack[::-1] + 0.0, p, quaternion)

    def shape(self, name: str) -> PoseCurve | PoseSurface:
        """A curve over the travel, or a surface over travel and rack."""
        if self.rack.size == 1:
            one = _refined(self) if self.travel.size < LINES else self
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
    """From camber, toe, track and wheelbase changes; with a column caster the upright turns as the axis does."""
    if axle is None and "wheelbase_change" in measured.names:
        raise ModelError(
            "axle is missing: write axle: front or axle: rear; the sign of wheelbase_change follows from it",
            path=("axle",),
        )
    p, quaternion = wheel_poses(measured, center, radius, axle or "front")
    shape = measured["camber"].shape
    return WheelPoses(measured.travel, measured.steering, p.reshape(*shape, 3), quaternion.reshape(*shape, 4))


def poses_of_rows(
    p: Vector, quaternion: Vector, travel: Vector | None, rack: Vector | None, center: Vector
) -> WheelPoses:
    """From rows (n, 3), (n, 4) in the order in which they were taken, at travel (n,) and rack (n,).

    Without travel it is the height above `center`. The poses are shifted such that zero travel lies at `center`.
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
            f"travel goes from {1e3 * travel[0]:.4g} to {1e3 * travel[-1]:.4g} mm and lacks the design position, "
            "zero; count it from there"
        )
    turned = grid[..., 4:8] / np.linalg.norm(grid[..., 4:8], axis=-1, keepdims=True)
    place = grid[..., 1:4]
    straight = int(np.argmin(np.abs(racks)))
    start = np.array([np.interp(0.0, travel, place[:, straight, k]) for k in range(3)])
    return WheelPoses(travel, racks, place + (center - start), turned)


def _refined(poses: WheelPoses) -> WheelPoses:
    numbers = np.concatenate([poses.p, poses.quaternion], axis=-1)
    data = {str(k): ("1", numbers[..., k]) for k in range(7)}
    fine = refined(SuspensionCurves("", "", poses.travel, poses.rack, data))
    found = np.stack([fine[str(k)] for k in range(7)], axis=-1)
    q = found[..., 3:] / np.linalg.norm(found[..., 3:], axis=-1, keepdims=True)
    return WheelPoses(fine.travel, fine.steering, found[..., :3], q)
