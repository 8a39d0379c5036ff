"""Operators and functions of expressions, on plain numbers and on CasADi symbols.

Every entry is written once in terms of a small set of primitives. These exist twice: for floats (for
constants) and for CasADi. Where a function of floats has no value (log of -1, 1/0) it gives NaN or
infinity; only the value of the whole expression is checked, so `if_else` may exclude such values.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from sekant.errors import ModelError


def _number(function: Callable[..., float]) -> Callable[..., float]:
    """`function` of floats, with NaN where it has no value and infinity where it overflows."""

    def total(*args: float) -> float:
        try:
            return float(function(*args))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return total


def _divide(x: float, y: float) -> float:
    return x / y if y != 0 else math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x)


class Numbers:
    """The primitives on floats."""

    sin, cos, tan = _number(math.sin), _number(math.cos), _number(math.tan)
    asin, acos, atan = _number(math.asin), _number(math.acos), _number(math.atan)
    sinh, cosh, tanh = _number(math.sinh), _number(math.cosh), _number(math.tanh)
    exp, log, log10 = _number(math.exp), _number(math.log), _number(math.log10)
    floor, ceil, sqrt = _number(math.floor), _number(math.ceil), _number(math.sqrt)
    atan2, power, fabs = _number(math.atan2), _number(math.pow), _number(math.fabs)
    fmin, fmax = staticmethod(min), staticmethod(max)
    divide = staticmethod(_divide)
    truth = float

    @staticmethod
    def sign(x: float) -> float:
        return float((x > 0) - (x < 0))

    @staticmethod
    def both(x: float, y: float) -> float:
        return float(x != 0 and y != 0)

    @staticmethod
    def either(x: float, y: float) -> float:
        return float(x != 0 or y != 0)

    @staticmethod
    def inverse(x: float) -> float:
        return float(x == 0)

    @staticmethod
    def choose(condition: float, x: float, y: float) -> float:
        return x if condition != 0 else y


@cache
def symbols() -> Any:
    """The primitives on CasADi expressions (loads CasADi)."""
    import casadi as ca

    from sekant.geometry.spatial import angle_of

    class Symbols:
        sin, cos, tan, asin, acos, atan = ca.sin, ca.cos, ca.tan, ca.asin, ca.acos, ca.atan
        sinh, cosh, tanh, exp, log, sqrt = ca.sinh, ca.cosh, ca.tanh, ca.exp, ca.log, ca.sqrt
        floor, ceil, fabs, sign = ca.floor, ca.ceil, ca.fabs, ca.sign
        atan2, fmin, fmax, log10 = angle_of, ca.fmin, ca.fmax, ca.log10
        both, either, inverse, choose = ca.logic_and, ca.logic_or, ca.logic_not, ca.if_else

        power, divide = operator.pow, operator.truediv

        @staticmethod
        def truth(x: Any) -> Any:
            return x

    return Symbols


def _clamp(m: Any, x: Any, low: Any, high: Any) -> Any:
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise ModelError(f"clamp: the lower limit {low:g} is above the upper limit {high:g}")
    return m.fmin(m.fmax(x, low), high)


def _ramp(m: Any, name: str, x: Any, x0: Any, x1: Any) -> Any:
    """(x - x0)/(x1 - x0), held at 0 below x0 and at 1 above x1."""
    if isinstance(x0, float) and isinstance(x1, float) and not x0 < x1:
        raise ModelError(f"{name}: x0 = {x0:g} must be below x1 = {x1:g}")
    return m.fmin(m.fmax(m.divide(x - x0, x1 - x0), 0.0), 1.0)


def _step5(m: Any, x: Any, x0: Any, y0: Any, x1: Any, y1: Any) -> Any:
    s = _ramp(m, "step5", x, x0, x1)
    return y0 + (y1 - y0) * (s * s * s * (10 + s * (6 * s - 15)))


def _step3(m: Any, x: Any, x0: Any, y0: Any, x1: Any, y1: Any) -> Any:
    s = _ramp(m, "adams_step", x, x0, x1)
    return y0 + (y1 - y0) * (s * s * (3 - 2 * s))


def _mod(m: Any, x: Any, y: Any) -> Any:
    """x - y floor(x/y): of the sign of y."""
    return x - y * m.floor(m.divide(x, y))


def _pulse(m: Any, x: Any, start: Any, width: Any, period: Any = None) -> Any:
    since = x - start
    running = m.truth(since >= 0)
    phase = since if period is None else _mod(m, since, period)
    return m.both(running, m.truth(phase < width))


def _fold(name: str) -> Callable[..., Any]:
    return lambda m, *args: reduce(getattr(m, name), args)


def _same(name: str) -> Callable[..., Any]:
    return lambda m, *args: getattr(m, name)(*args)


@dataclass(frozen=True)
class Function:
    """An operator or function: `apply(primitives, *arguments)`, and how to write it."""

    usage: str
    apply: Callable[..., Any]
    fewest: int
    most: int


OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda m, x, y: x + y,
    "-": lambda m, x, y: x - y,
    "*": lambda m, x, y: x * y,
    "/": lambda m, x, y: m.divide(x, y),
    "^": lambda m, x, y: m.power(x, y),
    "neg": lambda m, x: -x,
    "<": lambda m, x, y: m.truth(x < y),
    "<=": lambda m, x, y: m.truth(x <= y),
    ">": lambda m, x, y: m.truth(x > y),
    ">=": lambda m, x, y: m.truth(x >= y),
    "==": lambda m, x, y: m.truth(x == y),
    "!=": lambda m, x, y: m.truth(x != y),
    "and": lambda m, x, y: m.both(x, y),
    "or": lambda m, x, y: m.either(x, y),
    "not": lambda m, x: m.inverse(x),
}

_PRIMITIVE = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "log10", "sqrt", "sign", "floor", "ceil"),
)

FUNCTIONS: dict[str, Function] = {
    **{name: Function(f"{name}(x)", _same(name), 1, 1) for name in _PRIMITIVE},
    "abs": Function("abs(x)", _same("fabs"), 1, 1),
    "atan2": Function("atan2(y, x)", _same("atan2"), 2, 2),
    "hypot": Function("hypot(x, y)", lambda m, x, y: m.sqrt(x * x + y * y), 2, 2),
    "mod": Function("mod(x, y)", _mod, 2, 2),
    "min": Function("min(x, y, ...)", _fold("fmin"), 1, 50),
    "max": Function("max(x, y, ...)", _fold("fmax"), 1, 50),
    "clamp": Function("clamp(x, low, high)", _clamp, 3, 3),
    "if_else": Function("if_else(condition, x, y)", _same("choose"), 3, 3),
    "step": Function("step(x)", lambda m, x: m.truth(x >= 0), 1, 1),
    "step5": Function("step5(x, x0, y0, x1, y1)", _step5, 5, 5),
    "adams_step": Function("adams_step(x, x0, y0, x1, y1)", _step3, 5, 5),
    "pulse": Function("pulse(x, start, width[, period])", _pulse, 3, 4),
}
"""Functions of expressions, in addition to the tables of the model:

step(x): 0 below 0, 1 from 0 on. step5 and adams_step: from y0 at x0 to y1 at x1 by a polynomial of degree 5
(two derivatives continuous) or 3 (one). pulse: 1 while start <= x < start + width, else 0; with a period it
repeats from start on. mod(x, y) has the sign of y. if_else(condition, x, y): x where it is not 0, else y."""

CONSTANTS = {"pi": math.pi, "e": math.e}

RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS) | {"t", "and", "or", "not"}
"""Names that a parameter, table or sensor cannot have, because they are predefined in expressions."""


def evaluate(function: Callable[..., Any], args: list[Any]) -> Any:
    """An operator, or the `apply` of a function, on `args`: a float if all of them are, else CasADi."""
    if all(isinstance(arg, float) for arg in args):
        return float(function(Numbers, *args))
    return function(symbols(), *args)
