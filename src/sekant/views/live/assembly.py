"""Closing of loops in a page: data for `assembly.js`, which implements the first part of
`sekant.analyses.assembly`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.joint_gaps import misfit
from sekant.analyses.assembly.loop_geometry import LoopGeometry, constraint_terms, retraction
from sekant.geometry.spatial import SX

if TYPE_CHECKING:
    from sekant.engine.system import System
    from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]


def assembly_functions(program: PageProgram, system: System, t: float, values: Floats) -> dict[str, Any]:
    """Functions of the constraints, for `Module.ask`, and the weights of displacements.

    `values` (np,): the array of the parameters, which the program already contains.
    """
    eq, nq, nv = system.equations, system.nq, system.nv
    time, q, delta, v = np.array([t]), np.zeros(nq), np.zeros(nv), np.zeros(nv)
    found: dict[str, Any] = {}

    def add(name: str, function: Any, given: dict[str, Floats], results: tuple[str, ...]) -> None:
        sizes = zip(results, function.sizes_out, strict=True)
        arrays = {one: np.zeros(size) for one, size in sizes}
        found[name] = program.add_call(function, given, arrays, name)

    point = {"t": time, "q": q, "p": values}
    add("terms", constraint_terms(system, dense=True), point, ("phi", "G", "drift"))
    add("retract", retraction(system), {"q": q, "delta": delta}, ("q",))
    names = tuple(eq.motion.cuts)
    poses = ca.vertcat(
        SX.zeros(0, 1), *[ca.vertcat(X.p, ca.vec(X.R)) for X in (misfit(eq, name) for name in names)]
    )
    add("gaps", system.function("gaps", [eq.t, eq.q, eq.p], [poses]), point, ("poses",))
    fills = system.start_facts.fills
    if fills:
        momentum = eq.lookups.gradient(eq.energies.kinetic, eq.v)
        kinetic = system.function("kinetic", [eq.t, eq.q, eq.v, eq.p], [eq.mass_matrix, momentum])
        add("kinetic", kinetic, {"t": time, "q": q, "v": v, "p": values}, ("M", "momentum"))
    geometry = LoopGeometry(system, t, None, (), {})
    return {
        **found,
        "nq": nq,
        "nv": nv,
        "holonomic": eq.Phi.numel(),
        "joints": list(names),
        "fills": fills,
        "counts": list(system.start_facts.counts),
        "turning": list(system.start_facts.turning),
        "unitBlocks": [list(block) for block in system.facts.unit_blocks],
        **geometry.weights_told(),
    }
