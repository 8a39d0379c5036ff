"""Signals from Python functions: a function is called once, and its computation is recorded as expressions.

Its arguments are recorders instead of numbers. They support arithmetic, comparisons, NumPy's functions of
numbers and ``np.where``; the record becomes named expressions, so no Python runs with the model, derivatives
are exact, and the model can be written to a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sekant.errors import ModelError, suggest
from sekant.model.expressions.expression import Expression, is_name
from sekant.model.signals.base import Signal
from sekant.model.signals.expression import ExpressionSignal

LONGEST = 300
"""Length of text above which a part of an expression becomes its own signal."""
DEEPEST = 20
MOST = 20_000
"""Operations that a function may record."""
_CALLS = {
    **{
        name: name
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt", "sign")
    },
    **{name: name for name in ("floor", "ceil", "hypot")},
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "absolute": "abs",
    "fabs": "abs",
    "maximum": "max",
    "fmax": "max",
    "minimum": "min",
    "fmin": "min",
    "remainder": "mod",
    "mod": "mod",
}
_SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "power": "^",
    "float_power": "^",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
    "logical_and": "and",
    "logical_or": "or",
}


class Traced:
    """A quantity that records the operations on it."""

    __slots__ = ("args", "depth", "size", "word")
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, word: str, args: tuple[Traced, ...] = ()):
        self.word, self.args = word, args
        self.depth = 1 + max((arg.depth for arg in args), default=0)
        self.size = 1 + sum(arg.size for arg in args)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__" or options:
            raise _unknown(f"np.{name}.{method}")
        if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
            return np.frompyfunc(lambda *parts: self.__array_ufunc__(ufunc, method, *parts), len(inputs), 1)(
                *inputs
            )
        args = tuple(_recorded(x) for x in inputs)
        if name in _CALLS:
            return Traced(_CALLS[name], args)
        if name in _SIGNS:
            return Traced(_SIGNS[name], args)
        if name == "negative":
            return Traced("neg", args)
        if name == "logical_not":
            return Traced("not", args)
        if name == "square":
            return Traced("*", (args[0], args[0]))
        if name == "reciprocal":
            return Traced("/", (_recorded(1.0), args[0]))
        raise _unknown(f"np.{name}")

    def __array_function__(self, function: Any, types: Any, args: tuple, options: dict) -> Any:
        name = function.__name__
        if name == "where" and len(args) == 3 and not options:
            return Traced("if_else", tuple(_recorded(x) for x in args))
        if name == "clip" and len(args) == 3 and not options:
            return np.minimum(np.maximum(args[0], args[1]), args[2])
        raise _unknown(f"np.{name}")

    def __bool__(self) -> bool:
        raise ModelError(
            "a recorded function cannot use Python's 'if', 'and', 'or', 'min' or 'max', because the values "
            "are not known while it is recorded; use np.where, np.logical_and, np.minimum, np.maximum"
        )

    def __float__(self) -> float:
        raise ModelError(
            "a recorded function cannot convert a quantity to a plain number (as math.sin does); use NumPy's "
            "functions, such as np.sin"
        )

    __int__ = __index__ = __float__  # type: ignore[assignment]


def _unknown(name: str) -> ModelError:
    short = name.removeprefix("np.")
    known = [*_CALLS, *_SIGNS, "where", "clip", "square"]
    return ModelError(f"{name} cannot be recorded as an expression; {suggest(short, known, 'functions')}")


def _operator(ufunc: np.ufunc, swapped: bool = False) -> Callable[..., Any]:
    def apply(self: Traced, *others: Any) -> Any:
        return ufunc(*(reversed((self, *others)) if swapped else (self, *others)))

    return apply


for _name, _ufunc in (
    ("add", np.add),
    ("sub", np.subtract),
    ("mul", np.multiply),
    ("truediv", np.true_divide),
    ("pow", np.power),
    ("mod", np.remainder),
):
    setattr(Traced, f"__{_name}__", _operator(_ufunc))
    setattr(Traced, f"__r{_name}__", _operator(_ufunc, swapped=True))
for _name, _ufunc in (
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
    ("eq", np.equal),
    ("ne", np.not_equal),
    ("and", np.logical_and),
    ("or", np.logical_or),
    ("neg", np.negative),
    ("abs", np.absolute),
    ("invert", np.logical_not),
):
    setattr(Traced, f"__{_name}__", _operator(_ufunc))


def _recorded(x: Any) -> Traced:
    if isinstance(x, Traced):
        return x
    number = float(x)
    if not np.isfinite(number):
        raise ModelError(f"a recorded function used the number {number}, which an expression cannot contain")
    return Traced(repr(number) if number >= 0 else f"({number!r})")


def traced(
    name: str, function: Callable[..., Any], unit: str = "1", /, **quantities: str | float
) -> dict[str, Signal]:
    """Signals that together compute the same values as a Python function; the last signal has the name `name`.

    `quantities`: for each argument of the function a quantity of the model ("rail.q", "t", a sensor, a parameter),
    any expression, or a number. The function may use +, -, *, /, **, %, comparisons, &, |, NumPy's functions of
    numbers, ``np.where`` and ``np.clip``, loops and functions of its own. If it returns a dictionary, its entries
    are the signals ``name_key``. Parts that are used several times become signals ``name_1``, ``name_2``, ...
    """
    if not is_name(name):
        raise ModelError(f"'{name}' is not a valid name for a signal; use letters, digits and '_'")
    arguments = {key: Traced(_text(value)) for key, value in quantities.items()}
    try:
        found = function(**arguments)
    except TypeError as error:
        raise ModelError(f"signal '{name}' cannot record {_title(function)}: {error}") from None
    except ModelError as error:
        raise ModelError(f"signal '{name}' cannot record {_title(function)}: {error.message}") from None
    outputs = (
        {f"{name}_{key}": x for key, x in found.items()} if isinstance(found, Mapping) else {name: found}
    )
    texts = _written(name, {key: _recorded(x) for key, x in outputs.items()})
    return {key: ExpressionSignal(value=_value(text), unit=unit) for key, text in texts.items()}  # type: ignore[arg-type]


def _title(function: Callable[..., Any]) -> str:
    return f"the function '{getattr(function, '__name__', function)}'"


def _text(value: str | float) -> str:
    if isinstance(value, str):
        return value if is_name(value) else f"({Expression(value).text})"
    return _recorded(value).word


def _value(text: str) -> Expression | float:
    try:
        return float(text.strip("()"))
    except ValueError:
        return Expression(text)


def _written(name: str, outputs: dict[str, Traced]) -> dict[str, str]:
    """Texts of the signals, in the order in which they use one another."""
    order, seen, uses = [], set(), Counter()
    stack = [(x, False) for x in reversed(list(outputs.values()))]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        if len(seen) > MOST:
            raise ModelError(f"signal '{name}' records more than {MOST} operations; simplify the function")
        stack.append((node, True))
        for arg in node.args:
            uses[id(arg)] += 1
            stack.append((arg, False))
    texts: dict[int, str] = {}
    depths: dict[int, int] = {}
    found: dict[str, str] = {}
    for node in order:
        parts = [texts[id(arg)] for arg in node.args]
        text, depth = _joined(node.word, parts), 1 + max((depths[id(arg)] for arg in node.args), default=0)
        if node.args and (uses[id(node)] > 1 or len(text) > LONGEST or depth > DEEPEST):
            part = f"{name}_{len(found) + 1}"
            found[part], text, depth = text, part, 1
        texts[id(node)], depths[id(node)] = text, depth
    return {**found, **{key: texts[id(x)] for key, x in outputs.items()}}


def _joined(word: str, parts: list[str]) -> str:
    if not parts:
        return word
    if word == "neg":
        return f"(-{parts[0]})"
    if word == "not":
        return f"(not {parts[0]})"
    if word in _SIGNS.values():
        return f"({parts[0]} {word} {parts[1]})"
    return f"{word}({', '.join(parts)})"
