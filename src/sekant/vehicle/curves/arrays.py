"""Operations on arrays of numbers or of CasADi expressions.

Each formula of a curve is written once. With numbers it returns values, with expressions it returns expressions that
can be compiled and differentiated. Arrays of expressions have the dtype object.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

_atan2 = np.frompyfunc(ca.atan2, 2, 1)
_sign = np.frompyfunc(ca.sign, 1, 1)


def symbolic(*arrays: Any) -> bool:
    """Whether one of the arrays contains expressions."""
    return any(isinstance(a, np.ndarray) and a.dtype == object for a in arrays)


def dot(a: Any, b: Any) -> Any:
    """Scalar product of vectors along the last axis."""
    return (a * b).sum(axis=-1)


def norm(a: Any) -> Any:
    """Length of vectors along the last axis."""
    return np.sqrt(dot(a, a))


def cross(a: Any, b: Any) -> Any:
    """Vector product along the last axis; NumPy's own takes several times as long for a few dozen vectors."""
    a0, a1, a2, b0, b1, b2 = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    first = a1 * b2 - a2 * b1
    found = np.empty((*np.shape(first), 3), dtype=object if symbolic(a, b) else float)
    found[..., 0] = first
    found[..., 1] = a2 * b0 - a0 * b2
    found[..., 2] = a0 * b1 - a1 * b0
    return found


def angle(y: Any, x: Any) -> Any:
    """atan2(y, x)."""
    return _atan2(y, x) if symbolic(y, x) else np.arctan2(y, x)


def sign(a: Any) -> Any:
    return _sign(a) if symbolic(a) else np.sign(a)


def beyond(a: Any, bound: float) -> Any:
    """The values, with NaN in place of those whose magnitude is not larger than a bound."""
    if not symbolic(a):
        return np.where(np.abs(a) > bound, a, np.nan)
    return np.frompyfunc(lambda x: ca.if_else(x * x > bound**2, x, np.nan), 1, 1)(a)


def elements(a: Any) -> np.ndarray:
    """A CasADi matrix as an array of its elements, (rows,) or (rows, columns)."""
    a = ca.densify(a)
    found = np.empty(a.shape, dtype=object)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[i, j] = a[i, j]
    return found[:, 0] if a.shape[1] == 1 else found
