"""States of signals and force elements at rest, in steady motion and in linear models.

These analyses use a *frozen* system, in which the states are run-time parameters. At rest the states are unknowns
whose rates must be zero; in a linear model they are inputs, and their rates are outputs. Delays are replaced by their
Pade approximations. Elements with branches stay on their branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.functions.outputs import frozen_system, rate_name
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SolverError

Array = NDArray[np.float64]
Found = TypeVar("Found")
MOST_BRANCHES = 10
STILL = 1e-6
"""Largest rate of a state, relative to the terms that change it, for which it counts as constant."""


def has_states(system: System) -> bool:
    """Whether equilibria and linear models of `system` need the frozen system."""
    return bool(system.nz or system.reactions.delayed or system.reactions.sampled)


def smooth(system: System) -> System:
    """The system with delays as Pade approximations; raises an error for sampled signals."""
    if system.reactions.sampled:
        name = system.equations.elements.sampled[0].key[0]
        raise SolverError(
            f"signal '{name}' is sampled: it has no equilibrium or linear model in continuous time; replace "
            "it with its continuous counterpart (an expression of its input, an integral, a pid), or simulate"
        )
    if not system.reactions.delayed:
        return system

    def make() -> System:
        model = system.model
        signals = {name: signal.smooth() for name, signal in model.signals.items()}
        return system.recompiled(model.model_copy(update={"signals": signals}), list(system.parameters))

    return system.once("smooth", make)


def states_by_name(system: System, state: State | None, parameters) -> dict[str, float]:
    """The states z in a state of `system`, by name; by default the values at the model's own start."""
    state = State(np.zeros(0), np.zeros(0)) if state is None else state
    return dict(zip(system.facts.z_names, system.element_states(state, parameters), strict=True))


def held_by_name(system: System, state: State | None, parameters) -> dict[str, float]:
    """Held values of a state of `system`, by name."""
    names = system.facts.held
    p = system.parameter_vector(parameters, getattr(state, "held", None))
    return dict(zip(names, p[p.size - len(names) :], strict=True))


def held_row(system: System, known: Mapping[str, float]) -> Array:
    """Held values (nh,) from values by name."""
    return np.array([known[name] for name in system.facts.held])


def targets_of(system: System) -> dict[str, float]:
    """Targets of the frozen system: the rates of all states are zero."""
    return {rate_name(name): 0.0 for name in system.facts.z_names}


def on_branches(
    system: System, held: Array, find: Callable[[Array], tuple[Found, State, Mapping[str, ArrayLike] | None]]
) -> Found:
    """The result of `find` with held values that are consistent with it.

    `find(held)` returns the result, its state in `system`, and the run-time parameters.
    """
    for _ in range(MOST_BRANCHES):
        found, state, parameters = find(held)
        if not system.reactions.events:
            return found
        from sekant.analyses.simulation.declared_events import DeclaredEvents
        from sekant.analyses.simulation.events import Instant

        p = system.parameter_vector(parameters, held)
        z = system.element_states(state, parameters)
        t = float(getattr(state, "t", 0.0))
        here = DeclaredEvents(system).settled(Instant(system, t, state.q, state.v, z, p), None)
        if np.array_equal(here.held, held):
            return found
        held = here.held
    names = ", ".join(sorted({f"'{event.name}'" for event in system.reactions.events}))
    raise SolverError(
        f"no branch of {names} has an equilibrium: each one found switches to another branch; simulate instead"
    )


def held_of(system: System, frozen: State, parameters: Mapping[str, ArrayLike]) -> Array:
    """Held values (nh,) of `system` at a state of its smooth, frozen form.

    Delays, which are Pade approximations there, have constant outputs equal to their inputs.
    """
    base = frozen_system(smooth(system))
    held = {**held_by_name(system, None, None), **held_by_name(base, frozen, parameters)}
    if system.reactions.delayed:
        names = [one.owner for one in system.reactions.delayed]
        outputs = base.outputs(frozen, names, parameters=parameters)
        held |= {f"{name}.c0": float(outputs[name]) for name in names}
    return held_row(system, held)
