"""Base class of items of a mechanism modeled with points, and the registry of their sections and types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sekant.model.quantities import Description

if TYPE_CHECKING:
    from sekant.model.points.composition import Composition


class Element(Description):
    """An item in a section of a mechanism; a section with several types of items distinguishes them by `type`."""

    section: ClassVar[str]
    type: ClassVar[str | None] = None
    short: ClassVar[str] = ""  # the field that a plain value sets, written instead of a mapping

    def compose(self, name: str, m: Composition) -> None:
        """State the meaning of the item in points: energies, equations, outputs."""
        raise NotImplementedError(f"items of '{self.section}' do not implement 'compose'")

    @classmethod
    def from_short(cls, raw: Any) -> Any:
        """The fields of an item that is written as a bare value."""
        return {cls.short: raw} if cls.short and not isinstance(raw, dict) else raw


class Between(Element):
    """An item between two points."""

    ends: tuple[str, str]
    """names of two points"""


Kind = TypeVar("Kind", bound=Element)
SECTIONS: dict[str, dict[str | None, type[Element]]] = {}
"""Section -> its types by name (None where there is only one), of the files imported yet; `sections` has all."""


def register(cls: type[Kind]) -> type[Kind]:
    """Class decorator that registers an item in its section, under its `type` if it has one."""
    SECTIONS.setdefault(cls.section, {})[cls.type] = cls
    return cls
