"""Procedures for targets whose code is one module: optimized bitcode, kept in the user's cache."""

from __future__ import annotations

from collections.abc import Sequence

from sekant.cache.store import Entry, user_cache
from sekant.loops.declare.procedures import Procedure
from sekant.loops.store.objects import key_of, procedure_of
from sekant.loops.translate import translate
from sekant.object_code.portable import optimized_procedure
from sekant.object_code.target import TARGETS


def bitcode_of(procedures: Sequence[Procedure], target: str) -> list[bytes]:
    """Of these procedures and of all that they call, each once, for a target by its name in `TARGETS`."""
    found: dict[str, Entry] = {}
    waiting = {procedure.symbol for procedure in procedures}
    while waiting:
        symbol = waiting.pop()
        found[symbol] = _entry(procedure_of(symbol), target)
        waiting |= set(found[symbol].header["needs"]) - found.keys()
    return [entry.objects[0] for entry in found.values()]


def _entry(procedure: Procedure, target: str) -> Entry:
    store, key = user_cache(), key_of(procedure, target, "bitcode")
    entry = store.load(key) if store is not None else None
    if entry is None:
        text, needs = translate(procedure)
        bitcode = optimized_procedure(text, procedure.symbol, TARGETS[target])
        entry = Entry({"needs": sorted(needs)}, (bitcode,))
        if store is not None:
            store.store(key, entry)
    return entry
