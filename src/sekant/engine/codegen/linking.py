"""Object code -> callable native functions, without the expressions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from sekant.cache.store import Entry, user_cache
from sekant.engine.codegen.native import BuildStats, NativeFunction
from sekant.engine.codegen.packing import pack_tables
from sekant.engine.codegen.vm import Interpreted
from sekant.loops.declare.structs import address_of, aligned
from sekant.object_code.link import ENTRY, Linked
from sekant.object_code.portable import NUMBERS
from sekant.solvers.common.sites import Site
from sekant.tables.lookups import Staged

SYMBOL = NUMBERS
"""Name of the array of numbers, which is bound when the code is linked."""


@dataclass(frozen=True)
class Compiled:
    owner: Any
    address: int
    work_size: int
    stats: BuildStats
    sites: tuple[Site, ...]
    key: str = ""
    numbers: np.ndarray | None = None
    entry: str = ENTRY

    @property
    def addresses(self) -> Mapping[str, int]:
        """By entry of the code."""
        return self.owner.addresses


def linked_again(
    name: str,
    key: str,
    numbers: np.ndarray,
    shapes: tuple[Any, Any],
    names: tuple[str, ...],
    tables: tuple[Any, ...],
    sites: tuple[Site, ...],
    guards: NativeFunction | None,
    own_entry: str,
) -> NativeFunction | None:
    """A function from its object code in the user's cache, without its expressions; None if it is missing.

    `shapes`: of inputs and of outputs; `guards`: the function of its guards, if they are known.
    """
    start, store = time.perf_counter(), user_cache()
    entry = None if store is None else store.load(key)
    if entry is None:
        return None
    code = link(entry, key, numbers, sites, 0.0, True)
    address = code.addresses[own_entry]
    return NativeFunction(
        name,
        address,
        code.work_size,
        *shapes,
        names,
        pack_tables(tables),
        replace(code.stats, seconds=time.perf_counter() - start),
        code.owner,
        sites,
        None if guards is None else lambda: guards,
        tables,
        key,
        numbers,
        entry=own_entry,
    )


def interpreted_again(
    name: str, staged: Staged, shapes: tuple[Any, Any], names: tuple[str, ...], tables: tuple[Any, ...]
) -> NativeFunction:
    """A function that CasADi interprets, from its stored form."""
    code = interpreted(staged)
    return NativeFunction(
        *(name, code.address, code.work_size, *shapes, names, pack_tables(tables), code.stats, code.owner),
        sources=tables,
    )


def interpreted(staged: Staged) -> Compiled:
    owner = Interpreted(staged)
    return Compiled(owner, owner.address, 0, BuildStats("casadi", owner.operations, 0, 0.0, 0.0, False), ())


def link(
    code: Entry, key: str, numbers: np.ndarray, sites: tuple[Site, ...], seconds: float, from_cache: bool
) -> Compiled:
    """Link object code and bind it to its numbers; functions of one code with the same numbers share it."""
    h = code.header
    stats = BuildStats("llvm", h["operations"], h["chunks"], 0.0, seconds, from_cache)
    place = (key, numbers.tobytes())
    owner = _IN_USE.get(place) if key else None
    if owner is None:
        owner = _linked(code, numbers)
        if key:
            _IN_USE[place] = owner
    return Compiled(owner, owner.address, h["work_size"], stats, sites, key, numbers)


_IN_USE: WeakValueDictionary[tuple[str, bytes], Linked] = WeakValueDictionary()
"""Linked code by its key and its numbers."""


def _linked(code: Entry, given: np.ndarray) -> Linked:
    h, numbers = code.header, aligned(given.size)
    numbers[:] = given
    symbols = {SYMBOL: address_of(numbers)}
    if h.get("lanes", 1) > 1:
        from sekant.engine.codegen.lanes import vector_symbols

        symbols |= vector_symbols()
    owner = Linked(code.objects, *h.get("entries", [ENTRY]), symbols=symbols)
    owner.held = numbers
    return owner
