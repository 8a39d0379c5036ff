"""Smoothing of scattered points by tensor-product quintic splines, as smooth as the noise allows.

The control points c of a component minimize

    |W (y - A c)|^2 + lambda Jk(f)
    Jk(f) = integral of the sum over a of binomial(k, a) (d^k f / dx1^a dx2^(k - a))^2

over the rectangle of the parameters, both scaled to 0..1 and then one of them stretched relative to the
other: the energy of thin-plate splines (Wahba 1990, section 2.4). Every component has its own lambda, the one
with the largest restricted likelihood (Wahba 1985, Wood 2011), which seldom mistakes noise for shape. Order k
= 3 suits smooth surfaces; k = 2 prevents those that vary over short distances from large deviations where
there are no points. The order with the smaller uncertainty over the whole rectangle is chosen.

Knots are lines across the rectangle. An interval between two of them is halved while the residuals of
neighboring points in it are correlated, unlike those of noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.linalg import eigh

from sekant.errors import DataError
from sekant.geometry.fit.bsplines import DEGREE, clamped_knots

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]
_MOST = 900  # control points of a component: eigenvalues of matrices of this size take a second
_LEAST = 3  # different values of a parameter on each side of a new knot
_ALIKE = 4.0  # standard deviations of such a sum; large, because many intervals and components are tested
_STRETCHES = 4.0 ** np.arange(-3, 4)  # of the first parameter relative to the second
_WEIGHTS = 10.0 ** np.arange(-13.0, 5.01, 0.5)  # lambdas to try, relative to the ratio of the traces
_GRID = 21  # places in each direction at which orders are compared
_CLEAN = 1e-10  # residuals below this share of a component's range are ignored


@dataclass(frozen=True)
class _Weighted:
    """The weighted least-squares problem for given knots: A (n, p) sparse and b (n, m) with the weights, N =
    A^T A, A^T b."""

    t: tuple[Array, Array]
    A: Any
    b: Array
    N: Array
    rhs: Array

    @staticmethod
    def of(u: Array, y: Array, w: Array, breaks: Sequence[Array]) -> _Weighted:
        t1, t2 = (clamped_knots(x[0], x[-1], x[1:-1]) for x in breaks)
        A = _design(u, t1, t2).multiply(w[:, None]).tocsr()
        b = y * w[:, None]
        return _Weighted((t1, t2), A, b, np.asarray((A.T @ A).todense()), np.asarray(A.T @ b))

    def decomposed(self, order: int, stretch: float) -> _Decomposed:
        """The decomposition that solves the problem for all lambdas."""
        energies = _energies(*self.t, order)
        P = sum(comb(order, a) * stretch ** (2 * a - order) * e for a, e in enumerate(energies))
        return _Decomposed.of(self.N, np.asarray(P), order * (order + 1) // 2)


@dataclass(frozen=True)
class _Decomposed:
    """Z with Z^T N Z = diag(share) and c Z^T P Z = diag(rough), share + rough = 1."""

    Z: Array
    share: Array
    rough: Array
    c: float
    free: int  # dimension of the null space of the penalty: polynomials of lower degree

    @staticmethod
    def of(N: Array, P: Array, free: int) -> _Decomposed:
        c = 1e-4 * float(np.trace(N) / np.trace(P))
        try:
            Z = eigh(N, N + c * P + 1e-13 * np.trace(N) / len(N) * np.eye(len(N)))[1]
        except np.linalg.LinAlgError:
            raise DataError(
                "the points do not determine a surface: they lie on a line in the plane of the two parameters; "
                "give points that cover the range"
            ) from None
        rough = np.clip(c * np.sum(Z * (P @ Z), axis=0), 1e-18, 1.0)
        rough[np.argsort(rough)[:free]] = 0.0
        return _Decomposed(Z, 1.0 - rough, rough, c, free)

    def stiffness(self, weight: float) -> Array:
        """Diagonal of Z^T (N + lambda P) Z."""
        return self.share + weight / self.c * self.rough + 1e-300

    def best_weight(self, A: Any, b: Array, rhs: Array) -> tuple[float, float]:
        """Lambda of a component with the largest restricted likelihood, and minus twice its logarithm.

        With the noise variance eliminated this is, up to constants,
        (n - free) log(|b - A c|^2 + lambda c^T P c) + log det(N + lambda P) - log det+(lambda P).
        """
        n, z = A.shape[0], self.Z.T @ rhs
        size = float(np.sum(b**2)) + 1e-300
        rough = np.log(np.sort(self.rough)[self.free :] / self.c)
        best = (np.inf, 1.0)
        for weight in _WEIGHTS * 1e4 * self.c:
            stiff = self.stiffness(weight)
            inner = z / stiff
            miss = float(np.sum((b - A @ (self.Z @ inner)) ** 2))
            energy = weight / self.c * float(np.sum(self.rough * inner**2))
            score = (n - self.free) * np.log(max((miss + energy) / size, 1e-26))
            score += float(np.sum(np.log(stiff)) - np.sum(np.log(weight) + rough))
            best = min(best, (score, float(weight)))
        return best[1], best[0]


@dataclass(frozen=True)
class SmoothSurface:
    """Control points (n1, n2, m) over the knots t1, t2, and estimates of their errors."""

    t1: Array
    t2: Array
    control: Array
    noise: Array  # (m,) standard deviation of a point from the surface
    left_out: Array  # (n, m) distance of each point from the surface through all others
    order: int
    weights: Array  # (m,) lambda of each component
    modes: _Decomposed

    def values(self, u: Array) -> Array:
        """Components (n, m) at u (n, 2)."""
        return _design(u, self.t1, self.t2) @ self.control.reshape(-1, self.control.shape[-1])

    def spread(self, u: Array) -> Array:
        """Standard deviations (n, m) of the components at u (n, 2): the uncertainty from noise and lack of points,
        assuming that the surface is as rough there as elsewhere (Wahba 1983)."""
        squares = np.asarray(_design(u, self.t1, self.t2) @ self.modes.Z) ** 2
        return self.noise * np.sqrt(
            np.stack([squares @ (1.0 / self.modes.stiffness(w)) for w in self.weights], axis=1)
        )


def smooth_surface(u: Array, y: Array, weights: Array | None = None) -> SmoothSurface:
    """Smoothing spline through y (n, m) over u (n, 2); larger `weights` (n,) for points that are more exact."""
    w = np.ones(len(u)) if weights is None else weights / np.sqrt(np.mean(weights**2))
    breaks = [np.array([u[:, k].min(), u[:, k].max()]) for k in (0, 1)]
    pairs = neighbors(u)
    least = _CLEAN * np.ptp(y, axis=0)
    points = _Weighted.of(u, y, w, breaks)
    stretch = float(min(_STRETCHES, key=lambda ratio: _likeliest(points, 3, ratio)[2]))
    while True:
        found = _solved(points, w, 3, stretch)
        miss = (y - found.values(u)) * w[:, None]
        miss = miss[:, np.sqrt(np.mean(miss**2, axis=0)) > least]
        halved = [_halved(u[:, k], breaks[k], miss, pairs) for k in (0, 1)]
        size = np.prod([len(x) + DEGREE - 1 for x in halved])
        if size == found.control[..., 0].size or size > _MOST:
            break
        breaks = halved
        points = _Weighted.of(u, y, w, breaks)
    other = _solved(points, w, 2, stretch)
    g1, g2 = (np.linspace(x[0], x[-1], _GRID) for x in breaks)
    places = np.stack([g.ravel() for g in np.meshgrid(g1, g2)], axis=1)
    open_, open_other = (np.max(one.spread(places), axis=0) for one in (found, other))
    shares = open_other / np.maximum(open_, 1e-300)
    noisy = open_ > least
    return other if noisy.any() and np.max(shares[noisy]) < 1.0 else found


def _likeliest(points: _Weighted, order: int, stretch: float) -> tuple[_Decomposed, Array, float]:
    modes = points.decomposed(order, stretch)
    best = [modes.best_weight(points.A, b, r) for b, r in zip(points.b.T, points.rhs.T, strict=True)]
    return modes, np.array([w for w, _ in best]), sum(s for _, s in best)


def _solved(points: _Weighted, w: Array, order: int, stretch: float) -> SmoothSurface:
    modes, weights, _ = _likeliest(points, order, stretch)
    z = modes.Z.T @ points.rhs
    control = modes.Z @ np.stack([z[:, j] / modes.stiffness(v) for j, v in enumerate(weights)], axis=1)
    miss = points.b - points.A @ control
    squares = np.asarray(points.A @ modes.Z) ** 2
    leverage = np.stack([squares @ (1.0 / modes.stiffness(v)) for v in weights], axis=1)
    free = np.maximum(len(miss) - np.sum(leverage, axis=0), 1.0)
    noise = np.sqrt(np.sum(miss**2, axis=0) / free)
    left_out = miss / np.maximum(1.0 - leverage, 1e-3) / w[:, None]
    n1, n2 = (len(t) - DEGREE - 1 for t in points.t)
    return SmoothSurface(*points.t, control.reshape(n1, n2, -1), noise, left_out, order, weights, modes)


def _design(u: Array, t1: Array, t2: Array) -> Any:
    """Products of the basis functions at u (n, 2): sparse (n, n1 n2)."""
    from scipy.sparse import csr_array

    first, second = (
        csr_array(BSpline.design_matrix(np.clip(u[:, k], t[0], t[-1]), t, DEGREE))
        for k, t in ((0, t1), (1, t2))
    )
    n, width, count = len(u), DEGREE + 1, len(t2) - DEGREE - 1
    values = first.data.reshape(n, width, 1) * second.data.reshape(n, 1, width)
    columns = first.indices.reshape(n, width, 1) * count + second.indices.reshape(n, 1, width)
    starts = np.arange(n + 1) * width * width
    return csr_array((values.ravel(), columns.ravel(), starts), shape=(n, (len(t1) - DEGREE - 1) * count))


def _energies(t1: Array, t2: Array, order: int) -> list[Array]:
    """Integrals of products of derivatives, of order a in the first parameter and order - a in the second,
    both scaled to 0..1."""
    grams = []
    x, w = np.polynomial.legendre.leggauss(DEGREE + 1)
    for t in (t1, t2):
        t = (t - t[0]) / (t[-1] - t[0])
        breaks = np.unique(t)
        half = 0.5 * np.diff(breaks)[:, None]
        places = (breaks[:-1, None] + half * (1.0 + x)).ravel()
        basis = BSpline(t, np.eye(len(t) - DEGREE - 1), DEGREE)
        at = [basis(places, nu=a) for a in range(order + 1)]
        grams.append([(b * (half * w).reshape(-1, 1)).T @ b for b in at])
    return [np.kron(grams[0][a], grams[1][order - a]) for a in range(order + 1)]


def neighbors(u: Array) -> Pairs:
    """Pairs (k, 2) of points u (n, 2) that share a side of a triangle, each pair once."""
    from scipy.spatial import Delaunay

    x = (u - u.min(axis=0)) / np.ptp(u, axis=0)
    sides = Delaunay(x, qhull_options="QJ").simplices[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    return np.unique(np.sort(sides, axis=1), axis=0).astype(np.int64)


def _halved(x: Array, breaks: Array, miss: Array, pairs: Pairs) -> Array:
    """The knots `breaks`, and the middles of intervals in which residuals (n, m) of neighbors are correlated.
    For k pairs of noise with variance v, the sum of products has the standard deviation v sqrt(k)."""
    count = len(breaks) - 1
    middle = 0.5 * (breaks[:-1] + breaks[1:])
    interval = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, count - 1)
    where = interval[pairs[:, 0]]
    inside = where == interval[pairs[:, 1]]
    pairs, where = pairs[inside], where[inside]
    alike = np.zeros(count, bool)
    for m in miss.T:
        usual = float(np.median(m**2)) / 0.455  # the median of chi^2 with one degree of freedom
        total = np.bincount(where, m[pairs[:, 0]] * m[pairs[:, 1]], count)
        alike |= total > _ALIKE * usual * np.sqrt(np.bincount(where, minlength=count)) + 1e-300
    values = np.unique(x)
    edges = np.searchsorted(values, breaks)
    inner = np.searchsorted(values, middle)
    enough = np.minimum(inner - edges[:-1], edges[1:] - inner) >= _LEAST
    return np.sort(np.concatenate([breaks, middle[alike & enough]]))
