"""The generalized-alpha method with fixed steps on systems of index 3.

Arnold, Bruls: Convergence of the generalized-alpha scheme for constrained mechanical systems, Multibody System
Dynamics 18 (2007), eqs. (8) to (12), with the acceleration-like variable A:

    (1 - am) A1 + am A0 = (1 - af) a1 + af a0
    q1 = flow of q' = qdot(q, u) over h with the constant velocity u = v0 + h ((1/2 - beta) A0 + beta A1)
    v1 = v0 + h ((1 - gamma) A0 + gamma A1)
    R(t1, q1, v1, a1, lam1) = 0,  Phi(q1, t1) = 0,  B(q1, v1, t1) = 0

am = (2 r - 1)/(r + 1), af = r/(r + 1), gamma = 1/2 + af - am, beta = (gamma + 1/2)^2 / 4, r the spectral radius at
infinite frequency. The flow is one Runge-Kutta step of order 4 for curved coordinates (Bruls and Cardona use the
exponential map; that step agrees with it beyond the order needed). Deviation: q1 and v1 are projected on the
constraints of positions and velocities. The unknown of Newton's method is dv, with

    dA = dv / (h gamma),   da = c dv,  c = (1 - am) / ((1 - af) h gamma),   dq = s N dv,  s = h beta / gamma .
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.events import look_at_events
from sekant.solvers.common.fixed_steps import count_steps, ending_at_events, next_steps
from sekant.solvers.common.memory import LARGEST_STATE, call, open_segment, set_time
from sekant.solvers.common.outcome import (
    CONSTRAINTS,
    EVENT,
    FINISHED,
    MORE,
    NO_CONVERGENCE,
    NOT_FINITE,
    TOO_MANY_STEPS,
)
from sekant.solvers.common.vectors import clear, normalize, put, take
from sekant.solvers.dae.memory import DaeMemory, first_not_finite, set_state
from sekant.solvers.dae.outputs import start_run, write_row
from sekant.solvers.dae.projection import (
    minimum_norm,
    project,
)
from sekant.solvers.dae.radau_newton import lu_factorize, solve_real
from sekant.solvers.dae.radau_step import restart

MOST_ITERATIONS = 80  # usually a few; many if a law is strongly curved within the change over a step
SMALLEST_PART = 1.0 / 256.0  # smallest part of an increment used when increments alternate in sign
RENEW_AFTER = 4  # iterations with one matrix
ACCURACY = 1e-12  # of v, relative to its largest entry and to its change over the step
ROUND_OFF = 1e-14  # of q; a constraint propagates it to v, divided by s
REDUNDANT_FACTOR = 1e2

ACCEPTED, DIVERGED, BAD_NUMBER, BAD_CONSTRAINT = range(4)


@inner
def _flow(memory, t, h, q0, u):
    """q of the point <- the flow from q0 with the constant velocity u (v of the point is overwritten)."""
    q, v, qdot, total = memory.point.q, memory.point.v, memory.found.qdot, memory.found.qdot_still
    put(v, 0, u)
    take(q, q0, 0)
    if memory.curved.size == 0:
        set_time(memory.clock, t + 0.5 * h)
        call(memory.kinematics)
        for j in range(q.size):
            q[j] = q0[j] + h * qdot[j]
        return
    clear(total)
    for i in range(4):
        set_time(memory.clock, t if i == 0 else (t + h if i == 3 else t + 0.5 * h))
        call(memory.kinematics)
        weight = h / 6.0 if i == 0 or i == 3 else h / 3.0
        ahead = h if i == 2 else 0.5 * h
        for j in range(q.size):
            total[j] += weight * qdot[j]
            q[j] = q0[j] + ahead * qdot[j]
    for j in range(q.size):
        q[j] = q0[j] + total[j]
    normalize(q, memory.blocks)


@inner
def _regularization(memory):
    """eps of the matrices of Newton's iteration, which corrects its effect.

    Off the constraints, dependent rows contradict each other to second order; a larger eps prevents the
    division of this by a small number.
    """
    eps = memory.saddle.eps[0]
    return REDUNDANT_FACTOR * eps if memory.active.redundant == 1 else eps


@inner
def _factorize(memory, c, s):
    """Jacobian at the point and factors of the iteration matrix; returns whether they are finite."""
    newton = memory.newton
    K, rows, scatter = memory.found.k, newton.k_row, memory.lu.scatter
    values = memory.real.values
    diagonal, eps = memory.lu.constraint, _regularization(memory)
    nv, first = memory.nv, memory.real.b.size - memory.m
    call(memory.jacobian)
    newton.jacobians += 1
    newton.factorizations += 1
    clear(values)
    for e in range(scatter.size):
        if rows[e] < nv:
            value = K[0, e] + (K[1, e] + s * K[2, e]) / c
        elif rows[e] < first:
            value = K[0, e]
        else:
            value = K[0, e] + s * K[1, e]
        values[scatter[e]] += value
    for i in range(diagonal.size):
        values[diagonal[i]] -= eps
    if first_not_finite(values) >= 0:
        return False
    return lu_factorize(memory.lu, values, memory.real.inverse) >= 0


@inner
def _increment(memory, c, s):
    """Newton's increment from the residuals at the point, in `real.b`: [dv; -; dlam]; returns the largest |dv|."""
    b, F = memory.real.b, memory.found.f
    nv, mh, first = memory.nv, memory.mh, b.size - memory.m
    for j in range(nv):
        b[j] = -F[j] / c
    for j in range(nv, first):
        b[j] = 0.0
    for j in range(first, b.size):
        b[j] = -F[j] / s if j < first + mh else -F[j]
    solve_real(memory)
    largest = 0.0
    for j in range(nv):
        largest = max(largest, abs(b[j]))
    for j in range(first, b.size):
        b[j] *= c
    return largest


@procedure(DaeMemory, "generalized-alpha integrator", 0.6)
def alpha_step(memory, t, h):
    """One step from X into `step.trial`; sets `a_now`, `lam_now` at its end, and `a_alg`, the algorithmic
    acceleration.

    Returns ACCEPTED, or the reason of failure, with `step.blame` set.
    """
    step, newton, point = memory.step, memory.newton, memory.point
    x, b = memory.x, memory.real.b
    q, v, a, lam = point.q, point.v, point.a, point.lam
    A0, a0, F = memory.a_alg, memory.a_now, memory.found.f
    u, A1, v1 = newton.zv[0], newton.zv[1], newton.zv[2]
    r = memory.spectral_radius
    am, af = (2.0 * r - 1.0) / (r + 1.0), r / (r + 1.0)
    gamma = 0.5 + af - am
    beta = 0.25 * (gamma + 0.5) ** 2
    c, s = (1.0 - am) / ((1.0 - af) * h * gamma), h * beta / gamma
    nq, nv, first = q.size, v.size, b.size - lam.size
    size, length = 0.0, 0.0
    for j in range(nq):
        length = max(length, abs(x[j]))
    put(a, 0, a0)
    put(lam, 0, memory.lam_now)
    for j in range(nv):
        A1[j] = (a0[j] - am * A0[j]) / (1.0 - am)
        u[j] = x[nq + j] + h * ((0.5 - beta) * A0[j] + beta * A1[j])
        v1[j] = x[nq + j] + h * ((1.0 - gamma) * A0[j] + gamma * A1[j])
        size = max(size, abs(v1[j]), h * abs(a0[j]))
    last, rate, part = 0.0, 0.0, 1.0
    worst, before = 0, 0.0
    for k in range(MOST_ITERATIONS):
        _flow(memory, t, h, x, u)
        put(v, 0, v1)
        set_time(memory.clock, t + h)
        if (k % RENEW_AFTER == 0 or rate > 0.5) and not _factorize(memory, c, s):
            step.blame = -1
            return BAD_NUMBER
        call(memory.residual)
        memory.counts.evaluations += 1
        bad = first_not_finite(F)
        if bad >= 0:
            step.blame = nq + bad if bad < nv else -1
            return BAD_NUMBER
        largest = _increment(memory, c, s)
        rate = largest / last if last > 0.0 else 0.0
        last = largest
        if nv > 0 and b[worst] * before < 0.0 and rate > 0.1:  # alternating, as for friction near rest
            part = max(0.4 * part, SMALLEST_PART)
        else:
            part = min(1.5 * part, 1.0)
        for j in range(nv):
            if abs(b[j]) == largest:
                worst, before = j, b[j]
        for j in range(nv):
            v1[j] += part * b[j]
            A1[j] += part * b[j] / (h * gamma)
            u[j] += part * b[j] * beta / gamma
            a[j] += part * c * b[j]
        for j in range(lam.size):
            lam[j] += part * b[first + j]
        if largest <= ACCURACY * size + ROUND_OFF * length / s:
            return _finish(memory, t, h)
    step.blame = -1
    for j in range(nv):
        if abs(b[j]) == last:
            step.blame = nq + j
    return DIVERGED


@inner
def _finish(memory, t, h):
    """Project the end of a converged step."""
    step, newton, point = memory.step, memory.newton, memory.point
    x, trial = memory.x, step.trial
    q, power, slope = point.q, memory.found.power, step.slope
    v1 = newton.zv[2]
    nq, nv = q.size, v1.size
    _flow(memory, t, h, x, newton.zv[0])
    put(trial, 0, q)
    put(trial, nq, v1)
    put(memory.a_now, 0, point.a)
    put(memory.lam_now, 0, point.lam)
    put(memory.a_alg, 0, newton.zv[1])
    for j in range(nq + nv):
        if not abs(trial[j]) < LARGEST_STATE:
            step.blame = j
            return BAD_NUMBER
    for j in range(nq + nv, x.size):
        trial[j] = x[j]
    if memory.m > 0:
        step.blame = project(memory, t + h, trial)
        if step.blame >= 0:
            return BAD_CONSTRAINT
        if memory.active.redundant == 1:
            minimum_norm(memory, memory.lam_now)
    if power.size > 0:
        _power_at(memory, t + h, trial)
        for j in range(power.size):
            k = nq + nv + j
            trial[k] = x[k] + 0.5 * h * (slope[k] + power[j])
            slope[k] = power[j]
    return ACCEPTED


@inner
def _power_at(memory, t, x):
    """Rates of the quadratures at a state with the current accelerations and multipliers."""
    set_time(memory.clock, t)
    set_state(memory, x)
    put(memory.point.a, 0, memory.a_now)
    put(memory.point.lam, 0, memory.lam_now)
    call(memory.quadratures)


@inner
def _begin_segment(memory, t):
    """Consistent state and accelerations at the start of a segment; returns as `restart` does."""
    bad = restart(memory, t)
    if bad >= 0:
        return bad
    x, power = memory.x, memory.found.power
    put(memory.a_alg, 0, memory.a_now)
    if power.size > 0:
        _power_at(memory, t, x)
        put(memory.step.slope, x.size - power.size, power)
    return -1


@inner
def _steps(memory, origin, first, last, h):
    """Take the steps `first` <= i < `last` from ``origin + i h``; returns (how many succeeded, reason)."""
    x, trial = memory.x, memory.step.trial
    for i in range(first, last):
        what = alpha_step(memory, origin + i * h, h)
        if what != ACCEPTED:
            return i - first, what
        put(x, 0, trial)
    return last - first, ACCEPTED


@inner
def _remember(memory):
    """Save the start of a step for `_retake`, in the memory that Radau uses for polynomials."""
    step = memory.step
    put(memory.x_old, 0, memory.x)
    put(step.poly[0], 0, step.slope)
    put(step.node_a[0], 0, memory.a_now)
    put(step.node_a[1], 0, memory.a_alg)
    put(step.stage_lam[0], 0, memory.lam_now)


@inner
def _retake(memory, unused, t, h):
    """Take a step from the start that `_remember` saved; returns whether it succeeded."""
    step = memory.step
    put(memory.x, 0, memory.x_old)
    put(step.slope, 0, step.poly[0])
    put(memory.a_now, 0, step.node_a[0])
    put(memory.a_alg, 0, step.node_a[1])
    put(memory.lam_now, 0, step.stage_lam[0])
    done, _ = _steps(memory, t, 0, 1, h)
    return done == 1


ended_by_event = ending_at_events(_retake)


@procedure(DaeMemory, "generalized-alpha integrator", 0.3)
def advance(memory, a, b):
    """Take at most `a` steps; returns a code of `memory`. Landings as in `common.fixed_steps`."""
    clock, step, counts, plan = memory.clock, memory.step, memory.counts, memory.plan
    budget, watched = int(a), memory.watched
    t_eval, edges = plan.t_eval, plan.edges
    most = plan.max_steps
    if clock.started == 0:
        code = start_run(memory)
        if code != MORE:
            return code
        clock.started, step.first = 1, 1
    while clock.row < t_eval.size:
        segment = clock.segment
        if step.first == 1:
            open_segment(memory.clock, memory.plan, segment)
            bad = _begin_segment(memory, clock.t)
            if bad >= 0:
                memory.failed.component, memory.failed.t = bad, clock.t
                return CONSTRAINTS
            step.first = 0
            if watched.call.function != 0:
                look_at_events(memory)
        if watched.which >= 0:
            return EVENT
        at_edge, landing, total, origin, first, last, h = next_steps(memory)
        last = min(last, first + budget, first + most - counts.steps)
        if watched.call.function != 0:
            last = min(last, first + 1)
            _remember(memory)
        done, what = _steps(memory, origin, first, last, h)
        if watched.call.function != 0 and done == 1 and ended_by_event(memory, 0, origin + first * h, h):
            return EVENT
        budget -= done
        landed = count_steps(memory, done, landing, total, origin, first, h)
        if what != ACCEPTED:
            memory.failed.component, memory.failed.t = step.blame, clock.t + h
            if what == DIVERGED:
                return NO_CONVERGENCE
            return NOT_FINITE if what == BAD_NUMBER else CONSTRAINTS
        if not landed:
            if budget > 0 and counts.steps < most:
                continue
            return TOO_MANY_STEPS if counts.steps >= most else MORE
        if abs(t_eval[clock.row] - landing) <= plan.snap:
            put(memory.rows[clock.row], 0, memory.x)
            write_row(memory, landing, 1.0)
        if at_edge and segment + 2 < edges.size:
            clock.segment += 1
            counts.restarts += 1
            step.first = 1
    return FINISHED
