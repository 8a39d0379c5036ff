"""Items of several types, and the registries of these types, over which files, schema, pages and tests iterate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import model_validator

from sekant.errors import ModelError, suggest
from sekant.extensions import FROM_ELSEWHERE, PENDING, load_extensions
from sekant.model.examples import Stage
from sekant.model.quantities import Description, wrong


class Item(Description):
    """An item of a model whose `type` selects one of several classes."""

    type: ClassVar[str]
    summary: ClassVar[str]
    frame_fields: ClassVar[tuple[str, ...]] = ()  # fields that name frames
    signals: ClassVar[tuple[str, ...]] = ()  # fields that may vary in time
    of_coordinate: ClassVar[tuple[str, str, dict[str, str]]] = ("joint", "coordinate", {})
    """fields that name a joint and one of its coordinates, and the kind of quantity of other fields that
    follows: q, v, f, f/q, f/v"""

    @model_validator(mode="before")
    @classmethod
    def _made_by_its_class(cls, given: Any) -> Any:
        """Refuse a mapping, as in files, where Python needs an object; the message shows the call that creates it."""
        if not hasattr(cls, "type") and cls.__subclasses__() and isinstance(given, Mapping):
            named = class_name(str(given.get("type", "...")))
            fields = ", ".join(f"{key}=..." for key in given if key != "type") or "..."
            collection = cls.__module__.split(".")[2]
            raise wrong(
                f"is a mapping, as in model files; in Python, write sk.{collection}.{named}({fields}), or "
                "read a file with sk.load"
            )
        return given

    @classmethod
    def example(cls, stage: Stage) -> Self:
        """A random instance among the frames, joints and tables of `stage`, for tests and pages."""
        raise NotImplementedError(f"type '{cls.type}' does not implement the classmethod 'example'")


@cache
def module_names(package: str) -> tuple[str, ...]:
    """Names of all modules in the folder of a package, sorted."""
    return tuple(sorted(module.name for module in iter_modules(import_module(package).__path__)))


def import_folder(package: str) -> list[ModuleType]:
    """Import all modules of a package, which registers their types."""
    return [import_module(f"{package}.{name}") for name in module_names(package)]


def class_name(type_name: str) -> str:
    """The exported name of the class of a type: SpringDamper for spring_damper."""
    return "".join(part.capitalize() for part in type_name.split("_"))


Kind = TypeVar("Kind", bound=Description)
Made = TypeVar("Made")


class Registry(MutableMapping[str, type[Kind]], Generic[Kind]):
    """Types of one kind of item, by the names they have in files; `what` is the kind, for messages.

    To add a type to this package, add a file to the folder `package`. A requested type is first searched in
    the file of that name, then in all others of the folder. A request for all types returns those of all files in
    the order of their names, then those registered elsewhere. `attribute` of a class: its name.
    """

    def __init__(self, what: str, attribute: str = "type", package: str = ""):
        self.what, self._attribute, self._package = what, attribute, package
        self._classes: dict[str, type[Kind]] = {}
        self._loaded = not package
        PENDING.append(self._load)

    def __getitem__(self, name: str) -> type[Kind]:
        if name not in self:
            raise KeyError(name)
        return self._classes[name]

    def __setitem__(self, name: str, cls: type[Kind]) -> None:
        self._classes[name] = cls

    def __delitem__(self, name: str) -> None:
        del self._classes[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._classes and not self._loaded and isinstance(name, str):
            if name in module_names(self._package):
                import_module(f"{self._package}.{name}")
            if name not in self._classes:
                self._load()
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        self._load()
        own = [name for name, cls in self._classes.items() if cls.__module__.startswith(f"{self._package}.")]
        return iter([*sorted(own), *(name for name in self._classes if name not in own)])

    def __len__(self) -> int:
        self._load()
        return len(self._classes)

    def _load(self) -> None:
        if not self._loaded:
            self._loaded = True
            import_folder(self._package)

    def exported(self, name: str) -> type[Kind]:
        """The class that its package exports under `name`: SpringDamper for the type spring_damper."""
        if not name[:1].isupper():
            raise AttributeError(f"there is no {self.what} type '{name}'")
        own = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        if own not in self:
            load_extensions()
        if own not in self:
            known = [class_name(each) for each in self]
            raise AttributeError(
                f"there is no {self.what} type '{name}'; {suggest(name, known, f'{self.what} types')}"
            )
        return self[own]

    def register(self, cls: type[Made]) -> type[Made]:
        """Class decorator that registers a type under its name."""
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
