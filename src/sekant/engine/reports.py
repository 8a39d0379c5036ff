"""What a system tells a reader: what it consists of, and why a motion cannot go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.system import System

Vector = NDArray[np.float64]
Values = Mapping[str, ArrayLike] | None


def constraint_rank(system: System) -> int:
    """Number of independent constraint equations where the model starts; 0 for a tree."""
    from sekant.formulations.summary import constraint_rank as rank_of

    return rank_of(system.equations, system.initial_state().q, system.parameter_vector())


def explain_failure(system: System, t: float, x: Vector, values: Values = None) -> str:
    """Why the motion cannot go on at time t and state x, as far as it can be told; else empty."""
    q, v, z = _split(system, x)
    return system.equations.reports.failure(t, q, v, z, system.parameter_vector(values))


def singularity(system: System, t: float, x: Vector, values: Values = None) -> str:
    """The coordinate that nothing resists at time t and state x, for a reader; else empty."""
    q, v, _ = _split(system, x)
    find = system.kept("singularity", lambda: system.equations.reports.singularity)
    return find(t, q, v, system.parameter_vector(values))


def driver_jump(system: System, begin: float, end: float, values: Values = None) -> str | None:
    """Which given motion jumps within (begin, end), in position or velocity, and when, if one does."""
    model = system.model
    if not model.drivers and model.natural is None and model.lagrangian is None:
        return None

    def find() -> str | None:
        known: dict[str, Any] = {**system.parameters, **(values or {})}
        return system.equations.timeline.driver_jump(begin, end, known, system.parameter_vector(values))

    concerned = system.kept("jump parameters", lambda: system.equations.timeline.jump_parameters())
    numbers = system.parameter_vector(values)[: concerned.size][concerned].tobytes()
    return system.kept_at(("driver jump", begin, end), numbers, find)


def _split(system: System, x: Vector) -> tuple[Vector, Vector, Vector]:
    """q, v, z of the state x = [q; v; z; w]."""
    a, b = system.nq, system.nq + system.nv
    return x[:a], x[a:b], x[b : b + system.nz]
