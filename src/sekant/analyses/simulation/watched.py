"""The event functions that a run watches: of dry frictions, rigid contacts and declared events."""

from __future__ import annotations

import casadi as ca
import numpy as np

from sekant.analyses.simulation.bound_forces import bound_elements, bound_event_functions
from sekant.analyses.simulation.problems import EventFunctions
from sekant.engine.system import System
from sekant.geometry.spatial import SX


def declared_event_functions(system: System) -> EventFunctions:
    return EventFunctions(
        lambda: ca.vertcat(SX.zeros(0, 1), *[event.function for event in system.equations.elements.events]),
        np.array([float(event.direction) for event in system.reactions.events]),
    )


def event_functions_of(system: System) -> EventFunctions:
    """The event functions of all reactors of a system, in their order."""

    def make() -> EventFunctions:
        acts = system.reactions
        parts = [bound_event_functions(system, bound_elements(system))] if acts.bound_forces else []
        parts += [declared_event_functions(system)] if acts.events else []
        return EventFunctions(
            lambda: ca.vertcat(SX.zeros(0, 1), *[part.expressions() for part in parts]),
            np.concatenate([np.zeros(0), *[part.directions for part in parts]]),
        )

    return system.once("all event functions", make)


def event_names(system: System) -> list[str]:
    """The element of each event function, for messages."""
    acts, names = system.reactions, []
    if acts.bound_forces:
        bound = bound_elements(system)
        for kind, elements in (("friction", bound.joints), ("contact", bound.contacts)):
            names += [f"{kind} '{one.name}'" for one in elements for _ in range(one.watched)]
        names += ["friction that depends on reactions"] * (bound.margins + bound.iterated)
    return names + [f"event '{event.name}'" for event in acts.events]
