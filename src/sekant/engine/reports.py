"""Reports of a system for readers: its contents, and why a motion cannot continue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.functions.motion import named_values
from sekant.engine.system import System
from sekant.formulations.contract import RangeExit
from sekant.formulations.timeline import jump_text, model_stops

Vector = NDArray[np.float64]
Values = Mapping[str, ArrayLike] | None


def constraint_rank(system: System) -> int:
    """Number of independent constraint equations where the model starts; 0 for a tree."""
    from sekant.formulations.summary import constraint_rank as rank_of

    return rank_of(system.equations, system.initial_state().q, system.parameter_vector())


def left_range(
    system: System, t: float, x: Vector, values: Values = None, ahead: float = 0.0
) -> RangeExit | None:
    """The item that has left its range at time t and state x, or that will leave it within `ahead` (s) at the
    current velocities."""
    return system.equations.reports.left_range(*_point(system, t, x, values, ahead))


def explain_failure(system: System, t: float, x: Vector, values: Values = None, ahead: float = 0.0) -> str:
    """Why the motion cannot continue at time t and state x, or `ahead` (s) later; empty if unknown."""
    return system.equations.reports.failure(*_point(system, t, x, values, ahead))


def _point(
    system: System, t: float, x: Vector, values: Values, ahead: float
) -> tuple[float, Vector, Vector, Vector, Vector]:
    """(t, q, v, z, p), moved on by `ahead` (s) at constant velocities."""
    q, v, z = _split(system, x)
    p = system.parameter_vector(values)
    if ahead > 0.0:
        eq = system.equations
        rates = eq.lookups.oracle("qdot", [eq.t, eq.q, eq.v, eq.p], [eq.qdot])(t, q, v, p)
        t, q = t + ahead, q + ahead * np.array(rates).ravel()
    return t, q, v, z, p


def singularity(system: System, t: float, x: Vector, values: Values = None) -> str:
    """A message about the coordinate that nothing resists at time t and state x; empty if there is none."""
    q, v, _ = _split(system, x)
    find = system.cached("singularity", lambda: system.equations.reports.singularity)
    return find(t, q, v, system.parameter_vector(values))


def motion_jump(system: System, begin: float, end: float, values: Values = None) -> str | None:
    """A message about the prescribed motion whose position or velocity jumps within (begin, end), with the
    time; empty if none does."""
    model = system.model
    if not model.motions and model.natural is None and model.lagrangian is None:
        return None

    def find() -> str | None:
        known: dict[str, Any] = {**system.parameters, **(values or {})}
        if system.structure is not None:
            return _model_jump(system, begin, end, known)
        return system.equations.timeline.motion_jump(begin, end, known, system.parameter_vector(values))

    concerned = system.cached("jump parameters", lambda: system.equations.timeline.jump_parameters())
    numbers = system.parameter_vector(values)[: concerned.size][concerned].tobytes()
    return system.cached_at(("motion jump", begin, end), numbers, find)


def _model_jump(system: System, begin: float, end: float, known: Mapping[str, Any]) -> str | None:
    """Like `motion_jump`, without equations."""
    p, model = system.parameter_vector(known), system.model
    named = named_values(model, known)
    motions = system.cached("given motions", lambda: system.equations.timeline.motions())
    for name, prescribed in model.motions.items():
        times = sorted(model_stops(model, [prescribed], begin, end, named))
        found = jump_text(motions[name], p, times, (begin, end)) if times else None
        if found:
            return f"motion '{name}': {found}"
    return None


def _split(system: System, x: Vector) -> tuple[Vector, Vector, Vector]:
    """q, v, z of the state x = [q; v; z; w]."""
    a, b = system.nq, system.nq + system.nv
    return x[:a], x[a:b], x[b : b + system.nz]
