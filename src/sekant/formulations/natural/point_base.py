"""Points and vectors of a mechanism, its parameters and tracked quantities: what parts and forces hang on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError, suggest
from sekant.formulations.natural.elements import Part
from sekant.formulations.natural.equations import Rows
from sekant.formulations.natural.notes import Note
from sekant.formulations.natural.points import AXES, FOLLOWS, Coordinate, Geometric, floats
from sekant.geometry.spatial import SX
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

Value = Any  # a number, or a CasADi expression of `Points.t`, of coordinates and their rates


class Points:
    """Names, points and vectors. `gravity` (dim,) m/s^2 in W; SI units throughout."""

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
        """The value of a table (see `sekant.tables.table`) at any expression."""
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
