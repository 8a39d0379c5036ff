"""Where a segment begins: samples are taken, and event functions are looked at, since both may jump there."""

from __future__ import annotations

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner
from sekant.solvers.common.vectors import put
from sekant.solvers.ode.events import carry_signs, events_at, happened


@inner
def _take_sample(run):
    """Replace the held values in p by those that the sampling function makes of the state and of p."""
    p, first, fresh, rows = run.p, run.held_first, run.held_fresh, run.held_rows
    run.clock[0] = run.earliest
    call_native(run.sampling, run.arg_sampling, run.sampling_res, run.work)
    for j in range(fresh.size):
        p[first + j] = fresh[j]
        if run.segment == 0:  # the start, whose row is written already
            rows[0, j] = fresh[j]


@inner
def _look_at_events(run):
    """Signs of the event functions; one that has jumped over zero since the end of the last segment has happened."""
    put(run.stage, 0, run.x)
    events_at(run, run.t)
    run.which = happened(run.watched)
    carry_signs(run.watched)


@inner
def enter_segment(run, number):
    """Go on in this segment from `run.x`; `run.which` says whether an event has happened by that."""
    run.segment = number
    run.earliest, run.latest = run.low[run.segment], run.high[run.segment]
    run.started = 1
    if run.sampled[run.segment] == 1:
        _take_sample(run)
    if run.events != 0:
        _look_at_events(run)


@inner
def keep_held(run, row):
    """Write the held values that belong to an output."""
    rows, p, first = run.held_rows, run.p, run.held_first
    for j in range(rows.shape[1]):
        rows[row, j] = p[first + j]
