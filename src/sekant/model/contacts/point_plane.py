"""A point that cannot pass through a plane."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca
from pydantic import field_validator

from sekant.geometry.spatial import SX, scalar
from sekant.model.contacts.base import Contact, register
from sekant.model.motion import Action, ContactForces, ElementKinematics, Kinematics, PointWrench
from sekant.model.placement import aligning_rotation, unit
from sekant.model.quantities import Dimensionless, Direction, FrameName, Length

if TYPE_CHECKING:
    from sekant.model.examples import Stage


@register
class PointPlane(Contact):
    """The origin of `frame` stays on the side of the plane to which its `normal` (in `plane`) points.

    With a `radius`, a ball around the point touches the plane. With a coefficient of `friction` it sticks and
    slides on it, in impacts too: the tangential impulse stops the slip if it needs no more than `friction` times
    the normal one.
    """

    type: ClassVar[str] = "point_plane"
    summary: ClassVar[str] = "a point, or a ball around it, against a plane"
    frame_fields: ClassVar = ("frame", "plane")

    frame: FrameName
    plane: FrameName = "ground"
    normal: Direction = (0.0, 0.0, 1.0)
    radius: Length = 0.0
    friction: Dimensionless = 0.0
    """coefficient of friction"""

    @field_validator("friction")
    @classmethod
    def _rough(cls, value):
        if isinstance(value, float) and value < 0:
            raise ValueError(f"must be zero or more, got {value:g}")
        return value

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), normal=(0.1, -0.2, 0.9), radius=0.07, restitution=0.6)

    def action(self, name: str, motion: ElementKinematics) -> Action:
        body, plane = motion.frame(self.frame), motion.frame(self.plane)
        R = plane.R @ aligning_rotation(self.normal)
        n, across = R[:, 2], R[:, :2]
        p = body.p - scalar(self.radius) * n
        u = body.v_WF + ca.cross(body.w_WF, p - body.p) - plane.v_WF - ca.cross(plane.w_WF, p - plane.p)
        normal = SX.sym(f"{name}.normal")
        closed = motion.held(name, "closed")
        forces = ContactForces(name, self.gap(motion), ca.dot(n, u), normal, closed)
        pull, power = normal * n, None
        if not (isinstance(self.friction, float) and self.friction == 0.0):
            tangential, slip = SX.sym(f"{name}.tangential", 2), across.T @ u
            forces = replace(
                forces,
                coefficient=scalar(self.friction),
                tangential=tangential,
                slip=slip,
                stuck=motion.held(name, "stuck"),
                direction=ca.vertcat(motion.held(name, "direction_1"), motion.held(name, "direction_2")),
            )
            pull, power = pull + across @ tangential, ca.dot(tangential, slip)
        zero = SX.zeros(3)
        wrenches = (PointWrench(body.body, p, pull, zero), PointWrench(plane.body, p, -pull, zero))
        return Action(wrenches=wrenches, power=power, contact=forces)

    def gap(self, motion: Kinematics) -> SX:
        P = motion.frame(self.plane)
        return ca.dot(P.R @ unit(self.normal), motion.frame(self.frame).p - P.p) - scalar(self.radius)
