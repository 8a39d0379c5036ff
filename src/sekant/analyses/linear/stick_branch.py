"""Linear models with sticking joints, whose dry friction is replaced by a constraint.

A joint at rest with dry friction does not move under small forces: its coordinate is constant, and the multiplier of
its constraint is the friction force. Sliding friction has a direction and remains a force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sekant.analyses.statics.equilibrium import Equilibrium, equilibrium
from sekant.analyses.statics.sticking import branch_parameters, exceeded, forces_of, stuck_in, unmoved
from sekant.analyses.steady.element_states import held_by_name, held_row
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.model.constraints import Constraint, Coupling
from sekant.model.expressions.expression import Expression


@dataclass(frozen=True, eq=False)
class StickBranch:
    """The system with constraints for the joints that stick, its state and parameters, and the warnings."""

    system: System
    state: State
    parameters: dict[str, ArrayLike]
    warnings: tuple[AnalysisWarning, ...]


def stick_branch(
    system: System,
    state: State | None,
    t: float,
    at: str | None,
    parameters: Mapping[str, ArrayLike] | None,
) -> StickBranch | None:
    """The system to linearize if joints stick in `state` (None: the equilibrium); None if no joint sticks."""
    if not system.reactions.dry_friction or (state is None and at in ("steady", "motion")):
        return None
    if state is None:
        state = equilibrium(system, parameters=parameters, t=t)
    if isinstance(state, Equilibrium) and parameters is None:
        parameters = state.parameters
    sticking = stuck_in(system, state)
    stuck = [*sticking, *(name for name in unmoved(system, state, t, parameters) if name not in sticking)]
    if not stuck:
        return None
    inner = system.once(("stuck", tuple(stuck)), lambda: _held(system, stuck))
    places = _positions(system, stuck, state, t, parameters)
    own = {name: x for name, x in (parameters or {}).items() if name.rpartition(".")[0] not in stuck}
    held = held_row(inner, held_by_name(system, state, parameters))
    warnings = _assumed(system, [name for name in stuck if name not in sticking])
    warnings += _overloaded(system, stuck, state, t, parameters)
    return StickBranch(inner, replace(state, held=held), {**own, **places}, tuple(warnings))


def without_friction(
    system: System, state: State, parameters: Mapping[str, ArrayLike] | None
) -> tuple[System, State, dict[str, ArrayLike]]:
    """The system without the dry part of its frictions, with the corresponding state and parameters."""
    names = [one.name for one in system.equations.elements.friction.frictions]
    parts = ("level", "static", "coefficient", "static_coefficient", "radius", "stribeck")
    dry: dict[str, None] = dict.fromkeys(parts)

    def make() -> System:
        forces = {
            name: force.model_copy(update=dry) if name in names else force
            for name, force in system.model.forces.items()
        }
        return system.recompiled(system.model.changed(forces=forces), own(system.parameters))

    def own(parameters: Mapping[str, ArrayLike]) -> list[str]:
        gone = {f"{name}.{field}" for name in names for field in dry}
        return [name for name in parameters if name not in gone]

    inner = system.once("without friction", make)
    held = held_row(inner, held_by_name(system, state, parameters))
    return (
        inner,
        replace(state, held=held),
        {name: (parameters or {})[name] for name in own(parameters or {})},
    )


def _place(k: int) -> str:
    """The run-time parameter of the position of stuck joint k."""
    return f"stuck_place_{k}"


def _held(system: System, stuck: Sequence[str]) -> System:
    """The system with a constraint of the same name instead of each friction in `stuck`."""
    eq, model = system.equations, system.model
    constraints: dict[str, Constraint] = dict(model.constraints)
    for k, name in enumerate(stuck):
        joint, i, _ = eq.elements.stated_actions[name].generalized[0]
        constraints[name] = Coupling(
            joint=joint,
            coordinate=i,
            driven=joint,
            driven_coordinate=i,
            ratio=0.0,
            offset=Expression(_place(k)),
        )
    places = [_place(k) for k in range(len(stuck))]
    own = [name for name in system.parameters if name.rpartition(".")[0] not in stuck]
    held = model.changed(
        forces={name: force for name, force in model.forces.items() if name not in stuck},
        constraints=constraints,
        parameters={**model.parameters, **dict.fromkeys(places, 0.0)},
    )
    return system.recompiled(held, [*own, *places])


def _positions(
    system: System, stuck: Sequence[str], state: State, t: float, parameters: Mapping[str, ArrayLike] | None
) -> dict[str, ArrayLike]:
    """Positions of the stuck joints, by run-time parameter."""
    eq = system.equations
    found: dict[str, ArrayLike] = {}
    p = system.parameter_vector(parameters, state.held)
    for k, name in enumerate(stuck):
        joint, i, _ = eq.elements.stated_actions[name].generalized[0]
        place = eq.lookups.oracle("place", [eq.t, eq.q, eq.p], [eq.motion.coordinate(joint, i)[0]])
        found[_place(k)] = float(np.array(place(t, state.q, p)).ravel()[0])
    return found


def _assumed(system: System, names: Sequence[str]) -> list[AnalysisWarning]:
    joints = {one.name: one.joint for one in system.equations.elements.friction.frictions}
    return [
        AnalysisWarning(
            "friction_sticks",
            f"friction '{name}'",
            "",
            f"joint '{joints[name]}' is at rest and held by friction; the linear model treats it as locked",
            "for motions large enough to make it slide, leave the friction out, or linearize about a state "
            "in which it slides (at='motion')",
        )
        for name in names
    ]


def _overloaded(
    system: System,
    stuck: Sequence[str],
    state: State,
    t: float,
    parameters: Mapping[str, ArrayLike] | None,
) -> list[AnalysisWarning]:
    """Warnings about frictions whose required force exceeds their limit."""
    p = branch_parameters(system, state, t, parameters, stuck)
    force, limit = forces_of(system, state, t, parameters, p)
    frictions = system.equations.elements.friction.frictions
    return [
        exceeded(one.name, force[i], limit[i])
        for i, one in enumerate(frictions)
        if one.name in stuck and abs(force[i]) > limit[i] * (1 + 1e-9)
    ]
