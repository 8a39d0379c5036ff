"""Changes at an instant between two stretches of smooth motion, in compiled code.

*Clocks* tick at times that are known in advance: values are sampled, delays switch to their next pieces. An
*event* happens where its function crosses zero: first the events of frictions and contacts, then declared
events. An event may make the functions of others jump over zero; then these events happen as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner, procedure
from sekant.loops.declare.structs import Integer, Real, Struct, Vector
from sekant.solvers.common.cascades import ENDLESS, EventCascade, follow_jumps, note_signs, react_to_event
from sekant.solvers.common.memory import call
from sekant.solvers.complementarity.decide import DECIDED, begin, decide, follow, react
from sekant.solvers.complementarity.elements import BEYOND
from sekant.solvers.complementarity.memory import Decision
from sekant.solvers.instants.delay_lines import (
    SMOOTH,
    DelayLines,
    delayed_kink,
    end_pieces,
    keep_inputs,
    next_delay,
    start_delays,
    turn_delays,
)
from sekant.solvers.instants.samples import (
    SampleClock,
    next_sample,
    samples_due,
    start_samples,
    take_samples,
)

ENDLESS_EVENTS, FULL = 3, 4
"""Further return codes of procedures, in addition to those of `sekant.solvers.complementarity.decide`: events
trigger one another without end; a delay has no room for another piece."""
WORDS = "events, samples and delays"


class InstantMemory(Struct):
    """A point (t, q, v, z, p) and the changes there, of v, z and held values in p. The parts work on the same
    arrays; the numbers below them are 1 if there is such a part."""

    t: Vector
    q: Vector
    v: Vector
    z: Vector
    p: Vector
    bound: Decision  # frictions and contacts
    declared: EventCascade
    samples: SampleClock
    delays: DelayLines
    binds: Integer
    declares: Integer
    takes_samples: Integer
    delaying: Integer
    apart: Real  # times closer than this are one
    next: Real  # the next tick of a clock
    guards: Integer  # event functions of frictions and contacts, which come first
    last: Integer  # number of the last event among these
    last_t: Real
    again: Integer  # how often it has followed itself at one time


def lay_out_instants(
    point: Sequence[NDArray[np.float64]],
    bound: Decision | None = None,
    guards: int = 0,
    declared: EventCascade | None = None,
    samples: SampleClock | None = None,
    delays: DelayLines | None = None,
) -> InstantMemory:
    """Parts on the arrays `point`; `guards`: event functions of `bound`."""
    m = InstantMemory(**dict(zip("tqvzp", point, strict=True)), guards=guards, last=-1, next=np.inf)
    parts = {"bound": bound, "declared": declared, "samples": samples, "delays": delays}
    there = ("binds", "declares", "takes_samples", "delaying")
    for name, (field, part) in zip(there, parts.items(), strict=True):
        if part is not None:
            m.set(**{field: part, name: 1})
    return m


@inner
def _look_ahead(m):
    m.next = np.inf
    if m.takes_samples == 1:
        m.next = min(m.next, next_sample(m.samples))
    if m.delaying == 1:
        m.next = min(m.next, next_delay(m.delays))


@inner
def _note(m, t):
    """Store the signs of the functions of declared events at time t."""
    if m.declares == 1:
        now = m.t[0]
        m.t[0] = t
        note_signs(m.declared, 0.0, 0.0)
        m.t[0] = now


@inner
def _follow(m, starting):
    """Perform declared events whose functions have jumped over zero."""
    if m.declares == 1 and follow_jumps(m.declared, starting, 0.0) == ENDLESS:
        return ENDLESS_EVENTS
    return DECIDED


@inner
def _strike(m):
    """Take all samples that are due, from the values before; switch delays to their next pieces."""
    if m.takes_samples == 1:
        take_samples(m.samples, m.t[0], m.p)
    if m.delaying == 1:
        turn_delays(m.delays, m.t[0], m.p)


@procedure(InstantMemory, WORDS, 0.5)
def start_instants(m, a, b):
    """Start a run: clocks start and tick, the states of elements at rest are decided, and events with a level
    happen."""
    m.last = -1
    if m.takes_samples == 1:
        start_samples(m.samples, m.t[0])
    if m.delaying == 1:
        start_delays(m.delays, m.t[0])
    _strike(m)
    code = DECIDED
    if m.binds == 1:
        code = begin(m.bound, 0.0, 0.0)
    if code == DECIDED:
        code = _follow(m, 1.0)
    _look_ahead(m)
    return code


@procedure(InstantMemory, WORDS, 0.2)
def note_before(m, a, b):
    """Store the signs just before a point at which something outside jumps."""
    _note(m, m.t[0] - m.apart)
    return DECIDED


@procedure(InstantMemory, WORDS, 0.5)
def pass_stop(m, noted, b):
    """Process a tick of a clock or a jump in time; `noted` (1): also a jump from outside since `note_before`."""
    now = m.t[0]
    if noted == 0.0:
        _note(m, now - m.apart)
    _strike(m)
    m.t[0] = now + m.apart
    code = DECIDED
    if m.binds == 1:
        code = decide(m.bound, BEYOND, 0.0)
    if code == DECIDED:
        code = _follow(m, 0.0)
    m.t[0] = now
    _look_ahead(m)
    return code


@procedure(InstantMemory, WORDS, 0.5)
def happen_at(m, number, b):
    """Process the zero crossing of event function `number`."""
    k, code = int(number), DECIDED
    if k < m.guards:
        _note(m, m.t[0])
        m.again = m.again + 1 if m.last == k and m.last_t == m.t[0] else 0
        m.last, m.last_t = k, m.t[0]
        code = react(m.bound, number, 1.0 if m.again > 1 else 0.0)
        if code == DECIDED:
            code = _follow(m, 0.0)
    else:
        if react_to_event(m.declared, number - m.guards, 0.0) == ENDLESS:
            return ENDLESS_EVENTS
        if m.binds == 1:
            code = decide(m.bound, BEYOND, 0.0)
    return code


@procedure(InstantMemory, WORDS, 0.3)
def catch_up(m, number, b):
    """Process the changes since `note_before`: declared events (`number` -1), or function `number` of
    frictions and contacts, which is below zero."""
    if number < 0.0:
        return _follow(m, 0.0)
    return follow(m.bound, number, 0.0)


@procedure(InstantMemory, WORDS, 0.1)
def look_at_inputs(m, a, b):
    """Evaluate the inputs of delays at the point."""
    call(m.delays.at_input)
    return DECIDED


@procedure(InstantMemory, WORDS, 0.1)
def keep_point(m, t, b):
    """Store the inputs that were evaluated, as those of time t."""
    keep_inputs(m.delays, t)
    return DECIDED


@procedure(InstantMemory, WORDS, 0.2)
def kink_at(m, t, b):
    """Number of passes of the kink that clocks cause at time t."""
    kink = SMOOTH
    if m.takes_samples == 1 and samples_due(m.samples, t) > 0:
        kink = 0
    if m.delaying == 1:
        kink = min(kink, delayed_kink(m.delays, t))
    return kink


@procedure(InstantMemory, WORDS, 0.3)
def end_stretch(m, t, kink):
    """End a stretch of motion at t, whose points the delays have stored."""
    code = DECIDED if end_pieces(m.delays, t, int(kink)) else FULL
    _look_ahead(m)
    return code
