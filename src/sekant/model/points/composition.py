"""A mechanism modeled with points, stated in CasADi symbols: coordinates, energies, equations, forces, by name.

Items are composed in the order of their sections; points, vectors and bodies that others name are composed when
they are first needed. Everything is in all components y of the basic points and vectors, those of the ground and
prescribed ones included; the formulation inserts the fixed ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError, SekantError, suggest
from sekant.geometry.spatial import SX
from sekant.model.expressions.expression import Expression
from sekant.model.points.element import Element
from sekant.model.points.geometric import AXES, FOLLOWS, BasicComponent, EquationRows, Geometric, combination
from sekant.model.points.lengths import Lengths
from sekant.model.points.sections import sections
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table, Table2

if TYPE_CHECKING:
    from sekant.model.points.mass_parts import BodyPart, Part
    from sekant.model.resolve import ResolvedModel

Value = Any  # a number, an expression in text, or a CasADi expression of names of the mechanism


class Composition:
    """All statements of the items of `resolved.model.natural`. `gravity` (dim,) m/s^2 in W; SI units throughout.

    `starts`: start values of coordinates by name from which defaults are computed, if those of the items are
    too rough.
    """

    def __init__(self, resolved: ResolvedModel, starts: Mapping[str, float] | None = None):
        natural = resolved.model.natural
        assert natural is not None
        self.resolved, self.natural, self.starts = resolved, natural, dict(starts or {})
        self.name, self.dim = resolved.model.name, natural.dim
        self.t = SX.sym("t")
        self.p = resolved.p
        self.lookups = Lookups()
        self._tables: dict[str, Table | Table2] = {}
        self.coordinates: list[BasicComponent] = []
        self._numbers: dict[int, int] = {}
        self._scalars: dict[str, SX] = {}
        self.geometry: dict[str, Geometric] = {}
        self.parts: dict[str, Part] = {}
        self.positions: dict[str, EquationRows] = {}
        self.velocities: dict[str, EquationRows] = {}
        self.potentials: dict[str, SX] = {}
        self.rayleigh: dict[str, SX] = {}
        self.works: dict[str, list[tuple[SX, SX]]] = {}
        self.tracked: dict[str, tuple[int, SX, SX | None]] = {}
        self.outputs: dict[str, tuple[SX, str, int]] = {}
        """value, unit, and highest order of the derivatives to report"""
        self.lines: dict[str, tuple[str, Geometric, Geometric]] = {}
        """parts to draw between two points: kind (rod, spring, damper) and ends"""
        self.spans: dict[str, tuple[str, tuple[str, str], SX]] = {}
        """elements along the line between two points: kind, names of the ends, square of its length (m^2)"""
        self.given: dict[str, SX] = {}
        """prescribed motions of motors and drives, functions of time by name"""
        self.lengths = Lengths()
        self._owner = dict(natural.definitions())
        self._state: dict[tuple[str, str], str] = {}
        with self.about(("natural", "gravity")):
            default = (0.0, -9.81) if self.dim == 2 else (0.0, 0.0, -9.81)
            self.gravity = self.numbers(default if natural.gravity is None else natural.gravity, "gravity")
        for section in sections():
            for name in natural.items.get(section, {}):
                self._compose(section, name)
        self.lengths.check_frames()

    # -- items -----------------------------------------------------------------------------------------

    @contextmanager
    def about(self, path: tuple[str | int, ...]) -> Iterator[None]:
        """Context manager: errors raised inside are reported at this path of the model."""
        try:
            yield
        except SekantError as error:
            error.path = error.path or path
            raise

    def _compose(self, section: str, name: str) -> None:
        key = (section, name)
        if self._state.get(key) == "done":
            return
        path = ("natural", section, name)
        if key in self._state:
            raise ModelError(f"'{name}' is defined in terms of itself", path=path)
        self._state[key] = "begun"
        item: Element = self.natural.items[section][name]
        with self.about(path):
            item.compose(name, self)
        self._state[key] = "done"

    def __getitem__(self, name: str) -> Geometric:
        """The point or vector of that name."""
        if name not in self.geometry and name in self._owner:
            self._compose(*self._owner[name])
        if name not in self.geometry:
            known = [n for n, (section, _) in self._owner.items() if section not in ("angles", "tracked")]
            raise ModelError(
                f"there is no point or vector '{name}'; {suggest(name, known, 'points and vectors')}"
            )
        return self.geometry[name]

    def point(self, name: str) -> Geometric:
        found = self[name]
        if not found.is_point:
            raise ModelError(f"'{name}' is a vector, but a point is required here")
        return found

    def points(self, names: Sequence[str]) -> tuple[Geometric, Geometric]:
        first, second = (self.point(name) for name in names)
        if first is second:
            raise ModelError(f"both ends are the point '{first.name}'; name two different points")
        return first, second

    def body(self, name: str) -> BodyPart:
        from sekant.model.points.mass_parts import BodyPart

        bodies = self.natural.items.get("bodies", {})
        if name in bodies:
            self._compose("bodies", name)
        found = self.parts.get(name)
        if not isinstance(found, BodyPart):
            raise ModelError(f"there is no body '{name}'; {suggest(name, list(bodies), 'bodies')}")
        return found

    def body_or_ground(self, name: str) -> BodyPart | None:
        return None if name == "ground" else self.body(name)

    def direction(self, name: str) -> SX:
        """(dim,) the x axis of a body, or a vector."""
        return self.body(name).Q[:, 0] if name in self.natural.items.get("bodies", {}) else self[name].value

    # -- values ----------------------------------------------------------------------------------------

    def value(self, given: Value) -> SX:
        """Any value as an expression of y, y', t and p."""
        if isinstance(given, Expression):
            names = lambda: [*self._names(), *self.resolved.values, *self.resolved.given]  # noqa: E731
            try:
                return SX(given.evaluate(self._lookup, self._call, (), list(self.resolved.model.tables)))
            except ModelError:
                for used in sorted(given.names):
                    if self._find(used) is None:
                        hint = suggest(used, names(), "names")
                        raise ModelError(f"unknown name '{used}' in '{given}'; {hint}") from None
                raise
        if isinstance(given, ca.SX) and not given.is_constant():
            return self._put_in(given)
        return SX(given)

    def column(self, given: Sequence[Value], size: int | None = None, what: str = "") -> SX:
        """(n,) of several values."""
        if size is not None and len(given) != size:
            raise ModelError(f"{what} must have {size} component{'s' if size > 1 else ''} (got {len(given)})")
        return ca.vertcat(SX.zeros(0, 1), *[self.value(entry) for entry in given])

    def constant(self, given: Value, what: str, zero: bool = False) -> Any:
        """A number, or an expression of run-time parameters, that is positive (or zero)."""
        value = self._fixed(given, what)
        if isinstance(value, float) and not (value > 0 or (zero and value == 0)):
            raise ModelError(f"{what} must {'not be negative' if zero else 'be positive'} (got {value:g})")
        return value

    def _fixed(self, given: Value, what: str) -> Any:
        if isinstance(given, Expression):
            unknown = sorted(given.names - set(self.resolved.values))
            if unknown and self._find(unknown[0]) is None:
                hint = suggest(unknown[0], list(self.resolved.values), "parameters")
                raise ModelError(f"unknown name '{unknown[0]}' in '{given}'; {hint}")
            raise ModelError(
                f"{what} must be constant, but '{given}' varies in time; use only numbers and parameters"
            )
        value = self.value(given)
        if value.is_constant():
            return float(value)
        known = {s.element_hash() for s in ca.symvar(self.p)}
        if any(s.element_hash() not in known for s in ca.symvar(value)):
            raise ModelError(
                f"{what} must be constant, but it varies in time; use only numbers and parameters"
            )
        return value

    def number(self, given: Value, what: str = "the value") -> float:
        """A number that is known when the mechanism is built, such as a position or a direction."""
        value = self._fixed(given, what)
        if not isinstance(value, float):
            runs = ", ".join(parameter.name for parameter in self.resolved.parameters)
            raise ModelError(
                f"{what} defines the geometry of the mechanism and cannot depend on run-time parameters "
                f"({runs}); give it as a number (masses, lengths, forces and outputs can depend on run-time "
                "parameters)"
            )
        return value

    def numbers(self, given: Sequence[Value], what: str = "the value", size: int | None = None) -> np.ndarray:
        """(size,) numbers, by default as many as the mechanism has dimensions."""
        wanted = self.dim if size is None else size
        if len(given) != wanted:
            kind = "planar" if self.dim == 2 else "spatial"
            raise ModelError(
                f"{what} has {len(given)} component{'s' if len(given) != 1 else ''}, but the mechanism is "
                f"{kind}; give {wanted}"
            )
        return np.array([self.number(entry, what) for entry in given])

    def unit(self, given: Sequence[Value], what: str) -> np.ndarray:
        """(dim,) a direction of unit length."""
        row = self.numbers(given, what)
        length = float(np.linalg.norm(row))
        if length == 0.0:
            raise ModelError(
                f"{what} must not be zero; give a direction such as [1, 0{', 0' if self.dim == 3 else ''}]"
            )
        return row / length

    def names_in(self, given: Value) -> set[str]:
        """The names that a value refers to."""
        if isinstance(given, Expression):
            return set(given.names)
        if not isinstance(given, ca.SX):
            return set()
        outer: Lookups | None = self.natural.lookups
        nodes = [] if outer is None else outer.needed_by(ca.vec(given))
        values = {s.name() for node in nodes for s in ca.vertsplit(node.symbols)}
        inner = [argument for node in nodes for argument in node.arguments]
        return {s.name() for s in ca.symvar(ca.veccat(given, *inner))} - values

    def _find(self, name: str) -> Any:
        """The value of a name in an expression, or None."""
        if name == "t":
            return self.t
        if name in self.resolved.values:
            return self.resolved.values[name]
        if name in self.resolved.given:
            return self.lookups(self.resolved.given[name], self.t)
        section = self._owner.get(name.removesuffix(".rate"), ("", ""))[0]
        if section in ("angles", "tracked"):
            self._compose(section, name.removesuffix(".rate"))
            return self._scalars[name]
        owner, _, part = name.rpartition(".")
        if owner in self.natural.items.get("bodies", {}) and part in ("w", "wx", "wy", "wz"):
            w = self.body(owner).angular_velocity
            k = AXES.index(part[1]) if len(part) > 1 else 0
            return w[k] if w.numel() == (3 if len(part) > 1 else 1) else None
        if owner not in self._owner or part.removeprefix("v") not in AXES[: self.dim]:
            return None
        item = self[owner]
        return (item.velocity if part[0] == "v" else item.value)[AXES.index(part[-1])]

    def _lookup(self, name: str) -> Any:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def _names(self) -> list[str]:
        found = []
        for name, (section, _) in self._owner.items():
            scalar = section in ("angles", "tracked")
            found += (
                [name, f"{name}.rate"]
                if scalar
                else [f"{name}.{v}{x}" for v in ("", "v") for x in AXES[: self.dim]]
            )
        return found

    def _call(self, name: str, arguments: list[Any]) -> SX:
        tables = self.resolved.model.tables
        if name not in tables:
            raise KeyError(name)
        if name not in self._tables:
            data = tables[name]
            self._tables[name] = data.table(name) if data.dimension == 1 else data.table2(name)
        return self.lookups(self._tables[name], *[SX(argument) for argument in arguments])

    def _put_in(self, given: SX) -> SX:
        """A CasADi expression with names replaced by their values, also in the arguments of tables."""
        outer: Lookups | None = self.natural.lookups
        nodes = [] if outer is None else outer.needed_by(ca.vec(given))
        values = {s.element_hash() for node in nodes for s in ca.vertsplit(node.symbols)}
        inner = [argument for node in nodes for argument in node.arguments]
        known = {s.element_hash() for group in (self.t, self.p) for s in ca.symvar(group)}
        before, after = [], []
        for symbol in ca.symvar(ca.veccat(given, *inner)):
            if symbol.element_hash() in values or symbol.element_hash() in known:
                continue
            meant = self._find(symbol.name())
            if meant is None:
                hint = suggest(
                    symbol.name(), [*self._names(), *self.resolved.values, *self.resolved.given], "names"
                )
                raise ModelError(
                    f"an expression contains '{symbol.name()}', which is not part of this mechanism; {hint}"
                )
            before.append(symbol)
            after.append(SX(meant))
        for node in nodes:
            arguments = ca.substitute(list(node.arguments), before, after) if before else node.arguments
            before.append(node.symbols)
            after.append(self.lookups(node.table, *arguments, order=node.order))
        return ca.substitute([given], before, after)[0] if before else given

    # -- coordinates -----------------------------------------------------------------------------------

    @property
    def y(self) -> SX:
        return ca.vertcat(SX.zeros(0, 1), *[c.symbol for c in self.coordinates])

    @property
    def y_rate(self) -> SX:
        return ca.vertcat(SX.zeros(0, 1), *[c.rate for c in self.coordinates])

    def rate(self, expression: SX) -> SX:
        """Time derivative of an expression of coordinates and time; it must not contain velocities."""
        expression = SX(expression)
        y, y_rate = self._occurring(expression)
        along = self.lookups.jtimes(expression, y, y_rate) if y.numel() else 0
        explicit = self.lookups.jacobian(ca.vec(expression), self.t)
        return along + ca.reshape(explicit, expression.shape)

    def _occurring(self, expression: SX) -> tuple[SX, SX]:
        """The components y that an expression contains, also in tables, and their rates."""
        inner = [x for node in self.lookups.needed_by(expression) for x in node.arguments]
        found = {s.element_hash() for s in ca.symvar(ca.vertcat(ca.vec(expression), *inner))}
        numbers = sorted(self._numbers[h] for h in found if h in self._numbers)
        empty = SX.zeros(0, 1)
        chosen = [self.coordinates[i] for i in numbers]
        return ca.vertcat(empty, *[c.symbol for c in chosen]), ca.vertcat(empty, *[c.rate for c in chosen])

    def add(self, c: BasicComponent) -> None:
        self._numbers[c.symbol.element_hash()] = len(self.coordinates)
        self.coordinates.append(c)

    def track(self, name: str, rate: SX, start: SX) -> None:
        """A quantity that is integrated from its rate (DERA 3.2.2); `start`: a number or an expression of the
        coordinates."""
        begin = float(self.at_start(start).item())
        c = BasicComponent(name, SX.sym(name), SX.sym(f"{name}.rate"), begin, 0.0, 1.0, None, FOLLOWS)
        self.add(c)
        self._scalars[name], self._scalars[f"{name}.rate"] = c.symbol, c.rate
        c.start_rate = float(self.at_start(rate).item())
        self.tracked[name] = (len(self.coordinates) - 1, rate, None if start.is_constant() else start)
        self.velocities[f"{name}.rate"] = EquationRows(
            f"{name}.rate", "tracked", c.rate - rate, f"{name}' = rate"
        )

    def at_start(self, expression: SX) -> np.ndarray:
        """Value of an expression of coordinates, rates, time and parameters at the start values, as an array."""
        values = (
            [self.starts.get(c.name, c.start) for c in self.coordinates],
            [c.start_rate for c in self.coordinates],
        )
        function = self.lookups.oracle("start", [self.y, self.y_rate, self.t, self.p], [SX(expression)])
        return np.array(function(*values, 0.0, self.resolved.defaults))

    def constant_vector(self, components: Any) -> Geometric:
        """A vector with fixed components in W."""
        return Geometric(self, SX(ca.DM(self.numbers(components, "the vector"))), 0.0)

    def assign(self, name: str, value: SX, weight: float) -> Geometric:
        """A named point or vector that follows from others (a *useful* one, DERA 3.1)."""
        if value.numel() != self.dim:
            kind = "planar" if self.dim == 2 else "spatial"
            raise ModelError(
                f"'{name}' has {value.numel()} component{'s' if value.numel() != 1 else ''}, but the "
                f"mechanism is {kind}; give {self.dim}"
            )
        found = self.geometry[name] = Geometric(self, value, weight, name)
        return found

    def moves(self, expression: SX) -> bool:
        """Whether an expression depends on any free coordinate, with the fixed components inserted."""
        free = [c.symbol for c in self.coordinates if c.fixed is None]
        still = [
            (c.symbol, c.fixed) for c in self.coordinates if c.fixed is not None and c.fixed.is_constant()
        ]
        symbols, values = [symbol for symbol, _ in still], [value for _, value in still]
        (put,) = ca.substitute([SX(expression)], symbols, values) if still else (SX(expression),)
        return bool(free) and ca.depends_on(put, ca.vertcat(*free))

    def combination(self, item: Geometric) -> dict[str, float] | None:
        """Names of basic points and vectors and the weights whose sum gives the item, if there are any."""
        if self.lookups.needed_by(item.value):
            return None
        owners = [(owner, axis) for owner, _, axis in (c.name.rpartition(".") for c in self.coordinates)]
        return combination(item.value, self.y, owners, self.dim)


def composed(resolved: ResolvedModel) -> Composition:
    """The mechanism with lengths and frames from a consistent start: where given numbers contradict the approximate
    start, defaults come from the start that satisfies them."""
    from sekant.model.points.start import solved_starts

    first = Composition(resolved)
    better = solved_starts(first)
    return first if better is None else Composition(resolved, better)
