"""Which equations a method runs where a model has contacts, dry friction or events, and which it refuses."""

from __future__ import annotations

from sekant.analyses.simulation.regularized import smoothed, smoothed_warnings
from sekant.analyses.simulation.runs import EVENT_METHODS, LANDING_METHODS
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError


def suited(system: System, method: str) -> tuple[System, tuple[AnalysisWarning, ...]]:
    """The system, with regularized friction where the method does not stop at events, and what to tell of that."""
    warned: tuple[AnalysisWarning, ...] = ()
    acts = system.reactions
    if system.model.contacts and method not in EVENT_METHODS:
        raise SolverError(
            f"contacts need one of the methods {', '.join(EVENT_METHODS)}, which land on them (got "
            f"'{method}'); forces "
            "that give way, such as plane_contact and joint_limit, suit every method"
        )
    if acts.dry_friction and method not in EVENT_METHODS:
        warned = smoothed_warnings(system, method)
        system = smoothed(system)
        acts = system.reactions
    if (acts.bound_forces or acts.events) and method not in LANDING_METHODS:
        raise SolverError(
            f"events of signals and forces need one of the methods {', '.join(LANDING_METHODS)}, which locate them "
            f"(got '{method}')"
        )
    return system, warned
