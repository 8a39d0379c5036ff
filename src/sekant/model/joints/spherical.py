"""Spherical joint: a ball in a socket, with a unit quaternion."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose, quaternion_rate, rotation_from_quaternion
from sekant.model.joints.base import Coordinate, Joint, register
from sekant.model.placement import Orientation
from sekant.model.quantities import AngularVelocityVector


@register
class Spherical(Joint):
    """The coordinates q are the unit quaternion of R_FM, scalar first.

    The velocities v are the angular velocity of M relative to F, resolved in M.
    """

    type: ClassVar[str] = "spherical"
    summary: ClassVar[str] = "a ball in a socket: any rotation about one point"
    coordinates: ClassVar = tuple(Coordinate(name, "1") for name in ("e0", "e1", "e2", "e3"))
    velocities: ClassVar = tuple(Coordinate(name, "rad/s") for name in ("wx", "wy", "wz"))
    shared: ClassVar = {"point": (0, 1, 2)}
    unit_quaternion: ClassVar = 0

    orientation: Orientation = Orientation()
    """orientation of M at the start, in F"""
    angular_velocity: AngularVelocityVector = (0.0, 0.0, 0.0)
    """angular velocity of M relative to F at the start, resolved in M"""

    def pose(self, q, lookups) -> Pose:
        return Pose(rotation_from_quaternion(q), SX.zeros(3))

    def subspace(self, q, lookups) -> SX:
        return ca.vertcat(ca.densify(SX.eye(3)), SX.zeros(3, 3))

    def bias(self, q, v, S, lookups) -> SX:
        return SX.zeros(6)

    def rate(self, q, v) -> SX:
        return quaternion_rate(q, v)

    def constraints(self, X_FM: Pose) -> SX:
        return X_FM.p

    def initial(self):
        return self.orientation.quaternion_values(), self.angular_velocity

    def started(self, q):
        return self.model_copy(update={"orientation": Orientation(quaternion=tuple(q))})
