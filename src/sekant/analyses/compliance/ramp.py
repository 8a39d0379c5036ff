"""Load ramps of a model: as a series of equilibria, or simulated in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sekant.analyses.compliance.load_case import DIRECTIONS, LoadCase
from sekant.analyses.compliance.response import Response, displacement
from sekant.analyses.simulation.simulate import simulate
from sekant.analyses.statics.equilibrium import equilibrium
from sekant.engine.system import compile
from sekant.errors import DataError, SolverError
from sekant.geometry.rotations import (
    quaternion_conjugate,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from sekant.model.body import Body
from sekant.model.expressions.expression import Expression
from sekant.model.forces import PointForce, Torque
from sekant.model.joints import Fixed
from sekant.model.model import Model

PROBE = "ramp_probe"


def load_ramps(
    model: Model,
    frame: str,
    directions: Sequence[str] = ("fx", "fy", "mx", "my", "mz"),
    peak: float = 4000.0,
    *,
    count: int = 11,
    t: float = 0.0,
) -> list[LoadCase]:
    """The displacement of `frame` under forces (N) and moments (N m) that rise from 0 to `peak` in `count` steps.

    Each row is an equilibrium, at the fixed time `t`: an infinitely slow ramp. `simulated_ramp` simulates one
    in time.
    """
    response = Response(model, frame, [], t)
    none = np.zeros(0)
    first = response.first(none)
    cases = []
    for direction in directions:
        axis, state, rows = _axis(direction), first, []
        loads = np.linspace(0.0, peak, count)
        for load in loads:
            p = response.parameters(none, load * np.eye(6)[axis])
            state = response.rest(state.q, state.lam, p)
            rows.append(displacement(state, first)[0])
        cases.append(LoadCase(direction, loads, np.array(rows)))
    return cases


def _axis(direction: str) -> int:
    if direction not in DIRECTIONS:
        raise DataError(f"load ramp: unknown direction '{direction}'; use one of {', '.join(DIRECTIONS)}")
    return DIRECTIONS.index(direction)


def simulated_ramp(
    model: Model,
    frame: str,
    direction: str,
    peak: float = 4000.0,
    *,
    start: float = 2.0,
    duration: float = 5.0,
    output_step: float = 0.05,
    **options: Any,
) -> LoadCase:
    """A load ramp in time, as in Hall's tests: the load follows a cubic step that begins at t = `start` (s).

    The model starts in its equilibrium; other loads must be constant. Damping makes the displacement lag behind the
    load, so stiffnesses identified from the ramp are too large by about the ratio of the lag to the duration.
    `options`: options of `simulate`.
    """
    ramp = Expression(f"adams_step(t, {start!r}, 0, {start + duration!r}, {float(peak)!r})")
    axis = _axis(direction)
    vector = tuple(ramp if i == axis % 3 else 0.0 for i in range(3))
    load = PointForce(frame=frame, force=vector) if axis < 3 else Torque(frame=frame, torque=vector)  # type: ignore[arg-type]
    system = compile(
        model.changed(
            bodies={**model.bodies, PROBE: Body()},
            joints={**model.joints, f"{PROBE}_joint": Fixed(parent=frame, child=PROBE)},
            forces={**model.forces, f"{PROBE}_load": load},
        )
    )
    result = simulate(
        system,
        start + duration,
        output_step=output_step,
        initial=equilibrium(system),
        outputs=[f"{PROBE}.position", f"{PROBE}.orientation", f"{PROBE}_load.*"],
        balance=False,
        **options,
    )
    if result.status != "finished":
        raise SolverError(f"load ramp '{direction}': the run ended early: {result.message}")
    used = result.time >= start - 1e-9
    q = np.asarray(result[f"{PROBE}.orientation"])[used]
    turn = rotation_vector_from_quaternion(quaternion_product(q, quaternion_conjugate(q[:1])))
    moved = np.hstack([np.asarray(result[f"{PROBE}.position"])[used], turn])
    key = f"{PROBE}_load.{'force' if axis < 3 else 'torque'}"
    return LoadCase(direction, np.asarray(result[key])[used][:, axis % 3], moved)
