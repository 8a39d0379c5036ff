"""Parts above the core, loaded when the core first asks for them.

`sekant/__init__.py` fills these tables, so the core does not depend on the packages above it: item types above the
core (modules that register them are loaded when an unknown type is met), and makers of pictures and pages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pkgutil import get_data
from typing import Any

PENDING: list[Callable[[], object]] = []
DRAWINGS: list[Callable[[], Callable[[str], Callable[..., Any]]]] = []
"""The function that finds, by name, the function that makes a picture or page."""
DESCRIPTIONS: dict[str, Callable[[str], Any]] = {}
"""Top-level keys of files that describe something from which a model is built, and the function that builds it from
the path."""

EXPLAINED: list[Callable[[], dict[str, tuple[type, str]]]] = []
"""Items of such files by their names for `sekant explain`: the class, and an example in YAML."""

FROM_ELSEWHERE: list[str] = []
"""Item types from other packages; if there are any, the meaning of a file may depend on more than this package."""

ANALYSES: list[Callable[[], object]] = []
"""Load modules that register analyses of studies."""
_PASSED_ON = re.compile(r"^(?: {4})?from (\S+) import (\w+) as (\w+)$", re.MULTILINE)


def load_extensions() -> bool:
    """Load modules that are not loaded yet; returns whether there were any."""
    found = bool(PENDING)
    while PENDING:
        PENDING.pop()()
    return found


def drawing(name: str) -> Callable[..., Any]:
    """The function that draws the picture or page `name`."""
    return DRAWINGS[0]()(name)


def picture(name: str, *arguments: Any, to: str | os.PathLike[str] | None = None) -> Any:
    """The picture `name` of the arguments; also written to `to`, if given."""
    drawn = drawing(name)(*arguments)
    if to is not None:
        drawn.save(to)
    return drawn


def passed_on(package: str, file: str = "__init__.py") -> dict[str, tuple[str, str]]:
    """The names that a package re-exports: name -> (module, name there).

    They come from the lines ``from module import there as name`` of its file, including those only for type
    checkers.
    """
    text = (get_data(package, file) or b"").decode()
    return {name: (module, there) for module, there, name in _PASSED_ON.findall(text)}


def names_of(package: str) -> list[str]:
    """The names that a package re-exports, for its `__all__`: each is listed once, where it is imported."""
    return sorted(passed_on(package))


def imported(package: str, module: str, there: str) -> Any:
    """The object of ``from module import there`` in a package, which may be a module itself."""
    found = None if module == package else getattr(import_module(module), there, None)
    return import_module(f"{module}.{there}") if found is None else found


def imported_later(package: str) -> Callable[[str], Any]:
    """`__getattr__` of a package whose names are imported when first used."""
    places = passed_on(package)

    def find(name: str) -> Any:
        if name not in places:
            close = get_close_matches(name, places, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise AttributeError(f"module '{package}' has no attribute '{name}'{hint}")
        return imported(package, *places[name])

    return find
