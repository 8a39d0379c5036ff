"""Parallel transport along a curve: a frame that turns with the tangent but never about it.

Between two nodes the frame is rotated by the smallest rotation A that takes the first tangent a to the
current one t, and back about t by the excess angle of A, the integral of a.(t x t') / (1 + a.t). Unlike the
integration
of a differential equation this is a plain integral, accurate to rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.curves.arc_length import ArcLength
from sekant.geometry.curves.formulas import PoseFormula
from sekant.geometry.curves.integrals import (
    RESOLVED,
    at_share,
    gauss_places,
    integrated,
    series,
    subdivided,
    tail,
)
from sekant.geometry.rotations import (
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)

Array = NDArray[np.float64]
ORDER = 5  # number of derivatives of the position used
MOST_INTERVALS = 100_000  # of a path with few breaks; its tangent turns by at most 0.35 rad in each


class Transport:
    """Rotation-minimizing frame (x along the tangent) of a formula's positions.

    `nodes` (n,) subdivide the range such that the tangent turns by less than about 20 degrees in each
    interval and the
    quadrature there is exact to rounding; `q` (n, 4) are the frames. `first` is the frame (3, 3) at the
    start, or a direction (3,) for its z axis.
    """

    def __init__(self, formula: PoseFormula, first: ArrayLike, parameter: str = "u"):
        self.formula, self.parameter = formula, parameter
        self.breaks = formula.breaks
        # The transport is purely geometric: over arc length, it uses the parameter from which s was computed.
        over_length = isinstance(formula, ArcLength)
        self._path: PoseFormula = formula.formula if over_length else formula
        self._place = formula.parameter_at if over_length else (lambda u: u)
        self._seen: dict[str, tuple[Array, Array]] = {}
        self._x = self._subdivide()
        self._t = self._tangent(self._x[:-1])[0]
        self.nodes = formula.length_at(self._x) if over_length else self._x
        self._angle = integrated(series(self._area(self._x[:-1], self._x[1:])), np.diff(self._x))
        self.q = np.empty((len(self._x), 4))
        start = np.asarray(first, float)
        self.q[0] = quaternion_from_rotation(start if start.ndim == 2 else self._start(start))
        steps = self._carry(np.arange(len(self._x) - 1), self._x[1:])
        for i, step in enumerate(steps):
            self.q[i + 1] = quaternion_product(step, self.q[i])
        self.q /= np.linalg.norm(self.q, axis=1, keepdims=True)

    def position_jet(self, u: Array, order: int = ORDER, side: int = 1) -> Array:
        """Derivatives (order + 1, n, 3) of the position; at a break of the right piece, or left if side = -1."""
        seen_u, seen = self._seen.get("position", (None, np.zeros(0)))
        if (
            seen_u is u and len(seen) > order and side > 0
        ):  # all parts of a frame are evaluated at the same places
            return seen[: order + 1]
        jet = self.formula.jet(u, order, side)[..., :3]
        if side > 0:
            self._seen["position"] = u, jet
        return jet

    def tangent_jet(self, u: Array, order: int) -> Array:
        """Unit tangent and its derivatives with respect to u (order + 1, n, 3)."""
        return jets.unit(self.position_jet(u, order + 1)[1:])

    def frame(self, u: Array) -> Array:
        """Quaternions (n, 4) of the transported frame."""
        seen_u, seen = self._seen.get("frame", (None, np.zeros(0)))
        if seen_u is u:
            return seen
        x = self._place(u)
        index = np.clip(np.searchsorted(self._x, x, side="right") - 1, 0, len(self._x) - 2)
        q = quaternion_product(self._carry(index, x), self.q[index])
        self._seen["frame"] = u, q
        return q

    def frame_jet(self, u: Array, order: int = 3) -> Array:
        """Frame and its derivatives with respect to u (order + 1, n, 4): q' = (0, t x t') q / 2."""
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
        """Ends (n,) of intervals, in the parameter of the path."""

        def unresolved(left: Array, right: Array) -> NDArray[np.bool_]:
            bad = self._turns(left, right) > 0.35
            some = ~bad
            if some.any():
                h = right[some] - left[some]
                bad[some] = h * tail(series(self._area(left[some], right[some]))) > RESOLVED
            if bad.sum() > max(MOST_INTERVALS, 20 * self._path.breaks.size):
                raise DataError(
                    f"the path turns too often for a frame along it: {bad.sum():,} intervals are not "
                    "enough; check the lengths and curvatures of the path"
                )
            return bad

        return subdivided(self._path.breaks, unresolved)

    def _turns(self, left: Array, right: Array) -> Array:
        """Angle (n,) [rad] by which the tangent turns over each interval; DataError where there is no tangent."""
        turn = np.zeros(len(left))
        previous = None
        for x in np.linspace(0.0, 1.0, 9):
            u = left + x * (right - left)
            slope = self._path.jet(u, 1, -1 if x == 1.0 else 1)[1, :, :3]
            size = np.linalg.norm(slope, axis=1)
            if not np.isfinite(size).all():
                raise DataError(
                    "the path contains values that are not finite; check its lengths and curvatures"
                )
            bad = np.flatnonzero(size <= 1e-12 * max(float(size.max()), 1e-300))
            if bad.size:
                raise DataError(
                    f"the path has no tangent at {self.parameter} = {u[bad[0]]:.6g}: the position does not "
                    "change there; give the orientation as data instead of choosing a frame"
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

    def _area(self, left: Array, right: Array) -> Array:
        """Rate (n, 12) of the angle at the Gauss points of intervals: a.(t x t') / (1 + a.t)."""
        a = self._tangent(left)[0]
        x = gauss_places(left, right)
        t = self._tangent(x.ravel(), 1).reshape(2, *x.shape, 3)
        return np.einsum("ni,nki->nk", a, np.cross(t[0], t[1])) / (1.0 + np.einsum("ni,nki->nk", a, t[0]))

    def _tangent(self, x: Array, order: int = 0, side: int = 1) -> Array:
        """Unit tangent and its derivatives with respect to the parameter of the path (order + 1, n, 3)."""
        return jets.unit(self._path.jet(x, order + 1, side)[1:, :, :3])

    def _carry(self, index: NDArray[np.intp], x: Array) -> Array:
        """Quaternions (n, 4), resolved in F, that carry the frames from the nodes `index` to x in the interval."""
        a, b = self._x[index], self._x[index + 1]
        ta, tb = self._t[index], self._tangent(x, side=-1)[0]
        angle = at_share(self._angle[index], (x - a) / (b - a))
        smallest = np.concatenate([1.0 + np.sum(ta * tb, axis=1, keepdims=True), np.cross(ta, tb)], axis=1)
        smallest /= np.linalg.norm(smallest, axis=1, keepdims=True)
        twist = np.concatenate([np.cos(0.5 * angle)[:, None], np.sin(0.5 * angle)[:, None] * tb], axis=1)
        return quaternion_product(twist, smallest)
