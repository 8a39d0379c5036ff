"""LLVM code of lookups: search of the piece in the buffer T, then Horner's rule on all components at once.

See `sekant.engine.codegen.packing` for the layout of T, `sekant.solvers.common.sites` for that of the modes
M. If a piece is held, its number comes from M instead of a search.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import factorial

from sekant.engine.codegen.operations import literal
from sekant.engine.codegen.packing import AXIS_HEADER, REGISTER
from sekant.engine.codegen.tape import TapeLookup

_PIECE = """ %s0 = getelementptr i64, ptr %starts, i64 %bucket
 %first = load i64, ptr %s0
 %s1 = getelementptr i64, ptr %s0, i64 1
 %final = load i64, ptr %s1
 br label %loop
loop:
 %i = phi i64 [ %first, FROM ], [ %i1, %body ]
 %j = phi i64 [ %final, FROM ], [ %j1, %body ]
 %more = icmp slt i64 %i, %j
 br i1 %more, label %body, label %done
body:
 %sum = add i64 %i, %j
 %up = add i64 %sum, 1
 %mid = lshr i64 %up, 1
 %mp = getelementptr double, ptr %origins, i64 %mid
 %mo = load double, ptr %mp
 %right = fcmp oge double X, %mo
 %i1 = select i1 %right, i64 %mid, i64 %i
 %less = sub i64 %mid, 1
 %j1 = select i1 %right, i64 %j, i64 %less
 br label %loop
done:
 %below = fcmp olt double X, %low
 %r0 = select i1 %below, i64 0, i64 %i
 %above = fcmp ogt double X, %high
 %row = select i1 %above, i64 %top, i64 %r0
 %op = getelementptr double, ptr %origins, i64 %row
 %origin = load double, ptr %op
 %local = fsub double X, %origin"""


def piece_search(x: str, begin: str) -> str:
    """Code after the block `begin`, which knows %bucket of the number `x`: its piece %row, and %local on it."""
    return _PIECE.replace("X", x).replace("FROM", begin)


SEARCH = f"""
define internal {{ i64, double }} @sekant.row(ptr readonly %axis, double %x, ptr readonly %mode)
    noinline nounwind willreturn memory(argmem: read) {{
entry:
 %code = load i64, ptr %mode, align 8
 %free = icmp eq i64 %code, 0
 br i1 %free, label %search, label %held
held:
 %hrow = sub i64 %code, 1
 %hat = add i64 %hrow, {AXIS_HEADER}
 %hp = getelementptr double, ptr %axis, i64 %hat
 %horigin = load double, ptr %hp
 %hlocal = fsub double %x, %horigin
 %hpair = insertvalue {{ i64, double }} undef, i64 %hrow, 0
 %hresult = insertvalue {{ i64, double }} %hpair, double %hlocal, 1
 ret {{ i64, double }} %hresult
search:
 %a = load double, ptr %axis
 %p1 = getelementptr double, ptr %axis, i64 1
 %scale = load double, ptr %p1
 %p2 = getelementptr double, ptr %axis, i64 2
 %last = load double, ptr %p2
 %p3 = getelementptr double, ptr %axis, i64 3
 %low = load double, ptr %p3
 %p4 = getelementptr double, ptr %axis, i64 4
 %high = load double, ptr %p4
 %p6 = getelementptr i64, ptr %axis, i64 6
 %top = load i64, ptr %p6
 %origins = getelementptr double, ptr %axis, i64 {AXIS_HEADER}
 %skip = add i64 %top, 1
 %starts = getelementptr i64, ptr %origins, i64 %skip
 %distance = fsub double %x, %a
 %t = fmul double %distance, %scale
 %positive = fcmp ogt double %t, 0.0
 %t0 = select i1 %positive, double %t, double 0.0
 %inside = fcmp olt double %t0, %last
 %t1 = select i1 %inside, double %t0, double %last
 %bucket = fptosi double %t1 to i64
{piece_search("%x", "%search")}
 %pair = insertvalue {{ i64, double }} undef, i64 %row, 0
 %result = insertvalue {{ i64, double }} %pair, double %local, 1
 ret {{ i64, double }} %result
}}

define internal {{ double, double }} @sekant.lap(ptr readonly %axis, double %x, ptr readonly %mode)
    nounwind willreturn memory(argmem: read) {{
 %a = load double, ptr %axis
 %p5 = getelementptr double, ptr %axis, i64 5
 %period = load double, ptr %p5
 %distance = fsub double %x, %a
 %ratio = fdiv double %distance, %period
 %found = call double @llvm.floor.f64(double %ratio)
 %code = load i64, ptr %mode, align 8
 %free = icmp eq i64 %code, 0
 %p1 = getelementptr double, ptr %mode, i64 1
 %kept = load double, ptr %p1, align 8
 %laps = select i1 %free, double %found, double %kept
 %shift = fmul double %laps, %period
 %within = fsub double %x, %shift
 %pair = insertvalue {{ double, double }} undef, double %within, 0
 %result = insertvalue {{ double, double }} %pair, double %laps, 1
 ret {{ double, double }} %result
}}
"""


def padded(components: int) -> int:
    """Number of components that are computed at once: whole registers. Components beyond the last one read
    the data that follow in T."""
    return components if components <= 2 else -(-components // REGISTER) * REGISTER


class LookupCode:
    """Text of one lookup; names start with `%<prefix>`. `results` are the names of its values in order.

    `modes`: pointers to the modes of its axes in M, or to a free mode.
    """

    def __init__(self, prefix: str, lookup: TapeLookup, arguments: list[str], modes: list[str]):
        self.prefix, self.lookup, self.modes = prefix, lookup, modes
        self.lines: list[str] = []
        self.count = 0
        self.m = lookup.shape.components
        self.width = padded(self.m)
        self.type = "double" if self.m == 1 else f"<{self.width} x double>"
        self.two = len(lookup.shape.powers) == 2
        self.table = self.pointer("%T", self.load("i64", self.pointer("%T", 1 + lookup.shape.table)))
        if not lookup.shape.powers:
            self.numeric(arguments)
        else:
            (self.one if not self.two else self.both)(arguments)

    def new(self, text: str) -> str:
        self.count += 1
        name = f"%{self.prefix}.{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def pointer(self, base: str, offset: int | str) -> str:
        return self.new(f"getelementptr double, ptr {base}, i64 {offset}")

    def load(self, kind: str, pointer: str) -> str:
        return self.new(f"load {kind}, ptr {pointer}, align 8")

    def value(self, x: float) -> str:
        return literal(x) if self.m == 1 else f"<{', '.join([f'double {literal(x)}'] * self.width)}>"

    def splat(self, x: str) -> str:
        if self.m == 1:
            return x
        one = self.new(f"insertelement {self.type} undef, double {x}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.new(f"shufflevector {self.type} {one}, {self.type} undef, {zeros}")

    def locate(self, axis: str, x: str, periodic: bool, mode: str) -> tuple[str, str, str]:
        """Names of the row, the local distance and the number of whole periods (empty if not periodic)."""
        laps = ""
        if periodic:
            pair = self.new(f"call {{ double, double }} @sekant.lap(ptr {axis}, double {x}, ptr {mode})")
            x = self.new(f"extractvalue {{ double, double }} {pair}, 0")
            laps = self.new(f"extractvalue {{ double, double }} {pair}, 1")
        pair = self.new(f"call {{ i64, double }} @sekant.row(ptr {axis}, double {x}, ptr {mode})")
        row = self.new(f"extractvalue {{ i64, double }} {pair}, 0")
        return row, self.new(f"extractvalue {{ i64, double }} {pair}, 1"), laps

    def polynomials(self, terms: list[str], u: str, orders: Iterable[int]) -> dict[int, str]:
        """Derivatives of these orders with respect to u of the sum of terms[p] u^p; NaN in u or the terms survives.

        All at once by Horner's rule with its own derivatives: d_k <- d_k u + d_(k-1) for every coefficient, where d_k
        is the derivative k over k!.
        """
        wanted, top = sorted(set(orders)), len(terms) - 1
        most = min(max(wanted), top)
        d = [terms[-1]] + [""] * most
        for step, term in enumerate(reversed(terms[:-1]), start=1):
            for k in range(min(most, step), 0, -1):
                d[k] = d[k - 1] if not d[k] else self.step(d[k], u, d[k - 1])
            d[0] = self.step(d[0], u, term)
        found = {}
        for order in wanted:
            if order > top:
                found[order] = self.plus_zero(self.new(f"fmul {self.type} {terms[0]}, {self.value(0.0)}"), u)
                continue
            scale = float(factorial(order))
            y = d[order]
            y = y if scale == 1.0 else self.new(f"fmul contract {self.type} {y}, {self.value(scale)}")
            found[order] = self.plus_zero(y, u) if order == top else y
        return found

    def step(self, y: str, u: str, term: str) -> str:
        product = self.new(f"fmul contract {self.type} {y}, {u}")
        return self.new(f"fadd contract {self.type} {product}, {term}")

    def plus_zero(self, y: str, u: str) -> str:
        zero = self.new(f"fmul {self.type} {u}, {self.value(0.0)}")
        return self.new(f"fadd {self.type} {y}, {zero}")

    def one(self, arguments: list[str]) -> None:
        (periodic,), (powers,) = self.lookup.shape.periodic, self.lookup.shape.powers
        axis = self.pointer(self.table, 1 + self.m)
        row, local, laps = self.locate(axis, arguments[0], periodic, self.modes[0])
        start = self.new(f"mul i64 {row}, {self.m * powers}")
        base = self.pointer(self.pointer("%T", self.load("i64", self.table)), start)
        terms = [self.load(self.type, self.pointer(base, p * self.m)) for p in range(powers)]
        u = self.splat(local)
        self.vectors = []
        values = self.polynomials(terms, u, [order for (order,) in self.lookup.orders])
        for (order,) in self.lookup.orders:
            y = values[order]
            if periodic and order == 0:
                increment = self.load(self.type, self.pointer(self.table, 1))
                growth = self.new(f"fmul contract {self.type} {self.splat(laps)}, {increment}")
                y = self.new(f"fadd contract {self.type} {y}, {growth}")
            self.vectors.append(y)

    def both(self, arguments: list[str]) -> None:
        periodic, (k1, k2) = self.lookup.shape.periodic, self.lookup.shape.powers
        rows2 = self.load("i64", self.pointer(self.table, 1))
        axis2 = self.pointer("%T", self.load("i64", self.pointer(self.table, 2)))
        axis1 = self.pointer(self.table, 3)
        row1, local1, _ = self.locate(axis1, arguments[0], periodic[0], self.modes[0])
        row2, local2, _ = self.locate(axis2, arguments[1], periodic[1], self.modes[1])
        row = self.new(f"add i64 {self.new(f'mul i64 {row1}, {rows2}')}, {row2}")
        start = self.new(f"mul i64 {row}, {self.m * k1 * k2}")
        base = self.pointer(self.pointer("%T", self.load("i64", self.table)), start)
        self.vectors = self.of_patch(base, self.splat(local1), self.splat(local2))

    def of_patch(self, base: str, u1: str, u2: str) -> list[str]:
        """Values of all orders from the coefficients of a patch."""
        k1, k2 = self.lookup.shape.powers
        grid = [
            [self.load(self.type, self.pointer(base, (p * k2 + q) * self.m)) for q in range(k2)]
            for p in range(k1)
        ]
        firsts: dict[int, list[int]] = {}
        for order1, order2 in self.lookup.orders:
            firsts.setdefault(order2, []).append(order1)
        inner = [self.polynomials(terms, u2, firsts) for terms in grid]
        outer = {
            second: self.polynomials([row[second] for row in inner], u1, orders)
            for second, orders in firsts.items()
        }
        return [outer[order2][order1] for order1, order2 in self.lookup.orders]

    def numeric(self, arguments: list[str]) -> None:
        """Calls of a function given by its address; first derivatives are central differences."""
        function = self.new(f"inttoptr i64 {self.load('i64', self.table)} to ptr")
        places = self.new(f"alloca [{len(arguments)} x double], align 8")
        found = self.new(f"alloca [{self.width} x double], align 8")

        def value(at: list[str]) -> str:
            for i, x in enumerate(at):
                self.lines.append(f"store double {x}, ptr {self.pointer(places, i)}, align 8")
            self.lines.append(f"call void {function}(ptr {places}, ptr {found})")
            return self.load(self.type, found)

        self.vectors = []
        for order in self.lookup.orders:
            if not any(order):
                self.vectors.append(value(arguments))
                continue
            i = order.index(1)
            size = self.new(f"call double @llvm.fabs.f64(double {arguments[i]})")
            h = self.new(f"fadd double {size}, {literal(1.0)}")
            h = self.new(f"fmul double {h}, {self.load('double', self.pointer(self.table, 1))}")
            ends = [self.new(f"{way} double {arguments[i]}, {h}") for way in ("fadd", "fsub")]
            ahead, behind = (value([*arguments[:i], end, *arguments[i + 1 :]]) for end in ends)
            width = self.splat(self.new(f"fsub double {ends[0]}, {ends[1]}"))
            self.vectors.append(
                self.new(f"fdiv {self.type} {self.new(f'fsub {self.type} {ahead}, {behind}')}, {width}")
            )

    def result(self, number: int) -> str:
        """Name of a value of the lookup; adds the text that extracts it from its vector."""
        vector = self.vectors[number // self.m]
        if self.m == 1:
            return vector
        return self.new(f"extractelement {self.type} {vector}, i64 {number % self.m}")
