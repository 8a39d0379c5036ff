"""Polynomial pieces through exact derivatives at both ends and, for higher degrees, exact values between them.

On [0, 1] a piece that takes s derivatives at each end is the left Taylor polynomial plus a correction of its error
at the right end. Only that error is multiplied by the large entries of the inverse, so the Taylor polynomial
itself does not suffer from cancellation. Values at inner nodes x_i then add a term x^s (1 - x)^s g(x), where
g interpolates the errors of the piece at the nodes.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@cache
def _upper(s: int) -> NDArray[np.longdouble]:
    """(s, s): coefficients of x^s ... x^(2s-1) from the errors of the derivatives at x = 1; exact integers
    and fractions, rounded once."""
    rows = [[Fraction(factorial(j), factorial(j - i)) for j in range(s, 2 * s)] for i in range(s)]
    return _inverse(rows)


def _inverse(rows: list[list[Fraction]]) -> NDArray[np.longdouble]:
    """Inverse of a matrix of fractions, by Gauss and Jordan's elimination."""
    n = len(rows)
    work = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(rows)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if work[k][i])
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [x / work[i][i] for x in work[i]]
        for k in range(n):
            if k != i:
                work[k] = [x - work[k][i] * y for x, y in zip(work[k], work[i], strict=True)]
    return _extended([row[n:] for row in work])


def _extended(rows: list[list[Fraction]]) -> NDArray[np.longdouble]:
    """Fractions as extended doubles, if the machine has these: entries are large and nearly cancel in products."""
    high = np.array([[float(x) for x in row] for row in rows])
    rest = [
        [float(x - Fraction(h)) for x, h in zip(row, first, strict=True)]
        for row, first in zip(rows, high.tolist(), strict=True)
    ]
    return high.astype(np.longdouble) + np.array(rest).astype(np.longdouble)


@cache
def inner_nodes(s: int, count: int) -> Array:
    """Places (count,) in [0, 1] of inner values: zeros of the polynomial orthogonal to the weight (x (1 - x))^(2s),
    so that x^s (1 - x)^s prod(x - x_i), the shape of the error, is as small as it can be in the mean square."""
    if count == 0:
        return np.zeros(0)
    a = 2.0 * s
    n = np.arange(1.0, count)
    off = np.sqrt(n * (n + 2.0 * a) / ((2.0 * n + 2.0 * a + 1.0) * (2.0 * n + 2.0 * a - 1.0)))
    return 0.5 * (1.0 + np.linalg.eigvalsh(np.diag(off, 1) + np.diag(off, -1)))


@cache
def _bubbles(s: int, count: int) -> NDArray[np.longdouble]:
    """(s + count, count): coefficients of x^s ... of the polynomials x^s (1 - x)^s l_i(x) that are one at the node i,
    zero at the other nodes and zero with s derivatives at both ends; exact, rounded once."""
    nodes = [Fraction(float(x)) for x in inner_nodes(s, count)]
    fade = [Fraction((-1) ** k * comb(s, k)) for k in range(s + 1)]  # (1 - x)^s
    columns = []
    for i, x in enumerate(nodes):
        g = [Fraction(1)]
        size = (x * (1 - x)) ** s
        for other in nodes[:i] + nodes[i + 1 :]:
            g = [p - other * q for p, q in zip([Fraction(0), *g], [*g, Fraction(0)], strict=True)]
            size *= x - other
        product = [Fraction(0)] * (s + count)
        for j, p in enumerate(fade):
            for k, q in enumerate(g):
                product[j + k] += p * q
        columns.append([c / size for c in product])
    return _extended(columns).T


def hermite_coefficients(breaks: Array, jet: Array) -> Array:
    """Coefficients (n, m, 2 s) of the pieces that take the jet (s, n + 1, m) at the breaks (n + 1,)."""
    return piece_coefficients(np.diff(breaks), jet[:, :-1], jet[:, 1:])


def piece_coefficients(h: Array, left: Array, right: Array, inner: Array | None = None) -> Array:
    """Coefficients (n, m, 2 s + e) of pieces of lengths h (n,) from the jets (s, n, m) at their two ends and
    values `inner` (e, n, m) at ``inner_nodes(s, e)`` of each piece."""
    s, e = len(left), 0 if inner is None else len(inner)
    scale = h[None, :, None] ** np.arange(s)[:, None, None]
    low = left * scale / np.array([factorial(j) for j in range(s)])[:, None, None]
    missing = []
    for i in range(s):  # largest terms first: neighbors are close, so their difference is exact
        rest = right[i] * scale[i]
        for j in range(i, s):
            rest = rest - low[j] * (factorial(j) / factorial(j - i))
        missing.append(rest)
    high = np.einsum("ij,jnm->inm", _upper(s), np.stack(missing))
    c = np.concatenate([low, high, np.zeros((e, *low[0].shape))])  # in extended precision until the last line
    if inner is not None:
        gaps = []
        for x, value in zip(inner_nodes(s, e), inner, strict=True):
            rest = np.zeros_like(c[0])
            for term in c[2 * s - 1 : 0 : -1]:
                rest = (rest + term) * x
            gaps.append((value - low[0]) - rest)
        c[s:] += np.einsum("ij,jnm->inm", _bubbles(s, e), np.stack(gaps))
    c /= h[None, :, None] ** np.arange(2 * s + e)[:, None, None]
    return np.ascontiguousarray(np.transpose(c, (1, 2, 0)), dtype=float)
