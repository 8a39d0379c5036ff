"""DOP853: Dormand-Prince pair of order 8 with error estimates of order 5 and 3 and dense output of order 7.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., sections II.4 to II.6 and II.10.
Deviations: a trial step in which a number is not finite (in a stage, the slope at its end, the dense output)
is repeated with a quarter of the step; a third estimate of the error, see `dop853_stages.error_norm`; if
outputs lie within a step, the error of the dense output is tested as well; after a stop, the last step that
was not shortened is tried first; steps end where a table or a switch of the right-hand side changes its mode,
see `dop853_landing`.
"""

from __future__ import annotations

from math import inf

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.events import carry_signs, events_at, jumps_over
from sekant.solvers.common.landing import NEGLIGIBLE, endless
from sekant.solvers.common.memory import LARGEST_STATE
from sekant.solvers.common.outcome import (
    CHATTERING,
    CONSTRAINTS,
    EVENT,
    FINISHED,
    MORE,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)
from sekant.solvers.common.vectors import normalize, put
from sekant.solvers.ode.dop853_events import NO_DENSE_OUTPUT, NO_EVENT, end_at_event, find_event
from sekant.solvers.ode.dop853_landing import (
    CHATTERS,
    CLOSE,
    FLIPPED,
    LANDED,
    REPEAT,
    UNCHANGED,
    watch,
)
from sekant.solvers.ode.dop853_modes import BEYOND, aim, rates, start_modes
from sekant.solvers.ode.dop853_stages import (
    EXPONENT,
    MAX_FACTOR,
    dense_error,
    dense_is_exact,
    error_norm,
    evaluate,
    interpolate,
    prepare_dense,
    set_stage,
    starting_step,
)
from sekant.solvers.ode.dop853_tableau import N_STAGES, C
from sekant.solvers.ode.memory import Run
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.segments import enter_segment, keep_held

# Run.phase: modes and the slope of stage 0 must be evaluated, only the slope must be evaluated, the slope
# must be copied from stage 12, or it is available.
FRESH, SWITCHED, CARRY, READY = range(4)
SAFETY, MIN_FACTOR = 0.9, 1.0 / 3.0
NOT_FINITE_FACTOR = 0.25
MOST_AHEAD = 4.0
SUCCESSOR, LEAST = 2.0**-53 * (1.0 + 2.0**-52), 5e-324


@inner
def _trial(run, t, h):
    """One trial step from (t, x): returns the first index that is not finite, or -1; sets `run.step.error`.

    The index is n if the end of the step cannot be projected. The end of the step is left in `run.x_old`
    (exchanged with x on acceptance), its slope in k[12].
    """
    step = run.step
    end, stage = run.x_old, run.stage
    step.error = inf
    for s in range(1, N_STAGES):
        set_stage(run, h, s)
        bad = evaluate(run, t + C[s] * h, s)
        if bad >= 0:
            return bad
    set_stage(run, h, N_STAGES)
    for j in range(end.size):
        if not abs(stage[j]) < LARGEST_STATE:
            return j
    step.error = error_norm(run, h)
    if step.error > 1.0:
        return -1
    normalize(stage, run.blocks)
    put(end, 0, stage)
    if run.projection.held.function != 0:
        if not project(run, run.projection.held, end, t + h):
            return end.size
        put(stage, 0, end)
    bad = evaluate(run, t + h, N_STAGES)
    if bad < 0 and step.wanted == 1:
        bad = prepare_dense(run, t, h)
        within = dense_error(run)
        if within > 1.0:
            step.stiff = 1
        if step.stiff == 1:
            step.error = max(step.error, within)
    return bad


@inner
def _write_rows(run, budget):
    """Write the outputs before the present time, at most `budget` of them; returns the budget left.

    They lie inside the last step, at whose end modes may have changed: each is projected with the modes that
    apply to it. Returns -1 if an output cannot be projected.
    """
    clock = run.clock
    t, t_eval, rows, saved = clock.t, run.plan.t_eval, run.rows, run.saved
    while budget > 0 and clock.row < t_eval.size and t_eval[clock.row] < t:
        row = clock.row
        interpolate(run, run.x_old, (t_eval[row] - run.step.start) / run.step.length, saved)
        normalize(saved, run.blocks)
        if run.projection.held.function != 0 and not project(run, run.projection.free, saved, t_eval[row]):
            run.failed.t = t_eval[row]
            return -1
        put(rows[row], 0, saved)
        keep_held(run, row)
        clock.row += 1
        budget -= 1
    return budget


@inner
def _spacing(t):
    """Distance from t to the next larger number (Rump, Zimmermann, Boldo, Melquiond: BIT 49, 2009, 419-431)."""
    return (t + (SUCCESSOR * abs(t) + LEAST)) - t


@inner
def _begin(run, t, end):
    """Evaluate the slope at the start of a step and, if missing, the modes and the first step; returns -1 or
    a bad index."""
    step = run.step
    x, k, stage = run.x, run.k, run.stage
    if step.phase == CARRY:
        put(k[0], 0, k[N_STAGES])
    elif step.phase != READY:
        if run.guards.function != 0 and step.phase == FRESH:
            start_modes(run, t)
        put(stage, 0, x)
        bad = evaluate(run, t, 0)
        if bad >= 0:
            return bad
        if step.h <= 0.0:
            step.h = starting_step(run, t, min(run.plan.max_step, end - t))
    if run.guards.function != 0 and step.phase != READY:
        rates(run, t, min(step.h, end - t))
    step.phase = READY
    return -1


@inner
def _accept(run, t, t_new, h, offered, whole):
    """Exchange the states, and choose the next step. `whole`: the trial did not end at a stop.

    After a step that was aimed at a break, the original proposal is tried again, but at most a few times the
    step that was taken: beyond a break, the error of the last steps is a poor guide.
    """
    step = run.step
    x, x_old, error = run.x, run.x_old, step.error
    for j in range(x.size):
        x[j], x_old[j] = x_old[j], x[j]
    run.clock.t, step.start, step.length = t_new, t, h
    factor = min(MAX_FACTOR, max(MIN_FACTOR, SAFETY * error**-EXPONENT)) if error > 0.0 else MAX_FACTOR
    if step.after_rejection == 1:
        factor = min(factor, 1.0)
    step.h = h * factor if whole else max(h * factor, offered)
    if step.aimed == 1:
        step.h = max(h * factor, min(max(offered, step.kept), MOST_AHEAD * (t_new - t)))
    step.kept = 0.0
    step.after_rejection = 0
    run.counts.steps += 1


@inner
def _reject(run, t, h, bad, smallest):
    """Shorten the step after a failed trial; returns MORE, or the code with which the run ends."""
    step = run.step
    run.counts.rejected += 1
    step.after_rejection = 1
    step.kept = 0.0
    if bad >= 0:
        step.h = h * NOT_FINITE_FACTOR
    else:
        step.h = h * max(MIN_FACTOR, SAFETY * step.error**-EXPONENT)
    if step.h >= smallest:
        return MORE
    run.failed.t = t + h
    if bad == run.x.size:
        return CONSTRAINTS
    run.failed.component = bad if bad >= 0 else step.worst
    return NOT_FINITE if bad >= 0 else STEP_TOO_SMALL


@inner
def _judge(run, t, t_new, h, offered, last, smallest):
    """Accept a successful trial unless sites or events prevent it; returns whether the run can continue."""
    step, counts, watched = run.step, run.counts, run.watched
    event = find_event(run, t, h) if watched.call.function != 0 else NO_EVENT
    far = event >= 0 and watched.theta < CLOSE and h > smallest
    if event == NO_DENSE_OUTPUT or (far and not dense_is_exact(run, watched.theta, NEGLIGIBLE)):
        counts.rejected += 1
        step.h = h * (min(watched.theta * BEYOND, 0.99) if event >= 0 else NOT_FINITE_FACTOR)
        return True
    verdict = watch(run, t, h) if run.guards.function != 0 else UNCHANGED
    if verdict == CHATTERS:
        return False
    if verdict == FLIPPED:
        step.phase = SWITCHED
        counts.rejected += 1
    elif verdict == REPEAT:
        counts.rejected += 1
        step.kept = max(h, step.kept)
        step.h = h * min(step.theta * BEYOND, 0.99)
    elif verdict == LANDED and (event < 0 or step.theta <= watched.theta):
        _accept(run, t, t + step.theta * h, h, offered, not last)
        counts.landings += 1
        step.phase = SWITCHED
        if watched.call.function != 0:
            put(run.stage, 0, run.x)
            events_at(run, run.clock.t)
            jumped = jumps_over(run.watched)
            if jumped >= 0:
                watched.which = jumped
                step.phase = FRESH
            else:
                carry_signs(run.watched)
    elif event >= 0 and not end_at_event(run, t, h):
        counts.rejected += 1
        step.h = h * NOT_FINITE_FACTOR
    elif event >= 0:
        watched.which = event
        _accept(run, t, t + watched.theta * h, h, offered, not last)
        step.phase = FRESH
    else:
        _accept(run, t, t_new, h, offered, not last)
        step.phase = CARRY
        if watched.call.function != 0:
            carry_signs(run.watched)
    return True


@inner
def _arrive(run):
    """Write outputs and enter a segment that begins here; returns MORE, or a code with which to leave the loop."""
    clock, step, counts, plan = run.clock, run.step, run.counts, run.plan
    edges, t_eval = plan.edges, plan.t_eval
    if clock.started == 0:
        enter_segment(run, 0)
    if clock.t == edges[clock.segment + 1] and run.watched.which < 0 and clock.segment + 2 < edges.size:
        counts.restarts += 1
        step.phase = FRESH
        enter_segment(run, clock.segment + 1)
    if clock.row < t_eval.size and t_eval[clock.row] == clock.t:
        put(run.rows[clock.row], 0, run.x)
        keep_held(run, clock.row)
        clock.row += 1
    if run.watched.which >= 0:
        return EVENT
    if clock.row == t_eval.size:
        return FINISHED
    if counts.steps + counts.rejected >= plan.max_steps:
        return TOO_MANY_STEPS
    code = endless(step.pace, run.counts, clock.t, edges[edges.size - 1])
    if code == STEP_TOO_SMALL:
        run.failed.t, run.failed.component = clock.t, step.worst
    return code


@procedure(Run, "Dormand-Prince integrator", 0.8)
def advance(run, a, b):
    """Take at most `a` trial steps and outputs; returns a code of `memory`."""
    clock, step, plan = run.clock, run.step, run.plan
    budget, t_eval, edges = int(a), plan.t_eval, plan.edges
    least = 1e-20 * (edges[edges.size - 1] - edges[0])
    while True:
        budget = _write_rows(run, budget)
        if budget <= 0:
            return CONSTRAINTS if budget < 0 else MORE
        code = _arrive(run)
        if code != MORE:
            return code
        t, end = clock.t, edges[clock.segment + 1]
        bad = _begin(run, t, end)
        if bad >= 0:
            run.failed.component, run.failed.t = bad, t
            return NOT_FINITE
        smallest = max(10.0 * _spacing(t), least)
        offered = min(max(step.h, smallest), plan.max_step)
        h = offered
        if run.guards.function != 0:
            h = max(aim(run, offered), smallest)
            step.aimed = 1 if h < offered or step.kept > 0.0 else 0
        last = t + 1.01 * h >= end
        h = end - t if last else h
        t_new = end if last else t + h
        step.wanted = 1 if t_eval[clock.row] < t_new else 0
        bad = _trial(run, t, h)
        budget -= 1
        if step.error <= 1.0 and bad < 0:
            if not _judge(run, t, t_new, h, offered, last, smallest):
                return CHATTERING
        else:
            code = _reject(run, t, h, bad, smallest)
            if code != MORE:
                return code
