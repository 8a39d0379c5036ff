"""Universal joint: two crossing axes at right angles."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose, rotation_x, rotation_y
from sekant.model.joints.base import Coordinate, CoordinateJoint, register


@register
class Universal(CoordinateJoint):
    """The coordinates q are the angles about x of F and about y of M: R_FM = R_x(q1) R_y(q2)."""

    type: ClassVar[str] = "universal"
    summary: ClassVar[str] = "turns about x of the joint frame F and y of the joint frame M"
    coordinates: ClassVar = (Coordinate("angle_x", "rad", "axial x"), Coordinate("angle_y", "rad", "axial y"))
    velocities: ClassVar = (
        Coordinate("rate_x", "rad/s", "axial x"),
        Coordinate("rate_y", "rad/s", "axial y"),
    )
    shared: ClassVar = {"point": (0, 1, 2)}
    turns: ClassVar = (0, 1)

    def pose(self, q, lookups) -> Pose:
        return Pose(rotation_x(q[0]) @ rotation_y(q[1]), SX.zeros(3))

    def subspace(self, q, lookups) -> SX:
        zero = SX.zeros(3)
        x_M = ca.vertcat(ca.cos(q[1]), 0, ca.sin(q[1]))  # x of F, in M
        return ca.horzcat(ca.vertcat(x_M, zero), SX(ca.DM([0, 1, 0, 0, 0, 0]).full()))

    def measure(self, X_FM: Pose) -> SX:
        R = X_FM.R  # R_x(a) R_y(b)
        return ca.vertcat(ca.atan2(R[2, 1], R[1, 1]), ca.atan2(R[0, 2], R[0, 0]))

    def constraints(self, X_FM: Pose) -> SX:
        return ca.vertcat(X_FM.p, X_FM.R[0, 1])  # x of F stays perpendicular to y of M
