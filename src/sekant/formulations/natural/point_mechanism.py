"""A mechanism that is built directly in points, vectors, rods and bodies (DERA chapters 2 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.natural.elements import (
    Body,
    PointMass,
    Rod,
    checked_inertia,
    frame_matrix,
)
from sekant.formulations.natural.equations import Rows
from sekant.formulations.natural.point_base import Points, Value
from sekant.formulations.natural.points import Geometric, floats
from sekant.geometry.spatial import SX

__all__ = ["PointMechanism", "Value"]


class PointMechanism(Points):
    """Points, vectors and what connects them. `gravity` (dim,) m/s^2 in W; SI units throughout.

    Bodies that share a point turn about it; sharing a point and a vector in space makes a hinge. Other joints are
    added in `joints`, forces in `loads`.
    """

    # -- parts with mass -------------------------------------------------------------------------------

    def mass(self, point: Geometric, mass: Value, name: str | None = None) -> PointMass:
        """A point mass (kg)."""
        self._points(point)
        name = self.named(name, self.parts, f"mass_{point.name}" if point.name else "mass")
        part = PointMass(name, (point,), self._positive(f"'{name}': mass", mass, zero=True))
        self.parts[name] = part
        self.note("masses", name, at=point, mass=part.mass)
        return part

    def rod(
        self,
        A: Geometric,
        B: Geometric,
        mass: Value = 0.0,
        length: Value | None = None,
        inertia: Value | None = None,
        name: str | None = None,
        rigid: bool = True,
    ) -> Rod:
        """A straight rod with the two ends given; `length` m, by default the distance at the start.

        `inertia` kg m^2 about its middle, across; by default that of a thin rod. `rigid`: constrain its length.
        """
        self._points(A, B)
        stem = f"{A.name}{B.name}" if A.name and B.name else "rod"
        name = self.named(name, self.parts, stem)
        if length is None:
            length = float(np.linalg.norm(self.at_start((B - A).value)))
        span = self._positive(f"rod '{name}': length", length)
        mass = self._positive(f"rod '{name}': mass", mass, zero=True)
        inertia = mass * span**2 / 12 if inertia is None else inertia
        part = Rod(name, (A, B), mass, span, self._positive(f"rod '{name}': inertia", inertia, zero=True))
        self.parts[name] = part
        fields = {"mass": mass, "length": span, "inertia": part.inertia, "rigid": rigid}
        with self.noted("rods", name, ends=[A, B], **fields):
            if rigid:
                self.distance(A, B, span, name=name)
        return part

    def body(
        self,
        name: str,
        frame: Sequence[Geometric],
        mass: Value = 0.0,
        com: Sequence[float] | None = None,
        inertia: Any = 0.0,
        rigid: bool = True,
        lengths: Sequence[float] | None = None,
    ) -> Body:
        """A rigid body in a local frame: origin (a point), then one (plane) or two (space) points or vectors.

        The second entry lies on the local x axis, the third in the local xy plane. `com` (dim,) m and `inertia`
        kg m^2 about the center of mass are in this frame. `rigid`: constrain lengths and angles of the frame as
        they are at the start, or as `lengths` says: distance (or length) of the second, and in space of the
        third entry, and the product of both directions.
        """
        self._new(name, self.parts, "body")
        if len(frame) != self.dim:
            raise ModelError(f"body '{name}': a frame takes {self.dim} points or vectors (got {len(frame)})")
        places = [self.at_start(point.value).ravel() for point in frame]
        U, R = frame_matrix(name, frame, places)
        if lengths is not None:
            R = _given_frame(name, lengths, self.dim)
            S = U @ frame_matrix(name, frame, places)[1]
            U = S @ np.linalg.inv(R)
        center = np.zeros(self.dim) if com is None else floats(com, self.dim, f"body '{name}': com")
        moments = checked_inertia(name, inertia, self.dim)
        mass = self._positive(f"body '{name}': mass", mass, zero=True)
        part = Body(name, tuple(frame), mass, U, center, moments)
        self.parts[name] = part
        if rigid:
            self._rigidity(name, frame, R)
        fields = {"mass": mass, "com": center, "inertia": moments, "rigid": rigid}
        self.note("bodies", name, frame=list(frame), lengths=_frame_lengths(R), **fields)
        return part

    def _rigidity(self, name: str, frame: Sequence[Geometric], R: np.ndarray) -> None:
        """Equations that keep the frame rigid; those that other bodies state already, or that hold always, not."""
        O = frame[0]
        arms = [point - O if point.is_point else point for point in frame[1:]]
        texts = [f"{point.name} - {O.name}" if point.is_point else point.name for point in frame[1:]]
        for k, (arm, text) in enumerate(zip(arms, texts, strict=True)):
            self._length_row(f"{name}.length{k + 1}", arm, float(np.linalg.norm(R[:, k])), text)
        if len(arms) == 2:
            product = float(R[0, 0] * R[0, 1])
            self._row(
                f"{name}.angle",
                "rigid",
                arms[0].dot(arms[1]) - product,
                f"({texts[0]}) . ({texts[1]}) = {product:.6g}",
                tuple(sorted(texts)),
            )

    def _length_row(self, name: str, arm: Geometric, length: Any, text: str, kind: str = "rigid") -> None:
        key = ("length", *sorted(text.split(" - ")))
        shown = f"{length:.6g}" if isinstance(length, (int, float)) else str(length)
        self._row(name, kind, arm.dot(arm) - length**2, f"|{text}|^2 = {shown}^2", key, -2 * length, "N")

    def _row(
        self,
        name: str,
        kind: str,
        expression: SX,
        text: str,
        key: tuple[str, ...],
        conjugate: Any = 1.0,
        unit="J",
    ) -> None:
        if (key in self._rigid and all(key)) or not self._moves(expression):
            return
        self._rigid.add(key)
        self.positions[name] = Rows(name, kind, SX(expression), text, conjugate, unit)

    def _moves(self, expression: SX) -> bool:
        """Whether an expression depends on any free coordinate."""
        free = [c.symbol for c in self.coordinates if c.fixed is None]
        return bool(free) and ca.depends_on(SX(expression), ca.vertcat(*free))

    def distance(
        self, A: Geometric, B: Geometric, length: Value | None = None, name: str | None = None
    ) -> None:
        """A constant distance between two points: a rod without mass."""
        self._points(A, B)
        name = self.named(name, self.positions, f"{A.name}{B.name}" if A.name and B.name else "distance")
        if length is None:
            length = float(np.linalg.norm(self.at_start((B - A).value)))
        length = self._positive(f"'{name}': length", length)
        text = f"{B.name} - {A.name}" if A.name and B.name else name
        self._length_row(name, B - A, length, text, "distance")
        self.lines.setdefault(name, ("rod", A, B))
        self.note("distances", name, ends=[A, B], length=length)

    def constrain(self, name: str, expression: Value, text: str = "", unit: str = "J") -> None:
        """Any equation expression = 0 of coordinates and time."""
        self._new(name, {**self.positions, **self.velocities}, "constraint")
        self.positions[name] = Rows(name, "constraint", SX(expression), text or f"{name} = 0", 1.0, unit)
        self.note("constraints", name, value=SX(expression), text=text, unit=unit)

    def constrain_velocity(self, name: str, expression: Value, text: str = "") -> None:
        """Any equation expression = 0 that is linear in the velocities (non-holonomic)."""
        self._new(name, {**self.positions, **self.velocities}, "constraint")
        self.velocities[name] = Rows(name, "velocity", SX(expression), text or f"{name} = 0", 1.0, "W*s")
        self.note("velocity_constraints", name, value=SX(expression), text=text)

    def output(self, name: str, expression: Value, unit: str = "", derivatives: int = 0) -> None:
        """Something to report: an expression of coordinates, velocities and time.

        `derivatives`: up to which order its time derivatives, ``name.rate`` and ``name.rate2``, are wanted too.
        """
        self._new(name, self.outputs, "output")
        self.outputs[name] = (SX(expression), unit)
        if derivatives not in (0, 1, 2):
            raise ModelError(f"output '{name}': derivatives are known to order 2 (got {derivatives})")
        if derivatives == 2 and self.coordinates and ca.depends_on(SX(expression), self.y_rate):
            raise ModelError(f"output '{name}' contains velocities: only its first derivative is known")
        self.derivatives[name] = derivatives
        self.note("outputs", name, value=SX(expression), unit=unit, derivatives=derivatives)

    # -- checks ----------------------------------------------------------------------------------------

    def _points(self, *items: Geometric) -> None:
        for item in items:
            if not isinstance(item, Geometric) or item.mechanism is not self:
                raise ModelError(f"mechanism '{self.name}': {item!r} is no point of this mechanism")
            if not item.is_point:
                raise ModelError(f"'{item.name or 'expression'}' is a vector; a point is needed here")

    def _positive(self, what: str, value: Value, zero: bool = False) -> Any:
        if isinstance(value, ca.SX) and not value.is_constant():
            return value
        number = float(value)
        if not (number > 0 or (zero and number == 0)) or not np.isfinite(number):
            raise ModelError(f"{what} must be {'zero or ' if zero else ''}positive (got {number:g})")
        return number


def _frame_lengths(R: np.ndarray) -> np.ndarray:
    """What `_given_frame` makes R of."""
    if len(R) == 1:
        return R[0]
    return np.array([R[0, 0], np.hypot(R[0, 1], R[1, 1]), R[0, 0] * R[0, 1]])


def _given_frame(name: str, lengths: Sequence[float], dim: int) -> np.ndarray:
    expected = 1 if dim == 2 else 3
    row = np.asarray(lengths, float).ravel()
    if row.size != expected or not np.all(np.isfinite(row)):
        raise ModelError(f"body '{name}': lengths takes {expected} numbers (got {row.size})")
    if dim == 2:
        return np.array([[row[0]]])
    along = row[2] / row[0]
    height = row[1] ** 2 - along**2
    if height <= 0:
        raise ModelError(f"body '{name}': its frame would be collinear for the lengths {row.tolist()}")
    return np.array([[row[0], along], [0.0, np.sqrt(height)]])
