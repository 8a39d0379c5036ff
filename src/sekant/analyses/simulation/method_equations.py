"""Which equations a method runs where a model has contacts or dry friction, and which it refuses."""

from __future__ import annotations

from sekant.analyses.simulation.regularized import smoothed, smoothed_warnings
from sekant.analyses.simulation.runs import EVENT_METHODS
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError


def suited(system: System, method: str) -> tuple[System, tuple[AnalysisWarning, ...]]:
    """The system, with regularized friction where the method does not stop at events, and what to tell of that."""
    warned: tuple[AnalysisWarning, ...] = ()
    if system.model.contacts and method not in EVENT_METHODS:
        raise SolverError(
            f"contacts need one of the methods {', '.join(EVENT_METHODS)}, which land on them (got "
            f"'{method}'); forces "
            "that give way, such as plane_contact and joint_limit, suit every method"
        )
    if system.reactions.dry_friction and method not in EVENT_METHODS:
        warned = smoothed_warnings(system, method)
        system = smoothed(system)
    return system, warned
