"""Ensembles: several variants of a system with different parameters, in the vector lanes of the processor.

All lanes take the same steps: those of a fixed-step method, or of dop853, whose error estimate is the largest of all
lanes. A lane that cannot continue is masked: from there it repeats another lane, and its results are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.clocks import reactors_of
from sekant.analyses.simulation.problems import explicit_problem
from sekant.engine.codegen.build import build
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.functions.motion import right_hand_side, state_rates, time_stops
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.object_code.target import has_long_registers
from sekant.solvers.ode import OdeProblem, RunPool
from sekant.solvers.ode import integrate as integrate_ode

Floats = NDArray[np.float64]
FIXED = ("rk4", "euler", "semi_implicit_euler")
LANES, MOST_LANES = 4, 8
SHORT = 1000
"""Largest number of operations of a right-hand side that spends its time waiting for its own results; two registers
per value then alternate."""


@dataclass(frozen=True, eq=False)
class LaneRun:
    """The result of one lane: rows x (k, n) at the first k of the requested times, and how it ended."""

    x: Floats
    p: Floats
    status: str
    message: str


def fits_lanes(system: System, method: str) -> bool:
    """Whether runs of a system may share the lanes: no events, samples, delays, nor stops of dop853 at breaks."""
    eq = system.equations
    if system.engine != "llvm" or eq.elements.held_values or eq.elements.delayed or reactors_of(system):
        return False
    if method == "dop853":
        return not right_hand_side(system, False).sites
    return method in FIXED


def lanes_of(system: System, method: str) -> int:
    """Best number of instances to run at once: 4, or 8 with fixed steps if registers have 512 bits or the
    right-hand side is short."""
    if method not in FIXED:
        return LANES
    short = right_hand_side(system, False).stats.operations <= SHORT
    return MOST_LANES if short or has_long_registers() else LANES


def lane_function(system: System, name: str, lanes: int) -> NativeFunction:
    """(t, x, p) -> xdot, qdot, or the projected x and the residuals, in lanes with the same t."""
    eq = system.equations
    x, rates = state_rates(system, balance=False)

    def make() -> NativeFunction:
        if name == "projection":
            q, v, residual = eq.projection
            results = [ca.vertcat(q, v, eq.z), residual]
        else:
            results = [rates if name == "rates" else eq.qdot]
        return build(
            f"{name} in {lanes} lanes",
            [eq.t, x, eq.p],
            results,
            eq.lookups,
            cache=system.uses_cache,
            lanes=lanes,
            shared=(0,),
        )

    return system.once(("lanes", name, lanes), make)


def lane_problem(system: System, method: str, p: Floats) -> OdeProblem:
    """The problem of all lanes with parameters `p` (np, lanes): entry j of lane l of x and p is at j * lanes + l."""
    lanes = p.shape[1]
    base = system.once(("lane problem", method, lanes), lambda: _lane_problem(system, method, lanes))
    return base.at(np.ascontiguousarray(p).ravel())


def _lane_problem(system: System, method: str, lanes: int) -> OdeProblem:
    one = explicit_problem(system, None, False, method)
    rhs = lane_function(system, "rates", lanes)
    blocks = [
        (lanes * start + lane, length, lanes)
        for start, length, _ in one.unit_blocks.tolist()
        for lane in range(lanes)
    ]
    return replace(
        one,
        rhs=rhs,
        n=lanes * one.n,
        nq=lanes * one.nq,
        nv=lanes * one.nv,
        p=np.repeat(one.p, lanes),
        kinematics=lane_function(system, "kinematics", lanes) if one.kinematics is not None else None,
        unit_blocks=np.array(blocks, dtype=np.int64).reshape(-1, 3),
        projection=lane_function(system, "projection", lanes) if one.projection is not None else None,
        lanes=lanes,
        switching=None,
    )


def run_lanes(
    system: System,
    starts: Sequence[State],
    parameters: Sequence[Mapping[str, Any]],
    times: Floats,
    *,
    method: str,
    step: float | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    max_steps: int | None = None,
) -> list[LaneRun]:
    """Run one instance per start (2, 4 or 8 of them) over the same times (k,) s.

    Closed loops are projected onto their constraints after every step, all lanes until the last one has converged.
    If one does not converge, all end with the status "constraints" and must be run one by one.
    """
    lanes = len(starts)
    p = np.column_stack([system.parameter_vector(values) for values in parameters])
    states = [
        np.concatenate([s.q, s.v, system.element_states(s, v)])
        for s, v in zip(starts, parameters, strict=True)
    ]
    x = np.column_stack(states)
    stops = sorted(
        {stop for v in parameters for stop in time_stops(system, float(times[0]), float(times[-1]), v)}
    )
    found: list[Floats] = []
    ended: dict[int, tuple[int, str, str]] = {}  # lane -> rows, status, message
    at, first, own = float(times[0]), 0, p.copy()
    names = system.state_names
    while True:
        left = times[first:]
        begins_on_row = bool(left.size) and left[0] == at
        requested = left if begins_on_row else np.concatenate([[at], left])
        tight = 1.0 / np.sqrt(lanes) if method == "dop853" else 1.0
        done = integrate_ode(
            lane_problem(system, method, p),
            requested,
            np.ascontiguousarray(x).ravel(),
            method=method,
            step=step,
            rtol=tight * rtol,
            atol=tight * atol,
            stops=stops,
            max_steps=max_steps,
            pool=system.once(("lane pool", method, lanes), RunPool),
        )
        rows = done.x.reshape(len(done.t), -1, lanes)[0 if begins_on_row else 1 :]
        found.append(rows)
        first += len(rows)
        if done.status == "finished":
            break
        lane = done.component % lanes
        bad = [lane] if done.status == "not_finite" and lane not in ended else range(lanes)
        for k in bad:
            if k not in ended:
                ended[k] = (first, done.status, _cause(done, lanes, names))
        good = [k for k in range(lanes) if k not in ended]
        if not good:
            break
        x, at = done.x_last.reshape(-1, lanes).copy(), done.t_last
        x[:, lane], p[:, lane] = x[:, good[0]], p[:, good[0]]
    whole = np.concatenate(found) if found else np.zeros((0, x.shape[0], lanes))
    runs = []
    for lane in range(lanes):
        count, status, message = ended.get(lane, (len(whole), "finished", ""))
        runs.append(LaneRun(np.ascontiguousarray(whole[:count, :, lane]), own[:, lane], status, message))
    return runs


def _cause(done: Any, lanes: int, names: Sequence[str]) -> str:
    if done.status != "not_finite":
        return done.describe([name for name in names for _ in range(lanes)])
    name = names[done.component // lanes]
    return f"'{name}' is not finite at t = {done.t_failed:.9g} s; check the parameters of this row"
