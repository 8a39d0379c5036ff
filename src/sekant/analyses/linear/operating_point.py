"""The instant of a motion about which a system is linearized: state, accelerations and multipliers, with checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.tangent_space import TangentSpace
from sekant.analyses.statics.equilibrium import Equilibrium, equilibrium
from sekant.analyses.statics.sticking import branch_parameters
from sekant.analyses.steady.motion import SteadyMotion
from sekant.engine.functions.linear import LinearFunctions, MotionPoint, linear_functions
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError, suggest

Array = NDArray[Any]
KINDS = ("equilibrium", "steady", "motion")
BALANCED = 1e-6
"""Largest unbalanced force, relative to the applied forces, that is accepted, for example in an equilibrium from
another program."""


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A point, the mask of its active constraint rows (m,), and the `kind` of motion, one of `KINDS`.

    `steady`: the steady motion that it belongs to, if `sk.analyses.steady_motion` found one; `moving`: whether the
    axes move with it.
    """

    point: MotionPoint
    rows: NDArray[np.bool_]
    kind: str
    closed: frozenset[str]
    parameters: Mapping[str, ArrayLike] | None
    steady: SteadyMotion | None = None
    moving: bool = False
    warnings: tuple[AnalysisWarning, ...] = ()


def operating_point(
    system: System,
    state: State | None,
    t: float,
    at: str | None,
    a: ArrayLike | None,
    parameters: Mapping[str, ArrayLike] | None,
) -> OperatingPoint:
    """The operating point for the arguments of `linearize`."""
    if at is not None and at not in KINDS:
        raise SolverError(f"linearize: unknown kind of motion at='{at}'; {suggest(at, KINDS, 'kinds')}")
    if state is None:
        if at in ("steady", "motion"):
            raise SolverError(f"linearize: at='{at}' needs the state (q, v) of that motion")
        state = equilibrium(system, parameters=parameters, t=t)
    closed: frozenset[str] = frozenset()
    if isinstance(state, (Equilibrium, SteadyMotion)):
        closed, t = state.closed, state.t
        parameters = state.parameters if parameters is None else parameters
    steady = state if isinstance(state, SteadyMotion) else None
    moving = steady is not None and at != "motion"
    if steady is not None and moving:
        a = steady.a if a is None else a
        at = "steady"
    functions = linear_functions(system)
    rows = np.array(
        [
            not one_sided or name in closed
            for name, one_sided in zip(functions.row_names, functions.unilateral, strict=True)
        ],
        bool,
    )
    p = branch_parameters(system, state, t, parameters)
    q, v = (np.asarray(x, float).ravel() for x in (state.q, state.v))
    resting = at == "equilibrium" or (at is None and not np.any(v))
    if at == "motion":
        accelerations, lam = free_motion(functions, t, q, v, p, rows)
        kind = "motion"
    else:
        kind = "equilibrium" if resting else "steady"
        accelerations = np.zeros(system.nv) if a is None else np.asarray(a, float).ravel()
        lam = None
    point = _balanced(
        functions, MotionPoint(t, q, v, accelerations, np.zeros(functions.m), p), rows, kind, lam
    )
    return OperatingPoint(
        point, rows, kind, closed, parameters, steady, moving, getattr(state, "warnings", ())
    )


def free_motion(
    functions: LinearFunctions, t: float, q: Array, v: Array, p: Array, rows
) -> tuple[Array, Array]:
    """Accelerations (nv,) and multipliers (m,) at a state, from the equations of motion."""
    n, m = functions.nv, functions.m
    rest = MotionPoint(t, q, v, np.zeros(n), np.zeros(m), p)
    R, _, _, acceleration = functions.residual(rest)
    tangent = functions.tangent(rest)
    space = TangentSpace.of(tangent.G[rows])
    a = -space.inverse @ acceleration[rows]
    forces = space.Z.T @ (R + tangent.M @ a)
    if forces.size:
        a = a - space.Z @ np.linalg.solve(space.Z.T @ tangent.M @ space.Z, forces)
    lam = np.zeros(m)
    lam[rows] = -space.inverse.T @ (R + tangent.M @ a)
    return a, lam


def _balanced(
    functions: LinearFunctions, point: MotionPoint, rows, kind: str, lam: Array | None
) -> MotionPoint:
    """The point with its multipliers; raises an error if the motion is not of this kind."""
    R, Phi, rate, acceleration = functions.residual(point)
    tangent = functions.tangent(point)
    space = TangentSpace.of(tangent.G[rows])
    if lam is None:
        lam = np.zeros(functions.m)
        lam[rows] = -space.inverse.T @ R
    found = MotionPoint(point.t, point.q, point.v, point.a, lam, point.p)
    system = functions.system
    unbalanced = space.Z @ (space.Z.T @ R)
    stiff = float(np.max(np.abs(tangent.R_s), initial=0.0))
    scale = max(float(np.max(np.abs(R), initial=0.0)), float(np.max(np.abs(tangent.M), initial=0.0)), stiff)
    if kind != "motion" and np.max(np.abs(unbalanced), initial=0.0) > BALANCED * scale:
        k = int(np.argmax(np.abs(unbalanced)))
        name = system.state_names[system.nq + k]
        moving = bool(np.any(point.v))
        what = "not a steady motion with these accelerations" if moving else "not an equilibrium"
        remedy = "" if moving else "find one with sk.equilibrium(system, guess=state), or "
        raise SolverError(
            f"linearize: the state is {what}: a force of {unbalanced[k]:.4g} N (or N m) along '{name}' is "
            f"not balanced; {remedy}linearize about the current motion with at='motion'"
        )
    for what, values, size in (
        ("position", Phi, 1e-7),
        ("velocity", rate, 1e-6),
        ("acceleration", acceleration, 1e-5),
    ):
        if kind == "motion" and what == "acceleration":
            continue
        worst = np.abs(values) * rows
        if np.max(worst, initial=0.0) > size * (1.0 + float(np.max(np.abs(point.v), initial=0.0)) ** 2):
            name = functions.row_names[int(np.argmax(worst))]
            raise SolverError(
                f"linearize: the state violates the {what} equation of '{name}' by {np.max(worst):.3g}; "
                "call sk.assemble first" + (", or give the accelerations a" if what == "acceleration" else "")
            )
    return found
