"""Converts the operations of a tape to the few operations that have recurrences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.sites import ABOVE, NOT_BELOW, SIGN
from sekant.solvers.taylor.codes import Op
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.tape import SeriesTape

Series = Callable[[Nodes, int, int], int]


class _Translator:
    """Converts a tape to nodes; `value[i]` is the node of value i."""

    def __init__(self, tape: SeriesTape):
        self.nodes = Nodes()
        self.value: list[int] = []
        starts = {use.first: use for use in tape.lookups}
        pending: list[int] = []
        a, b = tape.a.tolist(), tape.b.tolist()
        for i, name in enumerate(tape.op):
            if name == "input":
                self.value.append(self.nodes.input(a[i], b[i]))
            elif name == "const":
                self.value.append(self.nodes.const(float(tape.constant[i])))
            elif name == "lookup":
                if i in starts:
                    use = starts[i]
                    pending = self.nodes.lookup(use, [self.value[j] for j in use.arguments])
                self.value.append(pending.pop(0))
            else:
                second = self.value[b[i]] if b[i] >= 0 else -1
                self.value.append(self.operation(name, self.value[a[i]], second))

    def operation(self, name: str, x: int, y: int) -> int:
        series = SERIES.get(name)
        if series is None:
            raise SolverError(
                f"the Taylor method has no series for the operation '{name}'; use another method, e.g. 'dop853'"
            )
        return series(self.nodes, x, y)


def _absolute(n: Nodes, x: int, sign_of: int) -> int:
    """x, or -x if the other value is negative."""
    return n.select(n.switch(sign_of, NOT_BELOW), x, n.negative(x))


def _at_most(n: Nodes, x: int, y: int) -> int:
    return n.switch(n.minus(y, x), NOT_BELOW)


def _condition(n: Nodes, x: int) -> int:
    """A condition as a held value. A moving value is almost never exactly zero: as a condition it is true."""
    return x if n.held[x] else n.one


def _comparison(op: Op) -> Series:
    """A comparison of held values; those of moving values are almost never equal."""
    return lambda n, x, y: n.add(op, x, y) if n.held[x] and n.held[y] else n.zero if op == Op.EQ else n.one


def _inverse(op: Op) -> Series:
    return lambda n, x, _: n.inverse_function(op, x)


SERIES: dict[str, Series] = {
    "add": Nodes.plus,
    "sub": Nodes.minus,
    "mul": Nodes.times,
    "div": Nodes.over,
    "neg": lambda n, x, _: n.negative(x),
    "sq": lambda n, x, _: n.times(x, x),
    "twice": lambda n, x, _: n.times(n.const(2.0), x),
    "inv": lambda n, x, _: n.inverse(x),
    "sqrt": lambda n, x, _: n.sqrt(x),
    "exp": lambda n, x, _: n.exp(x),
    "expm1": lambda n, x, _: n.primitive(Op.EXPM1, x, n.exp(x)),
    "sin": lambda n, x, _: n.sin_cos(x)[0],
    "cos": lambda n, x, _: n.sin_cos(x)[1],
    "tan": lambda n, x, _: n.tangent(x, Op.TAN),
    "tanh": lambda n, x, _: n.tangent(x, Op.TANH),
    "sinh": lambda n, x, _: n.sinh_cosh(x)[0],
    "cosh": lambda n, x, _: n.sinh_cosh(x)[1],
    "erf": lambda n, x, _: n.erf(x),
    "atan2": Nodes.atan2,
    "hypot": lambda n, x, y: n.sqrt(n.plus(n.times(x, x), n.times(y, y))),
    "pow": Nodes.power,
    "constpow": Nodes.power,
    "fabs": lambda n, x, _: _absolute(n, x, x),
    "sign": lambda n, x, _: n.switch(x, SIGN),
    "copysign": lambda n, x, y: _absolute(n, _absolute(n, x, x), y),
    "floor": lambda n, x, _: n.floor(x),
    "ceil": lambda n, x, _: n.negative(n.floor(n.negative(x))),
    "fmod": lambda n, x, y: n.minus(x, n.times(y, n.truncate(n.over(x, y)))),
    "remainder": lambda n, x, y: n.minus(x, n.times(y, n.floor(n.plus(n.over(x, y), n.const(0.5))))),
    "fmin": lambda n, x, y: n.select(_at_most(n, x, y), x, y),
    "fmax": lambda n, x, y: n.select(_at_most(n, x, y), y, x),
    "lt": lambda n, x, y: n.switch(n.minus(y, x), ABOVE),
    "le": _at_most,
    "if_else_zero": lambda n, x, y: n.select(_condition(n, x), y, n.zero),
    "eq": _comparison(Op.EQ),
    "ne": _comparison(Op.NE),
    "and": lambda n, x, y: n.add(Op.AND, _condition(n, x), _condition(n, y)),
    "or": lambda n, x, y: n.add(Op.OR, _condition(n, x), _condition(n, y)),
    "not": lambda n, x, _: n.add(Op.NOT, _condition(n, x)),
    "log": _inverse(Op.LOG),
    "log1p": _inverse(Op.LOG1P),
    "asin": _inverse(Op.ASIN),
    "acos": _inverse(Op.ACOS),
    "atan": _inverse(Op.ATAN),
    "asinh": _inverse(Op.ASINH),
    "acosh": _inverse(Op.ACOSH),
    "atanh": _inverse(Op.ATANH),
}
"""Operation -> the node of its value from the nodes of its operands, the second one -1 if there is one operand."""


def translate(tape: SeriesTape) -> tuple[Nodes, NDArray[np.int64]]:
    """The nodes, and the node of every value of the tape."""
    translator = _Translator(tape)
    return translator.nodes, np.array(translator.value, dtype=np.int64)
