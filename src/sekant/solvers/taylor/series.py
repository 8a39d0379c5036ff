"""The Taylor series of a motion from a consistent point, stage by stage; see `schedule`."""

from __future__ import annotations

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner
from sekant.solvers.linear.ldl import factorize, solve
from sekant.solvers.taylor.machine import FIX, MATRIX, STAGE
from sekant.solvers.taylor.native.layout import ACCURACY as WANTED
from sekant.solvers.taylor.native.layout import (
    EXPAND,
    FACTORIZE,
    FINITE,
    HEAD,
    SOLVE,
    STAGE_POSITIONS,
    STAGE_VELOCITIES,
    TASK,
)
from sekant.solvers.taylor.native.layout import MATRIX as MATRIX_ENTRIES
from sekant.solvers.taylor.native.layout import ORDER as SERIES_ORDER
from sekant.solvers.taylor.native.layout import TOL as SERIES_TOL
from sekant.solvers.taylor.recurrences import coefficients, corrections, values

ACCURACY, LEAST_ACCURACY = 1e-16, 1e-9


@inner
def call_kernel(m, task):
    """Run a task of `native.layout` in the native kernel."""
    m.kernel.work[TASK] = task
    call_native(m.kernel.function, m.series, m.factor.whole, m.kernel.work)


@inner
def set_point(m, t, q, v):
    """Set the point at which order 0 is to be evaluated."""
    T, time, in_q, in_v = m.series, m.code.in_t[0], m.code.in_q, m.code.in_v
    if time >= 0:
        T[time, 0] = t
        T[time, 1] = 1.0
    for i in range(in_q.size):
        T[in_q[i], 0] = q[i]
    for i in range(in_v.size):
        T[in_v[i], 0] = v[i]


@inner
def run_stage(m, s):
    """Compute the coefficients of a stage, with its current unknowns."""
    if m.kernel.function != 0 and s < 0:
        call_kernel(m, STAGE_POSITIONS if s < -1 else STAGE_VELOCITIES)
        return
    lists, op, level, region = m.code.lists, m.code.g_op, m.code.g_level, m.code.g_region
    first, last = m.code.g_first, m.code.g_last
    d, a, b, c = m.code.d, m.code.a, m.code.b, m.code.c
    begin, end = lists[STAGE], lists[STAGE + 1]
    coefficients(m.series, op, level, region, first, last, d, a, b, c, begin, end, s)


@inner
def run_values(m, which):
    """Compute order 0 of a list."""
    lists, op, first, last = m.code.lists, m.code.g_op, m.code.g_first, m.code.g_last
    d, a, b, c = m.code.d, m.code.a, m.code.b, m.code.c
    for g in range(lists[which], lists[which + 1]):
        values(m.series, op[g], d, a, b, c, first[g], last[g])


@inner
def run_fixes(m, s):
    """Correct the values that depend on the unknowns of stage s, whose changes are known."""
    lists, op, level, region = m.code.lists, m.code.g_op, m.code.g_level, m.code.g_region
    first, last = m.code.g_first, m.code.g_last
    d, a, b = m.code.d, m.code.a, m.code.b
    da, db, dc = m.code.da, m.code.db, m.code.dc
    begin, end = lists[FIX], lists[FIX + 1]
    corrections(m.series, m.scratch.delta, op, level, region, first, last, d, a, b, da, db, dc, begin, end, s)


@inner
def set_matrix(m):
    """The entries of M and G at the point in T."""
    if m.kernel.function != 0:
        call_kernel(m, MATRIX_ENTRIES)
        return
    run_values(m, MATRIX)
    T, out_M, out_G = m.series, m.code.out_m, m.code.out_g
    M, G = m.factor.M, m.factor.G
    for e in range(out_M.size):
        M[e] = T[out_M[e], 0]
    for e in range(out_G.size):
        G[e] = T[out_G[e], 0]


@inner
def factorize_here(m):
    """The matrix at the point in T and its factorization."""
    if m.kernel.function != 0:
        call_kernel(m, FACTORIZE)
        return
    set_matrix(m)
    factorize(m.factor)


@inner
def solve_here(m, rhs, accuracy):
    """Solve with the current matrix, see `ldl.solve`."""
    if m.kernel.function == 0:
        return solve(m.factor, rhs, accuracy)
    w = m.kernel.work
    for i in range(rhs.size):
        w[HEAD + i] = rhs[i]
    w[WANTED] = accuracy
    call_kernel(m, SOLVE)
    return w[FINITE] > 0.0


@inner
def expand(m, order):
    """Series to `order` in v (``order + 1`` in q, ``order - 1`` in a, lam) from the point in T.

    In a step of maximal length for the tolerance, the terms of order k are about tol^(k / order) of the first
    ones: the higher the order, the less accurately the linear systems must be solved. The matrix at this point
    is factorized. Returns whether all coefficients are finite.
    """
    if m.kernel.function != 0:
        w = m.kernel.work
        w[SERIES_ORDER] = order
        w[SERIES_TOL] = m.plan.tol
        call_kernel(m, EXPAND)
        return w[FINITE] > 0.0
    T, delta, rhs, x = m.series, m.scratch.delta, m.scratch.rhs, m.factor.x
    in_v, in_a, in_lam = m.code.in_v, m.code.in_a, m.code.in_lam
    residual, positions = m.code.out_residual, m.code.out_positions
    velocities = m.code.out_velocities
    nv, nc, nb = in_v.size, positions.size, velocities.size
    for s in range(-2, 0):
        run_stage(m, s)
    for k in range(order):
        for i in range(nv):
            T[in_v[i], k + 1] = 0.0
            if in_a[i] >= 0:
                T[in_a[i], k] = 0.0
        for i in range(nc + nb):
            if in_lam[i] >= 0:
                T[in_lam[i], k] = 0.0
        run_stage(m, k)
        for i in range(nv):
            rhs[i] = -T[residual[i], k]
        for i in range(nc):
            rhs[nv + i] = -(k + 1.0) * (k + 2.0) * T[positions[i], k + 2]
        for i in range(nb):
            rhs[nv + nc + i] = -(k + 1.0) * T[velocities[i], k + 1]
        accuracy = min(ACCURACY * m.plan.tol ** (-k / order), LEAST_ACCURACY)
        if not solve(m.factor, rhs, accuracy):
            return False
        for i in range(nv):
            T[in_v[i], k + 1] = x[i] / (k + 1.0)
            delta[in_v[i]] = x[i] / (k + 1.0)
            if in_a[i] >= 0:
                T[in_a[i], k] = x[i]
                delta[in_a[i]] = x[i]
        for i in range(nc + nb):
            if in_lam[i] >= 0:
                T[in_lam[i], k] = x[nv + i]
                delta[in_lam[i]] = x[nv + i]
        run_fixes(m, k)
    return True
