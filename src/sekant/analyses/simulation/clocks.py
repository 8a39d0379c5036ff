"""Clocks of the event loop: jumps in time, and samples; and which clocks and reactors the loop of a system has."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import SMOOTH, Clock, Instant, Reactor
from sekant.analyses.simulation.sampling import samples_of
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.solvers.instants.samples import ON_TIME

Floats = NDArray[np.float64]


class _Unwatching:
    """A clock that need not know the motion and has nothing to tell."""

    def nodes(self, begin: float, end: float) -> Floats:
        return np.zeros(0)

    def passed(self, start: Instant, end: float, t: Floats, x: Floats, kink: int) -> None:
        pass

    def warnings(self, rtol: float) -> Sequence[AnalysisWarning]:
        return ()


class TimeStops(_Unwatching):
    """Times at which something jumps or kinks with time alone: nothing is changed, but reactors are asked."""

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


class ClockedValues(_Unwatching):
    """Held values that are set at regular times; all of one time from the values just before it."""

    def __init__(self, system: System, begin: float):
        self._sampled = samples_of(system)
        self._next = [
            max(0, int(np.ceil((begin - one.offset) / one.period - ON_TIME))) for one in self._sampled
        ]

    def _time(self, i: int) -> float:
        return self._sampled[i].offset + self._next[i] * self._sampled[i].period

    def next_stop(self) -> float:
        return min((self._time(i) for i in range(len(self._sampled))), default=np.inf)

    def _due(self, t: float) -> list[int]:
        return [i for i, one in enumerate(self._sampled) if self._time(i) <= t + ON_TIME * one.period]

    def kink(self, t: float) -> int:
        return 0 if self._due(t) else SMOOTH

    def struck(self, before: Instant, now: Instant) -> Instant:
        due = self._due(before.t)
        if not due:
            return now
        values = sample_function(before.system)(*before.arguments)[0].ravel()
        for i in due:
            self._next[i] += 1
        return now.holding({self._sampled[i].name: float(values[i]) for i in due})


def sample_function(system: System) -> NativeFunction:
    """(t, q, v, z, p) -> (ns,) what would be sampled."""

    def make() -> NativeFunction:
        eq = system.equations
        terms = [one.expression for one in eq.elements.sampled]
        return system.function("samples", [eq.t, eq.q, eq.v, eq.z, eq.p], [ca.vertcat(*terms)])

    return system.cached("samples", make)


def reactors_of(system: System) -> list[Reactor]:
    """For one run; none where the motion is without events."""
    acts, found = system.reactions, list[Reactor]()
    if acts.bound_forces:
        from sekant.analyses.simulation.complementarity import BoundForces

        found.append(BoundForces(system))
    if acts.events:
        from sekant.analyses.simulation.declared_events import DeclaredEvents

        found.append(DeclaredEvents(system))
    return found


def clocks_of(system: System, begin: float, stops: Callable[[], list[float]]) -> list[Clock]:
    """For one run from `begin` (s); none where nothing is sampled or delayed. `stops`: finds jumps in time (s)."""
    acts, found = system.reactions, list[Clock]()
    if not (acts.sampled or acts.delayed or acts.bound_forces or acts.events):
        return found
    from sekant.analyses.simulation.clocks import ClockedValues, TimeStops
    from sekant.analyses.simulation.delays import Delays

    if acts.sampled:
        found.append(ClockedValues(system, begin))
    if acts.delayed:
        found.append(Delays(system, begin))
    found.append(TimeStops(stops()))
    return found
