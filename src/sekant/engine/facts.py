"""Plain facts about the equations of a system, for analyses that need no expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sekant.model.model import Model
from sekant.model.resolve import Parameter, default_values


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts about coordinates, parameters and constraints, with the names that users see.

    `given`: inputs that are functions of time here. `rows`: the constraint of each equation; the first
    `positions` restrict positions; `rolling`: names of the others, which restrict velocities.
    `unit_blocks`: (start, length) of the blocks of q with unit norm. `completes`: whether a start contains
    values that follow from the rest.
    """

    nq: int
    nv: int
    nz: int
    formulation: str
    algorithm: str
    parameters: tuple[Parameter, ...]
    inputs: tuple[str, ...]
    given: tuple[str, ...]
    held: tuple[str, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    z_names: tuple[str, ...]
    unit_blocks: tuple[tuple[int, int], ...]
    rows: tuple[str, ...]
    positions: int
    rolling: tuple[str, ...]
    constrained: bool
    placed_by_joints: bool
    completes: bool

    def with_defaults(self, model: Model, numbers: Mapping[str, float]) -> Facts:
        """A copy with these `numbers`, and those of `model`, as defaults of the run-time parameters."""
        others = [one.name for one in self.parameters if one.name not in numbers]
        own = {**{name: np.array([x]) for name, x in numbers.items()}, **default_values(model, others)}
        return replace(self, parameters=tuple(Parameter(one.name, own[one.name]) for one in self.parameters))


def facts_of(eq: Any, inputs: tuple[str, ...]) -> Facts:
    """Facts of equations that implement the contract; `inputs`: those of the model."""
    q_names, v_names = eq.motion.state_names()
    blocks = list(eq.ordered_blocks)
    return Facts(
        nq=eq.nq,
        nv=eq.nv,
        nz=eq.z.numel(),
        formulation=eq.formulation,
        algorithm=eq.algorithm,
        parameters=tuple(eq.resolved.parameters),
        inputs=tuple(name for name in inputs if name not in eq.resolved.given),
        given=tuple(eq.resolved.given),
        held=tuple(value.name for value in eq.elements.held_values),
        q_names=tuple(q_names),
        v_names=tuple(v_names),
        z_names=tuple(eq.elements.names),
        unit_blocks=tuple((int(a), int(n)) for a, n in eq.motion.unit_blocks),
        rows=tuple(block.name for block in blocks for _ in range(block.rows)),
        positions=sum(block.rows for block in blocks if block.holonomic),
        rolling=tuple(block.name for block in blocks if not block.holonomic),
        constrained=bool(eq.constraints),
        placed_by_joints=eq.start.placed_by_joints,
        completes=eq.start.completes,
    )


@dataclass(frozen=True)
class StartFacts:
    """Inputs of the assembly. For each velocity: the name of its coordinate if there is one, else its own;
    the weights of the start values of the coordinate and the velocity; whether the model states them
    (`stated`, `stated_rates`); and how far they may change without a warning (`slack`, `rate_slack`).

    `counts`: coordinates that count turns and begin at a number that the model states. `cuts`: joints that close
    loops. `driven`: whether the constraints move with time, or coordinates do. `fills`: whether velocities that are
    not stated take the least kinetic energy. `overridden`: name, stated and actual start value of quantities
    that are not coordinates. `turning`: coordinates that may differ by whole turns at the same pose.
    """

    coordinate_of: tuple[str, ...]
    weights: tuple[float, ...]
    rate_weights: tuple[float, ...]
    counts: tuple[int, ...]
    cuts: tuple[str, ...]
    driven: bool
    stated: tuple[bool, ...]
    stated_rates: tuple[bool, ...]
    slack: tuple[float, ...]
    rate_slack: tuple[float, ...]
    fills: bool
    overridden: tuple[tuple[str, float, float], ...]
    turning: tuple[int, ...]


def start_facts_of(eq: Any) -> StartFacts:
    motion = eq.motion
    q_names, v_names = eq.motion.state_names()
    position = {key: q_names[i] for i, key in enumerate(motion.q_names)}
    owners = [motion.owner_of(key[0]) for key in motion.v_names]
    simple = [joint is None or joint.unit_quaternion is None for joint in owners]
    return StartFacts(
        coordinate_of=tuple(
            position[key] if plain else v_names[i]
            for i, (key, plain) in enumerate(zip(motion.v_names, simple, strict=True))
        ),
        weights=tuple(eq.start.weight(key, velocity=False) for key in motion.v_names),
        rate_weights=tuple(eq.start.weight(key, velocity=True) for key in motion.v_names),
        counts=tuple(eq.start.stated_counts),
        cuts=tuple(motion.cuts),
        driven=not eq.lookups.jacobian(eq.Phi, eq.t).is_zero() or bool(motion.driven),
        stated=tuple(eq.start.stated(key, velocity=False) for key in motion.v_names),
        stated_rates=tuple(eq.start.stated(key, velocity=True) for key in motion.v_names),
        slack=tuple(eq.start.slack(key, velocity=False) for key in motion.v_names),
        rate_slack=tuple(eq.start.slack(key, velocity=True) for key in motion.v_names),
        fills=eq.start.fills,
        overridden=tuple(eq.start.overridden),
        turning=tuple(
            i
            for i, (name, k) in enumerate(motion.q_names)
            if k in getattr(motion.owner_of(name), "turns", ())
        ),
    )


@dataclass(frozen=True)
class EventFacts:
    """An event without its expressions, see `sekant.model.motion.Event`; `sets`: names of the values it sets."""

    name: str
    direction: int
    sets: tuple[str, ...]
    stop: str
    level: bool


@dataclass(frozen=True)
class SampleFacts:
    """A sample without its expression, see `sekant.model.motion.Sampled`; `name`: of the held value."""

    name: str
    period: float
    offset: float


@dataclass(frozen=True)
class DelayFacts:
    """A delay without its expression, see `sekant.model.motion.Delayed`."""

    owner: str
    time: float
    pieces: int
    degree: int


@dataclass(frozen=True)
class Reactions:
    """The non-smooth elements: whether there is dry friction, and whether forces of friction or contacts are bound
    to their limits; all events, samples and delays, in the order of the model."""

    dry_friction: bool
    bound_forces: bool
    events: tuple[EventFacts, ...]
    sampled: tuple[SampleFacts, ...]
    delayed: tuple[DelayFacts, ...]


def reactions_of(eq: Any) -> Reactions:
    found = eq.elements
    return Reactions(
        dry_friction=found.dry_friction,
        bound_forces=found.friction is not None and not found.regularized,
        events=tuple(
            EventFacts(one.name, one.direction, tuple(map(".".join, one.sets)), one.stop, one.level)
            for one in found.events
        ),
        sampled=tuple(SampleFacts(".".join(one.key), one.period, one.offset) for one in found.sampled),
        delayed=tuple(DelayFacts(one.owner, one.time, one.pieces, one.degree) for one in found.delayed),
    )
