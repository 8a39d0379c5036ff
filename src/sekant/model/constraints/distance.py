"""Distance constraint: a massless rod between two points, of given or driven length."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.model.constraints.base import Constraint, register
from sekant.model.ends import Ends
from sekant.model.examples import Stage
from sekant.model.quantities import Length


@register
class Distance(Ends, Constraint):
    """The distance |p_child - p_parent| equals `length`, which may be a function of time.

    With the vector d from parent to child and the length l, the equation is (d.d - l^2) / (2 l) = 0. It is
    smooth, and near the solution its residual is the error in the length, in meters.
    """

    type: ClassVar[str] = "distance"
    summary: ClassVar[str] = (
        "a massless rod: the distance between two points is constant or a function of time"
    )
    picture: ClassVar = "rod"
    signals: ClassVar = ("length",)

    length: Length
    """distance between the two origins; may be a function of the time t"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.ends(), length=stage.uniform(0.4, 0.9))

    @model_validator(mode="after")
    def _positive(self):
        if isinstance(self.length, float) and self.length <= 0:
            raise ValueError(
                f"length must be positive (got {self.length:g} m); to connect two points directly, use a "
                "spherical joint"
            )
        return self

    def position(self, motion, auxiliary):
        d = motion.between(self.parent, self.child)
        length = motion.value(self.length)
        return (ca.dot(d, d) - length**2) / (2 * length)
