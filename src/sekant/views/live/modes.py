"""Eigenvalues in a page: data for `modes.js`, which finds the equilibrium and the matrices of small motions about
it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.statics.equilibrium import equilibrium
from sekant.engine.functions.linear import linear_functions
from sekant.engine.system import System
from sekant.errors import SekantError
from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]


def modes_of_page(program: PageProgram, system: System, p: Floats, parameters: Any) -> dict[str, Any]:
    """Functions of an open mechanism, and the equilibrium (nq,) at the first values."""
    name = system.model.name
    if system.facts.constrained or system.reactions.bound_forces:
        what = "closed loops or constraints" if system.facts.constrained else "friction or contacts"
        raise SekantError(
            f"model '{name}': modes=True requires a mechanism without closed loops, constraints, friction or "
            f"contacts, but this model has {what}; remove modes=True (--modes), and use sk.analyses.root_locus"
        )
    functions = linear_functions(system)
    nq, nv = system.nq, system.nv
    point = {
        "t": np.zeros(1),
        "q": np.zeros(nq),
        "v": np.zeros(nv),
        "a": np.zeros(nv),
        "lam": np.zeros(0),
        "p": p.copy(),
    }
    here = {key: point[key].copy() for key in ("t", "q", "lam", "p")}
    square = {key: np.zeros((nv, nv)) for key in ("M", "C", "K")}
    displaced = {"q": np.zeros(nq), "s": np.zeros(nv)}
    return {
        "nv": nv,
        "rest": equilibrium(system, parameters=parameters).q.tolist(),
        "tangent": program.add_call(functions.native_rest_tangent, point, square, "tangent"),
        "residual": program.add_call(functions.native_rest_residual, here, {"R": np.zeros(nv)}, "rest"),
        "retract": program.add_call(functions.differences[1], displaced, {"q": np.zeros(nq)}, "displace"),
    }
