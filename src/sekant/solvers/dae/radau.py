"""Radau IIA of order 5 with variable steps on systems of index 3: the time loop.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., section IV.8: step size control with
Gustafsson's predictor, use of one factorization over several steps, start of Newton's iteration by
extrapolation. Deviations: q and v are projected on the constraints at the end of every step; the Jacobian is
evaluated anew whenever the matrices are factored anew, because it costs less than they do.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from sekant.solvers.common.compiled import compiled, inner
from sekant.solvers.common.procedures import call
from sekant.solvers.common.views import ints, vec
from sekant.solvers.dae import memory as at
from sekant.solvers.dae.active_rows import ALL, select_rows, suspect_weak_rows
from sekant.solvers.dae.outputs import start_run, write_row, write_rows
from sekant.solvers.dae.projection import factorize_saddle, project_state, solve_saddle
from sekant.solvers.dae.radau_error import estimate
from sekant.solvers.dae.radau_newton import (
    BAD,
    CONVERGED,
    MOST_ITERATIONS,
    evaluate_jacobian,
    factorize,
    iterate,
)
from sekant.solvers.dae.radau_step import accept, end_of_step, predict, restart, starting_step

SAFETY, MOST_GROWTH, MOST_SHRINKING = 0.9, 8.0, 0.2
KEEP_BELOW = 1.2  # a factor between 1 and this is not worth a new factorization
SLOW = 0.02  # contraction of Newton's iteration beyond which the matrices are renewed
GOOD_RATE = 0.3  # contraction, which grows like the square of the step, that is aimed at
CEILING_GROWTH = 1.1  # of the bound that a divergence puts on the steps after it

PROCEDURES = {
    at.FACTORIZE_SADDLE: factorize_saddle,
    at.SOLVE_SADDLE: solve_saddle,
    at.PROJECT: project_state,
    at.WRITE_ROW: write_row,
    at.ITERATE: iterate,
    at.ESTIMATE: estimate,
    at.FACTORIZE: factorize,
    at.SELECT_ROWS: select_rows,
}

# What became of a trial step.
ACCEPTED, TOO_INACCURATE, DIVERGED, BAD_NUMBER, BAD_CONSTRAINT = range(5)


@inner
def _trial(memory, t, t_new, h):
    """One trial step; returns what became of it. Sets BLAME, ERROR_NOW, ITERATIONS, RATE_NOW."""
    count, time = ints(memory, at.COUNT), vec(memory, at.TIME)
    predict(memory, t, h)
    outcome = call(memory, at.ITERATE, t, h)
    if outcome != CONVERGED:
        count[at.BLAME] = _state_of(memory, count[at.BLAME])
        return BAD_NUMBER if outcome == BAD else DIVERGED
    bad = call(memory, at.ESTIMATE, t, h)
    if bad >= 0 or not isfinite(time[at.ERROR_NOW]):
        count[at.BLAME] = _state_of(memory, max(bad, 0))
        return BAD_NUMBER
    if time[at.ERROR_NOW] >= 1.0:
        return TOO_INACCURATE
    row, bad = end_of_step(memory, t, t_new, h)
    count[at.BLAME] = max(row, bad)
    if row >= 0:
        return BAD_CONSTRAINT
    return BAD_NUMBER if bad >= 0 else ACCEPTED


@inner
def _state_of(memory, unknown):
    """Index in x of an unknown or row of Newton's iteration; -1 for multipliers."""
    size, curved = ints(memory, at.SIZE), ints(memory, at.CURVED)
    if unknown < size[at.NV]:
        return size[at.NQ] + unknown
    if unknown < size[at.NV] + curved.size:
        return curved[unknown - size[at.NV]]
    return -1


@inner
def _next_step(memory, h, error, safety):
    """Factor of the next step after an accepted one (IV.8.21), (IV.8.25); keeps what the next call needs."""
    count, time = ints(memory, at.COUNT), vec(memory, at.TIME)
    error = max(error, 1e-10)
    factor = min(MOST_GROWTH, safety * error**-0.25)
    if count[at.HISTORY] == 1:
        ratio = (h / time[at.H_ACCEPTED]) * (time[at.ERROR_ACCEPTED] / error) ** 0.25 * error**-0.25
        factor = min(factor, SAFETY * ratio)
    if count[at.AFTER_REJECTION] == 1:
        factor = min(factor, 1.0)
    if time[at.RATE_NOW] > 0.0:
        factor = min(factor, max(0.5, sqrt(GOOD_RATE / time[at.RATE_NOW])))
    time[at.CEILING] *= CEILING_GROWTH
    factor = min(factor, time[at.CEILING] / h)
    time[at.H_ACCEPTED], time[at.ERROR_ACCEPTED] = h, max(1e-2, error)
    return max(MOST_SHRINKING, factor)


@inner
def _enter_segment(memory):
    """Go on beyond a stop; returns -1 or the constraint that cannot be met."""
    count, time, window = ints(memory, at.COUNT), vec(memory, at.TIME), vec(memory, at.WINDOW)
    count[at.SEGMENT] += 1
    count[at.RESTARTS] += 1
    window[0], window[1] = vec(memory, at.LOW)[count[at.SEGMENT]], vec(memory, at.HIGH)[count[at.SEGMENT]]
    count[at.FIRST], count[at.HISTORY], count[at.FACTORED], count[at.FRESH] = 1, 0, 0, 0
    time[at.CONTRACTION] = 1.0
    return restart(memory, time[at.T])


@inner
def _prepare_matrices(memory, t, h):
    """Matrices for this step, if the last ones will not do; returns whether they are finite."""
    count = ints(memory, at.COUNT)
    if count[at.FACTORED] == 1:
        return True
    if count[at.FRESH] == 0:
        if count[at.SELECTING] != ALL and call(memory, at.SELECT_ROWS, t, 0.0) == 1:
            vec(memory, at.TIME)[at.CEILING] = np.inf
        if not evaluate_jacobian(memory, t):
            return False
        count[at.FRESH] = 1
    count[at.FACTORED] = 1
    return call(memory, at.FACTORIZE, h, 0.0) == 0


@compiled
def advance(memory, budget):
    """Take at most about `budget` trial steps and outputs; returns a code of `memory`."""
    count, time, size = ints(memory, at.COUNT), vec(memory, at.TIME), ints(memory, at.SIZE)
    t_eval, edges, max_step = (
        vec(memory, at.T_EVAL),
        vec(memory, at.EDGES),
        vec(memory, at.OPTION)[at.MAX_STEP],
    )
    least = 1e-20 * (edges[-1] - edges[0])
    if count[at.STARTED] == 0:
        code = start_run(memory)
        if code != at.MORE:
            return code
        count[at.STARTED], count[at.FIRST] = 1, 1
        time[at.CONTRACTION] = 1.0
    while True:
        budget = write_rows(memory, budget)
        if budget < 0:
            return at.CONSTRAINTS
        if count[at.ROW] == t_eval.size:
            return at.FINISHED
        if budget == 0:
            return at.MORE
        if count[at.STEPS] + count[at.REJECTED] >= size[at.MAX_STEPS]:
            return at.TOO_MANY_STEPS
        t = time[at.T]
        if t == edges[count[at.SEGMENT] + 1]:
            row = _enter_segment(memory)
            if row >= 0:
                count[at.COMPONENT], time[at.T_FAILED] = row, t
                return at.CONSTRAINTS
        end = edges[count[at.SEGMENT] + 1]
        if time[at.H] <= 0.0:
            time[at.H] = starting_step(memory, min(max_step, end - t))
        smallest = max(10.0 * (np.nextafter(t, np.inf) - t), least)
        offered = min(max(time[at.H], smallest), max_step)
        last = t + 1.01 * offered >= end
        h = end - t if last else offered
        t_new = end if last else t + h
        if h != time[at.H_ACCEPTED]:
            count[at.FACTORED] = 0
        if not _prepare_matrices(memory, t, h):
            count[at.COMPONENT], time[at.T_FAILED] = -1, t
            return at.NOT_FINITE

        budget -= 1
        what = _trial(memory, t, t_new, h)
        error = time[at.ERROR_NOW]
        safety = SAFETY * (2 * MOST_ITERATIONS + 1) / (2 * MOST_ITERATIONS + count[at.ITERATIONS])
        if what == ACCEPTED:
            factor = _next_step(memory, h, error, safety)
            accept(memory, t, t_new, h)
            count[at.STEPS] += 1
            count[at.FIRST], count[at.AFTER_REJECTION], count[at.HISTORY], count[at.FRESH] = 0, 0, 1, 0
            if last:
                time[at.H] = max(h * factor, offered)
            elif 1.0 <= factor <= KEEP_BELOW and time[at.RATE_NOW] <= SLOW:
                time[at.H] = h
            else:
                time[at.H] = h * factor
                count[at.FACTORED] = 0
            continue
        count[at.REJECTED] += 1
        count[at.FACTORED] = 0
        if what == DIVERGED:
            count[at.DIVERGED] += 1
            time[at.CONTRACTION] = 1.0
            if count[at.FRESH] == 0:
                time[at.H] = h
            else:
                time[at.CEILING], time[at.H] = 0.7 * h, 0.5 * h
                suspect_weak_rows(memory)
            count[at.AFTER_REJECTION] = 1
        else:
            count[at.AFTER_REJECTION] = 1
            time[at.H] = 0.25 * h
            if what == TOO_INACCURATE:
                time[at.H] = (
                    0.1 * h if count[at.FIRST] == 1 else h * max(MOST_SHRINKING, safety * error**-0.25)
                )
        if time[at.H] < smallest:
            count[at.COMPONENT], time[at.T_FAILED] = count[at.BLAME], t + h
            if what == BAD_NUMBER:
                return at.NOT_FINITE
            if what == BAD_CONSTRAINT:
                return at.CONSTRAINTS
            return at.NO_CONVERGENCE if what == DIVERGED else at.STEP_TOO_SMALL
