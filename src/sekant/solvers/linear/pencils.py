"""Eigenvalues of a matrix against a positive definite one, with NumPy alone: SciPy takes 0.2 s to load."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def symmetric_pencil(K: Array, M: Array) -> tuple[Array, Array]:
    """mu (n,), rising, and V (n, n) of K V = M V diag(mu), V^T M V = 1; K symmetric, M positive definite.

    Raises `numpy.linalg.LinAlgError` where M is not.
    """
    L = np.linalg.cholesky(M)
    reduced = np.linalg.solve(L, np.linalg.solve(L, K).T)
    mu, W = np.linalg.eigh(0.5 * (reduced + reduced.T))
    return mu, np.linalg.solve(L.T, W)


def general_pencil(K: Array, M: Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """mu (n,), by their real parts, and V (n, n) with columns of length one of K V = M V diag(mu); M positive
    definite."""
    L = np.linalg.cholesky(M)
    mu, W = np.linalg.eig(np.linalg.solve(L, np.linalg.solve(L, K.T).T))
    V = np.linalg.solve(L.T, W)
    order = np.argsort(np.real(mu))
    return mu[order], (V / np.linalg.norm(V, axis=0))[:, order]
