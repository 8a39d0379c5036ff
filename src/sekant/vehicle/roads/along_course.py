"""A road along a line, with height and bank as functions of the arc length; the line may cross itself."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sekant.geometry.spatial import SX
from sekant.model.expressions.expression import Expression
from sekant.tables.table import Table
from sekant.vehicle.roads.base import Floats, Road, RoadSurroundings, sampled_by
from sekant.vehicle.roads.shapes import Plane

SHOULDER = 10.0  # m from the line, beyond which the road is level across
STEPS = 2  # Newton steps from the car's position on the line to that of a wheel
X, Y, HEADING, HEIGHT, SLANT = range(5)


class RoadAlongCourse(Road):
    """z = height(s) + n tan(bank(s)) at the arc length s of the nearest point of the line and the distance n to its
    left; beyond the distance SHOULDER, z is constant.

    The Newton steps for s start from the car's position on the line, so a track may cross itself.
    """

    type: ClassVar[str] = "along_course"
    summary: ClassVar[str] = "height and bank angle along a line"

    place: str
    """arc length of the car's position on the line, m, as an expression of signals"""
    s: tuple[float, ...]
    """(n,) m, increasing"""
    rows: tuple[tuple[float, ...], ...]
    """x (m), y (m), heading (rad), height (m) and tan(bank) of the line, (n,) each"""

    @cached_property
    def _table(self) -> Table:
        return Table.cubic(self.s, np.array(self.rows).T, extrapolation="linear", name="road along a course")

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        s = around.value(Expression(self.place))
        for _ in range(STEPS):
            here, turn = around.lookups(self._table, s), around.lookups(self._table, s, order=1)[HEADING]
            along, across = _from_line(here, x, y)
            s = s + along / ca.fmax(0.2, 1 - turn * across)
        here = around.lookups(self._table, s)
        across = ca.fmax(-SHOULDER, ca.fmin(SHOULDER, _from_line(here, x, y)[1]))
        return here[HEIGHT] + across * here[SLANT]

    def at_start(self) -> Road:
        """A level plane, because all courses of maneuvers begin on a level road."""
        return Plane()

    def sampled(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Height and friction at the nearest point of the line, which may cross itself."""
        xs, ys = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        line, (rx, ry, heading, height, slant) = np.array(self.s), np.array(self.rows)
        found = np.empty(xs.size)
        for k, (px, py) in enumerate(zip(xs.ravel(), ys.ravel(), strict=True)):
            i = int(np.argmin((rx - px) ** 2 + (ry - py) ** 2))
            c, e = np.cos(heading[i]), np.sin(heading[i])
            s = line[i] + (px - rx[i]) * c + (py - ry[i]) * e
            n = (py - ry[i]) * c - (px - rx[i]) * e
            across = np.clip(n, -SHOULDER, SHOULDER)
            found[k] = np.interp(s, line, height) + across * np.interp(s, line, slant)
        grip = sampled_by(self, lambda around, x, y: SX(0), xs, ys)[1]
        return found.reshape(xs.shape), grip


def _from_line(here: SX, x: SX, y: SX) -> tuple[SX, SX]:
    """Distances of (x, y) from a point of the line: ahead, and to the left."""
    c, e = ca.cos(here[HEADING]), ca.sin(here[HEADING])
    dx, dy = x - here[X], y - here[Y]
    return dx * c + dy * e, dy * c - dx * e
