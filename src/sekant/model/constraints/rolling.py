"""Rolling without slip of a disc on a plane: velocity constraints that cannot be integrated to positions."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
import numpy as np

from sekant.geometry.spatial import vector
from sekant.model.constraints.base import Constraint, register
from sekant.model.examples import Stage
from sekant.model.placement import unit
from sekant.model.quantities import AxialDirection, Direction, FrameName, Length, Positive


@register
class Rolling(Constraint):
    """A disc rolls on a plane: its lowest point stays on the plane, and has no velocity along the plane.

    The origin of `frame` is the center c of the disc, and its axle has the direction `axle` in this frame.
    The plane contains the origin of the frame `plane` and has the normal `normal` in this frame. With the
    normal n and the axle a, the lowest point of a thin disc of radius r, which may lean and turn, is c - r (n
    - (n.a) a) / |n - (n.a) a|.
    """

    type: ClassVar[str] = "rolling"
    summary: ClassVar[str] = "a disc that rolls on a plane without slip"
    frame_fields: ClassVar = ("frame", "plane")

    frame: FrameName
    """frame at the center of the disc"""
    plane: FrameName = "ground"
    """frame whose origin lies in the plane"""
    radius: Positive[Length]
    """radius of the disc"""
    axle: AxialDirection = (0.0, 1.0, 0.0)
    """direction of the axle in the frame of the disc"""
    normal: Direction = (0.0, 0.0, 1.0)
    """normal of the plane, resolved in the frame `plane`"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), radius=stage.uniform(0.2, 0.4), axle=(0.1, 0.9, -0.2))

    def _contact(self, motion):
        F, B = motion.frame(self.plane), motion.frame(self.frame)
        n, a = F.R @ unit(self.normal), B.R @ unit(self.axle)
        down = n - ca.dot(n, a) * a
        arm = -vector([self.radius]) * down / ca.sqrt(ca.dot(down, down))
        return F, B, n, arm

    def position(self, motion, auxiliary):
        F, B, n, arm = self._contact(motion)
        return ca.dot(n, B.p + arm - F.p)

    def velocity(self, motion):
        F, B, n, arm = self._contact(motion)
        p = B.p + arm
        v = B.v_WF + ca.cross(B.w_WF, arm) - F.v_WF - ca.cross(F.w_WF, p - F.p)
        e = F.R @ vector(_across(self.normal))
        return ca.vertcat(ca.dot(e, v), ca.dot(ca.cross(n, e), v))


def _across(normal) -> list[float]:
    """A fixed direction perpendicular to `normal` (3,)."""
    n = np.array(normal, float)
    across = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    return (across / np.linalg.norm(across)).tolist()
