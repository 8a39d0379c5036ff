"""Contributions of the unknowns of a stage, once found, to the coefficients that depend on them."""

from __future__ import annotations

from sekant.solvers.taylor.codes import Op
from sekant.solvers.taylor.native.layout import STRIDE
from sekant.solvers.taylor.native.text import ZERO, Text, in_text, literal
from sekant.solvers.taylor.nodes import Nodes


class Fix:
    """A function of the stage %s >= 0. `delta`: index in w of the first change of values."""

    def __init__(self, nodes: Nodes, delta: int, region: int):
        self.nodes, self.delta = nodes, delta
        self.text = Text()
        self.text.pass_over(region)
        self.here = self.text.address("%T", "%s")
        self.changes: dict[int, str] = {}
        self.inverse: dict[int, str] = {}

    def first(self, i: int) -> str:
        if self.nodes.op[i] == Op.CONST and in_text(self.nodes.constant[i]):
            return literal(self.nodes.constant[i])
        return self.text.load_once("%T", i * STRIDE)

    def change(self, i: int, moves: int) -> str:
        """The change of an operand; 0 if it does not change (`moves`)."""
        if moves == 0:
            return ZERO
        return self.changes[i] if i in self.changes else self.text.load_once("%w", self.delta + i)

    def add(self, i: int, level: int, moves: tuple[int, int, int]) -> None:
        """`moves`: which operands change."""
        t = self.text
        change = self.of(i, level, moves)
        self.changes[i] = change
        t.store(change, "%w", self.delta + i)
        place = i * STRIDE + level
        value = t.add(t.load(self.here, place), change)
        t.store(value, self.here, place)
        if level == 0:
            t.forget("%T", i * STRIDE)

    def of(self, i: int, level: int, moves: tuple[int, int, int]) -> str:
        n, t = self.nodes, self.text
        op, a, b = n.op[i], n.a[i], n.b[i]
        dx, dy = self.change(a, moves[0]), self.change(b, moves[1])
        if op == Op.MUL:
            return t.fma(self.first(a), dy, t.mul(self.first(b), dx))
        if op == Op.SQ:
            return t.mul(t.mul("2.0", self.first(a)), dx)
        if op in (Op.ADD, Op.SUB):
            return t.add(dx, dy) if op == Op.ADD else t.sub(dx, dy)
        if op == Op.SCALE:
            return t.mul(dx, self.first(b))
        if op == Op.ADD_HELD:
            return dx
        if op in (Op.NEG, Op.RSUB_HELD):
            return t.neg(dx)
        if op == Op.Q:
            return t.mul(dx, self.inverse_order(level))
        if op == Op.DIV:
            return t.div(t.minus_product(dx, self.first(i), dy), self.first(b))
        if op == Op.INV:
            return t.div(t.neg(t.mul(self.first(i), dx)), self.first(a))
        if op == Op.SQRT:
            return t.div(t.mul("0.5", dx), self.first(i))
        if op == Op.POWER:
            return t.div(t.mul(t.mul(self.first(b), self.first(i)), dx), self.first(a))
        if op == Op.SELECT:
            no = self.change(n.c[i], moves[2])
            return t.select(t.test("une", self.first(a), ZERO), dy, no)
        return t.mul(self.first(b), dx)

    def inverse_order(self, level: int) -> str:
        if level not in self.inverse:
            whole = self.text.emit(f"add i64 %s, {level}")
            self.inverse[level] = self.text.div("1.0", self.text.emit(f"sitofp i64 {whole} to double"))
        return self.inverse[level]
