"""A table that approximates a function of one variable: cubic splines, separated where the function jumps or kinks.

If the error of a spline does not decrease with denser nodes, there is a break. A jump is found by bisection:
the half in which the function changes most is halved again, down to two neighboring numbers. A kink is where
the polynomials through the nodes on its two sides meet; denser nodes around that place locate it more exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.tables.table import Table

Floats = NDArray[np.float64]
Function = Callable[[float], float]

CLOSE = 1e-9
"""Tolerance between the nodes, relative to the largest value."""
FIRST_ROWS, SEARCHED, SCANNED, MOST_ROWS = 4, 49, 1025, 2**18 + 1
"""Initial number of nodes (one cubic); number above which breaks are searched; number of points at which
every stretch is checked; largest number of nodes of a stretch."""
MOST_BREAKS = 500
SHORTEST = 1e-9
"""Shortest stretch between breaks, relative to the whole range: a shorter one counts as a point and is ignored."""
SIDE = 5
"""Number of nodes on each side that locate a kink."""


def following(function: Function, begin: float, end: float, name: str) -> Table:
    """The table of `function` over [begin, end], constant beyond; breaks closer than a thousandth may be missed.

    Raises `DataError` if the function is not finite, or cannot be approximated.
    """
    stretches, waiting, points = [], [(begin, end)], 0
    while waiting:
        a, b = waiting.pop()
        if b - a < SHORTEST * (end - begin):
            points += 1
            continue
        found = _follow(function, a, b, name)
        if isinstance(found, Table):
            stretches.append(found)
            continue
        if len(stretches) + len(waiting) + points >= MOST_BREAKS:
            raise DataError(f"it has more than {MOST_BREAKS} jumps or kinks")
        before, after = found
        waiting += [(after, b), (a, before)]  # the earlier one comes first
    return _joined(stretches, name)


def _joined(stretches: list[Table], name: str) -> Table:
    """One table of stretches (n > 0), each of which extends to the beginning of the next."""
    breaks = np.concatenate([*(s.breaks[:-1] for s in stretches), stretches[-1].breaks[-1:]])
    coefficients = np.concatenate([s.coefficients for s in stretches])
    return Table(breaks, coefficients, extrapolation="constant", name=name)


def _follow(function: Function, a: float, b: float, name: str) -> Table | tuple[float, float]:
    """A table over [a, b], or the place of a break: the last number before it and the first one after it."""
    rows, before = FIRST_ROWS, np.inf
    between, exact = _looked_at(function, a, b, SCANNED)
    while True:
        t = np.linspace(a, b, rows)
        u = _values(function, t)
        table = Table.cubic(t, u, name=name)
        if rows > SCANNED:
            between, exact = _looked_at(function, a, b, rows)
        errors = np.abs(table(between)[:, 0] - exact)
        worst = int(np.argmax(errors))
        error, size = (
            float(errors[worst]),
            max(float(np.max(np.abs(u))), float(np.max(np.abs(exact))), 1e-300),
        )
        if error <= CLOSE * size:
            return table if rows > FIRST_ROWS else Table(t[[0, -1]], table.coefficients[:1], name=name)
        if rows >= SEARCHED and error > 0.25 * before:
            i = min(int((between[worst] - a) / (b - a) * (rows - 1)), rows - 2)
            found = _jump(function, t[max(i - 1, 0)], t[min(i + 2, rows - 1)], CLOSE * size)
            found = found or _kink(function, a, b, t[i], t[i + 1], CLOSE * size)
            if found is not None:
                return found
        if rows >= MOST_ROWS:
            raise DataError(
                f"a spline through {rows} points is off by {error:.2g} at t = {between[worst]:.6g} s"
            )
        rows, before = 2 * rows - 1, error


def _looked_at(function: Function, a: float, b: float, rows: int) -> tuple[Floats, Floats]:
    """Points (rows - 1,) between equal nodes over [a, b], and the values there."""
    nodes = np.linspace(a, b, rows)
    between = 0.5 * (nodes[1:] + nodes[:-1])
    return between, _values(function, between)


def _jump(function: Function, left: float, right: float, close: float) -> tuple[float, float] | None:
    """Two neighboring numbers in [left, right] between which the function changes by more than `close`."""
    at_left, at_right = _values(function, np.array([left, right]))
    while True:
        middle = 0.5 * (left + right)
        if not left < middle < right:
            return (left, right) if abs(at_right - at_left) > close else None
        value = _values(function, np.array([middle]))[0]
        if abs(value - at_left) > abs(at_right - value):
            right, at_right = middle, value
        else:
            left, at_left = middle, value


def _kink(
    function: Function, a: float, b: float, left: float, right: float, close: float
) -> tuple[float, float] | None:
    """The number in or next to [left, right] at which polynomials from its two sides meet at an angle
    (returned twice)."""
    place, width, sides = 0.5 * (left + right), 1.5 * (right - left), []
    for _ in range(5):
        nodes = np.arange(SIDE) * width / SIDE
        low, high = place - width, place + width
        if low - nodes[-1] < a or high + nodes[-1] > b:
            return None
        sides = [
            Polynomial.fit(x, _values(function, x), SIDE - 1, domain=[low, high], window=[-1, 1])
            for x in (low - nodes, high + nodes)
        ]
        meet = [x.real for x in (sides[0] - sides[1]).roots() if abs(x.imag) <= 1e-9 * width]
        inside = [x for x in meet if low <= x <= high]
        if not inside:
            return None
        place, width = min(inside, key=lambda x: abs(x - place)), width / 8
    angle = abs(sides[0].deriv()(place) - sides[1].deriv()(place))
    # for a smooth function the angle between the two sides is within the errors of their polynomials
    return (place, place) if angle * width > close else None


def _values(function: Function, t: Floats) -> Floats:
    values = np.array([float(function(float(x))) for x in t])
    if not np.all(np.isfinite(values)):
        raise DataError(f"it is not finite at t = {t[int(np.argmin(np.isfinite(values)))]:g} s")
    return values
