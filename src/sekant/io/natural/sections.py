"""Sections and fields of mechanisms in natural coordinates in a file, and their JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sekant.errors import ModelError

Path = tuple[str | int, ...]

FIELDS: dict[str, tuple[str, ...]] = {
    "points": ("at", "free", "velocity", "weight"),
    "vectors": ("value", "free", "rate", "weight"),
    "bodies": ("frame", "mass", "com", "inertia", "points", "vectors", "rigid", "lengths"),
    "assign": ("combine", "cross", "point", "vector"),
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
    "tracked": ("rate", "start"),
    "drives": ("quantity", "value"),
    "angular_springs": ("angle", "stiffness", "rest"),
    "actuators": ("ends", "force"),
    "works": ("rate", "force"),
}
EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "constraints": ("value", "text", "unit"),
    "velocity_constraints": ("value", "text"),
    "potentials": ("value",),
    "dissipations": ("value",),
    "outputs": ("value", "unit", "derivatives"),
}
"""Sections of expressions by name; where more is to be said of one, it is the field `value`."""
PLAIN = (
    "dim",
    "gravity",
    "parameters",
    "ground",
    "ground_vectors",
    *EXPRESSIONS,
)
JOINTS = ("revolute", "spherical", "prismatic", "cylindrical", "universal")


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
    }
    for kind, fields in EXPRESSIONS.items():
        options = {"anyOf": [number, row, _item(fields)]}
        sections[kind] = {"type": ["object", "null"], "additionalProperties": options}
    for kind, fields in FIELDS.items():
        item = _item(fields)
        options = {"anyOf": [item, row]} if kind in ("points", "vectors") else item
        sections[kind] = {"type": ["object", "null"], "additionalProperties": options}
    return {
        "type": "object",
        "description": "a mechanism in points and vectors; it stands instead of bodies and joints",
        "properties": sections,
        "additionalProperties": False,
    }


def _item(fields: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field: {} for field in fields},
        "additionalProperties": False,
    }


def mapping(value: Any, path: Path) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"must be a mapping of names (got {type(value).__name__})", path=path)
    return dict(value)
