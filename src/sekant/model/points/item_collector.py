"""Items of a mechanism modeled with points by section and name, handles for them, and the resulting model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError, suggest
from sekant.geometry.spatial import SX
from sekant.model.explain import read_as
from sekant.model.model import Model
from sekant.model.points import masses, places
from sekant.model.points.element import Element
from sekant.model.points.geometric import AXES, Geometric, combination
from sekant.model.points.natural import Natural
from sekant.model.settings import SimulationSettings
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

Value = Any  # a number, a string with a unit or an expression, or a CasADi expression of the handles' symbols
Place = Sequence[Any]


class BodyHandle:
    """A body of a mechanism that is being built."""

    def __init__(self, mechanism: ItemCollector, name: str):
        self.mechanism, self.name = mechanism, name

    @property
    def angular_velocity(self) -> SX:
        """rad/s; in the plane (), in space (3,) in W."""
        parts = [f"{self.name}.w"] if self.mechanism.dim == 2 else [f"{self.name}.w{axis}" for axis in AXES]
        return ca.vertcat(*[SX.sym(part) for part in parts])

    def point(self, name: str, local: Any = None, *, at: Any = None) -> Geometric:
        """A point fixed in the body, given by its local coordinates or by its position in W at the start (m)."""
        return self.mechanism.attach(self.name, "points", name, local, at)

    def vector(self, name: str, local: Any = None, *, at: Any = None) -> Geometric:
        """A vector fixed in the body, given by its local components or by its components in W at the start."""
        return self.mechanism.attach(self.name, "vectors", name, local, at)


class ItemCollector:
    """Items by section and name. `gravity`: (dim,) m/s^2 in W. Numbers without a unit are in SI units.

    Bodies that share a point are connected there by a ball joint, or in the plane by a hinge. In space, bodies that
    share a point and a vector are connected by a hinge. Parameters made by `parameter` can be set for each run.
    """

    def __init__(self, dim: int = 2, gravity: Place | None = None, name: str = "mechanism", **settings: Any):
        if dim not in (2, 3):
            raise ModelError(f"mechanism '{name}': dim must be 2 (planar) or 3 (spatial), not {dim}")
        self.name, self.dim, self.gravity = name, dim, gravity
        self.simulation = SimulationSettings(**settings)
        self.items: dict[str, dict[str, Element]] = {}
        self.parameters: dict[str, Any] = {}
        self.inputs: list[str] = []
        self.t = SX.sym("t")
        self.lookups = Lookups()
        self._handles: dict[str, Geometric] = {}
        self._symbols: dict[str, tuple[SX, SX]] = {}  # by component, with its rate
        self._unnamed: dict[int, tuple[Geometric, str]] = {}
        self._tables: dict[str, Any] = {}

    def __repr__(self) -> str:
        count = sum(len(items) for items in self.items.values())
        return f"{type(self).__name__}('{self.name}', dim={self.dim}, {count} items)"

    def _repr_html_(self) -> str:
        """Tables of all items, for notebooks."""
        return self.model._repr_html_()

    # -- the description -------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The frozen description of the items collected so far, checked like one from a file."""
        items = {section: dict(named) for section, named in self.items.items()}
        natural = read_as(Natural, {"dim": self.dim, "gravity": self.gravity}, ("natural",))
        natural = natural.model_copy(
            update={"items": items, "lookups": self.lookups if self.lookups.nodes else None}
        )
        return Model(
            name=self.name,
            parameters=dict(self.parameters),
            tables=self._tables,
            natural=natural,
            simulation=self.simulation,
        )

    @classmethod
    def of(cls, model: Model) -> Any:
        """A collector that continues from a description."""
        if model.natural is None:
            raise ModelError(
                f"model '{model.name}' has no section 'natural', so there is no mechanism to continue from"
            )
        found = cls(model.natural.dim, model.natural.gravity, model.name)
        found.simulation, found.parameters = model.simulation, dict(model.parameters)
        found._tables = dict(model.tables)
        found.items = {section: dict(items) for section, items in model.natural.items.items()}
        for name, (section, owner) in model.natural.definitions():
            if section in ("angles", "tracked"):
                found._scalar(name)
            else:
                item = found.items[section][owner]
                point = section in ("ground", "points") or (section == "bodies" and name in item.points)  # type: ignore[attr-defined]
                weight = found._weight(item) if section == "assign" else 1.0 if point else 0.0
                found._handle(name, weight)
        return found

    def _weight(self, item: Any) -> float:
        return (
            1.0
            if item.point or abs(sum(self._handles[n].weight * w for n, w in item.combine.items()) - 1) < 1e-9
            else 0.0
        )

    def add(self, name: str, cls: type[Element], **fields: Any) -> Any:
        """Add an item of any registered class; fields that are None keep their defaults."""
        if not name or name in self._known or name in self.parameters:
            raise ModelError(f"mechanism '{self.name}': {_taken(name)}")
        given = {key: value for key, value in fields.items() if value is not None}
        item = read_as(cls, given, ("natural", cls.section, name))
        self.items.setdefault(cls.section, {})[name] = item
        return item

    @property
    def _known(self) -> set[str]:
        own = {name for section, items in self.items.items() if section != "prescribed" for name in items}
        return own | set(self._handles)

    def named(self, name: str | None, stem: str) -> str:
        """The given name, else one from the stem."""
        if name is not None:
            return name
        number, known = 1, self._known
        while (f"{stem}{number}" if number > 1 else stem) in known:
            number += 1
        return f"{stem}{number}" if number > 1 else stem

    # -- names and values ------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Geometric:
        if name not in self._handles:
            hint = suggest(name, list(self._handles), "points and vectors")
            raise ModelError(f"mechanism '{self.name}' has no point or vector '{name}'; {hint}")
        return self._handles[name]

    def parameter(self, name: str, value: Any) -> SX:
        """A parameter whose value can be set for each run."""
        if name in self.parameters or name in self._known:
            raise ModelError(f"mechanism '{self.name}': {_taken(name)}")
        self.parameters[name] = value
        self.inputs.append(name)
        return SX.sym(name)

    def table(self, table: Table, argument: Value) -> SX:
        """The value of a table (see `sekant.tables.table`) at any expression."""
        return self.lookups(table, SX(argument))

    def rate(self, expression: SX) -> SX:
        """Time derivative of an expression of the handles' components and time; it must not contain velocities."""
        expression = SX(expression)
        inner = [x for node in self.lookups.needed_by(expression) for x in node.arguments]
        found = {s.name() for s in ca.symvar(ca.vertcat(ca.vec(expression), *inner))}
        pairs = [self._symbols[name] for name in found if name in self._symbols]
        along = 0
        if pairs:
            y, rates = (ca.vertcat(*[pair[i] for pair in pairs]) for i in (0, 1))
            along = self.lookups.jtimes(expression, y, rates)
        return along + ca.reshape(self.lookups.jacobian(ca.vec(expression), self.t), expression.shape)

    def constant_vector(self, components: Any) -> Geometric:
        """A vector with fixed components in W."""
        row = np.atleast_1d(np.asarray(components, float)).ravel()
        if row.size != self.dim:
            kind = "planar" if self.dim == 2 else "spatial"
            raise ModelError(
                f"a vector has {row.size} component{'s' if row.size != 1 else ''}, but the mechanism is "
                f"{kind}; give {self.dim}"
            )
        return Geometric(self, SX(ca.DM(row)), 0.0)

    def expressed(self, components: SX, weight: float) -> Geometric:
        """A point (weight 1) or vector (weight 0) with the given components in W, expressions."""
        return Geometric(self, SX(components), weight)

    def _handle(self, name: str, weight: float) -> Geometric:
        symbols = []
        for axis in AXES[: self.dim]:
            pair = SX.sym(f"{name}.{axis}"), SX.sym(f"{name}.v{axis}")
            self._symbols[f"{name}.{axis}"] = pair
            symbols.append(pair[0])
        found = self._handles[name] = Geometric(self, ca.vertcat(*symbols), weight, name)
        return found

    def _scalar(self, name: str) -> SX:
        pair = self._symbols[name] = SX.sym(name), SX.sym(f"{name}.rate")
        return pair[0]

    def _name(self, item: Any, point: bool | None = None) -> str:
        """The name of a point or vector. If it has no name, it becomes an item."""
        if isinstance(item, BodyHandle):
            return item.name
        if not isinstance(item, Geometric) or item.mechanism is not self:
            raise ModelError(f"mechanism '{self.name}': {item!r} is not a point or vector of this mechanism")
        if point is not None and item.is_point != point:
            kinds = ("point", "vector") if point else ("vector", "point")
            raise ModelError(f"{item.title} is a {kinds[1]}, but a {kinds[0]} is required here")
        if item.name:
            return item.name
        if id(item) not in self._unnamed:
            number = len(self._unnamed) + 1
            while f"_{number}" in self._known:
                number += 1
            self._unnamed[id(item)] = (item, self.assign(f"_{number}", item).name)
        return self._unnamed[id(item)][1]

    def combination(self, item: Geometric) -> dict[str, float] | None:
        """Names of points and vectors and the weights whose sum gives the item, if there are any."""
        if self.lookups.needed_by(item.value):
            return None
        names = [name for name in self._symbols if name.rpartition(".")[0] in self._handles]
        owners = [(owner, axis) for owner, _, axis in (name.rpartition(".") for name in names)]
        return combination(
            item.value, ca.vertcat(SX.zeros(0, 1), *[self._symbols[n][0] for n in names]), owners, self.dim
        )

    def _components(self, name: str, given: Any) -> Any:
        count = len(given) if isinstance(given, (list, tuple, np.ndarray)) else self.dim
        if count != self.dim:
            kind = "planar" if self.dim == 2 else "spatial"
            raise ModelError(
                f"'{name}' has {count} component{'s' if count != 1 else ''}, but the mechanism is {kind}; "
                f"give {self.dim}"
            )
        return given

    def attach(self, body: str, kind: str, name: str, local: Any, at: Any) -> Geometric:
        if (local is None) == (at is None):
            raise ModelError(f"'{name}' on body '{body}': give either local components, or `at` in W")
        if not name or name in self._known:
            raise ModelError(f"mechanism '{self.name}': {_taken(name)}")
        item: Any = self.items["bodies"][body]
        place = read_as(masses.Attached, {"local": local, "at": at}, ("natural", "bodies", body, kind, name))
        self.items["bodies"][body] = item.model_copy(update={kind: {**getattr(item, kind), name: place}})
        return self._handle(name, 1.0 if kind == "points" else 0.0)

    def ground(self, name: str, position: Place) -> Geometric:
        """A point fixed in W (m)."""
        self.add(name, places.GroundPoint, at=self._components(name, position))
        return self._handle(name, 1.0)

    def ground_vector(self, name: str, value: Place) -> Geometric:
        """A vector fixed in W."""
        self.add(name, places.GroundVector, value=self._components(name, value))
        return self._handle(name, 0.0)

    def assign(self, name: str, expression: Geometric | SX) -> Geometric:
        """A named point or vector that follows from others (a *useful* one, DERA 3.1)."""
        if not isinstance(expression, Geometric):
            expression = Geometric(self, SX(expression), 0.0)
        if not (expression.is_point or expression.is_vector):
            raise ModelError(
                f"'{name}' is neither a point nor a vector: the weights of its points add up to "
                f"{expression.weight:g}, not to 1 (a point) or 0 (a vector)"
            )
        self.add(name, places.Assigned, **self._how(name, expression))
        return self._handle(name, expression.weight)

    def _how(self, name: str, expression: Geometric) -> dict[str, Any]:
        """The field of an assigned point or vector: a product or a sum of named ones, else its components."""
        if expression.product is not None:
            return {"cross": expression.product}
        parts = self.combination(expression)
        if parts is None:
            still = ca.substitute(expression.value, self._components_of_all(), SX.zeros(len(self._symbols)))
            if still.is_constant() and not still.is_zero() and not self.lookups.needed_by(expression.value):
                parts = self.combination(self.expressed(expression.value - still, expression.weight))
                if parts is not None:
                    parts[
                        self.ground_vector(f"{name}_offset", np.array(ca.DM(still)).ravel().tolist()).name
                    ] = 1.0
        column = [expression.value[i] for i in range(expression.value.numel())]
        return {"combine": parts} if parts else {"point" if expression.is_point else "vector": column}

    def _components_of_all(self) -> SX:
        return ca.vertcat(SX.zeros(0, 1), *[symbol for symbol, _ in self._symbols.values()])


def _taken(name: str) -> str:
    """Why a name cannot be given to an item."""
    return f"the name '{name}' is already in use" if name else "a name must not be empty"
