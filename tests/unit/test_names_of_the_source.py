"""One concept, one name: no two classes of the source are called the same; every folder says what it holds."""

from __future__ import annotations

import ast
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
def trees() -> dict[Path, ast.Module]:
    """Every file of the source, parsed."""
    return {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


@cache
def classes() -> dict[str, list[tuple[str, bool]]]:
    """Name -> file, and whether the class is registered as a type of items, of each class of this name."""
    found = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                marks = {ast.unparse(mark) for mark in node.decorator_list}
                found[node.name].append((str(path.relative_to(SOURCE)), "register" in marks))
    return found


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
    silent = [str(path.relative_to(SOURCE)) for path, tree in trees().items() if not ast.get_docstring(tree)]
    assert not silent


def test_modules_that_docstrings_of_packages_name_exist():
    for path, tree in trees().items():
        if path.name != "__init__.py":
            continue
        told = ast.get_docstring(tree) or ""
        for name in re.findall(r"`([a-z_0-9]+\.py|[a-z_]+/)`", told):
            assert (path.parent / name).exists(), f"{path}: {name}"
