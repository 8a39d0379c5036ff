"""Events that signals and force elements declare: held values and states that are set when a function passes zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import Instant, Reactor
from sekant.analyses.simulation.problems import EventFunctions
from sekant.analyses.simulation.watched import declared_event_functions
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.errors import SolverError
from sekant.geometry.spatial import SX
from sekant.solvers.common.cascades import (
    ENDLESS,
    EventCascade,
    follow_jumps,
    lay_out_cascade,
    note_signs,
    react_to_event,
)
from sekant.solvers.common.memory import new_point


class DeclaredEvents(Reactor):
    """The events of `equations.elements.events`, as a reactor; see `sekant.analyses.simulation.events`."""

    def __init__(self, system: System):
        sizes = (system.nq, system.nv, system.nz, system.parameter_vector().size)
        self.memory = event_cascade(system, new_point(sizes))

    def event_functions(self, system: System) -> EventFunctions:
        return declared_event_functions(system)

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """The instant after the events whose functions have jumped over zero; at the start, after level events."""
        if before is not None:
            before.write_to(self.memory)
            note_signs(self.memory)
        return self._after(now, lambda: follow_jumps(self.memory, float(before is None)))

    def reaction(self, now: Instant, number: int) -> Instant:
        """The instant after the event; events whose functions have the same value happen together, from the values
        before."""
        return self._after(now, lambda: react_to_event(self.memory, float(number)))

    def _after(self, now: Instant, procedure: Callable[[], int]) -> Instant:
        """The instant after `procedure` has carried out the events there."""
        m, events = self.memory, now.system.reactions.events
        now.write_to(m)
        m.stopped = -1
        if procedure() == ENDLESS:
            raise SolverError(
                f"event '{events[m.blame].name}' at t = {now.t:.9g} s triggers other events endlessly; the "
                "values that these events set must not trigger the events again immediately"
            )
        after = replace(now, z=m.z[: now.z.size].copy(), p=m.p[: now.p.size].copy())
        if m.stopped < 0:
            return after
        event = events[m.stopped]
        return replace(after, stop=f"{event.stop} at t = {now.t:.9g} s", stopped_by=event.name)


def functions_of_events(system: System) -> dict[str, NativeFunction]:
    """Functions of (t, q, v, z, p): the event functions "event", and the values "sets" if events set any."""

    def made(terms: Callable[[Any], list[SX]]) -> Callable[[], NativeFunction]:
        def make() -> NativeFunction:
            eq = system.equations
            return system.function("event", [eq.t, eq.q, eq.v, eq.z, eq.p], [ca.vertcat(*terms(eq))])

        return make

    def fresh(eq: Any) -> list[SX]:
        return [SX(value) for event in eq.elements.events for value in event.sets.values()]

    functions = made(lambda eq: [event.function for event in eq.elements.events])
    found = {"event": system.cached(("event", "event functions"), functions)}
    if any(event.sets for event in system.reactions.events):
        found["sets"] = system.cached(("event", "sets"), made(fresh))
    return found


def event_cascade(system: System, point: Sequence[NDArray[np.float64]]) -> EventCascade:
    """The memory of the events of a system at a `point` (t, q, v, z, p)."""
    events, names = system.reactions.events, system.facts.z_names
    places = {name: i for i, name in enumerate(names)}
    places |= {name: len(names) + i for name, i in system.held_places.items()}

    def whole(values: list) -> NDArray[np.int64]:
        return np.array(values, dtype=np.int64)

    functions = functions_of_events(system)
    return lay_out_cascade(
        point,
        functions["event"],
        functions.get("sets"),
        system.nz,
        direction=whole([event.direction for event in events]),
        level=whole([event.level for event in events]),
        stops=whole([bool(event.stop) for event in events]),
        first=np.cumsum([0, *(len(event.sets) for event in events)]).astype(np.int64),
        target=whole([places[name] for event in events for name in event.sets]),
    )
