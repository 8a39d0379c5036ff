"""A point or a ball on a surface, compliant."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.contact_shapes import BallOnSurface
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import register
from sekant.model.forces.compliant_contact import EXAMPLE, CompliantContact


@register
class SurfaceContact(BallOnSurface, CompliantContact):
    """A ball about the origin of `frame`, or that point itself, above a height field or a pose surface.

    The gap is the distance to the nearest point of the surface, less the radius. A ball has to be smaller than the
    radii of the hollows it rolls through.
    """

    type: ClassVar[str] = "surface_contact"
    summary: ClassVar[str] = (
        "a point or a ball on a height field or a pose surface: Hunt-Crossley with friction"
    )

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, surface = stage.two_frames()
        height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
        return cls(frame=frame, radius=5.3, surface=surface, height=height, **EXAMPLE)
