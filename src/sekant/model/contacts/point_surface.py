"""A point or a ball that cannot pass through a surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import scalar
from sekant.model.contacts.base import register
from sekant.model.contacts.one_sided import OneSided, Touch
from sekant.model.expressions.expression import Expression
from sekant.model.motion import Kinematics
from sekant.model.quantities import FrameName, Length
from sekant.model.surface_shape import SurfaceShape

if TYPE_CHECKING:
    from sekant.model.examples import Stage


@register
class PointSurface(SurfaceShape, OneSided):
    """The origin of `frame`, or a ball around it, stays above a height field or a pose surface.

    A ball has to be smaller than the radii of the hollows it rolls through.
    """

    type: ClassVar[str] = "point_surface"
    summary: ClassVar[str] = "a point, or a ball around it, against a height field or a pose surface"
    frame_fields: ClassVar = ("frame", "surface")
    signals: ClassVar = ("height",)
    local_names: ClassVar = ("x", "y")

    frame: FrameName
    radius: Length = 0.0

    @classmethod
    def example(cls, stage: Stage) -> Self:
        height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
        return cls(frame=stage.frame(), radius=0.07, height=height, restitution=0.5)

    def touch(self, motion: Kinematics) -> Touch:
        body, radius = motion.frame(self.frame), scalar(self.radius)
        foot = self.foot(motion, body.p)
        gap = ca.dot(foot.n, body.p - foot.p) - radius
        return Touch(body, foot.state, gap, body.p - radius * foot.n, foot.n, foot.t)
