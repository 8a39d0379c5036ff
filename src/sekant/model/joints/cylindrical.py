"""Cylindrical joint: turns about and slides along one axis."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose, rotation_z
from sekant.model.joints.base import AxisJoint, Coordinate, register


@register
class Cylindrical(AxisJoint):
    """The coordinates q are the angle about z and the displacement along z."""

    type: ClassVar[str] = "cylindrical"
    summary: ClassVar[str] = "turns about and slides along its axis, independently"
    coordinates: ClassVar = (Coordinate("angle", "rad"), Coordinate("displacement", "m", "opposite"))
    velocities: ClassVar = (Coordinate("rate", "rad/s"), Coordinate("sliding_rate", "m/s", "opposite"))
    shared: ClassVar = {"axis": (2, 3)}
    turns: ClassVar = (0,)

    def pose(self, q, lookups) -> Pose:
        return Pose(rotation_z(q[0]), ca.vertcat(0, 0, q[1]))

    def subspace(self, q, lookups) -> SX:
        S = SX.zeros(6, 2)
        S[2, 0] = 1
        S[5, 1] = 1
        return S

    def measure(self, X_FM: Pose) -> SX:
        return ca.vertcat(ca.atan2(X_FM.R[1, 0], X_FM.R[0, 0]), X_FM.p[2])

    def constraints(self, X_FM: Pose) -> SX:
        return ca.vertcat(X_FM.p[:2], X_FM.R[0, 2], X_FM.R[1, 2])
