"""Ranges of travel and steering: they are parsed, and divided such that the design position is one of the points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import read_value
from sekant.model.ranges import split_range

LONGEST = 2.0  # m, of travel or rack: larger values are in millimeters without the unit


def given_range(text: str | None, default: Any, what: str) -> tuple[float, float]:
    """(low, high) in m from a string such as ``-80..80 mm``, or `default` if `text` is None."""
    if text is None:
        return float(default[0]), float(default[1])
    first, last, count = split_range(text, what, "mm")
    if count is not None:
        raise ModelError(
            f"{what}: '{text}' contains a number of values, but only a range is allowed here; set the number of "
            "values with --points or --racks"
        )
    low, high = (_length(end, what) for end in (first, last))
    if not low < high:
        raise ModelError(f"{what}: the range '{text}' must increase; write its lower end first")
    return low, high


def _length(text: str, what: str) -> float:
    try:
        value = float(text)
        if abs(value) >= LONGEST:
            raise ModelError(
                f"{what}: {text} without a unit means {text} m, which is too large; write {text}mm if you mean "
                "millimeters"
            )
    except ValueError:
        value = quantity(text, "m", what)
    if not np.isfinite(value):
        raise ModelError(f"{what}: '{text}' is not a finite number")
    return value


def quantity(given: Any, unit: str, what: str) -> float:
    """A value in SI from a number or a string with a unit such as ``80 mm``; `what` is its name in messages."""
    try:
        found = read_value(given, unit)
    except ModelError as error:
        raise ModelError(f"{what}: {error.message}") from None
    if isinstance(found, Expression):
        raise ModelError(f"{what}: '{given}' is not a number; give a number in {unit}")
    return float(found)  # type: ignore[arg-type]


def through_zero(low: float, high: float, count: int) -> NDArray[np.float64]:
    """`count` values from low to high; if zero lies between them, it is one of the values, and the others are as
    evenly spaced as possible."""
    if count == 1:
        return np.array([min(max(0.0, low), high)])
    if not low < 0 < high or count < 3:
        return np.linspace(low, high, count)
    below = min(max(1, round((count - 1) * -low / (high - low))), count - 2)
    return np.concatenate([np.linspace(low, 0, below + 1), np.linspace(0, high, count - below)[1:]])


def grid_values(given: ArrayLike | None, default: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Increasing values (k,) m of a drive, from numbers or strings such as ``-80 mm``; `default` if none are given.

    `what` is their name in messages.
    """
    if given is None:
        return default
    entries = [given] if isinstance(given, str) else given
    if isinstance(entries, (list, tuple)) and any(isinstance(x, str) for x in entries):
        entries = [_length(str(x), what) for x in entries]
    try:
        values = np.atleast_1d(np.asarray(entries, float))
    except (TypeError, ValueError):
        raise ModelError(f"{what} must consist of finite, increasing numbers (got {given})") from None
    if values.size and np.nanmax(np.abs(values)) >= LONGEST:
        span = f"{np.nanmin(values):g} to {np.nanmax(values):g}"
        raise ModelError(
            f"{what} is in meters, so the given values, {span}, are too large; write a unit, such as '50 mm', if "
            "you mean millimeters"
        )
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)) or np.any(np.diff(values) <= 0):
        raise ModelError(f"{what} must consist of finite, increasing numbers (got {given})")
    return values
