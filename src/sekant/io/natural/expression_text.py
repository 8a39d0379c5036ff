"""CasADi expression -> text in the language of files, where it has the same operations.

An expression is a list of instructions; each becomes a piece of text with a rank that says how tightly it binds, so
that only the parentheses that are needed appear.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import casadi as ca

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.expressions.expression import RESERVED, Expression, is_name

LONGEST = 4_000
"""Characters of an expression that a reader may still want to see."""

LOOSE, SUM, PRODUCT, ATOM = range(4)
Piece = tuple[str, int]

CALLS = {
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_ATAN2: "atan2",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_SQRT: "sqrt",
    ca.OP_HYPOT: "hypot",
    ca.OP_FABS: "abs",
    ca.OP_SIGN: "sign",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_FMIN: "min",
    ca.OP_FMAX: "max",
}
COMPARISONS = {
    ca.OP_LT: "<",
    ca.OP_LE: "<=",
    ca.OP_EQ: "==",
    ca.OP_NE: "!=",
    ca.OP_AND: "and",
    ca.OP_OR: "or",
}


def expression_text(expression: SX, names: Mapping[int, str]) -> str | float:
    """A scalar expression as a number or text; `names`: those of symbols, by their `element_hash`.

    Raises `ModelError` with the reason where there is no such text.
    """
    if expression.is_constant():
        return float(expression)
    symbols = ca.symvar(expression)
    for symbol in symbols:
        name = names.get(symbol.element_hash())
        if name is None:
            raise ModelError(f"it contains '{symbol.name()}', a table or symbol that a file does not have")
        if not is_name(name) or (name in RESERVED and name != "t"):
            raise ModelError(f"the name '{name}' cannot stand in an expression")
    function = ca.Function("text", symbols, [expression])
    work: dict[int, Piece] = {}
    result = ""
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        out, into = function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_OUTPUT:
            result = work[into[0]][0]
        elif op == ca.OP_CONST:
            work[out[0]] = _number(function.instruction_constant(k))
        elif op == ca.OP_INPUT:
            work[out[0]] = names[symbols[into[0]].element_hash()], ATOM
        else:
            work[out[0]] = _operation(op, [work[i] for i in into])
            if len(work[out[0]][0]) > LONGEST:
                raise ModelError(f"its text would be longer than {LONGEST} characters")
    return Expression(result).text


def _number(value: float) -> Piece:
    if not math.isfinite(value):
        raise ModelError(f"it contains the number {value}")
    text = repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return text, SUM if value < 0 else ATOM


def _operation(op: int, arguments: list[Piece]) -> Piece:
    plain = [text for text, _ in arguments]
    if op in CALLS:
        return f"{CALLS[op]}({', '.join(plain)})", ATOM
    if op == ca.OP_ADD or op == ca.OP_SUB:
        sign = "+" if op == ca.OP_ADD else "-"
        return f"{_bound(arguments[0], SUM)} {sign} {_bound(arguments[1], PRODUCT)}", SUM
    if op == ca.OP_MUL or op == ca.OP_DIV:
        sign = "*" if op == ca.OP_MUL else "/"
        return f"{_bound(arguments[0], PRODUCT)}{sign}{_bound(arguments[1], ATOM)}", PRODUCT
    first = _bound(arguments[0], ATOM)
    if op in COMPARISONS:
        return f"{first} {COMPARISONS[op]} {_bound(arguments[1], ATOM)}", LOOSE
    if op in (ca.OP_POW, ca.OP_CONSTPOW):
        return f"{first}^{_bound(arguments[1], ATOM)}", PRODUCT
    if op == ca.OP_IF_ELSE_ZERO:
        return f"if_else({plain[0]}, {plain[1]}, 0)", ATOM
    simple = {
        ca.OP_NEG: (f"-{first}", SUM),
        ca.OP_SQ: (f"{first}^2", PRODUCT),
        ca.OP_TWICE: (f"2*{first}", PRODUCT),
        ca.OP_INV: (f"1/{first}", PRODUCT),
        ca.OP_NOT: (f"not {first}", LOOSE),
        ca.OP_LOG1P: (f"log(1 + {_bound(arguments[0], PRODUCT)})", ATOM),
        ca.OP_EXPM1: (f"exp({plain[0]}) - 1", SUM),
    }
    if op not in simple:
        shown = str(ca.SX.unary(op, ca.SX.sym("x")) if len(arguments) == 1 else f"operation {op}")
        raise ModelError(f"it contains {shown}, which the expressions of files do not know")
    return simple[op]


def _bound(piece: Piece, rank: int) -> str:
    text, own = piece
    return text if own >= rank else f"({text})"
