"""A model as tables, for notebooks: one table for each collection, with the stated fields of each item."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sekant.errors import clipped
from sekant.html_tables import html_table
from sekant.model.quantities import Description, write_value

if TYPE_CHECKING:
    from sekant.model.model import Model

_LONGEST = 100


def model_html(model: Model) -> str:
    """Name, description, and every collection that has items."""
    parts = [f"<b>{escape(model.name)}</b> {escape(model.description)}"]
    for name in type(model).model_fields:
        items = getattr(model, name)
        if isinstance(items, dict) and items and name != "curve_parameters":
            parts.append(items_table(name, items))
    if model.natural is not None:
        parts += [items_table(section, items) for section, items in model.natural.items.items() if items]
    return "\n".join(parts)


def items_table(title: str, items: dict[str, Any]) -> str:
    """Name, type and stated fields of each item."""
    rows = [(name, getattr(item, "type", None), _stated(item)) for name, item in items.items()]
    if not any(kind for _, kind, _ in rows):
        return html_table(("name", ""), [(name, text) for name, _, text in rows], title)
    return html_table(("name", "type", ""), rows, title)


def _stated(item: Any) -> str:
    """The fields that were given, in one line in the syntax of files."""
    if not isinstance(item, Description):
        return _short(write_value(item))
    given = [name for name in type(item).model_fields if name in item.model_fields_set]
    return ", ".join(f"{name}: {_short(_plain(getattr(item, name)))}" for name in given)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return list(value)
    return f"{{{_stated(value)}}}" if isinstance(value, Description) else write_value(value)


def _short(value: Any) -> str:
    return clipped(f"{value:g}" if isinstance(value, float) else str(value).replace("'", ""), _LONGEST)
