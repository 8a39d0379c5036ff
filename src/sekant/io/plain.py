"""Descriptions as plain data, as in files: values that differ from the defaults, expressions as text.

Curves and surfaces are included as the text of the JSON that `save` would write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticUndefined

from sekant.errors import ModelError, clipped
from sekant.model.curves import GEOMETRY
from sekant.model.expressions.expression import Expression
from sekant.model.points import Element, Natural
from sekant.model.points.lagrangian import Lagrangian
from sekant.model.points.values import is_symbolic
from sekant.model.quantities import Description


def to_plain(value: Any) -> Any:
    """`value` as dictionaries, lists, numbers, texts and None."""
    if isinstance(value, Lagrangian):
        raise ModelError(
            "a bare Lagrangian in CasADi symbols cannot be written to a file; model the mechanism in a section "
            "'natural'"
        )
    if isinstance(value, Natural):
        sections = {section: _named(items, section) for section, items in value.items.items() if items}
        return {
            "dim": value.dim,
            **({} if value.gravity is None else {"gravity": to_plain(value.gravity)}),
            **sections,
        }
    if isinstance(value, Element) and value.short and _only(value, value.short):
        return to_plain(getattr(value, value.short))
    if isinstance(value, Description):
        data = {"type": kind} if isinstance(kind := getattr(value, "type", None), str) else {}
        for name, field in type(value).model_fields.items():
            entry = getattr(value, name)
            default = field.get_default(call_default_factory=True, validated_data={})
            if default is PydanticUndefined or is_symbolic(entry) or entry != default:
                data[name] = to_plain(entry)
        return data
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, GEOMETRY):
        from sekant.geometry.pose_files import pose_as_dict

        return {"inline": json.dumps(pose_as_dict(value), separators=(",", ":"))}
    if isinstance(value, dict):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(entry) for entry in value]
    if isinstance(value, float):
        return float(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if is_symbolic(value):
        raise ModelError(
            f"contains the CasADi expression {clipped(str(value), 60)}, which cannot be written to a file; use text "
            'instead, such as "0.3*sin(2*t) - 0.1*A.vx"'
        )
    if callable(value):
        raise ModelError(
            f"contains the Python function {getattr(value, '__name__', value)!r}, which cannot be written to a file; "
            'use its text instead, function="def law(x, v): ..."'
        )
    raise ModelError(f"an object of type {type(value).__name__} cannot be written to a YAML file")


def _named(items: Mapping[str, Any], section: str) -> dict[str, Any]:
    found = {}
    for name, item in items.items():
        try:
            found[name] = to_plain(item)
        except ModelError as error:
            error.path = error.path or ("natural", section, name)
            raise
    return found


def _only(value: Description, field: str) -> bool:
    """Whether at most one field differs from its default."""
    defaults = {
        name: f.get_default(call_default_factory=True) for name, f in type(value).model_fields.items()
    }
    return all(
        name == field or (not is_symbolic(entry := getattr(value, name)) and entry == default)
        for name, default in defaults.items()
    )
