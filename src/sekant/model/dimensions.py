"""Dimensions of expressions: parameters and numbers with units carry them through sums, products and
functions.

A number without a unit has no dimension that could be checked ("free"), and neither have its products. Names other
than parameters (time, coordinates, sensors), tables, and the results of functions such as sin are free, too. Angles
count as plain numbers: a velocity may be an angular velocity times a radius.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.expressions.parser import Node, fault
from sekant.model.fields import Path, measured
from sekant.model.quantities import Given
from sekant.units import NONE, Unit, parse_unit

if TYPE_CHECKING:
    from sekant.model.model import Model

Exponents = tuple[Fraction, ...]
"""Exponents of m, kg, s and rad."""
Lookup = Callable[[str], Exponents | None]

_PLAIN: Exponents = tuple(Fraction(0) for _ in NONE)
_NUMBER: Exponents = (*_PLAIN[:3], Fraction(0))  # results of functions: free, and neutral in products
_ANGLE: Exponents = (*_PLAIN[:3], Fraction(1))
_ALIKE = {"+": "adds", "-": "subtracts", **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), "compares")}
_OF_PLAIN = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "log10", "asin", "acos", "atan")
_SAME = {
    "abs": (0,),
    "min": None,
    "max": None,
    "clamp": None,
    "hypot": None,
    "mod": (0, 1),
    "if_else": (1, 2),
}
_SAME |= {"step5": (2, 4), "adams_step": (2, 4)}
"""Functions whose result has the dimension of these arguments, which must agree (None: all arguments)."""
_ARGUMENTS = {"atan2": (0, 1), "step5": (0, 1, 3), "adams_step": (0, 1, 3), "pulse": (0, 1, 2, 3)}
"""Functions whose result is a plain number; these arguments must have the same dimension."""


def dimension_of(expression: Expression, lookup: Lookup) -> Exponents | None:
    """Dimension of the value, None if it is free; raises `ModelError` where dimensions contradict each other."""
    found: list[Exponents | None] = []
    for node in expression.nodes:
        found.append(_of_node(expression, node, [found[i] for i in node.args], lookup))
    return found[-1]


def _of_node(
    expression: Expression, node: Node, args: list[Exponents | None], lookup: Lookup
) -> Exponents | None:
    name = str(node.value)
    if node.kind == "number":
        return None if node.dimension is None else _exponents(node.dimension)
    if node.kind == "name":
        return lookup(name)
    if node.kind == "call":
        return None
    if name == "neg":
        return args[0]
    if name in _ALIKE:
        both = _common(expression, node, args, (0, 1), _ALIKE[name])
        return both if name in "+-" else _NUMBER
    if name in "*/":
        if args[0] is None or args[1] is None:
            return None
        if args[0] is _NUMBER and args[1] is _NUMBER:
            return _NUMBER
        sign = 1 if name == "*" else -1
        return tuple(a + sign * b for a, b in zip(args[0], args[1], strict=True))
    if name == "^":
        return _power(expression, node, args)
    return _of_function(expression, node, name, args)


def _of_function(
    expression: Expression, node: Node, name: str, args: list[Exponents | None]
) -> Exponents | None:
    if name in _ARGUMENTS:
        _common(expression, node, args, _ARGUMENTS[name], "compares")
    if name in _SAME:
        places = _SAME[name]
        return _common(expression, node, args, range(len(args)) if places is None else places, "mixes")
    if name == "sqrt":
        return args[0] if args[0] is None or args[0] is _NUMBER else tuple(a / 2 for a in args[0])
    if name == "atan2":
        return _ANGLE
    if name in ("sign", "step", "pulse", "and", "or", "not"):
        return _NUMBER
    if name in _OF_PLAIN:
        if args[0] is not None and args[0][:3] != _PLAIN[:3]:
            raise fault(
                expression.text,
                node.start,
                f"{name} takes an angle or a plain number, but '{_part(expression, node.args[0])}' is "
                f"{_called(args[0])}",
            )
        return _ANGLE if name in ("asin", "acos", "atan") else _NUMBER
    return None


def _power(expression: Expression, node: Node, args: list[Exponents | None]) -> Exponents | None:
    power = expression.nodes[node.args[1]]
    if args[0] is None or args[0] is _NUMBER:
        return args[0]
    if args[0][:3] == _PLAIN[:3]:
        return _PLAIN
    sign = -1 if power.kind == "operator" and power.value == "neg" else 1
    number = expression.nodes[power.args[0]] if sign < 0 else power
    if number.kind != "number" or number.dimension is not None:
        return None
    return tuple(a * sign * Fraction(float(number.value)).limit_denominator(100) for a in args[0])


def _common(
    expression: Expression, node: Node, args: list[Exponents | None], places: Any, does: str
) -> Exponents | None:
    """The dimension of those arguments that have one; raises `ModelError` if they differ."""
    known = [i for i in places if i < len(args) and args[i] is not None and args[i] is not _NUMBER]
    for i in known[1:]:
        one, other = args[known[0]], args[i]
        assert one is not None
        assert other is not None
        if one[:3] != other[:3]:
            first, second = (_part(expression, node.args[k]) for k in (known[0], i))
            raise fault(
                expression.text,
                node.start,
                f"'{_text(expression, node)}' {does} {_called(one)} ('{first}') and {_called(other)} ('{second}')",
            )
    return args[known[0]] if known else None if None in args else _NUMBER


def _part(expression: Expression, index: int) -> str:
    return _text(expression, expression.nodes[index])


def _text(expression: Expression, node: Node) -> str:
    return expression.text[node.start : node.end]


def _exponents(dimension: tuple[int, ...]) -> Exponents:
    return tuple(Fraction(power) for power in dimension)


def _called(dimension: Exponents) -> str:
    """The name of a dimension, with its unit: "a stiffness (N/m)"."""
    if any(power.denominator != 1 for power in dimension):
        parts = zip(("kg", "m", "s", "rad"), (dimension[i] for i in (1, 0, 2, 3)), strict=True)
        return "a quantity in " + "*".join(f"{name}^{power}" for name, power in parts if power)
    unit = Unit(1.0, tuple(int(power) for power in dimension))  # pyright: ignore[reportArgumentType]
    return f"{unit.kind} ({unit.si})" if unit.si and not unit.kind.endswith(unit.si) else unit.kind


def check_dimension(expression: Expression, unit: str, lookup: Lookup) -> None:
    """Raises `ModelError` if the value of the expression has another dimension than `unit` ("": a plain number)."""
    found = dimension_of(expression, lookup)
    wanted = _exponents(parse_unit(unit).dimension if unit not in ("", "1") else NONE)
    if found is not None and found is not _NUMBER and found[:3] != wanted[:3]:
        raise ModelError(f"'{expression.text}' is {_called(found)}, but {_called(wanted)} is expected")


def parameter_dimensions(model: Model) -> tuple[dict[str, Exponents | None], list[ModelError]]:
    """Dimensions of the parameters, and faults of those that are computed from others."""
    known: dict[str, Exponents | None] = {}
    wrong: list[ModelError] = []

    def lookup(name: str) -> Exponents | None:
        if name not in known:
            value = model.parameters.get(name)
            known[name] = _exponents(parse_unit(value.text).dimension) if isinstance(value, Given) else None
            if isinstance(value, Expression):
                try:
                    known[name] = dimension_of(value, lookup)
                except ModelError as error:
                    wrong.append(ModelError(error.message, path=("parameters", name)))
        return known[name]

    for name in model.parameters:
        lookup(name)
    return known, wrong


def dimension_faults(model: Model, by_coordinate: Callable[[Path], str | None]) -> Iterator[ModelError]:
    """Expressions whose dimension is not that of their field.

    `by_coordinate(path)`: the unit of a number that follows from the coordinate on which it acts, else None.
    """
    known, wrong = parameter_dimensions(model)
    yield from wrong
    if not any(dimension is not None for dimension in known.values()):
        return
    for name in type(model).model_fields:
        if name in ("parameters", "tables", "curves"):
            continue
        for path, unit, expression in measured(getattr(model, name), (name,)):
            if not isinstance(expression, Expression):
                continue
            unit = by_coordinate(path) if unit is None else unit
            try:
                if unit is None:
                    dimension_of(expression, known.get)
                else:
                    check_dimension(expression, unit, known.get)
            except ModelError as error:
                yield ModelError(error.message, path=path)
