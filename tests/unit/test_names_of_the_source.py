"""One concept, one name: no two classes of the source are called the same; every folder says what it holds."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import sekant

SOURCE = Path(sekant.__file__).parent
CALLED_WITH_THEIR_SECTION = {
    "Distance",  # sk.constraints.Distance, sk.sensors.Distance
    "Expression",  # sk.sensors.Expression; what is parsed
    "Wrench",  # sk.forces.Wrench; moment and force
}
"""Types of items are named as in model files, and users call them with their section."""


@cache
def texts() -> dict[Path, str]:
    """Every file of the source."""
    return {path: path.read_text() for path in sorted(SOURCE.rglob("*.py"))}


@cache
def classes() -> dict[str, list[tuple[str, bool]]]:
    """Name -> file, and whether the class is registered as a type of items, of each class of this name."""
    found = defaultdict(list)
    for path, text in texts().items():
        for marks, name in re.findall(r"^((?:@.*\n)*)class (\w+)", text, re.MULTILINE):
            found[name].append((str(path.relative_to(SOURCE)), "@register\n" in marks))
    return found


def docstring(text: str) -> str:
    """What a module says of itself, empty where it says nothing."""
    found = re.match(r'r?"""(.*?)"""', text, re.DOTALL)
    return found[1] if found else ""


def test_no_class_name_stands_twice():
    found = classes()
    assert len(found) > 500
    doubled = {name: places for name, places in found.items() if len(places) > 1}
    assert set(doubled) == CALLED_WITH_THEIR_SECTION, doubled


def test_exceptions_are_types_of_items():
    for name in CALLED_WITH_THEIR_SECTION:
        places = classes()[name]
        assert sum(not registered for _, registered in places) <= 1, places


def test_every_package_and_module_says_what_it_holds():
    assert not [str(path.relative_to(SOURCE)) for path, text in texts().items() if not docstring(text)]


def test_modules_that_docstrings_of_packages_name_exist():
    for path, text in texts().items():
        if path.name != "__init__.py":
            continue
        for name in re.findall(r"`([a-z_0-9]+\.py|[a-z_]+/)`", docstring(text)):
            assert (path.parent / name).exists(), f"{path}: {name}"
