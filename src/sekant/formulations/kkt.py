"""Symbolic solution of [M G^T; G 0] (x, lam) = (f, g), also for redundant constraints.

The matrix is factored as the quasi-definite [M + delta, G^T; G, -eps]: L D L^T then exists in every order of
elimination, so a fill-reducing order is chosen once, and no pivot search happens at run time. Refinement with the
true matrix removes the effect of eps and delta. Redundant rows get multipliers of minimal norm.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sekant.geometry.spatial import SX
from sekant.model.resolve import PLAIN
from sekant.solvers.linear.ordering import minimum_degree
from sekant.tables.bound_oracle import BoundOracle

SWEEPS = 2
RELATIVE = 1e-9  # regularization relative to typical pivots: each sweep gains about as many digits
SMALL_MASS = 1e-7  # eigenvalues of M below this, relative to the median of its diagonal, count as zero
NO_MASS = 1e-10  # diagonal entries of M below this, relative to the largest, are ignored for the typical mass
NO_ACTION = 1e-12  # rows of G (m or rad) shorter than this are rounding errors: redundant constraints

PIVOTS = (f"{PLAIN}eps", f"{PLAIN}delta")
"""Run-time parameters for eps and delta, in equations that are shared by models with other masses."""


class KktFactor:
    """Factors of the regularized matrix; `M` (n, n) and `G` (m, n) are SX with structural zeros kept apart.

    `light`: unknowns with almost no mass, see `light_unknowns`.
    """

    def __init__(self, M: SX, G: SX, eps: float | SX, delta: float | SX, light: Collection[int] = ()):
        self.n, self.m = M.shape[0], G.shape[0]
        self.M, self.G = ca.sparsify(M), ca.sparsify(G)
        self._entries = _entries(self.M, self.G)
        massless = {i for i in range(self.n) if i in light or (i, i) not in self._entries}
        # The pivot of an unknown without mass is only the tiny delta, which would dominate the equations in which the
        # unknown occurs, so it is eliminated after them.
        self._order = minimum_degree(
            self.n + self.m, self._entries, lambda k, now: k not in massless or all(i < self.n for i in now)
        )
        place = {old: new for new, old in enumerate(self._order)}
        lower: dict[tuple[int, int], SX] = {}
        for (i, j), value in self._entries.items():
            a, b = place[i], place[j]
            lower[max(a, b), min(a, b)] = value
        for k in range(self.n + self.m):
            row = place[k]
            shift = delta if k < self.n else -eps
            lower[row, row] = lower.get((row, row), SX(0)) + shift
        self._L, self._inverse = _factor(lower, self.n + self.m)

    def solve(self, f: SX, g: SX) -> tuple[SX, SX]:
        """(x, lam) of the true system."""
        x, lam = self._apply(f, g)
        for _ in range(SWEEPS):
            rf = f - self.M @ x - self.G.T @ lam
            rg = g - self.G @ x
            dx, dlam = self._apply(rf, rg)
            x, lam = x + dx, lam + dlam
        return ca.densify(x), ca.densify(lam)

    def direct(self, F: SX) -> SX:
        """The solution for columns F (n, k) without constraints, without refinement."""
        none = SX.zeros(0, 1)
        return ca.horzcat(*[self._apply(F[:, k], none)[0] for k in range(F.shape[1])])

    def _apply(self, f: SX, g: SX) -> tuple[SX, SX]:
        b = ca.vertsplit(ca.densify(ca.vertcat(f, g)))
        y = [b[old] for old in self._order]
        size = self.n + self.m
        for j in range(size):
            for i, value in self._L[j]:
                y[i] = y[i] - value * y[j]
        y = [entry * inverse for entry, inverse in zip(y, self._inverse, strict=True)]
        for j in reversed(range(size)):
            for i, value in self._L[j]:
                y[j] = y[j] - value * y[i]
        x = [SX(0)] * size
        for new, old in enumerate(self._order):
            x[old] = y[new]
        return ca.vertcat(*x[: self.n]), ca.vertcat(SX.zeros(0, 1), *x[self.n :])


@dataclass(frozen=True)
class Pivots:
    """Pivots of a model: see `regularization` and `light_unknowns`."""

    eps: float
    delta: float
    light: tuple[int, ...]

    @property
    def numbers(self) -> dict[str, float]:
        """Values of the run-time parameters `PIVOTS`."""
        return dict(zip(PIVOTS, (self.eps, self.delta), strict=True))


def pivots(scale: BoundOracle, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> Pivots:
    """The pivots at a start q (nq,), v (nv,) and parameters p (np,); `scale`: as in the equations."""
    M, G = (x.reshape(v.size, x.size // max(v.size, 1)).T for x in scale(0.0, q, v, p))
    return Pivots(*regularization(M, G), tuple(sorted(light_unknowns(M))))


def regularization(M: np.ndarray, G: np.ndarray) -> tuple[float, float]:
    """(eps, delta): small compared with the pivots of a typical state, given M (n, n) and G (m, n) there.

    delta is zero unless M is singular: when parameters or bodies have no mass.
    """
    typical = _typical_mass(M)
    singular = M.size and np.linalg.eigvalsh(M)[0] <= SMALL_MASS * typical
    squares = np.einsum("ij,ij->i", G, G)
    acting = squares[squares > NO_ACTION**2]
    eps = RELATIVE * (float(np.median(acting)) if acting.size else 1.0) / typical
    return eps, RELATIVE * typical if singular else 0.0


def light_unknowns(M: np.ndarray) -> set[int]:
    """Numbers of unknowns whose mass, given M (n, n) at a typical state, is almost zero."""
    return set(np.flatnonzero(np.diag(M) <= SMALL_MASS * _typical_mass(M)).tolist())


def _typical_mass(M: np.ndarray) -> float:
    """The median of the diagonal, without bodies that have almost no mass."""
    masses = np.diag(M)
    masses = masses[masses > NO_MASS * np.max(masses, initial=0.0)]
    return float(np.median(masses)) if masses.size else 1.0


def _entries(M: SX, G: SX) -> dict[tuple[int, int], SX]:
    """Nonzeros of the lower half of the matrix, diagonal included."""
    n = M.shape[0]
    entries: dict[tuple[int, int], SX] = {}
    for matrix, offset in ((M, 0), (G, n)):
        rows, columns = matrix.sparsity().get_triplet()
        values = ca.vertsplit(ca.vec(matrix.nz[:])) if matrix.nnz() else []
        for i, j, value in zip(rows, columns, values, strict=True):
            if offset or i >= j:
                entries[i + offset, j] = value
    return entries


def _factor(lower: dict[tuple[int, int], SX], size: int) -> tuple[list[list[tuple[int, SX]]], list[SX]]:
    """Columns of unit L and the inverses of D."""
    columns: list[dict[int, SX]] = [{} for _ in range(size)]
    diagonal: list[SX] = [lower[k, k] for k in range(size)]
    for (i, j), value in lower.items():
        if i != j:
            columns[j][i] = value
    L: list[list[tuple[int, SX]]] = []
    inverse: list[SX] = []
    for k in range(size):
        d = 1 / diagonal[k]
        inverse.append(d)
        column = sorted(columns[k].items())
        scaled = [(i, value * d) for i, value in column]
        L.append(scaled)
        for a, (i, value) in enumerate(column):
            diagonal[i] = diagonal[i] - value * scaled[a][1]
            for j, factor in scaled[:a]:
                columns[j][i] = columns[j].get(i, SX(0)) - value * factor
    return L, inverse
