"""The stiffness of a system at a state, and its cost for an explicit method.

On motions that the constraints allow, dv in the null space of G, small deviations obey

    M dv' + G^T dlam = -C dv - K ds,   G dv' = 0,   ds' = dv,      C = dR/dv,  K = dR/dq N .

Terms from the rotation of the constraint directions are omitted: they are of the order of the motion itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.solvers.dae.problem import DaeProblem, Floats
from sekant.solvers.dae.state_matrices import Sparse, damping_and_stiffness, mass_and_gradients
from sekant.solvers.linear.ldl import SaddlePoint

STABLE = 6.0
"""Radius (times the step) of DOP853's stability region in the left half-plane (about 6)."""
MOST_DENSE = 120
DIFFERENCE = 1e-6
"""Step of differences, times the larger of 1 and the size of an entry."""
ITERATIONS, SKIPPED = 60, 20


def stiffness(problem: DaeProblem, t: float, x: ArrayLike, span: float = 1.0) -> dict[str, Any]:
    """Time constants at time `t` and the state x = [q; v; ...], which should satisfy the constraints.

    Returns `spectral_radius` (1/s), the largest |eigenvalue| of small deviations; `fastest_decay` (1/s), the
    largest -Re of them (NaN for large systems, where it is not computed); and `explicit_steps`, the steps that
    stability alone would force on an explicit method of high order over `span` seconds.
    """
    state = np.array(x, dtype=float)
    damping, stiff, saddle = damping_and_stiffness(problem, t, state)
    M, G = mass_and_gradients(problem, t, state)
    finite = all(bool(np.all(np.isfinite(matrix.values))) for matrix in (M, G, damping, stiff))
    radius, decay = np.nan, np.nan
    if finite and problem.functions.nv <= MOST_DENSE:
        values = _eigenvalues(M.dense(), G.dense(), damping.dense(), stiff.dense())
        radius, decay = np.max(np.abs(values), initial=0.0), np.max(-np.real(values), initial=0.0)
    elif finite:
        radius = _power_iteration(saddle, damping, stiff)
    return _figures(radius, decay, span)


def stiffness_of_rates(rates: Callable[[Floats], Floats], x: ArrayLike, span: float = 1.0) -> dict[str, Any]:
    """Like `stiffness` for x' = f(x) at x (n,), by central differences; `rates`: f at each row of (k, n).

    For equations whose rates are already compiled, but not their derivatives.
    """
    state = np.array(x, dtype=float)
    steps = DIFFERENCE * np.maximum(1.0, np.abs(state))
    moved = np.concatenate([state + np.diag(steps), state - np.diag(steps)])
    ahead, behind = np.split(rates(moved), 2)
    matrix = ((ahead - behind) / (2 * steps[:, None])).T
    if not np.all(np.isfinite(matrix)):
        return _figures(np.nan, np.nan, span)
    values = np.linalg.eigvals(matrix)
    return _figures(np.max(np.abs(values), initial=0.0), np.max(-np.real(values), initial=0.0), span)


def _figures(radius: float, decay: float, span: float) -> dict[str, Any]:
    steps = radius * span / STABLE
    return {
        "spectral_radius": float(radius),
        "fastest_decay": float(decay),
        "explicit_steps": int(np.ceil(steps)) if np.isfinite(steps) else 0,
    }


def _eigenvalues(M: Floats, G: Floats, C: Floats, K: Floats) -> NDArray[Any]:
    """Eigenvalues of deviations in the null space of G."""
    Z = np.eye(M.shape[0])
    if G.size:
        _, singular, V = np.linalg.svd(G)
        rank = int(np.count_nonzero(singular > 1e-9 * np.max(singular, initial=0.0)))
        Z = V[rank:].T
    n = Z.shape[1]
    reduced = np.linalg.lstsq(Z.T @ M @ Z, np.hstack([-Z.T @ K @ Z, -Z.T @ C @ Z]), rcond=None)[0]
    return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [reduced[:, :n], reduced[:, n:]]]))


def _power_iteration(saddle: SaddlePoint, C: Sparse, K: Sparse) -> float:
    """Growth of a random deviation under repeated multiplication, averaged over the last iterations."""
    generator = np.random.default_rng(1)
    rest = np.zeros(saddle.m)
    ds, dv = (saddle.solve(generator.normal(size=saddle.n), rest, 1e-9)[0] for _ in range(2))
    growth = 0.0
    for k in range(ITERATIONS):
        size = float(np.sqrt(ds @ ds + dv @ dv))
        if size == 0.0:
            return 0.0
        if k >= SKIPPED:
            growth += np.log(size)
        ds, dv = ds / size, dv / size
        ds, dv = dv, saddle.solve(-C.times(dv) - K.times(ds), rest, 1e-9)[0]
    return float(np.exp(growth / (ITERATIONS - SKIPPED)))
