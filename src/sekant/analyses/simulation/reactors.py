"""Which reactors and clocks the event loop of a system has."""

from __future__ import annotations

from sekant.analyses.simulation.clocks import ClockedValues, TimeStops
from sekant.analyses.simulation.complementarity import BoundForces
from sekant.analyses.simulation.declared_events import DeclaredEvents
from sekant.analyses.simulation.delays import Delays
from sekant.analyses.simulation.events import Clock, Reactor
from sekant.engine.system import System


def reactors_of(system: System) -> list[Reactor]:
    """For one run; none where the motion is without events."""
    found: list[Reactor] = []
    if system.reactions.bound_forces:
        found.append(BoundForces(system))
    if system.reactions.events:
        found.append(DeclaredEvents())
    return found


def clocks_of(system: System, begin: float, stops: list[float]) -> list[Clock]:
    """For one run from `begin` (s); none where nothing is sampled or delayed. `stops`: jumps in time (s)."""
    found: list[Clock] = []
    if system.reactions.sampled:
        found.append(ClockedValues(system, begin))
    if system.reactions.delayed:
        found.append(Delays(system, begin))
    if found or reactors_of(system):
        found.append(TimeStops(stops))
    return found
