"""Event functions: what counts as a crossing of zero.

An event happens where its function e of the state changes its sign in a direction that counts. If e is zero up
to round-off at the start of a run, leaving zero is not an event: the sign just after the start counts.

The memory of an integrator that watches for them has `watched` (`Events`), whose functions are those of the state in
`stage`, and `x`, `clock`, `plan` and `counts` as all integrators do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Integer, Integers, Real, Struct
from sekant.solvers.common.landing import LEAST, PANELS, Watch, lay_out_watch, outside, turns
from sekant.solvers.common.memory import Call, call, set_time
from sekant.solvers.common.vectors import put, sign_of, take

ON_ZERO = 1e-13  # value of an event function at the start of a run, relative to its changes in the first step
LOOKS = 50  # least number of panels over a run
JUST_AFTER = 1e-3  # part of the first step after which the function has the sign with which it left zero


class Events(Struct):
    """The memory of `ne` event functions. Their intervals are those of the signs `sign_now`."""

    call: Call  # of `stage`
    which: Integer  # the event that has happened, or -1
    directions: Integers  # (ne,) in which crossings of zero are events: -1 falling, 1 rising, 0 both
    watch: Watch
    sign: Integers  # at the start of the step; 0: on zero
    sign_now: Integers  # at the end of the part without events
    theta: Real  # part of a trial step at which an event happens
    length: Real  # of the last fixed step, at whose start the functions were `watch.a`


def lay_out_events(directions: NDArray[np.int64]) -> Events:
    n = directions.size
    return Events(
        which=-1,
        directions=directions,
        watch=lay_out_watch(n),
        sign=np.zeros(n, dtype=np.int64),
        sign_now=np.zeros(n, dtype=np.int64),
    )


@inner
def events_at(run, t):
    """Event functions of the state in `run.stage` at time t."""
    set_time(run.clock, t)
    call(run.watched.call)


@inner
def hold_sign(events, i, sign):
    """Watch event i for leaving this sign."""
    w, direction = events.watch, events.directions[i]
    events.sign_now[i] = sign
    w.low[i] = LEAST if sign > 0 else -inf
    w.high[i] = -LEAST if sign < 0 else inf
    w.counts[i] = 1 if direction == 0 or direction == -sign else 0


@inner
def happened(events):
    """The first event that has happened according to the values of the functions, or -1."""
    w = events.watch
    for i in range(w.value.size):
        if w.counts[i] != 0 and outside(w, i, w.value[i]) != 0:
            return i
    return -1


@inner
def pass_on(events):
    """Adopt the signs of the values; those at zero keep their signs."""
    for i in range(events.sign.size):
        if events.watch.value[i] != 0.0:
            hold_sign(events, i, sign_of(events.watch.value[i]))


@inner
def pass_by(run, watch):
    """Like `pass_on`, for crossings that do not count."""
    pass_on(run.watched)


@inner
def carry_signs(events):
    """Begin a step with the values of the functions and their signs."""
    pass_on(events)
    for i in range(events.sign.size):
        events.watch.start[i], events.sign[i] = events.watch.value[i], events.sign_now[i]


@inner
def take_signs(events):
    """Reset the signs to those at the start of the step."""
    for i in range(events.sign.size):
        hold_sign(events, i, events.sign[i])


@inner
def jumps_over(events):
    """The first event whose function has jumped to the other side since the step began, or -1.

    When a step ends exactly at a switch, the watched functions may jump with it.
    """
    take_signs(events)
    return happened(events)


@inner
def look_at_events(run):
    """Signs of the event functions where a segment begins, at `run.x`; `watched.which`: an event that has
    jumped over zero since the end of the last segment."""
    take(run.stage, run.x, 0)
    events_at(run, run.clock.t)
    run.watched.which = happened(run.watched)
    carry_signs(run.watched)


@inner
def panels_of(run, h):
    """Number of parts of a step of length h that are searched for events.

    A step that is a large part of the run is searched at every hundredth of the run: simple motions have long
    steps, and a function of the motion, such as a distance, may cross zero twice within a step.
    """
    span = run.plan.edges[run.plan.edges.size - 1] - run.plan.edges[0]
    return max(PANELS, min(int(LOOKS * h / span) + 1, LOOKS))


def suspecting(look: Callable[..., Any]) -> Any:
    """The first check of a step of an adaptive method; `look` as for `landing`."""

    @inner
    def leave_zero(run, t, h, how):
        """Signs of event functions that begin on zero: those just after the start of the first step."""
        w, sign = run.watched.watch, run.watched.sign
        look(run, w, t, h, JUST_AFTER, how)
        for i in range(sign.size):
            largest = max(abs(w.middle[i] - w.start[i]), abs(w.b[i] - w.start[i]))
            if abs(w.start[i]) <= ON_ZERO * largest:
                sign[i] = sign_of(w.value[i])

    @inner
    def suspicious(run, t, h, how):
        """Whether an event function leaves its sign on the step, according to the start, ``w.middle`` and ``w.b``."""
        w = run.watched.watch
        put(w.a, 0, w.start)
        if run.counts.steps == 0:
            leave_zero(run, t, h, how)
        take_signs(run.watched)
        found = False
        for i in range(w.value.size):
            found = found or outside(w, i, w.middle[i]) != 0 or outside(w, i, w.b[i]) != 0
        return found or turns(w, 0.0, 0.5, 1.0)

    return suspicious
