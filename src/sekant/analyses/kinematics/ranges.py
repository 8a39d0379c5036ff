"""The requested drives and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.quantities import SweepQuantity
from sekant.engine.arguments import names_of
from sekant.errors import SekantError
from sekant.model.quantities import read_value
from sekant.model.ranges import is_range, split_range

Vector = NDArray[np.float64]
Drive = str | Sequence[str] | Mapping[str, Any]
MOST = 10_000_000
"""Largest number of values of one drive."""


class Span(tuple):
    """A range of values: (first, last, count)."""


def requested_values(drive: Drive, range: Any, values: Any, path: bool = False) -> dict[str, Any]:
    """The requested values of each drive by name, unconverted: a `Span` or a list of values."""
    if isinstance(drive, Mapping):
        if range is not None or values is not None:
            raise SekantError(
                "kinematics: the mapping of drives already gives their values; "
                "omit the arguments 'range' and 'values'"
            )
        requested = {name: _kind(given) for name, given in drive.items()}
    else:
        names = names_of(drive, "drive")
        if (range is None) == (values is None):
            raise SekantError("kinematics: give either range = (first, last, count) or values")
        given = values if range is None else range
        parts = [given] if isinstance(drive, str) or not isinstance(given, Iterable) else list(given)
        if len(parts) != len(names):
            raise SekantError(
                f"kinematics: give each drive one range or list of values (got {len(parts)} for "
                f"{len(names)} drive{'' if len(names) == 1 else 's'})"
            )
        if len(set(names)) != len(names):
            raise SekantError(f"kinematics: a drive is named twice ({', '.join(names)})")
        requested = {
            name: part if range is None else _span(name, part)
            for name, part in zip(names, parts, strict=True)
        }
    if not 1 <= len(requested) <= 2 and not (path and requested):
        raise SekantError(
            f"kinematics: a grid has one or two drives (got {len(requested)}); for more drives, set path=True"
        )
    return requested


def axis(drive: SweepQuantity, given: Any, path: bool = False) -> Vector:
    """Values (n,) of one drive in SI units; all different unless they belong to a path."""
    if isinstance(given, Span):
        first, last = (_number(drive, x) for x in given[:2])
        if given[2] > MOST:
            raise SekantError(
                f"kinematics: the range of '{drive.name}' has more than {MOST:,} values; reduce the count"
            )
        if given[2] > 1 and first == last and not path:
            raise SekantError(
                f"kinematics: the range of '{drive.name}' is empty: its first and last values are equal"
            )
        return np.linspace(first, last, given[2])
    plain = isinstance(given, np.ndarray) and given.dtype == np.float64 and bool(np.isfinite(given).all())
    try:
        rows = np.atleast_1d(given if plain else np.asarray(given, object))
        values = rows if plain else np.array([_number(drive, x) for x in rows.tolist()])
    except TypeError:
        raise SekantError(f"kinematics: the values of '{drive.name}' are not a list of numbers") from None
    if not values.size:
        raise SekantError(f"kinematics: no values are given for '{drive.name}'")
    if not path and not np.diff(np.sort(values)).all():
        raise SekantError(f"kinematics: the values of '{drive.name}' contain the same value twice")
    return values


def _kind(given: Any) -> Any:
    """An entry of a mapping: a tuple of three values that ends with a whole number is a range; anything else is a
    list of values."""
    is_span = isinstance(given, tuple) and len(given) == 3 and isinstance(given[2], (int, np.integer))
    return Span(given) if is_span and given[2] >= 1 else given


def _span(name: str, given: Any) -> Span:
    if is_range(given):
        first, last, count = split_range(given, f"kinematics: the range of '{name}'")
        given = (first, last, 101 if count is None else count)
    parts = list(given) if isinstance(given, (tuple, list)) else []
    if len(parts) != 3 or not isinstance(parts[2], (int, np.integer)) or parts[2] < 1:
        raise SekantError(
            f"kinematics: the range of '{name}' must be (first, last, count), where count is a positive whole "
            f"number (got {given!r})"
        )
    return Span(parts)


def _number(drive: SweepQuantity, given: Any) -> float:
    """The value of a drive in SI units, from a finite number or a string with a unit, such as "30 deg"."""
    try:
        value = float(given)
    except (TypeError, ValueError, OverflowError):
        found = read_value(given, drive.unit)
        if not isinstance(found, float):
            raise SekantError(
                f"kinematics: '{given}' is not a value of '{drive.name}'; give a number in {drive.unit or 'SI units'}"
            ) from None
        return found
    if not np.isfinite(value):
        raise SekantError(f"kinematics: a value of '{drive.name}' is not finite ({given})")
    return value
