"""Roads with a few parameters: plane, grade, bank, ramp, sine, bump, cleat, and any expression."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.quantities import Angle, Dimensionless, Length, Positive
from sekant.vehicle.roads.base import Road, RoadSurroundings, blend, blend_integral, register


@register
class Plane(Road):
    """z = height."""

    type: ClassVar[str] = "plane"
    summary: ClassVar[str] = "a horizontal plane"
    shown: ClassVar[str] = "{type: plane}"

    height: Length = 0.0
    """z of the road"""

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        return around.value(self.height)


@register
class Grade(Road):
    """A road that rises with the given `slope` (0.05 for 5 %) along x, beginning at `start`. The slope increases from
    zero over the length `blend`."""

    type: ClassVar[str] = "grade"
    summary: ClassVar[str] = "uphill or downhill along x"
    shown: ClassVar[str] = "{type: grade, slope: 0.05}"

    slope: Dimensionless
    """rise over run; negative downhill"""
    start: Length | None = None
    """x at which the grade begins; by default the grade extends over all x, with height 0 at x = 0"""
    blend: Positive[Length] = 2.0
    """length over which the slope increases smoothly from zero"""

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        slope = around.value(self.slope)
        if self.start is None:
            return slope * x
        length = around.value(self.blend)
        return slope * length * blend_integral((x - around.value(self.start)) / length)


@register
class Bank(Road):
    """A road that rises to the left: z = slope y."""

    type: ClassVar[str] = "bank"
    summary: ClassVar[str] = "a plane that rises to the left"
    shown: ClassVar[str] = "{type: bank, slope: 0.03}"

    slope: Dimensionless
    """rise over run, positive if the road rises to the left"""

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        return around.value(self.slope) * y


@register
class Ramp(Road):
    """A ramp with the given `length` and continuous curvature. It begins at `start` and leads from level 0 to
    the level `height`."""

    type: ClassVar[str] = "ramp"
    summary: ClassVar[str] = "a ramp from one level to another"
    shown: ClassVar[str] = "{type: ramp, height: 0.2 m, start: 20 m, length: 4 m}"

    height: Length
    """height of the level after the ramp; negative for a descent"""
    start: Length
    """x at which the ramp begins"""
    length: Positive[Length]
    """length of the ramp along x"""

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        u = (x - around.value(self.start)) / around.value(self.length)
        return around.value(self.height) * blend(u)


@register
class Sine(Road):
    """z = amplitude sin(2 pi (x - start) / wavelength) beyond `start`; the amplitude builds up over the first
    wavelength.

    The right side (y < 0) lags by `lag`, with a smooth transition over the width `track`.
    """

    type: ClassVar[str] = "sine"
    summary: ClassVar[str] = "waves along x"
    shown: ClassVar[str] = "{type: sine, amplitude: 10 mm, wavelength: 5 m}"

    amplitude: Length
    """half of the height from trough to crest"""
    wavelength: Positive[Length]
    """distance from crest to crest, along x"""
    start: Length = 0.0
    """x at which the waves begin"""
    lag: Angle = 0.0
    """phase by which the right side lags behind the left side; at 180 deg, the two sides are in antiphase"""
    track: Positive[Length] = 1.0
    """width of the transition from left to right"""

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        length = around.value(self.wavelength)
        u = (x - around.value(self.start)) / length
        wave = ca.sin(2 * ca.pi * u)
        if self.lag != 0.0:
            right = ca.sin(2 * ca.pi * u - around.value(self.lag))
            wave = right + (wave - right) * blend(y / around.value(self.track) + 0.5)
        return around.value(self.amplitude) * wave * blend(u)


class _Obstacle(Road):
    """Base of obstacles, which may span the whole road or a part of it."""

    start: Length
    """x at which the obstacle begins"""
    height: Length
    """height of the obstacle; negative for a hole"""
    length: Positive[Length]
    """length of the obstacle along x"""
    left_edge: Length | None = None
    """y of the left edge; by default the obstacle has no left edge"""
    right_edge: Length | None = None
    """y of the right edge; by default the obstacle has no right edge"""
    edge: Positive[Length] = 0.05
    """length over which edges are rounded, because a single contact point, unlike a tire, does not envelop edges"""

    def _across(self, around: RoadSurroundings, y: SX) -> SX:
        found, edge = SX(1), around.value(self.edge)
        if self.left_edge is not None:
            found = found * blend((around.value(self.left_edge) - y) / edge)
        if self.right_edge is not None:
            found = found * blend((y - around.value(self.right_edge)) / edge)
        return found


@register
class Bump(_Obstacle):
    """A versed sine: z = height (1 - cos(2 pi (x - start) / length)) / 2 from `start` to `start + length`."""

    type: ClassVar[str] = "bump"
    summary: ClassVar[str] = "a bump with the shape of a versed sine"
    shown: ClassVar[str] = "{type: bump, start: 20 m, height: 80 mm, length: 3 m}"

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        u = (x - around.value(self.start)) / around.value(self.length)
        on = ca.logic_and(u > 0, u < 1)
        wave = ca.if_else(on, (1 - ca.cos(2 * ca.pi * u)) / 2, 0)
        return around.value(self.height) * wave * self._across(around, y)


@register
class Cleat(_Obstacle):
    """A bar with the given height and length that lies across the road. Both edges are rounded over the
    length `edge`."""

    type: ClassVar[str] = "cleat"
    summary: ClassVar[str] = "a bar with rounded edges, or a curb if it is long"
    shown: ClassVar[str] = "{type: cleat, start: 20 m, height: 20 mm, length: 30 mm}"

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        start, length, edge = (around.value(v) for v in (self.start, self.length, self.edge))
        up, down = blend((x - start) / edge + 0.5), blend((x - start - length) / edge + 0.5)
        return around.value(self.height) * (up - down) * self._across(around, y)


@register
class ExpressionRoad(Road):
    """A road whose height is an expression. It may contain x, y and all names that expressions of the model may
    contain."""

    type: ClassVar[str] = "expression"
    summary: ClassVar[str] = "height as an expression of x and y"
    shown: ClassVar[str] = "{type: expression, height: 0.01*sin(x)}"

    height: Length
    """z as an expression of x and y, such as 0.01*sin(x)"""

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        return around.value(self.height, {"x": x, "y": y})
