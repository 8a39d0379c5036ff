"""Pieces of a piecewise polynomial: search, Horner's rule, derivatives and continuation beyond the range.

The last axis of a coefficient array `c` holds ascending powers.
"""

from __future__ import annotations

from functools import cache
from math import factorial, floor, isfinite
from typing import Any

import numpy as np

from sekant.errors import DataError, suggest

EXTRAPOLATIONS = ("error", "constant", "linear", "polynomial", "periodic", "explicit")
_SLACK = 1e-9


def check_breaks(breaks: Any, label: str) -> np.ndarray:
    x = np.array(breaks, dtype=float)
    if x.ndim != 1 or x.size < 2:
        raise DataError(f"{label}: it needs a list of at least two points (got shape {x.shape})")
    check_finite(x, label, "points")
    bad = np.flatnonzero(np.diff(x) <= 0)
    if bad.size:
        i = int(bad[0])
        raise DataError(
            f"{label}: the points must increase, but point {i + 2} ({x[i + 1]:.6g}) follows {x[i]:.6g}; "
            "sort the data and remove repeated points"
        )
    return x


def check_extrapolation(kind: str, label: str) -> None:
    if kind not in EXTRAPOLATIONS:
        raise DataError(f"{label}: unknown extrapolation '{kind}'; {suggest(kind, EXTRAPOLATIONS)}")


def check_finite(values: np.ndarray, label: str, what: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        raise DataError(f"{label}: the {what} contain {values[tuple(bad[0])]} at index {bad[0].tolist()}")


def extrapolation_limits(breaks: np.ndarray, extrapolation: str) -> tuple[float, float]:
    """The pieces apply from the first to the second value; beyond these, the outside polynomials apply."""
    a, b = float(breaks[0]), float(breaks[-1])
    if extrapolation in ("polynomial", "periodic"):
        return -np.inf, np.inf
    slack = _SLACK * (b - a) if extrapolation == "error" else 0.0
    return a - slack, b + slack


def locate(breaks: np.ndarray, extrapolation: str, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Local distance, row (0 below, 1..n the pieces, n+1 above) and number of whole periods for each x."""
    n = breaks.size - 1
    laps = np.zeros(x.shape)
    if extrapolation == "periodic":
        with np.errstate(invalid="ignore"):
            laps = np.floor((x - breaks[0]) / (breaks[-1] - breaks[0]))
            x = x - laps * (breaks[-1] - breaks[0])
    low, high = extrapolation_limits(breaks, extrapolation)
    row = np.clip(np.searchsorted(breaks, x, side="right"), 1, n)
    row = np.where(x < low, 0, np.where(x > high, n + 1, row))
    origin = np.concatenate([breaks[:1], breaks])
    with np.errstate(invalid="ignore"):
        return x - origin[row], row, laps


def locate_one(breaks: np.ndarray, extrapolation: str, x: float) -> tuple[float, int, float]:
    """Like `locate`, for one number, in a tenth of the time."""
    first, last, laps = float(breaks[0]), float(breaks[-1]), 0.0
    if extrapolation == "periodic" and isfinite(x):
        laps = floor((x - first) / (last - first))
        x -= laps * (last - first)
    low, high = extrapolation_limits(breaks, extrapolation)
    if x < low:
        return x - first, 0, laps
    if x > high:
        return x - last, breaks.size, laps
    row = min(max(int(breaks.searchsorted(x, "right")), 1), breaks.size - 1)
    return x - float(breaks[row - 1]), row, laps


def monomials(u: float, powers: int, order: int) -> np.ndarray:
    """(powers,): the order-th derivatives of u^p for p = 0..powers-1."""
    found, power = [0.0 * u] * min(order, powers), 1.0 + 0.0 * u  # NaN remains NaN
    for factor in _factors(powers, order):
        found.append(factor * power)
        power *= u
    return np.array(found)


def factors(powers: int, order: int) -> np.ndarray:
    """p!/(p - order)! for p = order..powers-1: the factors of the order-th derivative of x^p."""
    return np.array(_factors(powers, order))


@cache
def _factors(powers: int, order: int) -> list[float]:
    return [factorial(p) / factorial(p - order) for p in range(order, powers)]


def differentiate(c: np.ndarray, order: int) -> np.ndarray:
    """Coefficients (last axis) of the derivative; at least one power remains. Order 0: `c` itself."""
    if order == 0:
        return c
    if order >= c.shape[-1]:
        return 0.0 * c[..., :1]
    return c[..., order:] * factors(c.shape[-1], order)


def integrate(c: np.ndarray) -> np.ndarray:
    """Coefficients (last axis) of the antiderivative that vanishes at the origin of the piece."""
    zero = np.zeros((*c.shape[:-1], 1))
    return np.concatenate([zero, c / np.arange(1, c.shape[-1] + 1)], axis=-1)


def horner(c: np.ndarray, x: Any, order: int) -> np.ndarray:
    d = differentiate(c, order)
    with np.errstate(invalid="ignore", over="ignore"):
        y = d[..., -1] + 0.0 * x
        for p in range(d.shape[-1] - 2, -1, -1):
            y = y * x + d[..., p]
    return y


def shift_polynomial(c: np.ndarray, at: float) -> np.ndarray:
    """The same polynomials (last axis) in powers of the distance from `at`."""
    return np.stack(
        [horner(c, np.full(c.shape[:-1], at), p) / factorial(p) for p in range(c.shape[-1])], axis=-1
    )


def continuation(c: np.ndarray, extrapolation: str) -> np.ndarray:
    """The continuation of the end polynomial `c` by an extrapolation (last axis, about that end)."""
    keep = {"error": 0, "constant": 1, "linear": 2}.get(extrapolation, c.shape[-1])
    result = c.copy()
    result[..., keep:] = 0.0
    if extrapolation == "error":
        result[...] = np.nan
    return result


def with_continuations(
    c: np.ndarray, axis: int, power_axis: int, breaks: np.ndarray, extrapolation: str
) -> np.ndarray:
    c = np.moveaxis(c, (axis, power_axis), (0, -1))
    below = continuation(c[0], extrapolation)
    above = continuation(shift_polynomial(c[-1], breaks[-1] - breaks[-2]), extrapolation)
    return np.moveaxis(np.concatenate([below[None], c, above[None]]), (0, -1), (axis, power_axis))


def axis_kinks(c: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """Kinks along the first axis of `c`, whose last axis holds the powers of that direction."""
    jump = np.zeros(breaks.size - 2, dtype=bool)
    for order in (0, 1):
        d = differentiate(c, order)
        width = np.diff(breaks).reshape(-1, *[1] * (d.ndim - 2))
        left = horner(d, width, 0)
        difference = np.abs(left[:-1] - d[1:, ..., 0])
        scale = np.max(np.abs(left)) + np.max(np.abs(d[..., 0])) + 1e-300
        jump |= np.any(difference > 1e-9 * scale, axis=tuple(range(1, difference.ndim)))
    return breaks[1:-1][jump]
