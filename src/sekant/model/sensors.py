"""Sensors: named measurements that results report and expressions may use."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import SX, angle_of
from sekant.model.ends import Ends, Relative
from sekant.model.examples import Stage
from sekant.model.motion import Kinematics
from sekant.model.quantities import AnyQuantity, UnitName
from sekant.model.registry import Item, Registry


class Sensor(Item):
    """A measurement. `components` contains the names of its components; a scalar sensor has none.

    `behaviors`: how each part changes when the mechanism is mirrored, see `mirror_sign`.
    """

    components: ClassVar[tuple[str, ...]] = ()
    behaviors: ClassVar[tuple[str, ...]] = ()

    def measure(self, motion: Kinematics) -> tuple[str, SX]:
        """(unit, value)."""
        raise NotImplementedError(f"sensor type '{self.type}' does not implement 'measure'")


SENSORS: Registry[Sensor] = Registry("sensor")
register, sensor_class = SENSORS.register, SENSORS.find


class FrameSensor(Relative, Sensor):
    """Three components of a frame's motion, relative to and resolved in another frame."""

    components: ClassVar = ("x", "y", "z")
    behaviors: ClassVar = ("polar x", "polar y", "polar z")

    @classmethod
    def example(cls, stage: Stage) -> Self:
        frame, relative_to = stage.two_frames()
        return cls(frame=frame, relative_to=relative_to)


@register
class Position(FrameSensor):
    """Position of a frame's origin relative to another frame, resolved in the other frame."""

    type: ClassVar[str] = "position"
    summary: ClassVar[str] = "position of a frame relative to another frame"

    def measure(self, motion: Kinematics):
        return "m", self.relative_position(motion)


@register
class Velocity(FrameSensor):
    """Velocity of a frame's origin relative to another frame, resolved in the other frame."""

    type: ClassVar[str] = "velocity"
    summary: ClassVar[str] = "velocity of a frame relative to another frame"

    def measure(self, motion: Kinematics):
        A, B = motion.frame(self.relative_to), motion.frame(self.frame)
        return "m/s", A.R.T @ (B.v_WF - A.v_WF - ca.cross(A.w_WF, B.p - A.p))


@register
class AngularVelocity(FrameSensor):
    """Angular velocity of a frame relative to another frame, resolved in the other frame."""

    type: ClassVar[str] = "angular_velocity"
    summary: ClassVar[str] = "angular velocity of a frame relative to another frame"
    behaviors: ClassVar = ("axial x", "axial y", "axial z")

    def measure(self, motion: Kinematics):
        A, B = motion.frame(self.relative_to), motion.frame(self.frame)
        return "rad/s", A.R.T @ (B.w_WF - A.w_WF)


@register
class Angles(FrameSensor):
    """Yaw, pitch and roll (intrinsic z, y, x) of a frame relative to another frame."""

    type: ClassVar[str] = "angles"
    summary: ClassVar[str] = "yaw, pitch and roll of a frame relative to another frame"
    components: ClassVar = ("yaw", "pitch", "roll")
    behaviors: ClassVar = ("axial z", "axial y", "axial x")

    def measure(self, motion: Kinematics):
        R = motion.frame(self.relative_to).R.T @ motion.frame(self.frame).R
        pitch = ca.asin(ca.fmax(-1, ca.fmin(1, -R[2, 0])))
        return "rad", ca.vertcat(angle_of(R[1, 0], R[0, 0]), pitch, angle_of(R[2, 1], R[2, 2]))


@register
class Distance(Ends, Sensor):
    """Distance between the origins of two frames."""

    type: ClassVar[str] = "distance"
    summary: ClassVar[str] = "distance between the origins of two frames"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.ends())

    def measure(self, motion: Kinematics):
        d = motion.frame(self.child).p - motion.frame(self.parent).p
        return "m", ca.sqrt(ca.dot(d, d))


@register
class Expression(Sensor):
    """Any expression of time, parameters, joint coordinates and other sensors."""

    type: ClassVar[str] = "expression"
    summary: ClassVar[str] = "an expression of time, parameters, coordinates and other sensors"

    signals: ClassVar = ("value",)

    value: AnyQuantity
    """expression whose value the sensor reports"""
    unit: UnitName = "1"
    """unit of the value"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        joint = stage.coordinate()["joint"]
        return cls(value=f"2*{joint}.q0 - 0.7*sin(3*t)")

    def measure(self, motion: Kinematics):
        return self.unit, motion.value(self.value)
