"""Converts the operations of a tape to the few operations that have recurrences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.sites import ABOVE, NOT_BELOW, SIGN
from sekant.solvers.taylor.codes import Op
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.tape import SeriesTape


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
        method = getattr(self, "do_" + name, None)
        if method is not None:
            return method(x, y)
        if name in _INVERSE:
            return self.nodes.inverse_function(_INVERSE[name], x)
        raise SolverError(
            f"the Taylor method has no series for the operation '{name}'; use another method, e.g. 'dop853'"
        )

    def do_add(self, x: int, y: int) -> int:
        return self.nodes.plus(x, y)

    def do_sub(self, x: int, y: int) -> int:
        return self.nodes.minus(x, y)

    def do_mul(self, x: int, y: int) -> int:
        return self.nodes.times(x, y)

    def do_div(self, x: int, y: int) -> int:
        return self.nodes.over(x, y)

    def do_neg(self, x: int, _: int) -> int:
        return self.nodes.negative(x)

    def do_sq(self, x: int, _: int) -> int:
        return self.nodes.times(x, x)

    def do_twice(self, x: int, _: int) -> int:
        return self.nodes.times(self.nodes.const(2.0), x)

    def do_inv(self, x: int, _: int) -> int:
        return self.nodes.inverse(x)

    def do_sqrt(self, x: int, _: int) -> int:
        return self.nodes.sqrt(x)

    def do_exp(self, x: int, _: int) -> int:
        return self.nodes.exp(x)

    def do_expm1(self, x: int, _: int) -> int:
        return self.nodes.primitive(Op.EXPM1, x, self.nodes.exp(x))

    def do_sin(self, x: int, _: int) -> int:
        return self.nodes.sin_cos(x)[0]

    def do_cos(self, x: int, _: int) -> int:
        return self.nodes.sin_cos(x)[1]

    def do_tan(self, x: int, _: int) -> int:
        return self.nodes.tangent(x, Op.TAN)

    def do_tanh(self, x: int, _: int) -> int:
        return self.nodes.tangent(x, Op.TANH)

    def do_sinh(self, x: int, _: int) -> int:
        return self.nodes.sinh_cosh(x)[0]

    def do_cosh(self, x: int, _: int) -> int:
        return self.nodes.sinh_cosh(x)[1]

    def do_erf(self, x: int, _: int) -> int:
        return self.nodes.erf(x)

    def do_atan2(self, x: int, y: int) -> int:
        return self.nodes.atan2(x, y)

    def do_hypot(self, x: int, y: int) -> int:
        n = self.nodes
        return n.sqrt(n.plus(n.times(x, x), n.times(y, y)))

    def do_pow(self, x: int, y: int) -> int:
        return self.nodes.power(x, y)

    do_constpow = do_pow

    def do_fabs(self, x: int, _: int) -> int:
        n = self.nodes
        return n.select(n.switch(x, NOT_BELOW), x, n.negative(x))

    def do_sign(self, x: int, _: int) -> int:
        return self.nodes.switch(x, SIGN)

    def do_copysign(self, x: int, y: int) -> int:
        n = self.nodes
        size = self.do_fabs(x, -1)
        return n.select(n.switch(y, NOT_BELOW), size, n.negative(size))

    def do_floor(self, x: int, _: int) -> int:
        return self.nodes.floor(x)

    def do_ceil(self, x: int, _: int) -> int:
        return self.nodes.negative(self.nodes.floor(self.nodes.negative(x)))

    def do_fmod(self, x: int, y: int) -> int:
        n = self.nodes
        return n.minus(x, n.times(y, n.truncate(n.over(x, y))))

    def do_remainder(self, x: int, y: int) -> int:
        n = self.nodes
        return n.minus(x, n.times(y, n.floor(n.plus(n.over(x, y), n.const(0.5)))))

    def do_fmin(self, x: int, y: int) -> int:
        return self.nodes.select(self.do_le(x, y), x, y)

    def do_fmax(self, x: int, y: int) -> int:
        return self.nodes.select(self.do_le(x, y), y, x)

    def do_lt(self, x: int, y: int) -> int:
        return self.nodes.switch(self.nodes.minus(y, x), ABOVE)

    def do_le(self, x: int, y: int) -> int:
        return self.nodes.switch(self.nodes.minus(y, x), NOT_BELOW)

    def do_if_else_zero(self, x: int, y: int) -> int:
        return self.nodes.select(self._condition(x), y, self.nodes.zero)

    def do_eq(self, x: int, y: int) -> int:
        return self._logic(Op.EQ, x, y)

    def do_ne(self, x: int, y: int) -> int:
        return self._logic(Op.NE, x, y)

    def do_and(self, x: int, y: int) -> int:
        return self.nodes.add(Op.AND, self._condition(x), self._condition(y))

    def do_or(self, x: int, y: int) -> int:
        return self.nodes.add(Op.OR, self._condition(x), self._condition(y))

    def do_not(self, x: int, _: int) -> int:
        return self.nodes.add(Op.NOT, self._condition(x))

    def _condition(self, x: int) -> int:
        """A condition as a held value. A moving value is almost never exactly zero: as a condition it is true."""
        return x if self.nodes.held[x] else self.nodes.one

    def _logic(self, op: Op, x: int, y: int) -> int:
        n = self.nodes
        if n.held[x] and n.held[y]:
            return n.add(op, x, y)
        return n.zero if op == Op.EQ else n.one


_INVERSE = {
    "log": Op.LOG,
    "log1p": Op.LOG1P,
    "asin": Op.ASIN,
    "acos": Op.ACOS,
    "atan": Op.ATAN,
    "asinh": Op.ASINH,
    "acosh": Op.ACOSH,
    "atanh": Op.ATANH,
}


def translate(tape: SeriesTape) -> tuple[Nodes, NDArray[np.int64]]:
    """The nodes, and the node of every value of the tape."""
    translator = _Translator(tape)
    return translator.nodes, np.array(translator.value, dtype=np.int64)
