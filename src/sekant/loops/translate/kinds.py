"""Kinds of values in compiled code, and values: a number is one part, an array its address and its shape. What is
translated: the source of a function, as Python parses it."""

from __future__ import annotations

import ast
import inspect
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from sekant.errors import SekantError
from sekant.loops.declare.structs import FUNCTIONS, POINTERS, Field, Struct


class NotTranslated(SekantError):
    """The function uses something that compiled code does not support."""


class Placed(NotTranslated):
    """The same error, with the place in the source."""


@dataclass(frozen=True)
class Kind:
    """`parts`: the LLVM types of a value's parts."""

    name: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class ArrayKind(Kind):
    """An array, contiguous with the last axis fastest."""

    item: Kind
    axes: int


@dataclass(frozen=True)
class StructKind(Kind):
    struct: type[Struct]


@dataclass(frozen=True)
class SeveralKind(Kind):
    """A tuple."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Value:
    """`parts`: names or constants of LLVM. `constant`: the number, where it is known."""

    kind: Kind
    parts: tuple[str, ...]
    constant: Any = None


NOTHING = Kind("nothing", ())
TRUTH = Kind("truth value", ("i1",))
WHOLE = Kind("integer", ("i64",))
REAL = Kind("real", ("double",))
COMPLEX = Kind("complex", ("double", "double"))
FUNCTION = Kind("function address", ("i64",))
POINTER = Kind("pointer", ("i64",))
"""The kind of addresses: eight bytes on every target, not numbers."""
_NUMBERS = (TRUTH, WHOLE, REAL, COMPLEX)
_ITEMS = {np.float64: REAL, np.int64: WHOLE, np.complex128: COMPLEX}


def array_of(item: Kind, axes: int) -> ArrayKind:
    return ArrayKind(f"array of {item}, {axes} axes", ("ptr", *["i64"] * axes), item, axes)


def several(kinds: tuple[Kind, ...]) -> SeveralKind:
    name = "(" + ", ".join(str(kind) for kind in kinds) + ")"
    return SeveralKind(name, tuple(part for kind in kinds for part in kind.parts), kinds)


def struct_kind(declared: type[Struct]) -> StructKind:
    return StructKind(f"{declared.__module__}.{declared.__qualname__}", ("ptr",), declared)


def kind_of_field(field: Field) -> Kind:
    if field.struct is not None:
        return struct_kind(field.struct)
    addresses = {FUNCTIONS: FUNCTION, POINTERS: POINTER}
    item = addresses.get(field.kind.holds) or _ITEMS[field.kind.dtype]  # type: ignore[index]
    return array_of(item, field.kind.axes) if field.kind.axes else item


def is_number(kind: Kind) -> bool:
    return kind in _NUMBERS


def join(a: Kind, b: Kind) -> Kind:
    """The kind that contains values of both kinds: for numbers the wider one."""
    if a == b:
        return a
    if is_number(a) and is_number(b):
        return max(a, b, key=_NUMBERS.index)
    if isinstance(a, SeveralKind) and isinstance(b, SeveralKind) and len(a.kinds) == len(b.kinds):
        return several(tuple(join(x, y) for x, y in zip(a.kinds, b.kinds, strict=True)))
    raise NotTranslated(f"a variable cannot have values of two types: {a} and {b}")


def constant(number: Any) -> Value:
    """A number that is known when the code is made."""
    if isinstance(number, (bool, np.bool_)):
        return Value(TRUTH, ("true" if number else "false",), bool(number))
    if isinstance(number, (int, np.integer)):
        return Value(WHOLE, (str(int(number)),), int(number))
    if isinstance(number, (float, np.floating)):
        return Value(REAL, (real(float(number)),), float(number))
    if isinstance(number, (complex, np.complexfloating)):
        return Value(COMPLEX, (real(float(number.real)), real(float(number.imag))), complex(number))
    raise NotTranslated(f"a {type(number).__name__} is not a value of compiled code")


def real(number: float) -> str:
    """A real number in LLVM's notation, bit for bit."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    return f"0x{bits:016X}"


def definition_of(function: FunctionType) -> ast.FunctionDef:
    """The definition of a function; refused unless all arguments are plain."""
    found = _definitions(inspect.getsourcefile(function) or "").get(function.__code__.co_firstlineno)
    if found is None:
        raise NotTranslated(f"the source code of {function.__name__} was not found")
    arguments = found.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise NotTranslated(f"{function.__name__}: compiled functions have plain arguments without defaults")
    return found


@cache
def _definitions(path: str) -> dict[int, ast.FunctionDef]:
    """Definitions in a file by their first line, including decorators."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {
        min([node.lineno, *(d.lineno for d in node.decorator_list)]): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
