"""Stages, error estimate, dense output and first step of DOP853; see `sekant.solvers.ode.dop853`."""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from sekant.native_call import call_native
from sekant.solvers.common.compiled import inner
from sekant.solvers.ode.dop853_tableau import E3, E5, N_STAGES, A, C, D
from sekant.solvers.ode.memory import EVALUATIONS

EXPONENT = 1.0 / 8.0


@inner
def evaluate(native, run, t, s, low, high):
    """k[s] = f(t, stage); returns the first index that is not finite, or -1."""
    native.clock[0] = min(max(t, low), high)
    call_native(native.rhs, native.arg_stage, native.res[s:], native.work)
    run.count[EVALUATIONS] += 1
    k = native.k[s]
    for j in range(k.size):
        if not isfinite(k[j]):
            return j
    return -1


@inner
def set_stage(native, x, h, s):
    """stage = x + h sum_r a_sr k_r."""
    stage, k = native.stage, native.k
    for j in range(stage.size):
        stage[j] = 0.0
    for r in range(s):
        a = A[s, r]
        if a != 0.0:
            for j in range(stage.size):
                stage[j] += a * k[r, j]
    for j in range(stage.size):
        stage[j] = x[j] + h * stage[j]


@inner
def _scaled_errors(native, j, scale):
    """Scaled error estimates of order 5 and 3 of state j, over h."""
    e5, e3 = 0.0, 0.0
    for s in range(N_STAGES):
        k = native.k[s, j]
        e5 += E5[s] * k
        e3 += E3[s] * k
    return e5 / scale, e3 / scale


@inner
def _scale(plan, x, end, j):
    return plan.atol[j] + plan.rtol * max(abs(x[j]), abs(end[j]))


@inner
def scale_of_work(plan, x, end):
    """Tolerance of the quadratures: they share one scale, that of the largest, as parts of one balance do."""
    largest, atol = 0.0, 0.0
    for j in range(plan.n_error, x.size):
        largest = max(largest, abs(x[j]), abs(end[j]))
        atol = max(atol, plan.atol[j])
    return atol + plan.rtol * largest


@inner
def _norm(square5, square3, count, h):
    denominator = square5 + 0.01 * square3
    if denominator <= 0.0:
        return 0.0
    norm = h * square5 / sqrt(denominator * count)
    return norm if isfinite(norm) else np.inf


@inner
def error_norm(native, plan, x, h):
    """h e5^2 / sqrt(e5^2 + 0.01 e3^2) with root mean squares over the states in the norm (section II.10).

    `native.stage`: end of the step. Quadratures have a norm of their own; the larger one counts.
    """
    square5, square3 = 0.0, 0.0
    for j in range(plan.n_error):
        e5, e3 = _scaled_errors(native, j, _scale(plan, x, native.stage, j))
        square5 += e5 * e5
        square3 += e3 * e3
    norm = _norm(square5, square3, plan.n_error, h)
    if x.size > plan.n_error:
        scale = scale_of_work(plan, x, native.stage)
        square5, square3 = 0.0, 0.0
        for j in range(plan.n_error, x.size):
            e5, e3 = _scaled_errors(native, j, scale)
            square5 += e5 * e5
            square3 += e3 * e3
        norm = max(norm, _norm(square5, square3, x.size - plan.n_error, h))
    return norm


@inner
def worst_component(native, plan, x):
    worst, largest = 0, -1.0
    for j in range(plan.n_error):
        e5 = abs(_scaled_errors(native, j, _scale(plan, x, native.stage, j))[0])
        if e5 > largest:
            worst, largest = j, e5
    return worst


@inner
def starting_step(native, plan, run, t, low, high, longest):
    """Section II.4, "Starting step size". k[0] holds the slope at (t, x); k[1] is overwritten."""
    x, k, n = run.x, native.k, plan.n_error
    slope, size = 0.0, 0.0
    for j in range(n):
        scale = plan.atol[j] + plan.rtol * abs(x[j])
        slope += (k[0, j] / scale) ** 2
        size += (x[j] / scale) ** 2
    h = 1e-6 if slope <= 1e-10 or size <= 1e-10 else 0.01 * sqrt(size / slope)
    h = min(h, longest)
    for j in range(x.size):
        native.stage[j] = x[j] + h * k[0, j]
    if evaluate(native, run, t + h, 1, low, high) >= 0:
        return min(h, 1e-6)
    curvature = 0.0
    for j in range(n):
        curvature += ((k[1, j] - k[0, j]) / (plan.atol[j] + plan.rtol * abs(x[j]))) ** 2
    strongest = max(sqrt(curvature) / h, sqrt(slope))
    h_high = max(1e-6, h * 1e-3) if strongest <= 1e-15 else (0.01 / strongest) ** EXPONENT
    return min(100.0 * h, h_high, longest)


@inner
def prepare_dense(native, run, t, h, low, high):
    """Coefficients of the dense output (section II.6); returns the first index that is not finite, or -1.

    On entry `native.stage` is the end of the step, k[0] and k[12] are the slopes at both ends.
    """
    x, k, dense, n = run.x, native.k, run.dense, run.x.size
    for j in range(n):
        rise = native.stage[j] - x[j]
        dense[0, j] = rise
        dense[1, j] = h * k[0, j] - rise
        dense[2, j] = 2.0 * rise - h * (k[N_STAGES, j] + k[0, j])
    for s in range(N_STAGES + 1, N_STAGES + 4):
        set_stage(native, x, h, s)
        bad = evaluate(native, run, t + C[s] * h, s, low, high)
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
def interpolate(dense, start, theta, row):
    """row = start + theta (F0 + (1 - theta) (F1 + theta (F2 + ...)))."""
    for j in range(row.size):
        value = 0.0
        for i in range(6, -1, -1):
            value = (value + dense[i, j]) * (theta if i % 2 == 0 else 1.0 - theta)
        row[j] = start[j] + value


@inner
def interpolated_slope(dense, theta, j):
    """Derivative of the interpolant of state j with respect to theta."""
    value, slope = 0.0, 0.0
    for i in range(6, -1, -1):
        factor, sign = (theta, 1.0) if i % 2 == 0 else (1.0 - theta, -1.0)
        slope = slope * factor + (value + dense[i, j]) * sign
        value = (value + dense[i, j]) * factor
    return slope
