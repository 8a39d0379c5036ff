"""C99 expressions for each operation of an SX tape, in double or in single precision.

They are those of `sekant.engine.codegen.operation_table`, with the semantics of the native operations: NaN
propagates, and comparisons with it are false.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sekant.engine.codegen.operation_table import TABLE
from sekant.errors import SekantError


@dataclass(frozen=True)
class Precision:
    """`name`: "double" or "float"; `suffix`: of literals and of the functions of math.h; `snap`: times closer than
    this, relative to their size, count as equal; `round_off`: half the distance from 1 to the next number;
    `projection`: tolerance of constraints; `largest`: a state beyond it has diverged; its square is still
    representable."""

    name: str
    suffix: str
    bytes: int
    snap: float
    round_off: float
    projection: float
    largest: float

    def round(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(values, np.float32 if self.name == "float" else np.float64)

    def literal(self, value: float) -> str:
        """A literal that reads back as the same number."""
        if math.isnan(value):
            return "NAN"
        with np.errstate(over="ignore", under="ignore"):  # beyond single precision: infinite, or zero
            number = float(np.float32(value)) if self.name == "float" else float(value)
        if math.isinf(number):
            return "INFINITY" if number > 0 else "(-INFINITY)"
        if self.name == "float":
            text = np.format_float_positional(np.float32(number), unique=True, trim="0")
            if len(text) > 16:
                text = np.format_float_scientific(np.float32(number), unique=True, trim="0")
        else:
            text = repr(number)
        text = text if any(c in text for c in ".e") else f"{text}.0"
        text += self.suffix
        return f"({text})" if number < 0 or (number == 0 and math.copysign(1.0, number) < 0) else text


DOUBLE = Precision("double", "", 8, 1e-14, 2.0**-53, 1e-11, 1e100)
FLOAT = Precision("float", "f", 4, 1e-6, 2.0**-24, 1e-5, 1e18)
PRECISIONS = {p.name: p for p in (DOUBLE, FLOAT)}


def expression(op: int, a: str, b: str, precision: Precision) -> str:
    """The C expression of operation `op` on the operands `a` and `b` (names or literals)."""
    if op not in TABLE:
        raise SekantError(
            f"operation {op} of CasADi cannot be exported as C; if it is a function call, expand the function first"
        )
    return TABLE[op].c_text(precision.suffix).format(a=a, b=b)


def array(kind: str, name: str, values: Iterable[str]) -> str:
    """A constant array of C."""
    return f"static const {kind} {name}[] = {{{', '.join(values) or '0'}}};"


def power(v: str, a: str, exponent: float) -> str | None:
    """Statements that define `v` as a small integer power of `a` by products, or None where `pow` is better."""
    if not 0 < abs(exponent) <= 8 or exponent != int(exponent):
        return None
    lines, result, square, n = [], "", a, int(abs(exponent))
    while n:
        if n & 1:
            result = f"{result} * {square}" if result else square
        n >>= 1
        if n:
            name = f"{v}_{len(lines)}"
            lines.append(f"const real {name} = {square} * {square};")
            square = name
    value = f"1 / ({result})" if exponent < 0 else result
    return "\n    ".join([*lines, f"const real {v} = {value};"])
