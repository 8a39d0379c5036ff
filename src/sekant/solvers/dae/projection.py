"""Projection on the constraints, and accelerations and multipliers of a consistent state.

Positions:      min |dx|_M  with  Phi + G dx = 0,  q <- q + N(q) dx, repeated;
velocities:     min |dv|_M  with  rates + G dv = 0;
accelerations:  M a + G^T lam = f,  G a = gamma.
All three solve [M G^T; G 0]; redundant rows get the multipliers of minimum norm (see `linear.ldl`).
Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., section VII.2.
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call, set_time
from sekant.solvers.common.vectors import clear, normalize, put, take
from sekant.solvers.dae.memory import DaeMemory, set_state
from sekant.solvers.linear import ldl

PHI_LIMIT, RATE_LIMIT = 1e-10, 1e-9
ACCURACY = 1e-12
MOST_ITERATIONS = 10
ROUND_OFF = 1e-15

_ldl_factorize, _ldl_solve = ldl.factorize, ldl.solve


@procedure(DaeMemory, "Radau integrator", 0.1)
def factorize_saddle(memory, a, b):
    """Factors of [M G^T; G 0] at the point."""
    call(memory.mass)
    _ldl_factorize(memory.saddle)
    return 0


@procedure(DaeMemory, "Radau integrator", 0.2)
def solve_saddle(memory, a, b):
    """Solve [M G^T; G 0] for `found.rhs`, into `saddle.x`; returns 1 if the solution is finite."""
    return 1 if _ldl_solve(memory.saddle, memory.found.rhs, ACCURACY) else 0


@inner
def factorize_at(memory):
    factorize_saddle(memory, 0.0, 0.0)


@inner
def _solve(memory):
    return solve_saddle(memory, 0.0, 0.0) == 1


@inner
def _largest(values):
    """Largest magnitude and its index; (1e300, index) for a number that is not finite."""
    largest, where = 0.0, -1
    for j in range(values.size):
        size = abs(values[j])
        if not size < 1e300:
            return 1e300, j
        if size > largest:
            largest, where = size, j
    return largest, where


@inner
def _move(memory):
    """q <- q + N(q) dx with the last solution dx; returns whether q changed by more than round-off."""
    found = memory.found
    dx, q, v = memory.saddle.x, memory.point.q, memory.point.v
    qdot, still, kept = found.qdot, found.qdot_still, found.v_kept
    put(kept, 0, v)
    clear(v)
    call(memory.kinematics)
    put(still, 0, qdot)
    take(v, dx, 0)
    call(memory.kinematics)
    put(v, 0, kept)
    size, change = 0.0, 0.0
    for j in range(q.size):
        step = qdot[j] - still[j]
        q[j] += step
        size = max(size, abs(q[j]))
        change = max(change, abs(step))
    normalize(q, memory.blocks)
    return change > ROUND_OFF * size


@inner
def _project_positions(memory):
    """Bring q of the point to Phi = 0; returns (largest |Phi| left, its row)."""
    phi, rhs = memory.found.phi, memory.found.rhs
    nv = memory.nv
    call(memory.constraints)
    for _ in range(MOST_ITERATIONS):
        left, row = _largest(phi)
        if left <= ROUND_OFF or left == 1e300:
            return left, row
        factorize_at(memory)
        clear(rhs)
        for i in range(phi.size):
            rhs[nv + i] = -phi[i]
        if not _solve(memory):
            return 1e300, row
        moved = _move(memory)
        call(memory.constraints)
        if not moved:
            break
    return _largest(phi)


@inner
def _project_velocities(memory):
    """Bring v of the point to zero rates; returns (largest rate left, its row). Factors must be in place."""
    rate, rhs, v, dv = memory.found.rate, memory.found.rhs, memory.point.v, memory.saddle.x
    for _ in range(MOST_ITERATIONS):
        left, row = _largest(rate)
        if left <= ROUND_OFF or left == 1e300:
            return left, row
        clear(rhs)
        for i in range(rate.size):
            rhs[v.size + i] = -rate[i]
        if not _solve(memory):
            return 1e300, row
        size, change = 0.0, 0.0
        for j in range(v.size):
            v[j] += dv[j]
            size = max(size, abs(v[j]))
            change = max(change, abs(dv[j]))
        call(memory.constraints)
        if change <= ROUND_OFF * size:
            break
    return _largest(rate)


@procedure(DaeMemory, "Radau integrator", 0.2)
def project_state(memory, t, unused):
    """Project q and v of `projected` at time t; returns the constraint that cannot be satisfied, or -1."""
    found = memory.found
    q, v, x = memory.point.q, memory.point.v, memory.projected
    set_time(memory.clock, t)
    set_state(memory, x)
    normalize(q, memory.blocks)
    phi, phi_row = _project_positions(memory)
    factorize_at(memory)
    rate, rate_row = _project_velocities(memory)
    size_q, size_v = max(1.0, _largest(q)[0]), max(1.0, _largest(v)[0])
    if not phi <= PHI_LIMIT * size_q * size_q:
        return phi_row
    if not rate <= RATE_LIMIT * size_q * size_v:
        return rate_row
    found.largest_phi = max(found.largest_phi, phi)
    found.largest_rate = max(found.largest_rate, rate)
    put(x, 0, q)
    put(x, q.size, v)
    return -1


@inner
def project(memory, t, x):
    """Project q and v of `x` at time t, in place; returns the constraint that cannot be satisfied, or -1.

    The limits grow with the size of large coordinates, because round-off does. On return the point is the
    projected state, and the factors belong to it.
    """
    state = memory.projected
    put(state, 0, x)
    row = project_state(memory, t, 0.0)
    if row < 0:
        put(x, 0, state)
    return row


@inner
def minimum_norm(memory, lam):
    """Replace `lam` by the multipliers of minimum norm with the same G^T lam, for the factors in place.

    The equations do not determine the part of redundant multipliers that exerts no force; without this step,
    extrapolation would amplify round-off in it.
    """
    pattern, G, rhs, solution = (
        memory.saddle.pattern,
        memory.saddle.G,
        memory.found.rhs,
        memory.saddle.x,
    )
    G_row, G_col = pattern.G_row, pattern.G_col
    clear(rhs)
    for e in range(G.size):
        rhs[G_col[e]] += G[e] * lam[G_row[e]]
    if _solve(memory):
        take(lam, solution, solution.size - lam.size)


@inner
def accelerations(memory):
    """[a; lam] at the point, whose factors are in place, into `saddle.x`; returns whether they are finite."""
    call(memory.bias)
    return _solve(memory)
