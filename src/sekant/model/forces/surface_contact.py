"""A point or a ball on a surface, compliant."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import scalar
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import register
from sekant.model.forces.compliant_contact import EXAMPLE, CompliantContact
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import FrameName, Length, is_known
from sekant.model.surface_shape import SurfaceShape

if TYPE_CHECKING:
    from sekant.model.examples import Stage


@register
class SurfaceContact(SurfaceShape, CompliantContact):
    """A ball about the origin of `frame`, or that point itself, above a height field or a pose surface.

    The gap is the distance to the nearest point of the surface, less the radius. A ball has to be smaller than the
    radii of the hollows it rolls through.
    """

    type: ClassVar[str] = "surface_contact"
    summary: ClassVar[str] = (
        "a point or a ball on a height field or a pose surface: Hunt-Crossley with friction"
    )
    frame_fields: ClassVar = ("frame", "surface")
    signals: ClassVar = ("height",)
    local_names: ClassVar = ("x", "y")

    frame: FrameName
    radius: Length = 0.0

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, surface = stage.two_frames()
        height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
        return cls(frame=frame, radius=5.3, surface=surface, height=height, **EXAMPLE)

    def action(self, motion: Kinematics) -> Action:
        body, radius = motion.frame(self.frame), scalar(self.radius)
        foot = self.foot(motion, body.p)
        gap = ca.dot(foot.n, body.p - foot.p) - radius
        apart = foot.above if is_known(self.radius, 0.0) else None
        return self.between(body, foot.state, body.p - radius * foot.n, foot.n, gap, apart)
