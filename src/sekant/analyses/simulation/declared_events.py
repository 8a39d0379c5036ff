"""Events that signals and force elements declare: held values and states set where an event function passes zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import Instant
from sekant.analyses.simulation.problems import EventFunctions
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError
from sekant.geometry.spatial import SX

Floats = NDArray[np.float64]
MOST_AT_ONCE = 50
"""Events at one instant that may follow from one another."""


@dataclass(frozen=True)
class EventFacts:
    """An event without its expressions, see `sekant.model.motion.Event`; `sets`: names of what it sets."""

    name: str
    direction: int
    sets: tuple[str, ...]
    stop: str
    level: bool


def events_of(system: System) -> tuple[EventFacts, ...]:
    """In the order of the model."""

    def make() -> tuple[EventFacts, ...]:
        return tuple(
            EventFacts(event.name, event.direction, tuple(map(".".join, event.sets)), event.stop, event.level)
            for event in system.equations.elements.events
        )

    return system.cached("declared events", make)


class DeclaredEvents:
    """The events of `equations.elements.events`, as a reactor; see `sekant.analyses.simulation.events`."""

    def event_functions(self, system: System) -> EventFunctions:
        return EventFunctions(
            lambda: ca.vertcat(
                SX.zeros(0, 1), *[event.function for event in system.equations.elements.events]
            ),
            np.array([float(event.direction) for event in events_of(system)]),
        )

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """Events whose functions have jumped over zero happen as well; at the start those that tell a level."""
        events = events_of(now.system)
        if before is None:
            level = [event.direction if event.level else 0 for event in events]
            return self._cascade(now, -np.array(level, float), level_only=True)
        return self._cascade(now, _signs(before))

    def reaction(self, now: Instant, number: int) -> Instant:
        """All events whose functions have the same value happen at once, from the values before."""
        events, signs, functions = events_of(now.system), _signs(now), _event_functions(now)
        after = now
        for i, event in enumerate(events):
            if i == number or (
                functions[i] == functions[number] and event.direction == events[number].direction
            ):
                after = self._happen(now, i, after)
                signs[i] = event.direction or signs[i]  # the instant lies just beyond the crossing
        return self._cascade(after, signs)

    def stats(self) -> dict[str, int]:
        return {}

    def warnings(self) -> tuple[AnalysisWarning, ...]:
        return ()

    def _cascade(self, now: Instant, signs: Floats, level_only: bool = False) -> Instant:
        """Let all events happen whose functions do not have the `signs` (ne,) any more, until none is left.

        Those that have crossed together happen at once, from the values before.
        """
        events = events_of(now.system)
        due: list[int] = []
        for _ in range(MOST_AT_ONCE):
            here = _signs(now)
            due = [
                number
                for number, event in enumerate(events)
                if abs(here[number] - signs[number]) == 2
                and event.direction in (0, here[number])
                and (event.level or not level_only)
            ]
            if not due or now.stop:
                return now
            before, signs = now, here
            for number in due:
                now = self._happen(before, number, now)
        raise SolverError(
            f"event '{events[due[0]].name}' at t = {now.t:.9g} s sets off others without end; what they "
            "set must not switch them back at once"
        )

    def _happen(self, now: Instant, number: int, onto: Instant) -> Instant:
        """What event `number` sets, computed at `now`, put onto another instant of the same time."""
        event = events_of(now.system)[number]
        z, held, values = onto.z.copy(), {}, np.zeros(0)
        if event.sets:
            values = _values(
                now, ("sets", number), lambda eq: [SX(x) for x in eq.elements.events[number].sets.values()]
            )
        names = now.system.facts.z_names
        for name, value in zip(event.sets, values, strict=True):
            if name in names:
                z[names.index(name)] = value
            else:
                held[name] = float(value)
        after = replace(onto.holding(held), z=z)
        if not event.stop:
            return after
        return replace(after, stop=f"{event.stop} at t = {now.t:.9g} s", stopped_by=event.name)


def _values(now: Instant, key: Any, terms: Callable[[Any], list[SX]]) -> Floats:
    """Expressions of t, q, v, z, p, which `terms` finds in the equations, at an instant."""
    system = now.system

    def make() -> NativeFunction:
        eq = system.equations
        return system.function("event", [eq.t, eq.q, eq.v, eq.z, eq.p], [ca.vertcat(*terms(eq))])

    return system.cached(("event", key), make)(*now.arguments)[0].ravel()


def _event_functions(now: Instant) -> Floats:
    """(ne,) values of all event functions."""
    if not events_of(now.system):
        return np.zeros(0)
    return _values(now, "event functions", lambda eq: [event.function for event in eq.elements.events])


def _signs(now: Instant) -> Floats:
    """(ne,) signs of all event functions; zero counts as positive."""
    return np.where(_event_functions(now) < 0, -1.0, 1.0)
