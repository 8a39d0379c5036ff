"""Sparse LU with a fixed order of elimination, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from sekant.solvers.linear import static_lu
from small_procedures import ComplexSystem, RealSystem, solve_complex, solve_real


def solve(K, n, b):
    """Solution of K x = b where the last rows of K are constraints, and the number of pivots raised."""
    rows, columns = np.nonzero(K)
    p = static_lu.analyze(n, K.shape[0] - n, rows, columns)
    x = np.zeros(p.values, dtype=K.dtype)
    x[p.scatter] = K[rows, columns]
    solution = b.astype(K.dtype)
    scratch = np.zeros((2, K.shape[0]), dtype=K.dtype)
    System, run = (ComplexSystem, solve_complex) if K.dtype == complex else (RealSystem, solve_real)
    raised = run(System(pattern=p, x=x, inverse=scratch[0], b=solution, y=scratch[1]))
    return solution, raised, p


def saddle(generator, n, m, kind):
    A = 3.0 * np.eye(n) + (generator.random((n, n)) < 0.15) * generator.normal(size=(n, n))
    C = (generator.random((m, n)) < 0.2) * generator.normal(size=(m, n))
    C[np.arange(m), np.arange(m)] += 1.5
    K = np.block([[A, C.T], [C, np.zeros((m, m))]]).astype(kind)
    if kind is complex:
        K[:n, :n] += 0.7j * (A @ A.T)
    return K


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize(("n", "m"), [(1, 0), (7, 3), (25, 11)])
def test_solution_of_random_systems(n, m, kind):
    generator = np.random.default_rng(n + m)
    K, b = saddle(generator, n, m, kind), generator.normal(size=n + m)
    x, raised, _ = solve(K, n, b)
    assert raised == 0
    assert np.abs(K @ x - b).max() < 1e-11


def test_a_chain_has_no_fill():
    n = 40
    K = np.diag(np.full(n, 2.1)) + np.diag(np.full(n - 1, -1.0), 1) + np.diag(np.full(n - 1, -0.7), -1)
    b = np.arange(1.0, n + 1)
    x, _, pattern = solve(K, n, b)
    assert pattern.values == 3 * n - 2
    assert np.abs(K @ x - b).max() < 1e-12


def test_constraints_come_after_the_columns_they_touch():
    K = saddle(np.random.default_rng(3), 12, 5, float)
    order = solve(K, 12, np.ones(17))[2].order.tolist()
    for row in range(12, 17):
        assert all(order.index(j) < order.index(row) for j in np.flatnonzero(K[row]))


def test_a_vanishing_pivot_is_raised():
    K = np.array([[0.0, 2.0, 0.1], [1.0, 1e-3, 0.3], [0.2, 0.5, 3.0]])
    b = np.array([0.4, -1.1, 0.7])
    x, raised, _ = solve(K, 3, b)
    assert raised >= 1
    assert np.abs(K @ x - b).max() < 1e-4
