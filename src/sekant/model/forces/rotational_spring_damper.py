"""Rotational spring-damper-actuator on a joint's angle, or between two frames about an axis."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX, angle_of, scalar
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces import characteristic
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics, PointWrench
from sekant.model.placement import aligning_rotation
from sekant.model.quantities import (
    Angle,
    AxialDirection,
    FrameName,
    JointName,
    Restoring,
    RotationalDamping,
    RotationalStiffness,
    TableName,
    Torque,
)


@register
class RotationalSpringDamper(Force):
    """The restoring torque is k (q - q0) + c q' + spring(q - q0) + damper(q') + torque, with the stiffness k and the
    damping c.

    It acts either on a joint coordinate or between two frames about `axis`, which is fixed in both frames. A
    joint coordinate counts full turns. Between two frames, the angle q of the child relative to the parent is in
    (-pi, pi] and jumps at half a turn.
    """

    type: ClassVar[str] = "rotational_spring_damper"
    summary: ClassVar[str] = "torsion spring, damper and actuator"
    frame_fields: ClassVar = ("parent", "child")
    signals: ClassVar = ("stiffness", "damping", "torque")
    local_names: ClassVar = ("angle", "deflection", "rate")

    joint: JointName | None = None
    """joint on which it acts, instead of `parent` and `child`"""
    coordinate: int = 0
    """index of the joint's coordinate, starting at 0"""
    parent: FrameName | None = None
    """frame or body at one end"""
    child: FrameName | None = None
    """frame or body at the other end"""
    axis: AxialDirection = (0.0, 0.0, 1.0)
    """axis, fixed in both frames"""
    stiffness: Restoring[RotationalStiffness] = 0.0
    """k: torque per deflection q - q0"""
    damping: Restoring[RotationalDamping] = 0.0
    """c: torque per angular velocity"""
    free_angle: Angle = 0.0
    """q0: angle at which the spring is relaxed"""
    spring: TableName | None = None
    """name of a table of torque versus deflection q - q0"""
    damper: TableName | None = None
    """name of a table of torque versus angular velocity"""
    torque: Torque = 0.0
    """additional restoring torque; may be an expression"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(
            **stage.coordinate(),
            stiffness=stage.uniform(5, 9),
            damping=stage.uniform(0.5, 2),
            free_angle=0.2,
            spring=stage.table(),
            damper=stage.table(),
            torque=Expression("1.1*cos(3*t) + 0.3*angle*rate - 0.2*deflection"),
        )

    @model_validator(mode="after")
    def _joint_or_frames(self):
        if (self.joint is None) == (self.parent is None and self.child is None):
            raise ValueError(
                "acts either on a joint or between two frames; give either 'joint', or 'parent' and 'child'"
            )
        if self.joint is None and (self.parent is None or self.child is None):
            raise ValueError("give both 'parent' and 'child'")
        return self

    @property
    def jumping(self) -> str:
        return "angle" if self.joint is None else ""

    def action(self, motion: Kinematics) -> Action:
        if self.joint is not None:
            angle, rate = motion.coordinate(self.joint, self.coordinate)
        else:
            F, M = motion.frame(self.parent or ""), motion.frame(self.child or "")
            A = aligning_rotation(self.axis)
            R_FM = (F.R @ A).T @ M.R @ A
            angle = angle_of(R_FM[1, 0], R_FM[0, 0])
            axis_W = (F.R @ A)[:, 2]
            rate = ca.dot(axis_W, M.w_WF - F.w_WF)
        x = angle - scalar(self.free_angle)
        local = {"angle": angle, "deflection": x, "rate": rate}
        law = characteristic.evaluate(motion, self, x, rate, self.torque, local)
        power = None if law.dissipative is None else -law.dissipative * rate
        outputs = {"angle": ("rad", angle), "rate": ("rad/s", rate), "torque": ("N*m", law.total)}
        if self.joint is not None:
            return Action(
                generalized=((self.joint, self.coordinate, -law.total),),
                potential=law.potential,
                power=power,
                outputs=outputs,
            )
        moment, zero = law.total * axis_W, SX.zeros(3)
        return Action(
            wrenches=(PointWrench(F.body, F.p, zero, moment), PointWrench(M.body, M.p, zero, -moment)),
            potential=law.potential,
            power=power,
            outputs=outputs,
        )
