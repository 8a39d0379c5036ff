"""The memory of compiled procedures: a C struct per solver, declared once.

    class Memory(Struct):
        q: Vector  # (nq,)
        J: Matrix  # (n, M)
        steps: Integer
        rtol: Real

A procedure gets the address of such a struct and reads ``m.q[i]``, ``m.J[k, i]`` and ``m.steps``; Python reads and
sets the same names on an instance. A field is a run of eight-byte words: a number is one word, an array is its
address and its shape. Python owns the arrays: an instance keeps the arrays of its fields alive. A field of
another struct type contains the address of that struct, so data shared by many runs is stored once.

Addresses have their own types, so that a declaration distinguishes them from numbers and the memory of a run
can be moved (`sekant.loops.image`): `FunctionAddress` of a compiled function, and `Pointers` for a table of the
addresses of arrays, which `pointers` makes.
"""

from __future__ import annotations

import math
from ctypes import addressof, c_char
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

NUMBERS, FUNCTIONS, POINTERS = "numbers", "function addresses", "pointers"


@dataclass(frozen=True)
class FieldKind:
    """A number (`axes` 0) or an array: contiguous, the last axis fastest. `holds`: the type of its items."""

    dtype: type[np.generic]
    axes: int
    holds: str = NUMBERS

    @property
    def words(self) -> int:
        return 1 + self.axes


@dataclass(frozen=True)
class Field:
    """`first`: its first word. `struct`: the declaration of the struct that it points to."""

    name: str
    first: int
    kind: FieldKind
    struct: type[Struct] | None = None


Real = Annotated[float, FieldKind(np.float64, 0)]
Integer = Annotated[int, FieldKind(np.int64, 0)]
FunctionAddress = Annotated[int, FieldKind(np.int64, 0, FUNCTIONS)]
"""Address of a compiled function; 0: there is none."""
Pointers = Annotated[NDArray[np.int64], FieldKind(np.int64, 1, POINTERS)]
"""A table of the addresses of arrays: set to a `PointerTable`, read as an array of integers."""
Vector = Annotated[NDArray[np.float64], FieldKind(np.float64, 1)]
Matrix = Annotated[NDArray[np.float64], FieldKind(np.float64, 2)]
Cube = Annotated[NDArray[np.float64], FieldKind(np.float64, 3)]
Four = Annotated[NDArray[np.float64], FieldKind(np.float64, 4)]
Integers = Annotated[NDArray[np.int64], FieldKind(np.int64, 1)]
IntegerMatrix = Annotated[NDArray[np.int64], FieldKind(np.int64, 2)]
Complexes = Annotated[NDArray[np.complex128], FieldKind(np.complex128, 1)]
_POINTER = FieldKind(np.int64, 0)


@dataclass(frozen=True, eq=False)
class PointerTable:
    """`words`: the addresses of `targets`, the arrays that the struct keeps alive with the table."""

    words: NDArray[np.int64]
    targets: tuple[NDArray[Any], ...]


def pointers(*arrays: NDArray[Any]) -> PointerTable:
    """A table of the addresses of these arrays."""
    return PointerTable(np.array([address_of(array) for array in arrays], dtype=np.int64), arrays)


class _Number:
    """Access to a number of a struct: `item` of one of the `view`s of its memory."""

    __slots__ = ("item", "view")

    def __init__(self, view: str, item: int):
        self.view, self.item = view, item

    def __get__(self, struct: Struct | None, owner: type[Struct]) -> Any:
        return self if struct is None else struct.__dict__[self.view].item(self.item)


class Struct:
    """Base of all declarations. An instance starts with zeros and with arrays of no entries at address 0."""

    fields: ClassVar[dict[str, Field]] = {}
    words_of_all: ClassVar[int] = 0
    numbers: ClassVar[dict[str, tuple[str, int]]] = {}
    """Place of each number: the view of the memory, and the index in it."""

    def __init_subclass__(cls) -> None:
        fields, first = {}, 0
        for name, hint in get_type_hints(cls, include_extras=True).items():
            if name in ("fields", "words_of_all", "numbers"):
                continue
            if isinstance(hint, type) and issubclass(hint, Struct):
                kind, struct = _POINTER, hint
            else:
                kind, struct = get_args(hint)[1], None
            fields[name] = Field(name, first, kind, struct)
            first += kind.words
        cls.fields, cls.words_of_all = fields, first
        cls.numbers = {
            name: ("_reals" if field.kind.dtype is np.float64 else "_words", field.first)
            for name, field in fields.items()
            if not field.kind.axes and field.struct is None
        }
        for name, place in cls.numbers.items():
            setattr(cls, name, _Number(*place))

    def __init__(self, **values: Any):
        words = np.zeros(self.words_of_all, dtype=np.int64)
        own = self.__dict__
        own["_words"], own["_reals"] = words, words.view(np.float64)
        own["pointer"], own["targets"] = address_of(words), {}
        self.set(**values)

    def set(self, **values: Any) -> None:
        own, numbers = self.__dict__, self.numbers
        for name, value in values.items():
            place = numbers.get(name)
            if place is None:
                setattr(self, name, value)
            else:
                own[place[0]][place[1]] = value

    def place(self, name: str) -> tuple[NDArray[Any], int]:
        """The array and the index in it of a number, for callers that set it often."""
        view, first = self.numbers[name]
        return self.__dict__[view], first

    def __setattr__(self, name: str, value: Any) -> None:
        own, place = self.__dict__, self.numbers.get(name)
        if place is not None:
            own[place[0]][place[1]] = value
            return
        field = self.fields.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no field '{name}'")
        first, kind = field.first, field.kind
        if field.struct is not None:
            if not isinstance(value, field.struct):
                raise TypeError(f"{type(self).__name__}.{name} must be a {field.struct.__name__}")
            own["_words"][first] = value.pointer
        else:
            if kind.holds == POINTERS:
                if not isinstance(value, PointerTable):
                    raise TypeError(f"{type(self).__name__}.{name} must be a PointerTable")
                own["targets"][name], value = value.targets, value.words
            if value.dtype != kind.dtype or value.ndim != kind.axes or not value.flags.c_contiguous:
                raise TypeError(
                    f"{type(self).__name__}.{name} must be a contiguous array of {kind.dtype.__name__} with "
                    f"{kind.axes} axes, not {value.dtype} of shape {value.shape}"
                )
            words = own["_words"]
            words[first] = address_of(value)
            words[first + 1 : first + 1 + kind.axes] = value.shape
        own[name] = value

    def snapshot(self, *but: str) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Copies of its numbers and of the contents of its arrays and of the structs in it, for `restore`.

        `but`: arrays and structs that are excluded, because every user replaces them, or because none changes them;
        ``plan.low`` is the array `low` of the struct `plan`.
        """
        own = self.__dict__
        found = [(own["_words"], own["_words"].copy())]
        for name in self.fields:
            value = own.get(name)
            if value is None or name in but:
                continue
            if isinstance(value, Struct):
                inside = name + "."
                found += value.snapshot(*(one.removeprefix(inside) for one in but if one.startswith(inside)))
            elif value.size:
                found.append((value, value.copy()))
        return found

    def copy_to(self, other: Struct) -> None:
        """Copy its numbers and the contents of its arrays and structs to another one of the same shapes."""
        for name, field in self.fields.items():
            value = self.__dict__.get(name)
            if isinstance(value, Struct):
                value.copy_to(getattr(other, name))
            elif field.struct is None and field.kind.holds == NUMBERS:
                if not field.kind.axes:
                    setattr(other, name, getattr(self, name))
                elif value is not None:
                    getattr(other, name)[...] = value

    @staticmethod
    def restore(contents: list[tuple[NDArray[Any], NDArray[Any]]]) -> None:
        """Write back what `snapshot` returned."""
        for array, content in contents:
            array[...] = content

    def __getattr__(self, name: str) -> Any:
        field = self.fields.get(name)
        if field is None or field.struct is not None:
            raise AttributeError(f"{type(self).__name__} has no '{name}' yet")
        return np.zeros((0,) * field.kind.axes, field.kind.dtype)


def address_of(array: NDArray[Any]) -> int:
    """Address of the first entry of an array."""
    try:
        return addressof(c_char.from_buffer(array))  # type: ignore[arg-type]  # five times as fast as NumPy's answer
    except (BufferError, TypeError, ValueError):  # an empty, read-only or strided array
        return array.__array_interface__["data"][0]


LINE = 64
"""Alignment of blocks of memory in bytes: a line of the processor's cache."""


def aligned(*shape: int) -> NDArray[np.float64]:
    """Zeros aligned to a line of the processor's cache, so that registers of lanes never cross two lines."""
    size = math.prod(shape)
    memory = np.zeros(size + LINE // 8)
    first = -address_of(memory) % LINE // 8
    return memory[first : first + size].reshape(shape)
