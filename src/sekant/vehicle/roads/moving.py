"""Plates under the wheels of a stationary car, and their heights over time."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
from numpy.typing import ArrayLike
from pydantic import SerializeAsAny

from sekant.geometry.spatial import SX
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Length
from sekant.vehicle.quantities import Meters, MetersPerSecond
from sekant.vehicle.roads.base import Floats, Road, RoadSurroundings, sampled_by

TIME = Expression("t")


class _Plates(Road):
    """Base of roads of four level plates, one in each quadrant."""

    middle: Meters = 0.0
    """x of the middle between the axles"""

    def heights(self, around: RoadSurroundings) -> tuple[Any, Any, Any, Any]:
        """Heights of the plates, m: front left, front right, rear left, rear right."""
        raise NotImplementedError

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        fl, fr, rl, rr = self.heights(around)
        return ca.if_else(x > self.middle, ca.if_else(y > 0, fl, fr), ca.if_else(y > 0, rl, rr))

    def sampled(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Height and friction at the zero level of the plates."""
        return sampled_by(self, lambda around, x, y: SX(0), x, y)


class Posts(_Plates):
    """Four plates whose heights are expressions of time t."""

    type: ClassVar[str] = "posts"
    summary: ClassVar[str] = "four plates that move up and down"

    front_left: Length = 0.0
    """height of the front left plate, an expression of t"""
    front_right: Length = 0.0
    """height of the front right plate, an expression of t"""
    rear_left: Length = 0.0
    """height of the rear left plate, an expression of t"""
    rear_right: Length = 0.0
    """height of the rear right plate, an expression of t"""

    def heights(self, around: RoadSurroundings) -> tuple[Any, Any, Any, Any]:
        fl, fr = around.value(self.front_left), around.value(self.front_right)
        return fl, fr, around.value(self.rear_left), around.value(self.rear_right)


class PulledRoad(_Plates):
    """Four plates that move like the contact points of wheels that roll at `speed` over another road."""

    type: ClassVar[str] = "pulled"
    summary: ClassVar[str] = "four plates that move by a road profile"

    of: SerializeAsAny[Road]
    """road over which the wheels roll"""
    speed: MetersPerSecond
    """speed at which the road moves backward"""
    front: tuple[Meters, Meters]
    """x and y of the front left wheel"""
    rear: tuple[Meters, Meters]
    """x and y of the rear left wheel"""

    def heights(self, around: RoadSurroundings) -> tuple[Any, Any, Any, Any]:
        way = self.speed * around.value(TIME)
        fl, fr, rl, rr = (
            self.of.elevation(around, x + way, SX(side * y))
            for x, y in (self.front, self.rear)
            for side in (1, -1)
        )
        return fl, fr, rl, rr
