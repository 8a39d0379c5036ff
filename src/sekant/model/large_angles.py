"""Angles that look like degrees: whole or half numbers beyond half a turn, such as `q0: 30`, which means radians."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sekant.errors import AnalysisWarning
from sekant.model.fields import measured

if TYPE_CHECKING:
    from sekant.model.model import Model


def large_angles(model: Model) -> tuple[AnalysisWarning, ...]:
    """Start values of joints and all other angles of a model."""
    found = []
    for name, joint in model.joints.items():
        q0 = getattr(joint, "q0", None)
        values = q0 if isinstance(q0, tuple) else () if q0 is None else (q0,)
        for value, kind in zip(values, joint.coordinates, strict=False):
            if kind.unit == "rad" and _like_degrees(value):
                found.append(_warning(f"joint '{name}'", "q0", value))
    for section in ("ground", "bodies", "joints", "forces", "constraints", "contacts", "sensors", "shapes"):
        entry = getattr(model, section)
        items = entry.items() if isinstance(entry, dict) else [("", entry)]
        for name, item in items:
            for path, unit, value in measured(item):
                if unit == "rad" and _like_degrees(value):
                    field = ".".join(part for part in path if isinstance(part, str))
                    found.append(_warning(f"{section}.{name}".rstrip("."), field, value))
    return tuple(found)


def _like_degrees(value: Any) -> bool:
    return isinstance(value, float) and abs(value) > math.pi and float(2.0 * value).is_integer()


def _warning(item: str, field: str, value: Any) -> AnalysisWarning:
    return AnalysisWarning(
        "angle_in_radians",
        item,
        field,
        f"{value:g} rad is {abs(value) / (2.0 * math.pi):.3g} turns; a number without a unit is in radians",
        f"write '{value:g} deg' if you mean degrees",
    )
