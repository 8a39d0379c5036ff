"""Event functions: what counts as a crossing of zero.

An event happens where its function e of the state leaves the sign that it has, in a direction that counts. A run that
begins on zero, up to round-off, leaves it without an event: the sign is then the one just after the start.
"""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Integer, Integers, Real, Struct
from sekant.solvers.common.landing import LEAST, Watch, lay_out_watch, outside
from sekant.solvers.common.memory import Call, call, set_time

ON_ZERO = 1e-13  # value of an event function at the start of a run, relative to its changes in the first step
JUST_AFTER = 1e-3  # part of the first step after which the function has the sign with which it left zero


class Events(Struct):
    """The memory of `ne` event functions. Their intervals are those of the signs `sign_now`."""

    call: Call  # of `stage`
    which: Integer  # the event that has happened, or -1
    directions: Integers  # (ne,) in which crossings of zero are events: -1 falling, 1 rising, 0 both
    watch: Watch
    sign: Integers  # at the start of the step; 0: on zero
    sign_now: Integers  # up to where no event has happened
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
def sign_of(value):
    return 1 if value > 0.0 else -1 if value < 0.0 else 0


@inner
def hold_sign(events, i, sign):
    """Event i is one that leaves this sign."""
    w, direction = events.watch, events.directions[i]
    events.sign_now[i] = sign
    w.low[i] = LEAST if sign > 0 else -inf
    w.high[i] = -LEAST if sign < 0 else inf
    w.counts[i] = 1 if direction == 0 or direction == -sign else 0


@inner
def happened(events):
    """The first event that has happened by the values of the functions, or -1."""
    w = events.watch
    for i in range(w.value.size):
        if w.counts[i] != 0 and outside(w, i, w.value[i]) != 0:
            return i
    return -1


@inner
def pass_on(events):
    """Take over the signs of the values; those at zero stay what they were."""
    for i in range(events.sign.size):
        if events.watch.value[i] != 0.0:
            hold_sign(events, i, sign_of(events.watch.value[i]))


@inner
def pass_by(run, watch):
    """`pass_on` for crossings that do not count."""
    pass_on(run.watched)


@inner
def carry_signs(events):
    """Begin a step with the values of the functions and their signs."""
    pass_on(events)
    for i in range(events.sign.size):
        events.watch.start[i], events.sign[i] = events.watch.value[i], events.sign_now[i]


@inner
def take_signs(events):
    """The signs are those at the start of the step."""
    for i in range(events.sign.size):
        hold_sign(events, i, events.sign[i])


@inner
def jumps_over(events):
    """The first event whose function has jumped to the other side since the step began, or -1.

    Where a switch is landed on, what is watched may jump with it.
    """
    take_signs(events)
    return happened(events)
