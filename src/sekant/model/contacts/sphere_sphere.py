"""Two balls that cannot pass through one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX, scalar
from sekant.model.contacts.base import register
from sekant.model.contacts.one_sided import OneSided, Touch
from sekant.model.motion import Kinematics
from sekant.model.quantities import FrameName, Length

if TYPE_CHECKING:
    from sekant.model.examples import Stage

SKEW = (0.48, 0.36, 0.8)
"""No normal is along it but by chance: tangents of a ball are across it."""
_TINY = 1e-24  # m^2: keeps the normal finite where the centers coincide


@register
class SphereSphere(OneSided):
    """Balls about the origins of `frame` and `other` do not overlap; a radius may be zero, not both."""

    type: ClassVar[str] = "sphere_sphere"
    summary: ClassVar[str] = "two balls against one another"
    frame_fields: ClassVar = ("frame", "other")

    frame: FrameName
    radius: Length
    other: FrameName
    other_radius: Length

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, other = stage.two_frames()
        return cls(frame=frame, radius=0.03, other=other, other_radius=0.02, restitution=0.7)

    @model_validator(mode="after")
    def _sized(self):
        for name in ("radius", "other_radius"):
            value = getattr(self, name)
            if isinstance(value, float) and value < 0:
                raise ValueError(f"{name} must not be negative (got {value:g})")
        if self.radius == 0.0 and self.other_radius == 0.0:
            raise ValueError("one of the radii must be positive: two points do not meet")
        return self

    def touch(self, motion: Kinematics) -> Touch:
        body, other = motion.frame(self.frame), motion.frame(self.other)
        r, R = scalar(self.radius), scalar(self.other_radius)
        d = body.p - other.p
        distance = ca.sqrt(ca.dot(d, d) + _TINY)
        n = d / distance
        t = ca.cross(SX(SKEW), n)
        return Touch(body, other, distance - r - R, body.p - r * n, n, t / ca.sqrt(ca.dot(t, t) + _TINY))
