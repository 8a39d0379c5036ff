"""Parts above the core, loaded when the core first asks for them.

`sekant/__init__.py` fills these tables, so no file of the core knows what builds on it: item types above the core
(modules that register them are loaded when an unknown type is met), and makers of pictures and pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

PENDING: list[Callable[[], object]] = []
DRAWINGS: list[Callable[[], Callable[[str], Callable[..., Any]]]] = []
"""Function that finds the maker of a picture or page by name."""
DESCRIPTIONS: dict[str, Callable[[str], Any]] = {}
"""Top-level keys of files that describe something from which a model is built, and what builds it from the path."""

EXPLAINED: list[Callable[[], dict[str, tuple[type, str]]]] = []
"""Entries of such files: by the name that `sekant explain` takes, the class and an example in YAML."""

FROM_ELSEWHERE: list[str] = []
"""Item types of other packages: the meaning of files may then depend on more than this package."""

ANALYSES: list[Callable[[], object]] = []
"""Load modules that register analyses of studies."""


def load_extensions() -> bool:
    """Load what has not been loaded; returns whether there was anything."""
    found = bool(PENDING)
    while PENDING:
        PENDING.pop()()
    return found


def drawing(name: str) -> Callable[..., Any]:
    """What makes the picture or page `name`."""
    return DRAWINGS[0]()(name)


def picture(name: str, *arguments: Any, to: str | os.PathLike[str] | None = None) -> Any:
    """The picture `name` of the arguments; also written to `to`, if given."""
    drawn = drawing(name)(*arguments)
    if to is not None:
        drawn.save(to)
    return drawn


def imported_later(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """`__getattr__` of a package whose names are imported when first used; `modules`: where they stand."""
    places = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in places:
            close = get_close_matches(name, places, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise AttributeError(f"module '{package}' has no attribute '{name}'{hint}")
        found = import_module(places[name])
        return found if found.__name__ == f"{package}.{name}" else getattr(found, name)

    return find
