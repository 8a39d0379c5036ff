"""Event functions: what counts as a crossing of zero, and where a bracketed one is looked for next.

An event happens where its function e of the state leaves the sign that it has, in a direction that counts. A run that
begins on zero, up to round-off, leaves it without an event: the sign is then the one just after the start.
"""

from __future__ import annotations

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner

ON_ZERO = 1e-13  # value of an event function at the start of a run, relative to its changes in the first step
JUST_AFTER = 1e-3  # part of the first step after which the function has the sign with which it left zero
MOST_HALVINGS = 80


@inner
def events_at(run, t):
    """e of the state in `run.stage` at time t."""
    run.clock[0] = min(max(t, run.earliest), run.latest)
    call_native(run.events, run.arg_events, run.events_res, run.work)


@inner
def sign_of(value):
    return 1 if value > 0.0 else -1 if value < 0.0 else 0


@inner
def counts(run, i, value):
    """Whether event i has happened where its function has this value, having had the sign `run.sign_now`."""
    before, direction = run.sign_now[i], run.directions[i]
    return before != 0 and before * value <= 0.0 and (direction == 0 or direction == -before)


@inner
def happened(run):
    """The first event that has happened by the values in e, or -1."""
    for i in range(run.e.size):
        if counts(run, i, run.e[i]):
            return i
    return -1


@inner
def pass_on(run):
    """Take over the signs in e; those at zero stay what they were."""
    for i in range(run.e.size):
        if run.e[i] != 0.0:
            run.sign_now[i] = sign_of(run.e[i])


@inner
def carry_signs(run):
    """Begin a step with the values and signs in e."""
    pass_on(run)
    for i in range(run.e.size):
        run.e_start[i], run.sign[i] = run.e[i], run.sign_now[i]


@inner
def jumps_over(run):
    """The first event whose function in e has jumped to the other side since the step began, or -1.

    Where a switch is landed on, what is watched may jump with it.
    """
    for i in range(run.e.size):
        run.sign_now[i] = run.sign[i]
    return happened(run)


@inner
def next_guess(run, a, b, finest, weight_a, weight_b, last):
    """Where between a and b the first event that has happened by b is looked for; a if there is nothing between.

    Regula falsi in the form of Illinois between the values e_a and e_b, kept `finest` apart from both ends. `last`:
    to which side (1: b, -1: a) the last guess fell.
    """
    guess = b
    for i in range(run.e.size):
        if counts(run, i, run.e_b[i]):
            before, beyond = weight_a * abs(run.e_a[i]), weight_b * abs(run.e_b[i])
            guess = min(guess, a + (b - a) * before / (before + beyond)) if before > 0.0 else a
    if guess - a < 0.25 * finest or b - guess < 0.25 * finest:
        guess = a + 0.5 * (b - a)
        if last != 0:
            guess = min(a + 0.5 * finest, b) if last > 0 else b - 0.5 * finest
    if not a < guess < b:
        guess = a + 0.5 * (b - a)
    return guess if a < guess < b else a
