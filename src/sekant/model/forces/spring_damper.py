"""Translational spring-damper-actuator between two points."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from sekant.geometry.spatial import scalar
from sekant.model.ends import Ends
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces import characteristic
from sekant.model.forces.base import Force, register
from sekant.model.forces.line import Line
from sekant.model.motion import Action, ElementKinematics
from sekant.model.quantities import Damping, Length, Restoring, Stiffness, TableName
from sekant.model.quantities import Force as ForceQuantity


@register
class SpringDamper(Ends, Force):
    """The tension is k (l - l0) + c l' + spring(l - l0) + damper(l') + force, with the stiffness k and the
    damping c. A positive tension pulls the ends together.

    The expression `force` may use the `length` l, the `deflection` l - l0 and the `rate` l'.
    """

    type: ClassVar[str] = "spring_damper"
    summary: ClassVar[str] = "spring, damper and actuator along the line between two points"
    picture: ClassVar = "spring"
    signals: ClassVar = ("stiffness", "damping", "force")
    local_names: ClassVar = ("length", "deflection", "rate")

    stiffness: Restoring[Stiffness] = 0.0
    """k: tension per deflection l - l0"""
    damping: Restoring[Damping] = 0.0
    """c: tension per rate l' of the length"""
    free_length: Length = 0.0
    """l0: length at which the spring is relaxed"""
    spring: TableName | None = None
    """name of a table of tension versus deflection l - l0"""
    damper: TableName | None = None
    """name of a table of tension versus rate l'"""
    force: ForceQuantity = 0.0
    """additional tension; may be an expression"""
    looks: Literal["spring", "stop", "rebound_stop"] = "spring"
    """how it is drawn: as a coil, as a rubber stop at the parent's end, or as a rebound stop at the child's
    end"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(
            **stage.ends(),
            stiffness=stage.uniform(20, 60),
            damping=stage.uniform(1, 4),
            free_length=0.3,
            spring=stage.table(),
            damper=stage.table(),
            force=Expression("3.1*sin(2*t) + 1.3*deflection*rate - 0.4*length^3"),
        )

    def action(self, motion: ElementKinematics) -> Action:
        line = Line.between(motion, self.parent, self.child)
        length, rate = line.length, line.rate
        x = length - scalar(self.free_length)
        local = {"length": length, "deflection": x, "rate": rate}
        law = characteristic.evaluate(motion, self, x, rate, self.force, local)
        return Action(
            **line.pulled(law.total),
            potential=law.potential,
            power=None if law.dissipative is None else -law.dissipative * rate,
            outputs={"length": ("m", length), "rate": ("m/s", rate), "force": ("N", law.total)},
        )
