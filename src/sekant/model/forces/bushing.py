"""Bushing: six stiffnesses and six dampings between two frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import vector
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, Kinematics, PointWrench
from sekant.model.quantities import (
    Dampings,
    FrameName,
    RotationalDampings,
    RotationalStiffnesses,
    Stiffnesses,
)

if TYPE_CHECKING:
    from sekant.model.examples import Stage


@register
class Bushing(Force):
    """Elastic mount with principal directions along the parent frame's axes.

    Displacement d = p_FM in F, angles (a, b, c) with R_FM = R_x(a) R_y(b) R_z(c). Both halves derive from
    the potential (d.K d + angles.K_r angles) / 2, so the bushing is exactly conservative at any rotation
    up to b = 90 deg: the force acts on both bodies at M's origin, and the moment is B^-T K_r angles,
    where B takes the rates of the angles to the relative angular velocity.
    """

    type: ClassVar[str] = "bushing"
    summary: ClassVar[str] = "elastic mount: six stiffnesses and six dampings"
    frame_fields: ClassVar = ("parent", "child")
    picture: ClassVar = "bushing"

    parent: FrameName
    child: FrameName
    stiffness: Stiffnesses = (0.0, 0.0, 0.0)
    damping: Dampings = (0.0, 0.0, 0.0)
    rotational_stiffness: RotationalStiffnesses = (0.0, 0.0, 0.0)
    rotational_damping: RotationalDampings = (0.0, 0.0, 0.0)

    @classmethod
    def example(cls, stage: Stage) -> Self:
        parent, child = stage.two_frames()
        return cls(
            parent=parent,
            child=child,
            stiffness=stage.three(20, 60),
            damping=stage.three(1, 4),
            rotational_stiffness=stage.three(5, 9),
            rotational_damping=stage.three(0.3, 0.9),
        )

    def action(self, motion: Kinematics) -> Action:
        F, M = motion.frame(self.parent), motion.frame(self.child)
        k, c = vector(self.stiffness), vector(self.damping)
        k_r, c_r = vector(self.rotational_stiffness), vector(self.rotational_damping)
        d_W = M.p - F.p
        d = F.R.T @ d_W
        d_rate = F.R.T @ (M.v_WF - F.v_WF - ca.cross(F.w_WF, d_W))
        R = F.R.T @ M.R
        angles = ca.vertcat(
            ca.atan2(-R[1, 2], R[2, 2]),
            ca.asin(ca.fmax(-1, ca.fmin(1, R[0, 2]))),
            ca.atan2(-R[0, 1], R[0, 0]),
        )
        sa, ca_, sb, cb = ca.sin(angles[0]), ca.cos(angles[0]), ca.sin(angles[1]), ca.cos(angles[1])
        # inverse of B, whose columns are x of F, y after the first turn and z after the second, all in F
        B_inverse = ca.blockcat([[1, sa * sb / cb, -ca_ * sb / cb], [0, ca_, sa], [0, -sa / cb, ca_ / cb]])
        rates = B_inverse @ (F.R.T @ (M.w_WF - F.w_WF))
        force = -(k * d + c * d_rate)
        couple = -(k_r * angles + c_r * rates)
        f_W = F.R @ force
        n_W = F.R @ (B_inverse.T @ couple)
        lossy = any(not (isinstance(x, float) and x == 0) for x in (*self.damping, *self.rotational_damping))
        return Action(
            wrenches=(PointWrench(F.body, M.p, -f_W, -n_W), PointWrench(M.body, M.p, f_W, n_W)),
            potential=0.5 * (ca.dot(k * d, d) + ca.dot(k_r * angles, angles)),
            power=-(ca.dot(c * d_rate, d_rate) + ca.dot(c_r * rates, rates)) if lossy else None,
            outputs={
                "displacement": ("m", d),
                "angles": ("rad", angles),
                "force": ("N", force),
                "moment": ("N*m", F.R.T @ n_W),
            },
        )
