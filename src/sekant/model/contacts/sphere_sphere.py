"""Two balls that cannot pass through one another."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.contact_shapes import TwoBalls
from sekant.model.contacts.base import register
from sekant.model.contacts.one_sided import OneSided
from sekant.model.examples import Stage


@register
class SphereSphere(TwoBalls, OneSided):
    """Balls about the origins of `frame` and `other` do not overlap; a radius may be zero, not both."""

    type: ClassVar[str] = "sphere_sphere"
    summary: ClassVar[str] = "two balls against one another"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, other = stage.two_frames()
        return cls(frame=frame, radius=0.03, other=other, other_radius=0.02, restitution=0.7)
