"""Tape -> LLVM IR text in which every value is a vector of lanes: as many instances of a model at once.

Element j of an array is L doubles side by side, one a lane; arguments in `shared` are the same in all lanes and
stand as they are. Arithmetic becomes that of vectors. Functions of the C library are taken from its vector library
where the machine has one (libmvec of glibc, to 4 units in the last place), else lane by lane. Pieces of tables are
found lane by lane. Switches decide in each lane for itself.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Collection, Mapping
from functools import cache

from sekant.engine.codegen.llvm import CHUNKS_PER_MODULE, FREE, ChunkWriter, Code, Layout, entry_text
from sekant.engine.codegen.lookup_ir import SEARCH, LookupCode
from sekant.engine.codegen.numbers import SYMBOL
from sekant.engine.codegen.operations import DECLARATIONS, ERFINV, LIBRARY, PURE, instructions, literal, power
from sekant.engine.codegen.sites import TapeSites, find_sites
from sekant.engine.codegen.tape import CONST, INPUT, OPERATION_POW, Tape, TapeLookup
from sekant.errors import SekantError

LANES = (2, 4, 8)
_NUMBER = re.compile(r"(?<![\w.%])(-?\d+\.\d+|0x[0-9A-F]{16})(?![\w.])")
_CALL = re.compile(
    r"@(" + "|".join(re.escape(name) for name in sorted(LIBRARY, key=len, reverse=True)) + r")\("
)
_VECTOR_LIBRARY = "libmvec.so.1"
_WIDTH = 4  # lanes of the functions that are taken from it: those of AVX2, wider vectors by halves


@cache
def vector_symbols() -> dict[str, int]:
    """Addresses of the vector functions of this machine, by name; empty where there are none."""
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


def vectorized(text: str, lanes: int) -> str:
    """Instructions on doubles as instructions on vectors of them."""
    text = re.sub(r"\bdouble\b", f"<{lanes} x double>", text)
    text = _NUMBER.sub(r"splat (double \1)", text)
    text = re.sub(r"\bi1\b", f"<{lanes} x i1>", text)
    text = text.replace(".f64(", f".v{lanes}f64(")
    return _CALL.sub(rf"@sekant.v{lanes}.\1(", text)


def emit_lanes(
    tape: Tape, lanes: int, shared: Collection[int], chunk: int, numbers: Mapping[int, int] | None = None
) -> Code:
    """LLVM IR of a tape in lanes, with the signature of `sekant.native_call`; all sites are free."""
    if lanes not in LANES:
        raise SekantError(f"code is made for {', '.join(map(str, LANES))} lanes (got {lanes})")
    sites, layout = find_sites(tape), Layout(tape, chunk)
    writers = [_LaneWriter(tape, sites, layout, c, numbers or {}, lanes, shared) for c in range(layout.count)]
    texts = [writer.text() for writer in writers]
    modules = []
    for first in range(0, layout.count, CHUNKS_PER_MODULE):
        body = texts[first : first + CHUNKS_PER_MODULE]
        if first == 0:
            body = [*body, entry_text(layout.count, CHUNKS_PER_MODULE)]
        text = "\n".join(body)
        helpers = SEARCH + FREE if "@sekant.row" in text else ""
        used = sorted(set(re.findall(rf"@sekant\.v{lanes}\.([\w.]+)\(", text)))
        helpers += ERFINV if "sekant.erfinv" in used else ""
        helpers += "".join(_function(name, LIBRARY[name], lanes) for name in used)
        vector = sorted(set(re.findall(rf"@(llvm\.\w+\.v{lanes}f64)\((.*)\)", text)))
        helpers += "".join(_intrinsic(name, arguments.count("<"), lanes) for name, arguments in vector)
        helpers += f"@{SYMBOL} = external constant [{len(numbers)} x double]\n" if numbers else ""
        modules.append(f"{DECLARATIONS}\n{_once(helpers)}\n{text}\n")
    return Code(tuple(modules), lanes * layout.work_size, layout.count)


def _once(text: str) -> str:
    """Declarations that stand several times, once."""
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


def _function(name: str, count: int, lanes: int) -> str:
    """A function of the C library on all lanes."""
    kind = f"<{lanes} x double>"
    symbol = f"_ZGVdN{_WIDTH}{'v' * count}_{name}"
    parameters = ", ".join(f"{kind} %x{k}" for k in range(count))
    head = f"define internal {kind} @sekant.v{lanes}.{name}({parameters}) {PURE} {{\n"
    if symbol in vector_symbols() and lanes >= _WIDTH:
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
    def __init__(
        self,
        tape: Tape,
        sites: TapeSites,
        layout: Layout,
        number: int,
        numbers: Mapping[int, int],
        lanes: int,
        shared: Collection[int],
    ):
        super().__init__(tape, sites, layout, number, numbers)
        self.lanes, self.shared, self.kind = lanes, frozenset(shared), f"<{lanes} x double>"
        self.results: dict[int, list[LookupCode]] = {}
        self.across: dict[int, _AcrossLanes] = {}

    def store(self, name: str, base: str, offset: int) -> None:
        self.count += 1
        self.lines.append(f"%s{self.count} = getelementptr double, ptr {base}, i64 {self.lanes * offset}")
        self.lines.append(f"store {self.kind} {name}, ptr %s{self.count}, align 8")

    def load(self, base: str, offset: int) -> str:
        self.count += 1
        self.lines.append(f"%s{self.count} = getelementptr double, ptr {base}, i64 {self.lanes * offset}")
        self.lines.append(f"%l{self.count} = load {self.kind}, ptr %s{self.count}, align 8")
        return f"%l{self.count}"

    def load_shared(self, base: str, offset: int) -> str:
        """A double that is the same in all lanes."""
        scalar, n = super().load(base, offset), self.count
        self.lines.append(f"%i{n} = insertelement {self.kind} undef, double {scalar}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        self.lines.append(f"%b{n} = shufflevector {self.kind} %i{n}, {self.kind} undef, {zeros}")
        return f"%b{n}"

    def operand(self, number: int) -> str:
        if number < 0:
            return ""
        name = self.names.get(number)
        if name is None:
            op = self.op[number]
            if op == CONST and number not in self.numbers:
                return f"splat (double {literal(self.tape.constant[number])})"
            if op == CONST:
                name = self.load_shared(f"@{SYMBOL}", self.numbers[number])
            elif op == INPUT and self.a[number] in self.shared:
                name = self.load_shared(self.array("arg", self.a[number]), self.b[number])
            elif op == INPUT:
                name = self.load(self.array("arg", self.a[number]), self.b[number])
            else:
                name = self.load("%w", self.layout.slot[number])
            self.names[number] = name
        return name

    def operation(self, number: int, name: str) -> str:
        op = self.op[number]
        a, b = (self.operand(n[number]) for n in (self.a, self.b))
        text = None
        if op in OPERATION_POW and self.op[self.b[number]] == CONST:
            text = power(name, "{a}", float(self.tape.constant[self.b[number]]))
        text = vectorized(text or instructions(op, name, "{a}", "{b}"), self.lanes)
        return text.replace("{a}", a).replace("{b}", b)

    def lookup(self, k: int, result: int) -> str:
        lookup = self.tape.lookups[k]
        if lookup.shape.components == 1 and len(lookup.shape.powers) == 1:
            return self.lookup_across(k, result)
        codes = self.results.get(k)
        if codes is None:
            self.array("arg", self.tables)
            free = ["@sekant.free"] * len(lookup.arguments)
            vectors = [self.operand(number) for number in lookup.arguments]
            codes = self.results[k] = []
            for lane in range(self.lanes):
                arguments = []
                for i, vector in enumerate(vectors):
                    name = f"%k{k}.x{i}.{lane}"
                    self.lines.append(f"{name} = extractelement {self.kind} {vector}, i64 {lane}")
                    arguments.append(name)
                codes.append(LookupCode(f"k{k}.{lane}", lookup, arguments, free))
        last = "undef"
        for lane, code in enumerate(codes):
            value = code.result(result)
            self.lines.extend(code.lines)
            code.lines.clear()
            name = f"%k{k}.r{result}.{lane}"
            self.lines.append(f"{name} = insertelement {self.kind} {last}, double {value}, i64 {lane}")
            last = name
        return last

    def lookup_across(self, k: int, result: int) -> str:
        """A table with one component: pieces are found lane by lane, their polynomials evaluated in all lanes."""
        code = self.across.get(k)
        if code is None:
            lookup = self.tape.lookups[k]
            self.array("arg", self.tables)
            vector = self.operand(lookup.arguments[0])
            code = self.across[k] = _AcrossLanes(f"k{k}", lookup, vector, self.lanes)
        name = code.vectors[result]
        self.lines.extend(code.lines)
        code.lines.clear()
        return name


class _AcrossLanes(LookupCode):
    """Lookup of a table with one component in one variable, whose values are vectors of lanes."""

    def __init__(self, prefix: str, lookup: TapeLookup, vector: str, lanes: int):
        self.lanes = lanes
        super().__init__(prefix, lookup, [vector], ["@sekant.free"])

    def value(self, x: float) -> str:
        return f"splat (double {literal(x)})"

    def one(self, arguments: list[str]) -> None:
        self.type = f"<{self.lanes} x double>"
        (periodic,), (powers,) = self.lookup.shape.periodic, self.lookup.shape.powers
        axis = self.pointer(self.table, 2)
        rows = self.pointer("%T", self.load("i64", self.table))
        u, laps, terms = "undef", "undef", ["undef"] * powers
        for lane in range(self.lanes):
            x = self.new(f"extractelement {self.type} {arguments[0]}, i64 {lane}")
            row, local, lap = self.locate(axis, x, periodic, self.modes[0])
            base = self.pointer(rows, self.new(f"mul i64 {row}, {powers}"))
            found = [self.load("double", self.pointer(base, p)) for p in range(powers)]
            u = self.into(u, local, lane)
            laps = self.into(laps, lap, lane) if periodic else laps
            terms = [self.into(term, value, lane) for term, value in zip(terms, found, strict=True)]
        self.vectors = []
        for (order,) in self.lookup.orders:
            y = self.polynomial(terms, u, order)
            if periodic and order == 0:
                one = self.load("double", self.pointer(self.table, 1))
                growth = "undef"
                for lane in range(self.lanes):
                    growth = self.into(growth, one, lane)
                growth = self.new(f"fmul contract {self.type} {laps}, {growth}")
                y = self.new(f"fadd contract {self.type} {y}, {growth}")
            self.vectors.append(y)

    def into(self, vector: str, value: str, lane: int) -> str:
        return self.new(f"insertelement {self.type} {vector}, double {value}, i64 {lane}")
