"""LLVM code of lookups in lanes: pieces are searched in all lanes at once.

The search is that of `sekant.engine.codegen.lookup_ir`, with gathered loads; it ends when the last lane has found its
piece. Tables with one component in one variable are evaluated in all lanes at once, others lane by lane with all
components at once, as single runs do.
"""

from __future__ import annotations

import re

from sekant.engine.codegen.lookup_ir import LookupCode
from sekant.engine.codegen.operations import literal
from sekant.engine.codegen.packing import AXIS_HEADER
from sekant.engine.codegen.tape import TapeLookup

_SEARCH = """
declare <L x i64> @llvm.masked.gather.vLi64.vLp0(<L x ptr>, i32, <L x i1>, <L x i64>)
declare <L x double> @llvm.masked.gather.vLf64.vLp0(<L x ptr>, i32, <L x i1>, <L x double>)
declare i1 @llvm.vector.reduce.or.vLi1(<L x i1>)

define internal { <L x i64>, <L x double> } @sekant.rowsL(ptr readonly %axis, <L x double> %x)
    noinline nounwind willreturn memory(read) {
entry:
 %p1 = getelementptr double, ptr %axis, i64 1
 %p2 = getelementptr double, ptr %axis, i64 2
 %p3 = getelementptr double, ptr %axis, i64 3
 %p4 = getelementptr double, ptr %axis, i64 4
 %p6 = getelementptr i64, ptr %axis, i64 6
 %a1 = load double, ptr %axis
 %scale1 = load double, ptr %p1
 %last1 = load double, ptr %p2
 %low1 = load double, ptr %p3
 %high1 = load double, ptr %p4
 %top1 = load i64, ptr %p6
SPLATS %origins = getelementptr double, ptr %axis, i64 HEADER
 %skip = add i64 %top1, 1
 %starts = getelementptr i64, ptr %origins, i64 %skip
 %after = getelementptr i64, ptr %starts, i64 1
 %distance = fsub <L x double> %x, %a
 %t = fmul <L x double> %distance, %scale
 %positive = fcmp ogt <L x double> %t, zeroinitializer
 %t0 = select <L x i1> %positive, <L x double> %t, <L x double> zeroinitializer
 %inside = fcmp olt <L x double> %t0, %last
 %t1 = select <L x i1> %inside, <L x double> %t0, <L x double> %last
 %narrow = fptosi <L x double> %t1 to <L x i32>
 %bucket = sext <L x i32> %narrow to <L x i64>
 %s0 = getelementptr i64, ptr %starts, <L x i64> %bucket
 %first = call <L x i64> @llvm.masked.gather.vLi64.vLp0(<L x ptr> %s0, i32 8, ALL, <L x i64> undef)
 %s1 = getelementptr i64, ptr %after, <L x i64> %bucket
 %final = call <L x i64> @llvm.masked.gather.vLi64.vLp0(<L x ptr> %s1, i32 8, ALL, <L x i64> undef)
 br label %loop
loop:
 %i = phi <L x i64> [ %first, %entry ], [ %i1, %body ]
 %j = phi <L x i64> [ %final, %entry ], [ %j1, %body ]
 %more = icmp slt <L x i64> %i, %j
 %any = call i1 @llvm.vector.reduce.or.vLi1(<L x i1> %more)
 br i1 %any, label %body, label %done
body:
 %sum = add <L x i64> %i, %j
 %up = add <L x i64> %sum, splat (i64 1)
 %mid = lshr <L x i64> %up, splat (i64 1)
 %mp = getelementptr double, ptr %origins, <L x i64> %mid
 %mo = call <L x double> @llvm.masked.gather.vLf64.vLp0(<L x ptr> %mp, i32 8, ALL, <L x double> undef)
 %right = fcmp oge <L x double> %x, %mo
 %rise = and <L x i1> %right, %more
 %i1 = select <L x i1> %rise, <L x i64> %mid, <L x i64> %i
 %less = sub <L x i64> %mid, splat (i64 1)
 %left = xor <L x i1> %right, splat (i1 true)
 %fall = and <L x i1> %left, %more
 %j1 = select <L x i1> %fall, <L x i64> %less, <L x i64> %j
 br label %loop
done:
 %below = fcmp olt <L x double> %x, %low
 %r0 = select <L x i1> %below, <L x i64> zeroinitializer, <L x i64> %i
 %above = fcmp ogt <L x double> %x, %high
 %row = select <L x i1> %above, <L x i64> %top, <L x i64> %r0
 %op = getelementptr double, ptr %origins, <L x i64> %row
 %origin = call <L x double> @llvm.masked.gather.vLf64.vLp0(<L x ptr> %op, i32 8, ALL, <L x double> undef)
 %local = fsub <L x double> %x, %origin
 %pair = insertvalue { <L x i64>, <L x double> } undef, <L x i64> %row, 0
 %result = insertvalue { <L x i64>, <L x double> } %pair, <L x double> %local, 1
 ret { <L x i64>, <L x double> } %result
}
"""


def lane_search(lanes: int) -> str:
    """The search of an axis for all lanes; a number that is not one ends in some row and stays what it is."""
    splats = ""
    for name in ("a", "scale", "last", "low", "high", "top"):
        kind = "i64" if name == "top" else "double"
        vector = f"<{lanes} x {kind}>"
        splats += f" %{name}.0 = insertelement {vector} undef, {kind} %{name}1, i64 0\n"
        splats += (
            f" %{name} = shufflevector {vector} %{name}.0, {vector} undef, <{lanes} x i32> zeroinitializer\n"
        )
    text = _SEARCH.replace("SPLATS", splats).replace("HEADER", str(AXIS_HEADER))
    text = text.replace("ALL", "<L x i1> splat (i1 true)").replace("<L x ", f"<{lanes} x ")
    return re.sub(r"\bvL(?=i1|i64|f64|p0)", f"v{lanes}", text).replace(
        "@sekant.rowsL", f"@sekant.rows{lanes}"
    )


class LaneLookup(LookupCode):
    """Text of one lookup in lanes: the arguments and results are vectors of them."""

    def __init__(self, prefix: str, lookup: TapeLookup, vectors: list[str], lanes: int):
        self.lanes, self.wide, self.parts = lanes, f"<{lanes} x double>", []
        self.together = lookup.shape.components == 1 and len(lookup.shape.powers) == 1
        super().__init__(prefix, lookup, vectors, [])

    def value(self, x: float) -> str:
        return f"splat (double {literal(x)})" if self.together else super().value(x)

    def into(self, vector: str, value: str, lane: int) -> str:
        return self.new(f"insertelement {self.wide} {vector}, double {value}, i64 {lane}")

    def spread(self, scalar: str) -> str:
        one = self.into("undef", scalar, 0)
        return self.new(
            f"shufflevector {self.wide} {one}, {self.wide} undef, <{self.lanes} x i32> zeroinitializer"
        )

    def each(self, vector: str, kind: str = "double") -> list[str]:
        """The elements of a vector."""
        wide = f"<{self.lanes} x {kind}>"
        return [self.new(f"extractelement {wide} {vector}, i64 {lane}") for lane in range(self.lanes)]

    def found(self, axis: str, x: str, periodic: bool) -> tuple[str, str, str]:
        """Vectors of rows, local distances and whole periods (empty if not periodic)."""
        laps = ""
        if periodic:
            a, period = (self.spread(self.load("double", self.pointer(axis, i))) for i in (0, 5))
            ratio = self.new(f"fdiv {self.wide} {self.new(f'fsub {self.wide} {x}, {a}')}, {period}")
            laps = self.new(f"call {self.wide} @llvm.floor.v{self.lanes}f64({self.wide} {ratio})")
            x = self.new(f"fsub {self.wide} {x}, {self.new(f'fmul {self.wide} {laps}, {period}')}")
        both = f"{{ <{self.lanes} x i64>, {self.wide} }}"
        pair = self.new(f"call {both} @sekant.rows{self.lanes}(ptr {axis}, {self.wide} {x})")
        return self.new(f"extractvalue {both} {pair}, 0"), self.new(f"extractvalue {both} {pair}, 1"), laps

    def one(self, arguments: list[str]) -> None:
        (periodic,), (powers,) = self.lookup.shape.periodic, self.lookup.shape.powers
        axis = self.pointer(self.table, 1 + self.m)
        rows, local, laps = self.found(axis, arguments[0], periodic)
        data = self.pointer("%T", self.load("i64", self.table))
        starts = [
            self.pointer(data, self.new(f"mul i64 {row}, {self.m * powers}"))
            for row in self.each(rows, "i64")
        ]
        if not self.together:
            for start, u, lap in zip(starts, self.each(local), self._laps(laps), strict=True):
                terms = [self.load(self.type, self.pointer(start, p * self.m)) for p in range(powers)]
                self.parts.append(self._values(terms, self.splat(u), lap and self.splat(lap)))
            return
        pieces = [self.load(f"<{powers} x double>", start) for start in starts]
        terms = []
        for p in range(powers):
            term = "undef"
            for lane, piece in enumerate(pieces):
                term = self.into(term, self.new(f"extractelement <{powers} x double> {piece}, i64 {p}"), lane)
            terms.append(term)
        self.type = self.wide
        self.vectors = self._values(terms, local, laps)

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
        places = zip(
            self.each(row1, "i64"), self.each(row2, "i64"), self.each(local1), self.each(local2), strict=True
        )
        for first, second, x1, x2 in places:
            row = self.new(f"add i64 {self.new(f'mul i64 {first}, {rows2}')}, {second}")
            base = self.pointer(data, self.new(f"mul i64 {row}, {self.m * k1 * k2}"))
            self.parts.append(self.of_patch(base, self.splat(x1), self.splat(x2)))

    def numeric(self, arguments: list[str]) -> None:
        """Calls of a function that is known by its address, lane by lane."""
        each = [self.each(vector) for vector in arguments]
        for lane in range(self.lanes):
            super().numeric([names[lane] for names in each])
            self.parts.append(self.vectors)

    def result(self, number: int) -> str:
        """Vector of a value of the lookup in all lanes."""
        if self.together:
            return self.vectors[number]
        last = "undef"
        for lane, vectors in enumerate(self.parts):
            value = vectors[number // self.m]
            if self.m > 1:
                value = self.new(f"extractelement {self.type} {value}, i64 {number % self.m}")
            last = self.into(last, value, lane)
        return last
