"""Driven points and orientations: the motion of a frame is given by signals of time."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import AXIS_ROTATIONS, Pose, turn
from sekant.model.constraints.base import Constraint, register
from sekant.model.ends import Relative
from sekant.model.examples import Stage
from sekant.model.quantities import Angle, Length


@register
class DrivePoint(Relative, Constraint):
    """Prescribes components of the position of a frame's origin in another frame as functions of time.

    Components that are not given remain free.
    """

    type: ClassVar[str] = "drive_point"
    summary: ClassVar[str] = "prescribes the position of a point by functions x(t), y(t), z(t)"
    signals: ClassVar = ("x", "y", "z")

    x: Length | None = None
    """x as a function of the time t; free if not given"""
    y: Length | None = None
    """y as a function of the time t; free if not given"""
    z: Length | None = None
    """z as a function of the time t; free if not given"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), x="0.3*sin(2*t)", z="0.4 + 0.1*t")

    @model_validator(mode="after")
    def _something(self):
        if self.x is None and self.y is None and self.z is None:
            raise ValueError("give at least one of x, y and z")
        return self

    def position(self, motion, auxiliary):
        p = self.relative_position(motion)
        given = [(i, s) for i, s in enumerate((self.x, self.y, self.z)) if s is not None]
        return ca.vertcat(*[p[i] - motion.value(signal) for i, signal in given])


@register
class DriveOrientation(Relative, Constraint):
    """Prescribes the orientation of a frame relative to another frame by three Euler angles."""

    type: ClassVar[str] = "drive_orientation"
    summary: ClassVar[str] = "prescribes the orientation of a frame by three functions of time"
    signals: ClassVar = ("angles",)

    sequence: str = "zyx"
    """intrinsic sequence of the Euler angles"""
    angles: tuple[Angle, Angle, Angle]
    """Euler angles as functions of the time t"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(frame=stage.frame(), angles=("0.3*t", 0.2, "-0.1*sin(t)"))

    @model_validator(mode="after")
    def _known_axes(self):
        if len(self.sequence) != 3 or set(self.sequence) - set("xyz"):
            raise ValueError(
                f"'{self.sequence}' is not an Euler sequence; give three of the letters x, y, z, such as zyx"
            )
        return self

    def position(self, motion, auxiliary):
        R_target = Pose.identity().R
        for axis, angle in zip(self.sequence, self.angles, strict=True):
            R_target = R_target @ AXIS_ROTATIONS[axis](motion.value(angle))
        E = R_target.T @ motion.frame(self.relative_to).R.T @ motion.frame(self.frame).R
        return turn(E)
