"""Runs from event to event: the loop for contacts, friction, switching signals and samples taken in Python.

Between events the motion is smooth and the held values are constant. *Reactors* define event functions and what
happens when one passes zero: they return the instant after it, with another state, other held values, or other
equations. *Clocks* define further times at which the loop stops (samples, jumps of signals in time, delays).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.problems import EventFunctions
from sekant.analyses.simulation.runs import Setup, run_stretch
from sekant.analyses.simulation.watched import event_functions_of, event_names
from sekant.engine.functions.motion import single_rates
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError
from sekant.solvers.common.outcome import Ending, Outcome

Floats = NDArray[np.float64]
MOST_EVENTS = 100_000
COUNTS = ("steps", "rejected", "evaluations", "restarts", "landings", "jacobians", "factorizations")
JUST_BEFORE = 1e-12
"""Difference between the time of a jump and the time just before it, as a fraction of the run."""


@dataclass(frozen=True, eq=False)
class Instant:
    """A moment between two stretches of smooth motion.

    `system`: the system whose equations apply; `p` (np,): its parameters and held values. `gained`: energy (J) that
    elements have added in a jump, by name. `stop`: why the run ends here, if it does; `stopped_by`: the event that
    ends it.
    """

    system: System
    t: float
    q: Floats
    v: Floats
    z: Floats
    p: Floats
    gained: Mapping[str, float] = field(default_factory=dict)
    stop: str = ""
    stopped_by: str = ""

    @property
    def held(self) -> Floats:
        """The held values (nh,), which are at the end of p."""
        return self.p[self.p.size - len(self.system.facts.held) :]

    def write_to(self, m: Any) -> None:
        """Copy this instant to the point (t, q, v, z, p) of the memory of procedures."""
        for name, values in zip("tqvzp", self.arguments, strict=True):
            getattr(m, name)[: values.size] = values

    @property
    def arguments(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """(t, q, v, z, p), the arguments of the functions of a system."""
        return np.array([self.t]), self.q, self.v, self.z, self.p


class Reactor(Protocol):
    """Changes the motion at events. An object belongs to one run and may have state."""

    def event_functions(self, system: System) -> EventFunctions:
        """Event functions of t, q, v, z, p that are watched while the equations of `system` apply."""
        ...

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """`now` with consistent held values, after something has jumped since `before` (None at the start)."""
        ...

    def reaction(self, now: Instant, number: int) -> Instant:
        """The instant after event function `number` of this reactor has passed zero."""
        ...

    def stats(self) -> Mapping[str, int]:
        """Counts of what happened."""
        return {}

    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """Warnings for the reader of the result."""
        return ()


class Clock(Protocol):
    """Changes held values at times that are known in advance. An object belongs to one run and has state."""

    def next_stop(self) -> float:
        """The next time (s) at which this clock acts; infinite if there is none."""
        ...

    def kink(self, t: float) -> int:
        """Number of delays through which the jump or kink at t has already passed; 0 if it did not pass through any,
        SMOOTH if there is no jump or kink."""
        ...

    def struck(self, before: Instant, now: Instant) -> Instant:
        """`now` with new values of everything that is due, also at the start. They are computed from `before`, which
        no clock has changed."""
        ...

    def nodes(self, begin: float, end: float) -> Floats:
        """Times within (begin, end) at which this clock needs the motion."""
        return np.zeros(0)

    def passed(self, start: Instant, end: float, t: Floats, x: Floats, kink: int) -> None:
        """Receive the motion x (k, nq + nv + nz) at times t (k,) from `start` to `end` (s).

        `kink`: number of delays that a jump at the end has passed, as the method `kink` returns it.
        """

    def warnings(self, rtol: float) -> Sequence[AnalysisWarning]:
        """Warnings for the reader of the result, at the tolerance of the run."""
        return ()


def run_with_events(setup: Setup, reactors: Sequence[Reactor], clocks: Sequence[Clock] = ()) -> Outcome:
    """Run from event to event.

    Rows go to `setup.on_related` with their equations and their p; a row at a stop of a clock has the values just
    after it.
    """
    loop = EventLoop(setup, reactors, clocks)
    return loop.run(loop.started())[0]


class EventLoop:
    """The loop over the times of `setup`, with its state from one event to the next.

    `open_end`: whether another loop continues where this one ends, so that clocks need the motion up to there.
    """

    def __init__(self, setup: Setup, reactors: Sequence[Reactor], clocks: Sequence[Clock]):
        self.setup, self.reactors, self.clocks = setup, reactors, clocks
        self.begin, self.end = float(setup.times[0]), float(setup.times[-1])
        self.apart = JUST_BEFORE * (self.end - self.begin)
        self.done = 0  # number of rows that were delivered
        self.work = np.zeros(len(setup.system.work_names) if setup.balance else 0)
        self.counts: Counter[str] = Counter()
        self.events = 0
        self.last = (-1, -np.inf)  # number and time of the last event
        self.usual: float | None = None  # next step of an adaptive method
        self.open_end = False

    def started(self) -> Instant:
        """The first instant, after clocks have acted and reactors have decided all elements at rest."""
        setup, system = self.setup, self.setup.system
        z = system.element_states(setup.start, setup.parameters)
        now = self._struck(Instant(system, self.begin, setup.start.q, setup.start.v, z, setup.p))
        return self._settled(now, None)

    def run(self, now: Instant) -> tuple[Outcome, Instant]:
        """Run from an instant to the end, or until something stops the run; return the outcome and the last
        instant."""
        while not now.stop:
            mark = min([self.end, *[clock.next_stop() for clock in self.clocks]])
            mark = self.end if self.end - mark <= self.apart else mark
            if self.end - now.t <= self.apart:
                return self._closed(now, "finished", "", self.setup.times[self.done :]), now
            if mark < self.end and mark - now.t <= self.apart:
                now = self.passed(now)
                continue
            start = now
            part, now, rows = self._stretch(start, mark)
            if part.status == "event" and self._again(start, now, part):
                now = self._beyond(now)
            elif part.status == "event":
                self._inform_clocks(start, now, rows, part)
                now = self._event(now, part)
            elif part.status != "finished":
                return self._ended(part, now, part.status, part.message), now
            elif mark >= self.end:
                if self.open_end:
                    self._inform_clocks(start, now, rows, None)
                return self._ended(part, now, "finished", ""), now
            else:
                self._inform_clocks(start, now, rows, None)
                now = self.passed(now)
        end = self._closed(now, "stopped", now.stop, np.array([now.t]))
        return replace(end, stats={**end.stats, "stopped_by": now.stopped_by}), now

    def _again(self, start: Instant, now: Instant, part: Outcome) -> bool:
        """Whether this is the last event again because, by round-off, the run began just before it."""
        assert part.event is not None
        return self.last == (part.event.number, start.t) and now.t - start.t <= self.apart

    def _beyond(self, now: Instant) -> Instant:
        """The instant after a step beyond the present event, so short that its error is negligible."""
        system, h = now.system, self.apart
        x = np.concatenate([now.q, now.v, now.z, self.work])
        rates = single_rates(system, self.setup.balance)(np.array([now.t]), x, now.p)[0].ravel()
        q, v, z, _ = np.split(x + h * rates, np.cumsum([system.nq, system.nv, system.nz]))
        return replace(now, t=now.t + h, q=q, v=v, z=z)

    def passed(self, now: Instant, earlier: Instant | None = None) -> Instant:
        """The instant after the clocks have acted and the reactors have responded to jumps in time.

        `earlier`: the instant before inputs have jumped.
        """
        before = replace(earlier or now, t=now.t - self.apart)
        after = replace(now, t=now.t + self.apart)
        after = self._settled(replace(self._struck(now), t=after.t), before)
        return replace(after, t=now.t)

    def _stretch(self, now: Instant, mark: float) -> tuple[Outcome, Instant, list]:
        """Run to `mark` or to the next event; return the outcome, the instant there, before anything changes, and
        the motion at nodes."""
        last = mark >= self.end
        rest = self.setup.times[self.done :]
        rest = np.where(rest > now.t + self.apart, rest, now.t)
        wanted = rest if last else rest[rest < mark - self.apart]
        grid = np.append(wanted, mark)
        nodes = self._nodes(now.t, mark)
        if nodes.size:
            near = np.searchsorted(grid, nodes)  # the last of `grid` is behind all nodes
            before = np.where(near > 0, grid[near - 1], -np.inf)
            nodes = nodes[np.minimum(grid[near] - nodes, nodes - before) > self.apart]
        times = np.unique(np.concatenate([grid, nodes]))
        is_wanted, is_node = np.isin(times, wanted), np.isin(times, nodes)
        # a time may be requested several times, for example after a stop within round-off of it
        copies = np.diff(np.searchsorted(wanted, times, side="right"), prepend=0)
        at, rows = 0, []

        def take(t: Floats, x: Floats, _: float) -> None:
            nonlocal at
            span = slice(at, at + t.size)
            at += t.size
            if is_node.any():
                keep, width = is_node[span], now.q.size + now.v.size + now.z.size
                rows.append((t[keep], x[keep][:, :width]))
            chosen = np.repeat(np.flatnonzero(is_wanted[span]), copies[span][is_wanted[span]])
            self.done += chosen.size
            reached = float(t[-1]) if t.size else now.t
            fraction = (reached - self.begin) / (self.end - self.begin)
            self.setup.on_related(now.system, now.p[None, :], t[chosen], x[chosen], fraction)

        part = self._integrated(now, times, take)
        self.counts.update({name: part.stats[name] for name in COUNTS if name in part.stats})
        self.work, self.usual = part.work.copy(), part.next_step
        return part, _reached(now, part), rows

    def _integrated(
        self, now: Instant, times: Floats, take: Callable[[Floats, Floats, float], None]
    ) -> Outcome:
        start = State(now.q, now.v, z=now.z, held=now.held)
        return run_stretch(
            replace(
                self.setup,
                system=now.system,
                start=start,
                times=times,
                on_chunk=take,
                free_of_stops=bool(self.clocks),  # at which stretches end
                usual_step=self.usual,
            ),
            t_start=now.t,
            work=self.work,
            watched=event_functions_of(now.system),
        )

    def _nodes(self, begin: float, end: float) -> Floats:
        return np.concatenate([np.zeros(0), *[clock.nodes(begin, end) for clock in self.clocks]])

    def _inform_clocks(self, start: Instant, end: Instant, rows: list, event: Outcome | None) -> None:
        """Pass the motion from `start` to `end` to the clocks. If an event ended this motion, it is computed again at
        nodes up to the event."""
        nodes = self._nodes(start.t, end.t)
        if not nodes.size:
            return
        if event is not None and end.t - start.t <= self.apart:
            self.cut(end)
            return
        if event is not None:
            rows, work = [], self.work
            times = np.append(np.unique(nodes), end.t)
            width = start.q.size + start.v.size + start.z.size
            self._integrated(start, times, lambda t, x, _: rows.append((t, x[:, :width])))
            self.work = work
        t = np.concatenate([part for part, _ in rows])
        x = np.concatenate([part for _, part in rows])
        kink = min(clock.kink(end.t) for clock in self.clocks) if event is None else 0
        for clock in self.clocks:
            clock.passed(start, end.t, t, x, kink)

    def cut(self, now: Instant) -> None:
        """Notify the clocks of a jump here that they did not schedule."""
        nothing = np.zeros((0, now.q.size + now.v.size + now.z.size))
        for clock in self.clocks:
            clock.passed(now, now.t, np.zeros(0), nothing, 0)

    def _struck(self, now: Instant) -> Instant:
        before = now
        for clock in self.clocks:
            now = clock.struck(before, now)
        return now

    def _event(self, before: Instant, part: Outcome) -> Instant:
        assert part.event is not None
        self.events += 1
        if self.events > MOST_EVENTS:
            raise SolverError(
                f"more than {MOST_EVENTS} events by t = {before.t:.9g} s, the last one from "
                f"{event_names(before.system)[part.event.number]}; raise rest_speed of a contact, give friction a "
                "level above zero while it is at rest, or make a switch smoother"
            )
        if part.event.jump:  # continue on the far side of the switch, after the jump
            before = self._beyond(before)
        number, now = part.event.number, before
        for reactor in self.reactors:
            count = reactor.event_functions(before.system).directions.size
            if 0 <= number < count:
                now = self._accounted(reactor.reaction(before, number))
                self.last = (part.event.number, now.t)
                others = [other for other in self.reactors if other is not reactor]
                return self._settled(now, before, others)
            number -= count
        raise SolverError(f"event {part.event.number} does not belong to an element with events")

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

    def _closed(self, now: Instant, status: Ending, message: str, times: Floats) -> Outcome:
        """The outcome of a run that ends at this instant; the rows at `times`, if any, have its values."""
        x = np.concatenate([now.q, now.v, now.z, self.work])
        rows = np.repeat(x[None, :], times.size, axis=0)
        self.setup.on_related(now.system, now.p[None, :], times, rows, 1.0)
        t, stats = np.concatenate([self.setup.times[: self.done], times]), self._stats({})
        return Outcome(
            status=status,
            message=message,
            t=t,
            x=rows,
            t_last=now.t,
            x_last=x,
            t_failed=np.nan,
            stats=stats,
            work=self.work,
            held_last=now.held.copy(),
            warnings=tuple(self._warnings()),
        )

    def _ended(self, part: Outcome, now: Instant, status: Ending, message: str) -> Outcome:
        times, stats = self.setup.times[: self.done], self._stats(part.stats)
        return replace(
            part,
            t=times,
            status=status,
            message=message,
            stats=stats,
            events=(),
            held_last=now.held.copy(),
            warnings=(*part.warnings, *self._warnings()),
        )

    def _warnings(self) -> list[AnalysisWarning]:
        of_clocks = [warning for clock in self.clocks for warning in clock.warnings(self.setup.rtol)]
        return of_clocks + [warning for reactor in self.reactors for warning in reactor.warnings()]

    def _stats(self, last: Mapping) -> dict:
        found = {**last, **self.counts, "events": self.events}
        for reactor in self.reactors:
            found.update(reactor.stats())
        return found


def _reached(now: Instant, part: Outcome) -> Instant:
    system = now.system
    ends = np.cumsum([system.nq, system.nv, system.nz])
    q, v, z, _ = np.split(part.x_last, ends)
    return replace(now, t=part.t_last, q=q.copy(), v=v.copy(), z=z.copy())
