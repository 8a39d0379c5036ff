"""Memory for deciding which elements stick, slide, touch or separate.

An *element* is a friction or a contact; frictions come first. Its state is a number and, for a sliding
contact, a direction (2,): see `elements`. Forces are those of the frictions, then of each contact the normal
one and, with friction, two tangential ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.structs import Integer, IntegerMatrix, Integers, Matrix, Struct, Vector
from sekant.solvers.common.memory import Call, CompiledFunction, call_at

Floats = NDArray[np.float64]


class DecidedElements(Struct):
    """Constants of n elements."""

    frictions: Integer  # their number; contacts are the others
    force: Integers  # number of the force, of a contact the normal one
    driven: Integers  # 1: the slip of the friction is given
    coupled: Integers  # 1: friction depends on a reaction
    rough: Integers  # 1: the contact has friction
    place: IntegerMatrix  # (n, 4) in p: stuck, direction; closed, stuck, direction (2)
    width: Vector  # of contacts, (m/s)
    looped: Integer  # 1: constraints may determine a slip
    reactive: Integer  # 1: friction depends on forces that in turn depend on it


class States(Struct):
    """States of all elements."""

    state: Integers
    way: Matrix  # (n, 2) directions of sliding


class ForceValues(Struct):
    """Values at the point and in the states of `p`; see `sekant.formulations.friction.Solved`."""

    slip: Vector
    rate: Vector
    force: Vector
    limit: Vector
    mobility: Vector
    gap: Vector
    coefficient: Vector
    restitution: Vector
    rest_speed: Vector
    width: Vector
    margin: Vector
    miss: Vector  # (1,)


class VelocityRows(Struct):
    """Velocities that satisfy constraints and given slips: their matrices at the point, and a system of
    linear equations."""

    mass: Matrix  # (nv, nv)
    gradient: Matrix  # (nv, m) of constraints
    drift: Vector  # (m,) their rates
    slope: Matrix  # (nv, nf) of slips
    slip: Vector  # (nf,)
    row: Matrix  # (m + nf, nv) rows with the required value `target`
    push: Matrix  # along which impulses act
    target: Vector
    A: Matrix  # columns of the system, and data of its factorization
    beta: Vector
    pivot: Integers
    b: Vector
    x: Vector  # change of velocities, impulses


class Decision(Struct):
    """A point (t, q, v, z, p) and the decisions there; v and the held values in p change."""

    t: Vector
    q: Vector
    v: Vector
    z: Vector
    p: Vector
    elements: DecidedElements
    values: ForceValues
    rows: VelocityRows
    before: States
    states: States
    wish: States  # initial states suggested by an event
    better: States  # suggested states instead of `states`
    found: States
    resting: Integers  # (n,) 1: its state is to be decided
    given: Integers  # 1: constraints determine the slip of the friction
    others: Integers  # 1: the contact stays closed in an impact
    choice: Integers  # of other states that are tried
    at_values: Call
    at_rows: Call
    at_energy: Call
    energy: Vector  # (1,) kinetic (J)
    gained: Vector  # (n,) energy added by impacts (J)
    sticks: Integer  # counts
    slips: Integer
    impacts: Integer
    evaluations: Integer
    several: Integer  # 1: more than one solution was found
    blame: Integer  # the contact that starts inside


@dataclass(frozen=True)
class DecisionFunctions:
    """Functions of (t, q, v, z, p): `values` -> those of `ForceValues`, `rows` -> mass, gradient, drift,
    slope, slip of `VelocityRows`, matrices column by column, `energy` -> (1,)."""

    values: CompiledFunction
    rows: CompiledFunction
    energy: CompiledFunction


def lay_out_decision(
    functions: DecisionFunctions,
    elements: DecidedElements,
    point: Sequence[Floats],
    counts: Sequence[int],
) -> Decision:
    """`point`: the arrays t, q, v, z, p that it works on; `counts`: of velocities, constraints, forces, frictions,
    contacts, margins."""
    nv, m, nf, frictions, contacts, margins = counts
    n, most = frictions + contacts, nv + m + nf
    values = ForceValues(
        **{name: np.zeros(nf) for name in ("slip", "rate", "force", "mobility")},
        limit=np.zeros(max(nf, frictions)),
        **{name: np.zeros(contacts) for name in ("gap", "coefficient", "restitution", "rest_speed")},
        width=np.zeros(frictions),
        margin=np.zeros(margins),
        miss=np.zeros(1),
    )
    rows = VelocityRows(
        mass=np.zeros((nv, nv)),
        gradient=np.zeros((nv, m)),
        drift=np.zeros(m),
        slope=np.zeros((nv, nf)),
        slip=np.zeros(nf),
        row=np.zeros((m + nf, nv)),
        push=np.zeros((m + nf, nv)),
        target=np.zeros(m + nf),
        A=np.zeros((most, most)),
        pivot=np.zeros(most, dtype=np.int64),
        **{name: np.zeros(most) for name in ("beta", "b", "x")},
    )
    energy = np.zeros(1)
    results = {
        "values": [getattr(values, name) for name in ForceValues.fields],
        "rows": [rows.mass, rows.gradient, rows.drift, rows.slope, rows.slip],
        "energy": [energy],
    }
    calls: dict[str, Any] = {}
    for name, found in results.items():
        function: Any = getattr(functions, name)
        calls[f"at_{name}"] = call_at(function, point, found)
    whole = {name: np.zeros(n, dtype=np.int64) for name in ("resting", "given", "others", "choice")}
    sets = {name: _states(n) for name in ("before", "states", "wish", "better", "found")}
    return Decision(
        **dict(zip("tqvzp", point, strict=True)),
        elements=elements,
        values=values,
        rows=rows,
        energy=energy,
        gained=np.zeros(n),
        **sets,
        **calls,
        **whole,
    )


def _states(n: int) -> States:
    return States(state=np.zeros(n, dtype=np.int64), way=np.zeros((n, 2)))
