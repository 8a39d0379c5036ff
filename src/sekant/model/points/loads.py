"""Springs, dampers, forces, torques, energies (DERA 2.4, 2.6), and outputs."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np
from pydantic import Field

from sekant.geometry.spatial import SX
from sekant.model.points.element import Between, Element, register
from sekant.model.points.values import (
    Angle,
    Anything,
    Damping,
    Force,
    ForceVector,
    Length,
    RotationalDamping,
    RotationalStiffness,
    Stiffness,
    Torque,
    Values,
)


def _stretching(m: Any, ends: tuple[str, str], kind: str = "", name: str = "") -> tuple[Any, SX]:
    """The vector between two points, and the rate (m/s) of its length.

    `kind`, `name`: of an element that acts along it, whose ends must be apart.
    """
    A, B = m.points(ends)
    arm = B - A
    if kind:
        m.spans[name] = (kind, ends, arm.dot(arm))
    return arm, ca.dot(arm.velocity, arm.value) / arm.length


@register
class PointSpring(Between):
    """A linear spring between two points, optionally with a damper, which is then named ``name.damper``."""

    section: ClassVar = "springs"
    shown: ClassVar = "{ends: [A, B], stiffness: 300 N/m, length: 0.8 m}"

    stiffness: Stiffness
    """tension per elongation"""
    length: Length | None = None
    """free length; by default the length at the start"""
    damping: Damping | None = None
    """tension per rate of the length"""

    def compose(self, name: str, m: Any) -> None:
        arm, _ = _stretching(m, self.ends)
        k = m.value(self.stiffness)
        given = self.length
        length = SX(float(np.linalg.norm(m.at_start(arm.value)))) if given is None else m.value(given)
        needs_a_line = self.damping is not None or not length.is_zero()
        _, speed = _stretching(m, self.ends, "spring" if needs_a_line else "", name)
        square = arm.dot(arm) if length.is_zero() else (arm.length - length) ** 2
        m.potentials[name] = k * square / 2
        m.outputs[f"{name}.length"] = (arm.length, "m", 0)
        m.outputs[f"{name}.force"] = (k * (arm.length - length), "N", 0)
        m.lines[name] = ("spring", *m.points(self.ends))
        if self.damping is not None:
            c = m.value(self.damping)
            m.rayleigh[f"{name}.damper"] = c * speed**2 / 2
            m.outputs[f"{name}.damper.force"] = (c * speed, "N", 0)


@register
class AngularSpring(Element):
    """A torsion spring that acts on an angle."""

    section: ClassVar = "angular_springs"
    shown: ClassVar = "{angle: turn, stiffness: 12 N*m/rad}"

    angle: Angle
    """name of an item of `angles` or `tracked`, or an expression of an angle"""
    stiffness: RotationalStiffness
    """torque per deflection of the angle"""
    rest: Angle = 0.0
    """angle at which the spring is relaxed"""

    def compose(self, name: str, m: Any) -> None:
        m.potentials[name] = m.value(self.stiffness) * (m.value(self.angle) - m.value(self.rest)) ** 2 / 2


@register
class PointDamper(Between):
    """A linear damper between two points."""

    section: ClassVar = "dampers"
    shown: ClassVar = "{ends: [A, B], damping: 20 N*s/m}"

    damping: Damping
    """force per relative velocity"""
    isotropic: bool = False
    """whether to damp the whole relative velocity of the ends, not only the component along the line between
    the ends"""

    def compose(self, name: str, m: Any) -> None:
        arm, speed = _stretching(m, self.ends, "" if self.isotropic else "damper", name)
        c = m.value(self.damping)
        m.lines.setdefault(name, ("damper", *m.points(self.ends)))
        m.rayleigh[name] = c * (ca.sumsqr(arm.velocity) if self.isotropic else speed**2) / 2
        m.outputs[f"{name}.force"] = (c * speed, "N", 0)


class OnBody(Element):
    """An item that acts on the rotation of a body relative to another body or the ground."""

    body: str
    """name of the body on which the item acts"""
    against: str = "ground"
    """name of the other body, or ground"""

    def turning(self, m: Any) -> SX:
        """Angular velocity of the body relative to the other body."""
        other = m.body_or_ground(self.against)
        return m.body(self.body).angular_velocity - (other.angular_velocity if other is not None else 0)


@register
class AngularDamper(OnBody):
    """A damper on the angular velocity of a body relative to another body or the ground."""

    section: ClassVar = "angular_dampers"
    shown: ClassVar = "{body: crank, damping: 0.1 N*m*s/rad}"

    damping: RotationalDamping
    """torque per angular velocity"""

    def compose(self, name: str, m: Any) -> None:
        m.rayleigh[name] = m.value(self.damping) * ca.sumsqr(self.turning(m)) / 2


@register
class ForceAtPoint(Element):
    """A force at a point. Its components in W are numbers or expressions of time, coordinates and velocities."""

    section: ClassVar = "forces"
    shown: ClassVar = '{at: A, force: ["0.5*sin(3*t)", 0]}'

    at: str
    """name of the point on which the force acts"""
    force: ForceVector
    """components in W"""

    def compose(self, name: str, m: Any) -> None:
        m.works[name] = [(m.point(self.at).velocity, m.column(self.force, m.dim, "force"))]


@register
class ForceBetween(Between):
    """A force along the line between two points; a positive force pulls them together."""

    section: ClassVar = "actuators"
    shown: ClassVar = "{ends: [A, B], force: 30*sin(t)}"

    force: Force
    """force that pulls the ends together"""

    def compose(self, name: str, m: Any) -> None:
        m.works[name] = [(_stretching(m, self.ends, "actuator", name)[1], -m.value(self.force))]


@register
class BodyTorque(OnBody):
    """A torque on a body, whose reaction acts on another body or the ground."""

    section: ClassVar = "torques"
    shown: ClassVar = "{body: crank, torque: 1.5 N*m}"

    torque: Torque
    """torque: in the plane a number, in space three components in W"""

    def compose(self, name: str, m: Any) -> None:
        column = m.column(self.torque, 1 if m.dim == 2 else 3, "torque")
        m.works[name] = [(self.turning(m), column)]


@register
class Work(Element):
    """A generalized force that acts on a quantity with the given rate. The power is `rate` times `force`."""

    section: ClassVar = "works"
    shown: ClassVar = "{rate: A.vx, force: -0.2*A.vx}"

    rate: Values
    """rate of the quantity"""
    force: Values
    """generalized force"""

    def compose(self, name: str, m: Any) -> None:
        rate = m.column(self.rate)
        m.works[name] = [(rate, m.column(self.force, rate.numel(), "force"))]


@register
class Potential(Element):
    """A potential energy (J), given by any expression of coordinates, time and tables."""

    section: ClassVar = "potentials"
    shown: ClassVar = '"50*(A.x - 0.3)^2"'
    short: ClassVar = "value"

    value: Anything
    """potential energy in J, an expression of coordinates, time and tables"""

    def compose(self, name: str, m: Any) -> None:
        m.potentials[name] = m.value(self.value)


@register
class Dissipation(Element):
    """A dissipation function D in watts. Its generalized forces are -dD/dv."""

    section: ClassVar = "dissipations"
    shown: ClassVar = '"0.5*A.vx^2"'
    short: ClassVar = "value"

    value: Anything
    """dissipation function in W, an expression of coordinates, velocities and time"""

    def compose(self, name: str, m: Any) -> None:
        m.rayleigh[name] = m.value(self.value)


@register
class ReportedOutput(Element):
    """A quantity to report: an expression of coordinates, velocities and time."""

    section: ClassVar = "outputs"
    shown: ClassVar = '{value: "hypot(A.x, A.y)", unit: m}'
    short: ClassVar = "value"

    value: Values
    """an expression, or a list of expressions"""
    unit: str = ""
    """unit, for results and plots"""
    derivatives: int = Field(default=0, ge=0, le=8)
    """highest order of the time derivatives ``name.rate``, ``name.rate2``, ... that are also reported"""

    def compose(self, name: str, m: Any) -> None:
        m.outputs[name] = (m.column(self.value), self.unit, self.derivatives)
