"""Radau IIA of order 5 with variable steps on systems of index 3: the time loop.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., section IV.8: step size control with
Gustafsson's predictor, use of one factorization over several steps, start of Newton's iteration by
extrapolation. Deviations: q and v are projected on the constraints at the end of every step; the Jacobian is
evaluated again whenever the matrices are factored again, because it is cheaper.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.events import carry_signs, look_at_events
from sekant.solvers.common.landing import endless
from sekant.solvers.common.memory import open_segment
from sekant.solvers.common.outcome import (
    CONSTRAINTS,
    EVENT,
    FINISHED,
    MORE,
    NO_CONVERGENCE,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)
from sekant.solvers.dae.active_rows import suspect_weak_rows
from sekant.solvers.dae.memory import DaeMemory
from sekant.solvers.dae.outputs import start_run, write_rows
from sekant.solvers.dae.radau_events import NO_STEP, find_event
from sekant.solvers.dae.radau_landing import REPEAT, STANDS, settle, watch
from sekant.solvers.dae.radau_newton import MOST_ITERATIONS
from sekant.solvers.dae.radau_step import accept, restart, starting_step
from sekant.solvers.dae.radau_trial import (
    ACCEPTED,
    BAD_CONSTRAINT,
    BAD_NUMBER,
    DIVERGED,
    TOO_INACCURATE,
    prepare_matrices,
    trial,
)

EPSILON = 2.0**-52  # of double precision
SAFETY, MOST_GROWTH, MOST_SHRINKING = 0.9, 8.0, 0.2
KEEP_BELOW = 1.2  # a step factor between 1 and this does not justify a new factorization
SLOW = 0.02  # contraction of Newton's iteration above which the matrices are computed again
GOOD_RATE = 0.3  # target contraction, which grows like the square of the step
CEILING_GROWTH = 1.1  # growth of the bound on steps after a divergence


@inner
def _next_step(memory, h, error, safety):
    """Factor of the next step after an accepted one (IV.8.21), (IV.8.25); stores what the next call needs."""
    step = memory.step
    error = max(error, 1e-10)
    factor = min(MOST_GROWTH, safety * error**-0.25)
    if step.history == 1:
        ratio = (h / step.h_accepted) * (step.error_accepted / error) ** 0.25 * error**-0.25
        factor = min(factor, SAFETY * ratio)
    if step.after_rejection == 1:
        factor = min(factor, 1.0)
    if memory.newton.rate > 0.0:
        factor = min(factor, max(0.5, sqrt(GOOD_RATE / memory.newton.rate)))
    step.ceiling *= CEILING_GROWTH
    factor = min(factor, step.ceiling / h)
    step.h_accepted, step.error_accepted = h, max(1e-2, error)
    return max(MOST_SHRINKING, factor)


@inner
def _enter_segment(memory):
    """Continue after a stop; returns the same as `restart`."""
    step, newton = memory.step, memory.newton
    open_segment(memory.clock, memory.plan, memory.clock.segment + 1)
    memory.counts.restarts += 1
    step.first, step.history, newton.factored, newton.fresh = 1, 0, 0, 0
    newton.contraction, step.turning = 1.0, 0
    row = _begin(memory)
    if row < 0 and memory.watched.call.function != 0:
        look_at_events(memory)
    return row


@inner
def _begin(memory):
    """Find a consistent state and, if there are sites, its modes; returns the same as `restart`."""
    clock = memory.clock
    row = restart(memory, clock.t)
    if row < 0 and memory.guards.function != 0:
        settle(memory, clock.t, 1.0)
        row = restart(memory, clock.t)
    return row


@inner
def _stuck(memory, row):
    """The code for the result of `restart`: a constraint that is not satisfied, or no finite accelerations."""
    memory.failed.t = memory.clock.t
    if row >= memory.lam_now.size:
        memory.failed.component = -1
        return NOT_FINITE
    memory.failed.component = row
    return CONSTRAINTS


@inner
def _turn(memory):
    """Continue in new modes from the end of a step: accelerations jump, so nothing of the last step is reused."""
    step, newton = memory.step, memory.newton
    memory.counts.landings += 1
    step.turning = 0
    settle(memory, memory.clock.t, 0.0)
    step.first, step.history, newton.factored, newton.fresh = 1, 0, 0, 0
    newton.contraction = 1.0
    return restart(memory, memory.clock.t)


@procedure(DaeMemory, "Radau integrator", 0.9)
def advance(memory, a, b):
    """Take at most about `a` trial steps and outputs; returns a code of `memory`."""
    clock, step, newton, counts, plan = memory.clock, memory.step, memory.newton, memory.counts, memory.plan
    watched = memory.watched
    budget = int(a)
    t_eval, edges, max_step = (
        plan.t_eval,
        plan.edges,
        plan.max_step,
    )
    least = 1e-20 * (edges[edges.size - 1] - edges[0])
    if clock.started == 0:
        code = start_run(memory)
        if code != MORE:
            return code
        clock.started, step.first = 1, 1
        newton.contraction = 1.0
        if memory.guards.function != 0:
            row = _begin(memory)
            if row >= 0:
                return _stuck(memory, row)
        if watched.call.function != 0:
            look_at_events(memory)
    while True:
        budget = write_rows(memory, budget)
        if budget < 0:
            return CONSTRAINTS
        if watched.which >= 0 and (clock.row == t_eval.size or t_eval[clock.row] > clock.t):
            return EVENT
        if clock.row == t_eval.size:
            return FINISHED
        if budget == 0:
            return MORE
        if counts.steps + counts.rejected >= plan.max_steps:
            return TOO_MANY_STEPS
        code = endless(step.pace, memory.counts, clock.t, edges[edges.size - 1])
        if code != MORE:
            memory.failed.component, memory.failed.t = step.blame, clock.t
            return code
        t = clock.t
        if step.turning == 1 and t < edges[clock.segment + 1]:
            row = _turn(memory)
            if row >= 0:
                return _stuck(memory, row)
        if t == edges[clock.segment + 1]:
            row = _enter_segment(memory)
            if row >= 0:
                return _stuck(memory, row)
            if watched.which >= 0:
                return EVENT
        end = edges[clock.segment + 1]
        if step.h <= 0.0:
            step.h = starting_step(memory, min(max_step, end - t))
        smallest = max(10.0 * EPSILON * abs(t), least)
        offered = min(max(step.h, smallest), max_step)
        stretch = 1.0 if step.kept > 0.0 else 1.01  # a step to a crossing close to the end keeps its length
        last = t + stretch * offered >= end
        h = end - t if last else offered
        t_new = end if last else t + h
        if h != step.h_accepted:
            newton.factored = 0
        if not prepare_matrices(memory, t, h):
            memory.failed.component, memory.failed.t = -1, t
            return NOT_FINITE

        budget -= 1
        step.t_trial = t_new
        what = trial(memory, t, h)
        whole = h
        if what == ACCEPTED and watched.call.function != 0:
            watched.which = find_event(memory, t, h)
            if watched.which == NO_STEP:
                watched.which, step.h = -1, max(0.5 * step.h_trial, smallest)
                newton.factored = 0
                counts.rejected += 1
                continue
            if step.h_trial < h:
                h, t_new, last = step.h_trial, step.t_trial, False
        error = step.error
        if what == ACCEPTED and memory.guards.function != 0:
            verdict = watch(memory, t, h)
            step.turning = 0 if verdict == STANDS else 1
            if verdict == REPEAT and smallest < h and step.h_trial < h:
                counts.rejected += 1
                newton.factored = 0
                if step.kept <= 0.0:
                    step.kept = whole
                step.h = max(step.h_trial, smallest)
                watched.which = -1
                continue
        safety = SAFETY * (2 * MOST_ITERATIONS + 1) / (2 * MOST_ITERATIONS + newton.iterations)
        if what == ACCEPTED:
            if h < whole and step.kept <= 0.0:
                step.kept = whole
            factor = _next_step(memory, h, error, safety)
            accept(memory, t, t_new, h)
            if watched.call.function != 0 and watched.which < 0:
                carry_signs(watched)
            counts.steps += 1
            step.first, step.after_rejection, step.history, newton.fresh = 0, 0, 1, 0
            kept, step.kept = step.kept, 0.0
            if step.turning == 1:
                step.h = max(h, kept)
            elif kept > 0.0:
                step.h = kept
                newton.factored = 0
            elif last:
                step.h = max(h * factor, offered)
            elif 1.0 <= factor <= KEEP_BELOW and newton.rate <= SLOW:
                step.h = h
            else:
                step.h = h * factor
                newton.factored = 0
            continue
        counts.rejected += 1
        newton.factored = 0
        if what == DIVERGED:
            newton.contraction = 1.0
            if newton.fresh == 0:
                step.h = h
            else:
                step.ceiling, step.h = 0.7 * h, 0.5 * h
                step.history = 0  # the last step's polynomial ends off the constraints
                suspect_weak_rows(memory)
            step.after_rejection = 1
        else:
            step.after_rejection = 1
            step.h = 0.25 * h
            if what == TOO_INACCURATE:
                step.h = 0.1 * h if step.first == 1 else h * max(MOST_SHRINKING, safety * error**-0.25)
        if step.h < smallest:
            memory.failed.component, memory.failed.t = step.blame, t + h
            if what == BAD_NUMBER:
                return NOT_FINITE
            if what == BAD_CONSTRAINT:
                return CONSTRAINTS
            return NO_CONVERGENCE if what == DIVERGED else STEP_TOO_SMALL
