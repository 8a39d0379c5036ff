"""Sticking and sliding at events: which joints stick, found by a complementarity step.

A sliding joint is watched for its slip to come to zero, a stuck one for its force to reach the limit. Which of the
joints without slip stick is then a complementarity problem: |phi_i| <= limit_i where it sticks, and w_i' in the
direction s_i where it slides. It is solved by pivoting on the compiled equations themselves: all joints that
contradict their state change it, and where that does not reduce their number, the first of them alone, which ends
for positive definite matrices (Murty's rule). The order is that of the model, so the answer is always the same.

With levels that do not depend on reactions the accelerations are unique. With coefficients they need not be: all
other states of the joints that are at rest are tried, as long as these are few, and further solutions are reported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import Instant
from sekant.analyses.simulation.runs import Guards
from sekant.engine.system import System
from sekant.errors import AnalysisWarning

Floats = NDArray[np.float64]
MOST_ROUNDS = 200
AT_REST = 1e-6
"""Slip against the width of a friction up to which its joint counts as at rest."""
BEYOND = 1e-9
"""Part of a limit, or of the rate of slip that it would cause, which round-off may take."""
MOST_TRIED = 4
"""Joints at rest whose states are all tried, in search of further solutions."""
JAMS = 1e-3
"""Determinant of the coupling through reactions below which friction jams."""
STICKS = 0


@dataclass(frozen=True, eq=False)
class _Values:
    """At one instant, all (n,): see `sekant.formulations.friction.Solved`."""

    slip: Floats
    rate: Floats
    force: Floats
    limit: Floats
    mobility: Floats
    margin: float
    miss: float


class Stiction:
    """The dry frictions of a model, as a reactor; see `sekant.analyses.simulation.events`."""

    def __init__(self, system: System):
        solved = system.equations.friction
        self.names = [one.name for one in solved.frictions]
        self.driven = np.array(solved.driven, bool)
        self.sticks = self.slips = self.evaluations = 0
        self.several: list[AnalysisWarning] = []
        self._last: tuple[float, int, int] = (-np.inf, -1, 0)

    # -- the reactor -----------------------------------------------------------------------------------

    def guards(self, system: System) -> Guards:
        """One function a friction, which falls through zero, and the margin to jamming."""
        eq = system.equations
        solved = eq.friction
        watched = []
        for i, one in enumerate(solved.frictions):
            sliding = one.direction * one.slip
            if solved.driven[i]:
                watched.append(sliding)
            else:
                room = solved.limit[i] ** 2 - solved.force[i] ** 2
                watched.append(one.stuck * room + (1 - one.stuck) * sliding)
        if any(one.load is not None for one in solved.frictions):
            watched.append(solved.margin - JAMS)
        return Guards(ca.vertcat(*watched), -np.ones(len(watched)))

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """At the start, and where something has jumped, all joints without slip are decided on."""
        sticks, slips = self.sticks, self.slips
        after = self._resolved(now)
        if before is None:
            self.sticks, self.slips = sticks, slips
        return after

    def reaction(self, now: Instant, number: int) -> Instant:
        if number >= len(self.names):
            return replace(now, stop=self._jammed(now))
        states = self._states(now)
        again = self._last[2] + 1 if self._last[:2] == (now.t, number) else 0
        self._last = (now.t, number, again)
        prefer: dict[int, int] = {}
        if self.driven[number]:
            prefer[number] = -states[number]
        elif states[number] == STICKS:
            force = self._values(now).force[number]
            prefer[number] = int(-np.sign(force)) or 1
        else:
            prefer[number] = STICKS
        return self._resolved(now, prefer, lenient=again > 1)

    def stats(self) -> dict[str, int]:
        return {"sticks": self.sticks, "slips": self.slips, "friction_evaluations": self.evaluations}

    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """What a reader should know of the run: where friction left a choice."""
        return tuple(self.several[:1])

    # -- states of joints: 0 sticks, 1 or -1 slides in that direction ------------------------------------

    def _states(self, now: Instant) -> list[int]:
        found = []
        for name in self.names:
            stuck, direction = now.p[now.place(f"{name}.stuck")], now.p[now.place(f"{name}.direction")]
            found.append(STICKS if stuck else int(direction))
        return found

    def _with(self, now: Instant, states: list[int]) -> Instant:
        held = {}
        for i, (name, state) in enumerate(zip(self.names, states, strict=True)):
            held[f"{name}.stuck"] = float(state == STICKS and not self.driven[i])
            held[f"{name}.direction"] = float(state)
        return now.holding(held)

    def _values(self, now: Instant) -> _Values:
        system, eq = now.system, now.system.equations
        solved = eq.friction

        def make() -> Any:
            terms = [solved.slip, solved.slip_rate, solved.force, solved.limit, solved.mobility]
            inputs = [eq.t, eq.q, eq.v, eq.z, eq.p]
            return system.function("friction", inputs, [*terms, solved.margin, solved.miss])

        self.evaluations += 1
        found = system.once("friction", make)(*now.arguments)
        slip, rate, force, limit, mobility, margin, miss = (np.asarray(x).ravel() for x in found)
        return _Values(slip, rate, force, limit, mobility, float(margin[0]), float(miss[0]))

    # -- the complementarity step ------------------------------------------------------------------------

    def _resolved(self, now: Instant, prefer: dict[int, int] | None = None, lenient: bool = False) -> Instant:
        prefer = prefer or {}
        before = self._states(now)
        values = self._values(now)
        width = self._widths(now)
        resting = [
            i
            for i in range(len(before))
            if not self.driven[i] and (abs(values.slip[i]) <= AT_REST * width[i] or i in prefer)
        ]
        states = []
        for i, slip in enumerate(values.slip):
            if i in prefer:
                states.append(prefer[i])
            elif i in resting:
                states.append(before[i])
            else:
                states.append(int(np.sign(slip)))
        now = self._stopped(now, resting)
        found = self._pivoted(now, states, resting, lenient)
        if found is None:
            return replace(self._with(now, states), stop=self._jammed(now))
        if any(item.load is not None for item in now.system.equations.friction.frictions):
            others = self._others(now, found, resting)
            if others is None:
                return replace(self._with(now, found), stop=self._jammed(now))
            self.several += others
        self.sticks += sum(a != STICKS and b == STICKS for a, b in zip(before, found, strict=True))
        self.slips += sum(a == STICKS and b != STICKS for a, b in zip(before, found, strict=True))
        return self._with(now, found)

    def _widths(self, now: Instant) -> Floats:
        eq = now.system.equations
        width = ca.vertcat(*[one.width for one in eq.friction.frictions])
        oracle = now.system.once("friction widths", lambda: ca.Function("w", [eq.p], [width]))
        return np.array(oracle(now.p)).ravel()

    def _violations(
        self, now: Instant, states: list[int], resting: list[int], lenient: bool
    ) -> dict[int, int]:
        """Joints whose state contradicts the motion that follows, and the state that this suggests."""
        values = self._values(self._with(now, states))
        slack = 1e3 * BEYOND if lenient else BEYOND
        found = {}
        for i in resting:
            force, limit = values.force[i], values.limit[i]
            if states[i] == STICKS:
                if not abs(force) <= limit * (1 + slack):
                    found[i] = int(-np.sign(force)) or 1
            elif states[i] * values.rate[i] < -slack * max(limit, abs(force)) * values.mobility[i]:
                found[i] = STICKS
        return found

    def _pivoted(
        self, now: Instant, states: list[int], resting: list[int], lenient: bool
    ) -> list[int] | None:
        """States without contradiction; None if none were found."""
        states, fewest, patience = list(states), len(resting) + 1, 5
        for _ in range(MOST_ROUNDS):
            wrong = self._violations(now, states, resting, lenient)
            if not wrong:
                return states
            if len(wrong) < fewest:
                fewest, patience = len(wrong), 5
            else:
                patience -= 1
            changed = wrong if patience > 0 else {min(wrong): wrong[min(wrong)]}
            for i, state in changed.items():
                states[i] = state
        return None

    def _others(self, now: Instant, found: list[int], resting: list[int]) -> list[AnalysisWarning] | None:
        """Further solutions besides `found`; None where `found` is none itself, because friction jams."""
        eq = now.system.equations
        values = self._values(self._with(now, found))
        if values.margin <= JAMS or not values.miss < 1e-6:
            return None
        choices = [i for i in resting if eq.friction.frictions[i].load is not None]
        if not 0 < len(choices) <= MOST_TRIED:
            return []
        for tried in product((0, 1, -1), repeat=len(choices)):
            states = list(found)
            for i, state in zip(choices, tried, strict=True):
                states[i] = state
            if states == found or self._violations(now, states, resting, False):
                continue
            other = self._values(self._with(now, states))
            scale = np.maximum(values.limit, np.abs(values.force)) * values.mobility
            if other.margin > JAMS and np.any(np.abs(other.rate - values.rate) > 1e-6 * scale):
                names = " and ".join(f"'{self.names[i]}'" for i in choices)
                return [
                    AnalysisWarning(
                        "friction_several",
                        f"friction {names}",
                        f"t = {now.t:.9g} s",
                        "sticking and sliding are both consistent with Coulomb's law: the motion is not unique "
                        "(Painleve's paradox); the first of them in the order of the model was taken",
                        "lower the coefficient, or give the joint some compliance",
                    )
                ]
        return []

    def _stopped(self, now: Instant, resting: list[int]) -> Instant:
        """The slip of joints at rest set to zero exactly, by the least change of the velocities."""
        if not resting:
            return now
        system, eq = now.system, now.system.equations

        def make() -> Any:
            slip = eq.friction.slip
            terms = [
                eq.mass_matrix,
                ca.densify(eq.G),
                eq.rate,
                ca.densify(eq.lookups.jacobian(slip, eq.v)),
                slip,
            ]
            return system.function("friction rows", [eq.t, eq.q, eq.v, eq.z, eq.p], terms)

        nv = system.nv
        M, G, rate, S, slip = system.once("friction rows", make)(*now.arguments)
        S, slip = S.reshape(-1, nv)[resting], slip.ravel()[resting]
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

    def _jammed(self, now: Instant) -> str:
        loaded = [one.name for one in now.system.equations.friction.frictions if one.load is not None]
        names = " and ".join(f"'{name}'" for name in loaded or self.names)
        return (
            f"friction {names} jams at t = {now.t:.9g} s: the reaction that presses grows with the friction that it "
            "causes, and Coulomb's law has no solution or several (Painleve's paradox); lower the "
            "coefficient, or give "
            "the joint some compliance"
        )


def smoothed(system: System) -> System:
    """The system with dry friction by its regularized law, for methods that do not stop at events."""

    def make() -> System:
        return System(system.model, system.equations.smoothed(), system.engine, system.uses_cache)

    return system.once("smoothed friction", make)


def smoothed_warnings(system: System, method: str) -> tuple[AnalysisWarning, ...]:
    """What a reader of a run with the regularized law should know."""
    eq = system.equations
    found = []
    for one in eq.friction.frictions:
        width = float(ca.Function("w", [eq.p], [one.width])(system.parameter_vector()))
        found.append(
            AnalysisWarning(
                "friction_regularized",
                f"friction '{one.name}'",
                "",
                f"method '{method}' has no events: friction goes through rest over a width of "
                f"{width:g} (m/s or rad/s), "
                "and a joint that should stick creeps",
                "use method 'taylor' or 'dop853' for exact sticking, or a smaller width",
            )
        )
    return tuple(found)
