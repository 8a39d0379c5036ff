"""YAML -> mechanisms in natural coordinates: the section `natural` of a file.

Everything is listed by name: ground, points, vectors, bodies, rods, masses, springs, dampers, drivers, joints,
forces, outputs. Numbers may carry units ("12 mm") or be expressions of parameters; forces, drivers, constraints and
outputs may also depend on time `t`, on coordinates such as `A.x`, their rates `A.vx`, and tracked angles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError, SekantError, suggest

if TYPE_CHECKING:
    from sekant.engine.natural import Mechanism

Path = tuple[str | int, ...]

FIELDS: dict[str, tuple[str, ...]] = {
    "points": ("at", "free", "velocity", "weight"),
    "vectors": ("value", "free", "rate", "weight"),
    "bodies": ("frame", "mass", "com", "inertia", "points", "vectors", "rigid"),
    "assign": ("combine", "cross"),
    "rods": ("ends", "mass", "length", "inertia", "rigid"),
    "masses": ("at", "mass"),
    "distances": ("ends", "length"),
    "perpendicular": ("vectors",),
    "lines": ("point", "through", "to", "along"),
    "joints": ("type", "first", "second", "at", "axis", "other"),
    "rolling": ("body", "center", "radius", "axis", "plane", "normal"),
    "edges": ("point", "across"),
    "springs": ("ends", "stiffness", "length", "damping"),
    "dampers": ("ends", "damping", "isotropic"),
    "angular_dampers": ("body", "damping", "against"),
    "forces": ("at", "force"),
    "torques": ("body", "torque", "against"),
    "prescribed": ("x", "y", "z"),
    "motors": ("turn", "angle", "axis"),
    "angles": ("of", "start"),
}
PLAIN = (
    "dim",
    "gravity",
    "parameters",
    "ground",
    "ground_vectors",
    "constraints",
    "velocity_constraints",
    "outputs",
)
JOINTS = ("revolute", "spherical", "prismatic", "cylindrical", "universal")


def is_natural(data: Mapping[str, Any]) -> bool:
    return "natural" in data


def natural_schema() -> dict[str, Any]:
    """JSON Schema of the section `natural`: its parts and the fields of their items."""
    number = {"type": ["number", "string"]}
    row = {"type": "array", "items": number}
    named_rows = {"type": ["object", "null"], "additionalProperties": row}
    values = {"type": ["object", "null"], "additionalProperties": number}
    sections: dict[str, Any] = {
        "dim": {"enum": [2, 3]},
        "gravity": row,
        "parameters": values,
        "ground": named_rows,
        "ground_vectors": named_rows,
        **dict.fromkeys(("constraints", "velocity_constraints", "outputs"), values),
    }
    for kind, fields in FIELDS.items():
        item: dict[str, Any] = {
            "type": "object",
            "properties": {field: {} for field in fields},
            "additionalProperties": False,
        }
        options = {"anyOf": [item, row]} if kind in ("points", "vectors") else item
        sections[kind] = {"type": ["object", "null"], "additionalProperties": options}
    return {
        "type": "object",
        "description": "a mechanism in points and vectors; it stands instead of bodies and joints",
        "properties": sections,
        "additionalProperties": False,
    }


def mechanism_from_dict(data: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> Mechanism:
    """The mechanism that a file describes; `given`: values of its parameters from outside."""
    for key in data:
        if key not in ("name", "description", "natural", "simulation"):
            raise ModelError(f"unknown key '{key}' beside 'natural'; move it into that section", path=(key,))
    section = _mapping(data["natural"], ("natural",))
    for key in section:
        if key not in (*FIELDS, *PLAIN):
            hint = suggest(str(key), [*FIELDS, *PLAIN], "sections")
            raise ModelError(f"unknown section '{key}'; {hint}", path=("natural", key))
    name, simulation = str(data.get("name", "mechanism")), data.get("simulation") or {}
    values = dict(given or {})

    def with_inputs(names: Sequence[str]) -> Mechanism:
        return _Reader(name, section, simulation, values, names).read()

    mechanism = with_inputs(())
    mechanism.with_inputs = with_inputs
    mechanism.description = _plain({**data, "natural": _with_values(section, values)})
    return mechanism


def mechanism_as_dict(mechanism: Any) -> dict[str, Any]:
    """What a file of the mechanism holds."""
    found = getattr(mechanism, "description", None)
    if found is None:
        raise ModelError(
            f"mechanism '{getattr(mechanism, 'name', mechanism)}' was built in Python and has no text; only "
            "mechanisms that were read from a file can be written to one"
        )
    return found


def _with_values(section: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The section with the values of parameters from outside in place of its own."""
    return {**section, "parameters": {**section["parameters"], **given}} if given else section


def _plain(value: Any) -> Any:
    """The same as built-in types, as a file holds them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    kinds = (bool, int, float, str)
    return next((kind(value) for kind in kinds if isinstance(value, kind)), value)


def _mapping(value: Any, path: Path) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"must be a mapping of names (got {type(value).__name__})", path=path)
    return dict(value)


def _symbol(name: str) -> Any:
    from sekant.geometry.spatial import SX

    return SX.sym(name)


class _Reader:
    def __init__(
        self,
        name: str,
        section: dict[str, Any],
        simulation: Any,
        given: Mapping[str, Any],
        inputs: Sequence[str] = (),
    ):
        from sekant.engine.natural import Mechanism

        self.section = section
        self.constants: dict[str, Any] = {}  # numbers, and symbols of those that stay inputs
        self.inputs: dict[str, tuple[Any, float]] = {}
        self._parameters(given, inputs)
        dim = section.get("dim", 2)
        gravity = section.get("gravity")
        row = None if gravity is None else [self.number(g, ("natural", "gravity")) for g in gravity]
        self.m: Mechanism = Mechanism(dim, row, name, **self._settings(simulation))
        self.m.parameters.update(self.inputs)

    def _settings(self, simulation: Any) -> dict[str, Any]:
        from sekant.model.simulation import SimulationSettings

        known, found = list(SimulationSettings.model_fields), {}
        for key, value in _mapping(simulation, ("simulation",)).items():
            path: Path = ("simulation", key)
            if key not in known:
                raise ModelError(
                    f"unknown setting '{key}'; {suggest(str(key), known, 'settings')}", path=path
                )
            found[key] = str(value) if key == "method" else self.number(value, path)
            if key != "method" and not found[key] > 0:
                raise ModelError(f"{key} must be positive (got {found[key]:g})", path=path)
        return found

    def _parameters(self, given: Mapping[str, Any], inputs: Sequence[str]) -> None:
        listed = _mapping(self.section.get("parameters"), ("natural", "parameters"))
        for name in given:
            if name not in listed:
                hint = suggest(name, list(listed), "parameters")
                raise ModelError(f"'{name}' is not a parameter of this mechanism; {hint}")
        for name in inputs:
            if name not in listed:
                hint = suggest(name, list(listed), "parameters")
                raise ModelError(f"'{name}' cannot stay an input: it is not a parameter; {hint}")
        for name, value in {**listed, **given}.items():
            path: Path = ("natural", "parameters", name)
            if name in inputs:
                self.inputs[name] = (_symbol(name), self.number(value, path))
                self.constants[name] = self.inputs[name][0]
            else:
                self.constants[name] = self._evaluate(
                    value, path, self.constants.__getitem__, list(self.constants)
                )

    # -- values ----------------------------------------------------------------------------------------

    def number(self, value: Any, path: Path) -> float:
        """A number that is known when the mechanism is built: places, directions, settings."""
        found = self.quantity(value, path)
        if not isinstance(found, float):
            raise ModelError(
                f"'{value}' shapes the mechanism and cannot depend on a number that each run sets "
                f"({', '.join(self.inputs)}); masses, lengths, forces and outputs can",
                path=path,
            )
        return found

    def quantity(self, value: Any, path: Path) -> Any:
        """A number, or an expression of those that each run sets."""
        return self._evaluate(value, path, self.constants.__getitem__, list(self.constants))

    def value(self, value: Any, path: Path) -> Any:
        """A number or an expression of time, coordinates and rates."""
        known = self._symbols()
        return self._evaluate(value, path, lambda name: known[name], list(known))

    def _evaluate(self, value: Any, path: Path, lookup: Callable[[str], Any], names: list[str]) -> Any:
        from sekant.model.expressions import Expression

        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ModelError(f"must be a number or an expression (got {value!r})", path=path)
        if not isinstance(value, str):
            return float(value)
        try:
            return Expression(value).evaluate(lookup, names=names)
        except SekantError as error:
            error.path = error.path or path
            raise

    def _symbols(self) -> dict[str, Any]:
        found: dict[str, Any] = {**self.constants, "t": self.m.t}
        for c in self.m.coordinates:
            found[c.name], found[c.rate_name] = c.symbol, c.rate
        for name, item in self.m.geometry.items():
            for i, axis in enumerate("xyz"[: self.m.dim]):
                if f"{name}.{axis}" not in found:
                    found[f"{name}.{axis}"] = item.value[i]
                    found[f"{name}.v{axis}"] = item.velocity[i]
        return found

    def numbers(self, value: Any, path: Path) -> list[float]:
        if not isinstance(value, (list, tuple)):
            raise ModelError(f"must be a list of numbers (got {value!r})", path=path)
        return [self.number(entry, (*path, i)) for i, entry in enumerate(value)]

    # -- items -----------------------------------------------------------------------------------------

    def read(self) -> Mechanism:
        m, section = self.m, self.section
        for name, place in _mapping(section.get("ground"), ("natural", "ground")).items():
            self._at(
                ("natural", "ground", name), m.ground, name, self.numbers(place, ("natural", "ground", name))
            )
        for name, place in _mapping(section.get("ground_vectors"), ("natural", "ground_vectors")).items():
            path = ("natural", "ground_vectors", name)
            self._at(path, m.ground_vector, name, self.numbers(place, path))
        for name, item, path in self._items("points"):
            self._basic(m.point, name, item, path, "at", "velocity")
        for name, item, path in self._items("vectors"):
            self._basic(m.vector, name, item, path, "value", "rate")
        self._derived()
        for kind in (
            "rods",
            "masses",
            "distances",
            "perpendicular",
            "lines",
            "joints",
            "rolling",
            "edges",
            "angles",
        ):
            for name, item, path in self._items(kind):
                self._at(path, getattr(self, f"_{kind}"), name, item, path)
        for kind in ("prescribed", "motors", "springs", "dampers", "angular_dampers", "forces", "torques"):
            for name, item, path in self._items(kind):
                self._at(path, getattr(self, f"_{kind}"), name, item, path)
        self._expressions("constraints", m.constrain)
        self._expressions("velocity_constraints", m.constrain_velocity)
        self._expressions("outputs", m.output)
        return m

    def _expressions(self, kind: str, add: Callable[..., Any]) -> None:
        for name, text in _mapping(self.section.get(kind), ("natural", kind)).items():
            path = ("natural", kind, name)
            self._at(path, add, name, self.value(text, path))

    def _at(self, path: Path, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call a builder; what it refuses is reported at the item's line."""
        try:
            return function(*args, **options)
        except SekantError as error:
            error.path = error.path or path
            raise

    def _items(self, kind: str):
        for name, item in _mapping(self.section.get(kind), ("natural", kind)).items():
            path: Path = ("natural", kind, name)
            if kind in ("points", "vectors") and isinstance(item, (list, tuple)):
                item = {FIELDS[kind][0]: item}
            fields = _mapping(item, path)
            for key in fields:
                if key not in FIELDS[kind]:
                    hint = suggest(str(key), FIELDS[kind], "fields")
                    raise ModelError(f"unknown field '{key}'; {hint}", path=(*path, key))
            yield name, fields, path

    def _need(self, item: dict[str, Any], key: str, path: Path) -> Any:
        if key not in item:
            raise ModelError(f"'{key}' is missing", path=path)
        return item[key]

    def _basic(self, add: Any, name: str, item: dict[str, Any], path: Path, place: str, rate: str) -> None:
        options = {key: item[key] for key in ("free",) if key in item}
        if rate in item:
            options[rate] = self.numbers(item[rate], (*path, rate))
        if "weight" in item:
            options["weight"] = self.number(item["weight"], (*path, "weight"))
        self._at(path, add, name, self.numbers(self._need(item, place, path), (*path, place)), **options)

    def _derived(self) -> None:
        """Bodies and assigned points, in an order in which each finds what it needs."""
        waiting = [(kind, *entry) for kind in ("assign", "bodies") for entry in self._items(kind)]
        while waiting:
            ready = [entry for entry in waiting if all(n in self.m.geometry for n in self._needs(*entry))]
            if not ready:
                kind, name, item, path = waiting[0]
                missing = next(n for n in self._needs(kind, name, item, path) if n not in self.m.geometry)
                hint = suggest(missing, list(self.m.geometry), "points and vectors")
                raise ModelError(f"there is no point or vector '{missing}' to start from; {hint}", path=path)
            for kind, name, item, path in ready:
                self._at(path, getattr(self, f"_{kind}"), name, item, path)
            waiting = [entry for entry in waiting if entry not in ready]

    def _needs(self, kind: str, name: str, item: dict[str, Any], path: Path) -> list[str]:
        if kind == "bodies":
            return [str(n) for n in self._need(item, "frame", path)]
        return [str(n) for n in (item.get("combine") or item.get("cross") or {})]

    def _assign(self, name: str, item: dict[str, Any], path: Path) -> None:
        if len(item) != 1:
            raise ModelError("give either 'combine' or 'cross'", path=path)
        if "cross" in item:
            first, second = (self.m[str(n)] for n in item["cross"])
            self.m.assign(name, first.cross(second))
            return
        shares = _mapping(item["combine"], (*path, "combine"))
        parts = [self.m[n] * self.number(share, (*path, "combine", n)) for n, share in shares.items()]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        self.m.assign(name, total)

    def _bodies(self, name: str, item: dict[str, Any], path: Path) -> None:
        inertia = item.get("inertia", 0.0)
        if isinstance(inertia, list):
            inertia = [
                self.numbers(row, (*path, "inertia", i)) if isinstance(row, list) else self.number(row, path)
                for i, row in enumerate(inertia)
            ]
        else:
            inertia = self.number(inertia, (*path, "inertia"))
        body = self.m.body(
            name,
            [self.m[str(n)] for n in self._need(item, "frame", path)],
            self.quantity(item.get("mass", 0.0), (*path, "mass")),
            self.numbers(item["com"], (*path, "com")) if "com" in item else None,
            inertia,
            bool(item.get("rigid", True)),
        )
        for kind, add in (("points", body.point), ("vectors", body.vector)):
            for child, place in _mapping(item.get(kind), (*path, kind)).items():
                at = (*path, kind, child)
                if isinstance(place, Mapping):
                    self._at(at, add, child, at=self.numbers(self._need(dict(place), "at", at), at))
                else:
                    self._at(at, add, child, self.numbers(place, at))

    def _ends(self, item: dict[str, Any], path: Path, key: str = "ends") -> tuple[Any, Any]:
        names = self._need(item, key, path)
        if not isinstance(names, list) or len(names) != 2:
            raise ModelError(f"'{key}' takes two names (got {names!r})", path=(*path, key))
        return self.m[str(names[0])], self.m[str(names[1])]

    def _body(self, item: dict[str, Any], key: str, path: Path, optional: bool = False) -> Any:
        name = item.get(key, "ground" if optional else None)
        if name == "ground" and optional:
            return None
        if name not in self.m.parts:
            raise ModelError(
                f"there is no body '{name}'; {suggest(str(name), list(self.m.parts), 'bodies')}", path=path
            )
        return self.m.parts[name]

    def _options(self, item: dict[str, Any], path: Path, *keys: str) -> dict[str, Any]:
        return {key: self.quantity(item[key], (*path, key)) for key in keys if key in item}

    def _rods(self, name: str, item: dict[str, Any], path: Path) -> None:
        options = self._options(item, path, "mass", "length", "inertia")
        self.m.rod(*self._ends(item, path), name=name, rigid=bool(item.get("rigid", True)), **options)

    def _masses(self, name: str, item: dict[str, Any], path: Path) -> None:
        mass = self.quantity(self._need(item, "mass", path), (*path, "mass"))
        self.m.mass(self.m[str(self._need(item, "at", path))], mass, name)

    def _distances(self, name: str, item: dict[str, Any], path: Path) -> None:
        self.m.distance(*self._ends(item, path), name=name, **self._options(item, path, "length"))

    def _perpendicular(self, name: str, item: dict[str, Any], path: Path) -> None:
        self.m.perpendicular(*self._ends(item, path, "vectors"), name=name)

    def _lines(self, name: str, item: dict[str, Any], path: Path) -> None:
        point, through = (self.m[str(self._need(item, key, path))] for key in ("point", "through"))
        if ("to" in item) == ("along" in item):
            raise ModelError(
                "give the line's direction by either 'to' (a point) or 'along' (a vector)", path=path
            )
        along = self.m[str(item["to"])] - through if "to" in item else self.m[str(item["along"])]
        self.m.on_line(point, through, along, name)

    def _joints(self, name: str, item: dict[str, Any], path: Path) -> None:
        kind = self._need(item, "type", path)
        if kind not in JOINTS:
            raise ModelError(
                f"unknown joint type '{kind}'; {suggest(str(kind), JOINTS, 'types')}", path=(*path, "type")
            )
        places = {
            key: self.numbers(item[key], (*path, key)) for key in ("at", "axis", "other") if key in item
        }
        first, second = (self._body(item, key, path, optional=True) for key in ("first", "second"))
        getattr(self.m, kind)(first, second, name=name, **places)

    def _rolling(self, name: str, item: dict[str, Any], path: Path) -> None:
        self.m.rolling(
            self._body(item, "body", path),
            self.m[str(self._need(item, "center", path))],
            self.number(self._need(item, "radius", path), (*path, "radius")),
            self.m[str(item["axis"])] if "axis" in item else None,
            *(self.numbers(item[key], (*path, key)) if key in item else None for key in ("plane", "normal")),
            name=name,
        )

    def _edges(self, name: str, item: dict[str, Any], path: Path) -> None:
        point, across = (self.m[str(self._need(item, key, path))] for key in ("point", "across"))
        self.m.no_slip(point, across, name)

    def _angles(self, name: str, item: dict[str, Any], path: Path) -> None:
        of = str(self._need(item, "of", path))
        start = self.number(item["start"], (*path, "start")) if "start" in item else None
        self.m.angle(name, self.m.parts[of] if of in self.m.parts else self.m[of], start)  # type: ignore[arg-type]

    def _prescribed(self, name: str, item: dict[str, Any], path: Path) -> None:
        self.m.prescribe(
            self.m[name], **{axis: self.value(text, (*path, axis)) for axis, text in item.items()}
        )

    def _motors(self, name: str, item: dict[str, Any], path: Path) -> None:
        of = str(self._need(item, "turn", path))
        angle = self.value(self._need(item, "angle", path), (*path, "angle"))
        axis = self.numbers(item["axis"], (*path, "axis")) if "axis" in item else None
        self.m.motor(name, self.m.parts[of] if of in self.m.parts else self.m[of], angle, axis)  # type: ignore[arg-type]

    def _springs(self, name: str, item: dict[str, Any], path: Path) -> None:
        stiffness = self.value(self._need(item, "stiffness", path), (*path, "stiffness"))
        length = self.value(item["length"], (*path, "length")) if "length" in item else None
        ends = self._ends(item, path)
        if "damping" in item:
            self.m.spring_damper(
                *ends, stiffness, self.value(item["damping"], (*path, "damping")), length, name
            )
        else:
            self.m.spring(*ends, stiffness, length, name)

    def _dampers(self, name: str, item: dict[str, Any], path: Path) -> None:
        damping = self.value(self._need(item, "damping", path), (*path, "damping"))
        self.m.damper(*self._ends(item, path), damping, name, bool(item.get("isotropic", False)))

    def _angular_dampers(self, name: str, item: dict[str, Any], path: Path) -> None:
        damping = self.value(self._need(item, "damping", path), (*path, "damping"))
        against = self._body(item, "against", path, optional=True)
        self.m.angular_damper(self._body(item, "body", path), damping, against, name)

    def _forces(self, name: str, item: dict[str, Any], path: Path) -> None:
        parts = self._need(item, "force", path)
        values = [self.value(part, (*path, "force", i)) for i, part in enumerate(parts)]
        self.m.force(self.m[str(self._need(item, "at", path))], values, name)

    def _torques(self, name: str, item: dict[str, Any], path: Path) -> None:
        torque = self._need(item, "torque", path)
        values = (
            [self.value(part, path) for part in torque]
            if isinstance(torque, list)
            else self.value(torque, path)
        )
        against = self._body(item, "against", path, optional=True)
        self.m.torque(self._body(item, "body", path), values, against, name)
