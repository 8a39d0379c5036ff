"""What every item of a mechanism in points states, and the registry of their sections and types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sekant.errors import ModelError, suggest
from sekant.model.quantities import Description

if TYPE_CHECKING:
    from sekant.model.points.composition import Composition


class Element(Description):
    """An item in a section of a mechanism; a section with several types of items tells them apart by `type`."""

    section: ClassVar[str]
    type: ClassVar[str | None] = None
    short: ClassVar[str] = ""  # the field that is meant where a value stands in place of a mapping

    def compose(self, name: str, m: Composition) -> None:
        """State what the item means in points: energies, equations, outputs."""
        raise NotImplementedError(f"'{self.section}' items state nothing")

    @classmethod
    def from_short(cls, raw: Any) -> Any:
        """The fields of an item that is written as a bare value."""
        return {cls.short: raw} if cls.short and not isinstance(raw, dict) else raw


Kind = TypeVar("Kind", bound=Element)
SECTIONS: dict[str, dict[str | None, type[Element]]] = {}
"""Section -> its types by name (None where there is only one), in the order in which mechanisms are composed."""


def register(cls: type[Kind]) -> type[Kind]:
    """Class decorator that makes an item known in its section, under its `type` if it has one."""
    SECTIONS.setdefault(cls.section, {})[cls.type] = cls
    return cls


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
