"""The section `natural` of a file -> mechanism.

Everything is listed by name: ground, points, vectors, bodies, rods, masses, springs, dampers, drivers, joints,
forces, outputs. Numbers may carry units ("12 mm") or be expressions of parameters; forces, drivers, constraints and
outputs may also depend on time `t`, on coordinates such as `A.x`, their rates `A.vx`, and tracked angles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError, suggest
from sekant.io.natural.items import Items
from sekant.io.natural.sections import EXPRESSIONS, FIELDS, PLAIN, Path, mapping
from sekant.model.expressions.expression import Expression

if TYPE_CHECKING:
    from sekant.engine.natural import Mechanism


def is_natural(data: Mapping[str, Any]) -> bool:
    return "natural" in data


def mechanism_from_dict(data: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> Mechanism:
    """The mechanism that a file describes; `given`: values of its parameters from outside."""
    for key in data:
        if key not in ("name", "description", "natural", "simulation"):
            raise ModelError(f"unknown key '{key}' beside 'natural'; move it into that section", path=(key,))
    section = mapping(data["natural"], ("natural",))
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
    mechanism.described = mechanism.extent
    return mechanism


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


class _Reader(Items):
    """Reads the sections in an order in which each finds what it needs."""

    def read(self) -> Mechanism:
        m, section = self.m, self.section
        for name, place in mapping(section.get("ground"), ("natural", "ground")).items():
            self._at(
                ("natural", "ground", name), m.ground, name, self.numbers(place, ("natural", "ground", name))
            )
        for name, place in mapping(section.get("ground_vectors"), ("natural", "ground_vectors")).items():
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
            "tracked",
        ):
            for name, item, path in self._items(kind):
                self._at(path, getattr(self, f"_{kind}"), name, item, path)
        for kind in (
            "prescribed",
            "motors",
            "drives",
            "springs",
            "angular_springs",
            "dampers",
            "angular_dampers",
            "forces",
            "actuators",
            "torques",
            "works",
        ):
            for name, item, path in self._items(kind):
                self._at(path, getattr(self, f"_{kind}"), name, item, path)
        self._expressions("constraints", m.constrain)
        self._expressions("velocity_constraints", m.constrain_velocity)
        self._expressions("potentials", m.potential)
        self._expressions("dissipations", m.dissipation)
        self._expressions("outputs", m.output)
        return m

    def _expressions(self, kind: str, add: Callable[..., Any]) -> None:
        for name, item in mapping(self.section.get(kind), ("natural", kind)).items():
            path: Path = ("natural", kind, name)
            fields = (
                self._known(item, EXPRESSIONS[kind], path) if isinstance(item, Mapping) else {"value": item}
            )
            text = self._need(fields, "value", path)
            value = self.column(text, path) if isinstance(text, (list, tuple)) else self.value(text, path)
            options = {key: entry for key, entry in fields.items() if key != "value"}
            self._at(path, add, name, value, **options)

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
        texts = [text for key in ("point", "vector") for text in item.get(key, ()) if isinstance(text, str)]
        names = sorted({name for text in texts for name in Expression(text).names if "." in name})
        owners = [name.rpartition(".")[0] for name in names]
        return [str(n) for n in (item.get("combine") or item.get("cross") or owners)]

    def _assign(self, name: str, item: dict[str, Any], path: Path) -> None:
        if len(item) != 1:
            raise ModelError("give one of 'combine', 'cross', 'point' and 'vector'", path=path)
        for key, weight in (("point", 1.0), ("vector", 0.0)):
            if key in item:
                self.m.assign(name, self.m.expressed(self.column(item[key], (*path, key)), weight))
                return
        if "cross" in item:
            first, second = (self.m[str(n)] for n in item["cross"])
            self.m.assign(name, first.cross(second))
            return
        shares = mapping(item["combine"], (*path, "combine"))
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
            self.numbers(item["lengths"], (*path, "lengths")) if "lengths" in item else None,
        )
        for kind, add in (("points", body.point), ("vectors", body.vector)):
            for child, place in mapping(item.get(kind), (*path, kind)).items():
                at = (*path, kind, child)
                if isinstance(place, Mapping):
                    self._at(at, add, child, at=self.numbers(self._need(dict(place), "at", at), at))
                else:
                    self._at(at, add, child, self.numbers(place, at))
