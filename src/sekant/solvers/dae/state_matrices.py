"""The matrices of a system at one state, for occasional analyses: rank, stiffness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sekant.solvers.common.memory import CompiledFunction, call, call_of
from sekant.solvers.common.sites import free_modes
from sekant.solvers.dae.problem import DaeProblem, Floats, Integers
from sekant.solvers.linear.ldl import SaddlePoint
from sekant.solvers.linear.rank import redundant_rows


@dataclass(frozen=True)
class Sparse:
    """A matrix by positions and values; values at equal positions add up."""

    shape: tuple[int, int]
    row: Integers
    col: Integers
    values: Floats

    def dense(self) -> Floats:
        matrix = np.zeros(self.shape)
        np.add.at(matrix, (self.row, self.col), self.values)
        return matrix

    def times(self, x: Floats) -> Floats:
        result = np.zeros(self.shape[0])
        np.add.at(result, self.row, self.values * x[self.col])
        return result


def _evaluate(
    problem: DaeProblem, function: CompiledFunction, inputs: Sequence[Floats], sizes: Sequence[int]
):
    """Results of a native function of (inputs, p, T, M), all sites free."""
    assert problem.tables is not None
    arrays = [*[np.array(x, dtype=float).ravel() for x in inputs], problem.p, problem.tables]
    results = [np.zeros(size) for size in sizes]
    work = np.zeros(max(1, function.work_size))
    call(call_of(function, [*arrays, free_modes(function.sites)], results, work))
    return results


def _split(problem: DaeProblem, t: float, x: Floats) -> list[Floats]:
    f = problem.functions
    return [np.array([t]), x[: f.nq], x[f.nq : f.nq + f.nv]]


def mass_and_gradients(problem: DaeProblem, t: float, x: Floats) -> tuple[Sparse, Sparse]:
    """M (nv, nv) and G (m, nv) at the state x = [q; v; ...]."""
    f = problem.functions
    M, G = _evaluate(problem, f.saddle, _split(problem, t, x), [f.M_row.size, f.G_row.size])
    return Sparse((f.nv, f.nv), f.M_row, f.M_col, M), Sparse((problem.m, f.nv), f.G_row, f.G_col, G)


def has_redundant_rows(problem: DaeProblem, t: float, x: Floats) -> bool:
    """Whether constraint rows are dependent at the state."""
    if problem.m == 0:
        return False
    gradients = mass_and_gradients(problem, t, x)[1].dense()
    return bool(np.all(np.isfinite(gradients))) and redundant_rows(gradients).rank < problem.m


def damping_and_stiffness(problem: DaeProblem, t: float, x: Floats) -> tuple[Sparse, Sparse, SaddlePoint]:
    """dR/dv and dR/dq N (nv, nv) at the state with its accelerations; factors of [M G^T; G 0] there."""
    f, m = problem.functions, problem.m
    state = _split(problem, t, x)
    M, G = mass_and_gradients(problem, t, x)
    saddle = SaddlePoint(f.nv, m, f.M_row, f.M_col, f.G_row, f.G_col)
    saddle.factorize(M.values, G.values)
    force, gamma = _evaluate(problem, f.bias, state, [f.nv, m])
    a_and_lam = saddle.solve(force, gamma, 1e-12)
    K0, K1, K2 = _evaluate(problem, f.jacobian, [*state, *a_and_lam], [f.K_row.size] * 3)
    free = (f.K_row < f.nv) & (f.K_col < f.nv)
    damping = Sparse((f.nv, f.nv), f.K_row[free], f.K_col[free], K1[free])
    row, col, values = [f.K_row[free]], [f.K_col[free]], [K2[free]]
    for e in np.flatnonzero((f.K_row < f.nv) & (f.K_col >= f.nv) & (K2 != 0.0)):
        through = np.flatnonzero((f.K_row == f.K_col[e]) & (f.K_col < f.nv))
        row.append(np.full(through.size, f.K_row[e]))
        col.append(f.K_col[through])
        values.append(-K2[e] * K0[through])
    stiff = Sparse((f.nv, f.nv), np.concatenate(row), np.concatenate(col), np.concatenate(values))
    return damping, stiff, saddle
