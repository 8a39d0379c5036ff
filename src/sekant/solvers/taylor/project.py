"""Projection on the constraints: positions, then velocities, each with the least change in the metric of M."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.vectors import clear
from sekant.solvers.taylor.machine import KINEMATICS
from sekant.solvers.taylor.series import (
    factorize_here,
    run_stage,
    run_values,
    set_matrix,
    set_point,
    solve_here,
)

POSITIONS = np.int64(-2)  # the stage that computes Phi
MOST_ITERATIONS = 12
ROUND_OFF = 4e-16
KEEP_FACTOR = 1e-7  # relative displacement up to which a factorization is reused as approximate inverse
MET = 1e-8  # relative displacement by which a constraint may be violated after projection
CONVERGED = 1e-9  # relative displacement of the last iteration that still counts as convergence


@inner
def normalize(m, q):
    """Scale the unit blocks to unit norm."""
    blocks = m.code.unit_blocks
    for b in range(0, blocks.size, 2):
        first, last = blocks[b], blocks[b] + blocks[b + 1]
        square = 0.0
        for i in range(first, last):
            square += q[i] * q[i]
        for i in range(first, last):
            q[i] /= sqrt(square)


@inner
def _displace(m, q, u):
    """q <- q + N(q) u; returns the largest relative change."""
    T, in_v, rates = m.series, m.code.in_v, m.code.out_rates
    for i in range(in_v.size):
        T[in_v[i], 0] = u[i]
    run_values(m, KINEMATICS)
    change = 0.0
    for i in range(q.size):
        step = T[rates[i], 0]
        q[i] += step
        size = abs(step) / (1.0 + abs(q[i]))
        if not size <= change:
            change = size
    normalize(m, q)
    return change


@inner
def _position_residual(m):
    """Largest |Phi| and its row at the point in T; the right-hand side to remove it."""
    run_stage(m, POSITIONS)
    T, positions, rhs, nv = m.series, m.code.out_positions, m.scratch.rhs, m.code.in_v.size
    clear(rhs)
    worst, row = 0.0, -1
    for i in range(positions.size):
        rhs[nv + i] = -T[positions[i], 0]
        size = abs(rhs[nv + i])
        if not size <= worst:
            worst, row = size, i
    return worst, row


@inner
def _project_positions(m, t, q, v):
    """Newton's method; the matrix at the start is factorized. Returns whether it converges."""
    result, x = m.scratch.result, m.factor.x
    moved, rhs = 0.0, m.scratch.rhs
    for iteration in range(MOST_ITERATIONS):
        worst, row = _position_residual(m)
        if iteration == 0 or not worst < inf:
            result[0], result[1] = worst, row
        if not worst < inf:
            return False
        if worst == 0.0:
            return True
        if not solve_here(m, rhs, 1e-12):
            return False
        change = _displace(m, q, x)
        moved += change
        set_point(m, t, q, v)
        if change <= ROUND_OFF or change * moved <= ROUND_OFF:
            if moved > KEEP_FACTOR:
                factorize_here(m)
            else:
                set_matrix(m)
            return True
        if iteration >= 4 or change > 1e-3:
            factorize_here(m)
            moved = 0.0
    if change <= CONVERGED:
        return True
    result[0], result[1] = _position_residual(m)
    return False


@inner
def _positions_met(m, q):
    """Whether Phi is zero up to the change by a small displacement: Newton's method may have stopped where
    contradictory constraints are violated least."""
    positions, result, G_row, G = (
        m.code.out_positions,
        m.scratch.result,
        m.factor.pattern.G_row,
        m.factor.G,
    )
    largest, size = 0.0, 1.0
    for e in range(G.size):
        if G_row[e] < positions.size:
            largest = max(largest, abs(G[e]))
    for i in range(q.size):
        size = max(size, abs(q[i]))
    for i in range(positions.size):
        rest = abs(m.series[positions[i], 0])
        if not rest <= MET * (largest * size + 1e-3):
            result[0], result[1] = rest, i
            return False
    return True


@inner
def project(m, t, q, v):
    """Move q and v onto the constraints at the time t. The matrix there is set and factorized; refinement
    corrects a small displacement after the factorization.

    Section RESULT: largest |Phi| found at the start, row to blame, largest |(Phi', B)| found at the start.
    Returns whether the constraints can be satisfied.
    """
    T, rhs, result, x = m.series, m.scratch.rhs, m.scratch.result, m.factor.x
    positions, velocities = m.code.out_positions, m.code.out_velocities
    nv, nc, nb = m.code.in_v.size, positions.size, velocities.size
    normalize(m, q)
    set_point(m, t, q, v)
    result[0], result[1], result[2] = 0.0, -1.0, 0.0
    factorize_here(m)
    if nc + nb == 0:
        return True
    if nc > 0 and not _project_positions(m, t, q, v):
        return False
    for s in range(-2, 0):
        run_stage(m, s)
    if nc > 0 and not _positions_met(m, q):
        return False
    clear(rhs)
    for i in range(nc):
        rhs[nv + i] = -T[positions[i], 1]
    for i in range(nb):
        rhs[nv + nc + i] = -T[velocities[i], 0]
    for i in range(nv, nv + nc + nb):
        result[2] = max(result[2], abs(rhs[i]))
    if not solve_here(m, rhs, 1e-14):
        return False
    for i in range(nv):
        v[i] += x[i]
    return True
