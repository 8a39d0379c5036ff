"""DOP853: Dormand-Prince pair of order 8 with error estimates of order 5 and 3 and dense output of order 7.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., sections II.4 to II.6 and II.10.
Deviations: a trial step in which a number is not finite (in a stage, the slope at its end, the dense output)
is repeated with a quarter of the step; after a stop the last step that was not shortened is tried first; steps end
where a table or a switch of the right-hand side changes its mode, see `dop853_landing`.
"""

from __future__ import annotations

import numpy as np

from sekant.solvers.common.compiled import compiled, inner
from sekant.solvers.ode.dop853_landing import (
    BEYOND,
    CHATTERS,
    FLIPPED,
    LANDED,
    REPEAT,
    UNCHANGED,
    aim,
    rates,
    start_modes,
    watch,
)
from sekant.solvers.ode.dop853_stages import (
    EXPONENT,
    error_norm,
    evaluate,
    interpolate,
    prepare_dense,
    set_stage,
    starting_step,
    worst_component,
)
from sekant.solvers.ode.dop853_tableau import N_STAGES, C
from sekant.solvers.ode.memory import (
    AFTER_REJECTION,
    AIMED,
    CHATTERING,
    COMPONENT,
    CONSTRAINTS,
    FINISHED,
    H_KEPT,
    LANDINGS,
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
    THETA,
    TOO_MANY_STEPS,
    WINDOW_LANDINGS,
    WINDOW_START,
    WINDOW_TRIALS,
    H,
    T,
)
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

# Run.count[PHASE]: modes must be found and the slope in stage 0 evaluated, the slope alone must be evaluated, it is
# to be taken over from stage 12, or is in place.
FRESH, SWITCHED, CARRY, READY = range(4)
SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 1.0 / 3.0, 6.0
NOT_FINITE_FACTOR = 0.25
MOST_AHEAD = 4.0
WINDOW = 1000  # trials after which chattering is looked for
ENDLESS = 1e6  # trials that the rest of a run would take at a pace at which most of them land


@inner
def _trial(native, plan, run, t, h, low, high, wanted):
    """One trial step from (t, x): returns (error norm, first index that is not finite or -1).

    The index is n if the end of the step cannot be projected. The end of the step is left in `run.x_old`
    (exchanged with x on acceptance), its slope in k[12].
    """
    x, end = run.x, run.x_old
    for s in range(1, N_STAGES):
        set_stage(native, x, h, s)
        bad = evaluate(native, run, t + C[s] * h, s, low, high)
        if bad >= 0:
            return np.inf, bad
    set_stage(native, x, h, N_STAGES)
    for j in range(x.size):
        if not abs(native.stage[j]) < LARGEST_STATE:
            return np.inf, j
    error = error_norm(native, plan, x, h)
    if error > 1.0:
        return error, -1
    normalize(native.stage, plan.unit_blocks)
    for j in range(x.size):
        end[j] = native.stage[j]
    if native.projection != 0:
        if not project(native, plan, end, t + h, low, high):
            return error, x.size
        for j in range(x.size):
            native.stage[j] = end[j]
    bad = evaluate(native, run, t + h, N_STAGES, low, high)
    if bad < 0 and wanted:
        bad = prepare_dense(native, run, t, h, low, high)
    return error, bad


@inner
def _write_rows(native, plan, run, low, high, budget):
    """Write the outputs up to the present time, at most `budget` of them; returns the budget left.

    Returns -1 if an output cannot be projected.
    """
    count, t, t_eval = run.count, run.time[T], plan.t_eval
    while budget > 0 and count[ROW] < t_eval.size and t_eval[count[ROW]] <= t:
        row = count[ROW]
        if t_eval[row] == t:
            for j in range(run.x.size):
                run.rows[row, j] = run.x[j]
        else:
            theta = (t_eval[row] - run.time[STEP_START]) / run.time[STEP_LENGTH]
            interpolate(run.dense, run.x_old, theta, run.rows[row])
            normalize(run.rows[row], plan.unit_blocks)
            if native.projection != 0 and not project(native, plan, run.rows[row], t_eval[row], low, high):
                run.time[T_FAILED] = t_eval[row]
                return -1
        count[ROW] += 1
        budget -= 1
    return budget


@inner
def _endless(plan, run):
    """Whether, by the last thousand trials, a site changes back and forth so fast that the run would not end."""
    count, time = run.count, run.time
    trials = count[STEPS] + count[REJECTED]
    if trials - count[WINDOW_TRIALS] < WINDOW:
        return False
    many = 3 * (count[LANDINGS] - count[WINDOW_LANDINGS]) > WINDOW
    gained, left = time[T] - time[WINDOW_START], plan.edges[-1] - time[T]
    count[WINDOW_TRIALS], count[WINDOW_LANDINGS], time[WINDOW_START] = trials, count[LANDINGS], time[T]
    return many and left * WINDOW > ENDLESS * gained


@inner
def _begin(native, plan, run, t, end, low, high):
    """Slope at the start of a step, with the modes and the first step where there are none yet; -1 or a bad index."""
    count, time, x = run.count, run.time, run.x
    if count[PHASE] == CARRY:
        for j in range(x.size):
            native.k[0, j] = native.k[N_STAGES, j]
    elif count[PHASE] != READY:
        if native.guards != 0 and count[PHASE] == FRESH:
            start_modes(native, run, t, low, high)
        for j in range(x.size):
            native.stage[j] = x[j]
        bad = evaluate(native, run, t, 0, low, high)
        if bad >= 0:
            return bad
        if time[H] <= 0.0:
            time[H] = starting_step(native, plan, run, t, low, high, min(plan.max_step, end - t))
    if native.guards != 0 and count[PHASE] != READY:
        rates(native, run, t, min(time[H], end - t), low, high)
    count[PHASE] = READY
    return -1


@inner
def _accept(run, t, t_new, h, offered, error, whole):
    """Exchange the states, and choose the next step. `whole`: the trial did not end at a stop.

    After a step that was aimed at a break the one that was offered is tried again, but not more than a few times what
    has been passed: beyond a break with another law, the error of the last steps tells little.
    """
    count, time, x, x_old = run.count, run.time, run.x, run.x_old
    for j in range(x.size):
        x[j], x_old[j] = x_old[j], x[j]
    time[T], time[STEP_START], time[STEP_LENGTH] = t_new, t, h
    factor = min(MAX_FACTOR, max(MIN_FACTOR, SAFETY * error**-EXPONENT)) if error > 0.0 else MAX_FACTOR
    if count[AFTER_REJECTION] == 1:
        factor = min(factor, 1.0)
    time[H] = h * factor if whole else max(h * factor, offered)
    if time[AIMED] > 0.0:
        time[H] = max(h * factor, min(max(offered, time[H_KEPT]), MOST_AHEAD * (t_new - t)))
    time[H_KEPT] = 0.0
    count[AFTER_REJECTION] = 0
    count[STEPS] += 1


@compiled
def advance(native, plan, run, budget):
    """Take at most `budget` trial steps and outputs; returns a code of `memory`."""
    count, time, x = run.count, run.time, run.x
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
        if native.guards != 0 and _endless(plan, run):
            return CHATTERING
        t = time[T]
        if t == edges[count[SEGMENT] + 1]:
            count[SEGMENT] += 1
            count[RESTARTS] += 1
            count[PHASE] = FRESH
        segment = count[SEGMENT]
        end, low, high = edges[segment + 1], plan.low[segment], plan.high[segment]
        bad = _begin(native, plan, run, t, end, low, high)
        if bad >= 0:
            count[COMPONENT], time[T_FAILED] = bad, t
            return NOT_FINITE

        smallest = max(10.0 * (np.nextafter(t, np.inf) - t), least)
        offered = min(max(time[H], smallest), plan.max_step)
        h = offered
        if native.guards != 0:
            h = max(aim(native, run, offered), smallest)
            time[AIMED] = 1.0 if h < offered or time[H_KEPT] > 0.0 else 0.0
        last = t + 1.01 * h >= end
        h = end - t if last else h
        t_new = end if last else t + h
        wanted = t_eval[count[ROW]] < t_new
        error, bad = _trial(native, plan, run, t, h, low, high, wanted)
        budget -= 1
        if error <= 1.0 and bad < 0:
            verdict = UNCHANGED
            if native.guards != 0:
                verdict = watch(native, plan, run, t, h, low, high, wanted)
            if verdict == CHATTERS:
                return CHATTERING
            if verdict == FLIPPED:
                count[PHASE] = SWITCHED
                count[REJECTED] += 1
                continue
            if verdict == REPEAT:
                count[REJECTED] += 1
                time[H_KEPT] = max(h, time[H_KEPT])
                time[H] = h * min(time[THETA] * BEYOND, 0.99)
                continue
            landed = verdict == LANDED
            if landed:
                t_new = t + time[THETA] * h
            _accept(run, t, t_new, h, offered, error, not last)
            count[LANDINGS] += 1 if landed else 0
            count[PHASE] = SWITCHED if landed else CARRY
            continue
        count[REJECTED] += 1
        count[AFTER_REJECTION] = 1
        time[H_KEPT] = 0.0
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
            count[COMPONENT] = worst_component(native, plan, x)
            return STEP_TOO_SMALL
