"""Equations between points and vectors: right angles, lines, edges, rolling, any other by an expression."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.points.element import Element, register
from sekant.model.points.geometric import EquationRows
from sekant.model.points.joints import across
from sekant.model.points.values import Direction, Length, Position, Values


@register
class Perpendicular(Element):
    """Keeps two vectors perpendicular."""

    section: ClassVar = "perpendicular"
    shown: ClassVar = "{vectors: [u, w]}"

    vectors: tuple[str, str]
    """names of two vectors"""

    def compose(self, name: str, m: Any) -> None:
        u, w = (m[n] for n in self.vectors)
        text = f"{u.name} . {w.name} = 0"
        m.positions[name] = EquationRows(name, "perpendicular", u.dot(w), text, 1.0, "N*m", stated=True)


@register
class OnLine(Element):
    """A point that slides along a line. The line contains another point; a third point or a vector gives its
    direction."""

    section: ClassVar = "lines"
    shown: ClassVar = "{point: B, through: O, to: P}"

    point: str
    """name of the point that slides"""
    through: str
    """name of a point on the line"""
    to: str | None = None
    """name of another point on the line"""
    along: str | None = None
    """name of a vector along the line"""

    @model_validator(mode="after")
    def _one(self):
        if (self.to is None) == (self.along is None):
            raise ValueError(
                "give the direction of the line, either by 'to' (a point) or by 'along' (a vector)"
            )
        return self

    def compose(self, name: str, m: Any) -> None:
        point, through = m.point(self.point), m.point(self.through)
        along = m[self.along] if self.along is not None else m.point(self.to) - through
        away = point - through
        if m.dim == 2:
            rows = along.cross(away)
        else:
            place = m.at_start(along.value).ravel()
            keep = np.delete(np.arange(3), int(np.argmax(np.abs(place))))
            rows = along.cross(away).value[keep.tolist()]
        m.positions[name] = EquationRows(
            name, "line", SX(rows), f"{point.name} on a line", 1.0, "N", stated=True
        )


@register
class RollingDisc(Element):
    """A disc or a ball that rolls on a fixed plane without slip. In space, the body is a disc whose axis
    is the vector `axis`, or a ball if `axis` is not given.

    The distance to the plane is constrained by a position equation. The velocity of the contact point is zero,
    which is a non-holonomic constraint in space.
    """

    section: ClassVar = "rolling"
    shown: ClassVar = "{body: disc, center: C, radius: 0.3 m}"

    body: str
    """name of the body"""
    center: str
    """name of the point at the center of the disc or ball"""
    radius: Length
    """radius of the disc or ball"""
    axis: str | None = None
    """in space: name of the vector along the axis of the disc"""
    plane: Position | None = None
    """a point on the plane, in W; by default the origin of W"""
    normal: Direction | None = None
    """normal of the plane, in W, pointing toward the center; by default the last axis of W"""

    def compose(self, name: str, m: Any) -> None:
        radius = m.constant(m.number(self.radius, "radius"), "radius")
        up = np.eye(m.dim)[-1] if self.normal is None else m.unit(self.normal, "normal")
        foot = np.zeros(m.dim) if self.plane is None else m.numbers(self.plane, "plane")
        body, center = m.body(self.body), m.point(self.center)
        n = SX(ca.DM(up))
        toward, reach = n, SX(1.0)
        if self.axis is not None and m.dim == 3:
            axis = m[self.axis].value
            inside = n - ca.dot(n, axis) * axis
            reach = ca.norm_2(inside)
            toward = inside / reach
        arm = -radius * toward
        height = ca.dot(n, center.value - SX(ca.DM(foot))) - radius * reach
        w = body.angular_velocity
        slip = center.velocity + (w * ca.vertcat(-arm[1], arm[0]) if m.dim == 2 else ca.cross(w, arm))
        key = f"{name}.height"
        m.positions[key] = EquationRows(key, "rolling", height, "touches the plane", 1.0, "N", stated=True)
        rows = ca.vertcat(*[ca.dot(SX(ca.DM(s)), slip) for s in across(up)])
        m.velocities[name] = EquationRows(name, "rolling", rows, "rolls without slip", 1.0, "N")


@register
class Edge(Element):
    """A knife edge, whose point does not move along the vector `across`."""

    section: ClassVar = "edges"
    shown: ClassVar = "{point: C, across: w}"

    point: str
    """name of the point at the edge"""
    across: str
    """name of the vector along which the point does not move"""

    def compose(self, name: str, m: Any) -> None:
        point, across = m.point(self.point), m[self.across]
        row = ca.dot(point.velocity, across.value)
        m.velocities[name] = EquationRows(name, "edge", row, f"{point.name}' . {across.name} = 0", 1.0, "N")


class EquationItem(Element):
    """One or more equations of the form `value` = 0."""

    short: ClassVar = "value"

    value: Values
    """an expression, or a list of expressions, that must be zero"""
    text: str = ""
    """description of the equation, for readers"""

    def column(self, m: Any) -> SX:
        """(n,) the values."""
        column = m.column(self.value)
        if not column.numel():
            raise ModelError("the list of equations is empty")
        return column


@register
class Equation(EquationItem):
    """One or more equations of the form `value` = 0 in coordinates and time."""

    section: ClassVar = "constraints"
    shown: ClassVar = '{value: "A.x^2 + A.y^2 - 0.16", text: A stays on a circle}'

    unit: str = "J"
    """unit of the multiplier of the equation"""

    def compose(self, name: str, m: Any) -> None:
        m.positions[name] = EquationRows(
            name, "constraint", self.column(m), self.text or f"{name} = 0", 1.0, self.unit, stated=True
        )


@register
class VelocityEquation(EquationItem):
    """One or more equations of the form `value` = 0 that are linear in the velocities (non-holonomic)."""

    section: ClassVar = "velocity_constraints"
    shown: ClassVar = "A.vx*sin(turn) - A.vy*cos(turn)"

    def compose(self, name: str, m: Any) -> None:
        m.velocities[name] = EquationRows(
            name, "velocity", self.column(m), self.text or f"{name} = 0", 1.0, "W*s"
        )
