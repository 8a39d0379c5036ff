"""Fixed joint: the child is part of the parent."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX, Pose
from sekant.model.joints.base import Joint, register


@register
class Fixed(Joint):
    """No relative motion."""

    type: ClassVar[str] = "fixed"
    summary: ClassVar[str] = "no relative motion"
    coordinates: ClassVar = ()
    velocities: ClassVar = ()

    def pose(self, q, lookups) -> Pose:
        return Pose.identity()

    def measure(self, X_FM: Pose) -> SX:
        return SX.zeros(0, 1)

    def constraints(self, X_FM: Pose) -> SX:
        R, p = X_FM.R, X_FM.p
        return ca.vertcat(p, R[1, 2], R[2, 0], R[0, 1])
