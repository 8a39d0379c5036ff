"""Pieces of track: straight, arc, clothoid, helix, and curves fitted to data.

A segment is drawn in its own frame: it starts at the origin along x and bends towards +y (left, if z is up); negative
angles and curvatures bend towards -y. `roll` [rad] turns the plane of bending about the tangent, from the
frame transported along the track; `axis` gives the axis of turning instead, a vector in F. `at` = (point,
direction) places a segment in F instead of joining it to the previous one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sekant.geometry import jets
from sekant.geometry.curves.formulas import TableFormula
from sekant.geometry.curves.integrals import RESOLVED, at_share, gauss_places, integrated, series, tail
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.tables.pieces import horner

Array = NDArray[np.float64]
Vector = Sequence[float]
Placement = tuple[Vector, Vector]


@dataclass(frozen=True)
class Straight:
    """Straight line of `length` [m]."""

    length: float
    at: Placement | None = None
    kind: ClassVar[str] = "straight"
    roll: ClassVar[float] = 0.0
    axis: ClassVar[None] = None

    def jet(self, s: Array, order: int) -> Array:
        """Position and derivatives by arc length (order + 1, n, 3), in the segment's frame."""
        out = np.zeros((order + 1, len(s), 3))
        out[0, :, 0], out[1:2, :, 0] = s, 1.0
        return out


@dataclass(frozen=True)
class Arc:
    """Circular arc of `radius` [m] through `angle` [rad]; positive angles turn left."""

    radius: float
    angle: float
    roll: float = 0.0
    axis: Vector | None = None
    at: Placement | None = None
    kind: ClassVar[str] = "arc"

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return abs(self.radius * self.angle)

    def jet(self, s: Array, order: int) -> Array:
        """Position and derivatives by arc length (order + 1, n, 3), in the segment's frame."""
        return Helix(self.radius, 0.0, self.angle).jet(s, order)


@dataclass(frozen=True)
class Clothoid:
    """Transition of `length` [m] whose curvature [1/m] goes from `start` to `end` (positive: left).

    The curvature changes linearly (a clothoid: a frame along the track then has continuous rates, but its angular
    acceleration jumps at both ends), or, if `smooth`, as 3 x^2 - 2 x^3 (a Bloss curve) without such jumps.
    """

    length: float
    start: float
    end: float
    roll: float = 0.0
    axis: Vector | None = None
    at: Placement | None = None
    smooth: bool = False
    kind: ClassVar[str] = "clothoid"

    def jet(self, s: Array, order: int) -> Array:
        """Position and derivatives by arc length (order + 1, n, 3), in the segment's frame."""
        change, L = self.end - self.start, self.length
        if self.smooth:
            return _planar(s, order, (0.0, self.start, 0.0, change / L**2, -0.5 * change / L**3), L)
        return _planar(s, order, (0.0, self.start, 0.5 * change / L), L)


@dataclass(frozen=True)
class Helix:
    """Helix of `radius` [m] and `pitch` [m per revolution] through `angle` [rad]; positive angles turn left.

    The angle between its axis and the tangent is 90 degrees minus the climb angle atan(pitch / (2 pi radius)).
    """

    radius: float
    pitch: float
    angle: float
    roll: float = 0.0
    axis: Vector | None = None
    at: Placement | None = None
    kind: ClassVar[str] = "helix"

    @property
    def climb(self) -> float:
        """Angle [rad] between the tangent and the plane across the axis."""
        return float(np.arctan2(self.pitch, 2.0 * np.pi * self.radius))

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return abs(self.radius * self.angle / np.cos(self.climb))

    def jet(self, s: Array, order: int) -> Array:
        """Position and derivatives by arc length (order + 1, n, 3), in the segment's frame."""
        side = np.sign(self.angle)
        c, sn = np.cos(self.climb), np.sin(self.climb)
        rate = c / self.radius
        phi = np.zeros((order + 1, len(s)))
        phi[0], phi[1:2] = rate * s, rate
        cos, sin = jets.cos_sin(phi)
        along = np.array([c, 0.0, -sn])
        axis = np.array([sn, 0.0, c])
        inward = np.array([0.0, side, 0.0])
        cos[0] -= 1.0
        circle = self.radius * (sin[..., None] * along - cos[..., None] * inward)
        return circle + phi[..., None] * axis * self.pitch / (2.0 * np.pi)


@dataclass(frozen=True)
class Fitted:
    """The positions of a curve over arc length, e.g. of `PoseCurve.fit`; at their place in the data, or
    `joined` to the track."""

    curve: PoseCurve
    joined: bool = False
    kind: ClassVar[str] = "fitted"
    roll: ClassVar[float] = 0.0
    axis: ClassVar[None] = None

    @property
    def length(self) -> float:
        """Length of the curve's range [m]."""
        return self.curve.length

    @property
    def at(self) -> Placement | None:
        """Position of the curve, unless it is joined."""
        a = self.curve.range[0]
        return None if self.joined else (self.curve.position(a).tolist(), self.curve.position(a, 1).tolist())

    def jet(self, s: Array, order: int, side: int = 1) -> Array:
        """Position and derivatives by arc length (order + 1, n, 3), relative to the start, in a frame along its
        tangent; at a break of the curve those of the given side."""
        a, b = self.curve.range
        formula = TableFormula(self.curve.table)
        r = formula.jet(np.clip(a + s, a, b), order, side)[..., :3]
        r[0] -= self.curve.position(a)
        return r @ self.axes

    @property
    def breaks(self) -> Array:
        """Breaks of the curve, from 0."""
        return self.curve.table.breaks - self.curve.range[0]

    @property
    def axes(self) -> Array:
        """R from the segment's frame to that of the curve: x along the first tangent."""
        return frame_along(self.curve.position(self.curve.range[0], 1))


Segment = Straight | Arc | Clothoid | Helix | Fitted


def frame_along(direction: Any, up: Any = (0.0, 0.0, 1.0)) -> Array:
    """(3, 3) with x along `direction` and z as near to `up` as possible."""
    x = np.asarray(direction, float)
    x = x / np.linalg.norm(x)
    y = np.cross(np.asarray(up, float), x)
    if np.linalg.norm(y) < 1e-6:
        y = np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x)
    y /= np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _planar(s: Array, order: int, heading: tuple[float, ...], length: float) -> Array:
    """Jet (order + 1, n, 3) of the plane curve whose heading is a polynomial of s (ascending coefficients)."""
    edges, starts, x_series, y_series = _panels(heading, length)
    i = np.clip(np.searchsorted(edges, s, side="right") - 1, 0, len(edges) - 2)
    share = (s - edges[i]) / (edges[i + 1] - edges[i])
    out = np.zeros((order + 1, len(s), 3))
    out[0, :, 0] = starts[i, 0] + at_share(x_series[i], share)
    out[0, :, 1] = starts[i, 1] + at_share(y_series[i], share)
    if order:
        powers = np.array(heading)
        cos, sin = jets.cos_sin(np.stack([horner(powers, s, k) for k in range(order)]))
        out[1:, :, 0], out[1:, :, 1] = cos, sin
    return out


@lru_cache(maxsize=256)
def _panels(heading: tuple[float, ...], length: float) -> tuple[Array, Array, Array, Array]:
    """Edges (k + 1,) of panels on which the direction is resolved to rounding, positions (k, 2) at their starts, and
    series (k, 13) of x and y from there."""
    count = 1
    while True:
        edges = np.linspace(0.0, length, count + 1)
        angle = horner(np.array(heading), gauss_places(edges[:-1], edges[1:]), 0)
        cos, sin = series(np.cos(angle)), series(np.sin(angle))
        if max(tail(cos).max(), tail(sin).max()) <= RESOLVED or count > 4096:
            break
        count *= 2
    x, y = integrated(cos, np.diff(edges)), integrated(sin, np.diff(edges))
    ends = np.stack([at_share(c, np.ones(count)) for c in (x, y)], axis=1)
    return edges, np.concatenate([np.zeros((1, 2)), np.cumsum(ends, axis=0)[:-1]]), x, y
