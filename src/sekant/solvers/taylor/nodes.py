"""Values of a Taylor program: the operations that have recurrences, and the composition of others from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.common.sites import FLOOR, NOT_BELOW, PIECE
from sekant.solvers.taylor.codes import Op
from sekant.solvers.taylor.tape import INPUTS, TableUse
from sekant.tables.pieces import differentiate, extrapolation_limits
from sekant.tables.table import Table, Table2

# Kinds of switches: mode 1 where g > 0, else 0; the same with g >= 0; sign of g; floor of g; piece of a table.


@dataclass
class Switch:
    """A value `g` and the held values that depend on it: `mode`, or the origin of a piece."""

    g: int
    kind: int
    mode: int
    breaks: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    low: float = -np.inf
    high: float = np.inf
    period: float = 0.0
    lookup: int = -1


@dataclass
class Lookup:
    """`switches`: one per axis. `first`, `count`: held values of the coefficients; `data` (rows, count), where
    the rows of a table of two variables are row1 * rows2 + row2; `increment` (count,): growth per period."""

    switches: list[int]
    first: int
    count: int
    data: NDArray[np.float64]
    increment: NDArray[np.float64]
    rows2: int
    table: Table | Table2


class Nodes:
    """Values in an order in which order 0 can be evaluated; equal operations on equal operands occur once."""

    def __init__(self) -> None:
        self.op: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.c: list[int] = []
        self.constant: list[float] = []
        self.held: list[bool] = []
        self.switches: list[Switch] = []
        self.lookups: list[Lookup] = []
        self.inputs: dict[tuple[int, int], int] = {}
        self._known: dict[tuple[int, int, int, int], int] = {}
        self._constants: dict[str, int] = {}
        self.zero = self.const(0.0)
        self.one = self.const(1.0)

    def _append(self, op: int, a: int, b: int, c: int, held: bool, constant: float = 0.0) -> int:
        for values, value in zip((self.op, self.a, self.b, self.c), (int(op), a, b, c), strict=True):
            values.append(value)
        self.constant.append(constant)
        self.held.append(held)
        return len(self.op) - 1

    def const(self, value: float) -> int:
        key = float(value).hex()
        if key not in self._constants:
            self._constants[key] = self._append(Op.CONST, 0, 0, 0, True, float(value))
        return self._constants[key]

    def input(self, number: int, element: int) -> int:
        key = number, element
        if key not in self.inputs:
            op = {"q": Op.Q, "v": Op.V, "a": Op.A, "lam": Op.LAM, "t": Op.TIME, "p": Op.PARAMETER}
            name = INPUTS[number]
            self.inputs[key] = self._append(op[name], 0, 0, 0, name == "p")
        return self.inputs[key]

    def add(self, op: Op, a: int, b: int = 0, c: int = 0) -> int:
        if op in (Op.ADD, Op.MUL) and a > b:
            a, b = b, a
        key = int(op), a, b, c
        if key not in self._known:
            operands = (a, b, c) if op == Op.SELECT else (a, b)
            self._known[key] = self._append(op, a, b, c, all(self.held[i] for i in operands))
        return self._known[key]

    def primitive(self, op: Op, a: int, slope: int | None, c: int = 0) -> int:
        """A value f(a) with df/da = `slope`; None: to be set later."""
        key = int(op), a, -1, c
        if key not in self._known:
            b = 0 if slope is None or self.held[a] else slope
            self._known[key] = self._append(op, a, b, c, self.held[a] and self.held[c])
        return self._known[key]

    # Arithmetic, with the cheap forms for held operands.

    def plus(self, a: int, b: int) -> int:
        if a == self.zero or b == self.zero:
            return b if a == self.zero else a
        if self.held[a] != self.held[b]:
            return self.add(Op.ADD_HELD, b if self.held[a] else a, a if self.held[a] else b)
        return self.add(Op.ADD, a, b)

    def minus(self, a: int, b: int) -> int:
        if b == self.zero:
            return a
        if a == self.zero:
            return self.negative(b)
        if self.held[a] and not self.held[b]:
            return self.add(Op.RSUB_HELD, b, a)
        if self.held[b] and not self.held[a]:
            return self.add(Op.ADD_HELD, a, self.negative(b))
        return self.add(Op.SUB, a, b)

    def negative(self, a: int) -> int:
        return self.add(Op.NEG, a)

    def times(self, a: int, b: int) -> int:
        if a == b:
            return self.add(Op.SQ, a)
        if self.zero in (a, b):
            return self.zero
        if self.one in (a, b):
            return b if a == self.one else a
        if self.held[a] != self.held[b]:
            return self.add(Op.SCALE, b if self.held[a] else a, a if self.held[a] else b)
        return self.add(Op.MUL, a, b)

    def over(self, a: int, b: int) -> int:
        if self.held[b]:
            return self.times(a, self.inverse(b)) if b != self.one else a
        return self.inverse(b) if a == self.one else self.add(Op.DIV, a, b)

    def inverse(self, a: int) -> int:
        return self.add(Op.INV, a)

    def sqrt(self, a: int) -> int:
        return self.add(Op.SQRT, a)

    def select(self, condition: int, yes: int, no: int) -> int:
        if condition == self.zero or condition == self.one or yes == no:
            return no if condition == self.zero else yes
        return self.add(Op.SELECT, condition, yes, no)

    # Functions with a known slope.

    def exp(self, a: int) -> int:
        d = self.primitive(Op.EXP, a, None)
        if not self.held[a]:
            self.b[d] = d
        return d

    def sin_cos(self, a: int) -> tuple[int, int]:
        s, c = self.primitive(Op.SIN, a, None), self.primitive(Op.COS, a, None)
        if not self.held[a]:
            self.b[s], self.b[c] = c, self.negative(s)
        return s, c

    def sinh_cosh(self, a: int) -> tuple[int, int]:
        s, c = self.primitive(Op.SINH, a, None), self.primitive(Op.COSH, a, None)
        if not self.held[a]:
            self.b[s], self.b[c] = c, s
        return s, c

    def tangent(self, a: int, op: Op) -> int:
        """tan' = 1 + tan^2, tanh' = 1 - tanh^2."""
        d = self.primitive(op, a, None)
        if not self.held[a]:
            square = self.times(d, d)
            self.b[d] = self.plus(square, self.one) if op == Op.TAN else self.minus(self.one, square)
        return d

    def inverse_function(self, op: Op, a: int) -> int:
        """log, log1p, asin, acos, atan, asinh, acosh, atanh: their slopes are algebraic."""
        if self.held[a]:
            return self.primitive(op, a, None)
        square = self.times(a, a) if op not in (Op.LOG, Op.LOG1P) else a
        if op in (Op.LOG, Op.LOG1P):
            base = a if op == Op.LOG else self.plus(a, self.one)
        elif op in (Op.ATAN, Op.ASINH):
            base = self.plus(square, self.one)
        elif op == Op.ACOSH:
            base = self.minus(square, self.one)
        else:
            base = self.minus(self.one, square)
        if op in (Op.ASIN, Op.ACOS, Op.ASINH, Op.ACOSH):
            base = self.sqrt(base)
        slope = self.inverse(base)
        return self.primitive(op, a, self.negative(slope) if op == Op.ACOS else slope)

    def erf(self, a: int) -> int:
        slope = self.times(self.const(2.0 / sqrt(pi)), self.exp(self.negative(self.times(a, a))))
        return self.primitive(Op.ERF, a, slope)

    def atan2(self, y: int, x: int) -> int:
        """d' = (x y' - y x')/(x^2 + y^2), as two primitives, the second of which starts at zero."""
        if self.held[y] and self.held[x]:
            return self.primitive(Op.ATAN2, y, None, x)
        square = self.plus(self.times(x, x), self.times(y, y))
        first = self._append(Op.ATAN2, y, self.over(x, square), x, False)
        second = self._append(Op.ZERO_START, x, self.over(y, square), 0, False)
        return self.minus(first, second)

    def power(self, a: int, b: int) -> int:
        if not self.held[b]:
            return self.exp(self.times(b, self.inverse_function(Op.LOG, a)))
        value = self.constant[b] if self.op[b] == Op.CONST else 0.5 * sqrt(2.0)
        if value == 0.5:
            return self.sqrt(a)
        if value != int(value) or abs(value) > 64:
            return self.add(Op.POWER, a, b)
        result, square, n = self.one, a, int(abs(value))
        while n:
            if n & 1:
                result = self.times(result, square)
            n >>= 1
            if n:
                square = self.times(square, square)
        return self.inverse(result) if value < 0 else result

    # Switches.

    def switch(self, g: int, kind: int) -> int:
        """The held mode of a switch on the value g."""
        key = -1 - kind, g, 0, 0
        if key not in self._known:
            mode = self._known[key] = self._append(Op.MODE, 0, 0, 0, True)
            self.switches.append(Switch(g, kind, mode))
        return self._known[key]

    def floor(self, a: int) -> int:
        return self.switch(a, FLOOR)

    def truncate(self, a: int) -> int:
        down, up = self.floor(a), self.negative(self.floor(self.negative(a)))
        return self.select(self.switch(a, NOT_BELOW), down, up)

    def lookup(self, use: TableUse, arguments: list[int]) -> list[int]:
        """The values of a lookup, orders outermost."""
        table = use.table
        number = len(self.lookups)
        switches, local = [], []
        for i, g in enumerate(arguments):
            breaks = table.breaks if isinstance(table, Table) else (table.breaks1, table.breaks2)[i]
            kind = table.extrapolation if isinstance(table, Table) else table.extrapolation[i]
            low, high = extrapolation_limits(breaks, kind)
            origin = self._append(Op.MODE, 0, 0, 0, True)
            period = float(breaks[-1] - breaks[0]) if kind == "periodic" else 0.0
            switches.append(len(self.switches))
            self.switches.append(Switch(g, PIECE, origin, breaks, low, high, period, number))
            local.append(self.minus(g, origin))
        data, increment, rows2 = _coefficients(table, use.orders)
        first = len(self.op)
        for _ in range(data.shape[1]):
            self._append(Op.MODE, 0, 0, 0, True)
        self.lookups.append(Lookup(switches, first, data.shape[1], data, increment, rows2, table))
        powers = table.powers if isinstance(table, Table2) else (table.powers,)
        basis = [self._powers(u, k) for u, k in zip(local, powers, strict=True)]
        results, place = [], first
        for order in use.orders:
            counts = [max(k - o, 1) for k, o in zip(powers, order, strict=True)]
            for _ in range(table.components):
                total = self.zero
                for p in range(counts[0]):
                    for q in range(counts[1] if len(counts) > 1 else 1):
                        monomial = self.times(basis[0][p], basis[1][q]) if len(counts) > 1 else basis[0][p]
                        total = self.plus(total, self.times(monomial, place))
                        place += 1
                results.append(total)
        return results

    def _powers(self, u: int, count: int) -> list[int]:
        powers = [self.one, u]
        for p in range(2, count):
            powers.append(self.times(powers[p // 2], powers[p - p // 2]))
        return powers[: max(count, 1)]


def _coefficients(
    table: Table | Table2, orders: object
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """(rows, count) coefficients of all orders and components, (count,) growth per period, rows of axis 2."""
    blocks, growth = [], []
    if isinstance(table, Table):
        rows = np.concatenate([table.outside[:1], table.coefficients, table.outside[1:]])
        for (order,) in orders:  # type: ignore[attr-defined]
            block = differentiate(rows, order)
            increment = np.zeros(block.shape[1:])
            if order == 0:
                increment[:, 0] = table.increment
            blocks.append(block.reshape(rows.shape[0], -1))
            growth.append(increment.ravel())
        return np.concatenate(blocks, axis=1), np.concatenate(growth), 1
    rows = table.rows
    for order1, order2 in orders:  # type: ignore[attr-defined]
        block = differentiate(np.swapaxes(differentiate(rows, order2), 3, 4), order1)
        blocks.append(np.swapaxes(block, 3, 4).reshape(rows.shape[0] * rows.shape[1], -1))
    data = np.concatenate(blocks, axis=1)
    return data, np.zeros(data.shape[1]), rows.shape[1]
