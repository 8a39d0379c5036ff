"""JSON Schema of model files, for editors that check and complete YAML while it is written.

It is built from the classes of the registries, so new joint and force types are included automatically. Quantities
are numbers or texts, with their SI unit as ``x-unit``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import CoreSchema

from sekant.io.format import FORMAT
from sekant.model.curves import SOURCES
from sekant.model.items import ITEM_CLASSES, item_types
from sekant.model.model import Ground, Model
from sekant.model.placement import Orientation, Placement
from sekant.model.points.sections import sections
from sekant.model.quantities import mirror_of
from sekant.model.settings import SimulationSettings, View
from sekant.model.table import TableData

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_QUANTITY = {"type": ["number", "string"]}


class _Generator(GenerateJsonSchema):
    def handle_invalid_for_json_schema(self, schema: CoreSchema, error_info: str) -> dict[str, Any]:
        """Objects that exist only in Python do not occur in files."""
        return {"not": {}}


def json_schema() -> dict[str, Any]:
    """The schema of a model file."""
    types = {key: item_types(cls) or {"": cls} for key, cls in ITEM_CLASSES.items()}
    classes = [Ground, Placement, SimulationSettings, View, *SOURCES.values()]
    classes += [cls for named in types.values() for cls in named.values()]
    classes += [cls for named in sections().values() for cls in named.values()]
    references, definitions = models_json_schema(
        [(cls, "validation") for cls in classes], schema_generator=_Generator
    )
    defs: dict[str, Any] = definitions.get("$defs", {})
    where = {cls: reference for (cls, _), reference in references.items()}
    for named in types.values():
        for name, cls in named.items():
            if name:
                _add_type(defs[_key(where[cls])], name, cls)
    _add_notations(defs[_key(where[TableData])], defs[Orientation.__name__])
    _add_file(defs[_key(where[types["signals"]["numeric"]])])
    for cls in SOURCES.values():
        own = defs[_key(where[cls])]
        own["description"] = cls.summary
        if "rotation" in own["properties"]:
            own["properties"]["rotation"] |= {"anyOf": [{"type": "object"}, {"type": "null"}]}
    fields = Model.model_json_schema(schema_generator=_Generator)["properties"]
    texts = {key: {"description": field["description"]} for key, field in fields.items()}
    collections = {
        **{key: _named(where[cls] for cls in named.values()) | texts[key] for key, named in types.items()},
        "parameters": {"type": ["object", "null"], "additionalProperties": _QUANTITY} | texts["parameters"],
    }
    curves = {
        "type": ["object", "null"],
        "description": "paths and surfaces by name; a key such as `data` or `track` selects the type",
        "additionalProperties": {"oneOf": [where[cls] for cls in SOURCES.values()]},
    }
    template = {
        "description": {"type": "string"},
        **collections,
        "curves": curves,
        "ground": where[Ground],
    }
    names = {"type": "object", "additionalProperties": {"type": "string"}}
    instance = {
        "template": {"type": "string", "description": "name of the template to mount"},
        "model": {"type": "string", "description": "a model file to mount, instead of a template"},
        "on": {"type": "string", "description": "body or frame that carries the part; by default the ground"},
        "at": {
            "anyOf": [where[Placement], {"type": "array", "items": _QUANTITY}],
            "description": "pose or position of the part's ground in that body or frame",
        },
        "parameters": collections["parameters"]
        | {"description": "values of parameters of the part, by name"},
        "connect": {**names, "description": "names in this model that replace names in the template"},
        "mirror": {
            "enum": ["x", "y", "z"],
            "description": "mounts the mirror image about the plane normal to this axis",
        },
    }
    return {
        "$schema": _DIALECT,
        "title": "Sekant model",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT, "description": "version of the file format"},
            "include": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
                "description": "other model files whose contents are added to this file",
            },
            **{key: fields[key] for key in ("name", "description", "gravity")},
            **collections,
            "curves": curves,
            "curve_parameters": fields["curve_parameters"],
            "ground": where[Ground] | texts["ground"],
            "simulation": where[SimulationSettings] | texts["simulation"],
            "view": where[View] | texts["view"],
            "natural": _natural(where, defs),
            "templates": {
                "type": "object",
                "description": "model parts that `instances` mount",
                "additionalProperties": _closed(template),
            },
            "instances": {
                "type": "object",
                "description": "mounted templates and model files",
                "additionalProperties": {
                    **_closed(instance),
                    "anyOf": [{"required": ["template"]}, {"required": ["model"]}],
                },
            },
        },
        "additionalProperties": False,
        "$defs": defs,
    }


def definition_of(schema: dict[str, Any], cls: type) -> dict[str, Any]:
    """The definition of a class; if several classes have its name, the one with its module."""
    full = f"{cls.__module__}.{cls.__qualname__}".replace(".", "__")
    return schema["$defs"].get(full) or schema["$defs"][cls.__name__]


def _natural(where: dict[Any, dict[str, str]], defs: dict[str, Any]) -> dict[str, Any]:
    """The section of mechanisms modeled with points, with the sections in its registry."""
    properties: dict[str, Any] = {"dim": {"enum": [2, 3]}, "gravity": {"type": "array", "items": _QUANTITY}}
    for section, named in sections().items():
        options: list[dict[str, Any]] = []
        for name, cls in named.items():
            own = defs[_key(where[cls])]
            own.setdefault("description", " ".join((cls.__doc__ or "").split()))
            if name is not None:
                own["properties"] = {"type": {"const": name}, **own.get("properties", {})}
                own["required"] = ["type", *own.get("required", [])]
            options.append(where[cls])
            if cls.short:
                options.append({"type": ["number", "string", "array"]})
        item = options[0] if len(options) == 1 else {"anyOf": options}
        properties[section] = {"type": ["object", "null"], "additionalProperties": item}
    return {
        "type": ["object", "null"],
        "description": "a mechanism modeled with points and vectors; it replaces bodies and joints",
        "properties": properties,
        "additionalProperties": False,
    }


def _key(reference: dict[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]


def _add_type(own: dict[str, Any], name: str, cls: Any) -> None:
    """Add the key `type`, and start values, which may be one number or a list."""
    own["properties"] = {"type": {"const": name, "description": cls.summary}, **own.get("properties", {})}
    own["required"] = ["type", *own.get("required", [])]
    for key, field in cls.model_fields.items():
        if mirror_of(field) == "coordinates":
            text = own["properties"][key].get("description", "")
            options = [_QUANTITY, {"type": "array", "items": _QUANTITY}]
            own["properties"][key] = {"description": text, "anyOf": options}


def _add_notations(table: dict[str, Any], orientation: dict[str, Any]) -> None:
    """Add further notations of files: CSV files, Euler sequences as keys."""
    points = {"type": "array", "items": _QUANTITY}
    values = {
        "anyOf": [points, {"type": "string"}],
        "description": "values, or the name of a column of `file`",
    }
    table["properties"] |= {"x": values, "y": values}
    table["properties"]["file"] = {"type": "string", "description": "CSV file with the points"}
    table.pop("required", None)
    orientation["patternProperties"] = {"^[xyz]{3}$": {**points, "minItems": 3, "maxItems": 3}}


def _add_file(numeric: dict[str, Any]) -> None:
    """Add the file of a numeric function."""
    numeric["properties"]["file"] = {
        "type": "string",
        "description": "file with the source code, instead of `function`",
    }
    numeric["properties"]["function"] = {"type": "string", "description": "source code of the function"}
    numeric["required"].remove("function")


def _named(items: Iterable[dict[str, Any]]) -> dict[str, Any]:
    options = list(items)
    return {
        "type": ["object", "null"],
        "additionalProperties": options[0] if len(options) == 1 else {"oneOf": options},
    }


def _closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
