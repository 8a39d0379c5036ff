"""Dry friction in analyses without time: which joints stick is part of the state, and what is assumed is said.

A state that a simulation ended in tells which joints stick in it (its held values). They stay where they are and
bear what they have to; all others are taken without their dry friction. Small motions exist where a joint slides: its
friction then has a direction. A joint that sticks is no coordinate of small motions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.system import State, System
from sekant.errors import AnalysisWarning, SolverError

Floats = NDArray[np.float64]


def stuck_in(system: System, state: State | None) -> list[str]:
    """Names of the frictions that stick in a state, by its held values; none where it has none."""
    held = np.asarray(getattr(state, "held", ()), float).ravel()
    if not system.equations.dry_friction or not held.size:
        return []
    names = [value.name for value in system.equations.held_values]
    return [
        one.name
        for one in system.equations.friction.frictions
        if held[names.index(f"{one.name}.stuck")] > 0.5
    ]


def held_coordinates(system: System, stuck: Sequence[str]) -> list[str]:
    """Names of the coordinates that these frictions hold."""
    found = []
    for name in stuck:
        one = next(item for item in system.equations.friction.frictions if item.name == name)
        places = [k for k in range(system.nv) if ca.is_equal(one.slip, system.equations.v[k])]
        if not places:
            raise SolverError(
                f"friction '{name}' sticks in joint '{one.joint}', which is no coordinate here; compile with "
                "formulation='joint' and let another joint close the loop (cut: true)"
            )
        joint, i = system.equations.motion.v_names[places[0]]
        found.append(f"{joint}.{system.model.joints[joint].coordinates[i].name}")
    return found


def flags(system: System, stuck: Sequence[str]) -> Floats:
    """Held values (nh,) in which these frictions stick and all others do nothing."""
    values = system.equations.held_values
    own = system.parameter_vector()
    held = own[own.size - len(values) :].copy()
    for k, value in enumerate(values):
        if value.name in [f"{name}.stuck" for name in stuck]:
            held[k] = 1.0
    return held


def with_flags(system: System, held: Floats, stuck: Sequence[str]) -> Floats:
    """Held values (nh,) with the flags of friction of `flags`, all others as they are."""
    solved = system.equations.friction
    if solved is None:
        return held
    names = {one.name for one in solved.frictions}
    own = [value.name.rpartition(".")[0] in names for value in system.equations.held_values]
    return np.where(own, flags(system, stuck), held)


def at_rest_warnings(
    system: System,
    stuck: Sequence[str],
    q: Floats,
    t: float,
    parameters: Mapping[str, ArrayLike] | None,
) -> list[AnalysisWarning]:
    """What an equilibrium assumes of dry friction: none in joints that do not stick, enough in those that do."""
    solved = system.equations.friction
    if not system.equations.dry_friction:
        return []
    force, limit = _forces(system, stuck, q, t, parameters)
    found = []
    for i, one in enumerate(solved.frictions):
        if one.name not in stuck:
            found.append(
                AnalysisWarning(
                    "friction_ignored",
                    f"friction '{one.name}'",
                    "",
                    "the position found needs none of it; with it, the joint would rest in a range around",
                    "for a joint that sticks start from the final state of a simulation that ends at rest",
                )
            )
        elif abs(force[i]) > limit[i] * (1 + 1e-9):
            found.append(
                AnalysisWarning(
                    "friction_exceeded",
                    f"friction '{one.name}'",
                    "",
                    f"it would have to bear {abs(force[i]):.6g}, but sticks up to {limit[i]:.6g} (N or N m) only",
                    "this is no rest: simulate, and start from where the motion ends",
                )
            )
    return found


def _forces(
    system: System, stuck: Sequence[str], q: Floats, t: float, parameters: Any
) -> tuple[Floats, Floats]:
    """Forces and limits (n,) of all frictions at rest at q."""
    eq = system.equations
    solved = eq.friction
    inputs = [eq.t, eq.q, eq.v, eq.z, eq.p]
    function = system.once(
        "friction at rest", lambda: system.function("friction_at_rest", inputs, [solved.force, solved.limit])
    )
    p = system.parameter_vector(parameters, flags(system, stuck))
    z = system.element_states(State(q, np.zeros(system.nv)), parameters)
    force, limit = function(np.array([t]), q, np.zeros(system.nv), z, p)
    return force.ravel(), limit.ravel()


def sliding_parameters(
    system: System, state: State, t: float, parameters: Mapping[str, ArrayLike] | None
) -> Floats:
    """p (np,) for small motions about a state in which every joint with dry friction slides."""
    p = system.parameter_vector(parameters, getattr(state, "held", None))
    eq = system.equations
    solved = eq.friction
    if not eq.dry_friction:
        return p
    slip = eq.lookups.oracle("slip", [eq.t, eq.q, eq.v, eq.z, eq.p], [solved.slip])
    z = system.element_states(state, parameters)
    w = np.array(slip(t, state.q, state.v, z, p)).ravel()
    names = [value.name for value in eq.held_values]
    for one, speed in zip(solved.frictions, w, strict=False):
        if speed == 0.0:
            raise SolverError(
                f"linearize: friction '{one.name}' holds joint '{one.joint}' at rest, and small "
                "motions of a joint that "
                "sticks do not exist; drive its coordinate by a constant (a driver), leave the friction out, or "
                "linearize about a state in which it slides (at='motion')"
            )
        for part, value in (("stuck", 0.0), ("direction", float(np.sign(speed)))):
            p[p.size - len(names) + names.index(f"{one.name}.{part}")] = value
    return p


def refuse_dry_friction(system: System, what: str) -> None:
    """For analyses that do not know it."""
    if system.equations.dry_friction:
        name = system.equations.friction.frictions[0].name
        raise SolverError(
            f"{what}: dry friction '{name}' is not known here; give its moment as an actuator of that sign, use "
            "damping, or simulate"
        )
