"""Curves shaped by control points."""

from __future__ import annotations

from typing import ClassVar

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.curves.base import Framed, Surroundings, numbers, register
from sekant.model.quantities import Length, PerAxis


@register
class ControlPoints(Framed):
    """A B-spline with given control points: it begins at the first and ends at the last, or it is closed and
    repeats."""

    key: ClassVar[str] = "points"
    shown: ClassVar = (
        "{points: [[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 3, 0], [3, 4, 0.5], [2, 5, 0.5]], frame: rmf}"
    )
    summary: ClassVar[str] = "a B-spline with given control points"

    points: tuple[PerAxis[Length], ...]
    """control points"""
    degree: int = 5
    """degree of the B-spline"""
    closed: bool = False
    """whether the path is closed: its end joins its beginning, and the path repeats"""
    arc_length: bool = True
    """whether the coordinate is the arc length s of the path; otherwise it is u, from 0 to 1"""

    def build(self, around: Surroundings) -> PoseCurve:
        from sekant.geometry.curves.arc_length import along_arc_length

        curve = PoseCurve.from_control_points(
            [numbers(point) for point in self.points],
            degree=self.degree,
            closed=self.closed,
            name=around.name,
        )
        if self.arc_length:
            curve = along_arc_length(curve)
        if not self.closed and self.outside != "error":
            curve = curve.extended(self.outside)
        return self.framed(curve, around)
