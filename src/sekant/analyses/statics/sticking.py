"""Dry friction in analyses without time: the state defines which joints stick, and warnings name the assumptions.

The held values of the final state of a simulation contain which joints stick. Those joints keep their positions, and
friction supplies the necessary force; all other joints have no dry friction. In small motions, friction locks a joint
at rest, and the friction of a sliding joint keeps its direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError
from sekant.formulations.friction import slip_places

Floats = NDArray[np.float64]
ROUND_OFF = 1e-13
"""Largest slip, relative to the largest velocity, for which a joint counts as at rest."""


def stuck_in(system: System, state: State | None) -> list[str]:
    """Names of the frictions that stick in a state, by its held values; empty if it has none."""
    held = np.asarray(getattr(state, "held", ()), float).ravel()
    if not system.reactions.dry_friction or not held.size:
        return []
    names = system.facts.held
    return [
        one.name
        for one in system.equations.elements.friction.frictions
        if held[names.index(f"{one.name}.stuck")] > 0.5
    ]


def held_coordinates(system: System, stuck: Sequence[str]) -> list[str]:
    """Names of the coordinates that these frictions lock."""
    if not stuck:
        return []
    frictions, found = system.equations.elements.friction.frictions, []
    for one, k in zip(frictions, slip_places(frictions, system.equations.v), strict=True):
        if one.name not in stuck:
            continue
        if k < 0:
            raise SolverError(
                f"friction '{one.name}' sticks in joint '{one.joint}', whose position is not a coordinate here; "
                "compile with formulation='joint', and let another joint close the loop (cut: true)"
            )
        joint, i = system.equations.motion.v_names[k]
        found.append(f"{joint}.{system.model.joints[joint].coordinates[i].name}")
    return found


def flags(system: System, stuck: Sequence[str]) -> Floats:
    """Held values (nh,) in which these frictions stick and all others have no force."""
    names = system.facts.held
    own = system.parameter_vector()
    held = own[own.size - len(names) :].copy()
    for k, held_name in enumerate(names):
        if held_name in [f"{name}.stuck" for name in stuck]:
            held[k] = 1.0
    return held


def with_flags(system: System, held: Floats, stuck: Sequence[str]) -> Floats:
    """Held values (nh,) with the values of frictions from `flags`, all others unchanged."""
    if not system.reactions.dry_friction:
        return held
    names = {one.name for one in system.equations.elements.friction.frictions}
    own = [name.rpartition(".")[0] in names for name in system.facts.held]
    return np.where(own, flags(system, stuck), held)


def at_rest_warnings(
    system: System,
    stuck: Sequence[str],
    state: State,
    t: float,
    parameters: Mapping[str, ArrayLike] | None,
) -> list[AnalysisWarning]:
    """Warnings about the assumptions on dry friction in an equilibrium: joints that do not stick have no friction,
    and in joints that stick the limit is sufficient."""
    if not system.reactions.dry_friction:
        return []
    solved = system.equations.elements.friction
    held = state.held if state.held.size else flags(system, stuck)
    p = system.parameter_vector(parameters, with_flags(system, held, stuck))
    force, limit = forces_of(system, state, t, parameters, p)
    found = []
    for i, one in enumerate(solved.frictions):
        if one.name not in stuck:
            found.append(
                AnalysisWarning(
                    "friction_ignored",
                    f"friction '{one.name}'",
                    "",
                    "the position found needs no friction; with friction, the joint could rest anywhere in a "
                    "range around it",
                    "for a joint that sticks, start from the final state of a simulation that ends at rest",
                )
            )
        elif abs(force[i]) > limit[i] * (1 + 1e-9):
            found.append(exceeded(one.name, force[i], limit[i]))
    return found


def exceeded(name: str, force: float, limit: float) -> AnalysisWarning:
    """Warning about a friction that cannot supply the necessary force."""
    return AnalysisWarning(
        "friction_exceeded",
        f"friction '{name}'",
        "",
        f"sticking requires {abs(force):.6g} (N or N m), but this friction supplies at most {limit:.6g}",
        "this is not an equilibrium: simulate until the model rests, and start from the final state",
    )


def forces_of(
    system: System, state: State, t: float, parameters: Mapping[str, ArrayLike] | None, p: Floats
) -> tuple[Floats, Floats]:
    """Forces and limits (n,) of all frictions in a state; p determines which stick and slide."""
    eq = system.equations
    solved = eq.elements.friction
    inputs = [eq.t, eq.q, eq.v, eq.z, eq.p]
    function = system.once(
        "forces of friction",
        lambda: system.function("forces_of_friction", inputs, [solved.force, solved.limit]),
    )
    z = system.element_states(state, parameters)
    force, limit = function(np.array([t]), state.q, state.v, z, p)
    return force.ravel(), limit.ravel()


def unmoved(system: System, state: State, t: float, parameters: Mapping[str, ArrayLike] | None) -> list[str]:
    """Names of the frictions without slip, and without a direction in which slip begins, in a state; joints with
    prescribed motions are left out."""
    solved = system.equations.elements.friction
    p, places = system.parameter_vector(parameters, getattr(state, "held", None)), system.held_places
    speeds = _slips(system, state, t, parameters, p)
    return [
        one.name
        for one, speed, driven in zip(solved.frictions, speeds, solved.driven, strict=False)
        if speed == 0.0 and not driven and p[places[f"{one.name}.direction"]] == 0.0
    ]


def branch_parameters(
    system: System,
    state: State,
    t: float,
    parameters: Mapping[str, ArrayLike] | None,
    stuck: Sequence[str] = (),
) -> Floats:
    """Parameters p (np,) for small motions about a state: the frictions `stuck` stick, all others slide as in
    this state."""
    p = system.parameter_vector(parameters, getattr(state, "held", None))
    if not system.reactions.dry_friction:
        return p
    speeds, places = _slips(system, state, t, parameters, p), system.held_places
    for one, speed in zip(system.equations.elements.friction.frictions, speeds, strict=False):
        sticks = one.name in stuck
        p[places[f"{one.name}.stuck"]] = float(sticks)
        if sticks or speed != 0.0:
            p[places[f"{one.name}.direction"]] = 0.0 if sticks else float(np.sign(speed))
    return p


def _slips(system: System, state: State, t: float, parameters: Any, p: Floats) -> Floats:
    """Slip velocities (n,) of frictions and contacts; zero if they are round-off of other velocities."""
    eq = system.equations
    slip = eq.lookups.oracle("slip", [eq.t, eq.q, eq.v, eq.z, eq.p], [eq.elements.friction.slip])
    z = system.element_states(state, parameters)
    found = np.array(slip(t, state.q, state.v, z, p)).ravel()
    return np.where(np.abs(found) <= ROUND_OFF * np.max(np.abs(state.v), initial=0.0), 0.0, found)


def refuse_dry_friction(system: System, what: str) -> None:
    """Raise an error in analyses that do not support dry friction."""
    if system.reactions.dry_friction:
        name = system.equations.elements.friction.frictions[0].name
        raise SolverError(
            f"{what}: dry friction '{name}' cannot stick in this analysis; replace it with an actuator that "
            "applies the same force or torque, use damping, or simulate"
        )
