"""Which reactors the event loop of a system has."""

from __future__ import annotations

from sekant.analyses.simulation.contacts import Contacts
from sekant.analyses.simulation.declared import DeclaredEvents
from sekant.analyses.simulation.events import Reactor
from sekant.engine.system import System


def reactors_of(system: System) -> list[Reactor]:
    """For one run; none where the motion is without events."""
    found: list[Reactor] = []
    if system.equations.contacts:
        found.append(Contacts(system))
    if system.equations.events:
        found.append(DeclaredEvents())
    return found
