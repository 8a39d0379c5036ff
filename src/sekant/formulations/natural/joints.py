"""Joints between bodies that share nothing, as equations between their frames (DERA 2.5), and rolling.

A joint takes a point and an axis by their places in W at the start. On the first body they are kept with two
directions n1, n2 across the axis, so that every equation is independent in every position:

    spherical     P2 - P1 = 0
    revolute      P2 - P1 = 0, n1 . u2 = n2 . u2 = 0
    cylindrical   n1 . (P2 - P1) = n2 . (P2 - P1) = 0, n1 . u2 = n2 . u2 = 0
    prismatic     the same, and n1 . n2' = const (no turning about the axis)
    universal     P2 - P1 = 0, u1 . w2 = 0 (axis u on the first, w on the second body)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.natural.elements import Body
from sekant.formulations.natural.equations import Rows
from sekant.formulations.natural.point_mechanism import PointMechanism, Value
from sekant.formulations.natural.points import Geometric, floats
from sekant.geometry.spatial import SX

Place = Sequence[float]


class JointedMechanism(PointMechanism):
    """Points, bodies and joints. A body may be None: the ground."""

    def perpendicular(self, u: Geometric, w: Geometric, name: str | None = None) -> None:
        """Two vectors that stay at right angles."""
        name = self.named(
            name, self.positions, f"{u.name}_{w.name}" if u.name and w.name else "perpendicular"
        )
        text = f"{u.name or 'u'} . {w.name or 'w'} = 0"
        self.positions[name] = Rows(name, "perpendicular", u.dot(w), text, 1.0, "N*m")
        self.note("perpendicular", name, vectors=[u, w])

    def on_line(
        self, point: Geometric, through: Geometric, along: Geometric, name: str | None = None
    ) -> None:
        """A point that slides on a line of the plane or of a body's directions; `along`: a vector."""
        name = self.named(name, self.positions, f"{point.name}_line" if point.name else "line")
        away = point - through
        if self.dim == 2:
            rows = along.cross(away)
        else:
            place = self.at_start(along.value).ravel()
            keep = np.delete(np.arange(3), int(np.argmax(np.abs(place))))
            rows = along.cross(away).value[keep.tolist()]
        self.positions[name] = Rows(name, "line", SX(rows), f"{point.name} on a line", 1.0, "N")
        self.note("lines", name, point=point, through=through, along=along)

    def revolute(
        self, first: Body | None, second: Body | None, at: Place, axis: Place | None = None, name=None
    ):
        """A hinge at a place in W, about an axis (space)."""
        rows = [self._apart(first, second, at)]
        if self.dim == 3:
            u2, across = self._axis(first, second, axis, "a revolute joint")
            rows += [ca.dot(n, u2) for n in across]
        self._joint("revolute", name, rows, first, second, at=at, axis=axis)

    def spherical(self, first: Body | None, second: Body | None, at: Place, name: str | None = None) -> None:
        """A ball joint at a place in W."""
        self._joint("spherical", name, [self._apart(first, second, at)], first, second, at=at)

    def cylindrical(self, first: Body | None, second: Body | None, at: Place, axis: Place, name=None) -> None:
        """Sliding along and turning about an axis (space only)."""
        if self.dim == 2:
            raise ModelError(
                "a cylindrical joint needs a mechanism in space (dim=3); in the plane use prismatic"
            )
        u2, across = self._axis(first, second, axis, "a cylindrical joint")
        gap = self._apart(first, second, at)
        rows = [ca.dot(n, gap) for n in across] + [ca.dot(n, u2) for n in across]
        self._joint("cylindrical", name, rows, first, second, at=at, axis=axis)

    def prismatic(self, first: Body | None, second: Body | None, at: Place, axis: Place, name=None) -> None:
        """Sliding along an axis without turning."""
        u2, across = self._axis(first, second, axis, "a prismatic joint")
        gap = self._apart(first, second, at)
        rows = [ca.dot(n, gap) for n in across] + [ca.dot(n, u2) for n in across]
        if self.dim == 3:
            other = self._carried(second, self._across(axis)[1], point=False)
            rows.append(ca.dot(across[0], other))
        self._joint("prismatic", name, rows, first, second, at=at, axis=axis)

    def universal(
        self, first: Body | None, second: Body | None, at: Place, axis: Place, other: Place, name=None
    ) -> None:
        """A cross: the axis on the first body stays at right angles to the other axis on the second."""
        if self.dim == 2:
            raise ModelError("a universal joint needs a mechanism in space (dim=3)")
        u1 = self._carried(first, _unit(axis, 3, "axis"), point=False)
        w2 = self._carried(second, _unit(other, 3, "other axis"), point=False)
        rows = [self._apart(first, second, at), ca.dot(u1, w2)]
        self._joint("universal", name, rows, first, second, at=at, axis=axis, other=other)

    def rolling(
        self,
        body: Body,
        center: Geometric,
        radius: float,
        axis: Geometric | None = None,
        plane: Place | None = None,
        normal: Place | None = None,
        name: str | None = None,
    ) -> None:
        """A disc (space: about the vector `axis`; without axis: a ball) that rolls on a fixed plane without slip.

        The distance to the plane is a position equation; the velocity of the touching point is zero, which in space
        is non-holonomic. `plane`: a point of it (the origin), `normal`: upward (the last axis).
        """
        radius = self._positive("rolling: radius", radius)
        up = np.eye(self.dim)[-1] if normal is None else _unit(normal, self.dim, "normal")
        foot = np.zeros(self.dim) if plane is None else floats(plane, self.dim, "plane")
        n = SX(ca.DM(up))
        toward, reach = n, SX(1.0)
        if axis is not None and self.dim == 3:
            inside = n - ca.dot(n, axis.value) * axis.value
            reach = ca.norm_2(inside)
            toward = inside / reach
        arm = -radius * toward
        height = ca.dot(n, center.value - SX(ca.DM(foot))) - radius * reach
        w = body.angular_velocity
        slip = center.velocity + (w * ca.vertcat(-arm[1], arm[0]) if self.dim == 2 else ca.cross(w, arm))
        name = self.named(name, {**self.positions, **self.velocities}, f"{body.name}_rolls")
        self.positions[f"{name}.height"] = Rows(
            f"{name}.height", "rolling", height, "touches the plane", 1.0, "N"
        )
        rows = ca.vertcat(*[ca.dot(SX(ca.DM(s)), slip) for s in across(up)])
        self.velocities[name] = Rows(name, "rolling", rows, "rolls without slip", 1.0, "N")
        self.note(
            "rolling", name, body=body, center=center, radius=radius, axis=axis, plane=plane, normal=normal
        )

    def no_slip(self, point: Geometric, across: Geometric, name: str | None = None) -> None:
        """A knife edge: the point does not move along the vector `across`."""
        name = self.named(name, self.velocities, f"{point.name}_edge" if point.name else "edge")
        row = ca.dot(point.velocity, across.value)
        self.velocities[name] = Rows(name, "edge", row, f"{point.name}' . {across.name} = 0", 1.0, "N")
        self.note("edges", name, point=point, across=across)

    def drive(self, name: str, quantity: Value, value: Value) -> None:
        """Let any quantity of the coordinates follow a function of time; the multiplier gives the force needed."""
        self._new(name, {**self.positions, **self.velocities}, "driver")
        self.positions[name] = Rows(
            name, "driver", SX(quantity) - SX(value), f"{name}: follows time", 1.0, "J"
        )
        self.note("drives", name, quantity=SX(quantity), value=SX(value))

    def motor(self, name: str, body: Body | Geometric, angle: Value, axis: Place | None = None) -> None:
        """Turn a body's x axis, or a vector, by an angle (rad, of time): from its direction at the start.

        In the plane the angle counts from the start; in space it turns about `axis`, fixed in W, across which the
        direction must stay. The multiplier is the torque needed.
        """
        self._new(name, {**self.positions, **self.velocities}, "driver")
        x = body.Q[:, 0] if isinstance(body, Body) else body.value
        start = self.at_start(x).ravel()
        length = float(np.linalg.norm(start))
        start = start / length
        if self.dim == 2:
            side = np.array([-start[1], start[0]])
        else:
            if axis is None:
                raise ModelError(f"motor '{name}': in space give the axis in W")
            up = _unit(axis, 3, "axis")
            if abs(float(up @ start)) > 1e-6:
                raise ModelError(f"motor '{name}': the direction is not across the axis at the start")
            side = np.cross(up, start)
        across_now = -ca.sin(angle) * SX(ca.DM(start)) + ca.cos(angle) * SX(ca.DM(side))
        row = ca.dot(x, across_now) / length
        self.positions[name] = Rows(name, "driver", row, f"{name}: angle follows time", 1.0, "N*m")
        self.note("motors", name, turn=body, angle=SX(angle), axis=axis)

    # -- inside ----------------------------------------------------------------------------------------

    def _carried(self, body: Body | None, place: np.ndarray, point: bool) -> SX:
        """A place or direction of W at the start, as carried along by a body."""
        if body is None:
            return SX(ca.DM(place))
        local = SX(ca.DM(body._local("joint", None, place, point)))
        return body.origin.value + body.Q @ local if point else body.Q @ local

    def _apart(self, first: Body | None, second: Body | None, at: Place) -> SX:
        place = floats(at, self.dim, "the place of a joint")
        return self._carried(second, place, True) - self._carried(first, place, True)

    def _across(self, axis: Any) -> list[np.ndarray]:
        return across(_unit(axis, self.dim, "axis"))

    def _axis(self, first: Body | None, second: Body | None, axis: Any, what: str) -> tuple[SX, list[SX]]:
        if axis is None:
            raise ModelError(f"{what} in space needs an axis")
        u = _unit(axis, self.dim, "axis")
        return self._carried(second, u, False), [self._carried(first, n, False) for n in across(u)]

    def _joint(
        self,
        kind: str,
        name: str | None,
        rows: list[SX],
        first: Body | None,
        second: Body | None,
        **places: Place | None,
    ) -> None:
        if first is None and second is None:
            raise ModelError(f"a {kind} joint needs at least one body")
        ends = [body.name if body else "ground" for body in (first, second)]
        name = self.named(name, self.positions, f"{ends[0]}_{ends[1]}")
        expression = ca.vertcat(*[ca.vec(SX(row)) for row in rows])
        self.positions[name] = Rows(name, kind, expression, f"{kind} of {ends[0]} and {ends[1]}")
        self.note("joints", name, type=kind, first=first, second=second, **places)


def across(u: np.ndarray) -> list[np.ndarray]:
    """Directions of unit length at right angles to the unit vector u: one in the plane, two in space."""
    if u.size == 2:
        return [np.array([-u[1], u[0]])]
    n = np.cross(u, np.eye(3)[int(np.argmin(np.abs(u)))])
    n = n / np.linalg.norm(n)
    return [n, np.cross(u, n)]


def _unit(direction: Any, dim: int, what: str) -> np.ndarray:
    row = floats(direction, dim, what)
    length = float(np.linalg.norm(row))
    if length == 0.0:
        raise ModelError(f"{what} must not be zero")
    return row / length
