"""Two balls against each other, compliant."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import scalar
from sekant.model.forces.base import register
from sekant.model.forces.compliant_contact import EXAMPLE, CompliantContact
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import FrameName, Length

if TYPE_CHECKING:
    from sekant.model.examples import Stage

_TINY = 1e-24  # m^2: keeps the normal finite where the centers coincide


@register
class SphereContact(CompliantContact):
    """Balls about the origins of `frame` and `other`; the overlap is shared in the ratio of their radii."""

    type: ClassVar[str] = "sphere_contact"
    summary: ClassVar[str] = "two balls: Hunt-Crossley with regularized friction"
    frame_fields: ClassVar = ("frame", "other")

    frame: FrameName
    radius: Length
    other: FrameName
    other_radius: Length

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, other = stage.two_frames()
        return cls(frame=frame, radius=3.1, other=other, other_radius=2.3, **EXAMPLE)

    @model_validator(mode="after")
    def _sized(self):
        for name in ("radius", "other_radius"):
            value = getattr(self, name)
            if isinstance(value, float) and value <= 0:
                raise ValueError(f"{name} must be positive (got {value:g})")
        return self

    def action(self, motion: Kinematics) -> Action:
        body, other = motion.frame(self.frame), motion.frame(self.other)
        r, R = scalar(self.radius), scalar(self.other_radius)
        d = body.p - other.p
        distance = ca.sqrt(ca.dot(d, d) + _TINY)
        n = d / distance
        p = other.p + distance * R / (r + R) * n
        return self.between(body, other, p, n, distance - r - R, ca.dot(d, d) + _TINY - (r + R) ** 2)
