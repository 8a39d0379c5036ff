"""Mechanism -> what a file of it holds.

Points and vectors come from the mechanism's coordinates, everything else from its notes. Points without a name that
something hangs on get one. What was written is read again and compared before it is given out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.natural.combination import combination
from sekant.formulations.natural.elements import Part, frame_matrix
from sekant.formulations.natural.notes import Note
from sekant.formulations.natural.point_mechanism import PointMechanism
from sekant.formulations.natural.points import AXES, FOLLOWS, Coordinate, Geometric
from sekant.geometry.spatial import SX
from sekant.io.natural.comparison import first_difference
from sekant.io.natural.expression_text import expression_text
from sekant.io.natural.reader import mechanism_from_dict
from sekant.io.natural.sections import EXPRESSIONS, FIELDS

DEFAULTS: dict[str, Any] = {
    "rigid": True,
    "isotropic": False,
    "derivatives": 0,
    "text": "",
    "rest": 0.0,
}
"""What need not be written."""


def mechanism_as_dict(mechanism: Any) -> dict[str, Any]:
    """What a file of the mechanism holds: its own if it was read from one and not changed since."""
    if not isinstance(mechanism, PointMechanism):
        raise ModelError(f"only models and mechanisms can be written to a file (got {mechanism!r})")
    found = getattr(mechanism, "description", None)
    if found is not None and getattr(mechanism, "described", None) == getattr(mechanism, "extent", None):
        return found
    return written(mechanism)


def written(mechanism: PointMechanism) -> dict[str, Any]:
    """A file of the mechanism, from what was built; raises `ModelError` that names what has no form in a file."""
    found = _Writer(mechanism).data()
    again = mechanism_from_dict(found)
    if mechanism.parameters and again.with_inputs is not None:
        again = again.with_inputs(list(mechanism.parameters))
    different = first_difference(mechanism, again)
    if different:
        raise ModelError(
            f"mechanism '{mechanism.name}': {different} would not be the same when read from a file; build it from "
            "final start values, or give its lengths as numbers"
        )
    return found


class _Writer:
    def __init__(self, mechanism: PointMechanism):
        self.m = mechanism
        self.sections: dict[str, dict[str, Any]] = {
            name: {}
            for name in ("parameters", "ground", "ground_vectors", *FIELDS, *EXPRESSIONS)
            if name != "outputs"
        }
        self.sections["outputs"] = {}
        self.names = {mechanism.t.element_hash(): "t"}
        for c in mechanism.coordinates:
            self.names[c.symbol.element_hash()] = c.name
            self.names[c.rate.element_hash()] = c.rate_name
        for name, (symbol, _) in mechanism.parameters.items():
            self.names[symbol.element_hash()] = name
        self.given_names: dict[int, str] = {}

    def data(self) -> dict[str, Any]:
        m = self.m
        self.sections["parameters"] = {name: value for name, (_, value) in m.parameters.items()}
        owned = {name for part in m.parts.values() for name in getattr(part, "places", {})}
        basic = self._basics()
        for name, item in m.geometry.items():
            if name not in basic and name not in owned:
                self.sections["assign"][name] = self._assigned(name, item)
        for note in m.notes:
            self.sections[note.section][note.name] = self._entry(note)
        natural = {"dim": m.dim, "gravity": m.gravity.tolist()}
        natural |= {name: items for name, items in self.sections.items() if items}
        found: dict[str, Any] = {"name": m.name, "natural": natural}
        settings = getattr(m, "simulation", None)
        chosen = settings.model_dump(exclude_defaults=True) if settings is not None else {}
        return {**found, "simulation": chosen} if chosen else found

    # -- points and vectors ----------------------------------------------------------------------------

    def _basics(self) -> set[str]:
        """Writes the basic points and vectors; their names."""
        owners: dict[str, list[Coordinate]] = {}
        for c in self.m.coordinates:
            owner, _, axis = c.name.rpartition(".")
            if owner in self.m.geometry and axis in AXES:
                owners.setdefault(owner, []).append(c)
        for name, components in owners.items():
            self._basic(name, self.m.geometry[name].is_point, components)
        return set(owners)

    def _basic(self, name: str, point: bool, components: Sequence[Coordinate]) -> None:
        place = [c.start for c in components]
        moving = [c for c in components if c.fixed is None or not c.fixed.is_constant()]
        if not moving:
            self.sections["ground" if point else "ground_vectors"][name] = place
            return
        item: dict[str, Any] = {"at" if point else "value": place}
        if len(moving) < len(components):
            item["free"] = "".join(c.name[-1] for c in moving)
        if components[0].rate_weight != FOLLOWS:
            item["velocity" if point else "rate"] = [c.start_rate for c in components]
        if components[0].weight != 1.0:
            item["weight"] = components[0].weight
        self.sections["points" if point else "vectors"][name] = item
        driven = {c.name[-1]: self._text(c.fixed, f"'{c.name}'") for c in moving if c.fixed is not None}
        if driven:
            self.sections["prescribed"][name] = driven

    def _assigned(self, name: str, item: Geometric) -> dict[str, Any]:
        parts = combination(item)
        if parts:
            return {"combine": parts}
        column = [self._text(part, f"'{name}'") for part in ca.vertsplit(item.value)]
        return {"point" if item.is_point else "vector": column}

    def _name(self, item: Geometric) -> str:
        """The name of a point or vector; one without gets one."""
        if item.name:
            return item.name
        if id(item) not in self.given_names:
            number = len(self.given_names) + 1
            while f"_{number}" in self.m.geometry:
                number += 1
            name = f"_{number}"
            self.given_names[id(item)] = name
            self.sections["assign"][name] = self._assigned(name, item)
        return self.given_names[id(item)]

    # -- everything else -------------------------------------------------------------------------------

    def _entry(self, note: Note) -> Any:
        what = f"{note.section} '{note.name}'"
        item = {
            key: self._plain(value, f"{what}: {key}")
            for key, value in note.fields.items()
            if value is not None and not (key in DEFAULTS and _is(value, DEFAULTS[key]))
        }
        if note.section == "bodies":
            self._body(note, item)
        if note.section in EXPRESSIONS:
            default = {"constraints": {"unit": "J"}, "outputs": {"unit": ""}}.get(note.section, {})
            item = {key: value for key, value in item.items() if default.get(key) != value}
            if "derivatives" in item:
                item["derivatives"] = int(item["derivatives"])
            return item["value"] if list(item) == ["value"] else item
        return item

    def _body(self, note: Note, item: dict[str, Any]) -> None:
        """Lengths that are not those at the start, and the points that the body carries."""
        frame = note.fields["frame"]
        places = [self.m.at_start(point.value).ravel() for point in frame]
        U = frame_matrix(note.name, frame, places)[0]
        body: Any = self.m.parts[note.name]
        if np.allclose(U, body.U, rtol=1e-15, atol=1e-15):
            del item["lengths"]
        for key, wanted in (("points", True), ("vectors", False)):
            found = {c.name: body.places[c.name].tolist() for c in body.children if c.is_point == wanted}
            if found:
                item[key] = found

    def _plain(self, value: Any, what: str) -> Any:
        if isinstance(value, Geometric):
            return self._name(value)
        if isinstance(value, Part):
            return value.name
        if isinstance(value, ca.SX):
            texts = [self._text(part, what) for part in ca.vertsplit(ca.vec(value))]
            return texts[0] if len(texts) == 1 else texts
        if isinstance(value, (list, tuple)):
            return [self._plain(entry, what) for entry in value]
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    def _text(self, expression: SX, what: str) -> str | float:
        try:
            return expression_text(SX(expression), self.names)
        except ModelError as error:
            raise ModelError(
                f"mechanism '{self.m.name}' cannot be written to a file because of {what}: {error.message}"
            ) from None


def _is(value: Any, default: Any) -> bool:
    return not isinstance(value, (ca.SX, np.ndarray, list)) and value == default
