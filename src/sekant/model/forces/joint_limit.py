"""Smooth stops at the ends of a joint's travel."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX, scalar
from sekant.model.ends import OnCoordinate
from sekant.model.examples import Stage
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import AnyQuantity, NotNegative, Positive


@register
class JointLimit(OnCoordinate, Force):
    """A spring and a damper that act beyond a limit. Their force builds up gradually.

    With penetration d and x = d / ramp clipped to [0, 1], the spring's deflection is
    s(d) = ramp (x^3 - x^4 / 2) + max(d - ramp, 0): zero before the limit, linear past the ramp, and twice
    continuously differentiable in between. The damping is scaled by s'(d) = 3 x^2 - 2 x^3. With the force
    S = stiffness s(d) of the spring and D = damping s'(d) d' of the damper, the stop pushes with

        F = S + D   while it is pressed (D >= 0) ,      F = S / (1 - y + y^2) , y = D / S ,   while it is released.

    Both expressions agree in value, slope and curvature at D = 0. The stop never pulls, however fast it is released.
    """

    type: ClassVar[str] = "joint_limit"
    summary: ClassVar[str] = "smooth stops at the ends of a joint coordinate's travel"

    of_coordinate: ClassVar = (
        "joint",
        "coordinate",
        {"lower": "q", "upper": "q", "ramp": "q", "stiffness": "f/q", "damping": "f/v"},
    )

    lower: AnyQuantity | None = None
    """coordinate (m or rad) at which the lower stop begins to act"""
    upper: AnyQuantity | None = None
    """coordinate (m or rad) at which the upper stop begins to act"""
    stiffness: Positive[AnyQuantity]
    """stiffness beyond the ramp, N/m or N m/rad"""
    damping: NotNegative[AnyQuantity] = 0.0
    """damping beyond the ramp, N s/m or N m s/rad"""
    ramp: Positive[AnyQuantity]
    """travel (m or rad) over which the stiffness of the stop builds up"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.coordinate(), lower=-0.010, upper=0.005, stiffness=210.0, damping=3.0, ramp=0.4)

    @model_validator(mode="after")
    def _ordered(self):
        if self.lower is None and self.upper is None:
            raise ValueError("give 'lower', 'upper' or both")
        if isinstance(self.lower, float) and isinstance(self.upper, float) and self.lower >= self.upper:
            raise ValueError(f"lower must be below upper (got {self.lower:g} and {self.upper:g})")
        return self

    def action(self, motion: Kinematics) -> Action:
        q, v = motion.coordinate(self.joint, self.coordinate)
        force, potential, power, beyond = SX(0), SX(0), SX(0), SX(0)
        for limit, sign in ((self.lower, -1.0), (self.upper, 1.0)):
            if limit is None:
                continue
            d = sign * (q - scalar(limit))
            beyond = ca.logic_or(beyond, d > 0)
            push, spring, energy = self._contact(d, sign * v)
            force -= sign * push
            potential += scalar(self.stiffness) * energy
            power -= (push - spring) * sign * v
        force, potential, power = (ca.if_else(beyond, x, 0) for x in (force, potential, power))
        return Action(
            generalized=((self.joint, self.coordinate, force),),
            potential=potential,
            power=power,
            outputs={"force": ("N or N*m", force)},
        )

    def _contact(self, d: SX, rate: SX) -> tuple[SX, SX, SX]:
        """Push F, the spring's part S of it, and the integral of s, at penetration `d` and its `rate`.

        Both S and D are x^2 times something: the remaining factor stays regular where the stop is left, d = 0, so
        that F has a series there. The denominator is at least 3/4 of the larger square, unless there is no
        contact or no motion; then D is not negative and the denominator is not used.
        """
        ramp = scalar(self.ramp)
        x = ca.fmax(0, ca.fmin(1, d / ramp))
        past = ca.fmax(d - ramp, 0)
        spring = scalar(self.stiffness) * (ramp * (x - x**2 / 2) + past)  # S / x^2
        drag = scalar(self.damping) * (3 - 2 * x) * rate  # D / x^2
        release = x**2 * drag < 0
        square = ca.if_else(release, spring**2 - spring * drag + drag**2, 1)
        push = x**2 * ca.if_else(release, spring**3 / square, spring + drag)
        energy = ramp**2 * (x**4 / 4 - x**5 / 10) + ramp / 2 * past + past**2 / 2
        return push, x**2 * spring, energy
