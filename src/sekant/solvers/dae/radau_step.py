"""What surrounds Newton's iteration in a Radau step: prediction, the end of the step, its polynomial."""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.vectors import clear, put, take
from sekant.solvers.dae import memory as at
from sekant.solvers.dae.calls import kinematics, quadratures, set_state, set_time
from sekant.solvers.dae.projection import accelerations, project
from sekant.solvers.dae.radau_dense import UNKNOWN
from sekant.solvers.dae.radau_newton import set_stage
from sekant.solvers.dae.radau_tableau import POWERS, A, C


@inner
def starting_step(memory, longest):
    """A step in which v changes by a hundredth of its size, or q by a ten-thousandth of its own if v is small."""
    x, a, atol, rtol = (
        memory.x,
        memory.a_now,
        memory.atol,
        memory.rtol,
    )
    nq, square_v, square_a = memory.q.size, 0.0, 0.0
    for j in range(a.size):
        scale = atol[nq + j] + rtol * abs(x[nq + j])
        square_v += (x[nq + j] / scale) ** 2
        square_a += (a[j] / scale) ** 2
    rtol = max(rtol, 1e-12)
    if square_a <= 0.0:
        return min(longest, 1e-3)
    largest, length = 0.0, sqrt(rtol)
    for j in range(a.size):
        largest = max(largest, abs(a[j]))
    for j in range(nq):
        length = max(length, abs(x[j]))
    h = 0.01 * max(
        sqrt(square_v / square_a), sqrt(length / largest) if nq > 0 else 0.0, rtol**-0.5 / sqrt(square_a)
    )
    return min(h, rtol**0.25 * longest)


@inner
def restart(memory, t):
    """Consistent state, accelerations and multipliers at the start of a segment.

    Returns -1, the constraint that is not met, or their number where there are no finite accelerations.
    """
    a, lam, solution = memory.a_now, memory.lam_now, memory.ldl_x
    bad = project(memory, t, memory.x)
    if bad >= 0:
        return bad
    if not accelerations(memory):
        return lam.size
    take(a, solution, 0)
    take(lam, solution, a.size)
    return -1


@inner
def predict(memory, t, h):
    """Start of the iteration: the last step's polynomials, extrapolated; without a last step, constants."""
    Z, x, x_old, poly = memory.z, memory.x, memory.x_old, memory.poly
    lam, now = memory.stage_lam, memory.lam_now
    curved = memory.curved
    nq, nv = memory.nq, memory.nv
    first = nv + curved.size
    if memory.history == 0:
        for i in range(3):
            clear(memory.z[i])
            put(memory.z[i], first, now)
        return
    for i in range(3):
        s = (t + C[i] * h - memory.step_start) / memory.step_length
        for j in range(first):
            k = nq + j if j < nv else curved[j - nv]
            Z[i, j] = x_old[k] - x[k] + s * (poly[0, k] + s * (poly[1, k] + s * poly[2, k]))
        w0 = (s - C[1]) * (s - C[2]) / ((C[0] - C[1]) * (C[0] - C[2]))
        w1 = (s - C[0]) * (s - C[2]) / ((C[1] - C[0]) * (C[1] - C[2]))
        w2 = 1.0 - w0 - w1
        for j in range(now.size):
            Z[i, first + j] = w0 * lam[0, j] + w1 * lam[1, j] + w2 * lam[2, j]


@inner
def end_of_step(memory, t, t_new, h):
    """Projected end of the converged step in TRIAL; returns (constraint not met or -1, bad state or -1)."""
    trial, x = memory.trial, memory.x
    powers, power = memory.zpower, memory.power
    nq, nv = memory.q.size, memory.v.size
    if power.size > 0:
        for i in range(3):
            set_stage(memory, t, h, i)
            quadratures(memory)
            put(memory.zpower[i], 0, power)
    put(trial, 0, memory.zq[2])
    put(trial, nq, memory.zv[2])
    for j in range(power.size):
        rise = A[2, 0] * powers[0, j] + A[2, 1] * powers[1, j] + A[2, 2] * powers[2, j]
        trial[nq + nv + j] = x[nq + nv + j] + h * rise
    for j in range(trial.size):
        if not abs(trial[j]) < at.LARGEST_STATE:
            return -1, j
    if memory.m > 0 or memory.blocks.size > 0:
        return project(memory, t_new, trial), -1
    return -1, -1


@inner
def _set_slope(memory, t):
    """x' at the start of the step."""
    slope, x, qdot, power = (
        memory.slope,
        memory.x,
        memory.qdot,
        memory.power,
    )
    a, lam = memory.a_now, memory.lam_now
    nq, nv = qdot.size, a.size
    set_time(memory, t)
    set_state(memory, x)
    kinematics(memory)
    put(slope, 0, qdot)
    put(slope, nq, a)
    if power.size > 0:
        put(memory.a, 0, a)
        put(memory.lam, 0, lam)
        quadratures(memory)
        put(slope, nq + nv, power)


@inner
def _set_polynomial(memory, h):
    """Powers of theta of the collocation polynomial, and one function more that mends its slope at the left end.

    That function, theta - 4.5 theta^2 + 6 theta^3 - 2.5 theta^4, has no slope at the stages and vanishes at both
    ends. In a smooth solution it is of higher order than the curvature; it is left out where it is larger, as
    in the fast transients that a stiff solution starts with.
    """
    x, poly, slope = memory.x, memory.poly, memory.slope
    q, Z, p = memory.zq, memory.z, memory.zpower
    nq, nv = memory.nq, memory.nv
    for j in range(x.size):
        if j < nq:
            z0, z1, z2 = q[0, j] - x[j], q[1, j] - x[j], q[2, j] - x[j]
        elif j < nq + nv:
            z0, z1, z2 = Z[0, j - nq], Z[1, j - nq], Z[2, j - nq]
        else:
            k = j - nq - nv
            z0 = h * (A[0, 0] * p[0, k] + A[0, 1] * p[1, k] + A[0, 2] * p[2, k])
            z1 = h * (A[1, 0] * p[0, k] + A[1, 1] * p[1, k] + A[1, 2] * p[2, k])
            z2 = h * (A[2, 0] * p[0, k] + A[2, 1] * p[1, k] + A[2, 2] * p[2, k])
        for i in range(3):
            poly[i, j] = POWERS[i, 0] * z0 + POWERS[i, 1] * z1 + POWERS[i, 2] * z2
        extra = h * slope[j] - poly[0, j]
        poly[3, j] = extra if abs(extra) <= abs(poly[1, j]) + abs(poly[2, j]) else 0.0


@inner
def accept(memory, t, t_new, h):
    """Make the end of the step the present state."""
    lam = memory.lam_now
    x = memory.x
    first = memory.real_b.size - lam.size
    _set_slope(memory, t)
    _set_polynomial(memory, h)
    put(memory.x_old, 0, x)
    put(x, 0, memory.trial)
    put(memory.a_now, 0, memory.za[2])
    for i in range(3):
        take(memory.stage_lam[i], memory.z[i], first)
    put(lam, 0, memory.stage_lam[2])
    memory.t, memory.step_start, memory.step_length = t_new, t, h
    memory.known = UNKNOWN
