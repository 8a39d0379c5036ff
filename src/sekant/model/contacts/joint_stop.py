"""A hard stop at one end of a joint's travel."""

from __future__ import annotations

from typing import ClassVar, Literal

from sekant.geometry.spatial import SX, scalar
from sekant.model.contacts.base import Contact, register
from sekant.model.motion import Kinematics
from sekant.model.quantities import AnyQuantity, JointName


@register
class JointStop(Contact):
    """One coordinate of a joint cannot pass `limit`: it stays below an upper one, above a lower one."""

    type: ClassVar[str] = "joint_stop"
    summary: ClassVar[str] = "a hard stop of a joint coordinate, with restitution"

    joint: JointName
    coordinate: int = 0
    limit: AnyQuantity
    side: Literal["upper", "lower"]

    def gap(self, motion: Kinematics) -> SX:
        q = motion.coordinate(self.joint, self.coordinate)[0]
        return scalar(self.limit) - q if self.side == "upper" else q - scalar(self.limit)
