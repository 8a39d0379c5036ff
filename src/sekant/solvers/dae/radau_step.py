"""The other parts of a Radau step: prediction, the end of the step, its polynomial."""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.memory import LARGEST_STATE, call, set_time
from sekant.solvers.common.vectors import clear, put, take
from sekant.solvers.dae.memory import set_state
from sekant.solvers.dae.projection import accelerations, project
from sekant.solvers.dae.radau_dense import POWERS, UNKNOWN, A, C
from sekant.solvers.dae.radau_newton import set_stage


@inner
def starting_step(memory, longest):
    """A step in which v changes by a hundredth of its size, or q by a ten-thousandth of its size if v is small."""
    x, a, atol, rtol = (
        memory.x,
        memory.a_now,
        memory.plan.atol,
        memory.plan.rtol,
    )
    nq, square_v, square_a = memory.point.q.size, 0.0, 0.0
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
    """Compute a consistent state, accelerations and multipliers at the start of a segment.

    Returns -1, the constraint that is not satisfied, or the number of constraints if the accelerations are
    not finite.
    """
    a, lam, solution = memory.a_now, memory.lam_now, memory.saddle.x
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
    """Set the start of the iteration: the extrapolated polynomials of the last step; without one, constants."""
    step, newton = memory.step, memory.newton
    Z, x, x_old, poly = newton.z, memory.x, memory.x_old, step.poly
    lam, now = step.stage_lam, memory.lam_now
    curved = memory.curved
    nq, nv = memory.nq, memory.nv
    first = nv + curved.size
    if step.history == 0:
        for i in range(3):
            clear(newton.z[i])
            put(newton.z[i], first, now)
        return
    for i in range(3):
        s = (t + C[i] * h - step.start) / step.length
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
    """Project the end of the converged step, in `step.trial`; returns (constraint not satisfied or -1, bad
    state or -1)."""
    newton = memory.newton
    trial, x = memory.step.trial, memory.x
    powers, power = newton.zpower, memory.found.power
    nq, nv = memory.point.q.size, memory.point.v.size
    if power.size > 0:
        for i in range(3):
            set_stage(memory, t, h, i)
            call(memory.quadratures)
            put(newton.zpower[i], 0, power)
    put(trial, 0, newton.zq[2])
    put(trial, nq, newton.zv[2])
    for j in range(power.size):
        rise = A[2, 0] * powers[0, j] + A[2, 1] * powers[1, j] + A[2, 2] * powers[2, j]
        trial[nq + nv + j] = x[nq + nv + j] + h * rise
    for j in range(trial.size):
        if not abs(trial[j]) < LARGEST_STATE:
            return -1, j
    if memory.m > 0 or memory.blocks.size > 0:
        return project(memory, t_new, trial), -1
    return -1, -1


@inner
def _set_slope(memory, t):
    """x' at the start of the step."""
    slope, x, qdot, power = (
        memory.step.slope,
        memory.x,
        memory.found.qdot,
        memory.found.power,
    )
    a, lam = memory.a_now, memory.lam_now
    nq, nv = qdot.size, a.size
    set_time(memory.clock, t)
    set_state(memory, x)
    call(memory.kinematics)
    put(slope, 0, qdot)
    put(slope, nq, a)
    if power.size > 0:
        put(memory.point.a, 0, a)
        put(memory.point.lam, 0, lam)
        call(memory.quadratures)
        put(slope, nq + nv, power)


@inner
def _set_polynomial(memory, h):
    """Powers of theta of the collocation polynomial, plus a function that corrects its slope at the left end.

    That function, theta - 4.5 theta^2 + 6 theta^3 - 2.5 theta^4, has no slope at the stages and vanishes at both
    ends. In a smooth solution it is of higher order than the curvature; it is omitted if it is larger, as in
    the fast initial transients of a stiff solution.
    """
    newton = memory.newton
    x, poly, slope = memory.x, memory.step.poly, memory.step.slope
    q, Z, p = newton.zq, newton.z, newton.zpower
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
    """Set the current state to the end of the step."""
    step = memory.step
    lam = memory.lam_now
    x = memory.x
    first = memory.real.b.size - lam.size
    _set_slope(memory, t)
    _set_polynomial(memory, h)
    put(memory.x_old, 0, x)
    put(x, 0, step.trial)
    put(memory.a_now, 0, memory.newton.za[2])
    for i in range(3):
        take(step.stage_lam[i], memory.newton.z[i], first)
    put(lam, 0, step.stage_lam[2])
    memory.clock.t, step.start, step.length = t_new, t, h
    step.known = UNKNOWN
