"""The Taylor series of a motion from a consistent point, stage by stage; see `schedule`."""

from __future__ import annotations

from sekant.solvers.compiled import compiled
from sekant.solvers.linear.ldl import G_VALUES, M_VALUES, X, solve
from sekant.solvers.sections import section
from sekant.solvers.taylor.machine import (
    DA,
    DB,
    DC,
    DELTA,
    FIX,
    G_FIRST,
    G_LAST,
    G_LEVEL,
    G_OP,
    IN_A,
    IN_LAM,
    IN_Q,
    IN_T,
    IN_V,
    LISTS,
    MATRIX,
    OUT_G,
    OUT_M,
    OUT_POSITIONS,
    OUT_RESIDUAL,
    OUT_VELOCITIES,
    RHS,
    SETTINGS,
    STAGE,
    TOL,
    A,
    B,
    C,
    D,
    code,
    data,
    work,
)
from sekant.solvers.taylor.recurrences import coefficients, corrections, values

ACCURACY, LEAST_ACCURACY = 1e-16, 1e-9


@compiled
def set_point(m, t, q, v):
    """The point of which order 0 is to be evaluated."""
    T, time, in_q, in_v = m.T, code(m, IN_T)[0], code(m, IN_Q), code(m, IN_V)
    if time >= 0:
        T[time, 0] = t
        T[time, 1] = 1.0
    for i in range(in_q.size):
        T[in_q[i], 0] = q[i]
    for i in range(in_v.size):
        T[in_v[i], 0] = v[i]


@compiled
def run_stage(m, s):
    """Coefficients of a stage; its unknowns as they stand."""
    lists = code(m, LISTS)
    first, last = code(m, G_FIRST), code(m, G_LAST)
    d, a, b, c = code(m, D), code(m, A), code(m, B), code(m, C)
    begin, end = lists[STAGE], lists[STAGE + 1]
    coefficients(m.T, code(m, G_OP), code(m, G_LEVEL), first, last, d, a, b, c, begin, end, s)


@compiled
def run_values(m, which):
    """Order 0 of a list."""
    lists, op, first, last = code(m, LISTS), code(m, G_OP), code(m, G_FIRST), code(m, G_LAST)
    d, a, b, c = code(m, D), code(m, A), code(m, B), code(m, C)
    for g in range(lists[which], lists[which + 1]):
        values(m.T, op[g], d, a, b, c, first[g], last[g])


@compiled
def run_fixes(m, s):
    """Correct what depends on the unknowns of stage s, whose changes are known."""
    lists, op, level, first, last = (
        code(m, LISTS),
        code(m, G_OP),
        code(m, G_LEVEL),
        code(m, G_FIRST),
        code(m, G_LAST),
    )
    d, a, b = code(m, D), code(m, A), code(m, B)
    da, db, dc = code(m, DA), code(m, DB), code(m, DC)
    begin, end = lists[FIX], lists[FIX + 1]
    corrections(m.T, work(m, DELTA), op, level, first, last, d, a, b, da, db, dc, begin, end, s)


@compiled
def set_matrix(m):
    """The entries of M and G at the point in T."""
    run_values(m, MATRIX)
    T, out_M, out_G = m.T, code(m, OUT_M), code(m, OUT_G)
    M, G = section(m.factor, M_VALUES), section(m.factor, G_VALUES)
    for e in range(out_M.size):
        M[e] = T[out_M[e], 0]
    for e in range(out_G.size):
        G[e] = T[out_G[e], 0]


@compiled
def expand(m, order):
    """Series to `order` in v (``order + 1`` in q, ``order - 1`` in a, lam) from the point in T.

    In a step that is long for the tolerance, the terms of order k are about tol^(k / order) of the first ones:
    the higher the order, the less accurate the linear systems need be solved.
    The matrix at this point is factorized. Returns whether all coefficients are finite.
    """
    T, delta, rhs, x = m.T, work(m, DELTA), work(m, RHS), section(m.factor, X)
    in_v, in_a, in_lam = code(m, IN_V), code(m, IN_A), code(m, IN_LAM)
    residual, positions = code(m, OUT_RESIDUAL), code(m, OUT_POSITIONS)
    velocities = code(m, OUT_VELOCITIES)
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
        accuracy = min(ACCURACY * data(m, SETTINGS)[TOL] ** (-k / order), LEAST_ACCURACY)
        if not solve(m.pattern, m.factor, rhs, accuracy):
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
