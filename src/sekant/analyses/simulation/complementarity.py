"""Sticking, sliding, touching and parting at events, found by a complementarity step.

Between events a stuck joint and a closed contact are constraints whose forces are watched against their limits, and
what slides is watched for its slip to come to zero. At an event, what is at rest is decided on anew: a state of all
elements (see `bound_forces`) that the motion which follows does not contradict. It is found by pivoting on the
compiled equations themselves: all elements that contradict their state change it, and where that does not reduce
their number, the first of them alone, which ends for positive definite matrices (Murty's rule). The order is that
of the model, so the answer is always the same.

With levels that do not depend on reactions the accelerations are unique. With coefficients they need not be: the
other states of what is at rest are tried, as long as these are few, and further solutions are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.bound_forces import (
    BEYOND,
    CLOSED,
    HELD,
    OPEN,
    STICKS,
    TOUCHES,
    BoundForceValues,
    ContactElement,
    Element,
    State,
    bound_elements,
)
from sekant.analyses.simulation.events import Instant
from sekant.analyses.simulation.impacts import impact
from sekant.analyses.simulation.problems import EventFunctions
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError
from sekant.geometry.spatial import SX

Floats = NDArray[np.float64]
MOST_ROUNDS = 200
MOST_TRIED = 200
"""States of elements at rest that are tried in search of further solutions."""
MISSES = 1e-12
"""Square of the relative error of the forces that reactions and friction cause in one another, which is none."""
GIVEN = 1e-7
"""Part of the slope of a slip that constraints do not give, up to which they give it whole: round-off."""
ROUND_OFF = 1e-13
"""Slope of a slip, against the largest of a constraint, that is none."""
JAMS = 1e-3
"""Margin of the coupling through reactions below which friction jams."""


class BoundForces:
    """Dry frictions and rigid contacts of a model, as a reactor; see `sekant.analyses.simulation.events`."""

    def __init__(self, system: System):
        self.bound = bound_elements(system)
        self.contacts = self.bound.contacts
        self.elements: list[Element] = [*self.bound.joints, *self.contacts]
        self.sticks = self.slips = self.impacts = self.evaluations = 0
        self.several: list[AnalysisWarning] = []
        self._last: tuple[float, int, int] = (-np.inf, -1, 0)

    # -- the reactor -----------------------------------------------------------------------------------

    def event_functions(self, system: System) -> EventFunctions:
        """What falls through zero: for every element its own, the margins to jamming, and the error of
        Newton's method."""
        bound = self.bound
        count = sum(element.watched for element in self.elements) + bound.margins + bound.iterated

        def make() -> SX:
            solved = system.equations.elements.friction
            watched = [function for element in self.elements for function in element.event_functions(solved)]
            watched += [solved.margin[k] - JAMS for k in range(bound.margins)]
            watched += [MISSES - solved.miss] if bound.iterated else []
            assert len(watched) == count
            return ca.vertcat(SX.zeros(0, 1), *watched)

        return EventFunctions(make, -np.ones(count))

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """At the start, and where something has jumped, all that is at rest is decided on."""
        if before is not None:
            return self._resolved(now)
        counts = (self.sticks, self.slips, self.impacts)
        for element in self.contacts:
            now = self._started(now, element)
        after = self._resolved(now)
        self.sticks, self.slips, self.impacts = counts
        return after

    def reaction(self, now: Instant, number: int) -> Instant:
        again = self._last[2] + 1 if self._last[:2] == (now.t, number) else 0
        self._last = (now.t, number, again)
        for element in self.elements:
            if number < element.watched:
                break
            number -= element.watched
        else:
            return replace(now, stop=self._jammed(now))
        state = element.state(now)
        if isinstance(element, ContactElement) and number == 0 and state == OPEN:
            self.impacts += 1
            now, rests = self._impact(now, element)
            prefer = {element.name: element.closed_state(self._values(now))} if rests else {}
            return self._resolved(now, prefer)
        prefer = {element.name: element.after_event(self._values(now), state, number)}
        return self._resolved(now, prefer, lenient=again > 1)

    def stats(self) -> dict[str, int]:
        found = {"friction_evaluations": self.evaluations}
        if len(self.contacts) < len(self.elements) or any(one.rough for one in self.contacts):
            found |= {"sticks": self.sticks, "slips": self.slips}
        return found | ({"impacts": self.impacts} if self.contacts else {})

    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """What a reader should know of the run: where friction left a choice."""
        return tuple(self.several[:1])

    # -- values ------------------------------------------------------------------------------------------

    def _with(self, now: Instant, states: Mapping[str, State]) -> Instant:
        held: dict[str, float] = {}
        for element in self.elements:
            held |= element.held(states[element.name])
        return now.holding(held)

    def _values(self, now: Instant) -> BoundForceValues:
        system = now.system

        def make() -> Any:
            eq, empty = system.equations, SX.zeros(0, 1)
            solved = eq.elements.friction
            gaps = ca.vertcat(empty, *[one.gap for one in solved.contacts])
            mu = ca.vertcat(
                empty, *[SX(0) if one.coefficient is None else one.coefficient for one in solved.contacts]
            )
            width = ca.vertcat(empty, *[one.width for one in solved.frictions])
            terms = [
                solved.slip,
                solved.slip_rate,
                solved.force,
                solved.limit,
                solved.mobility,
                gaps,
                mu,
                width,
            ]
            inputs = [eq.t, eq.q, eq.v, eq.z, eq.p]
            return system.function("bound_forces", inputs, [*terms, solved.margin, solved.miss])

        self.evaluations += 1
        *rows, miss = (np.asarray(x).ravel() for x in system.cached("bound forces", make)(*now.arguments))
        slip, rate, force, limit, mobility, gap, mu, width, margin = rows
        return BoundForceValues(slip, rate, force, limit, mobility, gap, mu, width, margin, float(miss[0]))

    # -- the complementarity step ------------------------------------------------------------------------

    def _resolved(
        self, now: Instant, prefer: Mapping[str, State] | None = None, lenient: bool = False
    ) -> Instant:
        prefer = prefer or {}
        before = {element.name: element.state(now) for element in self.elements}
        values = self._values(now)
        resting, states = [], {}
        given = self._given(now)
        for element in self.elements:
            name = element.name
            rests = element.resting(values, before[name])
            if name in given and (rests or prefer.get(name) == STICKS):
                states[name] = HELD
                continue
            slips = before[name] == HELD and not rests  # as a joint does that passes the end of its stroke
            if (rests or (name in prefer and not slips)) and name not in given and not element.driven:
                resting.append(element)
            own = element.resumed(values, before[name]) if rests else element.moving(values, before[name])
            states[name] = prefer.get(name, own)
        now = self._stopped(now, states, resting)
        found = self._pivoted(now, states, resting, lenient)
        if found is None:
            return replace(self._with(now, states), stop=self._jammed(now))
        if self.bound.coupled:
            others = self._others(now, found, resting)
            if others is None:
                return replace(self._with(now, found), stop=self._jammed(now))
            self.several += others
        for name, state in found.items():
            still = state in (STICKS, CLOSED)
            self.sticks += before[name] not in (STICKS, CLOSED, OPEN) and still
            self.slips += before[name] in (STICKS, CLOSED) and not still and state != OPEN
        return self._with(now, found)

    def _contradictions(
        self, now: Instant, states: Mapping[str, State], resting: Sequence[Element], lenient: bool
    ) -> dict[str, State]:
        """Elements whose state contradicts the motion that follows, and the state that this suggests."""
        values = self._values(self._with(now, states))
        slack = 1e3 * BEYOND if lenient else BEYOND
        found = {one.name: one.contradiction(values, states[one.name], slack) for one in resting}
        return {name: state for name, state in found.items() if state is not None}

    def _pivoted(
        self, now: Instant, states: Mapping[str, State], resting: Sequence[Element], lenient: bool
    ) -> dict[str, State] | None:
        """States without contradiction; None if none were found."""
        states, fewest, patience = dict(states), len(resting) + 1, 5
        for _ in range(MOST_ROUNDS):
            wrong = self._contradictions(now, states, resting, lenient)
            if not wrong:
                return states
            if len(wrong) < fewest:
                fewest, patience = len(wrong), 5
            else:
                patience -= 1
            first = next(iter(wrong))
            states |= wrong if patience > 0 else {first: wrong[first]}
        return None

    def _others(
        self, now: Instant, found: Mapping[str, State], resting: Sequence[Element]
    ) -> list[AnalysisWarning] | None:
        """Further solutions besides `found`; None where `found` is none itself, because friction jams."""
        values = self._values(self._with(now, found))
        if np.any(values.margin <= JAMS) or not values.miss < MISSES:
            return None
        open_to = {one.name: one.choices(values) for one in resting}
        open_to = {name: choices for name, choices in open_to.items() if choices}
        if not open_to or np.prod([len(choices) for choices in open_to.values()]) > MOST_TRIED:
            return []
        scale = float(np.max(np.abs(values.force) * values.mobility, initial=1e-12))
        for tried in product(*open_to.values()):
            states = {**found, **dict(zip(open_to, tried, strict=True))}
            if states == dict(found) or self._contradictions(now, states, resting, False):
                continue
            other = self._values(self._with(now, states))
            if other.miss < MISSES and np.any(np.abs(other.rate - values.rate) > 1e-6 * scale):
                names = " and ".join(f"'{name}'" for name in open_to)
                return [
                    AnalysisWarning(
                        "friction_several",
                        f"friction {names}",
                        f"t = {now.t:.9g} s",
                        "more than one of open, sticking and sliding is consistent with Coulomb's law: the motion is "
                        "not unique (Painleve's paradox); the one nearest to the state before was taken",
                        "lower the coefficient, or give the joint some compliance",
                    )
                ]
        return []

    def _given(self, now: Instant) -> set[str]:
        """Frictions whose slip the constraints give: no force along it moves anything."""
        joints = [one for one in self.bound.joints if not one.driven]
        if not self.bound.looped or not joints:
            return set()
        system = now.system

        def make() -> Any:
            eq = system.equations
            slope = eq.lookups.jacobian(eq.elements.friction.slip, eq.v)
            terms = [ca.densify(eq.G), ca.densify(slope)]
            return system.function("slips_given", [eq.t, eq.q, eq.v, eq.z, eq.p], terms, quick=True)

        G, S = (y.reshape(-1, system.nv) for y in system.cached("slips given", make)(*now.arguments))
        S = S[[one.i for one in joints]]
        left = S - np.linalg.lstsq(G.T, S.T, rcond=1e-11)[0].T @ G
        given = np.linalg.norm(left, axis=1) <= np.maximum(
            GIVEN * np.linalg.norm(S, axis=1), ROUND_OFF * np.abs(G).max()
        )
        return {one.name for one, is_given in zip(joints, given, strict=True) if is_given}

    def _stopped(self, now: Instant, states: Mapping[str, State], resting: Sequence[Element]) -> Instant:
        """The slip of what is at rest set to zero exactly, by the least change of the velocities."""
        numbers = [i for one in resting for i in one.rows_at_rest(states[one.name])]
        if not numbers:
            return now
        system = now.system

        def make() -> Any:
            eq = system.equations
            slip = eq.elements.friction.slip
            slope = ca.densify(eq.lookups.jacobian(slip, eq.v))
            terms = [eq.mass_matrix, ca.densify(eq.G), eq.rate, slope, slip]
            return system.function("rows_at_rest", [eq.t, eq.q, eq.v, eq.z, eq.p], terms)

        nv = system.nv
        M, G, rate, S, slip = system.cached("rows at rest", make)(*now.arguments)
        S, slip = S.reshape(-1, nv)[numbers], slip.ravel()[numbers]
        if not np.any(slip):
            return now
        rows = np.vstack([G.reshape(-1, nv), S])
        K = np.zeros((nv + len(rows), nv + len(rows)))
        K[:nv, :nv], K[:nv, nv:], K[nv:, :nv] = M.reshape(nv, nv), rows.T, rows
        target = np.concatenate([np.zeros(nv), -rate.ravel(), -slip])
        v = now.v + np.linalg.lstsq(K, target, rcond=None)[0][:nv]
        for row in S:
            (columns,) = np.nonzero(row)
            if columns.size == 1:
                v[columns[0]] = 0.0
        return replace(now, v=v)

    # -- contacts ----------------------------------------------------------------------------------------

    def _started(self, now: Instant, element: ContactElement) -> Instant:
        """At the start a contact that is closed and closing has its impact."""
        values = self._values(now)
        gap, rate = float(values.gap[element.number]), float(values.slip[element.i])
        if gap < -TOUCHES:
            raise SolverError(
                f"contact '{element.name}' starts {-gap:.4g} (m or rad) inside; change the start "
                "values or the contact"
            )
        if gap > TOUCHES or rate >= 0:
            return now
        return self._impact(now, element)[0]

    def _impact(self, now: Instant, element: ContactElement) -> tuple[Instant, bool]:
        closed = [one for one in self.contacts if one is not element and one.state(now) != OPEN]
        v, rests = impact(now, element, closed)
        loss = _kinetic(now, v) - _kinetic(now, now.v)
        gained = {**now.gained, element.name: now.gained.get(element.name, 0.0) + loss}
        return replace(now, v=v, gained=gained), rests

    def _jammed(self, now: Instant) -> str:
        coupled = [one.name for one in self.bound.joints if one.coupled]
        coupled += [one.name for one in self.contacts if one.rough]
        names = " and ".join(f"'{name}'" for name in coupled or [one.name for one in self.elements])
        return (
            f"friction {names} jams at t = {now.t:.9g} s: the reaction that presses grows with the friction that it "
            "causes, and Coulomb's law has no solution or several (Painleve's paradox); lower the coefficient, or "
            "give the joint some compliance"
        )


def _kinetic(now: Instant, v: Floats) -> float:
    system = now.system

    def make() -> Any:
        eq = system.equations
        return system.function("kinetic", [eq.t, eq.q, eq.v, eq.z, eq.p], [eq.energies.kinetic])

    function = system.cached("kinetic", make)
    return float(function(*replace(now, v=v).arguments)[0].ravel()[0])
