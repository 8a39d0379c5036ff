"""Events of the fixed-step methods: a step over which one happens is shortened so that it ends there.

The length is found to round-off of time with steps of the method itself, from the state before. An event function
that leaves its sign and comes back within one step is not seen.
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.vectors import put
from sekant.solvers.ode.events import (
    JUST_AFTER,
    MOST_HALVINGS,
    ON_ZERO,
    events_at,
    happened,
    next_guess,
    pass_on,
    sign_of,
)
from sekant.solvers.ode.kernels import take_steps


@inner
def _step_again(run, kernel, t, h):
    """Take the step from `run.x_old` at t again with another length, and look at the events; False: it failed."""
    put(run.x, 0, run.x_old)
    if take_steps(run, kernel, t, 0, 1, h) != 1:
        return False
    put(run.stage, 0, run.x)
    events_at(run, t + h)
    return True


@inner
def _leave_zero(run, kernel, t, h):
    """Signs of event functions that begin on zero: those just after the start of the first step."""
    e, start, end = run.e, run.e_start, run.e_b
    put(end, 0, e)
    good = _step_again(run, kernel, t, JUST_AFTER * h)
    for i in range(e.size):
        if abs(start[i]) <= ON_ZERO * abs(end[i] - start[i]):
            run.sign_now[i] = sign_of(e[i])
    return good and _step_again(run, kernel, t, h)


@inner
def _locate(run, kernel, t, h):
    """Shorten the step from `run.x_old` at t so that it ends where the first event happens; returns its length."""
    a, b, finest = 0.0, h, max(4e-16 * abs(t), 1e-15 * h)
    weight_a, weight_b, last = 1.0, 1.0, 0
    put(run.e_a, 0, run.e_start)
    put(run.e_b, 0, run.e)
    for _ in range(MOST_HALVINGS):
        guess = next_guess(run, a, b, finest, weight_a, weight_b, last)
        if b - a <= finest or guess == a or not _step_again(run, kernel, t, guess):
            break
        if happened(run) >= 0:
            b = guess
            put(run.e_b, 0, run.e)
            weight_a, weight_b, last = 0.5 * weight_a if last > 0 else 1.0, 1.0, 1
        else:
            a = guess
            put(run.e_a, 0, run.e)
            weight_a, weight_b, last = 1.0, 0.5 * weight_b if last < 0 else 1.0, -1
    _step_again(run, kernel, t, b)
    put(run.e, 0, run.e_b)
    return b


@inner
def end_at_event(run, kernel, t, h):
    """Look at the step that was taken from `run.x_old` at t; returns its length, shortened if an event happened.

    `run.which`: the event, or -1.
    """
    put(run.stage, 0, run.x)
    events_at(run, t + h)
    if run.steps == 0 and not _leave_zero(run, kernel, t, h):
        return h
    if happened(run) >= 0:
        h = _locate(run, kernel, t, h)
        run.which = happened(run)
    pass_on(run)
    put(run.e_start, 0, run.e)
    return h
