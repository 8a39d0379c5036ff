"""The source of a function, as Python parses it."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from types import FunctionType

from sekant.loops.translate.kinds import NotTranslated


def definition_of(function: FunctionType) -> ast.FunctionDef:
    """Its definition; refused unless all its arguments are plain."""
    found = _definitions(inspect.getsourcefile(function) or "").get(function.__code__.co_firstlineno)
    if found is None:
        raise NotTranslated(f"the source of {function.__name__} is not found")
    arguments = found.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise NotTranslated(f"{function.__name__}: compiled functions have plain arguments without defaults")
    return found


@cache
def _definitions(path: str) -> dict[int, ast.FunctionDef]:
    """Of a file, by the first line, decorators included."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {
        min([node.lineno, *(d.lineno for d in node.decorator_list)]): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
