"""Least squares in the subset of the loops against NumPy, for matrices that have lost rank too."""

import numpy as np
import pytest

from sekant.solvers.linear.least_squares import factor, solve_shortest


@pytest.mark.parametrize(("rows", "columns", "rank"), [(6, 6, 6), (6, 6, 4), (7, 4, 3), (4, 7, 4), (5, 8, 3)])
def test_the_shortest_solution_is_that_of_the_pseudoinverse(rows: int, columns: int, rank: int):
    random = np.random.default_rng(10 * rows + rank)
    matrix = random.normal(size=(rows, rank)) @ random.normal(size=(rank, columns))
    right = random.normal(size=rows)
    memory = np.zeros((columns + 2, max(rows, columns) + 1))  # larger than need be, as in a struct
    memory[:columns, :rows] = matrix.T
    beta, pivot, x = np.zeros(columns), np.zeros(columns, dtype=np.int64), np.zeros(columns)
    found = factor(memory, columns, rows, beta, pivot, 1e-12)
    assert found == rank
    solve_shortest(memory, columns, rows, beta, pivot, found, right.copy(), x)
    np.testing.assert_allclose(x, np.linalg.pinv(matrix) @ right, rtol=1e-10, atol=1e-12)
