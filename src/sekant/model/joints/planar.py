"""Planar joint: moves in a plane and turns about its normal."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose, rotation_z
from sekant.model.joints.base import Coordinate, CoordinateJoint, register
from sekant.model.quantities import ZAxis


@register
class Planar(CoordinateJoint):
    """The coordinates q are x and y in F, and the angle about z."""

    type: ClassVar[str] = "planar"
    summary: ClassVar[str] = "moves in the plane normal to its axis and turns about the axis"
    coordinates: ClassVar = (
        Coordinate("x", "m", "polar x"),
        Coordinate("y", "m", "polar y"),
        Coordinate("angle", "rad", "axial z"),
    )
    velocities: ClassVar = (
        Coordinate("vx", "m/s", "polar x"),
        Coordinate("vy", "m/s", "polar y"),
        Coordinate("rate", "rad/s", "axial z"),
    )
    shared: ClassVar = {"axis": (1, 2)}
    turns: ClassVar = (2,)

    axis: ZAxis = (0.0, 0.0, 1.0)
    """normal of the plane, resolved in the joint frames of both bodies; F and M are rotated so that their z axes
    point along it"""

    def pose(self, q, lookups) -> Pose:
        return Pose(rotation_z(q[2]), ca.vertcat(q[0], q[1], 0))

    def subspace(self, q, lookups) -> SX:
        c, s = ca.cos(q[2]), ca.sin(q[2])
        return ca.horzcat(
            ca.vertcat(0, 0, 0, c, -s, 0),
            ca.vertcat(0, 0, 0, s, c, 0),
            SX(ca.DM([0, 0, 1, 0, 0, 0]).full()),
        )

    def measure(self, X_FM: Pose) -> SX:
        return ca.vertcat(X_FM.p[:2], ca.atan2(X_FM.R[1, 0], X_FM.R[0, 0]))

    def constraints(self, X_FM: Pose) -> SX:
        return ca.vertcat(X_FM.p[2], X_FM.R[0, 2], X_FM.R[1, 2])
