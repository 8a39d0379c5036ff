"""Gears, belts, racks and cams with compliance and backlash: a spring between two joint coordinates."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import scalar
from sekant.model.coupled_coordinates import CoupledCoordinates
from sekant.model.examples import Stage
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import AnyQuantity, NotNegative, is_known


@register
class CompliantCoupling(CoupledCoordinates, Force):
    """Resists a deviation d = q_driven - ratio q - offset (or q_driven - table(q) - offset) with the force
    k d + c d', where q is the driving coordinate.

    With `backlash` b, the force is zero while |d| < b / 2. Beyond the backlash, it is k (|d| - b/2) + c |d|',
    and it never pulls the flanks together. Its reaction on the driving coordinate is this force times the
    ratio (or the slope of the table). For a coupling without compliance, use a constraint of type `coupling`.
    """

    type: ClassVar[str] = "compliant_coupling"
    summary: ClassVar[str] = "gear, belt, rack or cam with stiffness, damping and backlash"

    of_coordinate: ClassVar = (
        "driven",
        "driven_coordinate",
        {"offset": "q", "stiffness": "f/q", "damping": "f/v", "backlash": "q"},
    )

    stiffness: NotNegative[AnyQuantity]
    """stiffness against a deviation of the driven coordinate, N/m or N m/rad"""
    damping: NotNegative[AnyQuantity] = 0.0
    """damping of the deviation, N s/m or N m s/rad"""
    backlash: NotNegative[AnyQuantity] = 0.0
    """free play of the driven coordinate from one flank to the other, m or rad"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        single = stage.coordinates[0] == stage.coordinates[-1]
        return cls(
            **cls.example_pair(stage),
            ratio=stage.uniform(0.4, 1.7) * (-1.0 if single else 1.0),
            offset=0.3,
            stiffness=stage.uniform(20, 60),
            damping=stage.uniform(0.5, 2),
        )

    def action(self, motion: Kinematics) -> Action:
        d, slope = self.deviation(motion)
        v = motion.coordinate(self.joint, self.coordinate)[1]
        v_driven = motion.coordinate(self.driven, self.driven_coordinate)[1]
        rate = v_driven - slope * v
        k, c = scalar(self.stiffness), scalar(self.damping)
        if is_known(self.backlash, 0.0):
            stretch, force = d, -(k * d + c * rate)
        else:
            half = 0.5 * scalar(self.backlash)
            above, below = ca.fmax(d - half, 0), ca.fmin(d + half, 0)
            stretch = above + below
            pushed = ca.if_else(d > half, ca.fmax(k * above + c * rate, 0), 0)
            pulled = ca.if_else(d < -half, ca.fmin(k * below + c * rate, 0), 0)
            force = -(pushed + pulled)
        return Action(
            generalized=(
                (self.driven, self.driven_coordinate, force),
                (self.joint, self.coordinate, -slope * force),
            ),
            potential=0.5 * k * stretch * stretch,
            power=(force + k * stretch) * rate if not is_known(self.damping, 0.0) else None,
            outputs={"force": ("N or N*m", force), "deviation": ("m or rad", d)},
        )
