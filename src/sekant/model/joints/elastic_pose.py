"""Pose and motion of a body with elastic modes: its components are linear in the elastic coordinates.

A mode displaces the body by d and turns it by t (both (3,), in the frame C on the path or surface). With position and
quaternion of C, y_0 = (p_C, q_C), those of the body are

    p = p_C + R_C d ,   q = q_C (1, t / 2) ,   together   y = y_0(u) + Y(u) e ,

where Y (7, r) is tabulated: a turn by 2 atan(|t| / 2) about t, without a sine. The motion follows from y and its
derivatives as that of any pose curve, with (Y e)' e' twice in the second one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from sekant.geometry.pose_kinematics import parse_orientation
from sekant.geometry.pose_symbolic import motion_from_components, twist_columns, twist_rate
from sekant.geometry.rotations import (
    quaternion_from_euler,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)
from sekant.geometry.spatial import SX, Pose
from sekant.tables.table import Table, Table2

if TYPE_CHECKING:
    from sekant.model.joints.elastic import ElasticModes


class ElasticPose:
    """The body of a joint at coordinates q = (u, e), on a pose curve or surface."""

    def __init__(self, modes: ElasticModes, shape: Any, q: SX, lookups: Any):
        m = modes.along
        self.q, self.u, self.lookups = q, q[:m], lookups
        places = ca.vertsplit(self.u)
        self.Y = ca.reshape(
            lookups(_component_shapes(modes.u, modes.u2, modes.shapes, shape), *places), 7, modes.count
        )
        y_0 = lookups(shape.table, *places)
        self.y = ca.vertcat(y_0[:3], _quaternion(y_0[3:], shape)) + self.Y @ q[m:]

    def _by_u(self, y: SX) -> SX:
        return self.lookups.jacobian(y, self.u)

    @property
    def pose(self) -> Pose:
        """X_FM."""
        still = SX.zeros(7)
        on = motion_from_components(self.y, still, still, "quaternion")
        return Pose(ca.densify(on.R_FM), on.p_FM)

    @property
    def subspace(self) -> SX:
        """S (6, m + r), in M."""
        return twist_columns(self.y, ca.horzcat(self._by_u(self.y), self.Y))

    def bias(self, v: SX, S: SX) -> SX:
        """dS/dt v (6,), in M: of the motion with constant rates v; S (6, m + r) is its `subspace`."""
        m = self.u.numel()
        v_u, shifted = v[:m], self.Y @ v[m:]
        slopes = self._by_u(self.y)
        second = 2 * self._by_u(shifted) @ v_u
        for i in range(m):
            second += self._by_u(slopes[:, i]) @ v_u * v_u[i]
        return twist_rate(self.y, slopes @ v_u + shifted, second, S @ v)


def _quaternion(angles: SX, shape: Any) -> SX:
    """Quaternion (4,) of the orientation components of a curve or surface."""
    kind, sequence = parse_orientation(shape.orientation)
    if kind == "quaternion":
        return angles
    if kind == "none":
        return SX(quaternion_from_rotation(shape.R_constant))
    q = SX([1.0, 0.0, 0.0, 0.0])
    for i, axis in enumerate(sequence):
        turn = SX.zeros(4)
        turn[0], turn[1 + "xyz".index(axis)] = ca.cos(angles[i] / 2), ca.sin(angles[i] / 2)
        w = q[0] * turn[0] - ca.dot(q[1:], turn[1:])
        q = ca.vertcat(w, q[0] * turn[1:] + turn[0] * q[1:] + ca.cross(q[1:], turn[1:]))
    return ca.densify(q)


@lru_cache(maxsize=256)
def _component_shapes(u: Any, u2: Any, shapes: Any, shape: Any) -> Any:
    """Y over u, column after column: a table of 7 r components."""
    axes = [np.array(u)] + ([] if u2 is None else [np.array(u2)])
    y = shape.table(*(grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")))
    kind, sequence = parse_orientation(shape.orientation)
    if kind == "quaternion":
        q = y[:, 3:]
    elif kind == "euler":
        q = quaternion_from_euler(y[:, 3:], sequence)
    else:
        q = np.broadcast_to(quaternion_from_rotation(shape.R_constant), (len(y), 4))
    B = np.array(shapes, float)
    moved = (rotation_from_quaternion(q) @ B[:, :3]).transpose(0, 2, 1)  # (n, r, 3)
    half = np.concatenate([np.zeros_like(moved[..., :1]), 0.5 * B[:, 3:].transpose(0, 2, 1)], axis=-1)
    turned = quaternion_product(q[:, None], half)
    values = np.concatenate([moved, turned], axis=-1)
    spline: Any = Table.cubic if u2 is None else Table2.cubic
    sizes = [axis.size for axis in axes]
    return spline(*axes, values.reshape(*sizes, -1), extrapolation="linear", name="elastic shapes")
