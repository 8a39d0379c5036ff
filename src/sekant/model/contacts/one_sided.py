"""Common part of rigid contacts between bodies: a normal force that presses, and friction that sticks and slides."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from sekant.geometry.spatial import SX, scalar
from sekant.model.contact_shapes import Touch
from sekant.model.contacts.base import Contact
from sekant.model.motion import Action, ContactForces, ElementKinematics, Kinematics, PointWrench
from sekant.model.quantities import Dimensionless, NotNegative


class OneSided(Contact):
    """A contact between two bodies.

    With a coefficient of `friction` it sticks and slides, in impacts too: the tangential impulse stops the slip if it
    needs no more than `friction` times the normal one.
    """

    friction: NotNegative[Dimensionless] = 0.0
    """coefficient of friction"""

    def touch(self, motion: Kinematics) -> Touch:
        """Where the bodies meet."""
        raise NotImplementedError(f"contact type '{self.type}' does not say where it touches")

    def gap(self, motion: Kinematics) -> SX:
        return self.touch(motion).gap

    def action(self, name: str, motion: ElementKinematics) -> Action:
        at = self.touch(motion)
        body, other, p, n = at.body, at.other, at.p, at.n
        u = body.v_WF + ca.cross(body.w_WF, p - body.p) - other.v_WF - ca.cross(other.w_WF, p - other.p)
        normal = SX.sym(f"{name}.normal")
        forces = ContactForces(name, at.gap, ca.dot(n, u), normal, motion.held(name, "closed"))
        pull, power = normal * n, None
        if not (isinstance(self.friction, float) and self.friction == 0.0):
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
