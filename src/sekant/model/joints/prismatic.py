"""Prismatic joint: a slider along its axis."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose
from sekant.model.joints.base import Coordinate, CoordinateJoint, register
from sekant.model.quantities import Direction


@register
class Prismatic(CoordinateJoint):
    """The coordinate is the displacement along z; F and M remain parallel."""

    type: ClassVar[str] = "prismatic"
    summary: ClassVar[str] = "a slider: moves along its axis"
    coordinates: ClassVar = (Coordinate("displacement", "m"),)
    velocities: ClassVar = (Coordinate("rate", "m/s"),)
    shared: ClassVar = {"axis": (2, 3), "side": (4,)}

    axis: Direction = (0.0, 0.0, 1.0)
    """direction of travel, resolved in the joint frames of both bodies, which remain parallel"""

    def pose(self, q, lookups) -> Pose:
        return Pose(Pose.identity().R, ca.vertcat(0, 0, q[0]))

    def subspace(self, q, lookups) -> SX:
        return SX(ca.DM([0, 0, 0, 0, 0, 1]).full())

    def measure(self, X_FM: Pose) -> SX:
        return X_FM.p[2]

    def constraints(self, X_FM: Pose) -> SX:
        R, p = X_FM.R, X_FM.p
        return ca.vertcat(p[0], p[1], R[1, 2], R[2, 0], R[0, 1])
