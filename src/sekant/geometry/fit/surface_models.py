"""Functions of two variables fitted to points: polynomials and tensor-product quintic splines, as patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry.fit.noise import noise_level
from sekant.geometry.fit.spline_grids import DEGREE, interpolant, spline_pieces

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PatchModel:
    """Patches: breaks1 (n1 + 1,), breaks2 (n2 + 1,), coefficients (n1, n2, m, k1, k2) of ascending local powers."""

    breaks1: Array
    breaks2: Array
    coefficients: Array
    method: str
    left_out: Array | None = None  # (n, m): how far each point lies from a fit to all others
    values: Callable[[Array], Array] | None = None  # components (k, m) at places (k, 2)
    spread: Callable[[Array], Array] | None = (
        None  # standard deviations (k, m) of the components at places (k, 2)
    )


def fit_polynomial(
    u: Array, y: Array, degree: tuple[int, int], total: bool, weights: Array | None
) -> PatchModel:
    """Least squares of one polynomial in u (n, 2) to y (n, m), in Chebyshev polynomials for good conditioning.

    The terms are u1^i u2^j with i <= degree[0], j <= degree[1] and, if `total`, i + j <= max(degree).
    """
    low, high = u.min(axis=0), u.max(axis=0)
    i, j = (g.ravel() for g in np.meshgrid(np.arange(degree[0] + 1), np.arange(degree[1] + 1), indexing="ij"))
    if total:
        use = i + j <= max(degree)
        i, j = i[use], j[use]
    if len(u) < len(i):
        raise DataError(
            f"{len(u)} points are too few for a polynomial of {len(i)} terms; give more points, or lower "
            f"the degree (it is {degree[0]} x {degree[1]})"
        )

    def terms_at(at: Array) -> Array:
        x = 2.0 * (at - low) / (high - low) - 1.0
        V1, V2 = (np.polynomial.chebyshev.chebvander(x[:, k], degree[k]) for k in (0, 1))
        return V1[:, i] * V2[:, j]

    A = terms_at(u)
    w = np.ones(len(u)) if weights is None else weights
    solution, _, rank, _ = np.linalg.lstsq(A * w[:, None], y * w[:, None], rcond=1e-11)
    if rank < len(i):
        raise DataError(
            f"the points determine only {rank} of the {len(i)} terms of the polynomial, because there are "
            "too few different values of a parameter; lower the degree in this parameter"
        )
    c = np.zeros((y.shape[1], degree[0] + 1, degree[1] + 1))
    c[:, i, j] = solution.T
    M1, M2 = (_chebyshev_to_local(degree[k], high[k] - low[k]) for k in (0, 1))
    local = np.einsum("pi,mij,qj->mpq", M1, c, M2)
    Q, R = np.linalg.qr(A * w[:, None])
    leverage = np.minimum(np.sum(Q**2, axis=1), 1.0 - 1e-3)
    miss = (y - A @ solution) * w[:, None]
    noise = np.sqrt(np.sum(miss**2, axis=0) / max(len(u) - len(i), 1))

    def values(at: Array) -> Array:
        return terms_at(at) @ solution

    def spread(at: Array) -> Array:
        rows = np.linalg.solve(R.T, terms_at(at).T)
        return np.sqrt(np.sum(rows**2, axis=0))[:, None] * noise

    terms = "total degree" if total else "degree"
    method = f"polynomial of {terms} {max(degree) if total else f'{degree[0]} x {degree[1]}'}"
    left_out = miss / (1.0 - leverage)[:, None] / w[:, None]
    first, second = (np.array([low[k], high[k]]) for k in (0, 1))
    return PatchModel(first, second, local[None, None], method, left_out, values, spread)


def _chebyshev_to_local(degree: int, width: float) -> Array:
    """(k, k): converts Chebyshev coefficients on the interval to powers of the distance from its lower end."""
    inner = np.polynomial.Polynomial([-1.0, 2.0 / width])
    M = np.zeros((degree + 1, degree + 1))
    for j in range(degree + 1):
        power = np.polynomial.chebyshev.cheb2poly(np.eye(degree + 1)[j])
        local = np.polynomial.Polynomial(power)(inner).coef  # type: ignore[union-attr]
        M[: len(local), j] = local
    return M


def interpolate_grid(u: Array, y: Array, shape: tuple[int, int], ends: tuple[str, str]) -> PatchModel | None:
    """Quintic interpolation of a grid, or None if the data are noisy."""
    x1, x2 = np.unique(u[:, 0]), np.unique(u[:, 1])
    m = y.shape[1]
    grid = y.reshape(*shape, m)
    for x, values in ((x1, grid), (x2, np.swapaxes(grid, 0, 1))):
        size = float(np.max(np.ptp(grid, axis=(0, 1)))) + 1e-300
        if len(x) >= 12 and noise_level(x, values.reshape(len(x), -1)) > max(
            1e-2 * size / len(x) ** 2, 1e-12 * size
        ):
            return None
    t1, c1 = _interpolate(x1, grid.reshape(len(x1), -1), ends[0])
    t2, c2 = _interpolate(x2, np.moveaxis(c1.reshape(-1, len(x2), m), 0, 1).reshape(len(x2), -1), ends[1])
    breaks1, breaks2, c = _patches(t1, t2, np.moveaxis(c2.reshape(-1, len(c1), m), 0, 1))
    return PatchModel(breaks1, breaks2, c, "quintic interpolation of a clean grid")


def _interpolate(x: Array, y: Array, end: str) -> tuple[Array, Array]:
    """Knots and coefficients (n, m) of the quintic through y (n, m) at x (n,)."""
    if end != "periodic":
        return interpolant(x, y)
    gap = float(np.abs(y[0] - y[-1]).max())
    if gap > 1e-8 * max(1.0, float(np.abs(y).max())):
        raise DataError(
            f"the first and the last line of the grid differ by {gap:.3g}, so the surface does not close; "
            "repeat the first line at the end of the period (if the body makes full turns, give Euler "
            "angles without jumps)"
        )
    y = y.copy()
    y[-1] = y[0]
    from scipy.interpolate import make_interp_spline

    closed = make_interp_spline(x, y, DEGREE, bc_type="periodic")
    return closed.t, closed.c


def fit_spline(u: Array, y: Array, weights: Array | None) -> PatchModel:
    """Tensor-product quintic spline, as smooth as the noise of the points allows (`smoothing`)."""
    from sekant.geometry.fit.smoothing import smooth_surface

    found = smooth_surface(u, y, weights)
    k1, k2 = (len(t) - 2 * (DEGREE + 1) for t in (found.t1, found.t2))
    text = (
        f"smoothing quintic spline, {k1} x {k2} inner knots, smoothness of order {found.order} by likelihood"
    )
    return PatchModel(
        *_patches(found.t1, found.t2, found.control), text, found.left_out, found.values, found.spread
    )


def _patches(t1: Array, t2: Array, control: Array) -> tuple[Array, Array, Array]:
    """Breaks and coefficients (p1, p2, m, 6, 6) of a tensor-product B-spline with control points (n1, n2, m)."""
    n1, n2, m = control.shape
    breaks1, first = spline_pieces(t1, control.reshape(n1, n2 * m))
    p1, k = len(breaks1) - 1, DEGREE + 1
    along2 = np.moveaxis(first.reshape(p1, n2, m, k), 1, 0).reshape(n2, -1)
    breaks2, second = spline_pieces(t2, along2)
    c = second.reshape(len(breaks2) - 1, p1, m, k, k)
    return breaks1, breaks2, np.moveaxis(c, 0, 1)
