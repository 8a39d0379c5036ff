"""Evaluations of a compiled right-hand side one after another, with nothing in Python between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import trees
from numba import njit

import sekant.solvers.common.intrinsics  # noqa: F401 (numba learns what helpers are)
from sekant.engine.functions.motion import right_hand_side
from sekant.solvers.common.calls import call_native
from sekant.solvers.common.sites import free_modes

STEP = 1e-9


@njit
def _euler(address, arg, res, w, x, xdot, n):
    for _ in range(n):
        call_native(address, arg, res, w)
        for j in range(x.size):
            x[j] += STEP * xdot[j]


class RightHandSide:
    """Tiny Euler steps with a compiled right-hand side, so that each evaluation waits for the one before."""

    def __init__(self, system: Any, links: list[trees.Link], motion: trees.TreeMotion):
        self.q_order, self.v_order = trees.state_order(system, links)
        self.function = right_hand_side(system, balance=False)
        self.x = np.concatenate([motion.q[self.q_order], motion.v[self.v_order]])
        self.xdot = np.zeros_like(self.x)
        p = system.parameter_vector(trees.forces(links, motion))
        inputs = [
            np.zeros(1),
            self.x,
            np.append(p, 0.0),
            np.append(self.function.tables, 0.0),
            free_modes(self.function.sites),
        ]
        self.inputs, self.w = inputs, np.zeros(max(1, self.function.work_size))
        self.arg = np.array([a.ctypes.data for a in inputs], dtype=np.uintp)
        self.res = np.array([self.xdot.ctypes.data], dtype=np.uintp)

    def run(self, n: int) -> None:
        _euler(self.function.address, self.arg, self.res, self.w, self.x, self.xdot, n)

    def a(self) -> np.ndarray:
        """Accelerations (nv,) of the last evaluation, in the order of the links."""
        a = np.empty(self.v_order.size)
        a[self.v_order] = self.xdot[self.q_order.size :]
        return a
