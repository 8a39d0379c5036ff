"""A generalized force on a joint coordinate, given by an expression."""

from __future__ import annotations

from typing import ClassVar, Self

from sekant.model.ends import OnCoordinate
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import AnyQuantity


@register
class Actuator(OnCoordinate, Force):
    """A force on a sliding coordinate of a joint, or a torque on a rotational coordinate. The expression `force`
    may use the coordinate `q` and its rate `v`."""

    type: ClassVar[str] = "actuator"
    summary: ClassVar[str] = "a force or torque on a joint coordinate, given by an expression"
    signals: ClassVar = ("force",)
    local_names: ClassVar = ("q", "v")

    of_coordinate: ClassVar = ("joint", "coordinate", {"force": "f"})

    force: AnyQuantity
    """force in N, or torque in N m for an angle; may be an expression of time, inputs and signals"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.coordinate(), force=Expression("1.2*sin(t) - 2.2*q + 0.1*v"))

    def action(self, motion: Kinematics) -> Action:
        q, v = motion.coordinate(self.joint, self.coordinate)
        force = motion.value(self.force, {"q": q, "v": v})
        return Action(
            generalized=((self.joint, self.coordinate, force),),
            power=force * v,
            outputs={"force": ("N or N*m", force)},
        )
