"""Calls of compiled functions from Python without ctypes: a built-in function of Python that calls the code itself.

A few machine instructions, compiled once and kept, read from the bytes that the built-in function is bound to what to
call with which three addresses. They rely on the layout of Python's objects, which is tried when first needed: where
they do not do what ctypes does, ctypes does it.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from sekant.object_code.link import ENTRY

_CONTENT = bytes.__basicsize__ - 1
_COUNTED = sys.version_info < (3, 12)  # None is counted as other objects are
_NO_ARGUMENTS = 0x0004
_TEXT = f"""
define ptr @{ENTRY}(ptr %self, ptr %nothing) nounwind {{
 %content = getelementptr i8, ptr %self, i64 {_CONTENT}
 %code = load ptr, ptr %content
 %arg_at = getelementptr i64, ptr %content, i64 1
 %arg = load ptr, ptr %arg_at
 %res_at = getelementptr i64, ptr %content, i64 2
 %res = load ptr, ptr %res_at
 %work_at = getelementptr i64, ptr %content, i64 3
 %work = load ptr, ptr %work_at
 call void %code(ptr %arg, ptr %res, ptr %work)
 %none_at = getelementptr i64, ptr %content, i64 4
 %none = load ptr, ptr %none_at
{" %count = load i64, ptr %none" if _COUNTED else ""}
{" %more = add i64 %count, 1" if _COUNTED else ""}
{" store i64 %more, ptr %none" if _COUNTED else ""}
 ret ptr %none
}}
"""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def direct_call(function: Callable[[int, int, int], Any], address: int, *places: int) -> Callable[[], Any]:
    """A call of the compiled code at `address`, which `function` calls by ctypes, with three addresses."""
    make = _maker()
    return partial(function, *places) if make is None else make(address, *places)


@cache
def _maker() -> Callable[..., Callable[[], Any]] | None:
    """What makes built-in functions; None where they cannot be had."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return None
    from sekant.engine.codegen.text import compile_text

    linked = compile_text(_TEXT)
    method = _MethodDef(b"call", linked.address, _NO_ARGUMENTS, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    definition = ctypes.addressof(method)

    def make(address: int, *places: int, kept: Any = (linked, method)) -> Callable[[], Any]:
        return new(definition, struct.pack("=5q", address, *places, id(None)), None)

    return make if _works(make) else None


def _works(make: Callable[..., Callable[[], Any]]) -> bool:
    """Whether a call gets the three addresses, and gives None."""
    seen: list[tuple[int | None, ...]] = []
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    probe = kind(lambda *places: seen.append(places))
    found = make(ctypes.cast(probe, ctypes.c_void_p).value, 8, 16, 24)()
    return found is None and seen == [(8, 16, 24)]
