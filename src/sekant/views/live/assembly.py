"""Closing of loops in a page: the memory of `solvers/newton/closing.py` for a system, and data for `assembly.js`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.joint_gaps import gap_sizes
from sekant.analyses.assembly.loop_geometry import LoopGeometry, constraint_terms, retraction
from sekant.solvers.common.memory import call_at
from sekant.solvers.newton.closing import Closing, close

if TYPE_CHECKING:
    from sekant.engine.codegen.native import NativeFunction
    from sekant.engine.system import System
    from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]
FIELDS = ("q0", "q", "v", "wrong")
"""What a page sets and reads."""


def assembly_functions(program: PageProgram, system: System, t: float, values: Floats) -> dict[str, Any]:
    """The procedure that closes loops, for `Assembly`; `values` (np,): the array of the parameters, which the
    program already contains."""
    memory, called = closing_of(system, t, values)
    for function in called.values():
        program.add_array(function.tables)
    run = program.add_run(memory, {"close": close}, {name: name for name in FIELDS}, called=called)
    return {"run": run, "joints": list(system.equations.motion.cuts)}


def closing_of(system: System, t: float, values: Floats) -> tuple[Closing, dict[str, NativeFunction]]:
    """Memory for `close`, and the functions that it calls, by name; every gap has two entries."""
    eq, facts, nq, nv = system.equations, system.start_facts, system.nq, system.nv
    terms, retract = constraint_terms(system, gap_sizes(eq)), retraction(system)
    called = {"terms": terms, "retract": retract}
    if facts.fills:
        momentum = eq.lookups.gradient(eq.energies.kinetic, eq.v)
        called["energy"] = system.function("kinetic", [eq.t, eq.q, eq.v, eq.p], [eq.mass_matrix, momentum])
    (h, _, rows, gaps), time = terms.sizes_out, np.array([t])
    most = max(rows, nv)
    sizes = [("q0 q at moved ahead", nq), ("v step delta momentum", nv), ("phi", h), ("drift rhs", rows)]
    sizes += [("gap", gaps), ("beta b x", most)]
    vectors = {name: np.zeros(size) for names, size in sizes for name in names.split()}
    phi, q, moved, v, step = (vectors[name] for name in ("phi", "at", "moved", "v", "step"))
    G, M = np.zeros((nv, rows)), np.zeros((nv, nv))
    blocks = [number for first, length in system.facts.unit_blocks for number in (first, length, 1)]
    integers = {"turning": facts.turning, "counts": facts.counts, "blocks": blocks}
    integers |= {"pivot": [0] * most, "chosen": [0] * nv}
    memory = Closing(
        terms=call_at(terms, [time, q, values], [phi, G, vectors["drift"], vectors["gap"]]),
        retract=call_at(retract, [q, step], [moved]),
        energy=call_at(called.get("energy"), [time, q, v, values], [M, vectors["momentum"]]),
        **LoopGeometry(system, t, None, (), {}).weights_told(),
        **{name: np.array(entries, np.int64) for name, entries in integers.items()},
        **vectors,
        G=G,
        M=M,
        N=np.zeros((nv, nv)),
        A=np.zeros((most, most)),
    )
    return memory, called
