"""A bump stop between two points: pushes when they come too close, and never pulls."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

from sekant.geometry.spatial import scalar
from sekant.model.ends import Ends
from sekant.model.examples import Stage
from sekant.model.forces.base import Force, register
from sekant.model.forces.compliant_contact import elastic, push
from sekant.model.forces.line import Line
from sekant.model.motion import Action, ElementKinematics
from sekant.model.quantities import (
    AnyQuantity,
    Dimensionless,
    Length,
    NotNegative,
    Positive,
    Slowness,
    is_known,
)


@register
class BumpStop(Ends, Force):
    """Pushes two points apart while they are closer than `length`, according to the law of Hunt and Crossley.

    With `stretch`, it is a rebound stop, which acts while the points are farther apart than `length`; it
    pulls them together and never pushes.
    """

    type: ClassVar[str] = "bump_stop"
    summary: ClassVar[str] = "a bump stop along the line between two points; it pushes and never pulls"
    picture: ClassVar = "stop"

    length: Positive[Length]
    """distance between the points when the stop makes contact"""
    stiffness: Positive[AnyQuantity]
    """k in N/m^n; at the compression d, the force of the spring is k d^n"""
    exponent: Dimensionless = 2.0
    """exponent n: 1 for a linear spring, 2 for a gradual start"""
    dissipation: NotNegative[Slowness] = 0.0
    """dissipation c: after an impact at speed v, the rebound speed is about (1 - c v) v"""
    onset: Positive[Length] = 1e-6
    """compression below which the force grows linearly"""
    stretch: bool = False
    """whether it is a rebound stop, which acts at distances greater than `length`"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.ends(), length=9.0, stiffness=31.0, exponent=1.7, dissipation=0.04)

    @model_validator(mode="after")
    def _possible(self):
        if isinstance(self.exponent, float) and self.exponent < 1:
            raise ValueError(f"exponent must be at least 1 (got {self.exponent:g})")
        return self

    def action(self, motion: ElementKinematics) -> Action:
        line = Line.between(motion, self.parent, self.child)
        side = -1.0 if self.stretch else 1.0
        length = scalar(self.length)
        gap, apart = side * (line.length - length), side * (line.square - length**2)
        rate = side * line.rate
        touching = apart < 0
        spring, energy = elastic(self.stiffness, self.exponent, self.onset, gap, touching)
        normal = push(spring, touching, rate, self.dissipation)
        return Action(
            **line.pulled(-side * normal, touching),
            potential=energy,
            power=None if is_known(self.dissipation, 0.0) else -(spring - normal) * rate,
            outputs={"gap": ("m", gap), "force": ("N", normal)},
        )
