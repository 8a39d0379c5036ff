"""A point or a ball on a height field, compliant."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca

from sekant.errors import ModelError
from sekant.geometry.spatial import SX, scalar
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import register
from sekant.model.forces.compliant_contact import EXAMPLE, CompliantContact
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import FrameName, Length

if TYPE_CHECKING:
    from sekant.model.examples import Stage

ROUNDS = 4
"""Newton steps to the foot of the perpendicular; each doubles the digits, and at a small distance one is exact."""


@register
class SurfaceContact(CompliantContact):
    """A ball about the origin of `frame`, or that point itself, above z = height(x, y) in the frame `surface`.

    The gap is the distance to the nearest point of the surface: from the point below the center, Newton's method
    finds the foot (x0, y0) with (x - x0) + (z - h) h_x = 0, (y - y0) + (z - h) h_y = 0. A ball has to be
    smaller than the radii of the hollows it rolls through.
    """

    type: ClassVar[str] = "surface_contact"
    summary: ClassVar[str] = "a point or a ball on a height field: Hunt-Crossley with regularized friction"
    frame_fields: ClassVar = ("frame", "surface")
    signals: ClassVar = ("height",)
    local_names: ClassVar = ("x", "y")

    frame: FrameName
    radius: Length = 0.0
    surface: FrameName = "ground"
    height: Length
    """an expression of x and y in the frame `surface`: a formula, or tables"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, surface = stage.two_frames()
        height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
        return cls(frame=frame, radius=5.3, surface=surface, height=height, **EXAMPLE)

    def action(self, motion: Kinematics) -> Action:
        body, surface = motion.frame(self.frame), motion.frame(self.surface)
        place = surface.R.T @ (body.p - surface.p)
        foot, slope, h = self._foot(motion, place)
        normal = ca.vertcat(-slope, 1) / ca.sqrt(1 + ca.dot(slope, slope))
        radius = scalar(self.radius)
        gap = ca.dot(normal, place - ca.vertcat(foot, h)) - radius
        n = surface.R @ normal
        return self.between(body, surface, body.p - radius * n, n, gap)

    def _foot(self, motion: Kinematics, place: SX) -> tuple[SX, SX, SX]:
        """(x0, y0), the slopes (h_x, h_y) and the height h there, nearest to `place` (3,) in the surface's frame."""
        x, lookups = SX.sym("x", 2), motion.lookups
        height = motion.value(self.height, {"x": x[0], "y": x[1]})
        if ca.depends_on(height, motion.t):
            raise ModelError(
                "a height that varies in time would do work that nothing accounts for; put the surface on a "
                "driven body"
            )
        slope = lookups.jacobian(height, x).T
        curvature = lookups.jacobian(slope, x)

        def at(expression: SX, foot: SX) -> SX:
            return lookups.substitute(expression, x, foot)

        foot = place[:2]
        for _ in range(ROUNDS):
            above = place[2] - at(height, foot)
            g = at(slope, foot)
            miss = foot - place[:2] - above * g
            J = SX.eye(2) + g @ g.T - above * at(curvature, foot)
            det = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
            step = ca.vertcat(J[1, 1] * miss[0] - J[0, 1] * miss[1], J[0, 0] * miss[1] - J[1, 0] * miss[0])
            foot = foot - step / det
        return foot, at(slope, foot), at(height, foot)
