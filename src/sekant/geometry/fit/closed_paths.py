"""Closed paths: wrapping data around the seam, and merging the two passes over it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from sekant.geometry.fit.bsplines import periodic_least_squares
from sekant.geometry.fit.data import PoseData
from sekant.geometry.fit.initial import Initial

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Seam:
    """The data of a closed path, continued beyond both ends."""

    period: float  # in the parameter of the raw data
    source: NDArray[np.int64]  # (n_ext,) row of the data for each extended point
    lap: NDArray[np.int64]  # (n_ext,) -1, 0 or 1
    inside: NDArray[np.bool_]  # (n_ext,) the points of lap 0
    gain: Array  # (k,) growth of the orientation components over a lap (Euler angles)
    sign: float  # of the quaternion after a lap

    @staticmethod
    def of(poses: PoseData, u: Array, y: Array | None, tag: str) -> Seam:
        """Seam of data whose last point repeats the first, or is one typical step before it."""
        r = poses.position
        typical = float(np.median(np.linalg.norm(np.diff(r, axis=0), axis=1)))
        gap = float(np.linalg.norm(r[-1] - r[0]))
        if gap > 4.0 * typical:
            raise poses.error(
                f"the path does not close: its ends are {gap:.4g} m apart (typical step {typical:.3g} m); "
                "add the missing points, or do not use 'periodic'"
            )
        repeated = gap < 0.2 * typical
        n = len(u) - 1 if repeated else len(u)
        period = float(u[-1] - u[0]) if repeated else float(u[-1] - u[0]) + gap
        overlap = min(n - 1, max(20, n // 6))
        index = np.arange(-overlap, n + overlap)
        gain, sign = np.zeros(0 if y is None else y.shape[1]), 1.0
        if y is not None and tag == "quaternion":
            sign = 1.0 if float(y[n - 1] @ y[0]) >= 0.0 else -1.0
        elif y is not None:
            gain = 2.0 * np.pi * np.round((y[n - 1] - y[0]) / (2.0 * np.pi))
        lap = np.floor_divide(index, n)
        return Seam(period, index % n, lap, lap == 0, gain, sign)

    @staticmethod
    def over_column(poses: PoseData, u: Array, r: Array, y: Array | None, tag: str, sigma: float) -> Seam:
        """Seam of rows over an increasing column u whose last row repeats the first, up to the noise
        `sigma` [m] of a coordinate: the period is the difference of the column's ends."""
        typical = float(np.median(np.linalg.norm(np.diff(r, axis=0), axis=1)))
        gap = float(np.linalg.norm(r[-1] - r[0]))
        if gap > max(0.2 * typical, 8.0 * sigma):
            raise poses.error(
                f"the path does not close: the last row is {gap:.4g} m from the first row (typical step "
                f"{typical:.3g} m). In a fit over a column, the last row must have the pose of the first row, and "
                "the difference of their column values is the period; add such a row at the end of the period, or "
                "do not use 'periodic'"
            )
        closing = Seam.of(poses, u, y, tag)
        n = len(u) - 1
        overlap = min(n - 1, max(20, n // 6))
        index = np.arange(-overlap, n + overlap)
        lap = np.floor_divide(index, n)
        return replace(closing, period=float(u[-1] - u[0]), source=index % n, lap=lap, inside=lap == 0)

    def joined(self, r: Array, y: Array | None) -> tuple[Array, Array | None]:
        """Positions and components whose first row is the mean of the first and the last, which are the same
        point."""
        r = np.concatenate([[0.5 * (r[0] + r[-1])], r[1:]])
        if y is not None:
            y = np.concatenate([[0.5 * (y[0] + self.sign * (y[-1] - self.gain))], y[1:]])
        return r, y

    def spline(
        self, first: Initial, u: Array, y: Array, gain: Array, sign: float, w: Array | None
    ) -> BSpline:
        """A spline of one lap through y (n, m) at u (n,), whose last row repeats the first, with continuous
        derivatives over the seam; `first` is a spline through the rows with overlaps, which determines the knots."""
        a, period = float(u[0]), self.period
        t = first.spline.t
        inner = t[(t > a + 1e-12 * period) & (t < a + (1.0 - 1e-12) * period)]
        drift = np.outer((u - a) / period, gain)
        weights = None if w is None else w[:-1]
        knots = np.append(a, inner)
        return periodic_least_squares(
            u[:-1], (y - drift)[:-1], knots, period, np.full(y.shape[1], sign), weights
        )

    def extended(self, u: Array, r: Array, y: Array | None, w: Array | None) -> tuple:
        """Parameter, positions, orientation components and weights with overlaps at both ends."""
        i = self.source
        y_ext = None
        if y is not None:
            y_ext = y[i] * np.where(self.lap == 0, 1.0, self.sign)[:, None] + np.outer(self.lap, self.gain)
        return u[i] + self.lap * self.period, r[i], y_ext, None if w is None else w[i]

    def lap_range(self, place: Array, order: NDArray[np.int64]) -> tuple[float, float]:
        """Parameters of the first and the second pass of the first point; the extended point order[i] has the
        parameter place[i]."""
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        start, end = (np.flatnonzero((self.source == 0) & (self.lap == lap))[0] for lap in (0, 1))
        return float(place[position[start]]), float(place[position[end]])

    def increment(self, m: int) -> Array:
        """Growth (m,) of the table components over a lap."""
        out = np.zeros(m)
        out[3 : 3 + len(self.gain)] = self.gain
        return out

    def signs(self, m: int) -> Array:
        """Signs (m,) of the components after a lap."""
        out = np.ones(m)
        out[3:] = self.sign
        return out


def blend_seam(s: Array, y: Array, period: float, closing: Seam) -> tuple[Array, Array]:
    """One lap (s from 0 to period) from data that overlap at both ends, blended smoothly over the overlap."""
    spline = make_interp_spline(s, y, 5)
    reach = 0.9 * min(-s[0], s[-1] - period)
    lap = np.concatenate([[0.0], s[(s > 1e-12 * period) & (s < period * (1.0 - 1e-12))], [period]])
    out = spline(lap)
    m = y.shape[1]
    sign, gain = closing.signs(m), closing.increment(m)
    near = lap < reach
    weight = _step(lap[near] / reach)[:, None]
    out[near] = weight * out[near] + (1.0 - weight) * sign * (spline(lap[near] + period) - gain)
    far = lap > period - reach
    weight = _step((lap[far] - period) / reach)[:, None]
    out[far] = (1.0 - weight) * out[far] + weight * (sign * spline(lap[far] - period) + gain)
    return lap, out


def _step(x: Array) -> Array:
    """Smooth step (C4) from 0 at -1 to 1 at 1."""
    t = np.clip(0.5 * (x + 1.0), 0.0, 1.0)
    return t**5 * (126.0 - 420.0 * t + 540.0 * t**2 - 315.0 * t**3 + 70.0 * t**4)
