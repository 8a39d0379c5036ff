"""Motions allowed by constraints: null spaces, particular solutions, least multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
RANK = 1e-9
"""Entries of R in the pivoted QR of G^T below this, relative to the largest, count as zero: redundant constraints."""


@dataclass(frozen=True, eq=False)
class TangentSpace:
    """The tangent space of rows G (m, n): Z (n, f) orthonormal with G Z = 0, and the pseudo-inverse of G (n, m)."""

    Z: Array
    inverse: Array
    rank: int

    @staticmethod
    def of(G: Array) -> TangentSpace:
        """By QR with pivoting of G^T (TROM 4.1, 4.2). Rows may be redundant."""
        m, n = G.shape
        if not m:
            return TangentSpace(np.eye(n), np.zeros((n, 0)), 0)
        from scipy.linalg import qr, solve_triangular  # slow to import

        factors: Any = qr(G.T, pivoting=True)
        Q, R, order = factors
        sizes = np.abs(np.diag(R))
        rank = int(np.sum(sizes > RANK * max(1.0, sizes[0]))) if sizes.size else 0
        inverse = np.zeros((n, m))
        if rank == m:
            inverse[:, order] = solve_triangular(R[:m], Q[:, :m].T).T
        elif rank:
            inverse = np.linalg.pinv(G, rcond=RANK)
        return TangentSpace(_signed(Q[:, rank:]), inverse, rank)


def _signed(Z: Array) -> Array:
    """Make the largest entry of each column positive, so that the basis is reproducible."""
    if not Z.size:
        return Z
    largest = np.argmax(np.abs(Z) > 0.999 * np.abs(Z).max(axis=0), axis=0)
    return Z * np.where(Z[largest, np.arange(Z.shape[1])] < 0, -1.0, 1.0)
