"""Smooth stops at the ends of a joint's travel."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX, scalar
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import AnyQuantity, JointName


@register
class JointLimit(Force):
    """A spring and damper that come in smoothly past a limit.

    With penetration d and x = d / ramp clipped to [0, 1], the spring's deflection is
    s(d) = ramp (x^3 - x^4 / 2) + max(d - ramp, 0): zero before the limit, linear past the ramp, and twice
    continuously differentiable in between. The damping is scaled by s'(d) = 3 x^2 - 2 x^3.
    """

    type: ClassVar[str] = "joint_limit"
    summary: ClassVar[str] = "smooth stops at the ends of a joint coordinate's travel"

    joint: JointName
    coordinate: int = 0
    lower: AnyQuantity | None = None
    upper: AnyQuantity | None = None
    stiffness: AnyQuantity
    damping: AnyQuantity = 0.0
    ramp: AnyQuantity

    @model_validator(mode="after")
    def _ordered(self):
        if self.lower is None and self.upper is None:
            raise ValueError("needs 'lower', 'upper' or both")
        if isinstance(self.lower, float) and isinstance(self.upper, float) and self.lower >= self.upper:
            raise ValueError(f"lower ({self.lower:g}) must be below upper ({self.upper:g})")
        if isinstance(self.ramp, float) and self.ramp <= 0:
            raise ValueError(f"ramp must be positive (got {self.ramp:g}): the travel over which it comes in")
        return self

    def action(self, motion: Kinematics) -> Action:
        q, v = motion.coordinate(self.joint, self.coordinate)
        force, potential, power = SX(0), SX(0), SX(0)
        for limit, sign in ((self.lower, -1.0), (self.upper, 1.0)):
            if limit is None:
                continue
            s, slope, energy = self._contact(sign * (q - scalar(limit)))
            drag = scalar(self.damping) * slope * v
            force -= sign * scalar(self.stiffness) * s + drag
            potential += scalar(self.stiffness) * energy
            power -= drag * v
        return Action(
            generalized=((self.joint, self.coordinate, force),),
            potential=potential,
            power=power,
            outputs={"force": ("N or N*m", force)},
        )

    def _contact(self, d: SX) -> tuple[SX, SX, SX]:
        """Deflection s, its slope, and the integral of s, at penetration `d`."""
        ramp = scalar(self.ramp)
        x = ca.fmax(0, ca.fmin(1, d / ramp))
        past = ca.fmax(d - ramp, 0)
        s = ramp * (x**3 - x**4 / 2) + past
        slope = 3 * x**2 - 2 * x**3
        energy = ramp**2 * (x**4 / 4 - x**5 / 10) + ramp / 2 * past + past**2 / 2
        return s, slope, energy
