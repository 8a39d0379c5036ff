"""The program of a design page: the sweep and the functions of a mechanism as one WebAssembly module."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.solvers.sweep.problem import lay_out
from sekant.solvers.sweep.walk import spread
from sekant.views.design.drawing import Drawing
from sekant.views.design.mechanism import DesignMechanism
from sekant.views.live.assembly import assembly_functions
from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]
SWEPT = ("Q", "W", "WW", "reached", "points", "start", "first", "tolerance", "failed", "counts", "q")
"""Fields of a sweep that a page writes or reads."""


def design_program(
    mechanism: DesignMechanism, drawing: Drawing, counts: dict[str, int], small: bool = False
) -> dict[str, Any]:
    """Module and memory, with addresses in it.

    `counts`: number of positions of each sweep, by its name; `small`: as for `PageProgram.build`.
    """
    system, program = mechanism.system, PageProgram(mechanism.system.model.name)
    p = program.add_array(np.array(mechanism.equations.p))
    t, q = np.zeros(1), program.add_array(np.zeros(system.nq))
    m, wheels, nv = len(mechanism.equations.drives), mechanism.wheels, system.nv

    def add(function: NativeFunction, found: tuple[str, ...], **given: Floats) -> dict[str, Any]:
        """Add a call of t, q, the arguments `given`, and p, which all calls share."""
        sizes = zip(found, function.sizes_out, strict=True)
        results = {name: np.zeros(size) for name, size in sizes}
        return program.add_call(function, {"t": t, "q": q, **given, "p": p}, results, function.name)

    moves = {"w": np.zeros((m, nv)), "ww": np.zeros((wheels * wheels, nv))}
    own = {"ways": np.zeros(2), "start": np.zeros(0)} if mechanism.is_axle else {"start": np.zeros(7)}
    calls = {
        "begin": add(mechanism.begin, ("d", "zero", "start")),
        "curves": add(mechanism.curves, ("values",), **moves, **own),
        "places": add(drawing.places, ("places",)),
        "lengths": add(drawing.lengths, ("lengths",)),
    }
    sweeps = {name: _sweep(program, mechanism, count) for name, count in counts.items()}
    assembly = assembly_functions(program, system, 0.0, p)
    return {
        **program.build(small),
        "calls": calls,
        "sweeps": sweeps,
        "assembly": assembly,
        "values": program.place(p),
        "drawn": _drawn(mechanism).tolist(),
        "nv": nv,
        "drives": m,
        "wheels": wheels,
    }


def _sweep(program: PageProgram, mechanism: DesignMechanism, count: int) -> dict[str, Any]:
    """The memory of a sweep along a path of `count` positions."""
    problem = replace(mechanism.equations.problem(), bends=mechanism.wheels)
    points = np.zeros((count, len(mechanism.equations.drives)))
    k = np.arange(count)
    edges = np.column_stack([k - 1, np.where(k + 1 < count, k + 1, -1)])
    run = lay_out(problem, points, edges)
    run.reset(problem, _drawn(mechanism), points, edges)
    run.struct.set(start=np.zeros(points.shape[1]))
    program.add_array(run.p)
    called = {function.name: function for function in mechanism.equations.functions}
    fields = {name: name for name in SWEPT}
    fields_of_run = program.add_run(
        run.struct, {"walk": spread}, fields, called=called, blank=("Q", "W", "WW")
    )
    return {**fields_of_run, "values": program.place(run.p)}


def _drawn(mechanism: DesignMechanism) -> Floats:
    """Coordinates (nq,) as drawn, with all bodies in vehicle axes."""
    q = np.zeros(mechanism.system.nq)
    for first, _ in mechanism.system.facts.unit_blocks:
        q[first] = 1.0
    return q
