"""The saddle point system of `linear.ldl` for one pattern, with all loops over its entries unrolled.

The constants and the algorithm are those of `linear.ldl`; tests compare the two. In addition, once the first
correction of a factorization without redundant rows is known to be small, systems that need no more accuracy
are solved without a correction.
"""

from __future__ import annotations

from sekant.solvers.linear import ldl
from sekant.solvers.linear.ldl import SaddlePattern, places
from sekant.solvers.taylor.native.layout import FINITE, HEAD
from sekant.solvers.taylor.native.text import ZERO, Text, literal

INFINITY = literal(float("inf"))


class Saddle:
    def __init__(self, pattern: SaddlePattern):
        self.start = {name: first for name, (first, _) in places(pattern).items()}
        self.n, self.m = pattern.n, pattern.m
        self.M_row, self.M_col, self.M_place = (
            x.tolist() for x in (pattern.M_row, pattern.M_col, pattern.M_place)
        )
        self.G_row, self.G_col, self.G_place = (
            x.tolist() for x in (pattern.G_row, pattern.G_col, pattern.G_place)
        )
        self.row_start, self.row_col = pattern.row_start.tolist(), pattern.row_col.tolist()
        self.pattern_start, self.pattern_col = pattern.pattern_start.tolist(), pattern.pattern_col.tolist()
        self.pattern_place, self.order = pattern.pattern_place.tolist(), pattern.order.tolist()
        self.L_start, self.L_row = pattern.L_start.tolist(), pattern.L_row.tolist()

    @property
    def operations(self) -> int:
        """Products in a factorization."""
        starts, places = self.pattern_start, self.pattern_place
        return sum(
            places[e] - self.L_start[self.pattern_col[e]] + 2
            for k in range(self.n + self.m)
            for e in range(starts[k], starts[k + 1])
        )

    def at(self, part: str, i: int = 0) -> int:
        """Place of an entry of a part in F."""
        return self.start[part] + i

    def texts(self) -> list[str]:
        return [self.eliminate(), self.factorize(), self.solve()]

    def eliminate(self) -> str:
        """L and D for %eps; returns the smallest pivot of a row of G."""
        t = Text()
        y: dict[int, str] = {}
        inverse: dict[int, str] = {}
        L: dict[int, str] = {}
        smallest = INFINITY
        floor = t.mul(literal(ldl.NO_MASS), "%largest")
        stand_in = t.mul(literal(ldl.STAND_IN), "%largest")
        minus_eps = t.neg("%eps")
        bound = t.mul("-0.5", "%eps")
        for k, unknown in enumerate(self.order):
            for e in range(self.row_start[k], self.row_start[k + 1]):
                y[self.row_col[e]] = t.load("%F", self.at("K", e))
            d = whole = t.load("%F", self.at("diagonal", unknown)) if unknown < self.n else minus_eps
            for e in range(self.pattern_start[k], self.pattern_start[k + 1]):
                c, at = self.pattern_col[e], self.pattern_place[e]
                value = y.pop(c, ZERO)
                for p in range(self.L_start[c], at):
                    y[self.L_row[p]] = t.minus_product(y.get(self.L_row[p], ZERO), L[p], value)
                L[at] = t.mul(value, inverse[c])
                d = t.minus_product(d, value, L[at])
                t.store(L[at], "%F", self.at("L", at))
            if unknown < self.n:
                light = t.smaller(stand_in, t.mul(literal(ldl.CANCELLED), whole))
                cancelled = t.test("olt", d, light)
                d = t.select(t.test("olt", d, floor), stand_in, t.select(cancelled, stand_in, d))
            else:
                d = t.smaller(d, bound)
                smallest = t.smaller(smallest, t.neg(d))
            inverse[k] = t.div("1.0", d)
            t.store(inverse[k], "%F", self.at("inverse", k))
        t.do(f"ret double {smallest}")
        return t.function("eliminate", ", double %eps, double %largest", "double")

    def factorize(self) -> str:
        """From the values of M and G in F."""
        t = Text()
        diagonal = [ZERO] * self.n
        K = [ZERO] * len(self.row_col)
        for e, (i, j) in enumerate(zip(self.M_row, self.M_col, strict=True)):
            value = t.load("%F", self.at("M", e))
            if i == j:
                diagonal[i] = t.add(diagonal[i], value)
            elif self.M_place[e] >= 0:
                K[self.M_place[e]] = t.add(K[self.M_place[e]], value)
        largest = ZERO
        for value in diagonal:
            largest = t.larger(t.size(value), largest)
        light = t.mul(literal(ldl.LIGHT), largest)
        scale = ZERO
        for e, j in enumerate(self.G_col):
            value = t.load("%F", self.at("G", e))
            K[self.G_place[e]] = t.add(K[self.G_place[e]], value)
            mass = t.larger(diagonal[j], light)
            square = t.mul(t.mul(value, value), diagonal[j])
            scale = t.add(scale, t.div(square, t.mul(mass, mass)))
        for k, values in (("diagonal", diagonal), ("K", K)):
            for i, value in enumerate(values):
                t.store(value, "%F", self.at(k, i))
        if self.m > 0:
            mean = t.larger(t.mul(scale, literal(1.0 / self.m)), t.div(literal(ldl.NOTHING), largest))
            scale = t.select(t.test("ogt", largest, ZERO), mean, "1.0")
        else:
            scale = "1.0"
        small = t.mul(literal(ldl.SMALL_EPS), scale)
        called = "call double @eliminate(ptr %T, ptr %F, ptr %w, double {}, double {})"
        found = t.emit(called.format(small, largest))
        redundant = t.test("olt", found, t.mul(literal(ldl.NEARLY_REDUNDANT), scale))
        t.do(f"br i1 {redundant}, label %again, label %done")
        t.label("again")
        t.emit(called.format(t.mul(literal(ldl.LARGE_EPS), scale), largest))
        t.do("br label %done")
        t.label("done")
        t.store(t.emit("phi double [ 0.0, %0 ], [ 1.0, %again ]"), "%F", self.at("rate"))
        t.do("ret void")
        return t.function("factorize")

    def solve(self) -> str:
        """For the right-hand side in w; whether the solution is finite is stored there as well."""
        t = Text()
        size = self.n + self.m
        rhs = [t.load("%w", HEAD + i) for i in range(size)]
        if self.m == 0 and not self.L_row:
            return self._solve_diagonal(t, rhs)
        floor = ZERO
        for i in range(self.n):
            d = t.load("%F", self.at("diagonal", i))
            part = t.select(t.test("ogt", d, ZERO), t.size(t.div(rhs[i], d)), ZERO)
            floor = t.larger(part, floor)
        floor = t.mul(literal(1e-3), floor)
        known = t.load("%F", self.at("rate"))
        before = t.load("%F", self.at("solves"))
        t.do("br label %sweep")
        t.label("sweep")
        names = [f"%r{i}" for i in range(size)]
        for i in range(size):
            t.do(f"%r{i} = phi double [ {rhs[i]}, %0 ], [ %r{i}.next, %correct ]")
            t.do(f"%s{i} = phi double [ 0.0, %0 ], [ %s{i}.next, %correct ]")
        t.do(f"%last = phi double [ {INFINITY}, %0 ], [ %last.next, %correct ]")
        t.do("%sweeps = phi double [ 0.0, %0 ], [ %count, %correct ]")
        t.do(f"%rate = phi double [ {known}, %0 ], [ %rate.next, %correct ]")
        y = self._back_substitute(t, names)
        change, largest, whole = ZERO, floor, ZERO
        for i, j in enumerate(self.order):
            t.do(f"%s{j}.next = fadd double %s{j}, {y[i]}")
            whole = _add_nothing(t, whole, f"%s{j}.next")
            if j < self.n:
                change = t.larger(t.size(y[i]), change)
                largest = t.larger(t.size(f"%s{j}.next"), largest)
        t.do("%count = fadd double %sweeps, 1.0")
        self._decide(t, change, largest, whole)
        t.label("correct")
        self._residual(t, rhs)
        t.do("br label %sweep")
        t.label("end")
        for i in range(size):
            t.store(f"%s{i}.next", "%F", self.at("x", i))
        total = t.emit(f"fadd double {before}, %count")
        for entry, value in (("sweeps", "%count"), ("rate", "%rate.next"), ("solves", total)):
            t.store(value, "%F", self.at(entry))
        t.store(t.emit("uitofp i1 %finite to double"), "%w", FINITE)
        t.do("ret void")
        return t.function("solve", ", double %accuracy")

    def _solve_diagonal(self, t: Text, rhs: list[str]) -> str:
        whole = ZERO
        for i in range(self.n):
            x = t.div(rhs[i], t.load("%F", self.at("diagonal", i)))
            t.store(x, "%F", self.at("x", i))
            whole = _add_nothing(t, whole, x)
        t.store("1.0", "%F", self.at("sweeps"))
        t.store(t.emit(f"uitofp i1 {t.test('oeq', whole, ZERO)} to double"), "%w", FINITE)
        t.do("ret void")
        return t.function("solve", ", double %accuracy")

    def _back_substitute(self, t: Text, residual: list[str]) -> list[str]:
        y = [residual[j] for j in self.order]
        size = len(y)

        def L(p: int) -> str:
            return t.load_once("%F", self.at("L", p))

        for i in range(size):
            for p in range(self.L_start[i], self.L_start[i + 1]):
                y[self.L_row[p]] = t.minus_product(y[self.L_row[p]], L(p), y[i])
        for i in range(size - 1, -1, -1):
            value = t.mul(y[i], t.load_once("%F", self.at("inverse", i)))
            for p in range(self.L_start[i], self.L_start[i + 1]):
                value = t.minus_product(value, L(p), y[self.L_row[p]])
            y[i] = value
        return y

    def _decide(self, t: Text, change: str, size: str, whole: str) -> None:
        """Go to %end or to %correct, as `ldl.solve` does."""
        t.do(f"%finite = fcmp oeq double {whole}, 0.0")
        first = t.test("oeq", "%count", "1.0")
        second = t.test("oeq", "%count", "2.0")
        relative = t.div(change, t.larger(size, "%last"))
        rate = t.larger("%rate", relative)
        t.do(f"%rate.next = select i1 {second}, double {rate}, double %rate")

        def both(a: str, b: str) -> str:
            return t.emit(f"and i1 {a}, {b}")

        def either(a: str, b: str) -> str:
            return t.emit(f"or i1 {a}, {b}")

        later = t.emit(f"xor i1 {first}, true")
        stop = t.emit("xor i1 %finite, true")
        if self.m == 0:
            stop = either(stop, second)
        stop = either(stop, both(later, t.test("oeq", size, ZERO)))
        stop = either(stop, t.test("oge", "%count", literal(float(ldl.MOST_SWEEPS))))
        ratio = t.smaller(t.div(change, "%last"), "1.0")
        close = t.test("ole", t.mul(change, ratio), t.mul("%accuracy", size))
        stalls = t.test("ogt", change, t.mul("0.5", "%last"))
        stop = either(stop, both(later, either(close, stalls)))
        trusted = both(t.test("ogt", "%rate", ZERO), t.test("ole", t.mul("%rate", "4.0"), "%accuracy"))
        stop = either(stop, both(first, trusted))
        positive = t.test("ogt", change, ZERO)
        t.do(f"%last.next = select i1 {positive}, double {change}, double {literal(1e-300)}")
        t.do(f"br i1 {stop}, label %end, label %correct")

    def _residual(self, t: Text, rhs: list[str]) -> None:
        residual = list(rhs)

        def x(i: int) -> str:
            return f"%s{i}.next"

        for e, (i, j) in enumerate(zip(self.M_row, self.M_col, strict=True)):
            value = t.load_once("%F", self.at("M", e))
            residual[i] = t.minus_product(residual[i], value, x(j))
        for e, (row, j) in enumerate(zip(self.G_row, self.G_col, strict=True)):
            value = t.load_once("%F", self.at("G", e))
            i = row + self.n
            residual[j] = t.minus_product(residual[j], value, x(i))
            residual[i] = t.minus_product(residual[i], value, x(j))
        for i, value in enumerate(residual):
            t.do(f"%r{i}.next = fadd double {value}, -0.0")


def _add_nothing(t: Text, total: str, x: str) -> str:
    """total + 0 x: NaN if x is not finite."""
    nothing = t.emit(f"fmul double {x}, 0.0")
    return t.emit(f"fadd double {total}, {nothing}")
