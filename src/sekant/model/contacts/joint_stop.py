"""A hard stop at one end of a joint's travel."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from sekant.geometry.spatial import SX, scalar
from sekant.model.contacts.base import Contact, register
from sekant.model.ends import OnCoordinate
from sekant.model.examples import Stage
from sekant.model.motion import Action, ContactForces, ElementKinematics, Kinematics
from sekant.model.quantities import AnyQuantity


@register
class JointStop(OnCoordinate, Contact):
    """A joint coordinate cannot pass `limit`: it stays below an upper limit or above a lower limit."""

    type: ClassVar[str] = "joint_stop"
    summary: ClassVar[str] = "a hard stop of a joint coordinate, with restitution"

    of_coordinate: ClassVar = ("joint", "coordinate", {"limit": "q", "rest_speed": "v"})

    limit: AnyQuantity
    """value of the coordinate at the stop, m or rad"""
    side: Literal["upper", "lower"]
    """upper: the coordinate stays below the limit; lower: it stays above the limit"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.coordinate(), limit=stage.uniform(1.3, 1.6), side="upper", restitution=0.4)

    def action(self, name: str, motion: ElementKinematics) -> Action:
        rate = motion.coordinate(self.joint, self.coordinate)[1]
        side = -1.0 if self.side == "upper" else 1.0
        normal = SX.sym(f"{name}.normal")
        forces = ContactForces(name, self.gap(motion), side * rate, normal, motion.held(name, "closed"))
        return Action(generalized=((self.joint, self.coordinate, side * normal),), contact=forces)

    def gap(self, motion: Kinematics) -> SX:
        q = motion.coordinate(self.joint, self.coordinate)[0]
        return scalar(self.limit) - q if self.side == "upper" else q - scalar(self.limit)
