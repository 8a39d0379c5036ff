"""Object code -> executable memory."""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from sekant.object_code.target import target_machine

ENTRY = "sekant_entry"
"""Name of the function of a module."""

_names = itertools.count()
# Functions that object code may call: those of the C library, including those that LLVM substitutes for others.
_LIBRARY = (
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "cos",
        "cosh",
        "erf",
        "exp",
    ),
    *(
        "exp10",
        "exp2",
        "expm1",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "hypot",
        "ldexp",
        "log",
        "log10",
        "log1p",
    ),
    *("log2", "pow", "remainder", "sin", "sincos", "sinh", "sqrt", "tan", "tanh"),
    *("memcpy", "memmove", "memset"),
)


@cache
def _jit() -> Any:
    return llvm.create_lljit_compiler(target_machine(), use_jit_link=True)


class Linked:
    """Object code in executable memory; addresses are valid as long as this object lives.

    `entries`: the symbols to be found; `address` is that of the first. `symbols`: addresses of data that the code
    refers to; `held` keeps this data alive.
    """

    held: Any = None

    def __init__(self, objects: Sequence[bytes], *entries: str, symbols: Mapping[str, int] | None = None):
        library = llvm.JITLibraryBuilder()
        for data in objects:
            library.add_object_img(data)
        for name, place in {**library_symbols(), **(symbols or {})}.items():
            library.import_symbol(name, place)
        for entry in entries:
            library.export_symbol(entry)
        self._jit = _jit()
        self._tracker = library.link(self._jit, f"sekant{next(_names)}")
        self.addresses = {entry: int(self._tracker[entry]) for entry in entries}
        self.address = self.addresses[entries[0]]


@cache
def library_symbols() -> dict[str, int]:
    """Addresses of functions that object code may call."""
    found: dict[str, int] = {}
    for load in (lambda: ctypes.CDLL(None), lambda: ctypes.CDLL(ctypes.util.find_library("m"))):
        missing = [name for name in _LIBRARY if name not in found]
        if not missing:  # searching for the library takes longer than all the rest
            break
        try:
            library = load()
        except (OSError, TypeError):
            continue
        for name in missing:
            address = _address(library, name)
            if address:
                found[name] = address
    return found


def _address(library: ctypes.CDLL, name: str) -> int | None:
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        return None
