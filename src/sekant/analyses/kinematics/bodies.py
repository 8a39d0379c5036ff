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
    """Motion of the frame `reference` in W at q (n, nq), with displacements w (n, m, nv) and ww (n, m, m, nv).

    For one drive (m = 1) the result has no axes m.
    """
    function = system.cached(("frame motion", reference), lambda: _function(system, reference))
    n, m = w.shape[:2]
    time, row = np.array([[t]]), p.reshape(1, -1)
    if m == 1:
        position, R, V, A = function.map(time, q, w[:, 0], w[:, 0], ww[:, 0, 0], row)
    else:
        V, A = np.empty((n, m, 6)), np.empty((n, m, m, 6))
        for i in range(m):
            for j in range(m):
                found = function.map(time, q, w[:, i], w[:, j], ww[:, i, j], row)
                position, R, V[:, i], A[:, i, j] = found
    return PoseMotion(position, R, V[..., 3:], V[..., :3], A[..., 3:], A[..., :3])


def _function(system: System, reference: str) -> NativeFunction:
    """(t, q, w, u, ww, p) -> position, rotation, twist along w, and its derivative along u and ww."""
    eq = system.equations
    state = eq.motion.frame(reference)
    slope = eq.lookups.jacobian(ca.vertcat(state.w_WF, state.v_WF), eq.v)
    w, u, ww = (SX.sym(name, system.nv) for name in ("w", "u", "ww"))
    along = ca.densify(slope @ w)
    bend = eq.lookups.jtimes(along, eq.q, ca.substitute(eq.qdot, eq.v, u)) + slope @ ww
    return system.function("frame_motion", [eq.t, eq.q, w, u, ww, eq.p], [state.p, state.R, along, bend])
