"""Events that set states and held values, and may trigger others, in compiled code.

Events whose functions have crossed zero together happen simultaneously and use the values before. The values
they set may make other functions jump over zero; these events happen next, until none is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner, procedure
from sekant.loops.declare.structs import Integer, Integers, Struct, Vector
from sekant.solvers.common.memory import Call, CompiledFunction, call, call_at

SETTLED, ENDLESS = range(2)
"""Return codes of procedures: no event is left, or events trigger one another without end."""
MOST_AT_ONCE = 50  # largest number of successive events at one instant


class EventCascade(Struct):
    """A point (t, q, v, z, p) and the events that happen there, which change z and held values in p."""

    t: Vector
    q: Vector
    v: Vector
    z: Vector
    p: Vector
    direction: Integers  # (n,) -1 falling, 1 rising, 0 both
    level: Integers  # 1: it happens at the start if its function is beyond zero already
    stops: Integers  # 1: the run ends with it
    first: Integers  # (n + 1,) range of `target` that each event sets
    target: Integers  # (m,) indices in z, or, from nz on, in p
    value: Vector  # (n,) of the functions
    fresh: Vector  # (m,) values to set
    at_value: Call
    at_fresh: Call
    sign: Integers  # (n,) of the functions, before
    due: Integers  # 1: it happens now
    states: Integer  # entries of z
    stopped: Integer  # the event that ends the run, or -1
    blame: Integer  # an event that triggers others without end


def lay_out_cascade(
    point: Sequence[NDArray[np.float64]],
    value_of: CompiledFunction,
    fresh_of: CompiledFunction | None,
    states: int,
    **events: NDArray[np.int64],
) -> EventCascade:
    """`point`: the arrays t, q, v, z, p to work on. Functions of (t, q, v, z, p): `value_of` -> (n,), `fresh_of` ->
    (m,), None if nothing is set. `events`: the fields `direction`, `level`, `stops`, `first` and `target`."""
    value, fresh = np.zeros(events["direction"].size), np.zeros(events["target"].size)
    return EventCascade(
        **dict(zip("tqvzp", point, strict=True)),
        **events,
        value=value,
        fresh=fresh,
        at_value=call_at(value_of, point, [value]),
        at_fresh=call_at(fresh_of, point, [fresh]),
        sign=np.zeros(value.size, dtype=np.int64),
        due=np.zeros(value.size, dtype=np.int64),
        states=states,
        stopped=-1,
        blame=-1,
    )


@inner
def _sign_of(value):
    """Sign of a value; zero counts as positive."""
    return -1 if value < 0.0 else 1


@inner
def _happen(m):
    """Perform all events that are due, using the values before."""
    if m.at_fresh.function != 0:
        call(m.at_fresh)
    for i in range(m.due.size):
        if m.due[i] == 1:
            for k in range(m.first[i], m.first[i + 1]):
                if m.target[k] < m.states:
                    m.z[m.target[k]] = m.fresh[k]
                else:
                    m.p[m.target[k] - m.states] = m.fresh[k]
            if m.stops[i] == 1:
                m.stopped = i


@inner
def _cascade(m, level_only):
    """Perform all events whose functions no longer have the signs `sign`, until none is left."""
    for _ in range(MOST_AT_ONCE):
        call(m.at_value)
        count = 0
        for i in range(m.sign.size):
            here = _sign_of(m.value[i])
            counts = m.direction[i] == 0 or m.direction[i] == here
            m.due[i] = 1 if m.sign[i] == -here and counts and (m.level[i] == 1 or not level_only) else 0
            if m.due[i] == 1:
                m.blame = i if count == 0 else m.blame
                count += 1
            m.sign[i] = here
        if count == 0 or m.stopped >= 0:
            return SETTLED
        _happen(m)
    return ENDLESS


@procedure(EventCascade, "events", 0.1)
def note_signs(m, a, b):
    """Store the signs of the functions at the point, before something jumps."""
    call(m.at_value)
    for i in range(m.sign.size):
        m.sign[i] = _sign_of(m.value[i])
    return SETTLED


@procedure(EventCascade, "events", 0.3)
def follow_jumps(m, starting, unused):
    """Perform events whose functions have jumped over zero since `note_signs`; `starting` (1): those with a level."""
    if starting == 1.0:
        for i in range(m.sign.size):
            m.sign[i] = -m.direction[i] if m.level[i] == 1 else 0
    return _cascade(m, starting == 1.0)


@procedure(EventCascade, "events", 0.3)
def react_to_event(m, number, unused):
    """Perform event `number` and all events whose functions have the same value, just beyond the crossing."""
    k = int(number)
    call(m.at_value)
    for i in range(m.sign.size):
        m.sign[i] = _sign_of(m.value[i])
        same = m.value[i] == m.value[k] and m.direction[i] == m.direction[k]
        m.due[i] = 1 if i == k or same else 0
        if m.due[i] == 1 and m.direction[i] != 0:
            m.sign[i] = m.direction[i]
    _happen(m)
    return _cascade(m, False)
