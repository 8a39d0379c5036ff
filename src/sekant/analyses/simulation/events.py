"""Runs from event to event: the one loop for contacts, friction, switching signals and samples taken in Python.

Between events the motion is smooth and the held values are constant. *Reactors* say what is watched (guards) and what
happens where a guard passes zero: they return the instant after it, with another state, other held values, or other
equations. At given times (samples, jumps of signals in time) the loop stops as well and asks them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.runs import Guards, Run, Setup, run_stretch
from sekant.engine.system import State, System
from sekant.errors import SolverError
from sekant.geometry.spatial import SX

Floats = NDArray[np.float64]
MOST_EVENTS = 100_000
COUNTS = ("steps", "rejected", "evaluations", "restarts", "landings", "jacobians", "factorizations")
JUST_BEFORE = 1e-12
"""Part of the run by which the time before a jump in time lies before it."""


@dataclass(frozen=True, eq=False)
class Instant:
    """A moment between two stretches of smooth motion.

    `system`: whose equations hold; `p` (np,): its parameters and held values. `gained`: energy (J) that elements
    have put in by a jump, by name. `stop`: why the run ends here, if it does.
    """

    system: System
    t: float
    q: Floats
    v: Floats
    z: Floats
    p: Floats
    gained: Mapping[str, float] = field(default_factory=dict)
    stop: str = ""

    @property
    def held(self) -> Floats:
        """(nh,) the held values, which stand at the end of p."""
        return self.p[self.p.size - len(self.system.equations.held_values) :]

    def place(self, name: str) -> int:
        """Where in p the held value called `name` (owner.part) stands."""
        names = [value.name for value in self.system.equations.held_values]
        return self.p.size - len(names) + names.index(name)

    def holding(self, values: Mapping[str, float]) -> Instant:
        """The same instant with some held values changed, by name (owner.part)."""
        p = self.p.copy()
        for name, value in values.items():
            p[self.place(name)] = value
        return replace(self, p=p)

    @property
    def arguments(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """(t, q, v, z, p), as functions of a system take them."""
        return np.array([self.t]), self.q, self.v, self.z, self.p


class Reactor(Protocol):
    """What changes the motion at events. One object serves one run and may remember."""

    def guards(self, system: System) -> Guards:
        """Functions of t, q, v, z, p that are watched while the equations of `system` hold."""
        ...

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """`now` with held values that belong to it, where something has jumped since `before` (None at the start)."""
        ...

    def reaction(self, now: Instant, number: int) -> Instant:
        """The instant after guard `number` of this reactor has passed zero."""
        ...

    def stats(self) -> Mapping[str, int]:
        """Counts of what happened."""
        ...


def run_with_events(
    method: str, setup: Setup, reactors: Sequence[Reactor], stops: Sequence[float] = ()
) -> Run:
    """Run from event to event. `stops`: further times (s) at which the reactors are asked.

    Rows go to `setup.on_variant` with the equations and the p that they belong to; a row at a stop is that just
    after it.
    """
    return _Loop(method, setup, reactors).run(stops)


class _Loop:
    def __init__(self, method: str, setup: Setup, reactors: Sequence[Reactor]):
        self.method, self.setup, self.reactors = method, setup, reactors
        self.begin, self.end = float(setup.times[0]), float(setup.times[-1])
        self.done = 0  # rows that have been handed on
        self.work = np.zeros(len(setup.system.work_names) if setup.balance else 0)
        self.counts: Counter[str] = Counter()
        self.events = 0

    def run(self, stops: Sequence[float]) -> Run:
        setup, system = self.setup, self.setup.system
        z = system.element_states(setup.start, setup.parameters)
        now = Instant(system, self.begin, setup.start.q, setup.start.v, z, setup.p)
        now = self._settled(now, None)
        apart = JUST_BEFORE * (self.end - self.begin)
        inner = sorted(stop for stop in set(stops) if self.begin + apart < stop < self.end - apart)
        marks = [a for a, b in pairwise([*inner, self.end]) if b - a > apart]
        for mark in [*marks, self.end]:
            while not now.stop:
                part, now = self._stretch(now, mark)
                if part.status == "event":
                    now = self._event(now, part)
                    continue
                if part.status != "finished":
                    return self._ended(part, now, part.status, part.message)
                break
            if now.stop:
                return self._stopped(now)
            if mark < self.end:
                now = self._settled(now, replace(now, t=mark - apart))
        return self._ended(part, now, "finished", "")

    def _stretch(self, now: Instant, mark: float) -> tuple[Run, Instant]:
        """Run to `mark` or to the next event; the instant there, before anything changes."""
        system, last = now.system, mark >= self.end
        rest = np.maximum(self.setup.times[self.done :], now.t)
        times = rest if last else np.append(rest[rest < mark], mark)

        def take(t: Floats, x: Floats, _: float) -> None:
            kept = t.size if last else int(np.count_nonzero(t < mark))
            self.done += kept
            reached = float(t[-1]) if t.size else now.t
            fraction = (reached - self.begin) / (self.end - self.begin)
            self.setup.on_variant(system, now.p[None, :], t[:kept], x[:kept], fraction)

        start = State(now.q, now.v, z=now.z, held=now.held)
        part = run_stretch(
            self.method,
            replace(self.setup, system=system, start=start, times=times, on_chunk=take),
            t_start=now.t,
            work=self.work,
            guards=self._guards(system),
            longest=(self.end - self.begin) / 1000,
        )
        self.counts.update({name: part.stats[name] for name in COUNTS if name in part.stats})
        self.work = part.work.copy()
        q, v, z = np.split(
            part.x_last[: system.nq + system.nv + system.nz], [system.nq, system.nq + system.nv]
        )
        return part, replace(now, t=part.t_last, q=q.copy(), v=v.copy(), z=z.copy())

    def _guards(self, system: System) -> Guards:
        """Those of all reactors, one after the other."""
        parts = [reactor.guards(system) for reactor in self.reactors]
        expressions = ca.vertcat(SX.zeros(0, 1), *[part.expressions for part in parts])
        return Guards(expressions, np.concatenate([np.zeros(0), *[part.directions for part in parts]]))

    def _event(self, before: Instant, part: Run) -> Instant:
        assert part.event is not None
        self.events += 1
        if self.events > MOST_EVENTS:
            raise SolverError(
                f"more than {MOST_EVENTS} events by t = {before.t:.9g} s; raise rest_speed of contacts, or the width "
                "of what switches"
            )
        number, now = part.event.number, before
        for reactor in self.reactors:
            count = reactor.guards(before.system).directions.size
            if 0 <= number < count:
                now = self._accounted(reactor.reaction(before, number))
                others = [other for other in self.reactors if other is not reactor]
                return self._settled(now, before, others)
            number -= count
        raise SolverError(f"event {part.event.number} belongs to nothing that is watched")

    def _settled(
        self, now: Instant, before: Instant | None, reactors: Sequence[Reactor] | None = None
    ) -> Instant:
        for reactor in self.reactors if reactors is None else reactors:
            now = self._accounted(reactor.settled(now, before))
        return now

    def _accounted(self, now: Instant) -> Instant:
        for name, energy in now.gained.items():
            if self.work.size:
                self.work[now.system.work_names.index(name)] += energy
        return replace(now, gained={})

    def _stopped(self, now: Instant) -> Run:
        """The run ends at this instant, which is its last row."""
        x = np.concatenate([now.q, now.v, now.z, self.work])
        self.setup.on_variant(now.system, now.p[None, :], np.array([now.t]), x[None, :], 1.0)
        times = np.append(self.setup.times[: self.done], now.t)
        return Run(
            times, "stopped", now.stop, now.t, x, np.nan, self._stats({}), self.work, held=now.held.copy()
        )

    def _ended(self, part: Run, now: Instant, status: str, message: str) -> Run:
        times, stats = self.setup.times[: self.done], self._stats(part.stats)
        return replace(
            part, t=times, status=status, message=message, stats=stats, event=None, held=now.held.copy()
        )

    def _stats(self, last: Mapping) -> dict:
        found = {**last, **self.counts, "events": self.events}
        for reactor in self.reactors:
            found.update(reactor.stats())
        return found
