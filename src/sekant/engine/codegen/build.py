"""Expressions -> callable native functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import casadi as ca

from sekant.engine.codegen.llvm import CHUNK, ENTRY, FORMAT, emit
from sekant.engine.codegen.native import BuildStats, NativeFunction
from sekant.engine.codegen.packing import pack_tables
from sekant.engine.codegen.parallel import compile_modules
from sekant.engine.codegen.sites import find_sites, guard_tape
from sekant.engine.codegen.tape import LookupGroup, core_function, lookup_groups, make_tape
from sekant.engine.codegen.vm import Interpreted
from sekant.errors import SekantError, suggest
from sekant.object_code.cache import Entry, ObjectCache, make_key
from sekant.object_code.link import Linked
from sekant.object_code.target import target_identity
from sekant.solvers.common.sites import Site
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
        interpreted = BuildStats(engine, owner.operations, 0, 0.0, 0.0, False)
        code, sites = _Compiled(owner, 0, interpreted, ()), ()
        make_guards = None
    else:
        groups = lookup_groups(lookups, ca.veccat(*dense))
        try:
            function = core_function("sekant", symbols, dense, groups)
        except RuntimeError as error:
            raise SekantError(f"function '{name}': {_first_line(error)}") from error
        store = cache if isinstance(cache, ObjectCache) else _user_cache() if cache else None
        source = _Source(function, tuple(groups), symbols, store, chunk)
        code = source.compile()
        sites = code.sites
        make_guards = partial(_guards, name, source, lookups) if sites else None
    return _handle(name, symbols, [y.shape for y in dense], lookups, code, start, make_guards)


def _handle(
    name: str,
    symbols: Sequence[ca.SX],
    shapes_out: Sequence[tuple[int, int]],
    lookups: Lookups,
    code: _Compiled,
    start: float,
    make_guards: Callable[[], NativeFunction] | None,
) -> NativeFunction:
    return NativeFunction(
        name,
        code.owner.address,
        code.work_size,
        tuple(x.shape for x in symbols),
        tuple(shapes_out),
        tuple(_symbol_name(x, i) for i, x in enumerate(symbols)),
        pack_tables(lookups),
        replace(code.stats, seconds=time.perf_counter() - start),
        code.owner,
        code.sites,
        make_guards,
    )


def _guards(name: str, source: _Source, lookups: Lookups) -> NativeFunction:
    start = time.perf_counter()
    code = source.compile(guards=True)
    return _handle(f"{name}.guards", source.symbols, [(len(code.sites), 1)], lookups, code, start, None)


@dataclass(frozen=True)
class _Compiled:
    owner: Any
    work_size: int
    stats: BuildStats
    sites: tuple[Site, ...]


@dataclass(frozen=True)
class _Source:
    """What a function is compiled from, and with it the function of its guards."""

    function: ca.Function
    groups: tuple[LookupGroup, ...]
    symbols: list[ca.SX]
    store: ObjectCache | None
    chunk: int

    def compile(self, guards: bool = False) -> _Compiled:
        key = ""
        if self.store is not None:
            key = self._key(guards)
            entry = self.store.load(key)
            if entry is not None:
                h = entry.header
                stats = BuildStats("llvm", h["operations"], h["chunks"], 0.0, 0.0, True)
                sites = tuple(Site(*numbers) for numbers in h["sites"])
                return _Compiled(Linked(entry.objects, ENTRY), h["work_size"], stats, sites)
        start = time.perf_counter()
        tape = make_tape(self.function, self.groups)
        found = find_sites(tape, [_element_names(x) for x in self.symbols])
        if guards:
            tape, found = guard_tape(tape, found)
        code = emit(tape, self.chunk, sites=found)
        objects = compile_modules(code.modules)
        seconds = time.perf_counter() - start
        if self.store is not None:
            header = {
                "operations": tape.operations,
                "chunks": code.chunks,
                "work_size": code.work_size,
                "sites": [astuple(site) for site in found.sites],
            }
            self.store.store(key, Entry(header, tuple(objects)))
        stats = BuildStats("llvm", tape.operations, code.chunks, 0.0, seconds, False)
        return _Compiled(Linked(objects, ENTRY), code.work_size, stats, found.sites)

    def _key(self, guards: bool) -> str:
        """All that the object code depends on; made from CasADi's own form of the function, in milliseconds."""
        shapes = repr([(g.shape, [n.order for n in g.nodes]) for g in self.groups])
        settings = f"{__version__} {FORMAT} {self.chunk} {ca.CasadiMeta.version()} {guards}"
        return make_key([settings, target_identity(), shapes, self.function.serialize()])


def _element_names(symbols: ca.SX) -> list[str]:
    return [element.name() for element in ca.vertsplit(ca.vec(symbols))] if symbols.numel() else []


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
