"""Expressions -> callable native functions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca

from sekant.engine.codegen.llvm import CHUNK, ENTRY, FORMAT, emit
from sekant.engine.codegen.native import BuildStats, NativeFunction
from sekant.engine.codegen.packing import pack_tables
from sekant.engine.codegen.parallel import compile_modules
from sekant.engine.codegen.tape import LookupGroup, core_function, lookup_groups, make_tape
from sekant.engine.codegen.vm import Interpreted
from sekant.errors import SekantError, suggest
from sekant.object_code.cache import Entry, ObjectCache, make_key
from sekant.object_code.link import Linked
from sekant.object_code.target import target_identity
from sekant.tables.lookups import Lookups
from sekant.version import __version__

ENGINES = ("llvm", "casadi")


def build(
    name: str,
    inputs: Sequence[ca.SX],
    outputs: Sequence[ca.SX],
    lookups: Lookups | None = None,
    engine: str = "llvm",
    cache: bool | ObjectCache = True,
    chunk: int = CHUNK,
) -> NativeFunction:
    """A native function of the symbols `inputs` with the values of `outputs`, both dense.

    `lookups` defines the table values among the symbols. A sparse output becomes dense; for the nonzeros of a
    large matrix alone, pass them as a column. `engine` "casadi" runs CasADi's interpreter behind the same
    interface: slow, without compilation, an independent check. `cache`: keep the code on disk, in the user's
    directory or a given one. `chunk`: operations in one function of the generated code.
    """
    start = time.perf_counter()
    if engine not in ENGINES:
        raise SekantError(f"function '{name}': unknown engine '{engine}'; {suggest(engine, ENGINES)}")
    lookups = lookups if lookups is not None else Lookups()
    symbols = [_checked(name, i, x) for i, x in enumerate(inputs)]
    dense = [ca.densify(ca.SX(y)) for y in outputs]
    if engine == "casadi":
        owner: Any = Interpreted(name, symbols, dense, lookups)
        work_size, stats = 0, BuildStats(engine, owner.operations, 0, 0.0, 0.0, False)
    else:
        groups = lookup_groups(lookups, ca.veccat(*dense))
        try:
            function = core_function("sekant", symbols, dense, groups)
        except RuntimeError as error:
            raise SekantError(f"function '{name}': {_first_line(error)}") from error
        store = cache if isinstance(cache, ObjectCache) else _user_cache() if cache else None
        owner, work_size, stats = _compiled(function, groups, store, chunk)
    return NativeFunction(
        name,
        owner.address,
        work_size,
        tuple(x.shape for x in symbols),
        tuple(y.shape for y in dense),
        tuple(_symbol_name(x, i) for i, x in enumerate(symbols)),
        pack_tables(lookups),
        replace(stats, seconds=time.perf_counter() - start),
        owner,
    )


def _compiled(
    function: ca.Function, groups: Sequence[LookupGroup], store: ObjectCache | None, chunk: int
) -> tuple[Linked, int, BuildStats]:
    key = ""
    if store is not None:
        key = _key(function, groups, chunk)
        entry = store.load(key)
        if entry is not None:
            h = entry.header
            stats = BuildStats("llvm", h["operations"], h["chunks"], 0.0, 0.0, True)
            return Linked(entry.objects, ENTRY), h["work_size"], stats
    start = time.perf_counter()
    tape = make_tape(function, groups)
    code = emit(tape, chunk)
    objects = compile_modules(code.modules)
    seconds = time.perf_counter() - start
    if store is not None:
        header = {"operations": tape.operations, "chunks": code.chunks, "work_size": code.work_size}
        store.store(key, Entry(header, tuple(objects)))
    stats = BuildStats("llvm", tape.operations, code.chunks, 0.0, seconds, False)
    return Linked(objects, ENTRY), code.work_size, stats


def _key(function: ca.Function, groups: Sequence[LookupGroup], chunk: int) -> str:
    """All that the object code depends on; made from CasADi's own form of the function, in milliseconds."""
    shapes = repr([(g.shape, [n.order for n in g.nodes]) for g in groups])
    settings = f"{__version__} {FORMAT} {chunk} {ca.CasadiMeta.version()}"
    return make_key([settings, target_identity(), shapes, function.serialize()])


def _checked(name: str, i: int, symbols: ca.SX) -> ca.SX:
    symbols = ca.SX(symbols)
    if symbols.nnz() != symbols.numel() or not symbols.is_valid_input():
        raise SekantError(f"function '{name}': input {i} must consist of symbols and be dense")
    return symbols


def _symbol_name(symbols: ca.SX, i: int) -> str:
    """The name with which the symbols were made: CasADi appends _0, _1, ... to that of a vector."""
    if symbols.numel() == 0:
        return f"input{i}"
    first = ca.vec(symbols)[0].name()
    return first.removesuffix("_0") if symbols.numel() > 1 else first


def _user_cache() -> ObjectCache | None:
    try:
        return ObjectCache()
    except RuntimeError:  # the user has no home directory
        return None


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
