"""LLVM IR text -> native code, for those who write their own."""

from __future__ import annotations

from sekant.cache.store import Entry, make_key, user_cache
from sekant.engine.codegen.parallel import compile_modules
from sekant.object_code.link import ENTRY, Linked
from sekant.object_code.target import optimization, target_identity


def compile_text(text: str, cache: bool = True) -> Linked:
    """The function `ENTRY` of one module, which may call the functions of the C library that tapes may call."""
    store = user_cache() if cache else None
    key = make_key([target_identity(), str(optimization()), text])
    entry = store.load(key) if store is not None else None
    if entry is None:
        entry = Entry({}, tuple(compile_modules([text], optimization())))
        if store is not None:
            store.store(key, entry)
    return Linked(entry.objects, ENTRY)
