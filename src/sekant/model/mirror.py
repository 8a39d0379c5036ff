"""The mirror image of a description, about a coordinate plane of its frames.

With P the reflection, e.g. diag(1, -1, 1) for the plane y: polar vectors become P a, axial ones -P a,
rotations P R P, the inertia tensor P J P. The annotation of a field declares its behavior, see `quantities`;
for joint coordinates, `Coordinate.mirror` does. The mirrored mechanism then moves as the mirror image. All
coordinates have the same values, except those whose sign changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Description, MirrorKind, Value, mirror_of, negative

AXES = "xyz"
D = TypeVar("D", bound=Description)


def mirrored(item: D, plane: str) -> D:
    """The mirror image of `item` about the plane normal to `plane`: "x", "y" or "z"."""
    update = item.mirror_changes(plane)
    for name, field in type(item).model_fields.items():
        if name in update:
            continue
        value = getattr(item, name)
        if value and not _is_plain(field.annotation):
            raise ModelError(
                f"'{name}' of the {_title(item)} cannot be mirrored; model the other side separately"
            )
        changed = _mirrored_value(item, value, mirror_of(field), plane)
        if changed is not value:
            update[name] = changed
    return item.model_copy(update=update) if update else item


def _mirrored_value(item: Description, value: Any, kind: MirrorKind, plane: str) -> Any:
    if value is None or (kind == "none" and not isinstance(value, (Description, dict))):
        return value
    if isinstance(value, str):
        return value
    if isinstance(value, Description):
        return mirrored(value, plane)
    if isinstance(value, dict):
        return {key: _mirrored_value(item, entry, kind, plane) for key, entry in value.items()}
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return tuple(_RULES[kind](item, entry, plane) for entry in value)
    return _RULES[kind](item, value, plane)


def _title(item: Description) -> str:
    return f"{getattr(item, 'type', '')} {type(item).__mro__[1].__name__.lower()}".strip()


def _is_plain(annotation: Any) -> bool:
    """Whether a field contains only numbers, text and descriptions, all of which define their mirror image."""
    if isinstance(annotation, type) and not get_args(annotation):
        return issubclass(annotation, (str, int, float, type(None), Expression, Description))
    return all(_is_plain(part) for part in get_args(annotation) if isinstance(part, type) or get_args(part))


def _signed(values: tuple[Value, ...], flips: tuple[bool, ...]) -> tuple[Value, ...]:
    return tuple(negative(value) if flip else value for value, flip in zip(values, flips, strict=True))


def _polar(item: Any, values: tuple[Value, ...], plane: str) -> tuple[Value, ...]:
    return _signed(values, tuple(axis == plane for axis in AXES))


def _axial(item: Any, values: tuple[Value, ...], plane: str) -> tuple[Value, ...]:
    return _signed(values, tuple(axis != plane for axis in AXES))


def _z_axis(item: Any, values: tuple[Value, ...], plane: str) -> tuple[Value, ...]:
    """The mirror image a' = P a (P z).z of an axis a: the frame R whose z axis is a becomes P R P."""
    return _axial(item, values, plane) if plane == "z" else _polar(item, values, plane)


def _euler(item: Any, values: tuple[Value, ...], plane: str) -> tuple[Value, ...]:
    """P R_i(a) P = R_i(a) about the normal of the plane, R_i(-a) about the other axes."""
    return _signed(values, tuple(axis != plane for axis in item.sequence))


def _quaternion(item: Any, values: tuple[Value, ...], plane: str) -> tuple[Value, ...]:
    return (values[0], *_axial(item, values[1:], plane))


def _inertia(item: Any, values: tuple[Value, ...], plane: str) -> tuple[Value, ...]:
    return _signed(values, tuple(plane in pair and pair[0] != pair[1] for pair in _PAIRS))


_PAIRS = ("xx", "yy", "zz", "xy", "xz", "yz")


def _coordinates(item: Any, values: tuple[Value, ...], plane: str) -> tuple[Value, ...]:
    return _signed(values, tuple(coordinate.sign(plane) < 0 for coordinate in item.coordinates))


_RULES: dict[MirrorKind, Callable[[Any, Any, str], Any]] = {
    "handed": lambda item, value, plane: negative(value),
    "polar": _polar,
    "axial": _axial,
    "z_axis": _z_axis,
    "euler": _euler,
    "quaternion": _quaternion,
    "inertia": _inertia,
    "coordinates": _coordinates,
}
