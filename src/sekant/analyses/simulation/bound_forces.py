"""Dry frictions and rigid contacts: the elements whose states the complementarity step decides.

The procedures of `sekant.solvers.complementarity` decide whether each element sticks, slides, touches or separates.
This module defines the event functions of the elements, and the parts of the equations that the procedures need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.problems import EventFunctions
from sekant.engine.functions.single import SingleFunction
from sekant.engine.system import System
from sekant.formulations.friction import Solved
from sekant.geometry.spatial import SX, scalar
from sekant.solvers.complementarity.decide import JAMS, MISSES
from sekant.solvers.complementarity.elements import STARTS
from sekant.solvers.complementarity.memory import (
    DecidedElements,
    Decision,
    DecisionFunctions,
    lay_out_decision,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class JointElement:
    """Dry friction in a joint, force number `i`.

    `driven`: its slip is prescribed; `coupled`: its normal force is a reaction.
    """

    name: str
    i: int
    driven: bool
    coupled: bool

    @property
    def watched(self) -> int:
        """Number of its event functions."""
        return 2 if self.driven else 1

    @property
    def held(self) -> tuple[str, ...]:
        """Names of the held values that represent its state."""
        return f"{self.name}.stuck", f"{self.name}.direction"

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
    """Rigid contact number `number`; its normal force is force number `i`. `rough`: with friction.

    `width` (m/s): see `ContactForces`.
    """

    name: str
    number: int
    i: int
    rough: bool
    width: float

    @property
    def watched(self) -> int:
        """Number of its event functions."""
        return 2 if self.rough else 1

    @property
    def held(self) -> tuple[str, ...]:
        """Names of the held values that represent its state."""
        parts = ("closed", "stuck", "direction_1", "direction_2") if self.rough else ("closed",)
        return tuple(f"{self.name}.{part}" for part in parts)

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
    """All dry frictions and rigid contacts of a system.

    `coupled`: whether friction depends on forces that depend on it; `margins`: number of margins to jamming;
    `iterated`: whether Newton's method finds the forces; `looped`: whether constraints may determine a slip;
    `constraints`, `forces`: their numbers.
    """

    joints: tuple[JointElement, ...]
    contacts: tuple[ContactElement, ...]
    coupled: bool
    margins: int
    iterated: bool
    looped: bool
    constraints: int
    forces: int


def joint_elements(solved: Solved) -> tuple[JointElement, ...]:
    """One element for every dry friction."""
    return tuple(
        JointElement(one.name, i, solved.driven[i], one.load is not None)
        for i, one in enumerate(solved.frictions)
    )


def bound_elements(system: System) -> BoundElements:
    """All dry frictions and rigid contacts of a system."""

    def contact(solved: Solved, number: int) -> ContactElement:
        one = solved.contacts[number]
        rough = one.coefficient is not None
        return ContactElement(one.name, number, solved.place(one.name), rough, float(one.width))

    def make() -> BoundElements:
        solved = system.equations.elements.friction
        joints = joint_elements(solved)
        contacts = tuple(contact(solved, number) for number in range(len(solved.contacts)))
        iterated = any(one.coupled for one in joints)
        margins = solved.margin.numel()
        sizes = (system.equations.rate.numel(), solved.slip.numel())
        return BoundElements(joints, contacts, solved.coupled, margins, iterated, solved.looped, *sizes)

    return system.cached("bound elements", make)


def bound_event_functions(system: System, bound: BoundElements) -> EventFunctions:
    """Event functions that fall through zero: the functions of every element, the margins to jamming, and the
    margin of the error of Newton's method."""
    elements = [*bound.joints, *bound.contacts]
    count = sum(element.watched for element in elements) + bound.margins + bound.iterated

    def make() -> SX:
        solved = system.equations.elements.friction
        watched = [function for element in elements for function in element.event_functions(solved)]
        watched += [solved.margin[k] - JAMS for k in range(bound.margins)]
        watched += [MISSES - solved.miss] if bound.iterated else []
        assert len(watched) == count
        return ca.vertcat(SX.zeros(0, 1), *watched)

    return EventFunctions(make, -np.ones(count))


def decision_functions(system: System) -> DecisionFunctions:
    """The functions that the procedures call; compiled once per system."""
    return DecisionFunctions(*(one.of(system) for one in decisions_at_states(system)))


def decisions_at_states(system: System) -> list[SingleFunction]:
    """Forces, velocity rows and kinetic energy."""

    def values() -> list[SX]:
        solved, empty = system.equations.elements.friction, SX.zeros(0, 1)
        gaps = ca.vertcat(empty, *[one.gap for one in solved.contacts])
        items = [system.equations.resolved.model.contacts[one.name] for one in solved.contacts]
        laws = {
            "coefficient": [SX(0) if one.coefficient is None else one.coefficient for one in solved.contacts],
            "restitution": [scalar(one.restitution) for one in items],
            "rest_speed": [scalar(one.rest_speed) for one in items],
            "width": [one.width for one in solved.frictions],
        }
        terms = [solved.slip, solved.slip_rate, solved.force, solved.limit, solved.mobility, gaps]
        terms += [ca.vertcat(empty, *numbers) for numbers in laws.values()]
        return [*terms, solved.margin, solved.miss]

    def rows() -> list[SX]:
        eq, slip = system.equations, system.equations.elements.friction.slip
        slope = ca.densify(eq.lookups.jacobian(slip, eq.v))
        return [ca.densify(eq.mass_matrix), ca.densify(eq.G), eq.rate, slope, slip]

    def kinetic() -> list[SX]:
        return [system.equations.energies.kinetic]

    def of(key: str, results: Callable[[], list[SX]]) -> SingleFunction:
        def terms() -> tuple[list[SX], list[SX]]:
            eq = system.equations
            return [eq.t, eq.q, eq.v, eq.z, eq.p], results()

        return SingleFunction(key, key.replace(" ", "_"), terms)

    return [of("bound forces", values), of("velocity rows", rows), of("kinetic", kinetic)]


def decision_of(
    system: System, bound: BoundElements, functions: DecisionFunctions, point: Sequence[Floats]
) -> Decision:
    """Memory of the decision on all elements, at the point (t, q, v, z, p) in these arrays."""
    joints, contacts, places = bound.joints, bound.contacts, system.held_places
    every = [*joints, *contacts]
    place = np.zeros((len(every), 4), dtype=np.int64)
    for line, one in zip(place, every, strict=True):
        line[: len(one.held)] = [places[name] for name in one.held]
    nothing = [0] * len(joints)

    def whole(values: list) -> Any:
        return np.array(values, dtype=np.int64)

    elements = DecidedElements(
        frictions=len(joints),
        force=whole([one.i for one in every]),
        driven=whole([one.driven for one in joints] + [0] * len(contacts)),
        coupled=whole([one.coupled for one in joints] + [0] * len(contacts)),
        rough=whole(nothing + [one.rough for one in contacts]),
        place=place,
        width=np.array([0.0] * len(joints) + [one.width for one in contacts]),
        looped=int(bound.looped),
        reactive=int(bound.coupled),
    )
    counts = (system.nv, bound.constraints, bound.forces, len(joints), len(contacts), bound.margins)
    return lay_out_decision(functions, elements, point, counts)
