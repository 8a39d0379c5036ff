"""Viscous friction in a joint."""

from __future__ import annotations

from typing import ClassVar

from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import AnyQuantity, JointName


@register
class JointFriction(Force):
    """Generalized force -c v on one coordinate (N s/m for a slider, N m s/rad for a hinge)."""

    type: ClassVar[str] = "joint_friction"
    summary: ClassVar[str] = "viscous friction on a joint coordinate"
    signals: ClassVar = ("damping",)
    local_names: ClassVar = ("q", "v")

    joint: JointName
    coordinate: int = 0
    damping: AnyQuantity

    def action(self, motion: Kinematics) -> Action:
        q, v = motion.coordinate(self.joint, self.coordinate)
        force = -motion.value(self.damping, {"q": q, "v": v}) * v
        return Action(
            generalized=((self.joint, self.coordinate, force),),
            power=force * v,
            outputs={"force": ("N or N*m", force)},
        )
