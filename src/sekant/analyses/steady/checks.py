"""The start of the search for a steady motion, and checks that the motion found is steady."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.tangent_space import TangentSpace
from sekant.analyses.steady.equations import SteadyEquations, Trial
from sekant.engine.functions.linear import MotionPoint
from sekant.engine.functions.steady import FIRST_RATE
from sekant.errors import SolverError

Array = NDArray[Any]
LASTING = 1e-5
"""Largest unbalanced force after a part of a turn, relative to the applied forces, for which a motion counts as
steady."""


def start_of(equations: SteadyEquations, g: Array, q: Array, p: Array) -> Trial:
    """The guess q (nq,) with the velocities, accelerations and multipliers that fit the conditions best."""
    system, functions = equations.system, equations.functions
    none = np.zeros(system.nv)
    point = MotionPoint(equations.t, q, none, none, np.zeros(functions.m), p)
    point = moving(equations, point, g)
    R = functions.residual(point)[0]
    lam = np.zeros(functions.m)
    if not np.isfinite(R).all():  # beyond the end of a curve or a table: the search takes a shorter step
        return Trial(replace(point, lam=lam), g)
    G = functions.tangent(point).G[equations.rows]
    lam[equations.rows] = -TangentSpace.of(G).inverse.T @ R
    return Trial(replace(point, lam=lam), g)


def moving(equations: SteadyEquations, point: MotionPoint, g: Array) -> MotionPoint:
    """`point` with the velocities and accelerations of the steady motion at its position."""
    none = np.zeros(equations.system.nv)
    J, E, _ = equations.steady.rows(replace(point, v=none, a=none), g)
    v = _least(J, E)
    J, _, E_rate = equations.steady.rows(replace(point, v=v, a=none), g)
    return replace(point, v=v, a=_least(J, E_rate))


def _least(J: Array, E: Array) -> Array:
    """The shortest x with J x = -E; NaN if the point is beyond the end of a curve or a table."""
    if not (np.isfinite(J).all() and np.isfinite(E).all()):
        return np.full(J.shape[1], np.nan)
    return -np.linalg.lstsq(J, E, rcond=1e-10)[0]


def check_contacts(equations: SteadyEquations, trial: Trial) -> None:
    gaps = equations.functions.residual(trial.point)[1]
    closed = equations.functions.unilateral & (gaps < -1e-9)
    if np.any(closed):
        k = int(np.argmin(np.where(closed, gaps, np.inf)))
        raise SolverError(
            f"steady motion: contact '{equations.functions.row_names[k]}' would penetrate by {-gaps[k]:.4g} m; "
            "steady motion on closed contacts is not supported: replace the contact with a joint or a spring"
        )


def check_lasting(equations: SteadyEquations, trial: Trial, share: float = 0.8, steps: int = 16) -> None:
    """Advance the motion by a part of a turn and raise an error if forces or constraints no longer balance."""
    g, point = trial.g, trial.point
    fastest = max(float(np.max(np.abs(g[:4]))), float(np.max(np.abs(g[FIRST_RATE:]), initial=0.0)), 1.0)
    h = share / fastest / steps
    for _ in range(steps):
        k1 = _rates(equations, point, g, 0.0, 0.0)
        k2 = _rates(equations, point, g, k1, h / 2)
        k3 = _rates(equations, point, g, k2, h / 2)
        k4 = _rates(equations, point, g, k3, h)
        q = point.q + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        point = moving(equations, replace(point, q=q, t=point.t + h), g)
    functions, used = equations.functions, equations.rows
    R, Phi, _, _ = functions.residual(point)
    space = TangentSpace.of(functions.tangent(point).G[used])
    unbalanced = space.Z @ (space.Z.T @ R)
    scale = equations.force_scale(Trial(point, g))
    names = equations.system.state_names[equations.system.nq :]
    if np.max(np.abs(unbalanced), initial=0.0) > LASTING * scale:
        k = int(np.argmax(np.abs(unbalanced)))
        raise SolverError(
            f"steady motion: the motion is not steady: after {h * steps:.3g} s, a force of "
            f"{unbalanced[k]:.4g} N (or N m) "
            f"along '{names[k]}' is not balanced; forces and constraints must not depend on the coordinates that "
            "the turn, the velocity and the rates change"
        )
    if np.max(np.abs(Phi[used]), initial=0.0) > 1e-4:
        rows = [n for n, on in zip(functions.row_names, used, strict=True) if on]
        raise SolverError(
            f"steady motion: the motion is not steady: '{rows[int(np.argmax(np.abs(Phi[used])))]}' is "
            f"violated after {h * steps:.3g} s, because this constraint does not move with the bodies"
        )


def _rates(equations: SteadyEquations, point: MotionPoint, g: Array, rates: Array | float, h: float) -> Array:
    """Rates (nq,) of the coordinates a time h (s) later, after they have changed by h * rates."""
    ahead = moving(equations, replace(point, q=point.q + h * rates, t=point.t + h), g)
    return equations.functions.differences[1](ahead.q, ahead.v)[0].ravel() - ahead.q
