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
from sekant.solvers.common.outcome import (
    CONSTRAINTS,
    FINISHED,
    MORE,
    NO_CONVERGENCE,
    NOT_FINITE,
    TOO_MANY_STEPS,
)
from sekant.solvers.common.spans import divide
from sekant.solvers.common.vectors import clear, put, take
from sekant.solvers.dae import memory as at
from sekant.solvers.dae.calls import (
    first_not_finite,
    jacobian,
    kinematics,
    normalize,
    quadratures,
    residual,
    set_state,
    set_time,
)
from sekant.solvers.dae.memory import DaeMemory
from sekant.solvers.dae.outputs import start_run, write_row
from sekant.solvers.dae.projection import (
    accelerations,
    minimum_norm,
    project,
)
from sekant.solvers.dae.radau_newton import lu_factorize, solve_real
from sekant.solvers.linear import ldl

MOST_ITERATIONS = 80  # a few as a rule; many where a law bends within what a step changes
SMALLEST_PART = 1.0 / 256.0  # of an increment that is taken where increments go to and fro
RENEW_AFTER = 4  # iterations with one matrix
ACCURACY = 1e-12  # of v, relative to its largest entry and to what the step changes
ROUND_OFF = 1e-14  # of q; a constraint passes it on to v divided by s
REDUNDANT_FACTOR = 1e2
EPS = ldl.EPS

ACCEPTED, DIVERGED, BAD_NUMBER, BAD_CONSTRAINT = range(4)


@inner
def _flow(memory, t, h, q0, u):
    """q of the point <- the flow from q0 with the constant velocity u (v of the point is overwritten)."""
    q, v, qdot, total = memory.q, memory.v, memory.qdot, memory.qdot_still
    put(v, 0, u)
    take(q, q0, 0)
    if memory.curved.size == 0:
        set_time(memory, t + 0.5 * h)
        kinematics(memory)
        for j in range(q.size):
            q[j] = q0[j] + h * qdot[j]
        return
    clear(total)
    for i in range(4):
        set_time(memory, t if i == 0 else (t + h if i == 3 else t + 0.5 * h))
        kinematics(memory)
        weight = h / 6.0 if i == 0 or i == 3 else h / 3.0
        ahead = h if i == 2 else 0.5 * h
        for j in range(q.size):
            total[j] += weight * qdot[j]
            q[j] = q0[j] + ahead * qdot[j]
    for j in range(q.size):
        q[j] = q0[j] + total[j]
    normalize(memory, q)


@inner
def _regularization(memory):
    """eps of the matrices of Newton's iteration, which makes up for it.

    Rows that depend on each other contradict each other to second order off the constraints; a larger eps keeps
    that from being divided by a small number.
    """
    eps = memory.ldl_info[EPS]
    return REDUNDANT_FACTOR * eps if memory.redundant == 1 else eps


@inner
def _factorize(memory, c, s):
    """Jacobian at the point and factors of the iteration matrix; returns whether they are finite."""
    K, rows, scatter = memory.k, memory.k_row, memory.lu_scatter
    values = memory.real
    diagonal, eps = memory.lu_constraint, _regularization(memory)
    nv, first = memory.nv, memory.real_b.size - memory.m
    jacobian(memory)
    memory.jacobians += 1
    memory.factorizations += 1
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
    return lu_factorize(memory, values, memory.real_inverse) >= 0


@inner
def _increment(memory, c, s):
    """Newton's increment from the residuals at the point, in REAL_B: [dv; -; dlam]; returns the largest |dv|."""
    b, F = memory.real_b, memory.f
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
    """One step from X into TRIAL; A_NOW, LAM_NOW become those of its end, A_ALG the algorithmic one.

    Returns ACCEPTED, or the reason of failure, with BLAME set.
    """
    x, b = memory.x, memory.real_b
    q, v, a, lam = memory.q, memory.v, memory.a, memory.lam
    A0, a0, F = memory.a_alg, memory.a_now, memory.f
    u, A1, v1 = memory.zv[0], memory.zv[1], memory.zv[2]
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
        set_time(memory, t + h)
        if (k % RENEW_AFTER == 0 or rate > 0.5) and not _factorize(memory, c, s):
            memory.blame = -1
            return BAD_NUMBER
        residual(memory)
        memory.residuals += 1
        bad = first_not_finite(F)
        if bad >= 0:
            memory.blame = nq + bad if bad < nv else -1
            return BAD_NUMBER
        largest = _increment(memory, c, s)
        rate = largest / last if last > 0.0 else 0.0
        last = largest
        if nv > 0 and b[worst] * before < 0.0 and rate > 0.1:  # from side to side, as on friction near rest
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
    memory.blame = -1
    for j in range(nv):
        if abs(b[j]) == last:
            memory.blame = nq + j
    return DIVERGED


@inner
def _finish(memory, t, h):
    """Projected end of a converged step."""
    x, trial = memory.x, memory.trial
    q, power, slope = memory.q, memory.power, memory.slope
    v1 = memory.zv[2]
    nq, nv = q.size, v1.size
    _flow(memory, t, h, x, memory.zv[0])
    put(trial, 0, q)
    put(trial, nq, v1)
    put(memory.a_now, 0, memory.a)
    put(memory.lam_now, 0, memory.lam)
    put(memory.a_alg, 0, memory.zv[1])
    for j in range(nq + nv):
        if not abs(trial[j]) < at.LARGEST_STATE:
            memory.blame = j
            return BAD_NUMBER
    for j in range(nq + nv, x.size):
        trial[j] = x[j]
    if memory.m > 0:
        memory.blame = project(memory, t + h, trial)
        if memory.blame >= 0:
            return BAD_CONSTRAINT
        if memory.redundant == 1:
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
    """Rates of the quadratures at a state with the present accelerations and multipliers."""
    set_time(memory, t)
    set_state(memory, x)
    put(memory.a, 0, memory.a_now)
    put(memory.lam, 0, memory.lam_now)
    quadratures(memory)


@inner
def _begin_segment(memory, t):
    """Consistent state and accelerations at the start of a segment; returns -1 or a constraint not met."""
    a, lam, solution, x = (
        memory.a_now,
        memory.lam_now,
        memory.ldl_x,
        memory.x,
    )
    bad = project(memory, t, x)
    if bad >= 0:
        return bad
    if not accelerations(memory):
        return lam.size
    take(a, solution, 0)
    take(lam, solution, a.size)
    put(memory.a_alg, 0, a)
    if memory.power.size > 0:
        _power_at(memory, t, x)
        put(memory.slope, x.size - memory.power.size, memory.power)
    return -1


@inner
def _steps(memory, origin, first, last, h):
    """Take the steps `first` <= i < `last` from ``origin + i h``; returns (how many succeeded, reason)."""
    x, trial = memory.x, memory.trial
    for i in range(first, last):
        what = alpha_step(memory, origin + i * h, h)
        if what != ACCEPTED:
            return i - first, what
        put(x, 0, trial)
    return last - first, ACCEPTED


@procedure(DaeMemory, "generalized-alpha integrator", 0.3)
def advance(memory, a, b):
    """Take at most `a` steps; returns a code of `memory`. Landings as in `ode.fixed_step`."""
    budget = int(a)
    window = memory.window
    t_eval, edges = memory.t_eval, memory.edges
    most = memory.max_steps
    if memory.started == 0:
        code = start_run(memory)
        if code != MORE:
            return code
        memory.started, memory.first = 1, 1
    while memory.row < t_eval.size:
        segment, base, i = memory.segment, memory.span_start, memory.span_step
        if memory.first == 1:
            window[0], window[1] = memory.low[segment], memory.high[segment]
            bad = _begin_segment(memory, memory.t)
            if bad >= 0:
                memory.component, memory.t_failed = bad, memory.t
                return CONSTRAINTS
            memory.first = 0
        t_row, edge = t_eval[memory.row], edges[segment + 1]
        at_edge = t_row >= edge - memory.snap
        landing = max(edge if at_edge else t_row, base)
        whole, h, rest = divide(landing - base, memory.step)
        total = whole + (1 if rest > 0.0 else 0)
        origin, first, last = base, i, whole
        if i >= whole:
            origin, first, last, h = base + whole * h, i - whole, total - whole, rest
        last = min(last, first + budget, first + most - memory.steps)
        done, what = _steps(memory, origin, first, last, h)
        budget -= done
        memory.steps += done
        memory.span_step = i + done
        memory.t = landing if i + done == total else origin + (first + done) * h
        if what != ACCEPTED:
            memory.component, memory.t_failed = memory.blame, memory.t + h
            if what == DIVERGED:
                return NO_CONVERGENCE
            return NOT_FINITE if what == BAD_NUMBER else CONSTRAINTS
        if i + done < total:
            if budget > 0 and memory.steps < most:
                continue
            return TOO_MANY_STEPS if memory.steps >= most else MORE
        memory.span_start = landing
        memory.span_step = 0
        if abs(t_row - landing) <= memory.snap:
            put(memory.rows[memory.row], 0, memory.x)
            write_row(memory, landing, 1.0)
        if at_edge and segment + 2 < edges.size:
            memory.segment += 1
            memory.restarts += 1
            memory.first = 1
    return FINISHED
