"""LLVM code of lookups in lanes.

The search is that of `sekant.engine.codegen.lookup_ir`, one lane after the other (gathered loads are slower)
unless all are on the piece of the first. Rows and local distances go through memory, from which broadcasting
a number to a register is free. Tables with one component in one variable are evaluated in all lanes at once,
others lane by lane with all components at once, as single runs do; their values are then transposed in blocks
of four.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sekant.engine.codegen.lookup_ir import LookupCode, piece_search
from sekant.engine.codegen.operations import literal
from sekant.engine.codegen.packing import AXIS_HEADER
from sekant.engine.codegen.tape import TapeLookup

_BLOCK = 4
_SEARCH = """
declare i1 @llvm.vector.reduce.and.vLi1(<L x i1>)
define internal void @sekant.rowsL(ptr readonly %axis, <L x double> %x, ptr noalias %rows, ptr noalias %locals)
    noinline nounwind willreturn {
entry:
 %buckets = alloca <L x i32>
 %p1 = getelementptr double, ptr %axis, i64 1
 %p2 = getelementptr double, ptr %axis, i64 2
 %p3 = getelementptr double, ptr %axis, i64 3
 %p4 = getelementptr double, ptr %axis, i64 4
 %p6 = getelementptr i64, ptr %axis, i64 6
 %a1 = load double, ptr %axis
 %scale1 = load double, ptr %p1
 %last1 = load double, ptr %p2
 %low = load double, ptr %p3
 %high = load double, ptr %p4
 %top = load i64, ptr %p6
 SPLAT %a = double %a1
 SPLAT %scale = double %scale1
 SPLAT %last = double %last1
 %origins = getelementptr double, ptr %axis, i64 HEADER
 %skip = add i64 %top, 1
 %starts = getelementptr i64, ptr %origins, i64 %skip
 %distance = fsub <L x double> %x, %a
 %t = fmul <L x double> %distance, %scale
 %positive = fcmp ogt <L x double> %t, zeroinitializer
 %t0 = select <L x i1> %positive, <L x double> %t, <L x double> zeroinitializer
 %inside = fcmp olt <L x double> %t0, %last
 %t1 = select <L x i1> %inside, <L x double> %t0, <L x double> %last
 %whole = fptosi <L x double> %t1 to <L x i32>
 store <L x i32> %whole, ptr %buckets
 store <L x double> %x, ptr %locals, align 8
 br label %lane
lane:
 %l = phi i64 [ 0, %entry ], [ %next, %on ]
 %bp = getelementptr i32, ptr %buckets, i64 %l
 %narrow = load i32, ptr %bp
 %bucket = sext i32 %narrow to i64
 %xp = getelementptr double, ptr %locals, i64 %l
 %x1 = load double, ptr %xp
PIECE
 %rp = getelementptr i64, ptr %rows, i64 %l
 store i64 %row, ptr %rp
 store double %local, ptr %xp
 %is.first = icmp eq i64 %l, 0
 %within = icmp ult i64 %row, %top
 %try = and i1 %is.first, %within
 br i1 %try, label %shared, label %on
shared:
 %ep = getelementptr double, ptr %op, i64 1
 %end1 = load double, ptr %ep
 SPLAT %begin = double %origin
 SPLAT %end = double %end1
 %after = fcmp oge <L x double> %x, %begin
 %before = fcmp olt <L x double> %x, %end
 %in = and <L x i1> %after, %before
 %all = call i1 @llvm.vector.reduce.and.vLi1(<L x i1> %in)
 br i1 %all, label %same, label %on
same:
 SPLAT %each = i64 %row
 store <L x i64> %each, ptr %rows, align 8
 %from = fsub <L x double> %x, %begin
 store <L x double> %from, ptr %locals, align 8
 ret void
on:
 %next = add i64 %l, 1
 %again = icmp ult i64 %next, L
 br i1 %again, label %lane, label %out
out:
 ret void
}
"""


def lane_search(lanes: int) -> str:
    """The search of an axis for all lanes; NaN ends in some row and remains NaN."""
    spread = (
        r" \1.0 = insertelement <L x \2> undef, \2 \3, i64 0\n"
        r" \1 = shufflevector <L x \2> \1.0, <L x \2> undef, <L x i32> zeroinitializer"
    )
    text = re.sub(r" SPLAT (\S+) = (\S+) (\S+)", spread, _SEARCH).replace("HEADER", str(AXIS_HEADER))
    text = text.replace("PIECE", piece_search("%x1", "%lane"))
    return re.sub(
        r"(?<=<)L(?= x )|(?<=rows)L\b|(?<=\.v)L(?=i1)|(?<=%next, )L$", str(lanes), text, flags=re.MULTILINE
    )


class LaneLookup(LookupCode):
    """Text of one lookup in lanes: the arguments and results are vectors of them."""

    def __init__(self, prefix: str, lookup: TapeLookup, vectors: list[str], lanes: int):
        self.lanes, self.lane_type, self.parts = lanes, f"<{lanes} x double>", []
        self.head: list[str] = []
        self.columns: dict[int, list[str]] = {}
        self.together = lookup.shape.components == 1 and len(lookup.shape.powers) == 1
        super().__init__(prefix, lookup, vectors, [])

    def value(self, x: float) -> str:
        return f"splat (double {literal(x)})" if self.together else super().value(x)

    def into(self, vector: str, value: str, lane: int) -> str:
        return self.new(f"insertelement {self.lane_type} {vector}, double {value}, i64 {lane}")

    def spread(self, scalar: str) -> str:
        one = self.into("undef", scalar, 0)
        return self.new(
            f"shufflevector {self.lane_type} {one}, {self.lane_type} undef, <{self.lanes} x i32> zeroinitializer"
        )

    def each(self, vector: str, kind: str = "double") -> list[str]:
        """The elements of a vector."""
        lane_type = f"<{self.lanes} x {kind}>"
        return [self.new(f"extractelement {lane_type} {vector}, i64 {lane}") for lane in range(self.lanes)]

    def room(self, kind: str) -> str:
        """Memory for one number per lane."""
        self.count += 1
        name = f"%{self.prefix}.{self.count}"
        self.head.append(f"{name} = alloca <{self.lanes} x {kind}>, align 64")
        return name

    def numbers(self, kind: str, room: str) -> list[str]:
        return [self.load(kind, self.pointer(room, lane)) for lane in range(self.lanes)]

    def found(self, axis: str, x: str, periodic: bool) -> tuple[list[str], str, str]:
        """The rows, the place of the local distances, and the vector of whole periods (empty if not periodic)."""
        laps = ""
        if periodic:
            a, period = (self.spread(self.load("double", self.pointer(axis, i))) for i in (0, 5))
            ratio = self.new(f"fdiv {self.lane_type} {self.new(f'fsub {self.lane_type} {x}, {a}')}, {period}")
            laps = self.new(f"call {self.lane_type} @llvm.floor.v{self.lanes}f64({self.lane_type} {ratio})")
            x = self.new(f"fsub {self.lane_type} {x}, {self.new(f'fmul {self.lane_type} {laps}, {period}')}")
        rows, local = self.room("i64"), self.room("double")
        self.lines.append(
            f"call void @sekant.rows{self.lanes}(ptr {axis}, {self.lane_type} {x}, ptr {rows}, ptr {local})"
        )
        return self.numbers("i64", rows), local, laps

    def one(self, arguments: list[str]) -> None:
        (periodic,), (powers,) = self.lookup.shape.periodic, self.lookup.shape.powers
        axis = self.pointer(self.table, 1 + self.m)
        rows, local, laps = self.found(axis, arguments[0], periodic)
        data = self.pointer("%T", self.load("i64", self.table))
        starts = [self.pointer(data, self.new(f"mul i64 {row}, {self.m * powers}")) for row in rows]
        if not self.together:
            places = zip(starts, self.numbers("double", local), self._laps(laps), strict=True)
            for start, u, lap in places:
                terms = [self.load(self.type, self.pointer(start, p * self.m)) for p in range(powers)]
                self.parts.append(self._values(terms, self.splat(u), lap and self.splat(lap)))
            return
        pieces = [self.load(f"<{powers} x double>", start) for start in starts]
        terms = self.turned(pieces, powers)
        self.type = self.lane_type
        self.vectors = self._values(terms, self.load(self.lane_type, local), laps)

    def _laps(self, laps: str) -> list[str]:
        return self.each(laps) if laps else [""] * self.lanes

    def _values(self, terms: list[str], u: str, laps: str) -> list[str]:
        """Values of all orders from the coefficients of a piece."""
        found = []
        values = self.polynomials(terms, u, [order for (order,) in self.lookup.orders])
        for (order,) in self.lookup.orders:
            y = values[order]
            if laps and order == 0:
                if self.together:
                    increment = self.spread(self.load("double", self.pointer(self.table, 1)))
                else:
                    increment = self.load(self.type, self.pointer(self.table, 1))
                growth = self.new(f"fmul contract {self.type} {laps}, {increment}")
                y = self.new(f"fadd contract {self.type} {y}, {growth}")
            found.append(y)
        return found

    def both(self, arguments: list[str]) -> None:
        periodic, (k1, k2) = self.lookup.shape.periodic, self.lookup.shape.powers
        rows2 = self.load("i64", self.pointer(self.table, 1))
        axis2 = self.pointer("%T", self.load("i64", self.pointer(self.table, 2)))
        axis1 = self.pointer(self.table, 3)
        row1, local1, _ = self.found(axis1, arguments[0], periodic[0])
        row2, local2, _ = self.found(axis2, arguments[1], periodic[1])
        data = self.pointer("%T", self.load("i64", self.table))
        places = zip(row1, row2, self.numbers("double", local1), self.numbers("double", local2), strict=True)
        for first, second, x1, x2 in places:
            row = self.new(f"add i64 {self.new(f'mul i64 {first}, {rows2}')}, {second}")
            base = self.pointer(data, self.new(f"mul i64 {row}, {self.m * k1 * k2}"))
            self.parts.append(self.of_patch(base, self.splat(x1), self.splat(x2)))

    def numeric(self, arguments: list[str]) -> None:
        """Calls of a function given by its address, lane by lane."""
        each = [self.each(vector) for vector in arguments]
        for lane in range(self.lanes):
            super().numeric([names[lane] for names in each])
            self.parts.append(self.vectors)

    def result(self, number: int) -> str:
        """Vector of a value of the lookup in all lanes."""
        if self.together:
            return self.vectors[number]
        order, component = divmod(number, self.m)
        if order not in self.columns:
            self.columns[order] = self.turned([vectors[order] for vectors in self.parts], self.width)
        return self.columns[order][component]

    def turned(self, rows: list[str], width: int) -> list[str]:
        """Vectors of `width` components, one per lane -> vectors of lanes, one per component."""
        if width == 1 or self.lanes < _BLOCK:
            return [self._gathered(rows, width, component) for component in range(width)]
        found = []
        for first in range(0, width, _BLOCK):
            parts = [
                self._block(
                    [
                        self.picked(width, row, "undef", range(first, first + _BLOCK))
                        for row in rows[k : k + _BLOCK]
                    ]
                )
                for k in range(0, self.lanes, _BLOCK)
            ]
            joined = (
                parts[0]
                if len(parts) == 1
                else [
                    self.picked(_BLOCK, one, two, range(self.lanes)) for one, two in zip(*parts, strict=True)
                ]
            )
            found += joined[: width - first]
        return found

    def _gathered(self, rows: list[str], width: int, component: int) -> str:
        vector = "undef"
        for lane, row in enumerate(rows):
            if width > 1:
                row = self.new(f"extractelement <{width} x double> {row}, i64 {component}")
            vector = self.into(vector, row, lane)
        return vector

    def _block(self, rows: list[str]) -> list[str]:
        """Four vectors of four as the rows of a matrix -> its columns."""
        a, b, c, d = rows
        even, odd, low, high = (0, 4, 2, 6), (1, 5, 3, 7), (0, 1, 4, 5), (2, 3, 6, 7)
        pairs = [[self.picked(_BLOCK, x, y, mask) for x, y in ((a, b), (c, d))] for mask in (even, odd)]
        halves = ((low, 0), (low, 1), (high, 0), (high, 1))
        return [self.picked(_BLOCK, pairs[k][0], pairs[k][1], mask) for mask, k in halves]

    def picked(self, width: int, one: str, two: str, places: Iterable[int]) -> str:
        """The components at `places` of two vectors one after the other; those beyond `width` of one are
        undefined."""
        limit = width if two == "undef" else 2 * width
        mask = ", ".join(f"i32 {place}" if place < limit else "i32 undef" for place in places)
        kind = f"<{width} x double>"
        return self.new(f"shufflevector {kind} {one}, {kind} {two}, <{mask.count('i32')} x i32> <{mask}>")
