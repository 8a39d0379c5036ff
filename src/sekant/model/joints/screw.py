"""Screw joint: turning and advancing along its axis are one motion."""

from __future__ import annotations

from math import pi
from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX, Pose, rotation_z, scalar
from sekant.model.examples import Stage
from sekant.model.joints.base import AxisJoint, Coordinate, register
from sekant.model.quantities import HandedLength


@register
class Screw(AxisJoint):
    """The coordinate q is the angle about z; the advance along z is pitch * q / (2 pi)."""

    type: ClassVar[str] = "screw"
    summary: ClassVar[str] = "turns about its axis and advances by the pitch in each turn"
    coordinates: ClassVar = (Coordinate("angle", "rad"),)
    velocities: ClassVar = (Coordinate("rate", "rad/s"),)
    shared: ClassVar = {"axis": (2, 3)}

    pitch: HandedLength
    """advance per turn; positive for a right-handed screw"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.connection(), axis=stage.direction(), pitch=stage.uniform(0.2, 0.7))

    @model_validator(mode="after")
    def _advances(self):
        if self.pitch == 0.0:
            raise ValueError("the pitch is zero, so the screw does not advance; use a revolute joint")
        return self

    def _advance(self) -> SX:
        return scalar(self.pitch) / (2 * pi)

    def pose(self, q, lookups) -> Pose:
        return Pose(rotation_z(q[0]), ca.vertcat(0, 0, self._advance() * q[0]))

    def subspace(self, q, lookups) -> SX:
        return ca.vertcat(0, 0, 1, 0, 0, self._advance())

    def measure(self, X_FM: Pose) -> SX:
        return X_FM.p[2] / self._advance()

    def constraints(self, X_FM: Pose) -> SX:
        R, p = X_FM.R, X_FM.p
        # the advance gives the angle, with full turns; the row compares the rotation relative to that angle,
        # which stays far from half a turn wherever the joint nearly holds
        angle = self.measure(X_FM)[0]
        sine = R[0, 0] * ca.sin(angle) - R[1, 0] * ca.cos(angle)
        cosine = R[0, 0] * ca.cos(angle) + R[1, 0] * ca.sin(angle)
        return ca.vertcat(p[0], p[1], R[0, 2], R[1, 2], self._advance() * ca.atan2(sine, cosine))
