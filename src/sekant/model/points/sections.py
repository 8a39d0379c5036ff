"""All sections of a mechanism modeled with points, in the order in which they are composed."""

from __future__ import annotations

from typing import Any

from sekant.errors import ModelError, suggest
from sekant.model.points import constraints, joints, loads, masses, motions, places
from sekant.model.points.element import SECTIONS, Element

_FILES = [module.__name__ for module in (places, masses, constraints, joints, motions, loads)]


def _place(types: dict[str | None, type[Element]]) -> int:
    """Rank of the file that defines a section; sections of other packages come last."""
    file = next(iter(types.values())).__module__
    return _FILES.index(file) if file in _FILES else len(_FILES)


def sections() -> dict[str, dict[str | None, type[Element]]]:
    """Section -> its types by name (None where there is only one), in the order in which they are composed."""
    return dict(sorted(SECTIONS.items(), key=lambda section: _place(section[1])))


def element_class(section: str, raw: Any, path: tuple = ()) -> type[Element]:
    """The class of an item of a section; unknown types get the nearest known one as a suggestion."""
    types = SECTIONS[section]
    if None in types:
        return types[None]
    kind = raw.get("type") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or kind not in types:
        hint = suggest(str(kind), [str(name) for name in types], "types")
        raise ModelError(f"unknown type '{kind}' of {section}; {hint}", path=(*path, "type"))
    return types[kind]
