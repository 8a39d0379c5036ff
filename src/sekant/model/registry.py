"""Items of several types, and the registries of the types, which files, schema, pages and tests iterate."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import ClassVar, Generic, Self, TypeVar

from sekant.errors import ModelError, suggest
from sekant.extensions import FROM_ELSEWHERE, PENDING, load_extensions
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


class Registry(MutableMapping[str, type[Kind]], Generic[Kind]):
    """Types of one kind of item, by the names they have in files; `what` is the kind, for messages.

    The types of this package are told by name, and imported when they are first asked for: each is a file of that
    name in `package`, or the one that `elsewhere` gives. `attribute`: the one of a class that is its name.
    """

    def __init__(
        self, what: str, attribute: str = "type", package: str = "", names: str = "", **elsewhere: str
    ):
        self.what, self._attribute = what, attribute
        self._files = {name: f"{package}.{elsewhere.get(name, name)}" for name in names.split()}
        self._classes: dict[str, type[Kind] | None] = dict.fromkeys(self._files)
        PENDING.append(lambda: tuple(self.values()))

    def __getitem__(self, name: str) -> type[Kind]:
        cls = self._classes[name]
        if cls is None:
            import_module(self._files[name])
            cls = self._classes[name]
        assert cls is not None, f"{self._files[name]} does not register '{name}'"
        return cls

    def __setitem__(self, name: str, cls: type[Kind]) -> None:
        self._classes[name] = cls

    def __delitem__(self, name: str) -> None:
        del self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def exported(self, name: str) -> type[Kind]:
        """The class that its package exports under `name`: SpringDamper for the type spring_damper."""
        own = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        if not name[:1].isupper() or own not in self:
            raise AttributeError(f"there is no {self.what} type '{name}'")
        return self[own]

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
