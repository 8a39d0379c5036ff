"""Contacts and dry friction with methods that do not stop at events: contacts are refused, friction follows its
regularized law, with a warning that states its width."""

from __future__ import annotations

import casadi as ca

from sekant.analyses.simulation.runs import EVENT_METHODS
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError
from sekant.tables.bound_oracle import BoundOracle


def smoothed(system: System) -> System:
    """The system with the regularized law of dry friction, for methods that do not stop at events."""
    return system.with_equations("smoothed friction", lambda: system.equations.changed(regularized=True))


def smoothed_warnings(system: System, method: str) -> tuple[AnalysisWarning, ...]:
    """Warnings about a run with the regularized law."""

    def make() -> tuple[tuple[str, ...], BoundOracle]:
        eq = system.equations
        frictions = eq.elements.friction.frictions
        widths = ca.vertcat(*[one.width for one in frictions])
        return tuple(one.name for one in frictions), eq.lookups.bound([eq.p], [widths])

    names, widths_at = system.cached("friction widths", make)
    found = []
    for name, width in zip(names, widths_at(system.parameter_vector())[0].ravel(), strict=True):
        found.append(
            AnalysisWarning(
                "friction_regularized",
                f"friction '{name}'",
                "",
                f"method '{method}' cannot stop at events: friction changes its sign gradually over a width "
                f"of {width:g} (m/s or rad/s), so a joint that should stick creeps",
                "use method 'taylor' or 'dop853' for exact sticking, or a smaller width",
            )
        )
    return tuple(found)


def suited(system: System, method: str) -> tuple[System, tuple[AnalysisWarning, ...]]:
    """The system, with regularized friction if the method does not stop at events, and warnings about that."""
    warned: tuple[AnalysisWarning, ...] = ()
    if system.model.contacts and method not in EVENT_METHODS:
        raise SolverError(
            f"contacts need one of the methods {', '.join(EVENT_METHODS)}, which stop at impacts (got "
            f"'{method}'); compliant forces, such as plane_contact and joint_limit, suit every method"
        )
    if system.reactions.dry_friction and method not in EVENT_METHODS:
        warned = smoothed_warnings(system, method)
        system = smoothed(system)
    return system, warned
