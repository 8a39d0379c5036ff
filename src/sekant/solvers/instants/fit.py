"""A polynomial through points within (-1, 1), by least squares in Chebyshev polynomials."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Matrix, Struct, Vector


class PolynomialFit(Struct):
    s: Vector  # (m,) points
    u: Vector  # (m,) values there
    A: Matrix  # (m, most + 1) Chebyshev polynomials at the points, and the values; then their factors
    diagonal: Vector  # (most,) of the triangular factor
    series: Vector  # (most,) coefficients of Chebyshev polynomials
    power: Vector  # (most,) and those of powers
    low: Vector  # (most,) powers of two neighboring polynomials, and the next one
    high: Vector
    above: Vector


def lay_out_fit(m: int, most: int) -> PolynomialFit:
    rows = {name: np.zeros(m) for name in ("s", "u")}
    names = ("diagonal", "series", "power", "low", "high", "above")
    return PolynomialFit(A=np.zeros((m, most + 1)), **rows, **{name: np.zeros(most) for name in names})


@inner
def fit(f, n, highest):
    """Fit a polynomial of the degree `highest`, or of the degree that n points allow. Returns its largest
    error at the points."""
    degree = min(highest, n - 1)
    _fill(f, n, degree)
    _reflect(f, n, degree)
    for back in range(degree + 1):
        j = degree - back
        f.series[j] = f.A[j, degree + 1]
        for k in range(j + 1, degree + 1):
            f.series[j] -= f.A[j, k] * f.series[k]
        f.series[j] /= f.diagonal[j]
    _fill(f, n, degree)
    off = 0.0
    for i in range(n):
        value = 0.0
        for k in range(degree + 1):
            value += f.A[i, k] * f.series[k]
        off = max(off, abs(value - f.u[i]))
    _to_powers(f, degree)
    return off


@inner
def _fill(f, n, degree):
    for i in range(n):
        f.A[i, 0] = 1.0
        if degree > 0:
            f.A[i, 1] = f.s[i]
        for k in range(2, degree + 1):
            f.A[i, k] = 2.0 * f.s[i] * f.A[i, k - 1] - f.A[i, k - 2]
        f.A[i, degree + 1] = f.u[i]


@inner
def _reflect(f, n, degree):
    """Make the columns triangular by Householder reflections, and apply these to the values."""
    for j in range(degree + 1):
        square = 0.0
        for i in range(j, n):
            square += f.A[i, j] * f.A[i, j]
        size = -sqrt(square) if f.A[j, j] > 0.0 else sqrt(square)
        f.A[j, j] -= size
        half = -size * f.A[j, j]
        for k in range(j + 1, degree + 2):
            dot = 0.0
            for i in range(j, n):
                dot += f.A[i, j] * f.A[i, k]
            for i in range(j, n):
                f.A[i, k] -= dot / half * f.A[i, j]
        f.diagonal[j] = size


@inner
def _to_powers(f, degree):
    for k in range(f.power.size):
        f.power[k], f.low[k], f.high[k] = 0.0, 0.0, 0.0
    f.low[0], f.power[0] = 1.0, f.series[0]
    if degree > 0:
        f.high[1] = 1.0
    for k in range(1, degree + 1):
        for j in range(f.power.size):
            f.power[j] += f.series[k] * f.high[j]
            f.above[j] = (2.0 * f.high[j - 1] if j > 0 else 0.0) - f.low[j]
        for j in range(f.power.size):
            f.low[j], f.high[j] = f.high[j], f.above[j]
