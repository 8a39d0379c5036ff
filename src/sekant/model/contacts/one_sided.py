"""Common part of rigid contacts between bodies: a normal force that only pushes, and friction that sticks and
slides."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import SX, scalar
from sekant.model.contact_shapes import BallOnPlane, BallOnSurface, Touch, TwoBalls
from sekant.model.contacts.base import Contact, register
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.motion import Action, ContactForces, ElementKinematics, Kinematics, PointWrench
from sekant.model.quantities import Dimensionless, NotNegative, is_known


class OneSided(Contact):
    """A contact between two bodies.

    With a coefficient of `friction`, it sticks or slides, also during impacts: the tangential impulse stops the
    slip if it is at most `friction` times the normal impulse.
    """

    friction: NotNegative[Dimensionless] = 0.0
    """coefficient of friction"""

    def touch(self, motion: Kinematics) -> Touch:
        """The contact point, with the gap, the normal and a tangent."""
        raise NotImplementedError(f"contact type '{self.type}' does not implement 'touch'")

    def gap(self, motion: Kinematics) -> SX:
        return self.touch(motion).gap

    def action(self, name: str, motion: ElementKinematics) -> Action:
        at = self.touch(motion)
        body, other, p, n = at.body, at.other, at.p, at.n
        u = body.v_WF + ca.cross(body.w_WF, p - body.p) - other.v_WF - ca.cross(other.w_WF, p - other.p)
        normal = SX.sym(f"{name}.normal")
        forces = ContactForces(name, at.gap, ca.dot(n, u), normal, motion.held(name, "closed"))
        pull, power = normal * n, None
        if not is_known(self.friction, 0.0):
            across = ca.horzcat(at.t, ca.cross(n, at.t))
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
        wrenches = (PointWrench(body.body, p, pull, zero), PointWrench(other.body, p, -pull, zero))
        return Action(wrenches=wrenches, power=power, contact=forces)


@register
class PointPlane(BallOnPlane, OneSided):
    """The origin of `frame` stays on the side of `plane` to which `normal` points.

    With a `radius`, a ball around this point touches the plane. With a coefficient of `friction`, the contact
    sticks or slides, also during impacts.
    """

    type: ClassVar[str] = "point_plane"
    summary: ClassVar[str] = "contact of a point or a ball with a plane"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), normal=(0.1, -0.2, 0.9), radius=0.07, restitution=0.6)


@register
class PointSurface(BallOnSurface, OneSided):
    """The origin of `frame`, or a ball around it, stays above a height field or a pose surface.

    The radius of the ball must be smaller than the radii of curvature of the hollows in the surface.
    """

    type: ClassVar[str] = "point_surface"
    summary: ClassVar[str] = "contact of a point or a ball with a height field or a pose surface"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
        return cls(frame=stage.frame(), radius=0.07, height=height, restitution=0.5)


@register
class SphereSphere(TwoBalls, OneSided):
    """Balls around the origins of `frame` and `other` do not overlap. One radius may be zero, but not both."""

    type: ClassVar[str] = "sphere_sphere"
    summary: ClassVar[str] = "contact of two balls"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, other = stage.two_frames()
        return cls(frame=frame, radius=0.03, other=other, other_radius=0.02, restitution=0.7)
