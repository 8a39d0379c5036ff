"""Joints between bodies that share no points or vectors, as equations between their frames (DERA 2.5).

A joint is given by the positions of a point and an axis in W at the start. On the first body they are kept with two
directions n1, n2 across the axis, so that every equation is independent in every position:

    spherical     P2 - P1 = 0
    revolute      P2 - P1 = 0, n1 . u2 = n2 . u2 = 0
    cylindrical   n1 . (P2 - P1) = n2 . (P2 - P1) = 0, n1 . u2 = n2 . u2 = 0
    prismatic     the same, and n1 . n2' = const (no turning about the axis)
    universal     P2 - P1 = 0, u1 . w2 = 0 (axis u on the first, w on the second body)
"""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.points.element import Element, register
from sekant.model.points.geometric import EquationRows
from sekant.model.points.mass_parts import BodyPart
from sekant.model.points.masses import localized
from sekant.model.points.values import Direction, Position


class PlacedJoint(Element):
    """A joint between two bodies, or between a body and the ground, at a position in W at the start."""

    section: ClassVar = "joints"
    dims: ClassVar[tuple[int, ...]] = (2, 3)

    first: str = "ground"
    """name of the first body, or ground"""
    second: str = "ground"
    """name of the second body, or ground"""
    at: Position
    """position in W at the start"""

    def compose(self, name: str, m: Any) -> None:
        if m.dim not in self.dims:
            raise ModelError(f"a {self.type} joint requires a spatial mechanism (dim: 3)")
        if self.first == self.second == "ground":
            raise ModelError(
                f"both ends are the ground, but a {self.type} joint must have a body at one end or at both "
                "ends"
            )
        ends = _Ends(m, m.body_or_ground(self.first), m.body_or_ground(self.second))
        expression = ca.vertcat(*[ca.vec(SX(row)) for row in self.rows(ends)])
        m.positions[name] = EquationRows(
            name, str(self.type), expression, f"{self.type} of {self.first} and {self.second}"
        )

    def rows(self, ends: _Ends) -> list[SX]:
        raise NotImplementedError(f"joint type '{self.type}' does not implement 'rows'")


class _Ends:
    """The two sides of a joint."""

    def __init__(self, m: Any, first: BodyPart | None, second: BodyPart | None):
        self.m, self.first, self.second = m, first, second

    def carried(self, body: BodyPart | None, place: np.ndarray, point: bool) -> SX:
        """A position or direction in W at the start that moves with a body."""
        if body is None:
            return SX(ca.DM(place))
        return body.carried(localized(place, body, self.m, point), point)

    def apart(self, at: Any) -> SX:
        place = self.m.numbers(at, "the position of the joint")
        return self.carried(self.second, place, True) - self.carried(self.first, place, True)

    def axis(self, axis: Any) -> tuple[SX, list[SX]]:
        """The axis as the second body carries it, and directions across it as the first does."""
        if axis is None:
            raise ModelError("'axis' is missing; a joint of a spatial mechanism requires an axis")
        u = self.m.unit(axis, "axis")
        return self.carried(self.second, u, False), [self.carried(self.first, n, False) for n in across(u)]


def across(u: np.ndarray) -> list[np.ndarray]:
    """Directions of unit length at right angles to the unit vector u: one in the plane, two in space."""
    if u.size == 2:
        return [np.array([-u[1], u[0]])]
    n = np.cross(u, np.eye(3)[int(np.argmin(np.abs(u)))])
    n = n / np.linalg.norm(n)
    return [n, np.cross(u, n)]


@register
class PlacedRevolute(PlacedJoint):
    """A hinge; in space, about `axis`."""

    type: ClassVar = "revolute"
    shown: ClassVar = "{type: revolute, first: arm, second: ground, at: [0, 0, 0.3 m], axis: [0, 1, 0]}"
    axis: Direction | None = None
    """axis in W at the start; required in space"""

    def rows(self, ends: _Ends) -> list[SX]:
        rows = [ends.apart(self.at)]
        if ends.m.dim == 3:
            u2, normals = ends.axis(self.axis)
            rows += [ca.dot(n, u2) for n in normals]
        return rows


@register
class PlacedSpherical(PlacedJoint):
    """A ball joint."""

    type: ClassVar = "spherical"
    shown: ClassVar = "{type: spherical, first: arm, second: rod, at: [0.4 m, 0, 0]}"

    def rows(self, ends: _Ends) -> list[SX]:
        return [ends.apart(self.at)]


@register
class PlacedCylindrical(PlacedJoint):
    """A joint that slides along and turns about an axis (space only)."""

    type: ClassVar = "cylindrical"
    shown: ClassVar = "{type: cylindrical, first: sleeve, at: [0, 0, 0], axis: [1, 0, 0]}"
    dims: ClassVar = (3,)
    axis: Direction
    """axis in W at the start"""

    def rows(self, ends: _Ends) -> list[SX]:
        u2, normals = ends.axis(self.axis)
        gap = ends.apart(self.at)
        return [ca.dot(n, gap) for n in normals] + [ca.dot(n, u2) for n in normals]


@register
class PlacedPrismatic(PlacedJoint):
    """A joint that slides along an axis without turning."""

    type: ClassVar = "prismatic"
    shown: ClassVar = "{type: prismatic, first: slider, at: [0, 0, 0], axis: [1, 0, 0]}"
    axis: Direction
    """axis in W at the start"""

    def rows(self, ends: _Ends) -> list[SX]:
        u2, normals = ends.axis(self.axis)
        gap = ends.apart(self.at)
        rows = [ca.dot(n, gap) for n in normals] + [ca.dot(n, u2) for n in normals]
        if ends.m.dim == 3:
            other = across(ends.m.unit(self.axis, "axis"))[1]
            rows.append(ca.dot(normals[0], ends.carried(ends.second, other, point=False)))
        return rows


@register
class PlacedUniversal(PlacedJoint):
    """A universal joint: `axis` on the first body stays perpendicular to `other` on the second body (space only)."""

    type: ClassVar = "universal"
    shown: ClassVar = (
        "{type: universal, first: arm, second: shaft, at: [0, 0, 0], axis: [1, 0, 0], other: [0, 1, 0]}"
    )
    dims: ClassVar = (3,)
    axis: Direction
    """axis on the first body, in W at the start"""
    other: Direction
    """axis on the second body, in W at the start"""

    def rows(self, ends: _Ends) -> list[SX]:
        u1 = ends.carried(ends.first, ends.m.unit(self.axis, "axis"), point=False)
        w2 = ends.carried(ends.second, ends.m.unit(self.other, "other"), point=False)
        return [ends.apart(self.at), ca.dot(u1, w2)]
