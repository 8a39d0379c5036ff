"""The error estimate of Radau IIA(5): err = (mu E - J)^-1 (f(x0) + E Z / h) for q and v.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., (IV.8.18) to (IV.8.20); the components of
index 2 (v, under constraints on positions) are multiplied by h, section VII.7.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call, set_time
from sekant.solvers.common.vectors import put
from sekant.solvers.dae.memory import DaeMemory, first_not_finite
from sekant.solvers.dae.radau_dense import MU_REAL, E
from sekant.solvers.dae.radau_newton import scale_right_side, solve_real


@inner
def _estimate(memory, t, h, shift):
    """`newton.error` <- the estimate with f at x0 + `shift` `newton.error`; returns the index of a bad row or -1.

    R is evaluated at the acceleration -E Z / h, and at the straight coordinates moved by their part of the
    right-hand side over mu, which is the remainder of these rows after elimination.
    """
    newton, point = memory.newton, memory.point
    x, Z, error, stage_q = memory.x, newton.z, newton.error, newton.zq
    q, v, a, qdot = point.q, point.v, point.a, memory.found.qdot
    rise, b, F = newton.zqdot[0], memory.real.b, memory.found.f
    curved, straight = memory.curved, memory.straight
    nq, nv, mu = q.size, v.size, MU_REAL / h
    set_time(memory.clock, t)
    for j in range(nq):
        q[j] = x[j] + shift * error[j]
    for j in range(nv):
        v[j] = x[nq + j] + shift * error[nq + j]
        a[j] = -(E[0] * Z[0, j] + E[1] * Z[1, j] + E[2] * Z[2, j]) / h
    put(point.lam, 0, memory.lam_now)
    call(memory.kinematics)
    for k in range(straight.size):
        j = straight[k]
        total = E[0] * (stage_q[0, j] - x[j]) + E[1] * (stage_q[1, j] - x[j]) + E[2] * (stage_q[2, j] - x[j])
        rise[j] = total / h
        q[j] += (qdot[j] + rise[j]) / mu
    call(memory.residual)
    memory.counts.evaluations += 1
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
    call(memory.kinematics)
    for k in range(straight.size):
        j = straight[k]
        error[j] = (qdot[j] + rise[j]) / mu
    return -1


@procedure(DaeMemory, "Radau integrator", 0.3)
def estimate(memory, t, h):
    """Root mean square of the scaled error of [q; v], in `step.error`; returns -1 or a row that is not finite.

    The estimate is repeated at the corrected point if it exceeds 1 in a first step or after a rejection. Sets
    `step.blame`, the worst component.
    """
    step, newton = memory.step, memory.newton
    if step.estimating == 0:
        step.error = 1e-10
        return -1
    x, atol, rtol = memory.x, memory.plan.atol, memory.plan.rtol
    q, v, error = newton.zq, newton.zv, newton.error
    nq, nv = q.shape[1], v.shape[1]
    factor = h if memory.v_power == 1 else 1.0
    again = step.first == 1 or step.after_rejection == 1
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
                step.blame, largest = j, abs(scaled)
        step.error = sqrt(square / (nq + nv))
        if step.error < 1.0 or not again:
            break
    return -1
