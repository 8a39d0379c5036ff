"""Markdown of the reference of model files, from the classes that read them."""

from __future__ import annotations

from typing import Any

from sekant.io.schema import definition_of, json_schema
from sekant.model.items import ITEM_CLASSES, item_types
from sekant.model.points import SECTIONS

TITLES = {
    "bodies": "Bodies",
    "joints": "Joints",
    "forces": "Forces",
    "constraints": "Constraints",
    "contacts": "Contacts",
    "drivers": "Drivers",
    "sensors": "Sensors",
    "inputs": "Inputs",
    "signals": "Signals",
    "tables": "Tables",
}


def markdown() -> str:
    """One section a collection, one table a type."""
    schema = json_schema()
    parts = ["## Top level", _table(schema, schema)]
    for key, cls in ITEM_CLASSES.items():
        parts.append(f"## {TITLES.get(key, key.capitalize())} (`{key}`)")
        for name, item in (item_types(cls) or {"": cls}).items():
            own = definition_of(schema, item)
            if name:
                parts.append(f"### `{name}`")
            parts += [_prose(own.get("description", "")), _table(own, schema)]
    parts.append("## Curves (`curves`)")
    for reference in schema["properties"]["curves"]["additionalProperties"]["oneOf"]:
        own = _resolved(reference, schema)
        key = own.get("required", ["?"])[0]
        parts += [f"### with the key `{key}`", _prose(own.get("description", "")), _table(own, schema)]
    parts += _points(schema)
    parts.append("## Simulation (`simulation`)")
    parts.append(_table(schema["$defs"]["SimulationSettings"], schema))
    parts.append("## Parts of these")
    for name in ("Placement", "Orientation", "TrackPiece", "Spring"):
        if name in schema["$defs"]:
            own = schema["$defs"][name]
            parts += [f"### {name}", _prose(own.get("description", "")), _table(own, schema)]
    return "\n\n".join(part for part in parts if part)


def _points(schema: dict[str, Any]) -> list[str]:
    """Sections of mechanisms in points, from their registry."""
    parts = ["## Mechanisms in points (`natural`)"]
    parts.append("The sections stand inside `natural`, beside `dim` and `gravity`.")
    for section, types in SECTIONS.items():
        parts.append(f"### `natural.{section}`")
        for name, cls in types.items():
            own = definition_of(schema, cls)
            short = f" A bare value stands for `{cls.short}`." if cls.short else ""
            title = f"`type: {name}`: " if name else ""
            parts += [title + _prose(own.get("description", "")) + short, _table(own, schema)]
    return parts


def _table(own: dict[str, Any], schema: dict[str, Any]) -> str:
    rows = ["| field | value | default | |", "|---|---|---|---|"]
    required = own.get("required", [])
    for name, field in own.get("properties", {}).items():
        default = "required" if name in required else _default(field)
        rows.append(
            f"| `{name}` | {_kind(field, schema)} | {default} | {_cell(field.get('description', ''))} |"
        )
    return "\n".join(rows)


def _kind(field: dict[str, Any], schema: dict[str, Any]) -> str:
    unit = field.get("x-unit")
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{item}`" for item in field["enum"])
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in field:
            kinds = [_kind(option, schema) for option in field[key] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind))
    kind = field.get("type", "")
    if isinstance(kind, list):
        kind = " or ".join(part for part in kind if part != "null")
    if kind == "array":
        items = field.get("prefixItems") or [field.get("items", {})]
        inner = list(dict.fromkeys(_kind(item, schema) for item in items if item))
        size = f"{len(field['prefixItems'])} x " if "prefixItems" in field else ""
        return f"list of {size}{' or '.join(inner)}".strip()
    if kind == "number or string":
        kind = "quantity"
    return f"{kind}, {unit}" if unit else kind


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return "" if value is None else f"`{value}`" if not isinstance(value, dict) else ""


def _resolved(reference: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return schema["$defs"][reference["$ref"].rpartition("/")[2]]


def _prose(text: str) -> str:
    return text.replace("*", r"\*").replace("_", r"\_") if "`" not in text else text.replace("*", r"\*")


def _cell(text: str) -> str:
    return " ".join(_prose(text).replace("|", r"\|").split())
