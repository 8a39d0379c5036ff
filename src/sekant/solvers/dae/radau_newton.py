"""Newton's iteration at the three stages of Radau IIA(5).

Unknowns of a stage are v, the curved q and lam. The accelerations follow from the collocation condition
``a = A^-1 (V - v0) / h`` and the other coordinates from ``q = q0 + h A qdot(V)``, both exactly, so that only the
residuals of R, of the curved rates and of the constraints enter (see `sekant.engine.functions.dae` for K).
With [dv; z; y] the solution of K(1/mu): the increment of curved q is z / mu, that of lam is mu y.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., sections IV.8 and VII.7.
"""

from __future__ import annotations

from math import sqrt

from sekant.solvers.common.compiled import inner
from sekant.solvers.common.procedures import procedure, table_at
from sekant.solvers.common.views import clear, complexes, ints, mat, put, row, take, vec
from sekant.solvers.dae import memory as at
from sekant.solvers.dae.calls import first_not_finite, jacobian, kinematics, residual, set_state, set_time
from sekant.solvers.dae.radau_tableau import A_INV, MU_COMPLEX, MU_REAL, TI, A, C, T
from sekant.solvers.linear import ldl, static_lu

MOST_ITERATIONS = 10
ROUND_OFF = 1e-16
LEAST_CONTRACTION = 0.05  # that the first increment of the next step is trusted to have
STALLED = 0.3  # contraction beyond which increments of the size of round-off are round-off
NOISE = 30.0  # that size, times round-off
MOST_NOISE = 1e4  # the same where the iteration would be given up else: constraints may amplify round-off
LOOSEST, TIGHTEST = 0.03, 1e-4  # tolerance of the increments, relative to that of the solution

CONVERGED, DIVERGED, BAD, GO_ON = range(4)
NEWTON_EPS = 1e-13  # on the diagonal of the constraints, relative to the mean of G M^-1 G^T
SCALE = ldl.SCALE
_lu_factorize, _lu_solve = static_lu.factorize, static_lu.solve


@inner
def evaluate_jacobian(memory, t):
    """K0, K1, K2 at the start of a step; returns whether they are finite."""
    set_time(memory, t)
    set_state(memory, vec(memory, at.X))
    put(vec(memory, at.A), 0, vec(memory, at.A_NOW))
    put(vec(memory, at.LAM), 0, vec(memory, at.LAM_NOW))
    jacobian(memory)
    ints(memory, at.COUNT)[at.JACOBIANS] += 1
    bad = -1
    for k in range(3):
        bad = max(bad, first_not_finite(row(memory, at.K, k)))
    return bad < 0


@inner
def assemble(memory, s, values):
    """values <- K0 + s K1 + s^2 K2, with -eps on the diagonal of the constraints; rows left out: lam = 0."""
    K, scatter, diagonal = mat(memory, at.K), ints(memory, at.LU_SCATTER), ints(memory, at.LU_CONSTRAINT)
    K_row, off = ints(memory, at.K_ROW), ints(memory, at.ROW_OFF)
    first = vec(memory, at.REAL_B).size - off.size
    eps = NEWTON_EPS * vec(memory, at.LDL_INFO)[SCALE]
    clear(values)
    for e in range(scatter.size):
        if K_row[e] < first or off[K_row[e] - first] == 0:
            values[scatter[e]] += K[0, e] + s * (K[1, e] + s * K[2, e])
    for i in range(diagonal.size):
        values[diagonal[i]] -= eps if off[i] == 0 else 1.0


@inner
def lu_factorize(memory, values, inverse):
    return _lu_factorize(
        ints(memory, at.LU_START),
        ints(memory, at.LU_LOW),
        ints(memory, at.LU_TARGET),
        ints(memory, at.LU_TARGET_START),
        ints(memory, at.LU_DIAGONAL),
        values,
        inverse,
    )


@inner
def lu_solve(memory, values, inverse, b, y):
    _lu_solve(
        ints(memory, at.LU_ORDER),
        ints(memory, at.LU_START),
        ints(memory, at.LU_ROW),
        ints(memory, at.LU_LOW),
        ints(memory, at.LU_DIAGONAL),
        values,
        inverse,
        b,
        y,
    )


@inner
def solve_real(memory):
    """Solve with the real matrix, in REAL_B."""
    lu_solve(
        memory,
        vec(memory, at.REAL),
        vec(memory, at.REAL_INVERSE),
        vec(memory, at.REAL_B),
        vec(memory, at.REAL_Y),
    )


@inner
def solve_pair(memory):
    """Solve with the complex matrix, in PAIR_B."""
    lu_solve(
        memory,
        complexes(memory, at.PAIR),
        complexes(memory, at.PAIR_INVERSE),
        complexes(memory, at.PAIR_B),
        complexes(memory, at.PAIR_Y),
    )


@procedure
def factorize(pointer, rows, h, unused):
    """Factor the real and the complex matrix for step length h; returns 0, or -1 if they are not finite."""
    memory = table_at(pointer, rows)
    ints(memory, at.COUNT)[at.FACTORIZATIONS] += 1
    real, pair = vec(memory, at.REAL), complexes(memory, at.PAIR)
    assemble(memory, h / MU_REAL, real)
    if lu_factorize(memory, real, vec(memory, at.REAL_INVERSE)) < 0:
        return -1
    assemble(memory, h / MU_COMPLEX, pair)
    return min(0, lu_factorize(memory, pair, complexes(memory, at.PAIR_INVERSE)))


@inner
def _combine(matrix, i, first, second, third):
    return matrix[i, 0] * first + matrix[i, 1] * second + matrix[i, 2] * third


@inner
def spread(memory, t, h):
    """Values at the stages from the increments Z."""
    x, Z, curved, straight = (
        vec(memory, at.X),
        mat(memory, at.Z),
        ints(memory, at.CURVED),
        ints(memory, at.STRAIGHT),
    )
    q, v, a, rates = mat(memory, at.ZQ), mat(memory, at.ZV), mat(memory, at.ZA), mat(memory, at.ZQDOT)
    nq, nv = q.shape[1], v.shape[1]
    for i in range(3):
        for j in range(nv):
            v[i, j] = x[nq + j] + Z[i, j]
            a[i, j] = _combine(A_INV, i, Z[0, j], Z[1, j], Z[2, j]) / h
        for k in range(curved.size):
            q[i, curved[k]] = x[curved[k]] + Z[i, nv + k]
    if straight.size == 0:
        return
    point_q, point_v, qdot = vec(memory, at.Q), vec(memory, at.V), vec(memory, at.QDOT)
    take(point_q, x, 0)
    for i in range(3):
        set_time(memory, t + C[i] * h)
        put(point_v, 0, row(memory, at.ZV, i))
        kinematics(memory)
        put(row(memory, at.ZQDOT, i), 0, qdot)
    for k in range(straight.size):
        j = straight[k]
        for i in range(3):
            q[i, j] = x[j] + h * _combine(A, i, rates[0, j], rates[1, j], rates[2, j])


@inner
def set_stage(memory, t, h, i):
    """Make stage i the point of evaluation."""
    set_time(memory, t + C[i] * h)
    put(vec(memory, at.Q), 0, row(memory, at.ZQ, i))
    put(vec(memory, at.V), 0, row(memory, at.ZV, i))
    put(vec(memory, at.A), 0, row(memory, at.ZA, i))
    lam, Z = vec(memory, at.LAM), row(memory, at.Z, i)
    take(lam, Z, Z.size - lam.size)


@inner
def scale_right_side(memory, b, mu):
    """From residuals in the rows (R, curved, Phi, B) to the right-hand side of K."""
    size = ints(memory, at.SIZE)
    nv, first = size[at.NV], b.size - size[at.M]
    for j in range(nv):
        b[j] = -b[j] / mu
    for j in range(first, first + size[at.MH]):
        b[j] = -b[j] * mu
    for j in range(first + size[at.MH], b.size):
        b[j] = -b[j]
    off = ints(memory, at.ROW_OFF)
    for i in range(off.size):
        if off[i] == 1:
            b[first + i] = 0.0


@inner
def scale_solution(memory, b, mu):
    """From [dv; z; y] to the increments of [v; curved q; lam]."""
    size = ints(memory, at.SIZE)
    nv, first = size[at.NV], b.size - size[at.M]
    for j in range(nv, first):
        b[j] = b[j] / mu
    for j in range(first, b.size):
        b[j] = b[j] * mu


@inner
def _stage_residuals(memory, t, h):
    """Residuals at the stages; returns the first row that is not finite, or -1."""
    F = vec(memory, at.F)
    for i in range(3):
        set_stage(memory, t, h, i)
        residual(memory)
        bad = first_not_finite(F)
        if bad >= 0:
            return bad
        put(row(memory, at.ZF, i), 0, F)
    ints(memory, at.COUNT)[at.RESIDUALS] += 3
    return -1


@inner
def _increments(memory, h, positions):
    """One Newton increment of W into REAL_B and PAIR_B; returns its norm.

    `positions`: 1, or 0 for the part that is left if the constraints on positions were met exactly. That part is
    tangential to them.
    """
    F, W, weight, size = mat(memory, at.ZF), mat(memory, at.W), vec(memory, at.WEIGHT), ints(memory, at.SIZE)
    real, pair = vec(memory, at.REAL_B), complexes(memory, at.PAIR_B)
    first = real.size - size[at.M]
    mu, mu_pair = MU_REAL / h, MU_COMPLEX / h
    for j in range(real.size):
        share = positions if first <= j < first + size[at.MH] else 1.0
        real[j] = share * _combine(TI, 0, F[0, j], F[1, j], F[2, j])
        pair[j] = share * complex(
            _combine(TI, 1, F[0, j], F[1, j], F[2, j]), _combine(TI, 2, F[0, j], F[1, j], F[2, j])
        )
    for j in range(size[at.NV], first):
        real[j] -= mu * W[0, j]
        pair[j] -= mu_pair * complex(W[1, j], W[2, j])
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
def _displacement(memory, h):
    """Largest displacement in the increments, in relation to the coordinates (or to 1 where all are smaller)."""
    real, pair, q = vec(memory, at.REAL_B), complexes(memory, at.PAIR_B), vec(memory, at.X)
    size, largest, length = ints(memory, at.SIZE), 0.0, 1.0
    for j in range(size[at.NV]):
        largest = max(largest, abs(real[j]), abs(pair[j].real), abs(pair[j].imag))
    for j in range(size[at.NQ]):
        length = max(length, abs(q[j]))
    return largest * h / (MU_REAL * length)


@inner
def _set_weights(memory):
    """Weights of the increments.

    Deviation from VII.7: increments of v are not multiplied by h, because what is left of them along the
    constraints adds up from step to step. For what is left of them across, see `_tangential`.
    """
    size, x, atol, weight = (
        ints(memory, at.SIZE),
        vec(memory, at.X),
        vec(memory, at.ATOL),
        vec(memory, at.WEIGHT),
    )
    rtol, curved = vec(memory, at.OPTION)[at.RTOL], ints(memory, at.CURVED)
    nq, nv = size[at.NQ], size[at.NV]
    for j in range(nv):
        weight[j] = 1.0 / (atol[nq + j] + rtol * abs(x[nq + j]))
    for k in range(curved.size):
        j = curved[k]
        weight[nv + k] = 1.0 / (atol[j] + rtol * abs(x[j]))


@inner
def _range(memory):
    """The largest velocity, in the units of the smallest tolerance of a velocity."""
    x, weight, size = vec(memory, at.X), vec(memory, at.WEIGHT), ints(memory, at.SIZE)
    largest, finest = 0.0, 0.0
    for j in range(size[at.NV]):
        largest, finest = max(largest, abs(x[size[at.NQ] + j])), max(finest, weight[j])
    return largest * finest


@inner
def _worst_unknown(memory):
    """The unknown with the largest weighed increment."""
    real, weight = vec(memory, at.REAL_B), vec(memory, at.WEIGHT)
    worst, largest = 0, -1.0
    for j in range(real.size - ints(memory, at.SIZE)[at.M]):
        size = weight[j] * abs(real[j])
        if size > largest:
            worst, largest = j, size
    return worst


@inner
def _apply(memory):
    """Add the increments to W; Z = T W."""
    Z, W, real, pair = (
        mat(memory, at.Z),
        mat(memory, at.W),
        vec(memory, at.REAL_B),
        complexes(memory, at.PAIR_B),
    )
    for j in range(real.size):
        W[0, j] += real[j]
        W[1, j] += pair[j].real
        W[2, j] += pair[j].imag
        for i in range(3):
            Z[i, j] = _combine(T, i, W[0, j], W[1, j], W[2, j])


@inner
def _contraction(rate):
    """What is left of the error after an increment, in relation to this increment."""
    return rate / (1.0 - min(rate, 0.99))


@inner
def _tangential(memory, h, tolerance, floor, last):
    """Outcome (or GO_ON) by the tangential part of the increment alone, and the norm of that part.

    Constraints on positions pass their round-off d on to v, divided by the step: the normal part of the
    increments never gets below about d mu, however often they are repeated. It is harmless: forces of constraints
    balance it at every stage, and the projection takes the rest. What changes the motion is the tangential part,
    to which noise contributes d times the rate at which the normals turn, whatever the step.
    `last`: norm of the tangential part in the iteration before, or -1; `floor`: a norm that may be round-off.
    """
    time = vec(memory, at.TIME)
    norm = _increments(memory, h, 0.0)
    if not norm < 1e100:
        return BAD, norm
    factor = _contraction(time[at.RATE_NOW]) if time[at.RATE_NOW] > 0.0 else time[at.CONTRACTION]
    if last > 0.0:
        rate = norm / last
        factor = _contraction(rate)
        if rate >= STALLED and norm <= floor:
            return CONVERGED, norm
        if rate >= 0.99:
            return DIVERGED, norm
    return CONVERGED if factor * norm <= tolerance else GO_ON, norm


@procedure
def iterate(pointer, rows, t, h):
    """Newton's iteration from the increments in Z; returns CONVERGED, DIVERGED or BAD.

    Errors that are left along the constraints add up over all steps, so they must be small against the
    tolerance over the number of steps. Increments are judged as a whole until they stall at the round-off of the
    constraints, and from then on by their tangential part.
    Sets ITERATIONS, RATE_NOW and BLAME: the row that is not finite, or the unknown that changes most after
    divergence.
    """
    memory = table_at(pointer, rows)
    Z, W, time, count = mat(memory, at.Z), mat(memory, at.W), vec(memory, at.TIME), ints(memory, at.COUNT)
    rtol = max(vec(memory, at.OPTION)[at.RTOL], 1e-14)
    _set_weights(memory)
    for i in range(3):
        for j in range(Z.shape[1]):
            W[i, j] = _combine(TI, i, Z[0, j], Z[1, j], Z[2, j])
    floor = 10.0 * NOISE * ROUND_OFF * max(1.0 / rtol, _range(memory))
    tolerance = max(TIGHTEST, min(LOOSEST, rtol**0.5))
    factor = time[at.CONTRACTION] ** 0.8
    last, rate_before, tangential = 0.0, 0.0, -1.0
    time[at.RATE_NOW] = 0.0
    for k in range(MOST_ITERATIONS):
        count[at.ITERATIONS] = k + 1
        spread(memory, t, h)
        count[at.BLAME] = _stage_residuals(memory, t, h)
        if count[at.BLAME] >= 0:
            return BAD
        norm = _increments(memory, h, 1.0)
        if not norm < 1e100:
            count[at.BLAME] = 0
            return BAD
        _apply(memory)
        stalled = tangential >= 0.0
        if k > 0 and not stalled:
            rate = norm / last if last > 0.0 else 0.0
            mean = rate if k == 1 else sqrt(rate * rate_before)
            factor, rate_before = _contraction(mean), rate
            hopeless = mean >= 0.99 or factor * norm * mean ** (MOST_ITERATIONS - 2 - k) > tolerance
            if hopeless or rate >= STALLED:
                size = _displacement(memory, h)
                stalled = norm <= floor or size <= (MOST_NOISE if hopeless else NOISE) * ROUND_OFF
            if not stalled:
                if hopeless:
                    break
                time[at.RATE_NOW] = mean
        last = norm
        outcome = GO_ON
        if stalled:
            outcome, tangential = _tangential(memory, h, tolerance, floor, tangential)
        elif factor * norm <= tolerance:
            time[at.CONTRACTION] = max(factor, LEAST_CONTRACTION)
            outcome = CONVERGED
        if outcome == CONVERGED:
            spread(memory, t, h)
            return CONVERGED
        if outcome == BAD:
            count[at.BLAME] = 0
            return BAD
        if outcome == DIVERGED:
            break
    count[at.BLAME] = _worst_unknown(memory)
    return DIVERGED
