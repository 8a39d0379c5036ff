"""Items of a file of a mechanism: rods, joints, drivers, springs, forces, each by one call of the builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sekant.errors import ModelError, SekantError, suggest
from sekant.io.natural.sections import FIELDS, JOINTS, Path, mapping
from sekant.io.natural.values import Values


class Items(Values):
    """One method a section, called by its name."""

    def _at(self, path: Path, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call a builder; what it refuses is reported at the item's line."""
        try:
            return function(*args, **options)
        except SekantError as error:
            error.path = error.path or path
            raise

    def _items(self, kind: str):
        for name, item in mapping(self.section.get(kind), ("natural", kind)).items():
            path: Path = ("natural", kind, name)
            if kind in ("points", "vectors") and isinstance(item, (list, tuple)):
                item = {FIELDS[kind][0]: item}
            yield name, self._known(item, FIELDS[kind], path), path

    def _known(self, item: Any, known: tuple[str, ...], path: Path) -> dict[str, Any]:
        """The fields of an item, none of them unknown."""
        fields = mapping(item, path)
        for key in fields:
            if key not in known:
                raise ModelError(
                    f"unknown field '{key}'; {suggest(str(key), known, 'fields')}", path=(*path, key)
                )
        return fields

    def _need(self, item: dict[str, Any], key: str, path: Path) -> Any:
        if key not in item:
            raise ModelError(f"'{key}' is missing", path=path)
        return item[key]

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
        length = self.value(item["length"], (*path, "length")) if "length" in item else None
        self.m.distance(*self._ends(item, path), length, name)

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
        start = self.value(item["start"], (*path, "start")) if "start" in item else None
        self.m.angle(name, self.m.parts[of] if of in self.m.parts else self.m[of], start)  # type: ignore[arg-type]

    def _tracked(self, name: str, item: dict[str, Any], path: Path) -> None:
        rate, start = self._need(item, "rate", path), item.get("start", 0.0)
        self.m.track(name, self.value(rate, (*path, "rate")), self.value(start, (*path, "start")))

    def _drives(self, name: str, item: dict[str, Any], path: Path) -> None:
        self.m.drive(name, *self._values(item, path, "quantity", "value"))

    def _works(self, name: str, item: dict[str, Any], path: Path) -> None:
        self.m.work(name, *self._values(item, path, "rate", "force"))

    def _actuators(self, name: str, item: dict[str, Any], path: Path) -> None:
        self.m.force_between(*self._ends(item, path), self._values(item, path, "force")[0], name)

    def _angular_springs(self, name: str, item: dict[str, Any], path: Path) -> None:
        rest = self.value(item.get("rest", 0.0), (*path, "rest"))
        angle, stiffness = self._values(item, path, "angle", "stiffness")
        self.m.angular_spring(angle, stiffness, rest, name)

    def _values(self, item: dict[str, Any], path: Path, *keys: str) -> list[Any]:
        """Numbers, expressions or columns of them in fields that must be there."""
        found = []
        for key in keys:
            text = self._need(item, key, path)
            one = not isinstance(text, (list, tuple))
            found.append(self.value(text, (*path, key)) if one else self.column(text, (*path, key)))
        return found

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
