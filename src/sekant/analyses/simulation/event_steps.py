"""Steps of a simulation through the event loop, for contacts, friction, switching signals, samples and delays.

A step is a stretch of that loop; reactors and clocks keep their state from one step to the next. Methods without a
compiled stepper (Taylor, radau5) use the same steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.simulation.clocks import TimeStops, clocks_of, reactors_of
from sekant.analyses.simulation.events import EventLoop, Instant
from sekant.analyses.simulation.runs import Setup, is_adaptive
from sekant.engine.functions.motion import time_stops
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.solvers.common.outcome import Outcome

Floats = NDArray[np.float64]
AHEAD = 1024
"""Number of steps for which the times of jumps are looked up together."""
APART = 8.0
"""Smallest difference of two distinct times, in units of round-off."""


STATE = ("now", "_reactors", "_clocks", "_last", "_usual", "_fresh", "_known", "_values")
"""Attributes that change from step to step."""


class EventSteps:
    """Steps of `system` from `start` at time `t` (s). `p` (np,): the inputs in it may be changed between steps."""

    def __init__(
        self,
        system: System,
        method: str,
        start: State,
        t: float,
        parameters: Mapping[str, ArrayLike],
        rtol: float,
        atol: float,
    ):
        self.system, self._values = system, parameters
        p = system.parameter_vector(parameters, start.held)
        self.now = Instant(system, t, start.q, start.v, system.element_states(start, parameters), p)
        self.p = p.copy()
        edge = np.array([t, t])
        self._setup = Setup(
            method,
            system,
            start,
            edge,
            parameters,
            None,
            rtol,
            atol,
            False,
            None,
            on_chunk=_skip,
            on_related=_skip,
        )
        self._reactors = tuple(reactors_of(system))
        self._clocks = tuple(clocks_of(system, list))
        self._last, self._usual = (-1, -np.inf), None
        self._fresh, self._known = True, t

    @property
    def x(self) -> Floats:
        """[q; v; z] at the present time."""
        return np.concatenate([self.now.q, self.now.v, self.now.z])

    def step(self, end: float, longest: float) -> Outcome:
        """Advance to the time `end` (s), in steps of `longest` (s) if the method has fixed steps."""
        if self.now.stop:
            self.now = replace(self.now, stop="")
        self._look_ahead(end)
        earlier = self.now
        jumped = self._take_inputs()
        loop = EventLoop(self._setup_to(end, longest), self._reactors, self._clocks)
        loop.apart = max(loop.apart, APART * float(np.spacing(abs(end))))
        loop.last, loop.usual, loop.open_end = self._last, self._usual, True
        if self._fresh:
            self.now = loop.started()
            self._fresh = False
        elif jumped:
            loop.cut(earlier)
            self.now = loop.passed(self.now, earlier)
        done, self.now = loop.run(self.now)
        self._last, self._usual = loop.last, loop.usual
        at = self.p.size - self.now.held.size
        self.p[at:] = self.now.held
        return done

    def _setup_to(self, end: float, longest: float) -> Setup:
        now = self.now
        return replace(
            self._setup,
            start=State(now.q, now.v, z=now.z, held=now.held),
            times=np.array([now.t, end]),
            step=None if is_adaptive(self._setup.method) else longest,
            parameters=self._values,
        )

    def _take_inputs(self) -> bool:
        """Apply inputs that were set since the last step; return whether there were any."""
        own = self.p.size - self.now.held.size
        if np.array_equal(self.p[:own], self.now.p[:own]):
            return False
        values = dict(self._values)
        for name in self.system.inputs:
            values[name] = self.p[self.system.places[name]].copy()
        self._values = self.system.checked(values)
        self.now = replace(self.now, p=self.system.parameter_vector(self._values, self.now.held))
        return True

    def _look_ahead(self, end: float) -> None:
        """Look up the jumps in time beyond `end`, if the loop has clocks: they are stops of the loop."""
        if end <= self._known or not self._clocks:
            return
        t = self.now.t
        self._known = end + AHEAD * (end - t)
        stops = [s for s in time_stops(self.system, t, self._known, self._values) if s > t * (1 + 1e-12)]
        others = [clock for clock in self._clocks if not isinstance(clock, TimeStops)]
        self._clocks = (*others, TimeStops(stops))

    def save(self) -> EventSteps:
        """A copy that does not advance, with its own state of reactors and clocks."""
        saved = copy(self)
        saved._reactors = tuple(_copied(one) for one in self._reactors)
        saved._clocks = tuple(_copied(one) for one in self._clocks)
        return saved

    def restore(self, position: EventSteps) -> None:
        """Return to what `save` has returned, perhaps in other steps of the same system."""
        saved = vars(position.save())
        vars(self).update({name: saved[name] for name in STATE})
        self.p[:] = self.now.p


def _skip(*rows: Any) -> None:
    """Discard rows: only the end of a step is needed."""


def _copied(one: Any) -> Any:
    """A copy of a reactor or a clock with separate lists; parts that are only read are shared."""
    other = copy(one)
    for name, value in vars(one).items():
        if isinstance(value, list):
            vars(other)[name] = value.copy()
    return other
