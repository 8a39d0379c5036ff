"""What can stick, slide, touch and part: the elements that the complementarity step decides on.

Each element has a *state* and says which held values stand for it, whether the motion that follows contradicts it,
and what then suggests itself. A joint's friction: 0 sticks, 1 or -1 slides in that direction. A contact: "open",
"closed" (without slip, if it has friction), or the direction (2,) of its slip. A joint that a loop holds still, or
moves, is "held": it has no motion to hinder, so it neither sticks nor rubs until it slips.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import Instant
from sekant.engine.system import System
from sekant.formulations.friction import Solved
from sekant.geometry.spatial import SX

Floats = NDArray[np.float64]
State = int | str | tuple[float, float]
STICKS, OPEN, CLOSED, HELD = 0, "open", "closed", "held"
AT_REST = 1e-6
"""Slip against the width of a friction up to which it counts as at rest."""
STARTS = 1e-3
"""Slip of a driven or held joint, against the width, from which on its friction has a direction."""
TOUCHES = 1e-9
"""Gap (m or rad) and rate up to which a contact counts as closed."""
BEYOND = 1e-9
"""Part of a limit, or of the rate of slip that it would cause, which round-off may take."""
ASIDE = 1e-6
"""Angle (rad) between slip and friction up to which they are opposite."""


@dataclass(frozen=True, eq=False)
class BoundForceValues:
    """At one instant: see `sekant.formulations.friction.Solved`; `gap` and `coefficient` (m,) of contacts."""

    slip: Floats
    rate: Floats
    force: Floats
    limit: Floats
    mobility: Floats
    gap: Floats
    coefficient: Floats
    width: Floats
    margin: Floats
    miss: float

    @property
    def tiny_force(self) -> float:
        return BEYOND * float(np.max(np.abs(self.force), initial=1e-12))


@dataclass(frozen=True)
class JointElement:
    """Dry friction in a joint: force number `i`. `driven`: its slip is given; `coupled`: a reaction presses it."""

    name: str
    i: int
    driven: bool
    coupled: bool

    @property
    def watched(self) -> int:
        """Number of its event functions."""
        return 2 if self.driven else 1

    def state(self, now: Instant) -> State:
        stuck, direction = (now.p[now.place(f"{self.name}.{part}")] for part in ("stuck", "direction"))
        if not stuck and not direction and not self.driven:
            return HELD
        return STICKS if stuck else int(direction)

    def held(self, state: State) -> dict[str, float]:
        stuck = state == STICKS and not self.driven
        direction = 0 if state == HELD else state
        return {f"{self.name}.stuck": float(stuck), f"{self.name}.direction": float(direction)}  # type: ignore[arg-type]

    def resting(self, values: BoundForceValues, state: State) -> bool:
        return not self.driven and abs(values.slip[self.i]) <= AT_REST * values.width[self.i]

    def resumed(self, values: BoundForceValues, state: State) -> State:
        """The state to begin with where it rests: the one that it had."""
        return STICKS if state == HELD else state

    def moving(self, values: BoundForceValues, state: State) -> State:
        """The state that follows from velocities alone; a driven joint has none while its prescribed motion rests."""
        slip = float(values.slip[self.i])
        if self.driven and abs(slip) <= STARTS * values.width[self.i]:
            return state
        return int(np.sign(slip))

    def contradiction(self, values: BoundForceValues, state: State, slack: float) -> State | None:
        force, limit = values.force[self.i], values.limit[self.i]
        if state == STICKS:
            return None if abs(force) <= limit * (1 + slack) else int(-np.sign(force)) or 1
        wrong = state * values.rate[self.i] < -slack * max(limit, abs(force)) * values.mobility[self.i]  # type: ignore[operator]
        return STICKS if wrong else None

    def choices(self, values: BoundForceValues) -> tuple[State, ...]:
        return (STICKS, 1, -1) if self.coupled else ()

    def after_event(self, values: BoundForceValues, state: State, number: int) -> State:
        """What suggests itself where this element's event function has passed zero."""
        if self.driven:
            return 0 if state else 1 - 2 * number
        if state == STICKS:
            return int(-np.sign(values.force[self.i])) or 1
        if state == HELD:
            return int(np.sign(values.slip[self.i])) or 1
        return STICKS

    def rows_at_rest(self, state: State) -> list[int]:
        """Numbers of forces whose slip is zero exactly."""
        return [self.i]

    def event_functions(self, solved: Solved) -> list[SX]:
        one = solved.frictions[self.i]
        sliding = one.direction * one.slip
        if self.driven:
            still, bound = 1 - one.direction**2, STARTS * one.width
            return [sliding + still * (bound - one.slip), 1 - still + still * (bound + one.slip)]
        room = solved.limit[self.i] ** 2 - solved.force[self.i] ** 2
        held = ca.if_else(one.direction, sliding, (STARTS * one.width) ** 2 - one.slip**2)
        return [ca.if_else(one.stuck, room, held if solved.looped else sliding)]


@dataclass(frozen=True)
class ContactElement:
    """A rigid contact, the one with this `number`; its normal force is number `i`. `rough`: with friction.

    Impacts are not its matter, but it has what they need: `friction` () and `restitution` (), and the speed
    `rest_speed` (m/s or rad/s) below which the contact stays closed. `width` (m/s): see `ContactForces`.
    """

    name: str
    number: int
    i: int
    rough: bool
    width: float
    restitution: float
    rest_speed: float
    friction: float

    driven: ClassVar[bool] = False

    @property
    def watched(self) -> int:
        """Number of its event functions."""
        return 2 if self.rough else 1

    def state(self, now: Instant) -> State:
        if not now.p[now.place(f"{self.name}.closed")]:
            return OPEN
        if not self.rough or now.p[now.place(f"{self.name}.stuck")]:
            return CLOSED
        x, y = (float(now.p[now.place(f"{self.name}.direction_{k}")]) for k in (1, 2))
        return (x, y)

    def held(self, state: State) -> dict[str, float]:
        found = {f"{self.name}.closed": float(state != OPEN)}
        if self.rough:
            direction = state if isinstance(state, tuple) else (0.0, 0.0)
            found[f"{self.name}.stuck"] = float(state == CLOSED)
            found |= {f"{self.name}.direction_{k + 1}": direction[k] for k in range(2)}
        return found

    def resting(self, values: BoundForceValues, state: State) -> bool:
        touching = state != OPEN or values.gap[self.number] <= TOUCHES
        return touching and abs(values.slip[self.i]) <= TOUCHES

    def resumed(self, values: BoundForceValues, state: State) -> State:
        """The state that it had; but one that stuck slides where an impact elsewhere has torn it loose."""
        return self.closed_state(values) if state == CLOSED else state

    def moving(self, values: BoundForceValues, state: State) -> State:
        return OPEN

    def closed_state(self, values: BoundForceValues) -> State:
        """Closed, and sliding if it slips."""
        if not self.rough:
            return CLOSED
        slip = values.slip[self.i + 1 : self.i + 3]
        speed = float(np.linalg.norm(slip))
        return CLOSED if speed <= AT_REST * self.width else (slip[0] / speed, slip[1] / speed)

    def contradiction(self, values: BoundForceValues, state: State, slack: float) -> State | None:
        normal = values.force[self.i]
        if state == OPEN:
            least = -slack * (1.0 + float(np.max(np.abs(values.rate), initial=0.0)))
            return self.closed_state(values) if values.rate[self.i] < least else None
        if normal < -values.tiny_force:
            return OPEN
        if not self.rough:
            return None
        bound = values.coefficient[self.number] * max(normal, 0.0)
        if state == CLOSED:
            force = values.force[self.i + 1 : self.i + 3]
            size = float(np.linalg.norm(force))
            if size <= bound * (1 + slack) + values.tiny_force:
                return None
            return (-force[0] / size, -force[1] / size)
        if not isinstance(self.closed_state(values), str):
            return None  # it slips: its velocity decides
        rate = values.rate[self.i + 1 : self.i + 3]
        along = float(np.dot(rate, state))  # type: ignore[arg-type]
        if along < -slack * bound * values.mobility[self.i + 1]:
            return CLOSED
        size = float(np.linalg.norm(rate))
        if size > 1e-6 * bound * values.mobility[self.i + 1] and along < size * (1 - ASIDE**2):
            return (rate[0] / size, rate[1] / size)
        return None

    def choices(self, values: BoundForceValues) -> tuple[State, ...]:
        if not self.rough:
            return ()
        at_rest = isinstance(self.closed_state(values), str)
        return (OPEN, CLOSED, (1.0, 0.0), (-1.0, 0.0)) if at_rest else (OPEN, self.closed_state(values))

    def after_event(self, values: BoundForceValues, state: State, number: int) -> State:
        if number == 0:
            return OPEN if state != OPEN else self.closed_state(values)
        if state != CLOSED:
            return self.closed_state(values)  # at rest, or turned by a right angle since the last event
        force = values.force[self.i + 1 : self.i + 3]
        size = float(np.linalg.norm(force)) or 1.0
        return (-force[0] / size, -force[1] / size)

    def rows_at_rest(self, state: State) -> list[int]:
        if state == OPEN:
            return []
        return [self.i, self.i + 1, self.i + 2] if self.rough and state == CLOSED else [self.i]

    def event_functions(self, solved: Solved) -> list[SX]:
        one = solved.contacts[self.number]
        normal = ca.if_else(one.closed, solved.force[self.i], one.gap)
        if one.coefficient is None or one.slip is None or one.stuck is None or one.direction is None:
            return [normal]
        phi = solved.force[self.i + 1 : self.i + 3]
        room = (one.coefficient * solved.force[self.i]) ** 2 - phi[0] ** 2 - phi[1] ** 2
        along = one.slip[0] * one.direction[0] + one.slip[1] * one.direction[1]
        return [normal, ca.if_else(one.closed, ca.if_else(one.stuck, room, along), 1)]


Element = JointElement | ContactElement


@dataclass(frozen=True)
class BoundElements:
    """All of a system, frictions first. `coupled`: whether friction depends on forces that depend on it;
    `margins`: to jamming, in number; `iterated`: whether Newton's method finds the forces; `looped`: whether
    constraints may give a slip."""

    joints: tuple[JointElement, ...]
    contacts: tuple[ContactElement, ...]
    coupled: bool
    margins: int
    iterated: bool
    looped: bool


def joint_elements(solved: Solved) -> tuple[JointElement, ...]:
    """Of all frictions."""
    return tuple(
        JointElement(one.name, i, solved.driven[i], one.load is not None)
        for i, one in enumerate(solved.frictions)
    )


def bound_elements(system: System) -> BoundElements:
    """What can stick, slide, touch and part in a system."""

    def contact(solved: Solved, number: int) -> ContactElement:
        one = solved.contacts[number]
        item: Any = system.equations.resolved.model.contacts[one.name]
        law = (float(item.restitution), float(item.rest_speed), float(getattr(item, "friction", 0.0)))
        rough = one.coefficient is not None
        return ContactElement(one.name, number, solved.place(one.name), rough, float(one.width), *law)

    def make() -> BoundElements:
        solved = system.equations.elements.friction
        joints = joint_elements(solved)
        contacts = tuple(contact(solved, number) for number in range(len(solved.contacts)))
        iterated = any(one.coupled for one in joints)
        margins = solved.margin.numel()
        return BoundElements(joints, contacts, solved.coupled, margins, iterated, solved.looped)

    return system.cached("bound elements", make)
