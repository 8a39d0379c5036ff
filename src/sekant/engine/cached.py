"""Parts of a compiled system that later processes reuse: functions and facts, not the equations.

A part is a value under a name: native functions (by the key of their object code), small CasADi functions, tables,
plain data. The key of a system holds all that its parts can depend on: the content of the model, the options with
which it was compiled, and the source of this package (see `sekant.cache.content`). Parts that cannot be
cached (expressions, functions that call Python) or read back are made again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import casadi as ca

from sekant.cache import plain
from sekant.cache.content import answer_key
from sekant.cache.plain import Codec, Known, NotPlain
from sekant.cache.store import Cache, make_key
from sekant.engine.codegen.linking import interpreted_again, linked_again
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.codegen.vm import Interpreted
from sekant.model.model import Model
from sekant.object_code.target import optimization, target_identity
from sekant.tables import function_data as function_data  # CasADi functions as data
from sekant.tables.numeric import NumericFunction

ABSENT = object()


class CachedParts:
    """The parts of one system, in the user's cache. Several processes may read and write them.

    `known`: objects that the parts refer to by name, such as the curves of a model of which `key` contains
    only the shapes.
    """

    def __init__(self, key: str, store: Cache, known: Known | None = None):
        self.key, self._store, self._known = key, store, known

    def related(self, name: str) -> CachedParts:
        """The parts of a system derived from this one; `name` identifies the derivation."""
        return CachedParts(make_key([self.key, "related", name]), self._store, self._known)

    def load(self, name: Hashable) -> Any:
        """Load a part; `ABSENT` if it is not cached."""
        entry = self._store.load(self._place(name))
        if entry is None:
            return ABSENT
        try:
            return plain.read(entry, self._store, self._known)
        except NotPlain:  # such as a function whose object code is gone
            return ABSENT

    def store(self, name: Hashable, value: Any) -> None:
        """Cache the part, if it can be written as plain data."""
        entry = plain.written(value, self._store, {"part": str(name)}, self._known)
        if entry is not None:
            self._store.store(self._place(name), entry)

    def _place(self, name: Hashable) -> str:
        return make_key(["part", self.key, repr(name)])


def cached_answer(model: Model, question: str, make: Callable[[], Any]) -> Any:
    """The answer to `question` (with its options) about `model`: the result of `make`, from this process or an
    earlier one. It may have any type that a part may have."""
    parts = parts_of(model, (question,))
    found = ABSENT if parts is None else parts.load("answer")
    if found is ABSENT:
        found = make()
        if parts is not None:
            parts.store("answer", found)
    return found


def parts_of(model: Model, options: tuple[Any, ...], known: Known | None = None) -> CachedParts | None:
    """The parts of `model` compiled with `options`; None if they may depend on anything else."""
    key = answer_key(
        model, f"system {options!r} {ca.CasadiMeta.version()} {target_identity()} {optimization()}"
    )
    if key is None:
        return None
    try:
        return CachedParts(key, Cache(), known)
    except RuntimeError:  # the user has no home directory
        return None


def _function_data(function: NativeFunction) -> tuple[Any, ...]:
    """The data from which a function is linked or made."""
    shapes = (function.shapes_in, function.shapes_out)
    if isinstance(function.owner, Interpreted):
        return function.name, function.owner.staged, shapes, function.names, function.sources
    if not function.code or any(isinstance(table, NumericFunction) for table in function.sources):
        raise NotPlain(f"the code of '{function.name}' is not in the cache")
    guards = function.guards if "guards" in vars(function) else None
    return (
        *(function.name, function.code, function.numbers, shapes, function.names),
        *(function.sources, function.sites, guards, function.entry),
    )


def _function(parts: tuple[Any, ...]) -> NativeFunction:
    if not isinstance(parts[1], str):
        return interpreted_again(*parts)
    found = linked_again(*parts)
    if found is None:
        raise NotPlain(f"the code of '{parts[0]}' is gone")
    return found


Codec(NativeFunction, __name__, _function_data, _function)
