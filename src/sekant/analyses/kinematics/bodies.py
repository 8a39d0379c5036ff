"""Pose, twist and derivative of the twist of bodies along a sweep."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.spatial import SX

Array = NDArray[np.float64]


def body_motion(
    system: System, reference: str, t: float, p: Array, q: Array, w: Array, ww: Array
) -> PoseMotion:
    """Of the frame `reference` at q (n, nq), with displacements w (n, m, nv) and ww (n, m, m, nv), in the world.

    For one drive the axes m are left out.
    """
    pose, twist, bend = system.kept(("frame motion", reference), lambda: _functions(system, reference))
    n, m = w.shape[:2]
    time = np.array([[t]])
    row = p.reshape(1, -1)
    position, R = pose.map(time, q, row)
    V = np.empty((n, m, 6))
    A = np.empty((n, m, m, 6))
    for i in range(m):
        V[:, i] = twist.map(time, q, w[:, i], row)[0]
        for j in range(m):
            A[:, i, j] = bend.map(time, q, w[:, i], w[:, j], ww[:, i, j], row)[0]
    if m == 1:
        V, A = V[:, 0], A[:, 0, 0]
    return PoseMotion(position, R, V[..., 3:], V[..., :3], A[..., 3:], A[..., :3])


def _functions(system: System, reference: str) -> tuple[NativeFunction, NativeFunction, NativeFunction]:
    eq = system.equations
    state = eq.motion.frame(reference)
    slope = eq.lookups.jacobian(ca.vertcat(state.w_WF, state.v_WF), eq.v)
    w, u, ww = (SX.sym(name, system.nv) for name in ("w", "u", "ww"))
    along = ca.densify(slope @ w)
    bend = eq.lookups.jtimes(along, eq.q, ca.substitute(eq.qdot, eq.v, u)) + slope @ ww
    return (
        system.function("pose", [eq.t, eq.q, eq.p], [ca.densify(state.p), ca.densify(state.R)]),
        system.function("twist", [eq.t, eq.q, w, eq.p], [along]),
        system.function("bend", [eq.t, eq.q, w, u, ww, eq.p], [ca.densify(bend)]),
    )
