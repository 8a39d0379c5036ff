"""Small linear algebra without SciPy, against SciPy's."""

import numpy as np
import pytest
import scipy.linalg

from sekant.solvers.linear.small_matrices import exponential, general_pencil, riccati, symmetric_pencil


def definite(rng, n: int) -> np.ndarray:
    X = rng.normal(size=(n, n))
    return X @ X.T + 0.1 * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_symmetric_pencils(n):
    rng = np.random.default_rng(n)
    K, M = rng.normal(size=(n, n)), definite(rng, n)
    K = K + K.T
    mu, V = symmetric_pencil(K, M)
    np.testing.assert_allclose(mu, scipy.linalg.eigh(K, M)[0], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(V.T @ M @ V, np.eye(n), atol=1e-11)
    np.testing.assert_allclose(K @ V, M @ V * mu, atol=1e-10 * np.abs(K).max())


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_general_pencils(n):
    rng = np.random.default_rng(40 + n)
    K, M = rng.normal(size=(n, n)), definite(rng, n)
    mu, V = general_pencil(K, M)
    values = scipy.linalg.eig(K, M)[0]
    np.testing.assert_allclose(np.sort(mu.real), np.sort(values.real), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1.0, rtol=1e-14)
    np.testing.assert_allclose(K @ V, M @ V * mu, atol=1e-10 * np.abs(K).max())
    assert (np.diff(mu.real) >= 0).all()


def test_a_pencil_needs_a_definite_matrix():
    with pytest.raises(np.linalg.LinAlgError):
        symmetric_pencil(np.eye(2), np.diag([1.0, -1.0]))


@pytest.mark.parametrize("n", [1, 3, 9])
def test_riccati(n):
    rng = np.random.default_rng(n)
    A, B, Q, R = rng.normal(size=(n, n)), rng.normal(size=(n, 1)), definite(rng, n), np.array([[0.7]])
    P = riccati(A, B, Q, R)
    np.testing.assert_allclose(P, scipy.linalg.solve_continuous_are(A, B, Q, R), rtol=1e-9, atol=1e-10)
    residual = A.T @ P + P @ A - P @ B @ B.T @ P / 0.7 + Q
    assert np.abs(residual).max() < 1e-11 * np.abs(P).max() * max(1.0, np.abs(P).max())


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 30.0])
def test_exponentials(scale):
    A = scale * np.random.default_rng(3).normal(size=(6, 6))
    expected = scipy.linalg.expm(A)
    np.testing.assert_allclose(
        exponential(A), expected, atol=1e-12 * np.abs(expected).max() * max(1.0, scale)
    )
