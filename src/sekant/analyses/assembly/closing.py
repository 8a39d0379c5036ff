"""The memory of `solvers/newton/closing.py` for a system, and the functions that this code calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.joint_gaps import gap_function
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.solvers.common.memory import call_at
from sekant.solvers.newton.closing import Closing

Vector = NDArray[np.float64]


def constraint_terms(system: System) -> NativeFunction:
    """(t, q, p) -> Phi, those entries of G that may differ from zero, and the rates at rest."""

    def make() -> NativeFunction:
        eq = system.equations
        drift = ca.substitute(eq.rate, eq.v, SX.zeros(system.nv))
        return system.function("constraints", [eq.t, eq.q, eq.p], [eq.Phi, eq.G.nz[:], drift])

    return system.cached("constraint terms", make)


def entries_of(system: System) -> NDArray[np.int64]:
    """Rows and columns (2, n) of those entries of G that may differ from zero."""

    def make() -> NDArray[np.int64]:
        return np.array(system.equations.G.sparsity().get_triplet(), dtype=np.int64).reshape(2, -1)

    return system.cached("entries of constraint terms", make)


def retraction(system: System, interpreted: bool) -> NativeFunction:
    """(q, delta, t, p) -> q moved by the small displacement delta (nv,), without unit norms."""
    eq = system.equations
    delta = SX.sym("delta", system.nv)
    moved = eq.start.counted(eq.q + ca.substitute(eq.qdot, eq.v, delta))
    return system.function("retract", [eq.q, delta, eq.t, eq.p], [moved], interpreted=interpreted)


def kinetic_terms(system: System, interpreted: bool) -> NativeFunction:
    """(t, q, v, p) -> M (nv, nv), dT/dv (nv,)."""
    eq = system.equations
    terms = [eq.mass_matrix, eq.lookups.gradient(eq.energies.kinetic, eq.v)]
    return system.function("kinetic", [eq.t, eq.q, eq.v, eq.p], terms, interpreted=interpreted)


def called_functions(system: System, interpreted: bool = True) -> dict[str, NativeFunction]:
    """The functions that closing of loops calls, by name. Those that are called only a few times are `interpreted` in
    a run; a page can call only compiled ones."""
    facts = system.start_facts
    called = {"terms": constraint_terms(system)}
    others = {"retract": retraction} | ({"gaps": gap_function} if facts.cuts else {})
    others |= {"energy": kinetic_terms} if facts.fills else {}
    for name, make in others.items():
        called[name] = system.cached((name, interpreted), partial(make, system, interpreted))
    return called


def closing_of(system: System, called: Mapping[str, NativeFunction], t: Vector, p: Vector) -> Closing:
    """Memory for `close`, which reads the arrays of time t (1,) and parameters p (np,); weights are not yet set."""
    facts, nq, nv = system.start_facts, system.nq, system.nv
    terms, gaps = called["terms"], called.get("gaps")
    h, entries, rows = terms.sizes_out
    most = max(rows, nv)
    sizes = [
        ("q0 q at moved ahead", nq),
        ("v step delta momentum", nv),
        ("phi target", h),
        ("drift rhs", rows),
    ]
    sizes += [("entries", entries), ("gap", gaps.sizes_out[0] if gaps else 0), ("beta b x", most)]
    vectors = {name: np.zeros(size) for names, size in sizes for name in names.split()}
    q, v, step = (vectors[name] for name in ("at", "v", "step"))
    M = np.zeros((nv, nv))
    row, column = entries_of(system)
    blocks = [number for first, length in system.facts.unit_blocks for number in (first, length, 1)]
    integers = {"turning": facts.turning, "blocks": blocks, "pivot": [0] * most, "chosen": [0] * nv}
    integers |= {"row": row, "column": column}
    return Closing(
        terms=call_at(terms, [t, q, p], [vectors[name] for name in ("phi", "entries", "drift")]),
        retract=call_at(called["retract"], [q, step, t, p], [vectors["moved"]]),
        gaps=call_at(gaps, [t, q, p], [vectors["gap"]]),
        energy=call_at(called.get("energy"), [t, q, v, p], [M, vectors["momentum"]]),
        **{name: np.array(numbers, np.int64) for name, numbers in integers.items()},
        **vectors,
        G=np.zeros((nv, rows)),
        M=M,
        N=np.zeros((nv, nv)),
        A=np.zeros((most, most)),
    )
