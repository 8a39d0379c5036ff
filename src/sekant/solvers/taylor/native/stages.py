"""The operations of a stage as straight-line code.

A coefficient of order k >= 1 is linear in those of the operands at the same order; everything else that it needs is
known when the stage begins: the sums of products of earlier coefficients, which `history` computes for all
operations at once. Unknowns of the stage are zero (see `schedule`), and terms that vanish with them are omitted.
"""

from __future__ import annotations

from sekant.solvers.taylor.codes import FIRST_OPERATION, HELD_ONLY, Op
from sekant.solvers.taylor.native.layout import STRIDE
from sekant.solvers.taylor.native.text import FUNCTIONS, ZERO, Text, in_text, literal
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.regions import ALWAYS

PRODUCTS, SQUARES, WEIGHTED = range(3)
_NAN = literal(float("nan"))
_BOUNDS = {Op.EXP: ("olt", 709.0), Op.EXPM1: ("olt", 709.0), Op.LOG: ("ogt", 0.0), Op.LOG1P: ("ogt", -1.0)}
"""Bounds of the domain in which a function is finite."""


def history_of(nodes: Nodes, i: int) -> list[tuple[int, int, int]]:
    """Sums that the operation needs: (kind, x, y) stands for the sum of x_j y_(k-j), or j x_j y_(k-j) if weighted,
    for j = 1..k-1."""
    op, a, b = nodes.op[i], nodes.a[i], nodes.b[i]
    if op == Op.MUL:
        return [(PRODUCTS, a, b)]
    if op == Op.SQ:
        return [(SQUARES, a, a)]
    if op == Op.DIV:
        return [(PRODUCTS, b, i)]
    if op == Op.INV:
        return [(PRODUCTS, a, i)]
    if op == Op.SQRT:
        return [(SQUARES, i, i)]
    if op == Op.POWER:
        return [(WEIGHTED, a, i), (PRODUCTS, a, i)]
    if Op.EXP <= op < HELD_ONLY:
        return [(WEIGHTED, a, b)] if not nodes.held[a] else []
    return []


class StageFunction:
    """One function. `stage`: its number (-2, -1, 0), or None for a run-time argument %s >= 1."""

    def __init__(
        self,
        nodes: Nodes,
        level: list[int],
        places: dict[int, list[int]],
        stage: int | None,
        region: int = ALWAYS,
    ):
        self.nodes, self.level, self.places, self.stage = nodes, level, places, stage
        self.text = Text()
        self.text.pass_over(region)
        self.names: dict[int, str] = {}
        if stage is None:
            self.here = self.text.address("%T", "%s")
            self.k = {0: "%s"}
            self.inverse: dict[int, str] = {}

    def order(self, level: int) -> int:
        """Order of a value of this level in this stage; any positive number if the stage is a run-time argument."""
        return level + (1 if self.stage is None else self.stage)

    def order_text(self, level: int) -> str:
        if self.stage is not None:
            return literal(float(self.order(level)))
        whole = self.text.emit(f"add i64 %s, {level}")
        return self.text.emit(f"sitofp i64 {whole} to double")

    def inverse_order(self, level: int) -> str:
        if self.stage is not None:
            return literal(1.0 / self.order(level))
        if level not in self.inverse:
            self.inverse[level] = self.text.div("1.0", self.order_text(level))
        return self.inverse[level]

    def place(self, i: int, level: int) -> tuple[str, int]:
        """Place of the coefficient of value i for a level."""
        if self.stage is None:
            return self.here, i * STRIDE + level
        return "%T", i * STRIDE + self.order(level)

    def first(self, i: int) -> str:
        """The coefficient of order 0."""
        if self.nodes.op[i] == Op.CONST and in_text(self.nodes.constant[i]):
            return literal(self.nodes.constant[i])
        if self.stage is not None and i in self.names and self.order(self.level[i]) == 0:
            return self.names[i]
        return self.text.load_once("%T", i * STRIDE)

    def unknown(self, i: int, level: int) -> bool:
        if self.stage is not None and self.stage < 0:
            return False
        op = self.nodes.op[i]
        return (op == Op.V and level == 1) or (op in (Op.A, Op.LAM) and level == 0)

    def operand(self, i: int, level: int) -> str:
        """The coefficient of the order of a level."""
        if self.order(level) == 0 and self.stage is not None and self.nodes.held[i]:
            return self.first(i)
        if self.nodes.held[i] or self.unknown(i, level):
            return ZERO
        if self.level[i] == level and i in self.names:
            return self.names[i]
        base, offset = self.place(i, level)
        return self.text.load_once(base, offset)

    def add(self, i: int, level: int) -> None:
        """Compute and store the coefficient of the value i."""
        order = self.order(level)
        if order < 0 or (order == 0 and self.nodes.op[i] < FIRST_OPERATION):
            return
        value = self.value(i, level) if order == 0 else self.coefficient(i, level)
        self.names[i] = value
        base, offset = self.place(i, level)
        self.text.store(value, base, offset)

    def value(self, i: int, level: int) -> str:
        """Order 0."""
        n, t = self.nodes, self.text
        op = n.op[i]
        x, y = self.operand(n.a[i], level), ZERO
        if op < Op.EXP or op >= HELD_ONLY:
            y = self.operand(n.b[i], level)
        if op in (Op.ADD, Op.ADD_HELD):
            return t.add(x, y)
        if op == Op.SUB:
            return t.sub(x, y)
        if op == Op.RSUB_HELD:
            return t.sub(y, x)
        if op == Op.NEG:
            return t.neg(x)
        if op in (Op.MUL, Op.SCALE):
            return t.mul(x, y)
        if op == Op.SQ:
            return t.mul(x, x)
        if op == Op.DIV:
            return t.emit(f"fdiv double {x}, {y}")
        if op == Op.INV:
            return t.div("1.0", x)
        if op == Op.SQRT:
            return t.call("llvm.sqrt.f64", x)
        if op == Op.POWER:
            return t.call("pow", x, y)
        if op == Op.SELECT:
            return t.select(t.test("une", x, ZERO), y, self.operand(n.c[i], level))
        if op == Op.ATAN2:
            return t.call("atan2", x, self.operand(n.c[i], level))
        if op == Op.ZERO_START:
            return ZERO
        return self._function(Op(op), x)

    def _function(self, op: Op, x: str) -> str:
        t = self.text
        name = op.name.lower()
        assert name in FUNCTIONS
        y = t.call(name, x)
        if op in _BOUNDS:
            how, bound = _BOUNDS[op]
            return t.select(t.test(how, x, literal(bound)), y, _NAN)
        if op == Op.ATANH:
            return t.select(t.test("olt", t.size(x), "1.0"), y, _NAN)
        return y

    def _sum(self, i: int, which: int, level: int) -> str:
        """A sum of products of earlier coefficients."""
        if self.stage is None:
            return self.text.load("%w", self.places[i][which])
        if self.order(level) < 2:
            return ZERO
        assert self.order(level) == 2
        _, x, y = history_of(self.nodes, i)[which]
        return self.text.mul(
            self.text.load_once("%T", x * STRIDE + 1), self.text.load_once("%T", y * STRIDE + 1)
        )

    def coefficient(self, i: int, level: int) -> str:
        """Order k >= 1."""
        n, t = self.nodes, self.text
        op, a, b = n.op[i], n.a[i], n.b[i]
        if op == Op.Q:
            return self._position(i, level)
        x = self.operand(a, level) if op != Op.SELECT else ZERO
        if op in (Op.ADD, Op.SUB):
            y = self.operand(b, level)
            return t.add(x, y) if op == Op.ADD else t.sub(x, y)
        if op == Op.ADD_HELD:
            return x
        if op in (Op.NEG, Op.RSUB_HELD):
            return t.neg(x)
        if op == Op.SCALE:
            return t.mul(x, self.first(b))
        if op == Op.MUL:
            part = t.fma(x, self.first(b), self._sum(i, 0, level))
            return t.fma(self.first(a), self.operand(b, level), part)
        if op == Op.SQ:
            return t.fma(t.mul(self.first(a), x), "2.0", self._sum(i, 0, level))
        if op == Op.SELECT:
            condition = t.test("une", self.first(a), ZERO)
            return t.select(condition, self.operand(b, level), self.operand(n.c[i], level))
        if op == Op.DIV:
            known = t.sub(x, self._sum(i, 0, level))
            return t.div(t.minus_product(known, self.operand(b, level), self.first(i)), self.first(b))
        if op == Op.INV:
            return t.div(t.neg(t.fma(x, self.first(i), self._sum(i, 0, level))), self.first(a))
        if op == Op.SQRT:
            return t.div(t.mul(t.sub(x, self._sum(i, 0, level)), "0.5"), self.first(i))
        if op == Op.POWER:
            return self._power(i, level, x)
        if n.held[a]:
            return ZERO
        return t.fma(x, self.first(b), t.mul(self._sum(i, 0, level), self.inverse_order(level)))

    def _position(self, i: int, level: int) -> str:
        """q_k = rate_(k-1) / k; the rate has level 1, or is held."""
        rate = self.nodes.a[i]
        return self.text.mul(self.operand(rate, level - 1), self.inverse_order(level))

    def _power(self, i: int, level: int, x: str) -> str:
        """k a_0 d_k = p k a_k d_0 + sum of ((p + 1) j - k) a_j d_(k-j)."""
        t, n = self.text, self.nodes
        p = self.first(n.b[i])
        weighted = t.mul(self._sum(i, 0, level), self.inverse_order(level))
        known = t.sub(t.mul(t.add(p, "1.0"), weighted), self._sum(i, 1, level))
        return t.div(t.fma(t.mul(p, x), self.first(i), known), self.first(n.a[i]))
