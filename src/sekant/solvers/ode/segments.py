"""The start of a segment: samples are taken, and event functions are evaluated, because both may jump there."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.events import look_at_events
from sekant.solvers.common.memory import call, open_segment, set_time
from sekant.solvers.common.vectors import take


@inner
def _take_sample(run):
    """Replace the held values in p by the results of the sampling function."""
    p, first, fresh, rows = run.p, run.held.first, run.held.fresh, run.held.rows
    set_time(run.clock, run.clock.earliest)
    call(run.held.call)
    for j in range(fresh.size):
        p[first + j] = fresh[j]
        if run.clock.segment == 0:  # the start, whose row is already written
            rows[0, j] = fresh[j]


@inner
def enter_segment(run, number):
    """Enter this segment at `run.x`; `run.watched.which` is the event that this has caused, or -1."""
    open_segment(run.clock, run.plan, number)
    if run.held.sampled[number] == 1:
        _take_sample(run)
    if run.watched.call.function != 0:
        look_at_events(run)


@inner
def keep_held(run, row):
    """Write the held values that belong to an output."""
    rows, p, first = run.held.rows, run.p, run.held.first
    take(rows[row], p, first)
