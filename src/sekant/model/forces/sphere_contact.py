"""Two balls against each other, compliant."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.contact_shapes import TwoBalls
from sekant.model.examples import Stage
from sekant.model.forces.base import register
from sekant.model.forces.compliant_contact import EXAMPLE, CompliantContact


@register
class SphereContact(TwoBalls, CompliantContact):
    """Balls about the origins of `frame` and `other`; the overlap is shared in the ratio of their radii."""

    type: ClassVar[str] = "sphere_contact"
    summary: ClassVar[str] = "two balls: Hunt-Crossley with regularized friction"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, other = stage.two_frames()
        return cls(frame=frame, radius=3.1, other=other, other_radius=2.3, **EXAMPLE)
