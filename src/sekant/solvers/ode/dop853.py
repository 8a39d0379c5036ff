"""DOP853: Dormand-Prince pair of order 8 with error estimates of order 5 and 3 and dense output of order 7.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., sections II.4 to II.6 and II.10.
Deviations: a trial step in which a number is not finite (in a stage, the slope at its end, the dense output)
is repeated with a quarter of the step; after a stop the last step that was not shortened is tried first.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from sekant.native_call import call_native
from sekant.solvers.common.compiled import compiled
from sekant.solvers.ode.dop853_tableau import E3, E5, N_STAGES, A, C, D
from sekant.solvers.ode.memory import (
    AFTER_REJECTION,
    COMPONENT,
    CONSTRAINTS,
    EVALUATIONS,
    FINISHED,
    LARGEST_STATE,
    MORE,
    NOT_FINITE,
    PHASE,
    REJECTED,
    RESTARTS,
    ROW,
    SEGMENT,
    STEP_LENGTH,
    STEP_START,
    STEP_TOO_SMALL,
    STEPS,
    T_FAILED,
    TOO_MANY_STEPS,
    H,
    T,
)
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

# Run.count[PHASE]: the slope in stage 0 must be evaluated, is to be taken over from stage 12, or is in place.
FRESH, CARRY, READY = range(3)
SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 1.0 / 3.0, 6.0
NOT_FINITE_FACTOR = 0.25
EXPONENT = 1.0 / 8.0


@compiled
def _evaluate(native, run, t, s, low, high):
    """k[s] = f(t, stage); returns the first index that is not finite, or -1."""
    native.clock[0] = min(max(t, low), high)
    call_native(native.rhs, native.arg_stage, native.res[s:], native.work)
    run.count[EVALUATIONS] += 1
    k = native.k[s]
    for j in range(k.size):
        if not isfinite(k[j]):
            return j
    return -1


@compiled
def _set_stage(native, x, h, s):
    """stage = x + h sum_r a_sr k_r."""
    stage, k = native.stage, native.k
    stage[:] = 0.0
    for r in range(s):
        a = A[s, r]
        if a != 0.0:
            for j in range(stage.size):
                stage[j] += a * k[r, j]
    for j in range(stage.size):
        stage[j] = x[j] + h * stage[j]


@compiled
def _scaled_errors(native, plan, x, j):
    """Scaled error estimates of order 5 and 3 of state j, over h (`native.stage`: end of the step)."""
    e5, e3 = 0.0, 0.0
    for s in range(N_STAGES):
        k = native.k[s, j]
        e5 += E5[s] * k
        e3 += E3[s] * k
    scale = plan.atol[j] + plan.rtol * max(abs(x[j]), abs(native.stage[j]))
    return e5 / scale, e3 / scale


@compiled
def _error_norm(native, plan, x, h):
    """h e5^2 / sqrt(e5^2 + 0.01 e3^2) with root mean squares over the states in the norm (section II.10)."""
    square5, square3 = 0.0, 0.0
    for j in range(plan.n_error):
        e5, e3 = _scaled_errors(native, plan, x, j)
        square5 += e5 * e5
        square3 += e3 * e3
    denominator = square5 + 0.01 * square3
    if denominator <= 0.0:
        return 0.0
    norm = h * square5 / sqrt(denominator * plan.n_error)
    return norm if isfinite(norm) else np.inf


@compiled
def _worst_component(native, plan, x):
    worst, largest = 0, -1.0
    for j in range(plan.n_error):
        e5 = abs(_scaled_errors(native, plan, x, j)[0])
        if e5 > largest:
            worst, largest = j, e5
    return worst


@compiled
def _starting_step(native, plan, run, t, low, high, longest):
    """Section II.4, "Starting step size". k[0] holds the slope at (t, x); k[1] is overwritten."""
    x, k, n = run.x, native.k, plan.n_error
    slope, size = 0.0, 0.0
    for j in range(n):
        scale = plan.atol[j] + plan.rtol * abs(x[j])
        slope += (k[0, j] / scale) ** 2
        size += (x[j] / scale) ** 2
    h = 1e-6 if slope <= 1e-10 or size <= 1e-10 else 0.01 * sqrt(size / slope)
    h = min(h, longest)
    native.stage[:] = x + h * k[0]
    if _evaluate(native, run, t + h, 1, low, high) >= 0:
        return min(h, 1e-6)
    curvature = 0.0
    for j in range(n):
        curvature += ((k[1, j] - k[0, j]) / (plan.atol[j] + plan.rtol * abs(x[j]))) ** 2
    strongest = max(sqrt(curvature) / h, sqrt(slope))
    h_high = max(1e-6, h * 1e-3) if strongest <= 1e-15 else (0.01 / strongest) ** EXPONENT
    return min(100.0 * h, h_high, longest)


@compiled
def _prepare_dense(native, run, t, h, low, high):
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
        _set_stage(native, x, h, s)
        bad = _evaluate(native, run, t + C[s] * h, s, low, high)
        if bad >= 0:
            return bad
    for i in range(4):
        for j in range(n):
            total = 0.0
            for s in range(N_STAGES + 4):
                total += D[i, s] * k[s, j]
            dense[3 + i, j] = h * total
    return -1


@compiled
def _interpolate(run, theta, blocks, row):
    """row = x_old + theta (F0 + (1 - theta) (F1 + theta (F2 + ...)))."""
    dense, x_old = run.dense, run.x_old
    for j in range(row.size):
        value = 0.0
        for i in range(6, -1, -1):
            value = (value + dense[i, j]) * (theta if i % 2 == 0 else 1.0 - theta)
        row[j] = x_old[j] + value
    normalize(row, blocks)


@compiled
def _trial(native, plan, run, t, h, low, high, wanted):
    """One trial step from (t, x): returns (error norm, first index that is not finite or -1).

    The index is n if the end of the step cannot be projected. The end of the step is left in `run.x_old`
    (exchanged with x on acceptance), its slope in k[12].
    """
    x, end = run.x, run.x_old
    for s in range(1, N_STAGES):
        _set_stage(native, x, h, s)
        bad = _evaluate(native, run, t + C[s] * h, s, low, high)
        if bad >= 0:
            return np.inf, bad
    _set_stage(native, x, h, N_STAGES)
    for j in range(x.size):
        if not abs(native.stage[j]) < LARGEST_STATE:
            return np.inf, j
    error = _error_norm(native, plan, x, h)
    if error > 1.0:
        return error, -1
    normalize(native.stage, plan.unit_blocks)
    end[:] = native.stage
    if native.projection != 0:
        if not project(native, plan, end, t + h, low, high):
            return error, x.size
        native.stage[:] = end
    bad = _evaluate(native, run, t + h, N_STAGES, low, high)
    if bad < 0 and wanted:
        bad = _prepare_dense(native, run, t, h, low, high)
    return error, bad


@compiled
def _write_rows(native, plan, run, low, high, budget):
    """Write the outputs up to the present time, at most `budget` of them; returns the budget left.

    Returns -1 if an output cannot be projected.
    """
    count, t, t_eval = run.count, run.time[T], plan.t_eval
    while budget > 0 and count[ROW] < t_eval.size and t_eval[count[ROW]] <= t:
        row = count[ROW]
        if t_eval[row] == t:
            run.rows[row] = run.x
        else:
            theta = (t_eval[row] - run.time[STEP_START]) / run.time[STEP_LENGTH]
            _interpolate(run, theta, plan.unit_blocks, run.rows[row])
            if native.projection != 0 and not project(native, plan, run.rows[row], t_eval[row], low, high):
                run.time[T_FAILED] = t_eval[row]
                return -1
        count[ROW] += 1
        budget -= 1
    return budget


@compiled
def advance(native, plan, run, budget):
    """Take at most `budget` trial steps and outputs; returns a code of `memory`."""
    count, time, x, x_old = run.count, run.time, run.x, run.x_old
    t_eval, edges = plan.t_eval, plan.edges
    least = 1e-20 * (edges[-1] - edges[0])
    while True:
        low, high = plan.low[count[SEGMENT]], plan.high[count[SEGMENT]]
        budget = _write_rows(native, plan, run, low, high, budget)
        if budget < 0:
            return CONSTRAINTS
        if count[ROW] == t_eval.size:
            return FINISHED
        if budget <= 0:
            return MORE
        if count[STEPS] + count[REJECTED] >= plan.max_steps:
            return TOO_MANY_STEPS
        t = time[T]
        if t == edges[count[SEGMENT] + 1]:
            count[SEGMENT] += 1
            count[RESTARTS] += 1
            count[PHASE] = FRESH
        segment = count[SEGMENT]
        end, low, high = edges[segment + 1], plan.low[segment], plan.high[segment]
        if count[PHASE] == FRESH:
            native.stage[:] = x
            bad = _evaluate(native, run, t, 0, low, high)
            if bad >= 0:
                count[COMPONENT], time[T_FAILED] = bad, t
                return NOT_FINITE
            if time[H] <= 0.0:
                time[H] = _starting_step(native, plan, run, t, low, high, min(plan.max_step, end - t))
        elif count[PHASE] == CARRY:
            native.k[0] = native.k[N_STAGES]
        count[PHASE] = READY

        smallest = max(10.0 * (np.nextafter(t, np.inf) - t), least)
        offered = min(max(time[H], smallest), plan.max_step)
        last = t + 1.01 * offered >= end
        h = end - t if last else offered
        t_new = end if last else t + h
        error, bad = _trial(native, plan, run, t, h, low, high, t_eval[count[ROW]] < t_new)
        budget -= 1
        if error <= 1.0 and bad < 0:
            for j in range(x.size):
                x[j], x_old[j] = x_old[j], x[j]
            time[T], time[STEP_START], time[STEP_LENGTH] = t_new, t, h
            factor = (
                min(MAX_FACTOR, max(MIN_FACTOR, SAFETY * error**-EXPONENT)) if error > 0.0 else MAX_FACTOR
            )
            if count[AFTER_REJECTION] == 1:
                factor = min(factor, 1.0)
            time[H] = max(h * factor, offered) if last else h * factor
            count[AFTER_REJECTION] = 0
            count[STEPS] += 1
            count[PHASE] = CARRY
            continue
        count[REJECTED] += 1
        count[AFTER_REJECTION] = 1
        if bad >= 0:
            time[H] = h * NOT_FINITE_FACTOR
        else:
            time[H] = h * max(MIN_FACTOR, SAFETY * error**-EXPONENT)
        if time[H] < smallest:
            time[T_FAILED] = t + h
            if bad == x.size:
                return CONSTRAINTS
            if bad >= 0:
                count[COMPONENT] = bad
                return NOT_FINITE
            count[COMPONENT] = _worst_component(native, plan, x)
            return STEP_TOO_SMALL
