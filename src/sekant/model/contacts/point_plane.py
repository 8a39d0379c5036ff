"""A point that cannot pass through a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import scalar
from sekant.model.contacts.base import register
from sekant.model.contacts.one_sided import OneSided, Touch
from sekant.model.motion import Kinematics
from sekant.model.placement import aligning_rotation
from sekant.model.quantities import Direction, FrameName, Length

if TYPE_CHECKING:
    from sekant.model.examples import Stage


@register
class PointPlane(OneSided):
    """The origin of `frame` stays on the side of the plane to which its `normal` (in `plane`) points.

    With a `radius`, a ball around the point touches the plane. With a coefficient of `friction` it sticks and
    slides on it, in impacts too.
    """

    type: ClassVar[str] = "point_plane"
    summary: ClassVar[str] = "a point, or a ball around it, against a plane"
    frame_fields: ClassVar = ("frame", "plane")

    frame: FrameName
    plane: FrameName = "ground"
    normal: Direction = (0.0, 0.0, 1.0)
    radius: Length = 0.0

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), normal=(0.1, -0.2, 0.9), radius=0.07, restitution=0.6)

    def touch(self, motion: Kinematics) -> Touch:
        body, plane, radius = motion.frame(self.frame), motion.frame(self.plane), scalar(self.radius)
        R = plane.R @ aligning_rotation(self.normal)
        n = R[:, 2]
        gap = ca.dot(n, body.p - plane.p) - radius
        return Touch(body, plane, gap, body.p - radius * n, n, R[:, 0])
