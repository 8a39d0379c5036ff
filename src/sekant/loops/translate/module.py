"""A procedure with all helpers that it calls, as one module of LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from sekant.loops.declare.procedures import Inner, Procedure
from sekant.loops.translate.functions import FunctionText
from sekant.loops.translate.kinds import REAL, WHOLE, Kind, NotTranslated, real, struct_kind

_ATTRIBUTES = "attributes #0 = { nounwind }\nattributes #1 = { nounwind willreturn memory(none) }\n"


def translate(procedure: Procedure) -> tuple[str, set[str]]:
    """The IR of a procedure, with one function that other modules can call, and the symbols of procedures
    that it calls.

    The function is hidden: a library that contains it does not export it.
    """
    module = ModuleText()
    entry = module.function(Inner(procedure.function), [struct_kind(procedure.struct), REAL, REAL])
    if entry.returned != WHOLE:
        raise NotTranslated(f"{procedure.name} must return an integer (it returns a {entry.returned})")
    return module.text(procedure.symbol, entry), module.needs - {procedure.symbol}


class ModuleText:
    """`needs`: symbols of other procedures."""

    def __init__(self) -> None:
        self.needs: set[str] = set()
        self._functions: dict[tuple[Any, ...], FunctionText | None] = {}
        self._data: dict[int, tuple[np.ndarray, str]] = {}
        self._by_symbol: dict[str, FunctionText] = {}

    def function(self, called: Inner, kinds: Sequence[Kind]) -> FunctionText:
        """The helper for arguments of these kinds."""
        key = (called.function, *kinds)
        if key in self._functions:
            found = self._functions[key]
            if found is None:
                raise NotTranslated(f"{called.__name__} calls itself, which compiled code cannot do")
            return found
        self._functions[key] = None
        symbol = f"{called.__name__}.{len(self._functions)}"
        made = FunctionText(self, called.function, symbol, kinds)  # type: ignore[arg-type]
        self._functions[key] = self._by_symbol[symbol] = made
        return made

    def data(self, array: np.ndarray) -> str:
        """The name of the constant items of an array."""
        known = self._data.setdefault(id(array), (array, f"@data.{len(self._data)}"))
        return known[1]

    def text(self, symbol: str, entry: FunctionText) -> str:
        """All code that the entry reaches; other modules call it `symbol`."""
        reached, waiting = dict[str, FunctionText](), [entry]
        while waiting:
            one = waiting.pop()
            if one.symbol not in reached:
                reached[one.symbol] = one
                waiting += [self._by_symbol[name] for name in sorted(one.calls)]
        declared = {line for one in reached.values() for line in one.declared}
        others = self.needs - {symbol}
        declared |= {f"declare hidden i64 @{name}(ptr, double, double)" for name in others}
        outer = (
            f"define hidden i64 @{symbol}(ptr %m, double %a, double %b) #0 {{\n"
            f"  %found = call fastcc i64 @{entry.symbol}(ptr %m, double %a, double %b)\n  ret i64 %found\n}}\n"
        )
        data = [_data(array, name) for array, name in self._data.values()]
        return "\n".join([*data, *sorted(declared), *(f.text for f in reached.values()), outer, _ATTRIBUTES])

    def at(self, function: FunctionType, node: ast.AST, error: Exception) -> str:
        """An error's text with the place in the source."""
        name = Path(function.__code__.co_filename).name
        return f"{name}:{getattr(node, 'lineno', 0)}: {function.__name__}: {error}"


def _data(array: np.ndarray, name: str) -> str:
    kind, write = ("double", real) if array.dtype.kind == "f" else ("i64", str)
    items = ", ".join(f"{kind} {write(item)}" for item in array.ravel().tolist())
    return f"{name} = private unnamed_addr constant [{array.size} x {kind}] [{items}]"
