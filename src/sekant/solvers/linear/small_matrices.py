"""Pencils, the algebraic Riccati equation and the exponential of small matrices, with NumPy alone: SciPy takes
0.2 s to load."""

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


TERMS = 18
"""Number of terms of the exponential series for a matrix with norm at most one half: the remainder is 1e-22."""


def riccati(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """The stabilizing P (n, n) of A^T P + P A - P B R^-1 B^T P + Q = 0; B (n, k), R (k, k) positive definite.

    From the invariant subspace of the Hamiltonian matrix, then one step of Newton's method (Kleinman 1968), which
    is a linear equation in P.
    """
    n = len(A)
    S = B @ np.linalg.solve(R, B.T)
    values, vectors = np.linalg.eig(np.block([[A, -S], [-Q, -A.T]]))
    stable = vectors[:, np.argsort(np.real(values))[:n]]
    P = np.real(np.linalg.solve(stable[:n].T, stable[n:].T).T)
    P = 0.5 * (P + P.T)
    closed, one = A - S @ P, np.eye(n)
    left = np.kron(closed.T, one) + np.kron(one, closed.T)
    P = np.linalg.solve(left, -(Q + P @ S @ P).ravel()).reshape(n, n)
    return 0.5 * (P + P.T)


def exponential(A: Array) -> Array:
    """exp(A) (n, n), by the series of a fraction of A, squared."""
    size = float(np.linalg.norm(A, 1))
    halvings = max(0, int(np.ceil(np.log2(2.0 * size)))) if size > 0.0 else 0
    small, one = A / 2.0**halvings, np.eye(len(A))
    found = one
    for k in range(TERMS, 0, -1):
        found = one + small @ found / k
    for _ in range(halvings):
        found = found @ found
    return found
