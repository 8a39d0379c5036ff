"""Times at which an expression jumps or kinks, derived from its operations, so that integrators can stop there.

Every operation is brought to the form  a t + b  or  a t + b modulo m  where possible, with a, b and m free of
time. A comparison, step, abs, min, ... switches where such a form crosses a level. Superfluous times (a
branch that is not taken, a level that is never reached) do no harm; operations without such a form are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.expressions.parser import MAX_LENGTH

MOST_SWITCHES = 1_000_000


@dataclass(frozen=True)
class TimeSwitch:
    """Times of switching. `scale` None: the one time `start`. Otherwise the times start + k scale:

    for every whole k if `table` is None, else for every knot k of the argument of that table.
    """

    start: Expression
    scale: Expression | None = None
    table: str | None = None

    def times(
        self,
        begin: float,
        end: float,
        lookup: Callable[[str], Any] | None = None,
        knots: Callable[[str], Sequence[float]] | None = None,
    ) -> list[float]:
        """The times in [begin, end], sorted; `lookup` gives parameters, `knots` the knots of a table.

        Empty where they cannot be computed: a speed that is zero, a parameter that is not a number.
        """
        try:
            start = self.start.evaluate(lookup)
            scale = self.scale.evaluate(lookup) if self.scale is not None else None
        except ModelError:
            return []
        if not isinstance(start, float) or not isinstance(scale, (float, type(None))):
            return []
        times = [start] if scale is None else self._multiples(start, scale, begin, end, knots)
        return sorted(time for time in times if begin <= time <= end)

    def _multiples(self, start: float, scale: float, begin: float, end: float, knots: Any) -> list[float]:
        if self.table is not None:
            return [start + scale * knot for knot in knots(self.table)] if knots is not None else []
        if scale == 0:
            return []
        low, high = sorted(((begin - start) / scale, (end - start) / scale))
        if not high - low < MOST_SWITCHES:
            raise ModelError(
                f"the expression switches every {abs(scale):g} s, which is too often for the time from "
                f"{begin:g} to {end:g} s; make the switches less frequent"
            )
        return [start + k * scale for k in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]


class _Term:
    """A time-free expression under construction: its text, the precedence of its root, and its value if it is
    a number."""

    def __init__(self, text: str, strength: int, value: float | None = None, negative: _Term | None = None):
        self.text, self.strength, self.value, self.negative = text, strength, value, negative

    @staticmethod
    def number(value: float) -> _Term:
        return _Term(repr(value + 0.0).removesuffix(".0"), 3 if value >= 0 else 1, value)

    def within(self, strength: int) -> str:
        return self.text if self.strength >= strength else f"({self.text})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Term) and self.text == other.text

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __add__(self, other: _Term) -> _Term:
        if self.value is not None and other.value is not None:
            return _Term.number(self.value + other.value)
        if self.value == 0:
            return other
        if other.value == 0:
            return self
        return _Term(f"{self.within(1)} + {other.within(2)}", 1)

    def __neg__(self) -> _Term:
        if self.value is not None:
            return _Term.number(-self.value)
        return self.negative if self.negative is not None else _Term(f"-{self.within(3)}", 1, negative=self)

    def __mul__(self, other: _Term) -> _Term:
        if self.value is not None and other.value is not None:
            return _Term.number(self.value * other.value)
        if self.value == 0 or other.value == 0:
            return _Term.number(0.0)
        if self.value == 1:
            return other
        if other.value == 1:
            return self
        return _Term(f"{self.within(2)}*{other.within(3)}", 2)

    def __truediv__(self, other: _Term) -> _Term:
        if self.value is not None and other.value is not None and other.value != 0:
            return _Term.number(self.value / other.value)
        if self.value == 0 or other.value == 1:
            return self
        if other.value == -1:
            return -self
        return _Term(f"{self.within(2)}/{other.within(3)}", 2)


_ZERO, _ONE = _Term.number(0.0), _Term.number(1.0)


@dataclass
class _Form:
    """a t + b, or that modulo `modulus`."""

    a: _Term
    b: _Term
    modulus: _Term | None = None

    @property
    def is_constant(self) -> bool:
        return self.a.value == 0 and self.modulus is None

    def __add__(self, other: _Form) -> _Form | None:
        if self.modulus is not None and other.modulus is not None and self.modulus != other.modulus:
            return None
        return _Form(self.a + other.a, self.b + other.b, self.modulus or other.modulus)

    def scaled(self, by: Callable[[_Term], _Term]) -> _Form:
        return _Form(by(self.a), by(self.b), by(self.modulus) if self.modulus is not None else None)

    def __neg__(self) -> _Form:
        return self.scaled(lambda term: -term)


def time_switches(expression: Expression, constants: Collection[str] | None) -> list[TimeSwitch]:
    """See `Expression.time_switches`."""
    found: dict[tuple[str, str, str], TimeSwitch] = {}
    forms: list[_Form | None] = []

    def cross(form: _Form | None, scale: _Term | None = None, table: str | None = None) -> None:
        """Records where `form` is zero, or a multiple of `scale` (1 for a table: a knot)."""
        if form is None or form.a.value == 0:
            return
        step = scale if scale is not None else form.modulus
        start = -form.b / form.a
        every = None if step is None else step / form.a
        if max(len(start.text), len(every.text) if every else 0) > MAX_LENGTH // 4:
            return
        if not all(math.isfinite(term.value or 0.0) for term in (start, every) if term is not None):
            return
        key = (start.text, every.text if every else "", table or "")
        found[key] = TimeSwitch(
            Expression(start.text), None if every is None else Expression(every.text), table
        )

    for node in expression.nodes:
        args = [forms[i] for i in node.args]
        name = str(node.value)
        if node.kind == "call":
            if len(args) == 1 and args[0] is not None and args[0].modulus is None:
                cross(args[0], _ONE, name)
        elif name in _SWITCHES:
            for form, scale in _SWITCHES[name](args):
                cross(form, scale)
        forms.append(_form(expression, node, args, constants))
    return list(found.values())


def _form(expression: Expression, node: Any, args: list[_Form | None], constants: Any) -> _Form | None:
    """The form of one operation, from the forms of its arguments."""
    if node.kind == "number":
        return _Form(_ZERO, _Term.number(float(node.value)))
    if node.kind == "name":
        if node.value == "t":
            return _Form(_ONE, _ZERO)
        known = constants is None or node.value in constants
        return _Form(_ZERO, _Term(str(node.value), 4)) if known else None
    if any(arg is None for arg in args):
        return None
    known_args = [arg for arg in args if arg is not None]
    if node.kind == "operator" and node.value in _COMBINE:
        combined = _COMBINE[node.value](*known_args)
        if combined is not None:
            return combined
    if node.kind == "function" and node.value in ("floor", "ceil"):
        return _Form(_ZERO, _ZERO, _ONE) if not known_args[0].is_constant else _opaque(expression, node)
    if node.kind == "function" and node.value == "mod" and known_args[1].is_constant:
        x, y = known_args
        if not x.is_constant and x.modulus is None:
            return _Form(x.a, x.b, y.b)
    if all(arg.is_constant for arg in known_args) and node.kind != "call":
        return _opaque(expression, node)
    return None


def _opaque(expression: Expression, node: Any) -> _Form | None:
    """A time-free operation as text; a number if it is constant; None if it has no value."""
    text = expression.text[node.start : node.end]
    part = Expression(text)
    if not part.is_constant:
        return _Form(_ZERO, _Term(text, 4 if node.kind == "function" else 0))
    try:
        return _Form(_ZERO, _Term.number(part.evaluate()))
    except ModelError:
        return None


def _times(x: _Form, y: _Form) -> _Form | None:
    if x.is_constant:
        return y.scaled(lambda term: x.b * term)
    return x.scaled(lambda term: term * y.b) if y.is_constant else None


_COMBINE: dict[str, Callable[..., _Form | None]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x + -y,
    "neg": lambda x: -x,
    "*": _times,
    "/": lambda x, y: x.scaled(lambda term: term / y.b) if y.is_constant else None,
}

_Crossings = list[tuple[_Form | None, _Term | None]]


def _difference(x: _Form | None, y: _Form | None) -> _Form | None:
    return None if x is None or y is None else x + -y


def _pairs(args: list[_Form | None]) -> _Crossings:
    return [(_difference(x, y), None) for i, y in enumerate(args) for x in args[:i]]


def _pulse(args: list[_Form | None]) -> _Crossings:
    x, start, width = args[:3]
    rise = _difference(x, start)
    fall = _difference(rise, width)
    if len(args) == 3:
        return [(rise, None), (fall, None)]
    period = args[3]
    if period is None or not period.is_constant:
        return []
    return [(rise, period.b), (fall, period.b)]


def _mod(args: list[_Form | None]) -> _Crossings:
    x, y = args
    return [(x, y.b)] if y is not None and y.is_constant and x is not None and x.modulus is None else []


def _whole(args: list[_Form | None]) -> _Crossings:
    return [(args[0], _ONE)] if args[0] is not None and args[0].modulus is None else []


_SWITCHES: dict[str, Callable[[list[_Form | None]], _Crossings]] = {
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "min", "max"), _pairs),
    **dict.fromkeys(("step", "abs", "sign", "atan2"), lambda args: [(args[0], None)]),
    **dict.fromkeys(
        ("step5", "adams_step"),
        lambda args: [(_difference(args[0], args[1]), None), (_difference(args[0], args[3]), None)],
    ),
    "clamp": lambda args: [(_difference(args[0], args[1]), None), (_difference(args[0], args[2]), None)],
    **dict.fromkeys(("floor", "ceil"), _whole),
    "mod": _mod,
    "pulse": _pulse,
}
