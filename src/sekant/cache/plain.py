"""Values as JSON and arrays, so that an entry of the cache is data: reading it executes no code.

Numbers, strings, lists, tuples, sets, dictionaries and arrays are written directly; data classes, named tuples,
enumerations and pydantic models of this package are written as their fields. Reading sets the fields without
calling methods. A field with ``metadata=NOT_CACHED`` is read as its default. A type that is not data itself has a
`Codec`, which converts it to data and back. Everything else is refused (`NotPlain`). Arrays of `LARGE` bytes or
more are separate entries with their content as the key, because many values share them. Objects that both the
writer and the reader have are written as their names (`Known`), so a value can be read with other objects of these
names.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from sekant.cache.store import Cache, Entry, make_key

MOST_BYTES = 32 * 1024 * 1024
"""Largest size of one value, and of one large array: larger ones take longer to read than to compute."""
LARGE = 64 * 1024
NOT_CACHED = {"cached": False}
PACKAGE = __name__.partition(".")[0]
_PLAIN = (type(None), bool, int, float, str)
_SEQUENCES = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}
_MAKE = {name: kind for kind, name in _SEQUENCES.items()}
_PYDANTIC = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
_arrays: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Large arrays of this process, by the key of their entry."""


class NotPlain(Exception):
    """A value that is not plain data, or an entry that does not contain one."""


class Known(Protocol):
    """Objects that are not part of a value, by name."""

    def name_of(self, value: Any) -> str | None:
        """The name of this object; None for one that is part of the value."""
        ...

    def named(self, name: str) -> Any:
        """The object; raises `LookupError` if there is none."""
        ...


@dataclass(frozen=True, eq=False)
class Codec:
    """Conversion of values of `kind` to plain data and back; `home`: the module that defines this codec.

    `write` and `read` raise `NotPlain` if that is not possible.
    """

    kind: type
    home: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]

    def __post_init__(self) -> None:
        _CODECS[self.kind] = self
        _BY_NAME[self.home, self.kind.__qualname__] = self


_CODECS: dict[type, Codec] = {}
_BY_NAME: dict[tuple[str, str], Codec] = {}


def written(
    value: Any, store: Cache, about: Mapping[str, Any] | None = None, known: Known | None = None
) -> Entry | None:
    """The value as an entry whose header contains `about`; None if it cannot be stored.

    Large arrays are put into `store` immediately.
    """
    writer = _PlainWriter(store, known)
    try:
        tree = json.dumps([writer.types, writer.write(value)]).encode()
    except (NotPlain, RecursionError):
        return None
    data = [tree, *(array.tobytes("A") for array in writer.arrays)]
    if sum(map(len, data)) > MOST_BYTES:
        return None
    shapes = [_shape(array) for array in writer.arrays]
    return Entry({**(about or {}), "arrays": shapes}, tuple(data))


def read(entry: Entry, store: Cache, known: Known | None = None) -> Any:
    """The value of an entry; raises `NotPlain` if it cannot be read."""
    try:
        types, tree = json.loads(entry.objects[0])
        return _PlainReader(types, entry, store, known).read(tree)
    except NotPlain:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ImportError, RuntimeError) as error:
        raise NotPlain(str(error)) from error  # written with another version of its parts


class _PlainWriter:
    def __init__(self, store: Cache, known: Known | None):
        self.store, self.known = store, known
        self.types: list[list[Any]] = []
        self.arrays: list[Any] = []
        self._numbers: dict[type, int] = {}
        self._seen: dict[int, tuple[int, Any]] = {}
        self._open: set[int] = set()

    def write(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind in _SEQUENCES:
            return [_SEQUENCES[kind], *map(self.write, value)]
        if kind is dict:
            return ["dict", *(self.write(x) for pair in value.items() for x in pair)]
        if id(value) in self._seen:
            return ["again", self._seen[id(value)][0]]
        name = None if self.known is None else self.known.name_of(value)
        if name is not None:
            return ["known", name]
        if id(value) in self._open:
            raise NotPlain(f"a {kind.__name__} contains itself")
        self._open.add(id(value))
        tree = self._other(kind, value)
        self._open.discard(id(value))
        self._seen[id(value)] = len(self._seen), value  # the value stays alive, so its id remains unique
        return tree

    def _other(self, kind: type, value: Any) -> list[Any]:
        if kind in _CODECS:
            codec = _CODECS[kind]
            return [
                self._type(kind, ["codec", codec.home, kind.__qualname__]),
                self.write(codec.write(value)),
            ]
        if kind.__module__ == "numpy" or kind.__module__.startswith("numpy."):
            return self._of_numpy(value)
        if kind is complex:
            return ["complex", value.real, value.imag]
        if kind in (range, slice):
            return [kind.__name__, value.start, value.stop, value.step]
        if isinstance(value, Path):
            return ["path", str(value)]
        names = _fields(kind)
        place = [kind.__module__, kind.__qualname__]
        if isinstance(value, enum.Enum):
            return [self._type(kind, ["enum", *place]), self.write(value.value)]
        if isinstance(value, tuple):
            return [self._type(kind, ["named", *place, *names]), *map(self.write, value)]
        state = [self.write(getattr(value, name)) for name in names]
        if _is_pydantic(kind):
            more = [self.write(getattr(value, name)) for name in _PYDANTIC]
            return [self._type(kind, ["model", *place, *names]), *state, *more]
        return [self._type(kind, ["data", *place, *names]), *state]

    def _type(self, kind: type, told: list[Any]) -> int:
        if kind not in self._numbers:
            self._numbers[kind] = len(self.types)
            self.types.append(told)
        return self._numbers[kind]

    def _of_numpy(self, value: Any) -> list[Any]:
        dtype = getattr(value, "dtype", None)
        if dtype is None or dtype.kind not in "biufcSU":
            raise NotPlain(f"{type(value).__name__} is not an array of numbers or strings")
        if type(value).__name__ != "ndarray":
            item = value.item()
            return ["number", dtype.str, *((item.real, item.imag) if dtype.kind == "c" else (item,))]
        if value.nbytes < LARGE:
            self.arrays.append(value)
            return ["array", len(self.arrays) - 1]
        shape, data = _shape(value), value.tobytes("A")
        key = make_key(["array", json.dumps(shape), data])
        if key not in _arrays:
            if len(data) > MOST_BYTES or not self.store.store(key, Entry({"arrays": [shape]}, (data,))):
                raise NotPlain(f"an array of {len(data)} bytes is too large")
            _arrays[key] = value
        return ["large array", key]


class _PlainReader:
    def __init__(self, types: list[list[Any]], entry: Entry, store: Cache, known: Known | None):
        self.types, self.entry, self.store, self.known = types, entry, store, known
        self._known: dict[int, Callable[[list[Any]], Any]] = {}
        self._seen: list[Any] = []

    def read(self, tree: Any) -> Any:
        if not isinstance(tree, list):
            return tree
        tag, parts = tree[0], tree[1:]
        if tag in _MAKE:
            return _MAKE[tag](map(self.read, parts))
        if tag == "dict":
            found = iter([self.read(x) for x in parts])
            return dict(zip(found, found, strict=True))
        if tag == "again":
            return self._seen[parts[0]]
        if tag == "known":
            if self.known is None:
                raise NotPlain(f"'{parts[0]}' is not there")
            return self.known.named(parts[0])
        made = self._made(tag)([self.read(x) for x in parts]) if type(tag) is int else self._other(tag, parts)
        self._seen.append(made)
        return made

    def _other(self, tag: str, parts: list[Any]) -> Any:
        if tag == "array":
            shape, data = self.entry.header["arrays"][parts[0]], self.entry.objects[1 + parts[0]]
            return _array(shape, data)
        if tag == "large array":
            return self._large(parts[0])
        if tag == "number":
            import numpy as np

            return np.dtype(parts[0]).type(complex(*parts[1:]) if len(parts) > 2 else parts[1])
        return {"complex": complex, "range": range, "slice": slice, "path": Path}[tag](*parts)

    def _large(self, key: str) -> Any:
        found = _arrays.get(key)
        if found is None:
            entry = self.store.load(key)
            if entry is None:
                raise NotPlain("an array of the value is gone")
            found = _array(entry.header["arrays"][0], entry.objects[0])
            found.flags.writeable = False  # several values may share it
            _arrays[key] = found
        return found

    def _made(self, number: int) -> Callable[[list[Any]], Any]:
        """The function that creates a value of a type from its parts."""
        if number not in self._known:
            self._known[number] = _maker(*self.types[number])
        return self._known[number]


def _maker(way: str, module: str, name: str, *fields: str) -> Callable[[list[Any]], Any]:
    if module.partition(".")[0] != PACKAGE:
        raise NotPlain(f"{module} is not a module of {PACKAGE}")
    home = importlib.import_module(module)
    if way == "codec":
        codec = _BY_NAME[module, name]
        return lambda parts: codec.read(parts[0])
    kind: Any = home
    for part in name.split("."):
        kind = getattr(kind, part)
    if not isinstance(kind, type) or list(fields) != _fields(kind):
        raise NotPlain(f"{module}.{name} has other fields")
    if way == "enum":
        return lambda parts: kind(parts[0])
    if way == "named":
        return lambda parts: tuple.__new__(kind, parts)
    return lambda parts: _with_fields(kind, fields, parts)


def _with_fields(kind: type, fields: tuple[str, ...], parts: list[Any]) -> Any:
    """An instance with these values of its fields, made without method calls."""
    made, count = object.__new__(kind), len(fields)
    if _is_pydantic(kind):
        object.__setattr__(made, "__dict__", dict(zip(fields, parts[:count], strict=True)))
        for name, value in zip(_PYDANTIC, parts[count:], strict=True):
            object.__setattr__(made, name, value)
        return made
    for name, value in zip(fields, parts, strict=True):
        object.__setattr__(made, name, value)
    for field in dataclasses.fields(kind):
        if field.name not in fields:
            object.__setattr__(made, field.name, field.default)
    return made


def _fields(kind: type) -> list[str]:
    """Fields of a type of this package that is data; raises `NotPlain` for other types."""
    if kind.__module__.partition(".")[0] == PACKAGE and "<" not in kind.__qualname__:
        if dataclasses.is_dataclass(kind):
            return [f.name for f in dataclasses.fields(kind) if f.metadata.get("cached", True)]
        if _is_pydantic(kind):
            return list(kind.__pydantic_fields__)  # type: ignore[attr-defined]
        if issubclass(kind, tuple):
            return list(getattr(kind, "_fields", ()))
        if issubclass(kind, enum.Enum):
            return []
    raise NotPlain(f"{kind.__module__}.{kind.__qualname__} is not plain data")


def _is_pydantic(kind: type) -> bool:
    return hasattr(kind, "__pydantic_fields__")


def _shape(array: Any) -> list[Any]:
    order = "C" if array.flags.c_contiguous or not array.flags.f_contiguous else "F"
    return [array.dtype.str, list(array.shape), order]


def _array(shape: list[Any], data: bytes) -> Any:
    import numpy as np

    dtype, size, order = np.dtype(shape[0]), shape[1], shape[2]
    if dtype.kind not in "biufcSU":
        raise NotPlain(f"an array of {dtype}")
    return np.frombuffer(bytearray(data), dtype).reshape(size, order=order)
