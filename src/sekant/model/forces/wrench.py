"""A force and a torque between two bodies, by expressions, with their reaction."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import casadi as ca
from pydantic import model_validator

from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, FrameState, Kinematics, PointWrench
from sekant.model.quantities import ForceVector, FrameName, JointName, TorqueVector, Value, negative


@register
class Wrench(Force):
    """Force (fx, fy, fz) and torque (tx, ty, tz) at the origin of the frame `child`. The reaction acts on `parent` at
    the same point.

    The wrench acts between two frames, or between the two frames of a joint of any type (`at_joint`). Expressions may
    use x, y, z (position of the child in the parent frame, m) and vx, vy, vz (its velocity in the parent frame, m/s).
    """

    type: ClassVar[str] = "wrench"
    summary: ClassVar[str] = (
        "a force and a torque between two bodies, given by expressions, with their reactions"
    )
    frame_fields: ClassVar = ("parent", "child")
    picture: ClassVar = "force"
    signals: ClassVar = ("force", "torque")
    local_names: ClassVar = ("x", "y", "z", "vx", "vy", "vz")

    parent: FrameName | None = None
    """frame or body on which the reaction acts"""
    child: FrameName | None = None
    """frame or body on which the force and the torque act"""
    at_joint: JointName | None = None
    """joint whose frames are used instead of `parent` and `child`"""
    force: ForceVector = (0.0, 0.0, 0.0)
    """components of the force, as numbers or expressions of the motion"""
    torque: TorqueVector = (0.0, 0.0, 0.0)
    """components of the torque, as numbers or expressions of the motion"""
    resolved_in: Literal["parent", "child", "world"] = "parent"
    """axes in which the components are resolved: those of the parent, the child or the world"""

    @model_validator(mode="after")
    def _ends(self):
        ends = self.parent is not None and self.child is not None
        if ends == (self.at_joint is not None) or (self.at_joint and (self.parent or self.child)):
            raise ValueError("give either 'parent' and 'child', or 'at_joint'")
        return self

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """A force changes the sign of its component normal to the plane; a torque changes the signs of the other
        two."""

        def seen(value: Value) -> Value:
            flips = {plane: f"(-{plane})", f"v{plane}": f"(-v{plane})"}
            return value.renamed(lambda n: flips.get(n, n)) if isinstance(value, Expression) else value

        force = [
            seen(x) if axis != plane else negative(seen(x)) for axis, x in zip("xyz", self.force, strict=True)
        ]
        torque = [
            seen(x) if axis == plane else negative(seen(x))
            for axis, x in zip("xyz", self.torque, strict=True)
        ]
        return {"force": tuple(force), "torque": tuple(torque)}

    @classmethod
    def example(cls, stage: Stage) -> Self:
        ends = stage.ends()
        force = (Expression("-3.1*x - 0.4*vx"), 0.7, Expression("1.3*sin(t) - 2.2*z"))
        torque = (0.3, Expression("0.8*y - 0.2*vz"), -0.6)
        resolved_in = str(stage.rng.choice(["parent", "child", "world"]))
        return cls(**ends, force=force, torque=torque, resolved_in=resolved_in)  # type: ignore[arg-type]

    def _frames(self, motion: Kinematics) -> tuple[FrameState, FrameState]:
        if self.at_joint is not None:
            return motion.joint_ends(self.at_joint)
        assert self.parent is not None
        assert self.child is not None
        return motion.frame(self.parent), motion.frame(self.child)

    def action(self, motion: Kinematics) -> Action:
        F, M = self._frames(motion)
        arm = M.p - F.p
        apart = M.v_WF - F.v_WF - ca.cross(F.w_WF, arm)
        place, rate = ca.vertsplit(F.R.T @ arm), ca.vertsplit(F.R.T @ apart)
        local = dict(zip(self.local_names, (*place, *rate), strict=True))
        f, n = (
            ca.vertcat(*[motion.value(part, local) for part in given]) for given in (self.force, self.torque)
        )
        R = {"parent": F.R, "child": M.R, "world": None}[self.resolved_in]
        f_W, n_W = (f, n) if R is None else (R @ f, R @ n)
        return Action(
            wrenches=(PointWrench(F.body, M.p, -f_W, -n_W), PointWrench(M.body, M.p, f_W, n_W)),
            power=ca.dot(f_W, apart) + ca.dot(n_W, M.w_WF - F.w_WF),
            outputs={"force": ("N", f_W), "torque": ("N*m", n_W)},
        )
