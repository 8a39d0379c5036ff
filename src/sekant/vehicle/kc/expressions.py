"""A moving axle as expressions, from which formulas are compiled and differentiated.

Symbols are the coordinates q and parameters p of the system, the displacements w by each drive (heights of both
wheels, and the rack), their derivatives ww with respect to the two heights, and `ways`. Arrays have the leading axes
(1, 1) of a grid of one point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from sekant.analyses.kinematics.quantities import find
from sekant.engine.system import System
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.spatial import SX
from sekant.vehicle.curves.arrays import elements
from sekant.vehicle.curves.frames import frame_motion, frame_pose, on_grid, split_start, twists
from sekant.vehicle.hardpoints.suspension import Suspension


class AxleExpressions:
    """Poses and quantities of an axle on its rig as functions of the symbols `w` (nv, d), `ww` (nv, 4), `ways` (2,).

    The columns of `ww` are the derivatives of the first displacement with respect to both heights, then those of the
    second. `moving` are the sides whose wheels move. With `drawn`, the poses of frames at the start are their poses
    in their bodies, as in models of hard points, whose bodies all start in vehicle axes. Otherwise the start of the
    wheels is given by the symbols `start`, (7,) for each wheel that moves, see `wheel_start`.
    """

    def __init__(self, system: System, steered: bool, moving: tuple[str, ...], drawn: bool):
        self.system, self.steered, self.moving, self.drawn = system, steered, moving, drawn
        self.start = SX.zeros(0, 1)
        nv = system.nv
        self.w = SX.sym("w", nv, 3 if steered else 2)
        self.ww = SX.sym("ww", nv, 4)
        self.ways = SX.sym("ways", 2)

    @cached_property
    def _N(self) -> SX:
        return ca.jacobian(self.system.equations.qdot, self.system.equations.v)

    def _by_height(self, i: int, j: int) -> SX:
        return self.ww[:, 2 * i + j]

    def poses(self, frames: Sequence[str], side: int) -> dict[str, PoseMotion]:
        """Poses of frames, with derivatives with respect to the travel of the wheel of one side and to the rack."""
        way = self.ways / self.ways[side]
        along = self.w[:, :2] @ way
        bend = sum((way[i] * way[j] * self._by_height(i, j) for i in range(2) for j in range(2)), SX(0))
        drives = [along, self.w[:, 2]] if self.steered else [along]
        return {name: frame_motion(self.system, name, drives, bend) for name in dict.fromkeys(frames)}

    def start_of(self, roles: Suspension) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Center (3,), spin axis (3,) and radius (1,) of a wheel at the start."""
        if self.drawn:
            center, contact = (
                frame_pose(self.system.equations.resolved.model, name)
                for name in (roles.wheel_center, roles.contact)
            )
            numbers = ca.vertcat(center.p, center.R[:, 1], ca.norm_2(contact.p - center.p))
        else:
            numbers = SX.sym(f"start_{roles.wheel_center}", 7)
            self.start = ca.vertcat(self.start, numbers)
        return split_start(elements(numbers))

    def opposed(self, frame: str, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Angular velocity and velocity (1, 1, 3) of a frame per height of one wheel, while the other wheel falls."""
        twist = elements(twists(self.system, frame) @ (self.w[:, side] - self.w[:, 1 - side])).ravel()
        return on_grid(twist[:3]), on_grid(twist[3:])

    def quantity(self, name: str) -> np.ndarray:
        """A scalar quantity, (1, 1)."""
        return elements(find(self.system, name).expression).reshape(1, 1)

    def distance(self, frame: str, radius: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives (1, 1, 2) and (1, 1, 2, 2) with respect to both heights of the position of a wheel's
        contact along `up`.

        The frame is at the wheel's center, with y along the spin axis. The lowest point of a disc of radius r lies at
        n.p - r sqrt(1 - (n.e)^2) along the constant unit vector n.
        """
        eq, n = self.system.equations, SX.sym("up", 3)
        state = eq.motion.frame(frame)
        r = SX(np.asarray(radius).ravel()[0])
        h = ca.dot(n, state.p) - r * ca.sqrt(1 - ca.dot(n, state.R[:, 1]) ** 2)
        slope, normal = eq.lookups.jacobian(ca.densify(h), eq.q) @ self._N, ca.vertcat(*up.ravel())

        def held(expression: SX) -> np.ndarray:
            return elements(eq.lookups.substitute(expression, n, normal))

        return on_grid(held((slope @ self.w[:, :2]).T)), self._bends(slope, held)

    def slopes(self, name: str) -> np.ndarray:
        """First derivatives (1, 1, d) of a quantity."""
        return on_grid(elements((self._slope(name) @ self.w).T))

    def bends(self, name: str) -> np.ndarray:
        """Second derivatives (1, 1, 2, 2) of a quantity with respect to both heights."""
        return self._bends(self._slope(name), elements)

    def _bends(self, slope: SX, made: Callable[[SX], np.ndarray]) -> np.ndarray:
        """Second derivatives (1, 1, 2, 2) of a quantity with the slope (1, nv)."""
        eq, found = self.system.equations, np.empty((2, 2), dtype=object)
        for i in range(2):
            for j in range(2):
                turn = eq.lookups.jtimes(slope @ self.w[:, i], eq.q, self._N @ self.w[:, j])
                found[i, j] = made(SX(turn + slope @ self._by_height(i, j))).ravel()[0]
        return on_grid(found)

    def _slope(self, name: str) -> SX:
        """Gradient (1, nv) of a quantity."""
        eq = self.system.equations
        return eq.lookups.jacobian(ca.densify(find(self.system, name).expression), eq.q) @ self._N
