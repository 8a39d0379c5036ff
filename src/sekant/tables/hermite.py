"""Piecewise Hermite polynomials of degree 5 (C2) or 7 (C3) through exact derivatives, refined to a
tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError
from sekant.tables.pieces import horner

Array = NDArray[np.float64]
JetFunction = Callable[[Array], Array]  # u (n,) -> jet (K + 1, n, m)
_PROBES = np.array([0.125, 0.25, 0.5, 0.75, 0.875])


@dataclass(frozen=True)
class Pieces:
    """Piecewise polynomial: breaks (n + 1,), coefficients (n, m, k) of ascending powers of u - breaks[i]."""

    breaks: Array
    coefficients: Array
    errors: Array  # (orders, m) largest |polynomial - function| seen between the nodes, by derivative order


@cache
def _completion(s: int) -> Array:
    """(s, 2 s): upper coefficients on [0, 1] from the lower ones (s) and scaled end derivatives (s)."""
    k = 2 * s
    A = np.array([[factorial(j) / factorial(j - i) if j >= i else 0.0 for j in range(k)] for i in range(s)])
    upper = np.linalg.inv(A[:, s:])
    return np.hstack([-upper @ A[:, :s], upper])


def hermite_coefficients(breaks: Array, jet: Array) -> Array:
    """Coefficients (n, m, 2 s) of the pieces that take the jet (s, n + 1, m) at the breaks (n + 1,)."""
    return piece_coefficients(np.diff(breaks), jet[:, :-1], jet[:, 1:])


def piece_coefficients(h: Array, left: Array, right: Array) -> Array:
    """Coefficients (n, m, 2 s) of pieces of lengths h (n,) from the jets (s, n, m) at their two ends."""
    s = len(left)
    scale = h[None, :, None] ** np.arange(s)[:, None, None]
    low = left * scale / np.array([factorial(j) for j in range(s)])[:, None, None]
    high = np.einsum("ij,jnm->inm", _completion(s), np.concatenate([low, right * scale]))
    c = np.concatenate([low, high]) / h[None, :, None] ** np.arange(2 * s)[:, None, None]
    return np.ascontiguousarray(np.transpose(c, (1, 2, 0)))


def refine(
    function: JetFunction,
    interval: tuple[float, float],
    *,
    tolerance: ArrayLike = 1e-10,
    degree: int = 7,
    breaks: Sequence[float] = (),
    pieces: int = 8,
    most: int = 200_000,
) -> Pieces:
    """Hermite pieces that follow `function` on `interval` to `tolerance` (scalar or (m,)) in value, and its
    rate to the same tolerance per mean piece length.

    `breaks` are points where the function is only piecewise smooth. They are nodes, and each side is
    sampled on its own side a rounding error away, so a jump in a derivative stays where it is.
    """
    if degree not in (5, 7):
        raise DataError(
            f"degree {degree} is not possible here: Hermite pieces are of degree 5 (C2) or 7 (C3)"
        )
    s = (degree + 1) // 2
    a, b = float(interval[0]), float(interval[1])
    if not (np.isfinite([a, b]).all() and b > a):
        raise DataError(f"range [{a:g}, {b:g}] is empty or not finite; give (start, end) with start < end")
    inner = sorted(x for x in map(float, breaks) if a < x < b)
    corners = np.array([a, *inner, b])
    counts = np.maximum(1, np.round(pieces * np.diff(corners) / (b - a)).astype(int))
    left = np.concatenate(
        [c0 + (c1 - c0) * np.arange(n) / n for c0, c1, n in zip(corners, corners[1:], counts, strict=False)]
    )
    right = np.append(left[1:], b)
    nudge = 4.0 * np.finfo(float).eps * max(abs(a), abs(b))
    done: list[tuple[Array, Array]] = []
    worst: Array | None = None
    while left.size:
        if left.size > most:
            raise DataError(
                f"the function needs more than {most} pieces near {left[0]:g}; it may have a kink there: "
                "give its place in `breaks`, or raise the tolerance"
            )
        h = right - left
        at_left = np.where(np.isin(left, inner), left + nudge, left)
        at_right = np.where(np.isin(right, inner), right - nudge, right)
        jet = _finite(function(np.concatenate([at_left, at_right])), np.concatenate([at_left, at_right]))
        n = left.size
        c = piece_coefficients(h, jet[:s, :n], jet[:s, n:])
        error = np.zeros((3, n, c.shape[1]))
        for probe in _PROBES:
            truth = function(left + probe * h)
            for order in range(min(3, len(truth))):
                gap = np.abs(horner(c, probe * h[:, None], order) - truth[order])
                error[order] = np.maximum(error[order], gap)
        allowed = np.broadcast_to(np.asarray(tolerance, float), (c.shape[1],))
        floor = 64.0 * np.finfo(float).eps * np.maximum(1.0, np.abs(jet[0]).max(axis=0))
        good = np.all(error[0] <= np.maximum(allowed, floor), axis=1)
        good &= np.all(error[1] * (b - a) / 16.0 <= np.maximum(allowed, floor * (b - a) / h.min()), axis=1)
        good |= h < 1e-9 * (b - a)
        done.append((left[good], c[good]))
        if good.any():
            seen = error[:, good].max(axis=1)
            worst = seen if worst is None else np.maximum(worst, seen)
        middle = 0.5 * (left[~good] + right[~good])
        left, right = np.concatenate([left[~good], middle]), np.concatenate([middle, right[~good]])
    starts = np.concatenate([x for x, _ in done])
    order = np.argsort(starts)
    coefficients = np.concatenate([c for _, c in done])[order]
    assert worst is not None
    return Pieces(np.append(starts[order], b), coefficients, worst)


def _finite(jet: Array, u: Array) -> Array:
    bad = np.flatnonzero(~np.isfinite(jet).all(axis=(0, 2)))
    if bad.size:
        raise DataError(
            f"the function or one of its derivatives is not finite at {u[bad[0]]:.9g}; "
            "leave that point out of the range, or rewrite the function without the singularity"
        )
    return jet
