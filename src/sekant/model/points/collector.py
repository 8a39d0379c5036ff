"""A mechanism in points, built call by call: a thin collector of the items of `sekant.model.points`.

Each method adds one item. Points, vectors and bodies come back as handles whose components are symbols called as in
files (`A.x`, `A.vx`, `arm.w`), so that Python expressions and texts mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from pydantic import ValidationError

from sekant.errors import ModelError, one_error, suggest
from sekant.geometry.spatial import SX
from sekant.model.explain import explain
from sekant.model.model import Model
from sekant.model.points import constraints, joints, loads, masses, motions, places
from sekant.model.points.element import Element
from sekant.model.points.geometric import AXES, Geometric, combination
from sekant.model.points.natural import Natural
from sekant.model.simulation import SimulationSettings
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

Value = Any  # a number, a text with a unit or an expression, or a CasADi expression of the handles' symbols
Place = Sequence[Any]


class BodyHandle:
    """A body of a mechanism that is being built."""

    def __init__(self, mechanism: Collector, name: str):
        self.mechanism, self.name = mechanism, name

    @property
    def angular_velocity(self) -> SX:
        """rad/s; in the plane (), in space (3,) in W."""
        parts = [f"{self.name}.w"] if self.mechanism.dim == 2 else [f"{self.name}.w{axis}" for axis in AXES]
        return ca.vertcat(*[SX.sym(part) for part in parts])

    def point(self, name: str, local: Any = None, *, at: Any = None) -> Geometric:
        """A point fixed in the body, by its local coordinates or by its place in W at the start (m)."""
        return self.mechanism._attach(self.name, "points", name, local, at)

    def vector(self, name: str, local: Any = None, *, at: Any = None) -> Geometric:
        """A vector fixed in the body, by its local components or by those in W at the start."""
        return self.mechanism._attach(self.name, "vectors", name, local, at)


class Collector:
    """Items by section and name. `gravity` (dim,) m/s^2 in W; SI units where no other is given.

    Bodies that share a point turn about it; sharing a point and a vector in space makes a hinge. Parameters that are
    made by `parameter` may be set anew in each run.
    """

    def __init__(self, dim: int = 2, gravity: Place | None = None, name: str = "mechanism", **settings: Any):
        if dim not in (2, 3):
            raise ModelError(f"mechanism '{name}': dim must be 2 (plane) or 3 (space) (got {dim})")
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

    # -- the description -------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The frozen description of what was collected so far, checked as one from a file is."""
        items = {section: dict(named) for section, named in self.items.items()}
        natural = self._item(Natural, ("natural",), dim=self.dim, gravity=self.gravity)
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
        """A collector that goes on from a description."""
        if model.natural is None:
            raise ModelError(f"model '{model.name}' has no section 'natural' to go on from")
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

    def _item(self, cls: Any, path: tuple[str, ...], **fields: Any) -> Any:
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise one_error(explain(error, cls, path)) from None

    def add(self, name: str, cls: type[Element], **fields: Any) -> Any:
        """Add an item of any registered class; fields that are None keep their defaults."""
        if not name or name in self._known or name in self.parameters:
            raise ModelError(f"mechanism '{self.name}': the name '{name}' is empty or taken")
        given = {key: value for key, value in fields.items() if value is not None}
        item = self._item(cls, ("natural", cls.section, name), **given)
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
        """A number that each run may set anew."""
        if name in self.parameters or name in self._known:
            raise ModelError(f"mechanism '{self.name}': the name '{name}' is empty or taken")
        self.parameters[name] = value
        self.inputs.append(name)
        return SX.sym(name)

    def table(self, table: Table, argument: Value) -> SX:
        """The value of a table (see `sekant.tables.table`) at any expression."""
        return self.lookups(table, SX(argument))

    def rate(self, expression: SX) -> SX:
        """Time derivative of an expression of the handles' components and time; it may hold no velocities."""
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
            raise ModelError(f"a vector: {row.size} components in a {kind} mechanism; give {self.dim}")
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
        """The name of a point or vector; one that has none becomes an item of its own."""
        if isinstance(item, BodyHandle):
            return item.name
        if not isinstance(item, Geometric) or item.mechanism is not self:
            raise ModelError(f"mechanism '{self.name}': {item!r} is no point of this mechanism")
        if point is not None and item.is_point != point:
            kinds = ("point", "vector") if point else ("vector", "point")
            raise ModelError(f"'{item.name or 'expression'}' is a {kinds[1]}; a {kinds[0]} is needed here")
        if item.name:
            return item.name
        if id(item) not in self._unnamed:
            number = len(self._unnamed) + 1
            while f"_{number}" in self._known:
                number += 1
            self._unnamed[id(item)] = (item, self.assign(f"_{number}", item).name)
        return self._unnamed[id(item)][1]

    def combination(self, item: Geometric) -> dict[str, float] | None:
        """Names of points and vectors and the weights with which they add up to the item, if they do."""
        if self.lookups.needed_by(item.value):
            return None
        names = [name for name in self._symbols if name.rpartition(".")[0] in self._handles]
        owners = [(owner, axis) for owner, _, axis in (name.rpartition(".") for name in names)]
        return combination(
            item.value, ca.vertcat(SX.zeros(0, 1), *[self._symbols[n][0] for n in names]), owners, self.dim
        )

    # -- points and vectors ----------------------------------------------------------------------------

    def ground(self, name: str, position: Place) -> Geometric:
        """A point fixed in W (m)."""
        self.add(name, places.GroundPoint, at=self._components(name, position))
        return self._handle(name, 1.0)

    def ground_vector(self, name: str, value: Place) -> Geometric:
        """A vector fixed in W."""
        self.add(name, places.GroundVector, value=self._components(name, value))
        return self._handle(name, 0.0)

    def point(
        self,
        name: str,
        position: Place,
        free: str | None = None,
        velocity: Place | None = None,
        weight: float = 1.0,
    ) -> Geometric:
        """A moving point with its place (m) and velocity (m/s) at the start, both perhaps rough; see
        `places.Point`."""
        at = self._components(name, position)
        self.add(name, places.Point, at=at, free=free, velocity=velocity, weight=weight)
        return self._handle(name, 1.0)

    def vector(
        self, name: str, value: Place, free: str | None = None, rate: Place | None = None, weight: float = 1.0
    ) -> Geometric:
        """A vector that turns, with its components and their rates (1/s) at the start."""
        self.add(
            name, places.Vector, value=self._components(name, value), free=free, rate=rate, weight=weight
        )
        return self._handle(name, 0.0)

    def _components(self, name: str, given: Any) -> Any:
        count = len(given) if isinstance(given, (list, tuple, np.ndarray)) else self.dim
        if count != self.dim:
            kind = "planar" if self.dim == 2 else "spatial"
            raise ModelError(f"'{name}': {count} components in a {kind} mechanism; give {self.dim}")
        return given

    def assign(self, name: str, expression: Geometric | SX) -> Geometric:
        """A name for a point or vector that follows from others (a *useful* one, DERA 3.1)."""
        if not isinstance(expression, Geometric):
            expression = Geometric(self, SX(expression), 0.0)
        if not (expression.is_point or expression.is_vector):
            raise ModelError(
                f"'{name}' is neither a point nor a vector: its points add up to {expression.weight:g}"
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

    def prescribe(self, point: Geometric, **components: Value) -> None:
        """Let components of a basic point or vector follow functions of time, e.g. ``y="0.01*sin(t)"``."""
        name = self._name(point)
        old = self.items.setdefault("prescribed", {}).get(name)
        fields = {} if old is None else dict(old.components)  # type: ignore[attr-defined]
        path = ("natural", "prescribed", name)
        self.items["prescribed"][name] = self._item(places.Prescribed, path, **fields, **components)

    def track(self, name: str, rate: Value, start: Value = 0.0) -> SX:
        """A quantity with a rate of its own (DERA 3.2.2); `start`: a number or an expression of the coordinates."""
        self.add(name, motions.Tracked, rate=rate, start=start)
        return self._scalar(name)

    def angle(self, name: str, of: BodyHandle | Geometric, start: Value | None = None) -> SX:
        """The angle (rad) of a body's x axis or a vector from the x axis of W, in the plane, turns counted."""
        self.add(name, motions.Angle, of=self._name(of), start=start)
        return self._scalar(name)

    # -- parts with mass -------------------------------------------------------------------------------

    def mass(self, point: Geometric, mass: Value, name: str | None = None) -> masses.PointMass:
        """A point mass (kg)."""
        at = self._name(point, True)
        return self.add(
            self.named(name, f"mass_{at}" if point.name else "mass"), masses.PointMass, at=at, mass=mass
        )

    def rod(
        self,
        A: Geometric,
        B: Geometric,
        mass: Value = 0.0,
        length: Value | None = None,
        inertia: Value | None = None,
        name: str | None = None,
        rigid: bool = True,
    ) -> masses.Rod:
        """A straight rod with the two ends given; see `masses.Rod`."""
        name, ends = self._between(A, B, name, "rod")
        return self.add(name, masses.Rod, ends=ends, mass=mass, length=length, inertia=inertia, rigid=rigid)

    def body(
        self,
        name: str,
        frame: Sequence[Geometric],
        mass: Value = 0.0,
        com: Place | None = None,
        inertia: Any = 0.0,
        rigid: bool = True,
        lengths: Place | None = None,
    ) -> BodyHandle:
        """A rigid body in a local frame of points; see `masses.PointBody`."""
        if len(frame) != self.dim:
            raise ModelError(f"body '{name}': a frame takes {self.dim} points or vectors (got {len(frame)})")
        names = tuple(self._name(entry) for entry in frame)
        fields = {"mass": mass, "com": com, "inertia": inertia, "rigid": rigid, "lengths": lengths}
        self.add(name, masses.PointBody, frame=names, **fields)
        return BodyHandle(self, name)

    def _attach(self, body: str, kind: str, name: str, local: Any, at: Any) -> Geometric:
        if (local is None) == (at is None):
            raise ModelError(f"'{name}' on body '{body}': give either local components or `at` in W")
        if not name or name in self._known:
            raise ModelError(f"mechanism '{self.name}': the name '{name}' is empty or taken")
        item: Any = self.items["bodies"][body]
        place = self._item(masses.Attached, ("natural", "bodies", body, kind, name), local=local, at=at)
        self.items["bodies"][body] = item.model_copy(update={kind: {**getattr(item, kind), name: place}})
        return self._handle(name, 1.0 if kind == "points" else 0.0)

    def _between(
        self, A: Geometric, B: Geometric, name: str | None, stem: str, both: bool = True
    ) -> tuple[str, tuple]:
        ends = self._name(A, True), self._name(B, True)
        return self.named(name, f"{A.name}{B.name}" if both and A.name and B.name else stem), ends

    # -- equations -------------------------------------------------------------------------------------

    def distance(
        self, A: Geometric, B: Geometric, length: Value | None = None, name: str | None = None
    ) -> None:
        """A distance between two points: a rod without mass."""
        name, ends = self._between(A, B, name, "distance")
        self.add(name, masses.PointDistance, ends=ends, length=length)

    def constrain(self, name: str, expression: Value, text: str = "", unit: str = "J") -> None:
        """Any equation expression = 0 of coordinates and time."""
        self.add(name, constraints.Equation, value=expression, text=text, unit=unit)

    def constrain_velocity(self, name: str, expression: Value, text: str = "") -> None:
        """Any equation expression = 0 that is linear in the velocities (non-holonomic)."""
        self.add(name, constraints.VelocityEquation, value=expression, text=text)

    def perpendicular(self, u: Geometric, w: Geometric, name: str | None = None) -> None:
        """Two vectors that stay at right angles."""
        stem = f"{u.name}_{w.name}" if u.name and w.name else "perpendicular"
        self.add(self.named(name, stem), constraints.Perpendicular, vectors=(self._name(u), self._name(w)))

    def on_line(
        self, point: Geometric, through: Geometric, along: Geometric, name: str | None = None
    ) -> None:
        """A point that slides on a line of the plane or of a body's directions; `along`: a vector."""
        names = self._name(point, True), self._name(through, True), self._name(along, False)
        fields = dict(zip(("point", "through", "along"), names, strict=True))
        self.add(
            self.named(name, f"{point.name}_line" if point.name else "line"), constraints.OnLine, **fields
        )

    def revolute(
        self, first: Any, second: Any, at: Place, axis: Place | None = None, name: str | None = None
    ):
        """A hinge at a place in W, about an axis (space)."""
        self._joint(joints.PlacedRevolute, name, first, second, at=at, axis=axis)

    def spherical(self, first: Any, second: Any, at: Place, name: str | None = None) -> None:
        """A ball joint at a place in W."""
        self._joint(joints.PlacedSpherical, name, first, second, at=at)

    def cylindrical(self, first: Any, second: Any, at: Place, axis: Place, name: str | None = None) -> None:
        """Sliding along and turning about an axis (space only)."""
        self._joint(joints.PlacedCylindrical, name, first, second, at=at, axis=axis)

    def prismatic(self, first: Any, second: Any, at: Place, axis: Place, name: str | None = None) -> None:
        """Sliding along an axis without turning."""
        self._joint(joints.PlacedPrismatic, name, first, second, at=at, axis=axis)

    def universal(
        self, first: Any, second: Any, at: Place, axis: Place, other: Place, name: str | None = None
    ) -> None:
        """A cross: the axis on the first body stays at right angles to the other axis on the second."""
        self._joint(joints.PlacedUniversal, name, first, second, at=at, axis=axis, other=other)

    def _joint(
        self, cls: type[joints.PlacedJoint], name: str | None, first: Any, second: Any, **places: Any
    ) -> None:
        ends = ["ground" if body is None else self._name(body) for body in (first, second)]
        if self.dim not in cls.dims:
            raise ModelError(f"a {cls.type} joint needs a mechanism in space (dim=3)")
        self.add(self.named(name, f"{ends[0]}_{ends[1]}"), cls, first=ends[0], second=ends[1], **places)

    def rolling(
        self,
        body: BodyHandle,
        center: Geometric,
        radius: Value,
        axis: Geometric | None = None,
        plane: Place | None = None,
        normal: Place | None = None,
        name: str | None = None,
    ) -> None:
        """A disc or ball that rolls on a fixed plane without slip; see `constraints.RollingDisc`."""
        fields = {
            "radius": radius,
            "axis": None if axis is None else self._name(axis),
            "plane": plane,
            "normal": normal,
        }
        name = self.named(name, f"{body.name}_rolls")
        self.add(name, constraints.RollingDisc, body=body.name, center=self._name(center, True), **fields)

    def no_slip(self, point: Geometric, across: Geometric, name: str | None = None) -> None:
        """A knife edge: the point does not move along the vector `across`."""
        name = self.named(name, f"{point.name}_edge" if point.name else "edge")
        self.add(name, constraints.Edge, point=self._name(point, True), across=self._name(across, False))

    def drive(self, name: str, quantity: Value, value: Value) -> None:
        """Let any quantity of the coordinates follow a function of time; the multiplier gives the force needed."""
        self.add(name, motions.Drive, quantity=quantity, value=value)

    def motor(self, name: str, body: BodyHandle | Geometric, angle: Value, axis: Place | None = None) -> None:
        """Turn a body's x axis, or a vector, by an angle (rad, of time) from its direction at the start."""
        self.add(name, motions.Motor, turn=self._name(body), angle=angle, axis=axis)

    # -- forces and what is reported -------------------------------------------------------------------

    def spring(
        self,
        A: Geometric,
        B: Geometric,
        stiffness: Value,
        length: Value | None = None,
        name: str | None = None,
    ) -> None:
        """A linear spring, `stiffness` N/m, unstretched `length` m (by default that at the start)."""
        name, ends = self._between(A, B, name, "spring", both=False)
        self.add(name, loads.PointSpring, ends=ends, stiffness=stiffness, length=length)

    def spring_damper(
        self,
        A: Geometric,
        B: Geometric,
        stiffness: Value,
        damping: Value,
        length: Value | None = None,
        name=None,
    ) -> None:
        """Both between the same points; the damper is called `name`.damper."""
        name, ends = self._between(A, B, name, "strut", both=False)
        self.add(name, loads.PointSpring, ends=ends, stiffness=stiffness, length=length, damping=damping)

    def damper(
        self, A: Geometric, B: Geometric, damping: Value, name: str | None = None, isotropic: bool = False
    ) -> None:
        """A linear damper, `damping` N s/m, along the line between its ends, or isotropic."""
        name, ends = self._between(A, B, name, "damper", both=False)
        self.add(name, loads.PointDamper, ends=ends, damping=damping, isotropic=isotropic)

    def angular_damper(
        self, body: BodyHandle, damping: Value, against: BodyHandle | None = None, name: str | None = None
    ) -> None:
        """A damper on the angular velocity of a body against another one or the ground, N m s/rad."""
        fields = {"body": body.name, "damping": damping, "against": against.name if against else None}
        self.add(self.named(name, "angular_damper"), loads.AngularDamper, **fields)

    def angular_spring(
        self, angle: Value, stiffness: Value, rest: Value = 0.0, name: str | None = None
    ) -> None:
        """A spring on an angle (rad), tracked or computed, N m/rad."""
        self.add(
            self.named(name, "angular_spring"),
            loads.AngularSpring,
            angle=angle,
            stiffness=stiffness,
            rest=rest,
        )

    def force(self, point: Geometric, force: Sequence[Value] | SX, name: str | None = None) -> None:
        """A force (dim,) N in W at a point: numbers or expressions of time, coordinates and velocities."""
        self.add(self.named(name, "force"), loads.ForceAtPoint, at=self._name(point, True), force=force)

    def force_between(self, A: Geometric, B: Geometric, force: Value, name: str | None = None) -> None:
        """A force along the line between two points that pulls them together where positive (N)."""
        name, ends = self._between(A, B, name, "actuator", both=False)
        self.add(name, loads.ForceBetween, ends=ends, force=force)

    def torque(
        self, body: BodyHandle, torque: Any, against: BodyHandle | None = None, name: str | None = None
    ) -> None:
        """A torque on a body, N m: a number in the plane, (3,) in W in space; the reaction acts on `against`."""
        fields = {"body": body.name, "torque": torque, "against": against.name if against else None}
        self.add(self.named(name, "torque"), loads.BodyTorque, **fields)

    def work(self, name: str, rate: Value, force: Value) -> None:
        """A generalized force on any quantity, by its rate: the power is rate * force."""
        self.add(name, loads.Work, rate=rate, force=force)

    def potential(self, name: str, energy: Value) -> None:
        """Potential energy (J), any expression of coordinates, time and tables."""
        self.add(name, loads.Potential, value=energy)

    def dissipation(self, name: str, function: Value) -> None:
        """A dissipation function D (W): the forces are -dD/dv."""
        self.add(name, loads.Dissipation, value=function)

    def output(self, name: str, expression: Value, unit: str = "", derivatives: int = 0) -> None:
        """Something to report, with its time derivatives ``name.rate``, ``name.rate2``, ... up to an order."""
        self.add(name, loads.ReportedOutput, value=expression, unit=unit, derivatives=derivatives)

    def tables(self, tables: Mapping[str, Any]) -> None:
        """Tables (`sekant.model.table.TableData`) that texts may call by name."""
        self._tables |= tables
