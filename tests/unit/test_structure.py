"""Signature matrices, offsets and indices of known systems."""

from __future__ import annotations

import numpy as np
import pytest

from sekant.errors import SolverError
from sekant.solvers.structure import ABSENT, analyze_structure, signature


def mechanical(n: int, m: int, couplings: list[tuple[int, int]], rows: list[list[int]]):
    """M a + G^T lam = f with M coupled at `couplings`; constraint k involves the coordinates rows[k]."""
    second = (
        np.array([*range(n), *[i for i, _ in couplings], *[j for _, j in couplings]]),
        np.array([*range(n), *[j for _, j in couplings], *[i for i, _ in couplings]]),
    )
    columns = [(k, j) for k, row in enumerate(rows) for j in row]
    k, j = np.array(columns).T
    return signature(n + m, {2: [second], 0: [(k + n, j), (j, k + n)]})


def test_pendulum_has_index_three_and_one_degree_of_freedom() -> None:
    structure = analyze_structure(
        mechanical(2, 1, [], [[0, 1]]), ["x motion", "y motion", "rod"], ["x", "y", "lam"]
    )
    assert structure.c.tolist() == [0, 0, 2]
    assert structure.d.tolist() == [2, 2, 0]
    assert (structure.index, structure.initial_values, structure.degrees_of_freedom) == (3, 2, 1.0)
    tableau = structure.describe().splitlines()
    assert tableau[0].split() == ["x", "y", "lam", "c"]
    assert tableau[3].startswith("rod")
    assert "index 3" in tableau[-1]
    assert sum(line.count("*") for line in tableau) == 3


def test_slider_crank_has_one_degree_of_freedom() -> None:
    structure = analyze_structure(mechanical(3, 2, [(0, 2)], [[0, 1], [0, 1, 2]]))
    assert structure.degrees_of_freedom == 1
    assert structure.index == 3


def test_offsets_are_canonical() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        n = 5
        sigma = np.where(rng.random((n, n)) < 0.5, rng.integers(0, 4, (n, n)), ABSENT)
        sigma[np.arange(n), rng.permutation(n)] = rng.integers(0, 4, n)
        s = analyze_structure(sigma)
        present = sigma != ABSENT
        assert np.all((s.d[None, :] - s.c[:, None])[present] >= sigma[present])
        assert np.all(s.d[s.transversal] - s.c == sigma[np.arange(n), s.transversal])
        assert s.c.min() == 0


def test_ordinary_differential_equations_have_index_zero() -> None:
    sigma = signature(
        2, {1: [(np.array([0, 1]), np.array([0, 1]))], 0: [(np.array([0, 1]), np.array([1, 0]))]}
    )
    structure = analyze_structure(sigma)
    assert (structure.index, structure.initial_values) == (0, 2)


def test_singular_structure_names_the_equation() -> None:
    sigma = np.array([[0, ABSENT], [1, ABSENT]])
    with pytest.raises(SolverError, match=r"structurally singular.*energy|structurally singular.*momentum"):
        analyze_structure(sigma, ["energy", "momentum"], ["x", "y"])


def test_shapes_and_names_are_checked() -> None:
    with pytest.raises(SolverError, match="square"):
        analyze_structure(np.zeros((2, 3), dtype=int))
    with pytest.raises(SolverError, match="names"):
        analyze_structure(np.zeros((2, 2), dtype=int), ["only one"])
