"""Saddle point systems: against dense algebra, redundant and contradictory rows, fill of chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekant.errors import SolverError
from sekant.solvers.linear.ldl import SaddlePoint
from sekant.solvers.linear.ordering import saddle_order
from sekant.solvers.linear.rank import redundant_rows


def system(M: np.ndarray, G: np.ndarray) -> SaddlePoint:
    """With the positions of the entries that are not zero."""
    Mr, Mc = np.nonzero(M)
    Gr, Gc = np.nonzero(G)
    solver = SaddlePoint(M.shape[0], G.shape[0], Mr, Mc, Gr, Gc)
    solver.factorize(M[Mr, Mc], G[Gr, Gc])
    return solver


def sparse_case(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.3)
    G = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.5)
    G[np.arange(m), np.arange(m) % n] += 2.0 + rng.random(m)
    return A @ A.T + np.diag(0.5 + rng.random(n)), G


@settings(max_examples=40)
@given(st.integers(1, 14), st.integers(0, 9), st.integers(0, 10**6))
def test_equals_dense_solution(n: int, extra: int, seed: int) -> None:
    m = min(extra, n)
    M, G = sparse_case(n, m, seed)
    rng = np.random.default_rng(seed + 1)
    x, lam = rng.normal(size=n), rng.normal(size=m)
    found, multipliers = system(M, G).solve(M @ x + G.T @ lam, G @ x)
    singular = np.linalg.svd(G, compute_uv=False) if m else np.ones(1)
    if singular.min() > 1e-2:
        scale = np.linalg.cond(M) / singular.min() ** 2
        np.testing.assert_allclose(found, x, atol=1e-14 * scale)
        np.testing.assert_allclose(multipliers, lam, atol=1e-14 * scale**2)


def test_redundant_rows_get_multipliers_of_minimum_norm() -> None:
    M, G = sparse_case(9, 5, 3)
    G = np.vstack([G, 2.0 * G[0] - G[3], G[1]])
    rng = np.random.default_rng(4)
    f, b = rng.normal(size=9), G @ rng.normal(size=9)
    x, lam = system(M, G).solve(f, b)
    K = np.block([[M, G.T], [G, np.zeros((7, 7))]])
    expected = np.linalg.lstsq(K, np.r_[f, b], rcond=1e-12)[0]
    np.testing.assert_allclose(x, expected[:9], atol=1e-12)
    np.testing.assert_allclose(lam, expected[9:], atol=1e-6)


def test_rows_that_contradict_each_other_are_all_violated_a_little() -> None:
    M, G = sparse_case(6, 3, 8)
    G = np.vstack([G, 3.0 * G[1]])
    b = G @ np.array([0.3, -1.2, 0.7, 2.0, -0.4, 0.9])
    solver = system(M, G)
    for contradiction in (0.0, 0.25):
        b[3] += contradiction
        x, _ = solver.solve(np.ones(6), b)
        left = np.abs(G @ x - b).max()
        assert left > 0.01 if contradiction else left < 1e-12


def test_mass_matrix_may_be_singular_where_constraints_hold() -> None:
    M = np.diag([2.0, 3.0, 0.0])
    G = np.array([[1.0, 2.0, -1.0], [0.0, 0.5, 4.0]])
    K = np.block([[M, G.T], [G, np.zeros((2, 2))]])
    x = np.array([0.7, -0.2, 1.1, 0.4, -2.5])
    found = system(M + np.diag([0, 0, 1e-300]), G).solve(K[:3] @ x, K[3:] @ x)
    np.testing.assert_allclose(np.concatenate(found), x, atol=1e-9)


def chain(n: int) -> tuple[np.ndarray, np.ndarray]:
    M = np.diag(np.full(n, 2.0)) + np.diag(np.full(n - 1, 0.3), 1) + np.diag(np.full(n - 1, 0.3), -1)
    G = np.zeros((n - 1, n))
    G[np.arange(n - 1), np.arange(n - 1)] = 1.0
    G[np.arange(n - 1), np.arange(1, n)] = -0.8
    return M, G


def test_fill_of_a_chain_is_linear() -> None:
    fills = [system(*chain(n)).fill for n in (40, 80, 160)]
    assert fills[1] <= 2.2 * fills[0]
    assert fills[2] <= 2.2 * fills[1]
    assert fills[2] <= 8 * 160


def test_rows_are_eliminated_after_their_columns() -> None:
    _, G = sparse_case(11, 6, 12)
    Gr, Gc = np.nonzero(G)
    order = saddle_order(11, 6, np.stack([Gr + 11, Gc], axis=1)).tolist()
    assert sorted(order) == list(range(17))
    place = {unknown: k for k, unknown in enumerate(order)}
    assert all(place[i + 11] > place[j] for i, j in zip(Gr.tolist(), Gc.tolist(), strict=True))


def test_sizes_are_checked() -> None:
    with pytest.raises(SolverError, match="outside"):
        SaddlePoint(2, 1, [0, 2], [0, 2], [0], [1])
    with pytest.raises(SolverError, match="must have size 2"):
        system(np.eye(2), np.ones((2, 2))).solve([1.0, 2.0], [3.0])


def test_redundant_rows_and_their_partners() -> None:
    G = np.random.default_rng(5).normal(size=(4, 6))
    G = np.vstack([G[:2], 0.5 * G[0] - 3.0 * G[1], G[2:], np.zeros(6)])
    found = redundant_rows(G)
    assert (found.rows, found.rank) == (6, 4)
    assert 5 in found.redundant
    assert len(found.redundant) == 2
    (other,) = set(found.redundant) - {5}
    assert other in (0, 1, 2)
    assert set(found.partners[found.redundant.index(other)]) == {0, 1, 2} - {other}
    assert found.partners[found.redundant.index(5)] == ()
    assert found.gap > 1e6


def test_full_rank_has_no_redundant_rows() -> None:
    found = redundant_rows(np.diag([1e-4, 2.0, 3e5]))
    assert (found.rank, found.redundant) == (3, ())
    assert redundant_rows(np.zeros((2, 3))).redundant == (0, 1)


@pytest.mark.parametrize("tilt", [0.0, *np.logspace(-9, -2, 22)])
def test_a_direction_without_mass_that_a_row_holds(tilt):
    """M = I - a a^T has no mass along a, where a row of G holds: the whole is well conditioned, but the last pivot of
    M is what round-off leaves of 1 - 1, amplified by a small pivot before it."""
    a = np.array([0.6, 0.8, tilt]) / np.linalg.norm([0.6, 0.8, tilt])
    M = np.zeros((4, 4))
    M[:3, :3], M[3, 3] = 0.02 * (np.eye(3) - np.outer(a, a)), 1.3
    G = np.array([[*a, 0.3], [0.5, -0.4, 0.7, 1.1]])
    rows, columns = (index.ravel() for index in np.indices((4, 4)))
    system = SaddlePoint(4, 2, rows, columns, *(index.ravel() for index in np.indices((2, 4))))
    system.factorize(M.ravel(), G.ravel())
    f, b = np.array([0.3, -0.2, 0.7, 0.1]), np.array([1.1, -0.4])
    exact = np.linalg.solve(np.block([[M, G.T], [G, np.zeros((2, 2))]]), np.concatenate([f, b]))
    found, _ = system.solve(f, b)
    np.testing.assert_allclose(found, exact[:4], rtol=0.0, atol=1e-11 * np.abs(exact[:4]).max())
