"""Shapes that rigid contacts (`contacts/`) and compliant contact forces (`forces/`) share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX, scalar
from sekant.model.motion import FrameState, Kinematics
from sekant.model.placement import aligning_rotation, unit
from sekant.model.quantities import Description, Direction, FrameName, Length, NotNegative, is_known
from sekant.model.surface_shape import SurfaceShape

SKEW = (0.48, 0.36, 0.8)
"""Tangents of a ball are perpendicular to it; a normal is along it only by chance."""
_TINY = 1e-24  # m^2: keeps the normal finite where the centers coincide


@dataclass(frozen=True, slots=True)
class Touch:
    """The point at which `body` would touch `other`, in W.

    `gap` () m; `p` (3,) m: the point on the body; `n` (3,): unit normal from other to body; `t` (3,): a unit tangent.
    `apart` (): a quantity with the sign of the gap that is cheaper to compute.
    """

    body: FrameState
    other: FrameState
    gap: SX
    p: SX
    n: SX
    t: SX
    apart: SX | None = None


class BallOnPlane(Description):
    """A ball around the origin of `frame`, or this point itself, on the side of `plane` to which `normal` points."""

    frame_fields: ClassVar = ("frame", "plane")

    frame: FrameName
    """frame at the center of the ball"""
    radius: NotNegative[Length] = 0.0
    """radius of the ball; 0 for a point"""
    plane: FrameName = "ground"
    """frame whose origin lies in the plane"""
    normal: Direction = (0.0, 0.0, 1.0)
    """normal of the plane, resolved in the frame `plane`, pointing toward the ball"""

    def touch(self, motion: Kinematics) -> Touch:
        """The contact point, with the gap, the normal and a tangent."""
        body, plane, radius = motion.frame(self.frame), motion.frame(self.plane), scalar(self.radius)
        n = plane.R @ unit(self.normal)
        t = plane.R @ aligning_rotation(self.normal)[:, 0]
        return Touch(body, plane, ca.dot(n, body.p - plane.p) - radius, body.p - radius * n, n, t)


class BallOnSurface(SurfaceShape):
    """A ball around the origin of `frame`, or this point itself, above a height field or a pose surface."""

    frame_fields: ClassVar = ("frame", "surface")
    signals: ClassVar = ("height",)
    local_names: ClassVar = ("x", "y")

    frame: FrameName
    """frame at the center of the ball"""
    radius: NotNegative[Length] = 0.0
    """radius of the ball; 0 for a point"""

    def touch(self, motion: Kinematics) -> Touch:
        """The contact point, with the gap, the normal and a tangent."""
        body, radius = motion.frame(self.frame), scalar(self.radius)
        foot = self.foot(motion, body.p)
        gap = ca.dot(foot.n, body.p - foot.p) - radius
        apart = foot.above if is_known(self.radius, 0.0) else None
        return Touch(body, foot.state, gap, body.p - radius * foot.n, foot.n, foot.t, apart)


class TwoBalls(Description):
    """Balls around the origins of `frame` and `other`. The contact point divides their distance in the ratio of the
    radii.

    One radius may be zero, but not both.
    """

    frame_fields: ClassVar = ("frame", "other")

    frame: FrameName
    """frame at the center of the ball"""
    radius: NotNegative[Length]
    """radius of the ball; 0 for a point"""
    other: FrameName
    """frame at the center of the other ball"""
    other_radius: NotNegative[Length]
    """radius of the other ball; 0 for a point"""

    @model_validator(mode="after")
    def _sized(self):
        if self.radius == 0.0 and self.other_radius == 0.0:
            raise ValueError("at least one of the radii must be positive, because two points never touch")
        return self

    def touch(self, motion: Kinematics) -> Touch:
        """The contact point, with the gap, the normal and a tangent."""
        body, other = motion.frame(self.frame), motion.frame(self.other)
        r, R = scalar(self.radius), scalar(self.other_radius)
        d = body.p - other.p
        distance = ca.sqrt(ca.dot(d, d) + _TINY)
        n = d / distance
        t = ca.cross(SX(SKEW), n)
        p = other.p + distance * R / (r + R) * n
        apart = ca.dot(d, d) + _TINY - (r + R) ** 2
        return Touch(body, other, distance - r - R, p, n, t / ca.sqrt(ca.dot(t, t) + _TINY), apart)
