"""Ranges as texts, one syntax for every command and file: ``10..40 kN/m``.

The unit holds for both ends unless the first has its own (``-5 cm..80 mm``); without a unit the numbers are in SI. A
count may follow: ``-80..80 mm:41`` are 41 values.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import read_value

_FORM = re.compile(r"\s*(?P<first>.*?)\s*\.\.\s*(?P<last>.*?)\s*(?::\s*(?P<count>[^:\s]*)\s*)?")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
MOST = 1_000_000
"""Largest number of values in a range."""


@dataclass(frozen=True)
class ValueRange:
    """From `first` to `last` in SI, both included; `count` values, None where the text has no number of them."""

    first: float
    last: float
    count: int | None = None

    def values(self, default: int) -> NDArray[np.float64]:
        """(count,) evenly spaced values; `default` of them if the text has no count."""
        return np.linspace(self.first, self.last, self.count or default)


def is_range(text: object) -> bool:
    """Whether a text has the form of a range."""
    return isinstance(text, str) and ".." in text


def read_range(text: str, unit: str | None, what: str, *, rising: bool = False) -> ValueRange:
    """The range written as `text`, in SI; `unit`: of its numbers, None for any unit. `what` names it in messages.

    `rising`: the last value must be above the first.
    """
    first, last, count = split_range(text, what, unit)
    found = ValueRange(_number(first, unit, what), _number(last, unit, what), count)
    if found.first == found.last and found.count != 1:
        raise ModelError(f"{what}: the two ends of '{text}' are equal; give two different values")
    if rising and not found.first < found.last:
        raise ModelError(f"{what}: '{text}' must increase; write the lower end first")
    return found


def split_range(text: str, what: str, unit: str | None = None) -> tuple[str, str, int | None]:
    """The texts of both ends, each with its unit, and the count, if there is one."""
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None or not match["first"] or not match["last"]:
        example = f"{what}: write a range such as 10..40{f' {unit}' if unit and unit != '1' else ''}"
        raise ModelError(f"{example} (got '{text}')")
    first, last = match["first"], match["last"]
    end = _NUMBER.match(last)
    if _NUMBER.fullmatch(first) and end is not None:
        first += last[end.end() :]  # the unit of the second number applies to both
    return first, last, _count(match["count"], what)


def read_named_range(text: str, what: str) -> tuple[str, str]:
    """Name and range of ``c=200..9000 N*s/m``."""
    name, equals, told = (part.strip() for part in text.partition("="))
    if not (name and equals and is_range(told)):
        raise ModelError(f"{what}: write NAME=RANGE, e.g. k=10..40 kN/m (got '{text}')")
    return name, told


def _number(text: str, unit: str | None, what: str) -> float:
    if _NUMBER.fullmatch(text):
        value = float(text)
    else:
        try:
            found = read_value(text, unit)
        except ModelError as error:
            raise ModelError(f"{what}: {error.message}") from None
        if isinstance(found, Expression):
            raise ModelError(
                f"{what}: '{text}' is not a number with a unit; write a range such as 10..40 kN/m"
            )
        value = float(found)  # type: ignore[arg-type]
    if not math.isfinite(value):
        raise ModelError(f"{what}: '{text}' is not finite")
    return value


def _count(text: str | None, what: str) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise ModelError(
            f"{what}: '{text}' after the colon must be the number of values (1 to {MOST}), as in 10..40 "
            "kN/m:21"
        )
    return int(text)
