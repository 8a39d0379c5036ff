"""Expressions -> callable native functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from sekant.cache.store import Cache, Entry, make_key, user_cache
from sekant.engine.codegen.lanes import LANE_FORMAT, emit_lanes, vector_symbols
from sekant.engine.codegen.linking import Compiled, interpreted, link
from sekant.engine.codegen.llvm import CHUNK, FORMAT, Code, emit
from sekant.engine.codegen.native import LARGE, BuildStats, NativeFunction
from sekant.engine.codegen.packing import pack_tables
from sekant.engine.codegen.parallel import compile_modules
from sekant.engine.codegen.sites import TapeSites, find_sites
from sekant.engine.codegen.tangents import Tangent, TangentShape, emit_tangents, tangent_lanes
from sekant.engine.codegen.tape import LookupGroup, Tape, core_function, lookup_groups, make_tape
from sekant.engine.codegen.tape_parts import guard_tape, numbers_of, shape_key, values_of
from sekant.engine.codegen.together import PartShape, TapePart, emit_together, entry_of, shapes_of
from sekant.errors import SekantError, suggest
from sekant.object_code.link import ENTRY
from sekant.object_code.portable import PortableCode
from sekant.object_code.target import Target, optimization, tape_optimization, target_identity
from sekant.progress_bar import doing
from sekant.solvers.common.sites import Site
from sekant.tables.lookups import Lookups
from sekant.version import __version__

ENGINES = ("llvm", "casadi")
_WORDS = {"rhs": "equations of motion", "rhs_work": "equations of motion", "driven": "driven mechanism"}
"""Names of functions in progress messages, where the internal names are not clear."""


def build(
    name: str,
    inputs: Sequence[ca.SX],
    outputs: Sequence[ca.SX],
    lookups: Lookups | None = None,
    engine: str = "llvm",
    cache: bool | Cache = True,
    chunk: int = CHUNK,
    lanes: int = 1,
    shared: Collection[int] = (),
    quick: bool = False,
    seldom: bool = False,
    tangents: Sequence[Tangent] = (),
    linked: bool = True,
) -> NativeFunction:
    """A native function of the symbols `inputs` with the values of `outputs`, both dense.

    `lookups` defines the table values among the symbols. A sparse output becomes dense; for the nonzeros of a
    large matrix alone, pass them as a column. `engine` "casadi" runs CasADi's interpreter behind the same
    interface: slow, without compilation, as an independent check. `cache`: keep the code on disk, in the
    user's directory or a given one. `chunk`: operations in one function of the generated code. `lanes`:
    instances that the function computes at once (see `lanes`), of which inputs with a number in `shared` are
    the same for all. `quick`: not optimized, for functions that are called so rarely that optimizing would
    take longer than all calls. `seldom`: the same for large functions that are called only once per row or
    step. `tangents`: entries of the outputs that are directional derivatives (only engine "llvm" without
    `lanes`). `linked`: False for code of other targets, which cannot be called here.
    """
    start = time.perf_counter()
    if engine not in ENGINES:
        raise SekantError(f"function '{name}': unknown engine '{engine}'; {suggest(engine, ENGINES)}")
    lookups = lookups if lookups is not None else Lookups()
    symbols = [_checked(name, i, x) for i, x in enumerate(inputs)]
    dense = [ca.densify(ca.SX(y)) for y in outputs]
    if engine == "casadi":
        code, make_guards, portable = interpreted(lookups.staged(symbols, dense)), None, None
    else:
        groups = lookup_groups(
            lookups, ca.veccat(*dense, *(ca.veccat(t.directions, t.results) for t in tangents))
        )
        side = tangent_lanes()
        given = [*symbols, *(t.seeds for t in tangents)]
        wanted = [*dense, *(t.spread(side) for t in tangents), *(ca.densify(t.results) for t in tangents)]
        try:
            function = core_function("sekant", given, wanted, groups)
        except RuntimeError as error:
            raise SekantError(f"function '{name}': {_first_line(error)}") from error
        store = cache if isinstance(cache, Cache) else user_cache() if cache else None
        quick = quick or (seldom and function.n_instructions() > LARGE)
        level = 0 if quick else tape_optimization() if lanes == 1 else optimization()
        shapes = tuple(TangentShape.of(t, side) for t in tangents)
        settings = (store, chunk, lanes, tuple(sorted(shared)), level, shapes)
        source = _Source(name, function, tuple(groups), given, *settings)
        code = source.compile() if linked else source.unlinked()
        make_guards = partial(_guards, name, source, lookups) if code.sites and not tangents else None
        portable = source.portable
    handle = _handle(name, symbols, [y.shape for y in dense], lookups, code, start, make_guards, portable)
    if lanes == 1:
        return handle
    lanes_in = tuple(
        (rows * (1 if i in shared else lanes), c) for i, (rows, c) in enumerate(handle.shapes_in)
    )
    lanes_out = tuple((rows * lanes, columns) for rows, columns in handle.shapes_out)
    return replace(handle, shapes_in=lanes_in, shapes_out=lanes_out, sites=(), make_guards=None)


def build_together(
    name: str, parts: Sequence[TapePart], lookups: Lookups, cache: bool = True
) -> list[NativeFunction] | None:
    """Functions that share code (see `together`), without optimization; None if they repeat blocks, which alone are
    less code. The inputs of the first part contain all symbols. `name`: of the whole, for progress messages."""
    start = time.perf_counter()
    parts = [TapePart(one.name, one.inputs, [ca.densify(ca.SX(y)) for y in one.outputs]) for one in parts]
    symbols = [_checked(parts[0].name, i, x) for i, x in enumerate(parts[0].inputs)]
    dense = [y for one in parts for y in one.outputs]
    groups = lookup_groups(lookups, ca.veccat(*dense))
    function = core_function("sekant", symbols, dense, groups)
    store = user_cache() if cache else None
    source = _Source(name, function, groups, symbols, store, CHUNK, level=0, parts=shapes_of(parts))
    code = source.compile()
    if code is None:
        return None
    found = []
    for k, part in enumerate(parts):
        own = replace(code, address=code.addresses[entry_of(k)], entry=entry_of(k))
        shapes = [y.shape for y in part.outputs]
        portable = partial(_portable, part, lookups)
        found.append(_handle(part.name, part.inputs, shapes, lookups, own, start, None, portable))
    return found


def _portable(part: TapePart, lookups: Lookups, target: Target) -> PortableCode:
    return build(part.name, part.inputs, part.outputs, lookups, cache=False, linked=False).portable(target)


def _handle(
    name: str,
    symbols: Sequence[ca.SX],
    shapes_out: Sequence[tuple[int, int]],
    lookups: Lookups,
    code: Compiled,
    start: float,
    make_guards: Callable[[], NativeFunction] | None,
    portable: Callable[[Target], PortableCode] | None,
) -> NativeFunction:
    return NativeFunction(
        name,
        code.address,
        code.work_size,
        tuple(x.shape for x in symbols),
        tuple(shapes_out),
        tuple(_symbol_name(x, i) for i, x in enumerate(symbols)),
        pack_tables(lookups),
        replace(code.stats, seconds=time.perf_counter() - start),
        code.owner,
        code.sites,
        make_guards,
        lookups.tables,
        code.key,
        code.numbers,
        portable,
        code.entry,
    )


def _guards(name: str, source: _Source, lookups: Lookups) -> NativeFunction:
    """These guards are called once per step, so those of a large function are not optimized."""
    start = time.perf_counter()
    source = replace(source, level=0) if source.function.n_instructions() > LARGE else source
    code = source.compile(guards=True)
    portable = partial(source.portable, guards=True)
    shape = [(len(code.sites), 1)]
    return _handle(f"{name}.guards", source.symbols, shape, lookups, code, start, None, portable)


@dataclass(frozen=True)
class _Source:
    """The source of a function and of the function of its guards."""

    name: str
    function: ca.Function
    groups: tuple[LookupGroup, ...]
    symbols: list[ca.SX]
    store: Cache | None
    chunk: int
    lanes: int = 1
    shared: tuple[int, ...] = ()
    level: int = 2
    tangents: tuple[TangentShape, ...] = ()
    parts: tuple[PartShape, ...] = ()

    def compile(self, guards: bool = False) -> Any:
        """The function from the cache, under the key of these expressions or of others that differ only in
        numbers; otherwise compiled. None if parts do not pay."""
        key = "" if self.store is None else self._key(guards)
        known = None if self.store is None else self.store.load(key)
        if known is not None and self.store is not None:
            code = self.store.load(known.header["code"])
            if code is not None:
                sites = tuple(Site(*numbers) for numbers in known.header["sites"])
                numbers = np.frombuffer(known.objects[0]).copy()
                return link(code, self._cache_key(known.header["code"]), numbers, sites, 0.0, True)
        with doing(f"compiling {_WORDS.get(self.name, self.name.replace('_', ' '))}"):
            return self._compiled(key, guards)

    def unlinked(self) -> Compiled:
        """The function without object code."""
        tape, found = self._tape(False)
        made = self._emitted(tape, found, numbers_of(tape), False)
        stats = BuildStats("llvm", tape.operations, made.chunks, 0.0, 0.0, False)
        return Compiled(None, 0, made.work_size, stats, found.sites)

    def portable(self, target: Target, guards: bool = False) -> PortableCode:
        """The code for another target."""
        tape, found = self._tape(guards)
        numbers = numbers_of(tape)
        made = self._emitted(tape, found, numbers, guards, target)
        values = np.repeat(values_of(tape, numbers), self.lanes)
        return PortableCode(made.modules, values, made.work_size)

    def _emitted(
        self,
        tape: Tape,
        sites: TapeSites,
        numbers: dict[int, int],
        guards: bool,
        target: Target | None = None,
    ) -> Code:
        skips = self.level > 0
        if self.lanes > 1:
            return emit_lanes(tape, self.lanes, self.shared, self.chunk, numbers, target=target, skips=skips)
        if self.tangents and not guards:
            side = tangent_lanes()
            return emit_tangents(tape, self.tangents, side, self.chunk, sites, numbers, target, skips)
        return emit(tape, self.chunk, sites=sites, numbers=numbers, target=target, skips=skips)

    def _tape(self, guards: bool) -> tuple[Tape, TapeSites]:
        tape = make_tape(self.function, self.groups)
        if self.parts:
            return tape, TapeSites(axes=tuple((-1,) * len(one.shape.powers) for one in tape.lookups))
        found = find_sites(tape, [_element_names(x) for x in self.symbols])
        return guard_tape(tape, found) if guards else (tape, found)

    def _compiled(self, key: str, guards: bool) -> Compiled | None:
        """Compile the function, unless there is code of the same operations on other numbers."""
        start = time.perf_counter()
        tape, found = self._tape(guards)
        numbers = numbers_of(tape)
        values = np.repeat(values_of(tape, numbers), self.lanes)
        shape = make_key(
            [self._settings(), shape_key(tape, numbers), repr((found.switches, found.axes, found.guards))]
        )
        code = None if self.store is None else self.store.load(shape)
        from_cache = code is not None
        if code is None:
            if self.parts:
                made = emit_together(tape, self.parts, self.chunk, found, numbers)
            else:
                made = self._emitted(tape, found, numbers, guards)
            if made is None:
                return None
            header = {
                "operations": tape.operations,
                "chunks": made.chunks,
                "work_size": made.work_size,
                "lanes": tangent_lanes() if self.tangents else self.lanes,
                "entries": [entry_of(k) for k in range(len(self.parts))] or [ENTRY],
            }
            code = Entry(header, tuple(compile_modules(made.modules, self.level)))
        if self.store is not None:
            if not from_cache:
                self.store.store(shape, code)
            header = {"code": shape, "sites": [astuple(site) for site in found.sites]}
            self.store.store(key, Entry(header, (values.tobytes(),)))
        seconds = 0.0 if from_cache else time.perf_counter() - start
        return link(code, self._cache_key(shape), values, found.sites, seconds, from_cache)

    def _cache_key(self, shape: str) -> str:
        """Key of the code in the user's cache; empty if another cache, or none, is used."""
        own = None if self.store is None else user_cache()
        return shape if own is not None and own.directory == self.store.directory else ""  # type: ignore[union-attr]

    def _settings(self) -> str:
        """Everything on which the object code depends, in addition to the expressions."""
        lanes = repr(self.parts) if self.parts else ""
        if self.lanes > 1 or self.tangents:
            side = (self.lanes, tangent_lanes(), self.tangents)
            lanes = f"{side} {LANE_FORMAT} {self.shared} {sorted(vector_symbols())}"
        compiler = f"{ca.CasadiMeta.version()} {target_identity()} {self.level}"
        return f"{__version__} {FORMAT} {self.chunk} {compiler} {lanes}"

    def _key(self, guards: bool) -> str:
        """Cache key of the expressions, numbers included; from CasADi's own serialization, in milliseconds."""
        shapes = repr([(g.shape, [n.order for n in g.nodes]) for g in self.groups])
        return make_key([self._settings(), f"{guards}", shapes, self.function.serialize()])


def _element_names(symbols: ca.SX) -> list[str]:
    return [element.name() for element in ca.vertsplit(ca.vec(symbols))] if symbols.numel() else []


def _checked(name: str, i: int, symbols: ca.SX) -> ca.SX:
    symbols = ca.SX(symbols)
    if symbols.nnz() != symbols.numel() or not symbols.is_valid_input():
        raise SekantError(f"function '{name}': input {i} must consist of symbols and be dense")
    return symbols


def _symbol_name(symbols: ca.SX, i: int) -> str:
    """The name with which the symbols were created: CasADi appends _0, _1, ... to that of a vector."""
    if symbols.numel() == 0:
        return f"input{i}"
    first = ca.vec(symbols)[0].name()
    return first.removesuffix("_0") if symbols.numel() > 1 else first


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
