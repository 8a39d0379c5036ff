"""Parts of a compiled system that a later process finds again: functions and facts, not the equations behind them.

A part is a value under a name: native functions (by the key of their object code), small CasADi functions, tables,
plain data. The key of a system holds all that its parts can depend on: the content of the model, the options with
which it was compiled, and the source of this package (see `sekant.model.kept`). What cannot be kept (an expression, a
function that calls Python) and whatever does not read back is made again.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Hashable
from typing import Any
from weakref import WeakValueDictionary

import casadi as ca

from sekant.engine.codegen.linking import interpreted_again, linked_again
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.codegen.vm import Interpreted
from sekant.model.kept import answer_key
from sekant.model.model import Model
from sekant.object_code.cache import Entry, ObjectCache, make_key
from sekant.object_code.target import optimization, target_identity
from sekant.tables.bound_oracle import BoundOracle
from sekant.tables.numeric import NumericFunction
from sekant.tables.table import Table, Table2

MOST_BYTES = 32 * 1024 * 1024
"""Of one part, and of one table: what is larger takes longer to read than to make."""
LARGE_TABLE = 64 * 1024
"""Bytes from which on a table is an entry of its own."""
ABSENT = object()
_tables: WeakValueDictionary[str, Table | Table2] = WeakValueDictionary()
"""Large tables of this process, by the key of their entry."""


class _NotKept(Exception):
    """The value has a part that only the equations can give, or whose object code is gone."""


class KeptParts:
    """The parts of one system, in the user's cache. Several processes may read and write them."""

    def __init__(self, key: str, store: ObjectCache):
        self._key, self._store = key, store

    def variant(self, name: str) -> KeptParts:
        """The parts of a system that is made from this one in a way that `name` tells."""
        return KeptParts(make_key([self._key, "variant", name]), self._store)

    def load(self, name: Hashable) -> Any:
        """The part, or `ABSENT`."""
        entry = self._store.load(self._place(name))
        if entry is None or len(entry.objects) != 1:
            return ABSENT
        try:
            return pickle.loads(entry.objects[0])
        except Exception:  # written by who knows what: as good as absent
            return ABSENT

    def store(self, name: Hashable, value: Any) -> None:
        """Keep the part, if it can be kept."""
        stream = io.BytesIO()
        try:
            _Pickler(stream, self._store).dump(value)
        except (_NotKept, pickle.PicklingError, TypeError, AttributeError):
            return
        data = stream.getvalue()
        if len(data) <= MOST_BYTES:
            self._store.store(self._place(name), Entry({"part": str(name)}, (data,)))

    def _place(self, name: Hashable) -> str:
        return make_key(["part", self._key, repr(name)])


def kept_answer(model: Model, question: str, make: Callable[[], Any]) -> Any:
    """The answer to `question` (with its options) about `model`: what `make` returned, here or in an earlier
    process. It may be whatever a part may be."""
    parts = parts_of(model, (question,))
    found = ABSENT if parts is None else parts.load("answer")
    if found is ABSENT:
        found = make()
        if parts is not None:
            parts.store("answer", found)
    return found


def parts_of(model: Model, options: tuple[Any, ...]) -> KeptParts | None:
    """The parts of `model` compiled with `options`; None where more than these may decide on them."""
    key = answer_key(
        model, f"system {options!r} {ca.CasadiMeta.version()} {target_identity()} {optimization()}"
    )
    if key is None:
        return None
    try:
        return KeptParts(key, ObjectCache())
    except RuntimeError:  # the user has no home directory
        return None


class _Pickler(pickle.Pickler):
    """Writes functions as what they are linked or made from, and refuses expressions; large tables stand in entries
    of their own, since many parts have the same ones."""

    def __init__(self, stream: io.BytesIO, store: ObjectCache):
        super().__init__(stream, protocol=5)
        self._store = store

    def _keep_table(self, table: Table | Table2) -> str:
        data = pickle.dumps(table, protocol=5)
        key = make_key(["table", data])
        if len(data) > MOST_BYTES or (
            key not in _tables and not self._store.store(key, Entry({"part": "table"}, (data,)))
        ):
            raise _NotKept
        _tables[key] = table
        return key

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, NativeFunction):
            shapes = (obj.shapes_in, obj.shapes_out)
            if isinstance(obj.owner, Interpreted):
                return interpreted_again, (obj.name, obj.owner.staged, shapes, obj.names, obj.sources)
            if not obj.code or any(isinstance(table, NumericFunction) for table in obj.sources):
                raise _NotKept
            guards = obj.guards if "guards" in vars(obj) else None
            return _function, (
                *(obj.name, obj.code, obj.numbers, shapes),
                *(obj.names, obj.sources, obj.sites, guards),
            )
        if isinstance(obj, (Table, Table2)) and obj.coefficients.nbytes > LARGE_TABLE:
            return _table, (self._keep_table(obj),)
        if isinstance(obj, BoundOracle):
            return BoundOracle, (obj.source,)
        if isinstance(obj, ca.Function):
            if any(part.class_name() == "CallbackInternal" for part in (obj, *obj.find_functions())):
                raise _NotKept  # it calls Python
            return _casadi_function, (obj.serialize(),)
        if isinstance(obj, (ca.SX, ca.MX, NumericFunction)):
            raise _NotKept  # the address of a numeric function is that of this process
        return NotImplemented


def _table(key: str) -> Table | Table2:
    found = _tables.get(key)
    if found is None:
        entry = ObjectCache().load(key)
        if entry is None:
            raise _NotKept
        found = _tables[key] = pickle.loads(entry.objects[0])
    return found


def _function(*parts: Any) -> NativeFunction:
    found = linked_again(*parts)
    if found is None:
        raise _NotKept
    return found


def _casadi_function(text: str) -> ca.Function:
    return ca.Function.deserialize(text)
