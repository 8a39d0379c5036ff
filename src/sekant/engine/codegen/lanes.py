"""Tape -> LLVM IR text in which every value is a vector of lanes: several instances of a model are computed at once.

Element j of an array is L adjacent doubles, one per lane, and so is each number of the code, which operations
then read from memory directly; arguments in `shared` are the same in all lanes and stored once. Arithmetic
acts on vectors. Functions of the C library come from its vector version if the machine has one (libmvec of
glibc, accurate to 4 units in the last place), else they are called lane by lane. Switches decide separately
in each lane; a jump skips what no lane needs.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from sekant.engine.codegen.lane_lookups import LaneLookup, lane_search
from sekant.engine.codegen.layout import ChunkLayout
from sekant.engine.codegen.linking import SYMBOL
from sekant.engine.codegen.llvm import CHUNKS_PER_MODULE, Code, entry_text
from sekant.engine.codegen.operations import (
    DECLARATIONS,
    ERFINV,
    LIBRARY,
    PURE,
    lane_instructions,
    power,
    vectorized,
)
from sekant.engine.codegen.regions import find_regions
from sekant.engine.codegen.sites import TapeSites, find_sites
from sekant.engine.codegen.tape import CONST, OPERATION_POW, Tape
from sekant.engine.codegen.writer import ChunkWriter
from sekant.errors import SekantError
from sekant.object_code.link import ENTRY
from sekant.object_code.target import Target

LANES = (2, 4, 8)
LANE_FORMAT = 5
"""Increase with every change that affects only generated code in lanes; see `FORMAT`."""
_VECTOR_LIBRARY = "libmvec.so.1"
_WIDTH = 4  # lanes of the functions used from it: those of AVX2; wider vectors are split in halves


@cache
def vector_symbols() -> dict[str, int]:
    """Addresses of the vector functions of this machine, by name; empty if there are none."""
    import llvmlite.binding as llvm

    if not llvm.get_host_cpu_features().get("avx2", False):
        return {}
    try:
        library = ctypes.CDLL(_VECTOR_LIBRARY)
    except OSError:
        return {}
    found = {}
    for name, count in LIBRARY.items():
        symbol = f"_ZGVdN{_WIDTH}{'v' * count}_{name}"
        try:
            address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        except AttributeError:
            continue
        if address:
            found[symbol] = address
    return found


def emit_lanes(
    tape: Tape,
    lanes: int,
    shared: Collection[int],
    chunk: int,
    numbers: Mapping[int, int] | None = None,
    entry: str = ENTRY,
    target: Target | None = None,
    skips: bool = True,
) -> Code:
    """LLVM IR of a tape in lanes, with the signature of `sekant.native_call`; all sites are free. `target`: this
    processor unless given; code for another one does not call vector functions. `skips` as for `emit`."""
    if lanes not in LANES:
        raise SekantError(f"code is made for {', '.join(map(str, LANES))} lanes (got {lanes})")
    sites = find_sites(tape)
    regions = find_regions(tape, TapeSites(), alone=False) if skips else None
    layout = ChunkLayout(tape, chunk, regions, entry)
    writers = [_LaneWriter(tape, sites, layout, c, numbers or {}, lanes, shared) for c in range(layout.count)]
    texts = [writer.text() for writer in writers]
    modules = []
    for first in range(0, layout.count, CHUNKS_PER_MODULE):
        body = texts[first : first + CHUNKS_PER_MODULE]
        if first == 0:
            names = [f"{entry}.{c}" for c in range(layout.count)]
            calls = [f"@{name}(ptr %arg, ptr %res, ptr %w)" for name in names]
            body = [*body, entry_text(entry, calls, names[CHUNKS_PER_MODULE:])]
        text = "\n".join(body)
        helpers = lane_search(lanes) if f"@sekant.rows{lanes}" in text else ""
        used = sorted(set(re.findall(rf"@sekant\.v{lanes}\.([\w.]+)\(", text)))
        helpers += ERFINV if "sekant.erfinv" in used else ""
        helpers += "".join(_function(name, LIBRARY[name], lanes, target is None) for name in used)
        vector = sorted(set(re.findall(rf"@(llvm\.\w+\.v{lanes}f64)\((.*)\)", text)))
        helpers += "".join(_intrinsic(name, arguments.count("<"), lanes) for name, arguments in vector)
        if "@llvm.vector.reduce.or." in text:
            helpers += f"declare i1 @llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1>)\n"
        helpers += f"@{SYMBOL} = external constant [{lanes * len(numbers)} x double]\n" if numbers else ""
        modules.append(f"{DECLARATIONS}\n{_once(helpers)}\n{text}\n")
    return Code(tuple(modules), lanes * layout.work_size, layout.count)


def _once(text: str) -> str:
    """Declarations without duplicates."""
    seen: set[str] = set()
    lines = []
    for line in text.splitlines():
        if line.startswith("declare") and line in seen:
            continue
        seen.add(line)
        lines.append(line)
    return "\n".join(lines)


def _intrinsic(name: str, count: int, lanes: int) -> str:
    return f"declare <{lanes} x double> @{name}({', '.join([f'<{lanes} x double>'] * count)})\n"


def _function(name: str, count: int, lanes: int, whole: bool) -> str:
    """A function of the C library on all lanes; `whole`: by its vector version, if this machine has one."""
    kind = f"<{lanes} x double>"
    symbol = f"_ZGVdN{_WIDTH}{'v' * count}_{name}"
    parameters = ", ".join(f"{kind} %x{k}" for k in range(count))
    head = f"define internal {kind} @sekant.v{lanes}.{name}({parameters}) {PURE} {{\n"
    if whole and symbol in vector_symbols() and lanes >= _WIDTH:
        body, outside = _by_halves(symbol, count, lanes)
    else:
        body, outside = _by_lanes(name, count, lanes), ""
    return f"{outside}{head}{body}}}\n"


def _by_lanes(name: str, count: int, lanes: int) -> str:
    lines, kind, last = [], f"<{lanes} x double>", "undef"
    for i in range(lanes):
        lines += [f" %a{i}.{k} = extractelement {kind} %x{k}, i64 {i}" for k in range(count)]
        arguments = ", ".join(f"double %a{i}.{k}" for k in range(count))
        lines.append(f" %y{i} = call double @{name}({arguments})")
        lines.append(f" %r{i} = insertelement {kind} {last}, double %y{i}, i64 {i}")
        last = f"%r{i}"
    return "\n".join([*lines, f" ret {kind} {last}\n"])


def _by_halves(symbol: str, count: int, lanes: int) -> tuple[str, str]:
    kind, part = f"<{lanes} x double>", f"<{_WIDTH} x double>"
    outside = f"declare {part} @{symbol}({', '.join([part] * count)}) {PURE}\n"
    if lanes == _WIDTH:
        arguments = ", ".join(f"{kind} %x{k}" for k in range(count))
        return f" %y = call {kind} @{symbol}({arguments})\n ret {kind} %y\n", outside
    lines = []
    for half in range(2):
        mask = ", ".join(f"i32 {_WIDTH * half + i}" for i in range(_WIDTH))
        for k in range(count):
            lines.append(
                f" %a{half}.{k} = shufflevector {kind} %x{k}, {kind} undef, <{_WIDTH} x i32> <{mask}>"
            )
        arguments = ", ".join(f"{part} %a{half}.{k}" for k in range(count))
        lines.append(f" %y{half} = call {part} @{symbol}({arguments})")
    mask = ", ".join(f"i32 {i}" for i in range(lanes))
    lines.append(f" %y = shufflevector {part} %y0, {part} %y1, <{lanes} x i32> <{mask}>\n ret {kind} %y\n")
    return "\n".join(lines), outside


class _LaneWriter(ChunkWriter):
    """Text of one chunk in lanes: operations on vectors, lookups by `sekant.engine.codegen.lane_lookups`."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.found: dict[int, LaneLookup] = {}

    def operation(self, number: int, name: str) -> str:
        op = self.op[number]
        a, b = (self.operand(n[number]) for n in (self.a, self.b))
        if op in OPERATION_POW and self.op[self.b[number]] == CONST:
            text = power(name, "{a}", float(self.tape.constant[self.b[number]]))
            if text is not None:
                return vectorized(text, self.lanes).replace("{a}", a)
        return lane_instructions(op, self.lanes, name, a, b)

    def condition(self, name: str, kind: str, number: int) -> str:
        """Whether a value is nonzero in any lane; where all sites are free, there are no other conditions."""
        n = self.lanes
        self.lines += [
            f"{name}.each = fcmp une {self.kind} {self.operand(number)}, zeroinitializer",
            f"{name} = call i1 @llvm.vector.reduce.or.v{n}i1(<{n} x i1> {name}.each)",
        ]
        return name

    def lookup(self, k: int, result: int) -> str:
        code = self.found.get(k)
        if code is None:
            lookup = self.tape.lookups[k]
            self.array("arg", self.tables)
            vectors = [self.operand(number) for number in lookup.arguments]
            code = self.found[k] = LaneLookup(f"k{k}", lookup, vectors, self.lanes)
        name = code.result(result)
        for lines, more in ((self.head, code.head), (self.lines, code.lines)):
            lines.extend(more)
            more.clear()
        return name
