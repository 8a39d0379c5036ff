"""A force at a point, constant or as a signal."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics, PointWrench
from sekant.model.quantities import ForceVector, FrameName


@register
class PointForce(Force):
    """Force (fx, fy, fz) at a frame's origin, resolved in the world or in the frame itself."""

    type: ClassVar[str] = "point_force"
    summary: ClassVar[str] = "a force at a point, resolved in the world or in the frame"
    frame_fields: ClassVar = ("frame",)
    picture: ClassVar = "force"
    signals: ClassVar = ("force",)

    frame: FrameName
    """frame at whose origin the force acts"""
    force: ForceVector
    """components, as numbers or expressions of the motion"""
    resolved_in: Literal["world", "frame"] = "world"
    """axes in which the components are resolved: those of the world or of the frame"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame = stage.frame()
        resolved_in = "frame" if stage.rng.random() < 0.5 else "world"
        return cls(frame=frame, force=(2.3, Expression("-1.7*cos(2*t)"), 0.9), resolved_in=resolved_in)

    def action(self, motion: Kinematics) -> Action:
        frame = motion.frame(self.frame)
        f = ca.vertcat(*[motion.value(component) for component in self.force])
        f_W = frame.R @ f if self.resolved_in == "frame" else f
        return Action(
            wrenches=(PointWrench(frame.body, frame.p, f_W, SX.zeros(3)),),
            power=ca.dot(f_W, frame.v_WF),
            outputs={"force": ("N", f_W)},
        )
