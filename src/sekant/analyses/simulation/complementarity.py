"""Dry frictions and rigid contacts as a reactor of the event loop.

Between events, stuck joints and closed contacts are constraints; events occur where their forces reach their limits,
or where a slip reaches zero. The procedures of `sekant.solvers.complementarity` decide the states after an event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sekant.analyses.simulation.bound_forces import (
    bound_elements,
    bound_event_functions,
    decision_functions,
    decision_of,
)
from sekant.analyses.simulation.events import Instant, Reactor
from sekant.analyses.simulation.problems import EventFunctions
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError
from sekant.loops.store.objects import prepare
from sekant.solvers.common.memory import new_point
from sekant.solvers.complementarity.decide import INSIDE, JAMMED, begin, decide, react
from sekant.solvers.complementarity.elements import BEYOND

SEVERAL = (
    "several states (open, sticking, sliding) are consistent with Coulomb's law, so the motion is not unique "
    "(Painleve's paradox); the state nearest to the previous one was chosen"
)
JAMS_BECAUSE = (
    "the normal reaction grows with the friction that it causes, and Coulomb's law has no solution or several "
    "(Painleve's paradox)"
)
REMEDY = "lower the coefficient, or give the joint some compliance"


class BoundForces(Reactor):
    """Dry frictions and rigid contacts of a model, as a reactor; see `sekant.analyses.simulation.events`."""

    def __init__(self, system: System):
        prepare(begin, react)
        self.bound = bound_elements(system)
        self.contacts = self.bound.contacts
        self.elements = [*self.bound.joints, *self.contacts]
        sizes = (system.nq, system.nv, system.nz, system.parameter_vector().size)
        self.memory = decision_of(system, self.bound, decision_functions(system), new_point(sizes))
        self.sticks = self.slips = self.impacts = self.evaluations = 0
        self.several: list[AnalysisWarning] = []
        self._last: tuple[float, int, int] = (-np.inf, -1, 0)

    def event_functions(self, system: System) -> EventFunctions:
        return bound_event_functions(system, self.bound)

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """`now` with the states of all elements at rest decided, at the start and after a jump."""
        if before is None:
            return self._after(now, lambda: begin(self.memory))
        return self._after(now, lambda: decide(self.memory, BEYOND, 0.0))

    def reaction(self, now: Instant, number: int) -> Instant:
        again = self._last[2] + 1 if self._last[:2] == (now.t, number) else 0
        self._last = (now.t, number, again)
        return self._after(now, lambda: react(self.memory, float(number), float(again > 1)))

    def stats(self) -> dict[str, int]:
        found = {"friction_evaluations": self.evaluations}
        if len(self.contacts) < len(self.elements) or any(one.rough for one in self.contacts):
            found |= {"sticks": self.sticks, "slips": self.slips}
        return found | ({"impacts": self.impacts} if self.contacts else {})

    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """A warning if friction allowed more than one motion."""
        return tuple(self.several[:1])

    def _after(self, now: Instant, procedure: Callable[[], int]) -> Instant:
        """The instant after `procedure` has decided the states there."""
        m, old, gained = self.memory, now, dict(now.gained)
        now.write_to(m)
        m.gained[:] = 0.0
        m.set(sticks=0, slips=0, impacts=0, evaluations=0, several=int(bool(self.several)))
        code = procedure()
        self.sticks += m.sticks
        self.slips += m.slips
        self.impacts += m.impacts
        self.evaluations += m.evaluations
        if code == INSIDE:
            self._refuse_start(m.blame)
        if m.several and not self.several:
            self.several = [self._several(now)]
        for one, energy in zip(self.elements, m.gained.tolist(), strict=True):
            if energy:
                gained[one.name] = gained.get(one.name, 0.0) + energy
        now = replace(now, v=m.v[: old.v.size].copy(), p=m.p.copy(), gained=gained)
        return replace(now, stop=self._jammed(now)) if code == JAMMED else now

    def _refuse_start(self, element: int) -> None:
        one = self.contacts[element - len(self.bound.joints)]
        gap = float(self.memory.values.gap[one.number])
        raise SolverError(
            f"contact '{one.name}' starts with a penetration of {-gap:.4g} (m or rad); change the start "
            "values or the contact"
        )

    @property
    def coupled(self) -> str:
        """Names of the elements whose friction depends on reactions; of all elements if there are none."""
        found = [one.name for one in self.bound.joints if one.coupled]
        found += [one.name for one in self.contacts if one.rough]
        return " and ".join(f"'{name}'" for name in found or [one.name for one in self.elements])

    def _several(self, now: Instant) -> AnalysisWarning:
        where = f"t = {now.t:.9g} s"
        return AnalysisWarning("friction_several", f"friction {self.coupled}", where, SEVERAL, REMEDY)

    def _jammed(self, now: Instant) -> str:
        return f"friction {self.coupled} jams at t = {now.t:.9g} s: {JAMS_BECAUSE}; {REMEDY}"
