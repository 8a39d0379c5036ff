"""Markdown of the reference of model files, from the classes that read them."""

from __future__ import annotations

import re
from typing import Any

from python_reference import prose

from sekant.io.reference import fields_of
from sekant.io.schema import definition_of, json_schema
from sekant.model.items import ITEM_CLASSES, item_types
from sekant.model.points.sections import sections
from sekant.vehicle.car.description import Car
from sekant.vehicle.explained import PARTS
from sekant.vehicle.tires.simple import LinearTire

TITLES = {
    "bodies": "Bodies",
    "joints": "Joints",
    "forces": "Forces",
    "constraints": "Constraints",
    "contacts": "Contacts",
    "motions": "Prescribed motions",
    "sensors": "Sensors",
    "inputs": "Inputs",
    "signals": "Signals",
    "tables": "Tables",
}
INTRODUCTIONS = {
    "joints": (
        "A joint connects a frame F on the parent to a frame M on the child. The position p_FM and the rotation "
        "R_FM of M in F form the pose X_FM, which depends on the coordinates q. The matrix S maps the velocities v "
        "to the twist of M relative to F. If a joint has an `axis`, the z axes of F and M point along it."
    ),
}
SHARED = (
    "Ground",
    "Placement",
    "Orientation",
    "PathCompliance",
    "SurfaceCompliance",
    "Spring",
    "ElasticModes",
    "MaxwellBranch",
    "SurfaceData",
    "TrackStart",
    "TrackPiece",
    "ArcPiece",
    "ClothoidPiece",
    "HelixPiece",
    "Patch",
)
"""Parts of items that have no section of their own."""


def markdown() -> str:
    """One section a collection, one table a type."""
    schema = json_schema()
    parts = ["## Top level", _table(schema, schema)]
    for key, cls in ITEM_CLASSES.items():
        parts += [f"## {TITLES.get(key, key.capitalize())} (`{key}`)", _prose(INTRODUCTIONS.get(key, ""))]
        for name, item in sorted((item_types(cls) or {"": cls}).items()):
            own = definition_of(schema, item)
            if name:
                parts.append(f"### `{name}`")
            parts += [_prose(own.get("description", "")), _table(own, schema)]
    parts.append("## Curves (`curves`)")
    references = schema["properties"]["curves"]["additionalProperties"]["oneOf"]
    kinds = [(own.get("required", ["?"])[0], own) for own in (_resolved(one, schema) for one in references)]
    for key, own in sorted(kinds, key=lambda kind: kind[0]):
        text = own.get("description", "")
        parts += [f"### with the key `{key}`", _prose(f"{text[:1].upper()}{text[1:]}."), _table(own, schema)]
    parts += _points(schema)
    parts += _roads(schema)
    parts += _cars()
    parts += ["## Instances (`instances`)", _table(_entries("instances", schema), schema)]
    parts.append("## Simulation (`simulation`)")
    parts.append(_table(schema["$defs"]["SimulationSettings"], schema))
    own = schema["$defs"]["View"]
    parts += ["## View (`view`)", _prose(own["description"]), _table(own, schema)]
    parts.append("## Shared parts")
    for name in SHARED:
        own = schema["$defs"][name]
        parts += [f"### {name}", _prose(own.get("description", "")), _table(own, schema)]
    return "\n\n".join(part for part in parts if part)


def _roads(schema: dict[str, Any]) -> list[str]:
    """Types of roads, as the schema of a tire lists them."""
    parts = ["## Roads (`road` of tires and cars)"]
    options = definition_of(schema, LinearTire)["properties"]["road"]["anyOf"]
    named = {own["properties"]["type"]["const"]: own for own in options[1:]}
    for name, own in sorted(named.items()):
        parts += [f"### `type: {name}`", _prose(own.get("description", "")), _table(own, schema)]
    return parts


def _cars() -> list[str]:
    """Descriptions of cars: their parts, one table each."""
    schema = Car.model_json_schema()
    parts = ["## Cars (`vehicle: car`)", _table(schema, schema)]
    for name, cls in PARTS.items():
        own = schema["$defs"][cls.__name__]
        parts += [f"### `{name}`", _prose(own.get("description", "")), _table(own, schema)]
    return parts


def _points(schema: dict[str, Any]) -> list[str]:
    """Sections of mechanisms modeled with points, from their registry."""
    parts = ["## Mechanisms modeled with points (`natural`)"]
    parts.append(
        "These sections are inside `natural`, next to `dim` (2 for a mechanism in the xy plane, 3 in space) and "
        "`gravity` (in m/s^2, in W; by default 9.81 m/s^2 along -y in the plane and along -z in space)."
    )
    for section, types in sections().items():
        parts.append(f"### `natural.{section}`")
        for name, cls in sorted(types.items()):
            own = definition_of(schema, cls)
            short = (
                f" Instead of a mapping, the entry may be just the value of `{cls.short}`."
                if cls.short
                else ""
            )
            title = f"`type: {name}`: " if name else ""
            parts += [title + _prose(own.get("description", "")) + short, _table(own, schema)]
    return parts


def _table(own: dict[str, Any], schema: dict[str, Any]) -> str:
    rows = ["| field | value | default | |", "|---|---|---|---|"]
    rows += [f"| `{f.name}` | {f.form} | {f.default} | {_cell(f.text)} |" for f in fields_of(own)]
    return "\n".join(rows)


def _entries(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the entries of a collection."""
    return schema["properties"][key]["additionalProperties"]


def _resolved(reference: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return schema["$defs"][reference["$ref"].rpartition("/")[2]]


def _prose(text: str) -> str:
    """Paragraphs as Markdown; indented ones are formulas and remain as they are."""
    paragraphs = [paragraph.rstrip() for paragraph in text.split("\n\n")]
    return "\n\n".join(one if one.startswith("    ") else prose(one) for one in paragraphs)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", prose(text))
