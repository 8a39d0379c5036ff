"""Revolute joint: a hinge about its axis."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose, rotation_z
from sekant.model.joints.base import AxisJoint, Coordinate, register


@register
class Revolute(AxisJoint):
    """The coordinate is the angle about z; F and M share their origins and z axes."""

    type: ClassVar[str] = "revolute"
    summary: ClassVar[str] = "a hinge: turns about its axis"
    coordinates: ClassVar = (Coordinate("angle", "rad"),)
    velocities: ClassVar = (Coordinate("rate", "rad/s"),)
    shared: ClassVar = {"point": (0, 1, 2), "axis": (3, 4)}
    turns: ClassVar = (0,)

    def pose(self, q, lookups) -> Pose:
        return Pose(rotation_z(q[0]), SX.zeros(3))

    def subspace(self, q, lookups) -> SX:
        return SX(ca.DM([0, 0, 1, 0, 0, 0]).full())

    def measure(self, X_FM: Pose) -> SX:
        return ca.atan2(X_FM.R[1, 0], X_FM.R[0, 0])

    def constraints(self, X_FM: Pose) -> SX:
        return ca.vertcat(X_FM.p, X_FM.R[0, 2], X_FM.R[1, 2])
