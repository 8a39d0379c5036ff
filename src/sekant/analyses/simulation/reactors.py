"""Which reactors and clocks the event loop of a system has."""

from __future__ import annotations

from collections.abc import Callable

from sekant.analyses.simulation.events import Clock, Reactor
from sekant.engine.system import System


def reactors_of(system: System) -> list[Reactor]:
    """For one run; none where the motion is without events."""
    acts, found = system.reactions, list[Reactor]()
    if acts.bound_forces:
        from sekant.analyses.simulation.complementarity import BoundForces

        found.append(BoundForces(system))
    if acts.events:
        from sekant.analyses.simulation.declared_events import DeclaredEvents

        found.append(DeclaredEvents(system))
    return found


def clocks_of(system: System, begin: float, stops: Callable[[], list[float]]) -> list[Clock]:
    """For one run from `begin` (s); none where nothing is sampled or delayed. `stops`: finds jumps in time (s)."""
    acts, found = system.reactions, list[Clock]()
    if not (acts.sampled or acts.delayed or acts.bound_forces or acts.events):
        return found
    from sekant.analyses.simulation.clocks import ClockedValues, TimeStops
    from sekant.analyses.simulation.delays import Delays

    if acts.sampled:
        found.append(ClockedValues(system, begin))
    if acts.delayed:
        found.append(Delays(system, begin))
    found.append(TimeStops(stops()))
    return found
