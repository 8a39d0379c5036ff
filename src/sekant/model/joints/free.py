"""Free joint: all six motions, for bodies that float."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose, quaternion_rate, rotation_from_quaternion, vector
from sekant.model.joints.base import Coordinate, Joint, register
from sekant.model.placement import Orientation
from sekant.model.quantities import AngularVelocityVector, Point, VelocityVector


@register
class Free(Joint):
    """The coordinates q are the position p_FM, resolved in F, and the unit quaternion of R_FM.

    The velocities v are the angular velocity and the velocity of M relative to F, resolved in M.
    """

    type: ClassVar[str] = "free"
    summary: ClassVar[str] = "free motion: three translations and three rotations"
    coordinates: ClassVar = (
        *(Coordinate(name, "m") for name in ("x", "y", "z")),
        *(Coordinate(name, "1") for name in ("e0", "e1", "e2", "e3")),
    )
    velocities: ClassVar = (
        *(Coordinate(name, "rad/s") for name in ("wx", "wy", "wz")),
        *(Coordinate(name, "m/s") for name in ("vx", "vy", "vz")),
    )
    unit_quaternion: ClassVar = 3

    position: Point = (0.0, 0.0, 0.0)
    """position of M's origin at the start, in F"""
    orientation: Orientation = Orientation()
    """orientation of M at the start, in F"""
    velocity: VelocityVector = (0.0, 0.0, 0.0)
    """velocity of M's origin relative to F at the start, resolved in F"""
    angular_velocity: AngularVelocityVector = (0.0, 0.0, 0.0)
    """angular velocity of M relative to F at the start, resolved in M"""

    def pose(self, q, lookups) -> Pose:
        return Pose(rotation_from_quaternion(q[3:]), q[:3])

    def subspace(self, q, lookups) -> SX:
        return ca.densify(SX.eye(6))

    def bias(self, q, v, S, lookups) -> SX:
        return SX.zeros(6)

    def rate(self, q, v) -> SX:
        return ca.vertcat(rotation_from_quaternion(q[3:]) @ v[3:], quaternion_rate(q[3:], v[:3]))

    def constraints(self, X_FM: Pose) -> SX:
        return SX.zeros(0, 1)

    def initial(self):
        R_FM = self.orientation.rotation()
        v_M = R_FM.T @ vector(self.velocity)
        q0 = (*self.position, *self.orientation.quaternion_values())
        return q0, (*self.angular_velocity, *ca.vertsplit(v_M))

    def started(self, q):
        return self.model_copy(
            update={"position": tuple(q[:3]), "orientation": Orientation(quaternion=tuple(q[3:]))}
        )
