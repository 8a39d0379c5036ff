"""A point or a ball that cannot pass through a surface."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.contact_shapes import BallOnSurface
from sekant.model.contacts.base import register
from sekant.model.contacts.one_sided import OneSided
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression


@register
class PointSurface(BallOnSurface, OneSided):
    """The origin of `frame`, or a ball around it, stays above a height field or a pose surface.

    A ball has to be smaller than the radii of the hollows it rolls through.
    """

    type: ClassVar[str] = "point_surface"
    summary: ClassVar[str] = "a point, or a ball around it, against a height field or a pose surface"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
        return cls(frame=stage.frame(), radius=0.07, height=height, restitution=0.5)
