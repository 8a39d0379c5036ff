"""A point constrained to a path or a surface; its position on it is an auxiliary parameter."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import InstanceOf, PlainSerializer

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fingerprint import name_or_content
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.constraints.base import Constraint, register
from sekant.model.examples import Stage
from sekant.model.quantities import AnyQuantity, CurveName, FrameName


@register
class PointOnPath(Constraint):
    """The origin of `frame` lies on `curve`, which is given in `relative_to`: p = p_curve(u)."""

    type: ClassVar[str] = "point_on_path"
    summary: ClassVar[str] = "constrains a point to a path"
    frame_fields: ClassVar = ("frame", "relative_to")
    auxiliary: ClassVar = ("u",)

    frame: FrameName
    """frame whose origin stays on the path"""
    relative_to: FrameName = "ground"
    """frame in which the path is given"""
    curve: Annotated[CurveName | InstanceOf[PoseCurve], PlainSerializer(name_or_content)]
    """name of a curve"""
    u0: AnyQuantity = 0.0
    """parameter where the search for the nearest point starts"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), curve=stage.curve(), u0=stage.uniform(-0.4, 0.4))

    def position(self, motion, auxiliary):
        assert isinstance(self.curve, PoseCurve)
        A = motion.frame(self.relative_to)
        p = A.R.T @ (motion.frame(self.frame).p - A.p)
        return p - motion.lookups(self.curve.table, auxiliary[0])[:3]

    def auxiliary_start(self):
        return (self.u0,)


@register
class PointOnSurface(Constraint):
    """The origin of `frame` lies on `surface`, which is given in `relative_to`: p = p_surface(u1, u2)."""

    type: ClassVar[str] = "point_on_surface"
    summary: ClassVar[str] = "constrains a point to a surface"
    frame_fields: ClassVar = ("frame", "relative_to")
    auxiliary: ClassVar = ("u1", "u2")

    frame: FrameName
    """frame whose origin stays on the surface"""
    relative_to: FrameName = "ground"
    """frame in which the surface is given"""
    surface: Annotated[CurveName | InstanceOf[PoseSurface], PlainSerializer(name_or_content)]
    """name of a surface"""
    u0: tuple[AnyQuantity, AnyQuantity] = (0.0, 0.0)
    """parameters where the search for the nearest point starts"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(
            frame=stage.frame(),
            surface=stage.surface(),
            u0=(stage.uniform(-0.4, 0.4), stage.uniform(-0.4, 0.4)),
        )

    def position(self, motion, auxiliary):
        assert isinstance(self.surface, PoseSurface)
        A = motion.frame(self.relative_to)
        p = A.R.T @ (motion.frame(self.frame).p - A.p)
        return p - motion.lookups(self.surface.table, auxiliary[0], auxiliary[1])[:3]

    def auxiliary_start(self):
        return self.u0
