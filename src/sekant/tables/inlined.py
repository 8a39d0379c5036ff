"""Builds expressions at the speed of CasADi's own code.

Each operation on small SX matrices costs about 20 us in Python, before any element is processed. A function
with many of them is therefore traced once, with symbols for its arguments, to a CasADi function. Calling this
with SX arguments repeats all operations element by element, and folds zeros, ones and other constants exactly
as if the function had been run again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import casadi as ca

P = ParamSpec("P")
T = TypeVar("T")


def inlined(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator for functions whose operations do not depend on the values of the arguments.

    Positional arguments and results: dense SX, or dataclasses, lists and tuples of them, or None. Keyword
    arguments are plain hashable values; the function may branch on them, and on shapes.
    """
    traces: dict[Any, tuple[ca.Function, Any]] = {}

    @wraps(function)
    def call(*arguments: P.args, **settings: P.kwargs) -> T:
        leaves: list[ca.SX] = []
        form = _flatten(arguments, leaves)
        key = (form, tuple(settings.items()))
        if key not in traces:
            symbols: list[ca.SX] = []
            results: list[ca.SX] = []
            given = _with_symbols(form, symbols)
            result_form = _flatten(function(*given, **settings), results)  # type: ignore[arg-type]
            name = function.__name__.strip("_")
            traces[key] = ca.Function(name, symbols, [ca.densify(r) for r in results]), result_form
        trace, result_form = traces[key]
        return _rebuild(result_form, iter(trace.call(leaves)))

    return call


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _flatten(value: Any, leaves: list[ca.SX]) -> Any:
    """Append the matrices in `value` to `leaves`; returns their structure."""
    if isinstance(value, ca.SX):
        leaves.append(value)
        return value.size1(), value.size2()
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return type(value), tuple(_flatten(item, leaves) for item in value)
    if not is_dataclass(value):
        raise TypeError(f"an inlined function accepts SX and dataclasses of SX (got {type(value).__name__})")
    kind = type(value)
    return kind, tuple(_flatten(getattr(value, name), leaves) for name in _field_names(kind))


def _with_symbols(form: Any, symbols: list[ca.SX]) -> Any:
    def take(rows: int, columns: int) -> ca.SX:
        symbols.append(ca.SX.sym(f"x{len(symbols)}", rows, columns))
        return symbols[-1]

    return _build(form, take)


def _rebuild(form: Any, leaves: Any) -> Any:
    return _build(form, lambda rows, columns: next(leaves))


def _build(form: Any, take: Callable[[int, int], ca.SX]) -> Any:
    if form is None:
        return None
    kind, parts = form
    if isinstance(kind, int):
        return take(kind, parts)
    items = [_build(part, take) for part in parts]
    return kind(items) if kind in (list, tuple) else kind(*items)
