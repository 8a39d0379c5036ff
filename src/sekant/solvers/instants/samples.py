"""Held values that are set at regular times. All samples at the same time use the values just before this time."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Integers, Struct, Vector
from sekant.solvers.common.memory import Call, CompiledFunction, call, call_at

ON_TIME = 1e-9
"""Part of a period within which a time counts as that of a sample."""


class SampleClock(Struct):
    """The clock of n sampled values: sample `tick` is at offset + tick period."""

    period: Vector
    offset: Vector
    place: Integers  # in p
    tick: Integers  # the next sample
    fresh: Vector  # value of a sample
    at_fresh: Call


def lay_out_samples(
    point: Sequence[NDArray[np.float64]], function: CompiledFunction, **clock: NDArray[Any]
) -> SampleClock:
    """`function`: (t, q, v, z, p) -> (n,) values; `clock`: the fields `period`, `offset` and `place`."""
    fresh = np.zeros(clock["place"].size)
    tick = np.zeros(fresh.size, dtype=np.int64)
    return SampleClock(**clock, tick=tick, fresh=fresh, at_fresh=call_at(function, point, [fresh]))


@inner
def start_samples(s, t):
    for i in range(s.tick.size):
        s.tick[i] = int(max(0.0, -floor(ON_TIME - (t - s.offset[i]) / s.period[i])))


@inner
def sample_time(s, i):
    return s.offset[i] + s.tick[i] * s.period[i]


@inner
def is_due(s, i, t):
    return sample_time(s, i) <= t + ON_TIME * s.period[i]


@inner
def next_sample(s):
    found = np.inf
    for i in range(s.tick.size):
        found = min(found, sample_time(s, i))
    return found


@inner
def samples_due(s, t):
    """Number of values that are sampled at time t."""
    count = 0
    for i in range(s.tick.size):
        count += 1 if is_due(s, i, t) else 0
    return count


@inner
def take_samples(s, t, p):
    """Set the samples that are due, from the values at the point."""
    if samples_due(s, t) > 0:
        call(s.at_fresh)
        for i in range(s.tick.size):
            if is_due(s, i, t):
                p[s.place[i]] = s.fresh[i]
                s.tick[i] += 1
