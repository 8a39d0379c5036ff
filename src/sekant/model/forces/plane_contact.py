"""A point or a ball against a plane, compliant."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.contact_shapes import BallOnPlane
from sekant.model.examples import Stage
from sekant.model.forces.base import register
from sekant.model.forces.compliant_contact import EXAMPLE, CompliantContact


@register
class PlaneContact(BallOnPlane, CompliantContact):
    """A ball about the origin of `frame`, or that point itself, on the side to which `normal` (in `plane`) points.

    Friction acts at the ball's own surface, so that a ball that rolls has its full radius.
    """

    type: ClassVar[str] = "plane_contact"
    summary: ClassVar[str] = "a point or a ball on a plane: Hunt-Crossley with regularized friction"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, plane = stage.two_frames()
        return cls(frame=frame, radius=4.1, plane=plane, normal=(0.3, -0.5, 0.7), **EXAMPLE)
