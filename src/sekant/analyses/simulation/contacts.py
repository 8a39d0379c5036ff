"""Motion with contacts: from event to event, with impacts, rest and release.

Between events the motion is smooth and integrated by Taylor series. A contact that is open is watched for its gap to
close, a held one for its force to turn into a pull. The equations with a given set of held contacts are a
system of their own, built when first needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.runs import Run, Setup, run_taylor
from sekant.engine.system import State, System
from sekant.errors import SolverError
from sekant.geometry.spatial import SX
from sekant.solvers.taylor import EventRecord

Floats = NDArray[np.float64]
MOST_EVENTS = 100_000
CLOSED = 1e-9  # gap (m or rad) and rate up to which a contact counts as closed at the start


def run_with_contacts(setup: Setup) -> Run:
    """Run a system that has contacts; rows go to `setup.on_chunk` with the variant of the system they belong to."""
    system = setup.system
    work = np.zeros(len(system.work_names) if setup.balance else 0)
    t_start, done = float(setup.times[0]), 0
    start, held = _settled(setup, t_start, work)
    steps = impacts = 0
    while True:
        variant = variant_of(system, held)
        log = _Log()
        part = run_taylor(
            replace(
                setup,
                system=variant,
                start=start,
                times=setup.times[done:],
                on_chunk=log.chunk(setup, variant),
            ),
            t_start=t_start,
            work=work,
            events=_events(variant),
        )
        done += log.rows
        steps += part.stats["steps"]
        if part.status != "event":
            stats = {**part.stats, "steps": steps, "impacts": impacts}
            return replace(part, t=setup.times[:done], stats=stats)
        assert part.event is not None
        record, z = _split(part.event, system.nv)
        impacts += 1
        if impacts > MOST_EVENTS:
            raise SolverError(
                f"more than {MOST_EVENTS} impacts by t = {record.t:.9g}; raise rest_speed of the contact"
            )
        name = list(variant.equations.contacts)[record.number]
        if name in held:
            held, v = held - {name}, record.v
        else:
            v, rests = impact(variant, name, record, setup.parameters)
            held = held | {name} if rests else held
        loss = _kinetic(variant, record, v, setup) - _kinetic(variant, record, record.v, setup)
        work = part.work.copy()
        if work.size:
            work[system.work_names.index(name)] += loss
        start, t_start = State(record.q, v, z=z), record.t


def _split(record: EventRecord, nv: int) -> tuple[EventRecord, Floats]:
    """The record with velocities alone, and the states of elements, which integrators carry behind them."""
    return replace(record, v=record.v[:nv]), record.v[nv:]


def _settled(setup: Setup, t: float, work: Floats) -> tuple[State, frozenset[str]]:
    """The start after contacts that are closed and closing have had their impact, and those that hold."""
    system, state = setup.system, setup.start
    eq, p, z = system.equations, setup.p, system.element_states(state, setup.parameters)
    held: set[str] = set()
    for name, block in eq.contacts.items():
        terms = [block.phi, block.rate]
        gap, rate = (
            float(value)
            for value in eq.lookups.oracle("gap", [eq.t, eq.q, eq.v, eq.p], terms)(t, state.q, state.v, p)
        )
        if gap < -CLOSED:
            raise SolverError(
                f"contact '{name}' starts {-gap:.4g} (m or rad) inside; change the start values or the contact"
            )
        if gap > CLOSED or rate > CLOSED:
            continue
        v, rests = impact(system, name, EventRecord(0, t, state.q, state.v), setup.parameters)
        if work.size:
            before, after = (system.energy(state.q, u, t, setup.parameters)[0] for u in (state.v, v))
            work[system.work_names.index(name)] += after - before
        state = State(state.q, v, z=state.z)
        if rests and _force(variant_of(system, frozenset({*held, name})), name, t, state, z, p) > 0:
            held.add(name)
    return state, frozenset(held)


def _force(system: System, name: str, t: float, state: State, z: Floats, p: Floats) -> float:
    eq = system.equations
    oracle = eq.lookups.oracle("force", [eq.t, eq.q, eq.v, eq.z, eq.p], [eq.contact_force(name)])
    return float(oracle(t, state.q, state.v, z, p))


def variant_of(system: System, held: frozenset[str]) -> System:
    """The system in which the contacts `held` stay closed."""
    if not held:
        return system

    def make() -> System:
        eq = system.equations
        return System(
            system.model,
            eq.holding(held),
            system.engine,
            system.uses_cache,
        )

    return system.once(("held", held), make)


def _events(system: System) -> SX:
    """One function a contact that falls through zero: the gap of an open one, the force of a held one."""
    eq = system.equations
    return ca.vertcat(
        *[eq.contact_force(n) if n in eq.held else block.phi for n, block in eq.contacts.items()]
    )


def impact(system: System, name: str, record: EventRecord, parameters: Any) -> tuple[Floats, bool]:
    """Velocities after contact `name` closes, and whether it stays closed.

    Impulses of all constraints and of the contact: M (v+ - v-) = -G^T Lambda + J^T P, with G v+ + drift = 0 and the
    gap opening at `restitution` times the rate at which it closed.
    """
    eq, model = system.equations, system.equations.model
    block = eq.contacts[name]

    def make() -> Any:
        J = ca.densify(ca.jacobian(block.rate, eq.v))
        terms = [eq.mass_matrix, ca.densify(eq.G), eq.rate, J, block.rate]
        return system.function(f"impact of {name}", [eq.t, eq.q, eq.v, eq.p], terms)

    function = system.once(("impact", name), make)
    p = system.parameter_vector(parameters)
    M, G, rate, J, closing = function(np.array([record.t]), record.q, record.v, p)
    nv, m = system.nv, rate.size
    contact = model.contacts[name]
    restitution, rest_speed = float(contact.restitution), float(contact.rest_speed)  # type: ignore[arg-type]
    speed = float(closing.ravel()[0])
    opening = -restitution * speed
    rests = opening < rest_speed
    K = np.zeros((nv + m + 1, nv + m + 1))
    K[:nv, :nv] = M.reshape(nv, nv)
    rows = np.vstack([G.reshape(m, nv), J.reshape(1, nv)])
    K[:nv, nv:], K[nv:, :nv] = rows.T, rows
    target = np.concatenate([np.zeros(nv), -rate.ravel(), [(0.0 if rests else opening) - speed]])
    change = np.linalg.lstsq(K, target, rcond=None)[0][:nv]
    return record.v + change, rests


def _kinetic(system: System, record: EventRecord, v: Floats, setup: Setup) -> float:
    return system.energy(record.q, v, record.t, setup.parameters)[0]


class _Log:
    """Counts the rows of a stretch and hands them on with the variant that made them."""

    def __init__(self) -> None:
        self.rows = 0

    def chunk(self, setup: Setup, variant: System):
        def take(t: Floats, x: Floats, fraction: float) -> None:
            self.rows += t.size
            setup.on_variant(variant, t, x, fraction)

        return take
