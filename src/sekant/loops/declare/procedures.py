"""Decorators for compiled procedures.

A *procedure* is a Python function ``f(m, a, b) -> integer`` of a struct (see `structs`) and two floats. It is
translated once, with the helpers that it calls (`inner`), to object code, which is stored and reused; see
`translation` and `objects`. Procedures are written in the subset of Python that `translation` supports: numbers,
arrays of structs item by item (only a constant index may be negative), tuples, loops over ranges; no slices, no
array expressions, nothing that allocates or raises. With ``SEKANT_LOOPS=python`` the same functions run as plain
Python (`plain`): slowly, but a debugger can step through them.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from sekant.loops.declare.structs import Struct

_C = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_double)


as_python = os.environ.get("SEKANT_LOOPS") == "python"
"""Whether procedures run as plain Python."""


class _Written:
    """A function written in the subset."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function as plain Python with the arithmetic of compiled code. Created late, because it may
        call functions defined below it."""
        from sekant.loops.translate.plain import plain

        return plain(self.function)  # type: ignore[arg-type]


class Inner(_Written):
    """A helper: called by procedures and other helpers. Called from Python, it runs as plain Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self.plain(*arguments)


class Primitive:
    """A function with its own instructions in `translation`; `function` is its equivalent in Python."""

    def __init__(self, function: Callable[..., Any]):
        self.function, self.name = function, function.__name__
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


class Procedure(_Written):
    """A function ``f(m, a, b) -> integer`` of a struct of the class `struct`.

    `words`: its name in progress messages; `seconds`: the approximate time of its compilation. `long_loops`:
    its loops are long enough for vectorization, see
    `sekant.object_code.target.compile_module`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        struct: type[Struct],
        words: str,
        seconds: float,
        long_loops: bool = False,
    ):
        super().__init__(function)
        self.struct, self.words, self.seconds = struct, words, seconds
        self.long_loops = long_loops
        self.module, self.name = function.__module__, function.__name__
        self._address = 0
        self._call: Any = None

    @property
    def symbol(self) -> str:
        """Its name in object code."""
        return "sekant_" + self.module.removeprefix("sekant.").replace(".", "_") + "_" + self.name.lstrip("_")

    @property
    def address(self) -> int:
        if self._address == 0:
            from sekant.loops.store.objects import link

            self._address = link(self)
        return self._address

    def __call__(self, m: Struct, a: float = 0.0, b: float = 0.0) -> int:
        """Run the procedure. Compiled code releases the interpreter's lock."""
        if as_python:
            with np.errstate(all="ignore"):
                return int(self.plain(m, a, b))
        call = self._call
        if call is None:
            call = self._call = _C(self.address)
        return call(m.pointer, a, b)


ALL: dict[str, Procedure] = {}
"""Procedures by symbol, of the modules that have been imported."""


def inner(function: Callable[..., Any]) -> Any:
    return Inner(function)


def procedure(
    struct: type[Struct], words: str, seconds: float, long_loops: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    def decorate(function: Callable[..., Any]) -> Procedure:
        made = Procedure(function, struct, words, seconds, long_loops)
        ALL[made.symbol] = made
        return made

    return decorate
