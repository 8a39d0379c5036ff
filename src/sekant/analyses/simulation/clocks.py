"""Clocks of the event loop (jumps in time, samples, delays), and the clocks and reactors that a system needs.

The procedures of `sekant.solvers.instants` compute the samples, and store and replay the delayed signals.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import Clock, Instant, Reactor
from sekant.analyses.simulation.instants import clocks_memory
from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.loops.store.objects import prepare
from sekant.solvers.instants.delay_lines import SMOOTH, hold_twice_as_many
from sekant.solvers.instants.instants import (
    end_stretch,
    keep_point,
    kink_at,
    look_at_inputs,
    pass_stop,
    start_instants,
)

Floats = NDArray[np.float64]
FOLLOWS = 10.0
"""Largest error of the polynomials of a delay, relative to the tolerance, that gives no warning."""


class TimeStops(Clock):
    """Times at which something that depends only on time jumps or kinks. The clock changes no values; it stops the
    loop so that reactors are called."""

    def __init__(self, stops: Sequence[float]):
        self._stops, self._next = sorted(set(stops)), 0

    def next_stop(self) -> float:
        return self._stops[self._next] if self._next < len(self._stops) else np.inf

    def _passed_by(self, t: float) -> int:
        return bisect_right(self._stops, t + 1e-12 * max(abs(t), 1.0))

    def kink(self, t: float) -> int:
        return SMOOTH if self._passed_by(t) == self._next else 0

    def struck(self, before: Instant, now: Instant) -> Instant:
        self._next = self._passed_by(now.t)
        return now


class SamplesAndDelays(Clock):
    """Samples and delays. All samples at the same time use the values before that time. This clock comes first."""

    def __init__(self, system: System):
        prepare(start_instants, pass_stop, kink_at, look_at_inputs, keep_point, end_stretch)
        self._system, self._memory, self._started = system, clocks_memory(system), False
        self._delaying = bool(self._memory.delaying)

    def __copy__(self) -> SamplesAndDelays:
        """A copy with its own memory, for a run that continues from here."""
        other = SamplesAndDelays(self._system)
        other._started, here, there = self._started, self._memory, other._memory
        if self._delaying:
            while there.delays.begin.shape[1] < here.delays.begin.shape[1]:
                hold_twice_as_many(there.delays)
        here.copy_to(there)
        return other

    def next_stop(self) -> float:
        return self._memory.next

    def kink(self, t: float) -> int:
        return kink_at(self._memory, t)

    def struck(self, before: Instant, now: Instant) -> Instant:
        m = self._memory
        before.write_to(m)
        if self._started:
            pass_stop(m)
        else:
            start_instants(m)
        self._started = True
        return replace(now, p=m.p[: now.p.size].copy())

    def nodes(self, begin: float, end: float) -> Floats:
        s = self._memory.delays.nodes if self._delaying else np.zeros(0)
        return 0.5 * (begin + end) + 0.5 * (end - begin) * s

    def passed(self, start: Instant, end: float, t: Floats, x: Floats, kink: int) -> None:
        if not self._delaying:
            return
        m, nq = self._memory, start.q.size
        start.write_to(m)
        nv, nz = start.v.size, start.z.size
        seen, q, v, z = m.t, m.q[:nq], m.v[:nv], m.z[:nz]
        for time, row in zip(t.tolist(), x, strict=True):
            seen[0], q[:], v[:], z[:] = time, row[:nq], row[nq : nq + nv], row[nq + nv :]
            look_at_inputs(m)
            keep_point(m, time)
        if m.delays.count.max() == m.delays.begin.shape[1]:
            hold_twice_as_many(m.delays)
        end_stretch(m, end, float(kink))

    def warnings(self, rtol: float) -> tuple[AnalysisWarning, ...]:
        """Warnings about delays whose polynomials did not follow their inputs."""
        lines = self._memory.delays if self._delaying else None
        return tuple(
            AnalysisWarning(
                "delay_interpolation",
                f"signal '{one.owner}'",
                f"t = {lines.worst[i]:.6g} s",
                f"the polynomials that store the delayed input deviate from it by up to {lines.error[i]:.2g} (its "
                f"largest value is {lines.largest[i]:.3g})",
                f"increase `pieces` of the delay (currently {one.pieces})",
            )
            for i, one in enumerate(self._system.reactions.delayed)
            if lines and lines.error[i] > FOLLOWS * rtol * max(lines.largest[i], 1e-300)
        )


def reactors_of(system: System) -> list[Reactor]:
    """The reactors for one run; empty if the motion has no events."""
    acts, found = system.reactions, list[Reactor]()
    if acts.bound_forces:
        from sekant.analyses.simulation.complementarity import BoundForces

        found.append(BoundForces(system))
    if acts.events:
        from sekant.analyses.simulation.declared_events import DeclaredEvents

        found.append(DeclaredEvents(system))
    return found


def clocks_of(system: System, stops: Callable[[], list[float]]) -> list[Clock]:
    """The clocks for one run; empty without samples, delays, contacts, dry friction and events.

    `stops`: finds the jumps in time (s).
    """
    acts = system.reactions
    if not (acts.sampled or acts.delayed or acts.bound_forces or acts.events):
        return []
    first = [SamplesAndDelays(system)] if acts.sampled or acts.delayed else []
    return [*first, TimeStops(stops())]
