"""Mechanisms that cannot move at all, or cannot move on: why, for a reader."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import AssemblyReport
from sekant.analyses.assembly.loop_geometry import LoopGeometry
from sekant.engine.system import System
from sekant.errors import SolverError

Vector = NDArray[np.float64]


def refuse_rigid(system: System, report: AssemblyReport) -> None:
    """A structure without degrees of freedom that nothing drives cannot be simulated."""
    if report.degrees_of_freedom or system.start_facts.driven:
        return
    rows = len(system.facts.rows)
    names = list(dict.fromkeys(system.facts.rows))
    raise SolverError(
        f"model '{system.model.name}' has no degree of freedom: the {rows} equations of {_listed(names)} leave none "
        f"of its {system.nv} coordinates free, and no driver moves it; remove a constraint or open a joint"
    )


def dead_end(system: System, t: float, x: Vector, parameters: Mapping[str, ArrayLike] | None = None) -> str:
    """Why a mechanism with constraints does not go on from the state x at time t; empty if nothing is known."""
    if not system.facts.constrained or not np.all(np.isfinite(x)):
        return ""
    q, v = x[: system.nq], x[system.nq : system.nq + system.nv]
    geometry = LoopGeometry(system, t, parameters, (), {})
    G = geometry.terms(q)[1]
    lengths = np.linalg.norm(G, axis=1, keepdims=True)
    sizes = np.linalg.svd(G / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    independent = sizes[sizes > 1e-12]
    drives = _driven(system, t, q, v, parameters)
    if independent.size and independent[-1] < 0.05 and len(independent) >= 1:
        fastest = int(np.argmax(np.abs(v))) if v.size else 0
        speed = (
            f"; '{system.state_names[system.nq + fastest]}' has risen to {v[fastest]:.3g}" if v.size else ""
        )
        text = f"the mechanism is next to a singular position (dead center or stretched links){speed}"
        if drives:
            return f"{text}, and {drives}; reduce that travel or change the lengths of the links"
        return f"{text}; start elsewhere, or loosen the tolerance to pass it"
    return f"{drives}, which the mechanism cannot follow; reduce that travel" if drives else ""


def _driven(system: System, t: float, q: Vector, v: Vector, parameters) -> str:
    """What the drivers ask for at time t."""
    eq = system.equations
    inputs = [eq.t, eq.q, eq.v, eq.p]
    parts = []
    for name, driver in system.model.drivers.items():
        q_k, v_k = eq.motion.coordinate(driver.joint, driver.coordinate)
        found = eq.lookups.oracle("driven", inputs, [q_k, v_k])(t, q, v, system.parameter_vector(parameters))
        kind = system.model.joints[driver.joint].coordinates[driver.coordinate]
        parts.append(
            f"driver '{name}' moves {driver.joint}.{kind.name} = {float(found[0]):.4g} {kind.unit} on at "
            f"{float(found[1]):.3g} {kind.unit}/s"
        )
    return ", ".join(parts)


def _listed(names: list[str], most: int = 6) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
