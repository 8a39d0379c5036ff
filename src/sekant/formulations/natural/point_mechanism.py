"""A mechanism that is built directly in points, vectors, rods and bodies (DERA chapters 2 to 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError, suggest
from sekant.formulations.natural.elements import (
    Body,
    Part,
    PointMass,
    Rod,
    checked_inertia,
    frame_matrix,
)
from sekant.formulations.natural.equations import Rows
from sekant.formulations.natural.notes import Note
from sekant.formulations.natural.points import AXES, FOLLOWS, Coordinate, Geometric, floats
from sekant.geometry.lookups import Lookups
from sekant.geometry.spatial import SX
from sekant.geometry.tables import Table

Value = Any  # a number, or a CasADi expression of `PointMechanism.t`, of coordinates and their rates


class PointMechanism:
    """Points, vectors and what connects them. `gravity` (dim,) m/s^2 in W; SI units throughout.

    Bodies that share a point turn about it; sharing a point and a vector in space makes a hinge. Other joints are
    added in `joints`, forces in `loads`.
    """

    def __init__(self, dim: int = 2, gravity: Sequence[float] | None = None, name: str = "mechanism"):
        if dim not in (2, 3):
            raise ModelError(f"mechanism '{name}': dim must be 2 (plane) or 3 (space) (got {dim})")
        self.name, self.dim = name, dim
        default = (0.0, -9.81) if dim == 2 else (0.0, 0.0, -9.81)
        self.gravity = floats(default if gravity is None else gravity, dim, f"mechanism '{name}': gravity")
        self.t = SX.sym("t")
        self.lookups = Lookups()
        self.coordinates: list[Coordinate] = []
        self._numbers: dict[int, int] = {}
        self.parameters: dict[str, tuple[SX, float]] = {}
        self.geometry: dict[str, Geometric] = {}
        self.parts: dict[str, Part] = {}
        self.positions: dict[str, Rows] = {}
        self.velocities: dict[str, Rows] = {}
        self.potentials: dict[str, SX] = {}
        self.rayleigh: dict[str, SX] = {}
        self.works: dict[str, list[tuple[SX, SX]]] = {}
        self.tracked: dict[str, tuple[int, SX, SX | None]] = {}
        self.outputs: dict[str, tuple[SX, str]] = {}
        self.derivatives: dict[str, int] = {}
        self.lines: dict[str, tuple[str, Geometric, Geometric]] = {}
        """what a viewer draws between two points: kind (rod, spring, damper) and ends"""
        self.notes: list[Note] = []
        """what was asked for besides points and vectors, in the order of the calls: a file can be written from it"""
        self._rigid: set[tuple[str, ...]] = set()

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', dim={self.dim}, {len(self.parts)} parts)"

    # -- names and values ------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Geometric:
        if name not in self.geometry:
            hint = suggest(name, list(self.geometry), "points and vectors")
            raise ModelError(f"mechanism '{self.name}' has no point or vector '{name}'; {hint}")
        return self.geometry[name]

    def _new(self, name: str, taken: Any, what: str) -> str:
        if not name or name in taken or name in self.geometry:
            raise ModelError(f"mechanism '{self.name}': the {what} name '{name}' is empty or taken")
        return name

    def named(self, name: str | None, taken: Any, stem: str) -> str:
        """The given name if it is free, else one from the stem."""
        if name is not None:
            if name in taken:
                raise ModelError(f"mechanism '{self.name}': two items are called '{name}'")
            return name
        known = {
            *self.parts,
            *self.positions,
            *self.velocities,
            *self.potentials,
            *self.rayleigh,
            *self.works,
        }
        number = 1
        while f"{stem}{number}" in known:
            number += 1
        return f"{stem}{number}" if number > 1 or stem in known or not stem else stem

    @contextmanager
    def noted(self, section: str, name: str, **fields: Any) -> Iterator[None]:
        """Note what is asked for; what the block notes of its own is part of it and forgotten."""
        first = len(self.notes)
        yield
        self.notes[first:] = [Note(section, name, fields)]

    def note(self, section: str, name: str, **fields: Any) -> None:
        self.notes.append(Note(section, name, fields))

    def parameter(self, name: str, value: float) -> SX:
        """A number that each run may set anew."""
        self._new(name, self.parameters, "parameter")
        symbol = SX.sym(name)
        self.parameters[name] = (symbol, float(value))
        return symbol

    def table(self, table: Table, argument: Value) -> SX:
        """The value of a table (see `sekant.geometry.tables`) at any expression."""
        return self.lookups(table, SX(argument))

    @property
    def y(self) -> SX:
        return ca.vertcat(SX.zeros(0, 1), *[c.symbol for c in self.coordinates])

    @property
    def y_rate(self) -> SX:
        return ca.vertcat(SX.zeros(0, 1), *[c.rate for c in self.coordinates])

    def rate(self, expression: SX) -> SX:
        """Time derivative of an expression of coordinates and time; it may hold no velocities."""
        expression = SX(expression)
        y, y_rate = self._occurring(expression)
        along = self.lookups.jtimes(expression, y, y_rate) if y.numel() else 0
        explicit = self.lookups.jacobian(ca.vec(expression), self.t)
        return along + ca.reshape(explicit, expression.shape)

    def _occurring(self, expression: SX) -> tuple[SX, SX]:
        """Those components y that an expression contains, also in tables, and their rates."""
        inner = [x for node in self.lookups.needed_by(expression) for x in node.arguments]
        found = {s.element_hash() for s in ca.symvar(ca.vertcat(ca.vec(expression), *inner))}
        numbers = sorted(self._numbers[h] for h in found if h in self._numbers)
        empty = SX.zeros(0, 1)
        chosen = [self.coordinates[i] for i in numbers]
        return ca.vertcat(empty, *[c.symbol for c in chosen]), ca.vertcat(empty, *[c.rate for c in chosen])

    def _add(self, c: Coordinate) -> None:
        self._numbers[c.symbol.element_hash()] = len(self.coordinates)
        self.coordinates.append(c)

    def at_start(self, expression: SX) -> np.ndarray:
        """Value of an expression of coordinates, rates, time and parameters at the start values, as an array."""
        values = [c.start for c in self.coordinates], [c.start_rate for c in self.coordinates]
        symbols = ca.vertcat(SX.zeros(0, 1), *[s for s, _ in self.parameters.values()])
        inputs = [self.y, self.y_rate, self.t, symbols]
        try:
            function = self.lookups.oracle("start", inputs, [SX(expression)])
        except RuntimeError as error:
            unknown = [s.name() for s in ca.symvar(SX(expression))]
            raise ModelError(
                f"mechanism '{self.name}': an expression of {', '.join(unknown)} contains symbols of something else"
            ) from error
        return np.array(function(*values, 0.0, [value for _, value in self.parameters.values()]))

    def constant_vector(self, components: Any) -> Geometric:
        """A vector with fixed components in W."""
        return Geometric(self, SX(ca.DM(floats(components, self.dim, "a vector"))), 0.0)

    def expressed(self, components: SX, weight: float) -> Geometric:
        """A point (weight 1) or vector (weight 0) with the given components in W, expressions."""
        return Geometric(self, SX(components), weight)

    # -- points and vectors ----------------------------------------------------------------------------

    def ground(self, name: str, position: Sequence[float]) -> Geometric:
        """A point fixed in W (m)."""
        return self._basic(name, position, None, "", 1.0, 1.0)

    def ground_vector(self, name: str, value: Sequence[float]) -> Geometric:
        """A vector fixed in W."""
        return self._basic(name, value, None, "", 1.0, 0.0)

    def point(
        self,
        name: str,
        position: Sequence[float],
        free: str | None = None,
        velocity: Sequence[float] | None = None,
        weight: float = 1.0,
    ) -> Geometric:
        """A moving point with its place (m) and velocity (m/s) at the start, both perhaps rough.

        `free`: the components that may change, such as "x" or "xz"; the others stay as given. `weight`: how
        firmly its place is held in assembly. Without `velocity` it follows from what other points do.
        """
        return self._basic(name, position, velocity, free, weight, 1.0)

    def vector(
        self,
        name: str,
        value: Sequence[float],
        free: str | None = None,
        rate: Sequence[float] | None = None,
        weight: float = 1.0,
    ) -> Geometric:
        """A vector that turns, with its components and their rates (1/s) at the start."""
        return self._basic(name, value, rate, free, weight, 0.0)

    def _basic(
        self, name: str, start: Any, rate: Any, free: str | None, weight: float, kind: float
    ) -> Geometric:
        self._new(name, self.geometry, "point or vector")
        start = floats(start, self.dim, f"'{name}'")
        rates = np.zeros(self.dim) if rate is None else floats(rate, self.dim, f"velocity of '{name}'")
        axes = AXES[: self.dim]
        unknown = set(free or "") - set(axes)
        if unknown:
            raise ModelError(
                f"'{name}': free='{free}' names '{min(unknown)}'; a component is one of {', '.join(axes)}"
            )
        if not weight > 0:
            raise ModelError(f"'{name}': weight must be positive (got {weight})")
        symbols = []
        for i, axis in enumerate(axes):
            fixed = free is not None and axis not in free
            c = Coordinate(
                f"{name}.{axis}",
                SX.sym(f"{name}.{axis}"),
                SX.sym(f"{name}.v{axis}"),
                float(start[i]),
                0.0 if fixed else float(rates[i]),
                weight,
                SX(float(start[i])) if fixed else None,
                FOLLOWS if rate is None else weight,
            )
            self._add(c)
            symbols.append(c.symbol)
        found = Geometric(self, ca.vertcat(*symbols), kind, name)
        self.geometry[name] = found
        return found

    def assign(self, name: str, expression: Geometric | SX) -> Geometric:
        """A name for a point or vector that follows from others (a *useful* one, DERA 3.1)."""
        self._new(name, self.geometry, "point or vector")
        if not isinstance(expression, Geometric):
            expression = Geometric(self, SX(expression), 0.0)
        if expression.value.numel() != self.dim:
            raise ModelError(
                f"'{name}' has {expression.value.numel()} components in a mechanism of dimension {self.dim}"
            )
        if not (expression.is_point or expression.is_vector):
            raise ModelError(
                f"'{name}' is neither a point nor a vector: its points add up to {expression.weight:g}"
            )
        found = Geometric(self, expression.value, expression.weight, name)
        self.geometry[name] = found
        return found

    def prescribe(self, point: Geometric, **components: Value) -> None:
        """Let components of a basic point or vector follow functions of time, e.g. ``y=0.01*ca.sin(m.t)``."""
        for axis, value in components.items():
            name = f"{point.name}.{axis}"
            c = next((c for c in self.coordinates if c.name == name), None)
            if c is None:
                raise ModelError(
                    f"'{name}' is no component of a basic point or vector and cannot be prescribed"
                )
            value = SX(value)
            if ca.depends_on(value, self.y) or ca.depends_on(value, self.y_rate):
                raise ModelError(f"'{name}': a prescribed component is a function of time alone")
            c.fixed = value
            c.start = float(self.at_start(value).item())
            c.start_rate = float(self.at_start(self.lookups.jacobian(value, self.t)).item())

    def track(self, name: str, rate: Value, start: Value = 0.0) -> SX:
        """A quantity with a rate of its own (DERA 3.2.2); `start`: a number or an expression of the coordinates."""
        self._new(name, self.tracked, "quantity")
        first = SX(start)
        begin = float(self.at_start(first).item())
        c = Coordinate(name, SX.sym(name), SX.sym(f"{name}.rate"), begin, 0.0, 1.0, None, FOLLOWS)
        self._add(c)
        c.start_rate = float(self.at_start(SX(rate)).item())
        number = len(self.coordinates) - 1
        self.tracked[name] = (number, SX(rate), None if first.is_constant() else first)
        self.velocities[f"{name}.rate"] = Rows(f"{name}.rate", "tracked", c.rate - rate, f"{name}' = rate")
        self.note("tracked", name, rate=SX(rate), start=first)
        return c.symbol

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
