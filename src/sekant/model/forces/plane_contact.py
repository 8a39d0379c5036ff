"""A point or a ball against a plane, compliant."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import scalar
from sekant.model.forces.base import register
from sekant.model.forces.compliant_contact import EXAMPLE, CompliantContact
from sekant.model.motion import Action, Kinematics
from sekant.model.placement import unit
from sekant.model.quantities import Direction, FrameName, Length

if TYPE_CHECKING:
    from sekant.model.examples import Stage


@register
class PlaneContact(CompliantContact):
    """A ball about the origin of `frame`, or that point itself, on the side to which `normal` (in `plane`) points.

    Friction acts at the ball's own surface, so that a ball that rolls has its full radius.
    """

    type: ClassVar[str] = "plane_contact"
    summary: ClassVar[str] = "a point or a ball on a plane: Hunt-Crossley with regularized friction"
    frame_fields: ClassVar = ("frame", "plane")

    frame: FrameName
    radius: Length = 0.0
    plane: FrameName = "ground"
    normal: Direction = (0.0, 0.0, 1.0)

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, plane = stage.two_frames()
        return cls(frame=frame, radius=4.1, plane=plane, normal=(0.3, -0.5, 0.7), **EXAMPLE)

    def action(self, motion: Kinematics) -> Action:
        body, plane = motion.frame(self.frame), motion.frame(self.plane)
        n = plane.R @ unit(self.normal)
        radius = scalar(self.radius)
        return self.between(body, plane, body.p - radius * n, n, ca.dot(n, body.p - plane.p) - radius)
