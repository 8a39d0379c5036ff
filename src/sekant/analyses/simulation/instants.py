"""The memory of contacts, friction, events, samples and delays of a system; see `sekant.solvers.instants`."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from sekant.analyses.simulation.bound_forces import (
    bound_elements,
    bound_event_functions,
    decision_functions,
    decision_of,
)
from sekant.analyses.simulation.declared_events import event_cascade, functions_of_events
from sekant.analyses.simulation.samples_and_delays import delay_inputs, sample_function
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.facts import DelayFacts
from sekant.engine.system import System
from sekant.solvers.common.memory import new_point
from sekant.solvers.instants.delay_lines import DelayLines, lay_out_delays
from sekant.solvers.instants.instants import InstantMemory, lay_out_instants
from sekant.solvers.instants.samples import SampleClock, lay_out_samples

PASSAGES = 3
"""Number of pieces that one kink ends while it passes through delays, until it is smooth."""
SPARE = 16
"""Number of pieces for which a delay has memory in addition to those that its grid and samples cause."""
JUMPS = 32
"""Number of additional pieces for which a delay has memory, because pieces end at jumps of inputs of the model."""


def instants_of(system: System) -> InstantMemory:
    """New memory with the parts that the system needs."""
    acts, sizes = system.reactions, (system.nq, system.nv, system.nz, system.parameter_vector().size)
    point = new_point(sizes)
    parts: dict[str, Any] = {}
    if acts.bound_forces:
        bound = bound_elements(system)
        parts["bound"] = decision_of(system, bound, decision_functions(system), point)
        parts["guards"] = int(bound_event_functions(system, bound).directions.size)
    if acts.events:
        parts["declared"] = event_cascade(system, point)
    return lay_out_instants(point, **parts, **_clocks(system, point))


def clocks_memory(system: System) -> InstantMemory:
    """Memory as from `instants_of`, but only for samples and delays."""
    point = new_point((system.nq, system.nv, system.nz, system.parameter_vector().size))
    return lay_out_instants(point, **_clocks(system, point))


def _clocks(system: System, point: list) -> dict[str, Any]:
    acts = system.reactions
    samples = {"samples": _samples(system, point)} if acts.sampled else {}
    return samples | ({"delays": _delays(system, point)} if acts.delayed else {})


def instant_functions(system: System) -> dict[str, NativeFunction]:
    """The functions that the procedures call, by name."""
    acts, found = system.reactions, dict[str, Any]()
    if acts.bound_forces:
        called = decision_functions(system)
        found |= {"bound_forces": called.values, "velocity_rows": called.rows, "kinetic": called.energy}
    if acts.events:
        found |= functions_of_events(system)
    if acts.sampled:
        found["samples"] = sample_function(system)
    if acts.delayed:
        found["delayed"] = delay_inputs(system)
    return found


def _samples(system: System, point: list) -> SampleClock:
    facts, places = system.reactions.sampled, system.held_places
    return lay_out_samples(
        point,
        sample_function(system),
        period=np.array([one.period for one in facts]),
        offset=np.array([one.offset for one in facts]),
        place=np.array([places[one.name] for one in facts], dtype=np.int64),
    )


def _delays(system: System, point: list) -> DelayLines:
    facts, places = system.reactions.delayed, system.held_places
    place = np.zeros((len(facts), 3 + max(one.degree for one in facts)), dtype=np.int64)
    for line, one in zip(place, facts, strict=True):
        names = ["middle", "half", *(f"c{k}" for k in range(one.degree + 1))]
        line[: len(names)] = [places[f"{one.owner}.{name}"] for name in names]
    return lay_out_delays(
        point,
        delay_inputs(system),
        most_pieces(system),
        time=np.array([one.time for one in facts]),
        grid=np.array([one.time / one.pieces for one in facts]),
        degree=np.array([one.degree for one in facts], dtype=np.int64),
        place=place,
    )


def most_pieces(system: System) -> int:
    """Largest number of pieces that a delay may have to store."""
    samples, delays = system.reactions.sampled, system.reactions.delayed

    def of(one: DelayFacts) -> int:
        kinks = sum(ceil(one.time / sample.period) + 1 for sample in samples)
        others = sum(ceil(one.time / other.time) + 1 for other in delays)
        return one.pieces + PASSAGES * (kinks + others) + SPARE + JUMPS

    return max(map(of, delays))
