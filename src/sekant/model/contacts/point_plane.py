"""A point that cannot pass through a plane."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.contact_shapes import BallOnPlane
from sekant.model.contacts.base import register
from sekant.model.contacts.one_sided import OneSided
from sekant.model.examples import Stage


@register
class PointPlane(BallOnPlane, OneSided):
    """The origin of `frame` stays on the side of the plane to which its `normal` (in `plane`) points.

    With a `radius`, a ball around the point touches the plane. With a coefficient of `friction` it sticks and
    slides on it, in impacts too.
    """

    type: ClassVar[str] = "point_plane"
    summary: ClassVar[str] = "a point, or a ball around it, against a plane"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), normal=(0.1, -0.2, 0.9), radius=0.07, restitution=0.6)
