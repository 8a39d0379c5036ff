"""Items of several types, and the registries of the types, which files, schema, pages and tests iterate."""

from __future__ import annotations

from typing import ClassVar, Generic, Self, TypeVar

from sekant.errors import ModelError, suggest
from sekant.extensions import FROM_ELSEWHERE, load_extensions
from sekant.model.examples import Stage
from sekant.model.quantities import Description


class Item(Description):
    """An item of a model whose `type` says which of several classes describes it."""

    type: ClassVar[str]
    summary: ClassVar[str]
    frame_fields: ClassVar[tuple[str, ...]] = ()  # fields that name frames
    signals: ClassVar[tuple[str, ...]] = ()  # fields that may vary in time
    of_coordinate: ClassVar[tuple[str, str, dict[str, str]]] = ("joint", "coordinate", {})
    """fields that name a joint and one of its coordinates, and what other fields are by it: q, v, f, f/q, f/v"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        """A random instance among the frames, joints and tables of `stage`, for tests and pages."""
        raise NotImplementedError(
            f"'{cls.type}' has no random instance; write its classmethod example(stage)"
        )


Kind = TypeVar("Kind", bound=Description)
Made = TypeVar("Made")


class Registry(dict[str, type[Kind]], Generic[Kind]):
    """Types of one kind of item, by the names they have in files; `what` is the kind, for messages.

    `attribute`: the one of a class that is its name.
    """

    def __init__(self, what: str, attribute: str = "type"):
        super().__init__()
        self.what, self._attribute = what, attribute

    def register(self, cls: type[Made]) -> type[Made]:
        """Class decorator that makes a type known under its name."""
        if cls.__module__.partition(".")[0] != __name__.partition(".")[0]:
            FROM_ELSEWHERE.append(cls.__qualname__)
        self[getattr(cls, self._attribute)] = cls  # type: ignore[assignment]
        return cls

    def find(self, type_name: object, path: tuple[str | int, ...] = ()) -> type[Kind]:
        """The class of a type; unknown names get the nearest known one as a suggestion."""
        if isinstance(type_name, str) and type_name not in self:
            load_extensions()
        if not isinstance(type_name, str) or type_name not in self:
            if type_name is None:
                raise ModelError(f"is missing; {self.what} types: {', '.join(self)}", path=(*path, "type"))
            hint = suggest(str(type_name), list(self), f"{self.what} types")
            raise ModelError(f"unknown {self.what} type '{type_name}'; {hint}", path=(*path, "type"))
        return self[type_name]
