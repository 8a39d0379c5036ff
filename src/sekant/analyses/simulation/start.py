"""The start of a motion: a consistent state from which the equations can be integrated, and equations that suit the
method."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from sekant.analyses.assembly.assemble import assemble, contradictions, overridden
from sekant.analyses.assembly.immobility import refuse_rigid
from sekant.analyses.simulation.runs import EVENT_METHODS
from sekant.engine.arguments import check_state
from sekant.engine.functions.motion import single_rates
from sekant.engine.reports import explain_failure, singularity
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError
from sekant.model.large_angles import large_angles
from sekant.tables.bound_oracle import BoundOracle

SMALL = 40
"""Largest number of degrees of freedom for which the mass matrix is checked before a run."""


def start_of(
    system: System, parameters: Any, initial: State | None, t0: float
) -> tuple[State, list[str], tuple[AnalysisWarning, ...]]:
    """A consistent state to start from, notes on how it was found, and warnings."""
    given = None if initial is None else _checked(system, initial)
    angles: tuple[AnalysisWarning, ...] = ()
    if given is None:
        angles = system.once("large angles", lambda: large_angles(system.model))
    if not system.facts.constrained:
        warned = angles if given else (*angles, *contradictions(overridden(system)))
        return given or system.initial_state(parameters), [], warned
    found = assemble(system, given, t=t0, parameters=parameters)
    report = found.report
    refuse_rigid(system, report)
    notes = [report.described()] if report.moved or report.redundant or report.free else []
    state = State(found.q, found.v)
    if given is not None:
        state = State(found.q, found.v, z=given.z, held=given.held)
    return state, notes, (*angles, *report.warnings)


def refuse_bad_start(system: System, start: State, parameters: Any, balance: bool, t0: float) -> None:
    rhs = single_rates(system, balance)
    work = np.zeros(len(system.work_names) if balance else 0)
    x0 = np.concatenate([start.q, start.v, system.element_states(start, parameters), work])
    xdot = rhs(np.array([t0]), x0, system.parameter_vector(parameters, start.held))[0]
    if not np.isfinite(xdot).all():
        first = int(np.argmin(np.isfinite(xdot)))
        cause = explain_failure(system, t0, x0, parameters) or (
            f"the rate of '{system.state_names[first]}' is {float(xdot.ravel()[first])}"
        )
        raise SolverError(f"model '{system.model.name}' cannot start: {cause}")
    # if masses are constants with value zero, CasADi folds 0/0 to 0: a finite rate proves nothing
    if system.nv > SMALL:
        return
    cause = singularity(system, t0, x0, parameters)
    if cause:
        raise SolverError(f"model '{system.model.name}' cannot start: {cause}")


def _checked(system: System, initial: State) -> State:
    """The given state with its quaternions normalized."""
    check_state(system, initial, "initial state")
    q, v, z = (np.array(part, dtype=float).ravel() for part in (initial.q, initial.v, initial.z))
    if z.size not in (0, system.nz) or not np.isfinite(z).all():
        names = ", ".join(system.facts.z_names)
        raise SolverError(
            "z of the initial state must have one finite value for each state of the elements "
            f"({names or 'none'}); got {z}"
        )
    for first, length in system.facts.unit_blocks:
        norm = np.linalg.norm(q[first : first + length])
        if norm == 0:
            raise SolverError(
                f"the initial quaternion whose first component is '{system.state_names[first]}' is zero; give a unit "
                "quaternion"
            )
        q[first : first + length] /= norm
    held = np.array(getattr(initial, "held", ()), dtype=float).ravel()
    return State(q, v, z=z, held=held)


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
            f"contacts need method {' or '.join(EVENT_METHODS)}, which stop at impacts (got '{method}'); compliant "
            "forces, such as plane_contact and joint_limit, work with every method"
        )
    if system.reactions.dry_friction and method not in EVENT_METHODS:
        warned = smoothed_warnings(system, method)
        system = smoothed(system)
    return system, warned
