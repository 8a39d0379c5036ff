"""A torque on a body, constant or as a signal, with an optional reaction on another."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics, PointWrench
from sekant.model.quantities import FrameName, TorqueVector


@register
class Torque(Force):
    """Torque (tx, ty, tz) on a frame's body, resolved in the world or in the frame itself."""

    type: ClassVar[str] = "torque"
    summary: ClassVar[str] = "a torque on a body, with an optional reaction on another body"
    frame_fields: ClassVar = ("frame", "reaction")
    picture: ClassVar = "torque"
    signals: ClassVar = ("torque",)

    frame: FrameName
    """frame on whose body the torque acts"""
    torque: TorqueVector
    """components, as numbers or expressions of the motion"""
    resolved_in: Literal["world", "frame"] = "world"
    """axes in which the components are resolved: those of the world or of the frame"""
    reaction: FrameName | None = None
    """frame whose body takes the opposite torque; by default none"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, reaction = stage.two_frames()
        resolved_in = "frame" if stage.rng.random() < 0.5 else "world"
        torque = (0.7, Expression("1.9*sin(t)"), -1.1)
        return cls(frame=frame, torque=torque, resolved_in=resolved_in, reaction=reaction)

    def action(self, motion: Kinematics) -> Action:
        frame = motion.frame(self.frame)
        n = ca.vertcat(*[motion.value(component) for component in self.torque])
        n_W = frame.R @ n if self.resolved_in == "frame" else n
        zero = SX.zeros(3)
        wrenches = [PointWrench(frame.body, frame.p, zero, n_W)]
        w = frame.w_WF
        if self.reaction is not None:
            other = motion.frame(self.reaction)
            wrenches.append(PointWrench(other.body, other.p, zero, -n_W))
            w = w - other.w_WF
        return Action(wrenches=tuple(wrenches), power=ca.dot(n_W, w), outputs={"torque": ("N*m", n_W)})
