"""Shared code of fixed-step methods: the walk from one landing (output time or stop) to the next, and events.

Between two landings all steps have the requested length, except that the last one is shortened where the distance is
not a multiple of the step. A distance that differs from a multiple of the step by less than 1e-6 of a step
counts as a multiple: its steps are made equal, so that round-off in the output times does not cause a tiny
step. The count of steps restarts at each
landing; step i begins at ``landing + i h`` without accumulated round-off.

A step over which an event happens is shortened so that it ends there. The length is found with steps of the method
itself, from the state before, by ``retake(run, kernel, t, h)``: it takes a step of length h from the state of
the run at t, with its end in ``run.x``, and returns whether that succeeded. A function with an extremum close
to zero, estimated from its values at the start of this step and of the last one, is also evaluated within the step.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, nan
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

MULTIPLE = 1e-6


@inner
def divide(span, step):
    """Split a span into (steps of full length, their length, length of one shortened step or 0).

    A span that differs from a multiple of the step by less than 1e-6 of a step counts as a multiple: its steps
    are made equal.
    """
    ratio = span / step
    nearest = floor(ratio + 0.5)
    if nearest >= 1 and abs(ratio - nearest) <= MULTIPLE:
        return nearest, span / nearest, 0.0
    whole = floor(ratio)
    return whole, step, span - whole * step


@inner
def next_steps(run):
    """The next steps of equal length, up to the next landing at most: whether the landing ends a segment; its
    time; the number of steps up to it; origin, first, last and length h of the steps to take, where step i
    begins at origin + i h."""
    clock, plan = run.clock, run.plan
    base, i = clock.span_start, clock.span_step
    row, edge = plan.t_eval[clock.row], plan.edges[clock.segment + 1]
    at_edge = row >= edge - plan.snap
    landing = max(edge if at_edge else row, base)
    whole, h, rest = divide(landing - base, plan.step)
    total = whole + (1 if rest > 0.0 else 0)
    if i < whole:
        return at_edge, landing, total, base, i, whole, h
    return at_edge, landing, total, base + whole * h, i - whole, total - whole, rest


@inner
def count_steps(run, done, landing, total, origin, first, h):
    """Count `done` steps as taken; return whether the landing is reached, where the next ones begin."""
    clock = run.clock
    run.counts.steps += done
    clock.span_step += done
    if clock.span_step < total:
        clock.t = origin + (first + done) * h
        return False
    clock.t = clock.span_start = landing
    clock.span_step = 0
    return True


@inner
def _comes_back(run, h):
    """Whether an event function may leave its sign and come back within the step.

    Estimated by the parabola through its values at the start of the last step, of this one and at its end.
    """
    w, before = run.watched.watch, run.watched.length
    put(w.middle, 0, w.start)
    put(w.b, 0, w.value)
    return before > 0.0 and turns(w, -before / h, 0.0, 1.0)


def ending_at_events(retake: Callable[..., Any]) -> Any:
    """Shortens a step of the method whose steps `retake` takes."""

    @inner
    def _look(run, watch, t, h, theta, kernel):
        """Repeat the step from t with a part of its length, and evaluate the events there."""
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
    def ended_by_event(run, kernel, t, h):
        """Whether an event ends the step that was taken from t on, with its end in `run.x`; see `run.watched`."""
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
                events.which = happened(events)
            else:
                _look(run, w, t, h, 1.0, kernel)
        pass_on(events)
        put(w.a, 0, w.start)
        put(w.start, 0, w.value)
        events.length = h
        if events.which < 0:
            return False
        run.counts.steps += 1
        run.clock.t = t + length
        return True

    return ended_by_event
