"""Drive torque of an axle through a differential, with its reaction on the body that carries the gears.

With the torque T at the axle, the speeds w_l and w_r of the wheels relative to the carrier, and the torque
T_lock that the differential moves from the faster to the slower wheel, the torques of the wheels are

    T_l = T / 2 - T_lock ,   T_r = T / 2 + T_lock .

For an open differential, T_lock = 0. For a locked one, T_lock = c (w_l - w_r), a stiff coupling. A limited-slip
differential limits this torque to the friction of its plates, preload / 2 + bias |T| / 2.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics, PointWrench
from sekant.model.quantities import (
    AnyQuantity,
    Dimensionless,
    FrameName,
    NotNegative,
    RotationalDamping,
    Torque,
)


@register
class AxleDrive(Force):
    """Torque of a motor on the two wheels of an axle through a differential."""

    type: ClassVar[str] = "axle_drive"
    summary: ClassVar[str] = "drive torque on two wheels through an open, locked or limited-slip differential"
    frame_fields: ClassVar = ("left", "right", "carrier")
    signals: ClassVar = ("torque",)

    left: FrameName
    """body or frame of the left wheel, with y along the spin axis, pointing left"""
    right: FrameName
    """body or frame of the right wheel, with y along the spin axis, pointing left"""
    carrier: FrameName
    """body on which the reaction torque acts"""
    torque: AnyQuantity
    """total torque on the two wheels, N m; a positive torque drives forward"""
    differential: Literal["open", "locked", "limited_slip"] = "open"
    """open: equal torques; locked: equal speeds; limited_slip: transfers torque from the faster to the slower
    wheel"""
    locking: NotNegative[RotationalDamping] = 300.0
    """locked, limited_slip: coefficient c, the torque transferred to the slower wheel divided by the difference
    between the wheel speeds"""
    preload: NotNegative[Torque] = 60.0
    """limited_slip: largest difference between the wheel torques without drive torque"""
    bias: NotNegative[Dimensionless] = 0.3
    """limited_slip: increase of this largest difference divided by the drive torque"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        left, right = stage.two_frames()
        return cls(
            left=left,
            right=right,
            carrier=stage.frame(),
            torque="3*sin(t)",
            differential="locked",
            locking=0.7,
        )

    def action(self, motion: Kinematics) -> Action:
        left, right, carrier = (motion.frame(name) for name in (self.left, self.right, self.carrier))
        T = motion.value(self.torque)
        w_l, w_r = (ca.dot(wheel.w_WF - carrier.w_WF, wheel.R[:, 1]) for wheel in (left, right))
        lock = SX(0)
        if self.differential != "open":
            lock = motion.value(self.locking) * (w_l - w_r)
        if self.differential == "limited_slip":
            most = (motion.value(self.preload) + motion.value(self.bias) * ca.fabs(T)) / 2
            lock = ca.fmax(-most, ca.fmin(most, lock))
        torques = (T / 2 - lock, T / 2 + lock)
        none, wrenches, back = SX.zeros(3), [], SX.zeros(3)
        for wheel, torque in zip((left, right), torques, strict=True):
            n_W = torque * wheel.R[:, 1]
            wrenches.append(PointWrench(wheel.body, wheel.p, none, n_W))
            back = back - n_W
        wrenches.append(PointWrench(carrier.body, carrier.p, none, back))
        return Action(
            wrenches=tuple(wrenches),
            power=torques[0] * w_l + torques[1] * w_r,
            outputs={
                "torque": ("N*m", T),
                "torque_left": ("N*m", torques[0]),
                "torque_right": ("N*m", torques[1]),
                "locking_torque": ("N*m", lock),
            },
        )
