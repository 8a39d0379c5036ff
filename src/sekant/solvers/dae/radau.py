"""Radau IIA of order 5 with variable steps on systems of index 3: the time loop.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., section IV.8: step size control with
Gustafsson's predictor, use of one factorization over several steps, start of Newton's iteration by
extrapolation. Deviations: q and v are projected on the constraints at the end of every step; the Jacobian is
evaluated anew whenever the matrices are factored anew, because it costs less than they do.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.landing import endless
from sekant.solvers.common.outcome import (
    CONSTRAINTS,
    FINISHED,
    MORE,
    NO_CONVERGENCE,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)
from sekant.solvers.dae.active_rows import ALL, select_rows, suspect_weak_rows
from sekant.solvers.dae.memory import DaeMemory
from sekant.solvers.dae.outputs import start_run, write_rows
from sekant.solvers.dae.radau_error import estimate
from sekant.solvers.dae.radau_landing import REPEAT, STANDS, settle, watch
from sekant.solvers.dae.radau_newton import (
    BAD,
    CONVERGED,
    MOST_ITERATIONS,
    evaluate_jacobian,
    factorize,
    iterate,
)
from sekant.solvers.dae.radau_step import accept, end_of_step, predict, restart, starting_step

EPSILON = 2.0**-52  # of double precision
SAFETY, MOST_GROWTH, MOST_SHRINKING = 0.9, 8.0, 0.2
KEEP_BELOW = 1.2  # a factor between 1 and this is not worth a new factorization
SLOW = 0.02  # contraction of Newton's iteration beyond which the matrices are renewed
GOOD_RATE = 0.3  # contraction, which grows like the square of the step, that is aimed at
CEILING_GROWTH = 1.1  # of the bound that a divergence puts on the steps after it

# What became of a trial step.
ACCEPTED, TOO_INACCURATE, DIVERGED, BAD_NUMBER, BAD_CONSTRAINT = range(5)


@inner
def _trial(memory, t, t_new, h):
    """One trial step; returns what became of it. Sets BLAME, ERROR_NOW, ITERATIONS, RATE_NOW."""
    predict(memory, t, h)
    outcome = iterate(memory, t, h)
    if outcome != CONVERGED:
        memory.blame = _state_of(memory, memory.blame)
        return BAD_NUMBER if outcome == BAD else DIVERGED
    bad = estimate(memory, t, h)
    if bad >= 0 or not isfinite(memory.error_now):
        memory.blame = _state_of(memory, max(bad, 0))
        return BAD_NUMBER
    if memory.error_now >= 1.0:
        return TOO_INACCURATE
    row, bad = end_of_step(memory, t, t_new, h)
    memory.blame = max(row, bad)
    if row >= 0:
        return BAD_CONSTRAINT
    return BAD_NUMBER if bad >= 0 else ACCEPTED


@inner
def _state_of(memory, unknown):
    """Index in x of an unknown or row of Newton's iteration; -1 for multipliers."""
    curved = memory.curved
    if unknown < memory.nv:
        return memory.nq + unknown
    if unknown < memory.nv + curved.size:
        return curved[unknown - memory.nv]
    return -1


@inner
def _next_step(memory, h, error, safety):
    """Factor of the next step after an accepted one (IV.8.21), (IV.8.25); keeps what the next call needs."""
    error = max(error, 1e-10)
    factor = min(MOST_GROWTH, safety * error**-0.25)
    if memory.history == 1:
        ratio = (h / memory.h_accepted) * (memory.error_accepted / error) ** 0.25 * error**-0.25
        factor = min(factor, SAFETY * ratio)
    if memory.after_rejection == 1:
        factor = min(factor, 1.0)
    if memory.rate_now > 0.0:
        factor = min(factor, max(0.5, sqrt(GOOD_RATE / memory.rate_now)))
    memory.ceiling *= CEILING_GROWTH
    factor = min(factor, memory.ceiling / h)
    memory.h_accepted, memory.error_accepted = h, max(1e-2, error)
    return max(MOST_SHRINKING, factor)


@inner
def _enter_segment(memory):
    """Go on beyond a stop; returns as `restart` does."""
    window = memory.window
    memory.segment += 1
    memory.restarts += 1
    window[0], window[1] = memory.low[memory.segment], memory.high[memory.segment]
    memory.first, memory.history, memory.factored, memory.fresh = 1, 0, 0, 0
    memory.contraction, memory.turning = 1.0, 0
    return _begin(memory)


@inner
def _begin(memory):
    """Consistent state and, where there are sites, the modes that it asks for; returns as `restart` does."""
    row = restart(memory, memory.t)
    if row < 0 and memory.guards != 0:
        settle(memory, memory.t, 1.0)
        row = restart(memory, memory.t)
    return row


@inner
def _stuck(memory, row):
    """The code for what `restart` says: a constraint that is not met, or, beyond them all, no accelerations."""
    memory.t_failed = memory.t
    if row >= memory.lam_now.size:
        memory.component = -1
        return NOT_FINITE
    memory.component = row
    return CONSTRAINTS


@inner
def _turn(memory):
    """Go on in new modes from the end of a step: accelerations jump, nothing of the last step is of use."""
    memory.turns += 1
    memory.turning = 0
    settle(memory, memory.t, 0.0)
    memory.first, memory.history, memory.factored, memory.fresh = 1, 0, 0, 0
    memory.contraction = 1.0
    return restart(memory, memory.t)


@inner
def _prepare_matrices(memory, t, h):
    """Matrices for this step, if the last ones will not do; returns whether they are finite."""
    if memory.factored == 1:
        return True
    if memory.fresh == 0:
        if memory.selecting != ALL and select_rows(memory, t, 0.0) == 1:
            memory.ceiling = inf
        if not evaluate_jacobian(memory, t):
            return False
        memory.fresh = 1
    memory.factored = 1
    return factorize(memory, h, 0.0) == 0


@procedure(DaeMemory, "Radau integrator", 0.9)
def advance(memory, a, b):
    """Take at most about `a` trial steps and outputs; returns a code of `memory`."""
    budget = int(a)
    t_eval, edges, max_step = (
        memory.t_eval,
        memory.edges,
        memory.max_step,
    )
    least = 1e-20 * (edges[edges.size - 1] - edges[0])
    if memory.started == 0:
        code = start_run(memory)
        if code != MORE:
            return code
        memory.started, memory.first = 1, 1
        memory.contraction = 1.0
        if memory.guards != 0:
            row = _begin(memory)
            if row >= 0:
                return _stuck(memory, row)
    while True:
        budget = write_rows(memory, budget)
        if budget < 0:
            return CONSTRAINTS
        if memory.row == t_eval.size:
            return FINISHED
        if budget == 0:
            return MORE
        if memory.steps + memory.rejected >= memory.max_steps:
            return TOO_MANY_STEPS
        code = endless(
            memory.pace, memory.steps, memory.rejected, memory.turns, memory.t, edges[edges.size - 1]
        )
        if code != MORE:
            memory.component, memory.t_failed = memory.blame, memory.t
            return code
        t = memory.t
        if memory.turning == 1 and t < edges[memory.segment + 1]:
            row = _turn(memory)
            if row >= 0:
                return _stuck(memory, row)
        if t == edges[memory.segment + 1]:
            row = _enter_segment(memory)
            if row >= 0:
                return _stuck(memory, row)
        end = edges[memory.segment + 1]
        if memory.h <= 0.0:
            memory.h = starting_step(memory, min(max_step, end - t))
        smallest = max(10.0 * EPSILON * abs(t), least)
        offered = min(max(memory.h, smallest), max_step)
        last = t + 1.01 * offered >= end
        h = end - t if last else offered
        t_new = end if last else t + h
        if h != memory.h_accepted:
            memory.factored = 0
        if not _prepare_matrices(memory, t, h):
            memory.component, memory.t_failed = -1, t
            return NOT_FINITE

        budget -= 1
        what = _trial(memory, t, t_new, h)
        error = memory.error_now
        if what == ACCEPTED and memory.guards != 0:
            memory.t_trial = t_new
            verdict = watch(memory, t, h)
            memory.turning = 0 if verdict == STANDS else 1
            if verdict == REPEAT and smallest < h and memory.h_trial < h:
                memory.rejected += 1
                memory.factored = 0
                if memory.h_kept <= 0.0:
                    memory.h_kept = h
                memory.h = max(memory.h_trial, smallest)
                continue
        safety = SAFETY * (2 * MOST_ITERATIONS + 1) / (2 * MOST_ITERATIONS + memory.iterations)
        if what == ACCEPTED:
            factor = _next_step(memory, h, error, safety)
            accept(memory, t, t_new, h)
            memory.steps += 1
            memory.first, memory.after_rejection, memory.history, memory.fresh = 0, 0, 1, 0
            kept, memory.h_kept = memory.h_kept, 0.0
            if memory.turning == 1:
                memory.h = max(h, kept)
            elif kept > 0.0:
                memory.h = kept
                memory.factored = 0
            elif last:
                memory.h = max(h * factor, offered)
            elif 1.0 <= factor <= KEEP_BELOW and memory.rate_now <= SLOW:
                memory.h = h
            else:
                memory.h = h * factor
                memory.factored = 0
            continue
        memory.rejected += 1
        memory.factored = 0
        if what == DIVERGED:
            memory.diverged += 1
            memory.contraction = 1.0
            if memory.fresh == 0:
                memory.h = h
            else:
                memory.ceiling, memory.h = 0.7 * h, 0.5 * h
                memory.history = 0  # the last step's polynomial ends off the constraints
                suspect_weak_rows(memory)
            memory.after_rejection = 1
        else:
            memory.after_rejection = 1
            memory.h = 0.25 * h
            if what == TOO_INACCURATE:
                memory.h = 0.1 * h if memory.first == 1 else h * max(MOST_SHRINKING, safety * error**-0.25)
        if memory.h < smallest:
            memory.component, memory.t_failed = memory.blame, t + h
            if what == BAD_NUMBER:
                return NOT_FINITE
            if what == BAD_CONSTRAINT:
                return CONSTRAINTS
            return NO_CONVERGENCE if what == DIVERGED else STEP_TOO_SMALL
