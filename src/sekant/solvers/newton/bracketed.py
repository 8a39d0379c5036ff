"""Root of a scalar function between two points where its signs differ.

scipy.optimize has the same function, but takes longer to import than NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ulp


def bracketed_zero(f: Callable[[float], float], low: float, high: float, within: float) -> float:
    """The root, accurate to `within`, by inverse quadratic interpolation where this is safe and bisection elsewhere.

    Chandrupatla, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without
    using derivatives, Advances in Engineering Software 28 (1997).
    """
    a, b, fa, fb = high, low, f(high), f(low)
    c, fc, share = a, fa, 0.5
    if fa * fb > 0:
        raise ValueError(f"the signs at {low:g} and {high:g} do not differ")
    while True:
        best, left = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        least = (within + 2 * ulp(best)) / abs(b - a) if a != b else 1.0
        if left == 0 or least > 0.5:
            return best
        x = a + min(max(share, least), 1 - least) * (b - a)
        fx = f(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        share = 0.5
        if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            share = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
