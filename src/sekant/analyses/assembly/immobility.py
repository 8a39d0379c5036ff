"""Explains why a mechanism cannot move at all, or cannot move further."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import AssemblyReport
from sekant.analyses.assembly.loop_geometry import LoopGeometry
from sekant.engine.reports import constraint_rank
from sekant.engine.system import System
from sekant.errors import SolverError
from sekant.solvers.common.outcome import Outcome

Vector = NDArray[np.float64]
NEARLY = 0.05
"""Smallest singular value of the constraints, over the lengths of their rows, below which they count as dependent."""


def refuse_nothing(system: System) -> None:
    """Refuse a model in which nothing can move, unless its forces or signals have states."""
    if all_fixed(system) and not system.work_names and not system.nz:
        raise SolverError(
            f"model '{system.model.name}' has no degree of freedom and no prescribed motion: every joint is fixed; "
            "there is nothing to integrate"
        )
    if system.nv == 0 and not all_fixed(system) and not system.model.motions:
        raise SolverError(_locked(system))


def all_fixed(system: System) -> bool:
    """Whether the joint types alone leave the bodies no freedom, in any coordinates."""
    joints = system.model.joints.values()
    return not any(joint.nv for joint in joints) if joints else system.nv == 0


def refuse_rigid(system: System, report: AssemblyReport) -> None:
    """Refuse a mechanism without degrees of freedom and without prescribed motions."""
    if report.degrees_of_freedom or system.start_facts.driven or all_fixed(system):
        return
    raise SolverError(_locked(system))


def _locked(system: System) -> str:
    rows, names = len(system.facts.rows), list(dict.fromkeys(system.facts.rows))
    cause = "its joints lock one another"
    if rows:
        cause = (
            f"the constraint equations of {_listed(names)} leave no coordinate free "
            f"(equations: {rows}, coordinates: {system.nv})"
        )
    remedy = "remove a constraint or free a joint"
    return f"model '{system.model.name}' has no degree of freedom: {cause}, and no motion is prescribed; {remedy}"


def dead_end(system: System, t: float, x: Vector, parameters: Mapping[str, ArrayLike] | None = None) -> str:
    """A message about the dead point beyond which a mechanism with constraints does not move from the state x
    at time t; empty if there is none.

    At a dead point, fewer rows of the constraints are independent than at the start, or some are almost
    dependent.
    """
    if not system.facts.constrained or not np.all(np.isfinite(x)):
        return ""
    q, v = x[: system.nq], x[system.nq : system.nq + system.nv]
    geometry = LoopGeometry(system, t, parameters, (), {})
    G, first = geometry.terms(q)[1], geometry.terms(system.initial_state(parameters).q)[1]
    lengths = np.maximum(*(np.linalg.norm(rows, axis=1, keepdims=True) for rows in (G, first)))
    sizes = np.linalg.svd(G / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    rank = min(constraint_rank(system), sizes.size)
    drives = _driven(system, t, q, v, parameters)
    if rank and sizes[rank - 1] < NEARLY:
        fastest = int(np.argmax(np.abs(v))) if v.size else 0
        speed = (
            f"; the velocity '{system.state_names[system.nq + fastest]}' has reached {v[fastest]:.3g}"
            if v.size
            else ""
        )
        if drives:
            return (
                "the mechanism is at a dead point (links stretched or folded), beyond which it cannot be "
                f"driven: {drives}{speed}; end the travel before this point, drive another joint, or change "
                "the lengths of the links"
            )
        return (
            f"the mechanism is next to a singular position (dead point: links stretched or folded){speed}; start "
            "elsewhere, or use method 'taylor', which passes it"
        )
    return ""


def with_row(outcome: Outcome, system: System, parameters: Mapping[str, ArrayLike] | None = None) -> Outcome:
    """The outcome with the number of the constraint with the largest error in the state that could not be
    projected."""
    if outcome.status != "constraints" or outcome.which >= 0 or not np.all(np.isfinite(outcome.x_failed)):
        return outcome
    q, v = outcome.x_failed[: system.nq], outcome.x_failed[system.nq : system.nq + system.nv]
    if q.size < system.nq:
        return outcome
    Phi, G, drift = LoopGeometry(system, outcome.t_failed, parameters, (), {}).terms(q)
    off = np.abs(G @ v + drift) / max(1.0, np.abs(v).max(initial=0.0))
    off[: Phi.size] = np.maximum(off[: Phi.size], np.abs(Phi))  # rows with positions come first
    return replace(outcome, which=int(np.argmax(off))) if off.size and np.all(np.isfinite(off)) else outcome


def driven_too_far(
    system: System, t: float, x: Vector, parameters: Mapping[str, ArrayLike] | None = None
) -> str:
    """The values of prescribed motions at time t, where the state x cannot advance; empty if there are none."""
    q, v = x[: system.nq], x[system.nq : system.nq + system.nv]
    drives = _driven(system, t, q, v, parameters)
    return f"{drives}, which the mechanism cannot follow; reduce the travel" if drives else ""


def _driven(system: System, t: float, q: Vector, v: Vector, parameters) -> str:
    """The values of the prescribed motions at time t."""
    eq = system.equations
    inputs = [eq.t, eq.q, eq.v, eq.p]
    parts = []
    for name, prescribed in system.model.motions.items():
        q_k, v_k = eq.motion.coordinate(prescribed.joint, prescribed.coordinate)
        found = eq.lookups.oracle("driven", inputs, [q_k, v_k])(t, q, v, system.parameter_vector(parameters))
        kind = system.equations.resolved.model.joints[prescribed.joint].coordinates[prescribed.coordinate]
        parts.append(
            f"motion '{name}' prescribes {prescribed.joint}.{kind.name} = {float(found[0]):.4g} "
            f"{kind.unit}, with a rate of {float(found[1]):.3g} {kind.unit}/s"
        )
    return ", ".join(parts)


def _listed(names: list[str], most: int = 6) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
