"""Iteration over the numbers of a description: every field in which an expression or a parameter may occur."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, get_args

from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Description, markers_of, unit_of

Path = tuple[str | int, ...]


def expressions_of(item: Any) -> Iterator[tuple[Path, Expression]]:
    """Every expression in `item`, with its path."""
    if isinstance(item, Expression):
        yield (), item
        return
    if isinstance(item, Description):
        children = [(name, getattr(item, name)) for name in type(item).model_fields]
    elif isinstance(item, dict):
        children = list(item.items())
    elif isinstance(item, tuple):
        children = list(enumerate(item))
    else:
        return
    for key, value in children:
        if type(value) not in _BARE:
            for path, expression in expressions_of(value):
                yield (key, *path), expression


def measured(
    item: Any, path: Path = (), unit: str | None = None
) -> Iterator[tuple[Path, str | None, float | Expression]]:
    """Every number and expression in `item`, with its path and the unit of its field (None for any unit)."""
    if isinstance(item, (float, Expression)):
        yield path, unit, item
    elif isinstance(item, Description):
        for name, field in type(item).model_fields.items():
            units = [marker.unit for marker in markers_of(field) if hasattr(marker, "unit")]
            yield from measured(getattr(item, name), (*path, name), units[0] if units else None)
    elif isinstance(item, (dict, tuple, list)):
        for key, value in item.items() if isinstance(item, dict) else enumerate(item):
            yield from measured(value, (*path, key), unit)


_BARE = frozenset({float, int, str, bool, type(None)})
"""Types that contain no expression; most values have one of these."""


@cache
def takes_expressions(kind: type[Description]) -> tuple[str, ...]:
    """Fields that accept an expression instead of a number; fields that accept only numbers are data."""
    return tuple(name for name, one in kind.model_fields.items() if _holds_data(one.annotation) is not True)


def _holds_data(annotation: Any) -> bool | None:
    """Whether numbers of this type are plain ones; None where it has none."""
    if annotation is Expression:
        return False
    if annotation is float:
        return True
    inner = [_holds_data(part) for part in get_args(annotation)]
    return False if False in inner else True if True in inner else None


def replace_numbers(
    item: Any, replace: Callable[[Path, Any], Any], path: Path = (), data: bool = True
) -> Any:
    """A copy of `item` in which each float or expression x at `path` is ``replace(path, x)``; without `data`, only in
    fields that take expressions."""
    if isinstance(item, (float, Expression)):
        return replace(path, item)
    if isinstance(item, Description):
        update = {}
        for name in type(item).model_fields if data else takes_expressions(type(item)):  # type: ignore[arg-type]
            value = getattr(item, name)
            changed = replace_numbers(value, replace, (*path, name), data)
            if changed is not value:
                update[name] = changed
        return item.model_copy(update=update) if update else item
    if isinstance(item, dict):
        changed = {key: replace_numbers(value, replace, (*path, key), data) for key, value in item.items()}
        return changed if any(changed[key] is not item[key] for key in item) else item
    if isinstance(item, tuple):
        values = tuple(
            replace_numbers(value, replace, (*path, index), data) for index, value in enumerate(item)
        )
        return values if any(a is not b for a, b in zip(values, item, strict=True)) else item
    return item


def unit_at(item: Any, steps: Sequence[str | int]) -> str | None:
    """The unit of the field to which `steps` lead; None for any unit."""
    unit = None
    for step in steps:
        if isinstance(item, Description):
            field = type(item).model_fields.get(str(step))
            if field is None:
                return None
            unit, item = unit_of(field), getattr(item, str(step))
        elif isinstance(item, dict):
            item = item.get(step)
        elif isinstance(item, tuple):
            item = item[int(step)]
    return unit
