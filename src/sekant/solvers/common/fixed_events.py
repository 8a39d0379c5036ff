"""Events of methods with fixed steps: a step over which one happens is shortened so that it ends there.

The length is found with steps of the method itself, from the state before, which ``retake(run, kernel, t, h)`` takes:
one of length h from what the run was at t, with its end in ``run.x``; it returns whether that succeeded. What turns
close to zero, by the values at the start of this step and of the last one, is looked at within the step.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.events import (
    JUST_AFTER,
    ON_ZERO,
    events_at,
    happened,
    hold_sign,
    pass_by,
    pass_on,
)
from sekant.solvers.common.landing import NONE, landing, leaves, turns
from sekant.solvers.common.vectors import put, sign_of, take


@inner
def _comes_back(run, h):
    """Whether an event function may leave its sign and come back within the step.

    By the parabola through its values at the start of the last step, of this one and at its end.
    """
    w, before = run.watched.watch, run.watched.length
    put(w.middle, 0, w.start)
    put(w.b, 0, w.value)
    return before > 0.0 and turns(w, -before / h, 0.0, 1.0)


def ending_at_events(retake: Callable[..., Any]) -> Any:
    """What shortens a step of the method that `retake` takes steps of."""

    @inner
    def _look(run, watch, t, h, theta, kernel):
        """Take the step from t again with a part of its length, and look at the events there."""
        if retake(run, kernel, t, theta * h):
            take(run.stage, run.x, 0)
            events_at(run, t + theta * h)
        else:
            for i in range(watch.value.size):
                watch.value[i] = nan

    first_exit, _, _, _ = landing(_look, pass_by)

    @inner
    def _leave_zero(run, kernel, t, h):
        """Signs of event functions that begin on zero: those just after the start of the first step."""
        events, w = run.watched, run.watched.watch
        put(w.b, 0, w.value)
        _look(run, w, t, h, JUST_AFTER, kernel)
        for i in range(w.value.size):
            if abs(w.start[i]) <= ON_ZERO * abs(w.b[i] - w.start[i]):
                hold_sign(events, i, sign_of(w.value[i]))
        _look(run, w, t, h, 1.0, kernel)

    @inner
    def end_at_event(run, kernel, t, h):
        """Look at the step that was taken from t on, with its end in `run.x`; returns its length, shortened if an
        event happened.

        `run.watched.which`: the event, or -1.
        """
        events, w = run.watched, run.watched.watch
        take(run.stage, run.x, 0)
        events_at(run, t + h)
        if run.counts.steps == 0:
            _leave_zero(run, kernel, t, h)
        length = h
        if leaves(w) or _comes_back(run, h):
            theta = first_exit(run, w, t, h, kernel, 1)
            if theta != NONE:
                length = theta * h
                _look(run, w, t, h, theta, kernel)
                put(w.value, 0, w.b)
                run.watched.which = happened(events)
            else:
                _look(run, w, t, h, 1.0, kernel)
        pass_on(events)
        put(w.a, 0, w.start)
        put(w.start, 0, w.value)
        events.length = h
        return length

    return end_at_event
