"""Angles and other quantities that are integrated from rates, and motions given as functions of time."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.points.element import Element, register
from sekant.model.points.geometric import EquationRows
from sekant.model.points.values import Angle as AngleValue
from sekant.model.points.values import Anything, Direction


@register
class Angle(Element):
    """The angle from the x axis of W to a body's x axis or to a vector, including full turns (plane only).

    It is integrated from its rate (DERA 3.2.2, 5.3.1); at the start, it is in (-pi, pi] unless `start` is
    given.
    """

    section: ClassVar = "angles"
    shown: ClassVar = "{of: arm}"

    of: str
    """name of the body or vector whose angle is integrated"""
    start: AngleValue | None = None
    """angle at the start; by default computed from the start positions"""

    def compose(self, name: str, m: Any) -> None:
        if m.dim != 2:
            raise ModelError(
                "angles exist only in planar mechanisms (dim: 2); define the rate of the angle in the "
                "section 'tracked'"
            )
        x = m.direction(self.of)
        dx = m.rate(x)
        rate = (x[0] * dx[1] - x[1] * dx[0]) / ca.sumsqr(x)
        m.track(name, rate, ca.atan2(x[1], x[0]) if self.start is None else m.value(self.start))


@register
class Tracked(Element):
    """A quantity that is integrated over time from its rate (DERA 3.2.2).

    Other items may depend on it. If the rate is not linear in the velocities, forces and outputs may depend
    on the quantity, but energies, dissipations and constraints may not, and no generalized force may act on
    it.
    """

    section: ClassVar = "tracked"
    shown: ClassVar = "{rate: A.vx, start: 0}"

    rate: Anything
    """rate of the quantity, an expression of time, coordinates and velocities"""
    start: Anything = 0.0
    """value at the start: a number or an expression of coordinates"""

    def compose(self, name: str, m: Any) -> None:
        m.track(name, m.value(self.rate), m.value(self.start))


@register
class Motor(Element):
    """Turns a body's x axis, or a vector, by an angle that is measured from its direction at the start.

    In the plane, a positive angle is counterclockwise. In space, the rotation is about `axis`, which is fixed in
    W and must be perpendicular to this direction. The multiplier of the motor is the required torque.
    """

    section: ClassVar = "motors"
    shown: ClassVar = "{turn: arm, angle: 2*pi*t}"

    turn: str
    """name of the body or vector that the motor turns"""
    angle: AngleValue
    """angle as a function of time"""
    axis: Direction | None = None
    """axis in W; required in space"""

    def compose(self, name: str, m: Any) -> None:
        x = m.direction(self.turn)
        start = m.at_start(x).ravel()
        length = float(np.linalg.norm(start))
        if length == 0.0:
            raise ModelError(
                f"'{self.turn}' has length 0 at the start and therefore no direction; change its start value"
            )
        start = start / length
        if m.dim == 2:
            side = np.array([-start[1], start[0]])
        else:
            if self.axis is None:
                raise ModelError(
                    "'axis' is missing; a motor of a spatial mechanism requires an axis, given in W"
                )
            up = m.unit(self.axis, "axis")
            if abs(float(up @ start)) > 1e-6:
                raise ModelError(
                    f"the direction of '{self.turn}' is not perpendicular to the axis at the start; correct "
                    "the axis"
                )
            side = np.cross(up, start)
        angle = m.value(self.angle)
        across_now = -ca.sin(angle) * SX(ca.DM(start)) + ca.cos(angle) * SX(ca.DM(side))
        row = ca.dot(x, across_now) / length
        m.positions[name] = EquationRows(name, "motion", row, f"{name}: angle follows time", 1.0, "N*m")
        m.given[name] = angle


@register
class Drive(Element):
    """Prescribes any expression of the coordinates as a function of time. The multiplier of the drive is the
    required force."""

    section: ClassVar = "drives"
    shown: ClassVar = "{quantity: B.x, value: 1.2 + 0.1*sin(5*t)}"

    quantity: Anything
    """prescribed quantity, as an expression of coordinates"""
    value: Anything
    """value of the quantity as a function of time"""

    def compose(self, name: str, m: Any) -> None:
        quantity, value = m.value(self.quantity), m.value(self.value)
        text = f"{name}: follows time"
        m.positions[name] = EquationRows(name, "motion", quantity - value, text, 1.0, "J", stated=True)
        m.given[name] = value
