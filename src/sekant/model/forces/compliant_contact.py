"""Compliant contacts, which share the law of Hunt and Crossley with regularized friction.

With the penetration d of the undeformed shapes and its rate d',

    N = k s(d) max(0, 1 + 3/2 c d') ,   s(d) = d (d^2 + onset^2)^((n - 1) / 2) ,        d > 0, else N = 0
    T = -mu N u / sqrt(|u|^2 + width^2) ,                                               u: velocity of slip

so that the contact never pulls, not even when something else tears it open. An impact at speed v rebounds at about
(1 - c v) v (K. H. Hunt, F. R. E. Crossley: Coefficient of restitution interpreted as damping in vibroimpact, 1975).
The `onset` makes s(d) regular at d = 0, where d^n has no series; it changes a force by (n - 1)/2 (onset / d)^2 of
itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX, scalar
from sekant.model.contact_shapes import BallOnPlane, BallOnSurface, Touch, TwoBalls
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, FrameState, Kinematics, PointWrench
from sekant.model.quantities import (
    AnyQuantity,
    Dimensionless,
    Length,
    NotNegative,
    Positive,
    Slowness,
    Velocity,
    is_known,
)

EXAMPLE: Mapping[str, Any] = MappingProxyType(
    {"stiffness": 37.0, "exponent": 1.5, "dissipation": 0.05, "friction": 0.3, "width": 0.4}
)
"""The parameters of random instances: stiff enough to have an effect, with little enough damping to stay in
contact."""


def elastic(stiffness: Any, exponent: Any, onset: Any, gap: SX, touching: SX) -> tuple[SX, SX]:
    """The force k s(d) of the spring between shapes that are `gap` (m) apart, and its energy."""
    k, n, small = scalar(stiffness), scalar(exponent), scalar(onset)
    d = ca.if_else(touching, -gap, 0)
    if is_known(exponent, 1.0):
        return k * d, k * d**2 / 2
    size = d**2 + small**2
    # roots cost a fraction of a power
    grown = ca.sqrt(ca.sqrt(size)) if is_known(exponent, 1.5) else size ** ((n - 1) / 2)
    energy = k / (n + 1) * (size * grown - small ** (n + 1))
    return k * d * grown, energy


def push(spring: SX, touching: SX, gap_rate: SX, dissipation: Any) -> SX:
    """N from the spring's force: more while the gap closes, less while it opens, and never a pull."""
    if is_known(dissipation, 0.0):
        return spring
    rate = ca.if_else(touching, -gap_rate, 0)
    return spring * ca.fmax(0, 1 + 1.5 * scalar(dissipation) * rate)


class CompliantContact(Force):
    """Two bodies that push each other apart where they overlap; subclasses define where."""

    stiffness: Positive[AnyQuantity]
    """k in N/m^n; at the penetration d, the elastic force is k d^n"""
    exponent: Dimensionless = 1.5
    """exponent n: 1.5 for round bodies (Hertz), 1 for a linear spring"""
    dissipation: NotNegative[Slowness] = 0.0
    """dissipation c: after an impact at speed v, the rebound speed is about (1 - c v) v"""
    friction: NotNegative[Dimensionless] = 0.0
    """coefficient of friction"""
    width: Positive[Velocity] = 1e-3
    """slip velocity at which friction reaches 71 % of its full value; at lower slip the contact creeps instead of
    sticking"""
    onset: Positive[Length] = 1e-6
    """penetration below which the force grows linearly"""

    @model_validator(mode="after")
    def _possible(self):
        if isinstance(self.exponent, float) and self.exponent < 1:
            raise ValueError(f"exponent must be at least 1 (got {self.exponent:g}); use 1.5 for round bodies")
        return self

    def touch(self, motion: Kinematics) -> Touch:
        """The contact point, with the gap, the normal and a tangent."""
        raise NotImplementedError(f"force type '{self.type}' does not implement 'touch'")

    def action(self, motion: Kinematics) -> Action:
        """The forces. Without contact, only the test for contact is evaluated."""
        at = self.touch(motion)
        body, other, p, n, gap = at.body, at.other, at.p, at.n, at.gap
        touching = (gap if at.apart is None else at.apart) < 0
        slip = _velocity(body, p) - _velocity(other, p)
        gap_rate = ca.dot(n, slip)
        spring, energy = elastic(self.stiffness, self.exponent, self.onset, gap, touching)
        normal = push(spring, touching, gap_rate, self.dissipation)
        force = normal * n
        power = -(spring - normal) * gap_rate
        if not is_known(self.friction, 0.0):
            u = slip - gap_rate * n
            drag = -scalar(self.friction) * normal / ca.sqrt(ca.dot(u, u) + scalar(self.width) ** 2) * u
            force, power = force + drag, power + ca.dot(drag, u)
        force, energy, power = (ca.if_else(touching, x, 0) for x in (force, energy, power))
        lossless = is_known(self.friction, 0.0) and is_known(self.dissipation, 0.0)
        zero = SX.zeros(3)
        return Action(
            wrenches=(
                PointWrench(body.body, p, force, zero, touching),
                PointWrench(other.body, p, -force, zero, touching),
            ),
            potential=energy,
            power=None if lossless else power,
            outputs={"gap": ("m", gap), "normal_force": ("N", normal), "force": ("N", force)},
        )


def _velocity(state: FrameState, p: SX) -> SX:
    """Velocity (3,) in m/s, in W, of the point of a body at p (3,)."""
    return state.v_WF + ca.cross(state.w_WF, p - state.p)


@register
class PlaneContact(BallOnPlane, CompliantContact):
    """Contact of a plane with a ball around the origin of `frame`, or with this origin itself. The ball or point is
    on the side to which `normal` points.

    Friction acts at the surface of the undeformed ball, so the rolling radius is the full radius.
    """

    type: ClassVar[str] = "plane_contact"
    summary: ClassVar[str] = "a point or a ball on a plane: Hunt-Crossley law with regularized friction"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, plane = stage.two_frames()
        return cls(frame=frame, radius=4.1, plane=plane, normal=(0.3, -0.5, 0.7), **EXAMPLE)


@register
class SphereContact(TwoBalls, CompliantContact):
    """Contact of two balls around the origins of `frame` and `other`. The contact point divides the line between the
    centers in the ratio of the radii."""

    type: ClassVar[str] = "sphere_contact"
    summary: ClassVar[str] = "two balls: Hunt-Crossley law with regularized friction"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, other = stage.two_frames()
        return cls(frame=frame, radius=3.1, other=other, other_radius=2.3, **EXAMPLE)


@register
class SurfaceContact(BallOnSurface, CompliantContact):
    """Contact of a ball around the origin of `frame`, or of this origin itself, with a height field or a pose surface
    below the ball or point.

    The gap is the distance to the nearest point of the surface minus the radius. The radius must be smaller than the
    radii of curvature of the hollows in the surface.
    """

    type: ClassVar[str] = "surface_contact"
    summary: ClassVar[str] = (
        "a point or a ball on a height field or a pose surface: Hunt-Crossley law with regularized friction"
    )

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, surface = stage.two_frames()
        height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
        return cls(frame=frame, radius=5.3, surface=surface, height=height, **EXAMPLE)
