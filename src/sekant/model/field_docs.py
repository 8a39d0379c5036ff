"""The docstrings below the fields of a class, read from its source on demand.

Pydantic can do this for every class when it is created, but that takes a third of the start-up time.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from textwrap import dedent


def field_docs(cls: type) -> dict[str, str]:
    """The docstring below each field of a class and of its bases, by the name of the field."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        docs |= _own_docs(base)
    return docs


@cache
def _own_docs(cls: type) -> dict[str, str]:
    try:
        body = ast.parse(dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return {}
    docs: dict[str, str] = {}
    if isinstance(body, ast.ClassDef):
        for field, text in pairwise([*body.body, None]):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                docs[field.target.id] = inspect.cleandoc(str(text.value.value))
    return docs
