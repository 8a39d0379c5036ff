"""Values of a drawing with their dependence on hard points: each has a value, and an expression for it.

Layouts compute with points as arrays. With arrays of floats, they build a model of numbers. With arrays of `Drawn`
objects, the same code builds a model whose placements are expressions of parameters such as ``lower_ball.z``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sekant.model.expressions.expression import Expression

AXES = "xyz"


class Drawn:
    """A `value` and the `text` of its expression."""

    __slots__ = ("text", "value")

    def __init__(self, value: float, text: str):
        self.value, self.text = float(value), text

    def __repr__(self) -> str:
        return f"{self.value:g} = {self.text}"

    def __float__(self) -> float:
        return self.value

    def __add__(self, other: Any) -> Drawn:
        if isinstance(other, float) and other == 0.0:
            return self
        return Drawn(self.value + float(other), f"({self.text} + {text_of(other)})")

    def __radd__(self, other: Any) -> Drawn:
        return self if float(other) == 0.0 else Drawn(float(other), repr(float(other))) + self

    def __sub__(self, other: Any) -> Drawn:
        return Drawn(self.value - float(other), f"({self.text} - {text_of(other)})")

    def __rsub__(self, other: Any) -> Drawn:
        return Drawn(float(other) - self.value, f"({text_of(other)} - {self.text})")

    def __neg__(self) -> Drawn:
        return Drawn(-self.value, f"(-{self.text})")

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Drawn):
            factor = float(other)
            if factor in (0.0, 1.0):
                return self if factor else 0.0
        return Drawn(self.value * float(other), f"({self.text}*{text_of(other)})")

    def __truediv__(self, other: Any) -> Drawn:
        return Drawn(self.value / float(other), f"({self.text}/{text_of(other)})")

    def __rtruediv__(self, other: Any) -> Drawn:
        return Drawn(float(other) / self.value, f"({text_of(other)}/{self.text})")

    def __abs__(self) -> Drawn:
        return self if self.value >= 0 else -self

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def sqrt(self) -> Drawn:
        return Drawn(np.sqrt(self.value), f"sqrt{self.text}" if self.text[0] == "(" else f"sqrt({self.text})")

    def arctan2(self, x: Any) -> Drawn:
        return Drawn(np.arctan2(self.value, float(x)), f"atan2({self.text}, {text_of(x)})")

    __rmul__ = __mul__


def text_of(number: Any) -> str:
    """A number as part of an expression."""
    if isinstance(number, Drawn):
        return number.text
    return repr(float(number)) if number >= 0 else f"({float(number)!r})"


def model_number(number: Any) -> float | Expression:
    """A number as in models: a float, or the expression of a `Drawn` number."""
    return Expression(number.text) if isinstance(number, Drawn) else float(number)


def numbers(p: ArrayLike) -> Any:
    """A vector as a tuple of floats or expressions, as in models."""
    return tuple(model_number(x) for x in np.asarray(p))


def values(p: ArrayLike) -> np.ndarray:
    """A vector (n,) as plain floats, as drawn."""
    return np.array([float(x) for x in np.asarray(p)])


def length(a: Any) -> Any:
    """The length of a vector (3,): a float, or a `Drawn` number."""
    a = np.asarray(a)
    square = a @ a
    return square.sqrt() if isinstance(square, Drawn) else float(np.sqrt(square))


def drawn_point(name: str, drawn: ArrayLike, mirrored: bool) -> np.ndarray:
    """A point (3,) as `Drawn` numbers of the parameters ``name.x`` ... at `drawn` m, mirrored or not."""
    found = [Drawn(x, f"{name}.{axis}") for x, axis in zip(np.asarray(drawn), AXES, strict=True)]
    if mirrored:
        found[1] = Drawn(found[1].value, f"(-{name}.y)")
    return np.array(found, dtype=object)
