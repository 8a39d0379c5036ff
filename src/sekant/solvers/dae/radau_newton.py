"""Newton's iteration at the three stages of Radau IIA(5).

Unknowns of a stage are v, the curved q and lam. The accelerations follow from the collocation condition
``a = A^-1 (V - v0) / h`` and the other coordinates from ``q = q0 + h A qdot(V)``, both exactly, so that only the
residuals of R, of the curved rates and of the constraints enter (see `sekant.engine.functions.dae` for K).
With [dv; z; y] the solution of K(1/mu): the increment of curved q is z / mu, that of lam is mu y.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., sections IV.8 and VII.7.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call, set_time
from sekant.solvers.common.vectors import clear, put, take
from sekant.solvers.dae.memory import DaeMemory, first_not_finite, set_state
from sekant.solvers.dae.radau_dense import A_INV, MU_COMPLEX, MU_REAL, TI, A, C, T
from sekant.solvers.linear import static_lu

MOST_ITERATIONS = 10
ROUND_OFF = 1e-16
LEAST_CONTRACTION = 0.05  # least contraction assumed for the first increment of the next step
STALLED = 0.3  # contraction above which increments of the size of round-off count as round-off
NOISE = 30.0  # that size, in multiples of round-off
NOISY = 10.0  # multiples of the measured deviation: larger increments are not noise
SAMPLES = 4  # most samples of that deviation: one may miss it where it is a unit of round-off or two
SHIFT = 2.0**-44  # relative shift of the arguments between residuals whose differences show the noise
LOOSEST, TIGHTEST = 0.03, 1e-4  # tolerance of the increments, relative to that of the solution

THIRD_DIFFERENCE = sqrt(20.0)
TRANSFORMED = sqrt(TI[0, 0] ** 2 + TI[0, 1] ** 2 + TI[0, 2] ** 2)  # deviation of W[0] from that of one stage

CONVERGED, DIVERGED, BAD, GO_ON = range(4)
NEWTON_EPS = 1e-13  # on the diagonal of the constraints, relative to the mean of G M^-1 G^T
lu_factorize, lu_solve = static_lu.factorize, static_lu.solve


@inner
def evaluate_jacobian(memory, t):
    """K0, K1, K2 at the start of a step; returns whether they are finite."""
    set_time(memory.clock, t)
    set_state(memory, memory.x)
    put(memory.point.a, 0, memory.a_now)
    put(memory.point.lam, 0, memory.lam_now)
    call(memory.jacobian)
    memory.newton.jacobians += 1
    bad = -1
    for k in range(3):
        bad = max(bad, first_not_finite(memory.found.k[k]))
    return bad < 0


@inner
def assemble(memory, s, values):
    """values <- K0 + s K1 + s^2 K2, with -eps on the diagonal of the constraints; rows left out: lam = 0."""
    K, scatter, diagonal = memory.found.k, memory.lu.scatter, memory.lu.constraint
    K_row, off = memory.newton.k_row, memory.active.off
    first = memory.real.b.size - off.size
    eps = NEWTON_EPS * memory.saddle.scale[0]
    clear(values)
    for e in range(scatter.size):
        if K_row[e] < first or off[K_row[e] - first] == 0:
            values[scatter[e]] += K[0, e] + s * (K[1, e] + s * K[2, e])
    for i in range(diagonal.size):
        values[diagonal[i]] -= eps if off[i] == 0 else 1.0


@inner
def solve_real(memory):
    """Solve with the real matrix, in place of its right-hand side."""
    real = memory.real
    lu_solve(memory.lu, real.values, real.inverse, real.b, real.y)


@inner
def solve_pair(memory):
    """Solve with the complex matrix, in place of its right-hand side."""
    pair = memory.pair
    lu_solve(memory.lu, pair.values, pair.inverse, pair.b, pair.y)


@procedure(DaeMemory, "Radau integrator", 0.2)
def factorize(memory, h, unused):
    """Factor the real and the complex matrix for step length h; returns 0, or -1 if they are not finite."""
    memory.newton.factorizations += 1
    real, pair = memory.real.values, memory.pair.values
    assemble(memory, h / MU_REAL, real)
    if lu_factorize(memory.lu, real, memory.real.inverse) < 0:
        return -1
    assemble(memory, h / MU_COMPLEX, pair)
    return min(0, lu_factorize(memory.lu, pair, memory.pair.inverse))


@inner
def _combine(matrix, i, first, second, third):
    return matrix[i, 0] * first + matrix[i, 1] * second + matrix[i, 2] * third


@inner
def spread(memory, t, h):
    """Values at the stages from the increments Z."""
    newton = memory.newton
    x, Z, curved, straight = (
        memory.x,
        newton.z,
        memory.curved,
        memory.straight,
    )
    q, v, a, rates = newton.zq, newton.zv, newton.za, newton.zqdot
    nq, nv = q.shape[1], v.shape[1]
    for i in range(3):
        for j in range(nv):
            v[i, j] = x[nq + j] + Z[i, j]
            a[i, j] = _combine(A_INV, i, Z[0, j], Z[1, j], Z[2, j]) / h
        for k in range(curved.size):
            q[i, curved[k]] = x[curved[k]] + Z[i, nv + k]
    if straight.size == 0:
        return
    point_q, point_v, qdot = memory.point.q, memory.point.v, memory.found.qdot
    take(point_q, x, 0)
    for i in range(3):
        set_time(memory.clock, t + C[i] * h)
        put(point_v, 0, newton.zv[i])
        call(memory.kinematics)
        put(newton.zqdot[i], 0, qdot)
    for k in range(straight.size):
        j = straight[k]
        for i in range(3):
            q[i, j] = x[j] + h * _combine(A, i, rates[0, j], rates[1, j], rates[2, j])


@inner
def set_stage(memory, t, h, i):
    """Make stage i the point of evaluation."""
    newton, point = memory.newton, memory.point
    set_time(memory.clock, t + C[i] * h)
    put(point.q, 0, newton.zq[i])
    put(point.v, 0, newton.zv[i])
    put(point.a, 0, newton.za[i])
    lam, Z = point.lam, newton.z[i]
    take(lam, Z, Z.size - lam.size)


@inner
def scale_right_side(memory, b, mu):
    """From residuals in the rows (R, curved, Phi, B) to the right-hand side of K."""
    nv, first = memory.nv, b.size - memory.m
    for j in range(nv):
        b[j] = -b[j] / mu
    for j in range(first, first + memory.mh):
        b[j] = -b[j] * mu
    for j in range(first + memory.mh, b.size):
        b[j] = -b[j]
    off = memory.active.off
    for i in range(off.size):
        if off[i] == 1:
            b[first + i] = 0.0


@inner
def scale_solution(memory, b, mu):
    """From [dv; z; y] to the increments of [v; curved q; lam]."""
    nv, first = memory.nv, b.size - memory.m
    for j in range(nv, first):
        b[j] = b[j] / mu
    for j in range(first, b.size):
        b[j] = b[j] * mu


@inner
def _stage_residuals(memory, t, h):
    """Residuals at the stages; returns the first row that is not finite, or -1."""
    newton = memory.newton
    F, Z, stages = memory.found.f, newton.z, newton.zf
    first = F.size - memory.m
    for i in range(3):
        set_stage(memory, t, h, i)
        call(memory.residual)
        bad = first_not_finite(F)
        if bad >= 0:
            return bad
        put(newton.zf[i], 0, F)
        for j in range(memory.nv, first):
            stages[i, j] -= _combine(A_INV, i, Z[0, j], Z[1, j], Z[2, j]) / h
    memory.counts.evaluations += 3
    return -1


@inner
def _increments(memory, h, positions):
    """One Newton increment of W into `real.b` and `pair.b`; returns its norm.

    `positions`: 1, or 0 for the part that would remain if the constraints on positions were satisfied
    exactly. That part is tangential to them.
    """
    F, weight = memory.newton.zf, memory.newton.weight
    real, pair = memory.real.b, memory.pair.b
    first = real.size - memory.m
    mu, mu_pair = MU_REAL / h, MU_COMPLEX / h
    for j in range(real.size):
        share = positions if first <= j < first + memory.mh else 1.0
        real[j] = share * _combine(TI, 0, F[0, j], F[1, j], F[2, j])
        pair[j] = share * complex(
            _combine(TI, 1, F[0, j], F[1, j], F[2, j]), _combine(TI, 2, F[0, j], F[1, j], F[2, j])
        )
    scale_right_side(memory, real, mu)
    scale_right_side(memory, pair, mu_pair)
    solve_real(memory)
    solve_pair(memory)
    scale_solution(memory, real, mu)
    scale_solution(memory, pair, mu_pair)
    square = 0.0
    for j in range(first):
        square += weight[j] ** 2 * (real[j] ** 2 + pair[j].real ** 2 + pair[j].imag ** 2)
    return sqrt(square / (3 * first))


@inner
def _shift(values, times):
    """Shift an argument by `units`, its entries by different amounts in both directions."""
    largest = 0.0
    for j in range(values.size):
        largest = max(largest, abs(values[j]))
    for j in range(values.size):
        values[j] += times * SHIFT * largest * (1.0 + 0.37 * (j % 5)) * (1.0 - 2.0 * (j % 2))


@inner
def _noise(memory, t, h, positions, first_shift):
    """A sample of the norm of increments due to round-off of the residuals; `positions` as in `_increments`.

    It uses the residuals at four points on a line, so close that they are linear except for noise: the third
    difference of independent errors has sqrt(20) times their deviation. More, Wild: Estimating computational
    noise, SIAM J. Sci. Comput. 33 (2011), section 3. Overwrites `real.b`.
    """
    point = memory.point
    b, F, weight = memory.real.b, memory.found.f, memory.newton.weight
    first, mu = b.size - memory.m, MU_REAL / h
    clear(b)
    for i in range(4):
        set_stage(memory, t, h, 2)
        times = first_shift + i
        _shift(point.q, times)
        _shift(point.v, times)
        _shift(point.a, times)
        _shift(point.lam, times)
        call(memory.residual)
        share = 1.0 if i == 0 or i == 3 else 3.0
        for j in range(b.size):
            b[j] += (share if i % 2 == 0 else -share) * F[j] / THIRD_DIFFERENCE
    memory.counts.evaluations += 4
    for j in range(first, first + memory.mh):
        b[j] *= positions
    scale_right_side(memory, b, mu)
    solve_real(memory)
    scale_solution(memory, b, mu)
    square = 0.0
    for j in range(first):
        square += (weight[j] * b[j]) ** 2
    return TRANSFORMED * sqrt(square / first)


@inner
def _is_noise(memory, t, h, positions, norm):
    """Whether increments of this norm may be the round-off of the residuals."""
    found, sample = False, 0
    while not found and sample < SAMPLES:
        found = norm <= NOISY * _noise(memory, t, h, positions, 4.0 * sample)
        sample += 1
    return found


@inner
def _displacement(memory, h):
    """Largest displacement in the increments, in relation to the coordinates (or to 1 where all are smaller)."""
    real, pair, q = memory.real.b, memory.pair.b, memory.x
    largest, length = 0.0, 1.0
    for j in range(memory.nv):
        largest = max(largest, abs(real[j]), abs(pair[j].real), abs(pair[j].imag))
    for j in range(memory.nq):
        length = max(length, abs(q[j]))
    return largest * h / (MU_REAL * length)


@inner
def _set_weights(memory):
    """Weights of the increments.

    Deviation from VII.7: increments of v are not multiplied by h, because their remainder along the
    constraints accumulates from step to step. For the remainder normal to the constraints, see `_tangential`.
    """
    x, atol, weight = memory.x, memory.plan.atol, memory.newton.weight
    rtol, curved = memory.plan.rtol, memory.curved
    nq, nv = memory.nq, memory.nv
    for j in range(nv):
        weight[j] = 1.0 / (atol[nq + j] + rtol * abs(x[nq + j]))
    for k in range(curved.size):
        j = curved[k]
        weight[nv + k] = 1.0 / (atol[j] + rtol * abs(x[j]))


@inner
def _range(memory):
    """The largest velocity, in the units of the smallest tolerance of a velocity."""
    x, weight = memory.x, memory.newton.weight
    largest, finest = 0.0, 0.0
    for j in range(memory.nv):
        largest, finest = max(largest, abs(x[memory.nq + j])), max(finest, weight[j])
    return largest * finest


@inner
def _worst_unknown(memory):
    """The unknown with the largest weighted increment."""
    real, weight = memory.real.b, memory.newton.weight
    worst, largest = 0, -1.0
    for j in range(real.size - memory.m):
        size = weight[j] * abs(real[j])
        if size > largest:
            worst, largest = j, size
    return worst


@inner
def _apply(memory):
    """Add the increments to W; Z = T W."""
    Z, W, real, pair = (
        memory.newton.z,
        memory.newton.w,
        memory.real.b,
        memory.pair.b,
    )
    for j in range(real.size):
        W[0, j] += real[j]
        W[1, j] += pair[j].real
        W[2, j] += pair[j].imag
        for i in range(3):
            Z[i, j] = _combine(T, i, W[0, j], W[1, j], W[2, j])


@inner
def _contraction(rate):
    """Estimate of the remaining error after an increment, relative to this increment."""
    return rate / (1.0 - min(rate, 0.99))


@inner
def _tangential(memory, t, h, tolerance, floor, whole, last):
    """Outcome (or GO_ON) according to the tangential part of the increment alone, and the norm of that part.

    Constraints on positions propagate their round-off d to v, divided by the step: the normal part of the
    increments never falls below about d mu, however many iterations are made. It is harmless: constraint
    forces balance it at every stage, and the projection removes the rest. Only the tangential part changes
    the motion. Once it no longer decreases, it is accepted if it is noise: the round-off of the other
    residuals, or the noise of the normal part, rotated by the difference between the current normals and
    those in the matrix, which determines the contraction. A shorter step would not reduce it. `whole`: norm
    of the whole increment; `last`: of its tangential part in the iteration before, or -1; `floor`: a norm
    that may be round-off of the velocities.
    """
    newton = memory.newton
    norm = _increments(memory, h, 0.0)
    if not norm < 1e100:
        return BAD, norm
    factor_before = _contraction(newton.rate) if newton.rate > 0.0 else newton.contraction
    factor = factor_before
    if last > 0.0:
        rate = norm / last
        factor = _contraction(rate)
        if rate >= STALLED and norm <= floor:
            return CONVERGED, norm
        if rate >= 0.99:
            turned = newton.rate if newton.rate > 0.0 else factor_before / (1.0 + factor_before)
            left = norm - turned * whole
            return CONVERGED if left <= 0.0 or _is_noise(memory, t, h, 0.0, left) else DIVERGED, norm
    return CONVERGED if factor * norm <= tolerance else GO_ON, norm


@procedure(DaeMemory, "Radau integrator", 0.6)
def iterate(memory, t, h):
    """Newton's iteration from the increments in Z; returns CONVERGED, DIVERGED or BAD.

    Remaining errors along the constraints accumulate over all steps, so they must be small compared with the
    tolerance divided by the number of steps. Convergence is tested with whole increments until they stall at
    the round-off of the constraints, and from then on with their tangential part. A first step starts from
    constants, so its second increment contains the curvature of the constraints and is no measure of
    contraction. Sets `newton.iterations`, `newton.rate` and `step.blame`: the row that is not finite or,
    after divergence, the unknown that changes most.
    """
    step, newton = memory.step, memory.newton
    Z, W = newton.z, newton.w
    rtol = max(memory.plan.rtol, 1e-14)
    _set_weights(memory)
    for i in range(3):
        for j in range(Z.shape[1]):
            W[i, j] = _combine(TI, i, Z[0, j], Z[1, j], Z[2, j])
    floor = 10.0 * NOISE * ROUND_OFF * max(1.0 / rtol, _range(memory))
    tolerance = max(TIGHTEST, min(LOOSEST, rtol**0.5))
    factor = newton.contraction**0.8
    last, rate_before, tangential = 0.0, 0.0, -1.0
    newton.rate = 0.0
    judged = 1 if step.history == 1 else 2
    for k in range(MOST_ITERATIONS):
        newton.iterations = k + 1
        spread(memory, t, h)
        step.blame = _stage_residuals(memory, t, h)
        if step.blame >= 0:
            return BAD
        norm = _increments(memory, h, 1.0)
        if not norm < 1e100:
            step.blame = 0
            return BAD
        _apply(memory)
        stalled = tangential >= 0.0
        if k > 0 and not stalled:
            rate = norm / last if last > 0.0 else 0.0
            mean = rate if k <= judged else sqrt(rate * rate_before)
            factor, rate_before = _contraction(mean), rate
            hopeless = mean >= 0.99 or factor * norm * mean ** (MOST_ITERATIONS - 2 - k) > tolerance
            hopeless = hopeless and k >= judged
            if hopeless or rate >= STALLED:
                stalled = norm <= floor or _displacement(memory, h) <= NOISE * ROUND_OFF
                if hopeless and not stalled:
                    step.blame = _worst_unknown(memory)
                    stalled = _is_noise(memory, t, h, 1.0, norm)
                    if not stalled:
                        return DIVERGED
            if not stalled and k >= judged:
                newton.rate = mean
        last = norm
        outcome = GO_ON
        if stalled:
            outcome, tangential = _tangential(memory, t, h, tolerance, floor, norm, tangential)
        elif factor * norm <= tolerance:
            newton.contraction = max(factor, LEAST_CONTRACTION)
            outcome = CONVERGED
        if outcome == CONVERGED:
            spread(memory, t, h)
            return CONVERGED
        if outcome == BAD:
            step.blame = 0
            return BAD
        if outcome == DIVERGED:
            break
    step.blame = _worst_unknown(memory)
    return DIVERGED
