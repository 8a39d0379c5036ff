"""Numerical rank of a matrix, and its redundant rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_ZERO = 1e-13  # a row shorter than this, relative to the longest, is zero


@dataclass(frozen=True)
class Redundancy:
    """`rank` of a matrix of `rows` rows; `redundant`: indices of rows that the others span, ascending.

    `partners`: for each redundant row the rows of which it is a combination, largest share first. `gap`: smallest
    accepted over largest rejected pivot (infinite if none was rejected): a small gap means that the rank depends on
    the tolerance.
    """

    rows: int
    rank: int
    redundant: tuple[int, ...]
    partners: tuple[tuple[int, ...], ...]
    gap: float


def redundant_rows(G: ArrayLike, tol: float = 1e-9) -> Redundancy:
    """Rank and redundant rows of `G` (m, n) by QR with column pivoting of its transpose, rows scaled to length 1.

    Zero rows count as redundant, without partners.
    """
    G = np.atleast_2d(np.asarray(G, dtype=float))
    m = G.shape[0]
    length = np.linalg.norm(G, axis=1)
    largest = float(np.max(length, initial=0.0))
    if m == 0 or G.shape[1] == 0 or largest == 0.0:
        return Redundancy(m, 0, tuple(range(m)), ((),) * m, np.inf)
    scale = np.where(length > _ZERO * largest, length, np.inf)
    scaled = G / scale[:, None]
    # no pivot is below the smallest singular value, and none above the largest row, which is 1
    if m <= G.shape[1] and np.all(np.isfinite(scaled)) and _least_singular_value(scaled) > 2.0 * tol:
        return Redundancy(m, m, (), (), np.inf)
    from scipy.linalg import qr, solve_triangular  # slow to load

    factors: Any = qr(scaled.T, mode="r", pivoting=True)
    R, pivot = factors
    diagonal = np.abs(np.diag(R))
    rank = int(np.count_nonzero(diagonal > tol * diagonal[0]))
    rejected = float(diagonal[rank]) if rank < diagonal.size else 0.0
    gap = float(diagonal[rank - 1]) / rejected if rejected > 0.0 else np.inf
    shares = np.abs(solve_triangular(R[:rank, :rank], R[:rank, rank:]))
    kept = np.asarray(pivot[:rank])
    found = []
    for k, row in enumerate(np.asarray(pivot[rank:]).tolist()):
        strong = np.flatnonzero(shares[:, k] > 1e-6)
        ranked = strong[np.argsort(-shares[strong, k], kind="stable")]
        found.append((row, tuple(int(i) for i in kept[ranked])))
    found.sort()
    return Redundancy(m, rank, tuple(r for r, _ in found), tuple(p for _, p in found), gap)


def _least_singular_value(matrix: np.ndarray) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])
