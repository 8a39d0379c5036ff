"""Parallel transport along a curve: a frame that turns with the tangent but never about it.

Between two nodes the frame is carried by the smallest rotation A that takes the first tangent a to the present
one t, and turned back about t by the angle that A turns too much, the integral of a.(t x t') / (1 + a.t). Unlike
the integration of a differential equation this is a plain quadrature, accurate to rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.curves.formulas import PoseFormula
from sekant.geometry.rotations import (
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)

Array = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
ORDER = 5  # derivatives of the position that are used


class Transport:
    """Rotation-minimizing frame (x along the tangent) of a formula's positions.

    `nodes` (n,) subdivide the range so that the tangent turns by less than about 20 degrees in each interval and the
    quadrature there is exact to rounding; `q` (n, 4) are the frames. `first` is the frame (3, 3) at the start, or a
    direction (3,) that its z axis is turned to.
    """

    def __init__(self, formula: PoseFormula, first: ArrayLike, parameter: str = "u"):
        self.formula, self.parameter = formula, parameter
        self.breaks = formula.breaks
        self.nodes = self._subdivide()
        self.q = np.empty((len(self.nodes), 4))
        start = np.asarray(first, float)
        self.q[0] = quaternion_from_rotation(start if start.ndim == 2 else self._start(start))
        steps = self._carry(self.nodes[:-1], self.nodes[1:])
        for i, step in enumerate(steps):
            self.q[i + 1] = quaternion_product(step, self.q[i])
        self.q /= np.linalg.norm(self.q, axis=1, keepdims=True)

    def position_jet(self, u: Array, order: int = ORDER, side: int = 1) -> Array:
        """Derivatives (order + 1, n, 3) of the position; at a break of the right piece, or left if side = -1."""
        return self.formula.jet(u, order, side)[..., :3]

    def tangent_jet(self, u: Array, order: int, side: int = 1) -> Array:
        """Unit tangent and its derivatives by u (order + 1, n, 3)."""
        return jets.unit(self.position_jet(u, order + 1, side)[1:])

    def frame(self, u: Array) -> Array:
        """Quaternions (n, 4) of the transported frame."""
        index = np.clip(np.searchsorted(self.nodes, u, side="right") - 1, 0, len(self.nodes) - 2)
        return quaternion_product(self._carry(self.nodes[index], u), self.q[index])

    def frame_jet(self, u: Array, order: int = 3) -> Array:
        """Frame and its derivatives by u (order + 1, n, 4): q' = (0, t x t') q / 2."""
        if order == 0:
            return self.frame(u)[None]
        t = self.tangent_jet(u, order)
        w_F = jets.cross(t, t[1:])
        W = np.concatenate([np.zeros_like(w_F[..., :1]), w_F], axis=-1)
        q = [self.frame(u)]
        for k in range(order):
            q.append(0.5 * jets.leibniz(k, W, q, quaternion_product))
        return np.stack(q)

    @property
    def holonomy(self) -> float:
        """Angle [rad] about the tangent from the first to the last frame of a curve that closes."""
        relative = rotation_from_quaternion(self.q[0]).T @ rotation_from_quaternion(self.q[-1])
        return float(np.arctan2(relative[2, 1] - relative[1, 2], relative[1, 1] + relative[2, 2]))

    def _subdivide(self) -> Array:
        left, right = self.breaks[:-1], self.breaks[1:]
        least = 1e-9 * (right[-1] - left[0])
        done = [right[-1:]]
        while left.size:
            middle = 0.5 * (left + right)
            bad = self._turns(left, right) > 0.35
            if not bad.all():
                some = ~bad
                whole = self._carry(left[some], right[some])
                first, second = self._carry(left[some], middle[some]), self._carry(middle[some], right[some])
                gap = np.abs(quaternion_product(second, first) - whole).max(axis=1)
                bad[some] = gap > 1e-14
            bad &= right - left > least
            done.append(left[~bad])
            left, right = np.concatenate([left[bad], middle[bad]]), np.concatenate([middle[bad], right[bad]])
        return np.sort(np.concatenate(done))

    def _turns(self, left: Array, right: Array) -> Array:
        """Angle (n,) [rad] by which the tangent turns over each interval; DataError where there is no tangent."""
        turn = np.zeros(len(left))
        previous = None
        for x in np.linspace(0.0, 1.0, 9):
            u = left + x * (right - left)
            slope = self.position_jet(u, 1, -1 if x == 1.0 else 1)[1]
            size = np.linalg.norm(slope, axis=1)
            bad = np.flatnonzero(size <= 1e-12 * max(float(size.max()), 1e-300))
            if bad.size:
                raise DataError(
                    f"the path has no tangent at {self.parameter} = {u[bad[0]]:.6g}: the position stands still there; "
                    "give the orientation by data instead of a frame along the path"
                )
            t = slope / size[:, None]
            if previous is not None:
                turn += np.arccos(np.clip(np.sum(t * previous, axis=1), -1.0, 1.0))
            previous = t
        return turn

    def _start(self, up: Array) -> Array:
        """First frame: x along the tangent, z as near to `up` as possible."""
        t = self.tangent_jet(self.breaks[:1], 0)[0, 0]
        y = np.cross(up, t)
        if np.linalg.norm(y) < 1e-6 * np.linalg.norm(up):
            y = np.cross(np.eye(3)[int(np.argmin(np.abs(t)))], t)
        y /= np.linalg.norm(y)
        return np.asarray([t, y, np.cross(t, y)], dtype=float).T

    def _carry(self, a: Array, b: Array) -> Array:
        """Quaternions (n, 4), resolved in F, that carry the frames from parameters a to b (same piece of nodes)."""
        ta = self.tangent_jet(a, 0)[0]
        tb = self.tangent_jet(b, 0, side=-1)[0]
        x = a[:, None] + 0.5 * (b - a)[:, None] * (1.0 + _NODES)
        t = self.tangent_jet(x.ravel(), 1).reshape(2, *x.shape, 3)
        area = np.einsum("ni,nki->nk", ta, np.cross(t[0], t[1])) / (1.0 + np.einsum("ni,nki->nk", ta, t[0]))
        angle = 0.5 * (b - a) * (area @ _WEIGHTS)
        smallest = np.concatenate([1.0 + np.sum(ta * tb, axis=1, keepdims=True), np.cross(ta, tb)], axis=1)
        smallest /= np.linalg.norm(smallest, axis=1, keepdims=True)
        twist = np.concatenate([np.cos(0.5 * angle)[:, None], np.sin(0.5 * angle)[:, None] * tb], axis=1)
        return quaternion_product(twist, smallest)
