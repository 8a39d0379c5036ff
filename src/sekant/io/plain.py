"""Descriptions -> plain data, as a file holds them: what differs from the defaults, expressions as text.

Curves and surfaces are written out, as the text of the JSON that `save` would put into a file.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import PydanticUndefined

from sekant.errors import ModelError
from sekant.model.curves import GEOMETRY
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Description


def to_plain(value: Any) -> Any:
    """`value` as dictionaries, lists, numbers, texts and None."""
    if isinstance(value, Description):
        data = {"type": kind} if isinstance(kind := getattr(value, "type", None), str) else {}
        for name, field in type(value).model_fields.items():
            entry = getattr(value, name)
            default = field.get_default(call_default_factory=True, validated_data={})
            if default is PydanticUndefined or entry != default:
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
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ModelError(f"a {type(value).__name__} cannot be written to a YAML file")
