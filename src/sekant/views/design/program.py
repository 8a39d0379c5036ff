"""The program of a design page: the walk over positions and the functions of a mechanism as one WebAssembly module."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.solvers.sweep.problem import lay_out
from sekant.solvers.sweep.walk import spread
from sekant.views.design.drawing import Drawing
from sekant.views.design.mechanism import Mechanism
from sekant.views.live.assembly import assembly_functions
from sekant.views.live.calls import single_call
from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]
SWEPT = ("Q", "W", "WW", "reached", "points", "start", "first", "tolerance", "failed", "counts", "q")
"""Fields of a sweep that a page writes or reads."""


def design_program(mechanism: Mechanism, drawing: Drawing, counts: dict[str, int]) -> dict[str, Any]:
    """Module and memory, and where in it what is. `counts`: how many positions each sweep has, by its name."""
    system, program = mechanism.system, PageProgram(mechanism.system)
    p = np.array(mechanism.equations.p)
    shared: dict[str, Floats] = {}
    calls: dict[str, Any] = {}

    def add(name: str, function: NativeFunction, **given: Floats) -> None:
        """A single call of t, q, what is `given`, and the parameters that all calls share."""
        arguments = {"t": np.zeros(1), "q": np.zeros(system.nq), **given, "p": p}
        results = [np.zeros(max(1, size)) for size in function.sizes_out]
        program.add_function(name, function)
        program.add_struct(name, single_call(function, list(arguments.values()), results), outside=shared)
        calls[name] = {
            **program.call(name),
            "arguments": {
                key: program.address(name, one) for key, one in arguments.items() if key != "p" or not shared
            },
            "results": [
                [program.address(name, one), size]
                for one, size in zip(results, function.sizes_out, strict=True)
            ],
        }

    add("begin", mechanism.begin)
    shared["values"] = p
    m, wheels = len(mechanism.equations.drives), mechanism.wheels
    moves = {"w": np.zeros((m, system.nv)), "ww": np.zeros((wheels * wheels, system.nv))}
    own = {"ways": np.zeros(2), "start": np.zeros(1)} if mechanism.is_axle else {"start": np.zeros(7)}
    add("curves", mechanism.curves, **moves, **own)
    add("places", drawing.places)
    add("lengths", drawing.lengths)
    sweeps = {name: _sweep(program, mechanism, name, count, shared) for name, count in counts.items()}
    program.add_procedure(spread)
    assembly = assembly_functions(program, system, 0.0, p)
    values = calls["begin"]["arguments"].pop("p")
    built = program.build({"values": values})
    return {
        **built,
        "calls": calls,
        "assembly": assembly,
        "sweeps": sweeps,
        "spread": built["numbers"][spread.symbol],
        "values": [values, p.size],
        "drawn": _drawn(mechanism).tolist(),
        "nv": system.nv,
        "drives": m,
        "wheels": wheels,
        "curves": len(mechanism.names),
    }


def _sweep(
    program: PageProgram, mechanism: Mechanism, name: str, count: int, shared: dict[str, Floats]
) -> dict[str, Any]:
    """The memory of a sweep along a path of `count` positions; for where it begins a page writes it anew."""
    problem = replace(mechanism.equations.problem(), bends=mechanism.wheels)
    for key, function in zip(("terms", "retract", "curvature"), mechanism.equations.functions, strict=True):
        program.add_function(key, function)
    points = np.zeros((count, len(mechanism.equations.drives)))
    k = np.arange(count)
    edges = np.column_stack([k - 1, np.where(k + 1 < count, k + 1, -1)])
    run = lay_out(problem, points, edges)
    run.reset(problem, _drawn(mechanism), points, edges)
    run.struct.set(start=np.zeros(points.shape[1]))
    image = program.add_struct(name, run.struct, ("Q", "W", "WW"))
    fields = {key: program.field(name, key) for key in SWEPT}
    base = program.field(name, next(iter(run.struct.fields)))[0]
    return {
        "at": base,
        "size": image.size,
        "count": count,
        "fields": fields,
        "values": program.address(name, run.p),
        "iterations": fields["counts"][1] + 16,
    }


def _drawn(mechanism: Mechanism) -> Floats:
    """Coordinates (nq,) as drawn: all bodies in the vehicle's axes."""
    q = np.zeros(mechanism.system.nq)
    for first, _ in mechanism.system.facts.unit_blocks:
        q[first] = 1.0
    return q
