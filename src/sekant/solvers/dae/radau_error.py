"""The error estimate of Radau IIA(5): err = (mu E - J)^-1 (f(x0) + E Z / h) for q and v.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., (IV.8.18) to (IV.8.20); the components of
index 2 (v, under constraints on positions) are multiplied by h, section VII.7.
"""

from __future__ import annotations

from math import sqrt

from sekant.solvers.common.compiled import inner
from sekant.solvers.common.procedures import procedure, table_at
from sekant.solvers.common.views import ints, mat, put, row, vec
from sekant.solvers.dae import memory as at
from sekant.solvers.dae.calls import first_not_finite, kinematics, residual, set_time
from sekant.solvers.dae.radau_newton import scale_right_side, solve_real
from sekant.solvers.dae.radau_tableau import MU_REAL, E


@inner
def _estimate(memory, t, h, shift):
    """ERROR <- the estimate with f at x0 + `shift` ERROR; returns the index of a bad row or -1.

    R is evaluated at the acceleration -E Z / h, and at the straight coordinates moved by their part of the
    right-hand side over mu, which is what elimination leaves of these rows.
    """
    x, Z, error, stage_q = vec(memory, at.X), mat(memory, at.Z), vec(memory, at.ERROR), mat(memory, at.ZQ)
    q, v, a, qdot = vec(memory, at.Q), vec(memory, at.V), vec(memory, at.A), vec(memory, at.QDOT)
    rise, b, F = row(memory, at.ZQDOT, 0), vec(memory, at.REAL_B), vec(memory, at.F)
    curved, straight = ints(memory, at.CURVED), ints(memory, at.STRAIGHT)
    nq, nv, mu = q.size, v.size, MU_REAL / h
    set_time(memory, t)
    for j in range(nq):
        q[j] = x[j] + shift * error[j]
    for j in range(nv):
        v[j] = x[nq + j] + shift * error[nq + j]
        a[j] = -(E[0] * Z[0, j] + E[1] * Z[1, j] + E[2] * Z[2, j]) / h
    put(vec(memory, at.LAM), 0, vec(memory, at.LAM_NOW))
    kinematics(memory)
    for k in range(straight.size):
        j = straight[k]
        total = E[0] * (stage_q[0, j] - x[j]) + E[1] * (stage_q[1, j] - x[j]) + E[2] * (stage_q[2, j] - x[j])
        rise[j] = total / h
        q[j] += (qdot[j] + rise[j]) / mu
    residual(memory)
    ints(memory, at.COUNT)[at.RESIDUALS] += 1
    bad = first_not_finite(F)
    if bad >= 0:
        return bad
    put(b, 0, F)
    for i in range(nv, nv + curved.size):
        b[i] += (E[0] * Z[0, i] + E[1] * Z[1, i] + E[2] * Z[2, i]) / h
    scale_right_side(memory, b, mu)
    solve_real(memory)
    for j in range(nv):
        error[nq + j] = b[j]
        v[j] += b[j]
    for k in range(curved.size):
        error[curved[k]] = b[nv + k] / mu
    kinematics(memory)
    for k in range(straight.size):
        j = straight[k]
        error[j] = (qdot[j] + rise[j]) / mu
    return -1


@procedure
def estimate(pointer, rows, t, h):
    """Root mean square of the scaled error of [q; v], in ERROR_NOW; returns -1 or a row that is not finite.

    The estimate is repeated at the corrected point if it exceeds 1 in a first step or after a rejection. Sets
    BLAME, the worst component.
    """
    memory = table_at(pointer, rows)
    x, atol, rtol = vec(memory, at.X), vec(memory, at.ATOL), vec(memory, at.OPTION)[at.RTOL]
    q, v, error = mat(memory, at.ZQ), mat(memory, at.ZV), vec(memory, at.ERROR)
    count, time = ints(memory, at.COUNT), vec(memory, at.TIME)
    nq, nv = q.shape[1], v.shape[1]
    factor = h if ints(memory, at.SIZE)[at.V_POWER] == 1 else 1.0
    again = count[at.FIRST] == 1 or count[at.AFTER_REJECTION] == 1
    for attempt in range(2):
        bad = _estimate(memory, t, h, float(attempt))
        if bad >= 0:
            return bad
        square, largest = 0.0, -1.0
        for j in range(nq + nv):
            end = q[2, j] if j < nq else v[2, j - nq]
            scaled = error[j] / (atol[j] + rtol * max(abs(x[j]), abs(end)))
            if j >= nq:
                scaled *= factor
            square += scaled * scaled
            if abs(scaled) > largest:
                count[at.BLAME], largest = j, abs(scaled)
        time[at.ERROR_NOW] = sqrt(square / (nq + nv))
        if time[at.ERROR_NOW] < 1.0 or not again:
            break
    return -1
