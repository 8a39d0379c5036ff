"""The line between two points on two bodies: its length, its rate, and the effect of a force along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.motion import ElementKinematics, FrameState, PointWrench

_TINY = 1e-24  # m^2: keeps the direction finite at zero length, far below round-off of any real length


@dataclass(frozen=True)
class Line:
    """`slopes`: if one joint connects the bodies, (joint, index, derivative (m) of the rate of the length by that
    velocity)."""

    parent: FrameState
    child: FrameState
    square: SX  # m^2, of the length
    length: SX  # m
    rate: SX  # m/s
    slopes: tuple[tuple[str, int, SX], ...]

    @classmethod
    def between(cls, motion: ElementKinematics, parent: str, child: str) -> Line:
        a, b = motion.frame(parent), motion.frame(child)
        near = motion.neighbors(parent, child)
        d, v = (b.p - a.p, b.v_WF - a.v_WF) if near is None else (near.d, near.v)
        square = ca.dot(d, d) + _TINY
        length = ca.sqrt(square)
        inverse = length / square
        if near is None:
            return cls(a, b, square, length, ca.dot(d, v) * inverse, ())
        slopes = near.products * inverse
        by_joint = tuple((near.joint, k, slopes[k]) for k in range(slopes.numel()))
        return cls(a, b, square, length, ca.dot(slopes, v), by_joint)

    def pulled(self, tension: SX, when: SX | None = None) -> dict[str, Any]:
        """Fields of the `Action` of a force (N) that draws the points together; zero unless `when`."""
        pull, zero = tension * ((self.child.p - self.parent.p) / self.length), SX.zeros(3)
        pull = pull if when is None else ca.if_else(when, pull, 0)
        return {
            "wrenches": (
                PointWrench(self.parent.body, self.parent.p, pull, zero, when),
                PointWrench(self.child.body, self.child.p, -pull, zero, when),
            ),
            "within": tuple(
                (joint, k, -tension * slope if when is None else ca.if_else(when, -tension * slope, 0))
                for joint, k, slope in self.slopes
            ),
        }
