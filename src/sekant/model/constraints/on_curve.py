"""A point constrained to a path or a surface; its position on it is an auxiliary parameter."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import InstanceOf, PlainSerializer

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fingerprint import name_or_content
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.constraints.base import Constraint, register
from sekant.model.ends import Relative
from sekant.model.examples import Stage
from sekant.model.quantities import AnyQuantity, CurveName


@register
class PointOnPath(Relative, Constraint):
    """The origin of `frame` lies on `curve`, which is given in `relative_to`: p = p_curve(u)."""

    type: ClassVar[str] = "point_on_path"
    summary: ClassVar[str] = "constrains a point to a path"
    auxiliary: ClassVar = ("u",)

    curve: Annotated[CurveName | InstanceOf[PoseCurve], PlainSerializer(name_or_content)]
    """name of the curve in `curves`"""
    u0: AnyQuantity = 0.0
    """value of the curve's parameter at which the search for the nearest point starts"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), curve=stage.curve(), u0=stage.uniform(-0.4, 0.4))

    def position(self, motion, auxiliary):
        assert isinstance(self.curve, PoseCurve)
        return self.relative_position(motion) - motion.lookups(self.curve.table, auxiliary[0])[:3]

    def auxiliary_start(self):
        return (self.u0,)


@register
class PointOnSurface(Relative, Constraint):
    """The origin of `frame` lies on `surface`, which is given in `relative_to`: p = p_surface(u1, u2)."""

    type: ClassVar[str] = "point_on_surface"
    summary: ClassVar[str] = "constrains a point to a surface"
    auxiliary: ClassVar = ("u1", "u2")

    surface: Annotated[CurveName | InstanceOf[PoseSurface], PlainSerializer(name_or_content)]
    """name of the surface in `curves`"""
    u0: tuple[AnyQuantity, AnyQuantity] = (0.0, 0.0)
    """values of the surface's parameters at which the search for the nearest point starts"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(
            frame=stage.frame(),
            surface=stage.surface(),
            u0=(stage.uniform(-0.4, 0.4), stage.uniform(-0.4, 0.4)),
        )

    def position(self, motion, auxiliary):
        assert isinstance(self.surface, PoseSurface)
        return (
            self.relative_position(motion)
            - motion.lookups(self.surface.table, auxiliary[0], auxiliary[1])[:3]
        )

    def auxiliary_start(self):
        return self.u0
