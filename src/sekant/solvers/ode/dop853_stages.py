"""Stages, error estimate, dense output and first step of DOP853; see `sekant.solvers.ode.dop853`."""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from sekant.loops.declare.calls import call_native, tail
from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import set_time
from sekant.solvers.common.vectors import clear, normalize
from sekant.solvers.ode.dop853_tableau import E3, E5, E6, GUARD, N_STAGES, A, C, D
from sekant.solvers.ode.memory import Run

EXPONENT = 1.0 / 8.0
LAST_TERM = 0.15 * (4.0 / 7.0) ** 4 * (3.0 / 7.0) ** 3  # of the last coefficient: error of the dense output
WITHIN = 8.0  # error allowed for outputs within a step, in multiples of the error allowed at its end
MAX_FACTOR = 6.0
"""Largest factor by which a step may grow."""


@inner
def evaluate(run, t, s):
    """k[s] = f(t, stage); returns the first index that is not finite, or -1."""
    set_time(run.clock, t)
    call_native(run.rhs.function, run.rhs.arg, tail(run.rhs.res, s), run.rhs.work)
    run.counts.evaluations += 1
    k = run.k
    for j in range(k.shape[1]):
        if not isfinite(k[s, j]):
            return j
    return -1


@inner
def set_stage(run, h, s):
    """stage = x + h sum_r a_sr k_r."""
    x, stage, k = run.x, run.stage, run.k
    clear(stage)
    for r in range(s):
        a = A[s, r]
        if a != 0.0:
            for j in range(stage.size):
                stage[j] += a * k[r, j]
    for j in range(stage.size):
        stage[j] = x[j] + h * stage[j]


@inner
def _scaled_errors(k, j, scale):
    """Scaled error estimates of order 5, 3 and 6 of state j, over h."""
    e5, e3, e6 = 0.0, 0.0, 0.0
    for s in range(N_STAGES):
        e5 += E5[s] * k[s, j]
        e3 += E3[s] * k[s, j]
        e6 += E6[s] * k[s, j]
    return e5 / scale, e3 / scale, e6 / scale


@inner
def scale_of_work(run, end):
    """Tolerance of the quadratures: all have the scale of the largest, as terms of one balance."""
    x, atols, largest, atol = run.x, run.plan.atol, 0.0, 0.0
    for j in range(run.n_error, x.size):
        largest = max(largest, abs(x[j]), abs(end[j]))
        atol = max(atol, atols[j])
    return atol + run.plan.rtol * largest


@inner
def _norm(square5, square3, square6, count, h):
    """h max(e5^2 / sqrt(e5^2 + 0.01 e3^2), GUARD e6 min(e6 / e3, 1)^(1/3)), both O(h^8); rms over states.

    e6 / e3 is O(h^3). If all slopes are equal, both are round-off and their ratio is meaningless, so it is
    limited to 1.
    """
    denominator = square5 + 0.01 * square3
    usual = square5 / sqrt(denominator) if denominator > 0.0 else 0.0
    guard = GUARD * sqrt(square6) * min(square6 / square3, 1.0) ** (1.0 / 6.0) if square3 > 0.0 else 0.0
    norm = h * max(usual, guard) / sqrt(float(count))
    return norm if isfinite(norm) else np.inf


@inner
def error_norm(run, h):
    """h e5^2 / sqrt(e5^2 + 0.01 e3^2) with root mean squares over the states in the norm (section II.10).

    That fails where e5 crosses zero, as it does at one phase of an oscillation: then the next step is far too
    long, and is accepted as well if it reaches such a phase again. The estimate of order 6 is out of phase
    with e5 (by 50 to 90 degrees where h times the eigenvalue is 3 to 10); with the factor that makes it one
    of order 8 it is a hundredth to a thirtieth of the above, so it matters only there, where it limits the
    growth of a step to 1.6.

    `run.stage`: end of the step. Quadratures have a separate norm; the larger one counts. The component with
    the largest error is stored in `run.step.worst`.
    """
    x, end, k, atol, rtol, count = run.x, run.stage, run.k, run.plan.atol, run.plan.rtol, run.n_error
    square5, square3, square6, norm, largest, worst = 0.0, 0.0, 0.0, 0.0, -1.0, 0
    work = scale_of_work(run, end)
    for j in range(x.size):
        if j == count:
            norm = _norm(square5, square3, square6, count, h)
            square5, square3, square6 = 0.0, 0.0, 0.0
        scale = atol[j] + rtol * max(abs(x[j]), abs(end[j])) if j < count else work
        e5, e3, e6 = _scaled_errors(k, j, scale)
        square5 += e5 * e5
        square3 += e3 * e3
        square6 += e6 * e6
        if j < count and abs(e5) > largest:
            worst, largest = j, abs(e5)
    run.step.worst = worst
    if x.size > count:
        count = x.size - count
    return max(norm, _norm(square5, square3, square6, count, h))


@inner
def starting_step(run, t, longest):
    """Section II.4, "Starting step size". k[0] holds the slope at (t, x); k[1] is overwritten.

    After an event that rule is a lower bound: the previous step is used, limited to the growth of a
    controlled step. Where nothing moves, the slope contains no information, and only the previous step is known.
    """
    x, k, stage, atol, rtol, n = run.x, run.k, run.stage, run.plan.atol, run.plan.rtol, run.n_error
    slope, size = 0.0, 0.0
    for j in range(n):
        scale = atol[j] + rtol * abs(x[j])
        slope += (k[0, j] / scale) ** 2
        size += (x[j] / scale) ** 2
    h = 1e-6 if slope <= 1e-10 or size <= 1e-10 else 0.01 * sqrt(size / slope)
    h = min(h, longest)
    for j in range(x.size):
        stage[j] = x[j] + h * k[0, j]
    if evaluate(run, t + h, 1) >= 0:
        return min(h, 1e-6)
    curvature = 0.0
    for j in range(n):
        curvature += ((k[1, j] - k[0, j]) / (atol[j] + rtol * abs(x[j]))) ** 2
    strongest = max(sqrt(curvature) / h, sqrt(slope))
    if strongest <= 1e-15:
        return min(max(1e-6, h * 1e-3, run.step.usual), longest)
    h = min(100.0 * h, (0.01 / strongest) ** EXPONENT)
    return min(max(h, min(run.step.usual, MAX_FACTOR * h)), longest)


@procedure(Run, "Dormand-Prince integrator", 0.1)
def prepare_dense(run, t, h):
    """Coefficients of the dense output (section II.6); returns the first index that is not finite, or -1.

    On entry `run.stage` is the end of the step, k[0] and k[12] are the slopes at both ends.
    """
    x, k, stage, dense, n = run.x, run.k, run.stage, run.step.dense, run.x.size
    for j in range(n):
        rise = stage[j] - x[j]
        dense[0, j] = rise
        dense[1, j] = h * k[0, j] - rise
        dense[2, j] = 2.0 * rise - h * (k[N_STAGES, j] + k[0, j])
    for s in range(N_STAGES + 1, N_STAGES + 4):
        set_stage(run, h, s)
        bad = evaluate(run, t + C[s] * h, s)
        if bad >= 0:
            return bad
    for i in range(4):
        for j in range(n):
            total = 0.0
            for s in range(N_STAGES + 4):
                total += D[i, s] * k[s, j]
            dense[3 + i, j] = h * total
    return -1


@inner
def dense_error(run):
    """The largest error of the dense output within the step relative to its allowance, as a root mean square.

    For a linear motion it is LAST_TERM times the last coefficient, within a tenth wherever h times the eigenvalue is
    0.5 or more. Up to 4 it stays below 3 times the estimate at the end of the step; beyond, where steps are limited
    by stability and not by accuracy, it is 10 to 90 times that.
    """
    x, end, dense, atol, rtol = run.x, run.stage, run.step.dense, run.plan.atol, run.plan.rtol
    square, count = 0.0, run.n_error
    for j in range(count):
        square += (dense[6, j] / (atol[j] + rtol * max(abs(x[j]), abs(end[j])))) ** 2
    return LAST_TERM * sqrt(square / count) / WITHIN


@inner
def dense_is_exact(run, theta, part):
    """Whether the last term of the dense output at theta is at most this part of the tolerance in every
    state.

    `run.x`, `run.x_old`: start and end of the step. The neglected terms are even smaller.
    """
    x, end, dense, atol, rtol = run.x, run.x_old, run.step.dense, run.plan.atol, run.plan.rtol
    weight = theta**4 * (1.0 - theta) ** 3
    for j in range(run.n_error):
        if not weight * abs(dense[6, j]) <= part * (atol[j] + rtol * max(abs(x[j]), abs(end[j]))):
            return False
    return True


@inner
def _cubic(run, h, theta):
    """stage = the cubic through both ends of a trial step and their slopes."""
    x, end, k, stage = run.x, run.x_old, run.k, run.stage
    b = theta * theta * (3.0 - 2.0 * theta)
    c = h * theta * (1.0 - theta) * (1.0 - theta)
    d = -h * theta * theta * (1.0 - theta)
    for j in range(x.size):
        stage[j] = x[j] + b * (end[j] - x[j]) + c * k[0, j] + d * k[N_STAGES, j]


@inner
def inside(run, h, theta, dense):
    """stage = the state at a point of a trial step, on the dense output or on the cubic."""
    if dense:
        interpolate(run, run.x, theta, run.stage)
    else:
        _cubic(run, h, theta)
    normalize(run.stage, run.blocks)


@inner
def interpolate(run, start, theta, row):
    """row = start + theta (F0 + (1 - theta) (F1 + theta (F2 + ...)))."""
    dense = run.step.dense
    for j in range(row.size):
        value = 0.0
        for i in range(6, -1, -1):
            value = (value + dense[i, j]) * (theta if i % 2 == 0 else 1.0 - theta)
        row[j] = start[j] + value
