"""Functions of two variables fitted to points: polynomials and tensor-product quintic splines, as patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from sekant.errors import DataError
from sekant.geometry.fit.bsplines import DEGREE, clamped_knots, pieces_of
from sekant.geometry.fit.noise import noise_level

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PatchModel:
    """Patches: breaks1 (n1 + 1,), breaks2 (n2 + 1,), coefficients (n1, n2, m, k1, k2) of ascending local powers."""

    breaks1: Array
    breaks2: Array
    coefficients: Array
    method: str


def fit_polynomial(
    u: Array, y: Array, degree: tuple[int, int], total: bool, weights: Array | None
) -> PatchModel:
    """Least squares of one polynomial in u (n, 2) to y (n, m), in Chebyshev polynomials for the sake of conditioning.

    The terms are u1^i u2^j with i <= degree[0], j <= degree[1] and, if `total`, i + j <= max(degree).
    """
    low, high = u.min(axis=0), u.max(axis=0)
    x = 2.0 * (u - low) / (high - low) - 1.0
    V1, V2 = (np.polynomial.chebyshev.chebvander(x[:, k], degree[k]) for k in (0, 1))
    i, j = (g.ravel() for g in np.meshgrid(np.arange(degree[0] + 1), np.arange(degree[1] + 1), indexing="ij"))
    if total:
        use = i + j <= max(degree)
        i, j = i[use], j[use]
    if len(u) < len(i):
        raise DataError(
            f"{len(u)} points are too few for a polynomial of {len(i)} terms; give more, or lower the degree "
            f"(now {degree[0]} x {degree[1]})"
        )
    A = V1[:, i] * V2[:, j]
    w = np.ones(len(u)) if weights is None else weights
    solution, _, rank, _ = np.linalg.lstsq(A * w[:, None], y * w[:, None], rcond=1e-11)
    if rank < len(i):
        raise DataError(
            f"the points determine only {rank} of the {len(i)} terms of the polynomial: too few different values of "
            "a parameter; lower the degree in that direction"
        )
    c = np.zeros((y.shape[1], degree[0] + 1, degree[1] + 1))
    c[:, i, j] = solution.T
    M1, M2 = (_chebyshev_to_local(degree[k], high[k] - low[k]) for k in (0, 1))
    local = np.einsum("pi,mij,qj->mpq", M1, c, M2)
    terms = "total degree" if total else "degree"
    method = f"polynomial of {terms} {max(degree) if total else f'{degree[0]} x {degree[1]}'}"
    return PatchModel(np.array([low[0], high[0]]), np.array([low[1], high[1]]), local[None, None], method)


def _chebyshev_to_local(degree: int, width: float) -> Array:
    """(k, k): powers of the distance from the lower end from Chebyshev coefficients on the interval."""
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
    first = _interpolate(x1, grid.reshape(len(x1), -1), ends[0])
    second = _interpolate(
        x2, np.moveaxis(first.c.reshape(-1, len(x2), m), 0, 1).reshape(len(x2), -1), ends[1]
    )
    control = np.moveaxis(second.c.reshape(-1, len(first.c), m), 0, 1)
    breaks1, breaks2, c = _patches(first.t, second.t, control)
    return PatchModel(breaks1, breaks2, c, "quintic interpolation of a clean grid")


def _interpolate(x: Array, y: Array, end: str) -> BSpline:
    if end != "periodic":
        return make_interp_spline(x, y, DEGREE)
    gap = float(np.abs(y[0] - y[-1]).max())
    if gap > 1e-8 * max(1.0, float(np.abs(y).max())):
        raise DataError(
            f"the first and the last line of the grid differ by {gap:.3g}, so the surface does not close; repeat the "
            "first line at the end of the period (orientations that turn over need 'euler' angles without a jump)"
        )
    y = y.copy()
    y[-1] = y[0]
    return make_interp_spline(x, y, DEGREE, bc_type="periodic")


def fit_spline(u: Array, y: Array, weights: Array | None) -> PatchModel:
    """Tensor-product quintic of evenly filled knots; their number has the least generalized cross-validation error.

    A slight penalty on jumps of the fifth derivative keeps coefficients without data of their own determined.
    """
    best: tuple[float, Array, Array, Array, str] | None = None
    n = len(u)
    distinct = [len(np.unique(u[:, k])) for k in (0, 1)]
    candidates = [0, 1, 2, 3, 4, 6, 8, 11, 15, 20]
    options = [[k for k in candidates if k + DEGREE + 1 <= max(DEGREE + 1, d)] for d in distinct]
    counts = [0, 0]
    improved = True
    tried: set[tuple[int, int]] = set()
    while improved:
        improved = False
        for step in ((0, 0), (1, 0), (0, 1), (1, 1)):
            k = [min(counts[a] + step[a], len(options[a]) - 1) for a in (0, 1)]
            key = (k[0], k[1])
            size = (options[0][k[0]] + 6) * (options[1][k[1]] + 6)
            if key in tried or size > 0.5 * n + 36 or size > 900:
                continue
            tried.add(key)
            score, t1, t2, control, text = _penalized(u, y, options[0][k[0]], options[1][k[1]], weights)
            if best is None or score < 0.98 * best[0]:
                best, counts, improved = (score, t1, t2, control, text), k, True
    assert best is not None
    _, t1, t2, control, text = best
    breaks1, breaks2, c = _patches(t1, t2, control)
    return PatchModel(breaks1, breaks2, c, text)


def _penalized(u: Array, y: Array, k1: int, k2: int, weights: Array | None):
    """Score, knots and control points (n1, n2, m) for k1 x k2 inner knots at quantiles of the data."""
    t = []
    B = []
    for k, count in ((0, k1), (1, k2)):
        inner = (
            np.quantile(np.unique(u[:, k]), np.arange(1, count + 1) / (count + 1)) if count else np.zeros(0)
        )
        knots = clamped_knots(u[:, k].min(), u[:, k].max(), inner)
        t.append(knots)
        B.append(BSpline.design_matrix(u[:, k], knots, DEGREE).toarray())
    A = np.einsum("ni,nj->nij", *B).reshape(len(u), -1)
    w = np.ones(len(u)) if weights is None else weights / np.sqrt(np.mean(weights**2))
    A, b = A * w[:, None], y * w[:, None]
    n1, n2 = B[0].shape[1], B[1].shape[1]
    D1, D2 = (np.diff(np.eye(n), 3, axis=0) for n in (n1, n2))
    P = np.kron(D1.T @ D1, np.eye(n2)) + np.kron(np.eye(n1), D2.T @ D2)
    normal = A.T @ A
    normal += 1e-9 * np.trace(normal) / len(normal) * P + 1e-14 * np.trace(normal) * np.eye(len(normal))
    control = np.linalg.solve(normal, A.T @ b)
    residual = float(np.sum((A @ control - b) ** 2))
    freedom = float(np.trace(np.linalg.solve(normal, A.T @ A)))
    score = residual / len(u) / max(1.0 - freedom / len(u), 1e-3) ** 2 + 1e-28
    text = f"tensor-product quintic spline, {k1} x {k2} inner knots by cross-validation"
    return score, t[0], t[1], control.reshape(n1, n2, -1), text


def _patches(t1: Array, t2: Array, control: Array) -> tuple[Array, Array, Array]:
    """Breaks and coefficients (p1, p2, m, 6, 6) of a tensor-product B-spline with control points (n1, n2, m)."""
    n1, n2, m = control.shape
    breaks1, first = pieces_of(BSpline(t1, control.reshape(n1, n2 * m), DEGREE))
    p1, k = len(breaks1) - 1, DEGREE + 1
    along2 = np.moveaxis(first.reshape(p1, n2, m, k), 1, 0).reshape(n2, -1)
    breaks2, second = pieces_of(BSpline(t2, along2, DEGREE))
    c = second.reshape(len(breaks2) - 1, p1, m, k, k)
    return breaks1, breaks2, np.moveaxis(c, 0, 1)
