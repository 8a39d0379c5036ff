"""Integrals of smooth functions over many intervals, as Legendre series on each.

The values of a function at the Gauss points of an interval determine its Legendre coefficients there, and
those of its integral from the left end. These coefficients are well conditioned; powers of the same degree are not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]
_NODES, _WEIGHTS = legendre.leggauss(12)
_PROJECTION = (legendre.legvander(_NODES, 11) * _WEIGHTS[:, None] * (np.arange(12) + 0.5)).T
RESOLVED = 1e-14
"""Relative size of the last coefficients of a series below which it counts as exact."""


def subdivided(ends: Array, unresolved: Callable[[Array, Array], NDArray[np.bool_]]) -> Array:
    """Ends (n,) of the intervals between `ends`, halved where `unresolved(left, right)` is true of them."""
    left, right = ends[:-1], ends[1:]
    least = 1e-9 * (right[-1] - left[0])
    found = [right[-1:]]
    while left.size:
        halved = unresolved(left, right) & (right - left > least)
        found.append(left[~halved])
        middle = 0.5 * (left + right)[halved]
        left, right = np.concatenate([left[halved], middle]), np.concatenate([middle, right[halved]])
    return np.sort(np.concatenate(found))


def gauss_places(left: Array, right: Array) -> Array:
    """(n, 12): points at which the integrand is needed on the intervals from `left` to `right` (n,)."""
    return 0.5 * (left + right)[:, None] + 0.5 * (right - left)[:, None] * _NODES


def series(values: Array) -> Array:
    """Legendre coefficients (n, 12) of a function from its values at `gauss_places`."""
    return values @ _PROJECTION.T


def tail(coefficients: Array) -> Array:
    """Size (n,) of the last coefficients of a series: further terms would be smaller."""
    return np.abs(coefficients[:, -3:]).max(axis=1)


def integrated(coefficients: Array, h: Array) -> Array:
    """Coefficients (n, 13) of the integrals from the left ends of intervals of lengths h (n,)."""
    return 0.5 * h[:, None] * legendre.legint(coefficients, lbnd=-1, axis=1)


def at_share(coefficients: Array, share: Array) -> Array:
    """Values (n,) of n series at a share (n,) in [0, 1] of their intervals."""
    return np.asarray(legendre.legval(2.0 * share - 1.0, coefficients.T, tensor=False), dtype=np.float64)
