"""Jets: a quantity with its derivatives with respect to one parameter, and exact arithmetic on these.

A jet is an array of shape (K + 1, ...) whose entry k is the k-th derivative. Products follow Leibniz' rule;
quotients, roots, sines and integrals of products follow from it by recursion. All operations are vectorized
over the axes after the first, so one call handles all samples of a curve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from sekant.geometry.rotations import quaternion_product, skew

Array = NDArray[np.float64]
Operation = Callable[[Array, Array], Array]


def leibniz(k: int, f: Sequence[Array] | Array, g: Sequence[Array] | Array, op: Operation) -> Array:
    """k-th derivative of the bilinear `op`(f, g) from the derivatives 0..k of f and g."""
    total = op(f[0], g[k])
    for i in range(1, k + 1):
        total = total + comb(k, i) * op(f[i], g[k - i])
    return total


def product(f: Array, g: Array, op: Operation = np.multiply) -> Array:
    """Jet of op(f, g) for any bilinear `op` (multiply, cross, matmul ...), to the lower of the two orders."""
    return np.stack([leibniz(k, f, g, op) for k in range(min(len(f), len(g)))])


def dot(f: Array, g: Array) -> Array:
    """Jet (K + 1, ...) of the scalar product over the last axis."""
    return product(f, g, lambda a, b: np.sum(a * b, axis=-1))


def cross(f: Array, g: Array) -> Array:
    """Jet (K + 1, ..., 3) of the vector product."""
    return product(f, g, np.cross)


def apply(R: Array, v: Array) -> Array:
    """Jet of R v for matrices (..., 3, 3) and vectors (..., 3)."""
    return product(R, v, lambda a, b: np.einsum("...ij,...j->...i", a, b))


def apply_transposed(R: Array, v: Array) -> Array:
    """Jet of R^T v."""
    return product(R, v, lambda a, b: np.einsum("...ji,...j->...i", a, b))


def quotient(f: Array, g: Array) -> Array:
    """Jet of f / g: from f = h g, order by order. The shapes behind the order axis must broadcast."""
    K = min(len(f), len(g))
    h: list[Array] = []
    for k in range(K):
        rest = sum(comb(k, i) * h[i] * g[k - i] for i in range(k))
        h.append((f[k] - rest) / g[0])
    return np.stack(h)


def root(f: Array) -> Array:
    """Jet of sqrt(f), f > 0: from f = h h."""
    h = [np.sqrt(f[0])]
    for k in range(1, len(f)):
        rest = sum(comb(k, i) * h[i] * h[k - i] for i in range(1, k))
        h.append((f[k] - rest) / (2.0 * h[0]))
    return np.stack(h)


def unit(v: Array) -> Array:
    """Jet of v / |v| over the last axis; |v| must not vanish."""
    return quotient(v, root(dot(v, v))[..., None])


def cos_sin(angle: Array) -> tuple[Array, Array]:
    """Jets of cos and sin of a scalar jet, by c' = -s a', s' = c a'."""
    c, s = [np.cos(angle[0])], [np.sin(angle[0])]
    for k in range(len(angle) - 1):
        slope_c, slope_s = leibniz(k, s, angle[1:], np.multiply), leibniz(k, c, angle[1:], np.multiply)
        c.append(-slope_c)
        s.append(slope_s)
    return np.stack(c), np.stack(s)


def angle_rate(c: Array, s: Array) -> Array:
    """Jet (order K - 1) of the rate of atan2(s, c): (c s' - s c') / (c^2 + s^2); (c, s) of any length."""
    return quotient(product(c, s[1:]) - product(s, c[1:]), product(c, c) + product(s, s))


def compose(f: Array, u: Array) -> Array:
    """Jet over t of f(u(t)), where f is given by its derivatives with respect to u (K + 1, ...); K <= 4 (Faa
    di Bruno)."""
    extra = (None,) * (f.ndim - u.ndim)
    u = u[(slice(None), *(slice(None),) * (u.ndim - 1), *extra)]
    K = min(len(f), len(u))
    out = [f[0]]
    if K > 1:
        out.append(f[1] * u[1])
    if K > 2:
        out.append(f[2] * u[1] ** 2 + f[1] * u[2])
    if K > 3:
        out.append(f[3] * u[1] ** 3 + 3.0 * f[2] * u[1] * u[2] + f[1] * u[3])
    if K > 4:
        out.append(
            f[4] * u[1] ** 4
            + 6.0 * f[3] * u[1] ** 2 * u[2]
            + f[2] * (3.0 * u[2] ** 2 + 4.0 * u[1] * u[3])
            + f[1] * u[4]
        )
    return np.stack(out)


def rotation_from_rate(R0: Array, w_M: Array) -> Array:
    """Jet of R_FM (K + 2, ..., 3, 3) from its value and the jet of its angular rate in M: R' = R [w]."""
    W = skew(w_M)
    R = [R0]
    for k in range(len(w_M)):
        R.append(leibniz(k, R, W, np.matmul))
    return np.stack(R)


def quaternion_from_rate(q0: Array, w_M: Array) -> Array:
    """Jet of the unit quaternion (K + 2, ..., 4) from its value and its rate in M: q' = q (0, w) / 2."""
    W = np.concatenate([np.zeros_like(w_M[..., :1]), w_M], axis=-1)
    q = [q0]
    for k in range(len(w_M)):
        q.append(0.5 * leibniz(k, q, W, quaternion_product))
    return np.stack(q)


def rate_from_rotation(R: Array) -> Array:
    """Jet (K - 1 ..., 3) of the angular rate in M of a rotation jet (K + 1, ..., 3, 3): [w] = R^T R'."""
    W = product(np.swapaxes(R, -1, -2), R[1:], np.matmul)
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)
