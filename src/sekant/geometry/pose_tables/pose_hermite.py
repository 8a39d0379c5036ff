"""Interpolation of poses between nodes: the published cubic scheme, and a quintic one with continuous accelerations.

Both use the pose X_FM and its derivatives with respect to the parameter u at nodes. Positions are Hermite
polynomials.

*Cubic* (PILS 3.43-3.49): between nodes i and i + 1, D apart, with the relative rotation phi = log(R_i^T R_i+1), the
rates delta_i in M_i, delta_i+1 in M_i+1, and Hermite's functions of xi = (u - u_i) / D,

    R(u) = R_i exp(delta_i D h10) exp(phi h01) exp(delta_i+1 D h11) .

Each factor rotates about its own fixed axis. With rotation vectors there is no division by |delta|, which is
zero for pure translation. The second derivative jumps at the nodes. Positions are of order 4 in the
step, rotations too if the axis has a constant direction; otherwise the factors do not commute, which costs one order.

*Quintic*: the unit quaternion with its first and second derivative at the nodes, as a quintic Hermite polynomial of
its four components, whose direction is the rotation. It commutes with multiplication by a constant
quaternion, so it does not depend on the choice of frames; pose, twist and the twist's derivative are
continuous (order 6).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.rotations import (
    continue_signs,
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from sekant.tables.hermite import hermite_coefficients
from sekant.tables.pieces import horner

Array = NDArray[np.float64]
Jet = Callable[[Array, int], Array]  # u (n,), order -> components and derivatives (order + 1, n, 7)
METHODS = ("cubic", "quintic")
_H10, _H01, _H11 = np.array([0, 1, -2, 1.0]), np.array([0, 0, 3, -2.0]), np.array([0, 0, -1, 1.0])


def node_quaternions(nodes: PoseMotion) -> Array:
    """Jet (3, n, 4) of the unit quaternions, without jumps of sign."""
    q = continue_signs(quaternion_from_rotation(nodes.rotation))
    R_T = np.swapaxes(nodes.rotation, 1, 2)
    w = np.einsum("nij,nj->ni", R_T, nodes.angular)
    # in M: d(R^T w)/du = R^T (w' - w x w) = R^T w'
    dw = np.einsum("nij,nj->ni", R_T, nodes.angular_acceleration)
    return jets.quaternion_from_rate(q, np.stack([w, dw]))


def quintic_coefficients(u: Array, nodes: PoseMotion) -> Array:
    """Coefficients (n - 1, 7, 6) of position and quaternion."""
    position = np.stack([nodes.position, nodes.velocity, nodes.acceleration])
    return hermite_coefficients(u, np.concatenate([position, node_quaternions(nodes)], axis=-1))


def interpolant(u: Array, nodes: PoseMotion, method: str) -> Jet:
    """The components (position, quaternion) of the interpolated pose with their derivatives."""
    if method == "quintic":
        return _pieces(u, quintic_coefficients(u, nodes))
    if method == "cubic":
        return _cubic(u, nodes)
    raise DataError(f"unknown interpolation '{method}'; use one of {', '.join(METHODS)}")


def _pieces(u: Array, c: Array) -> Jet:
    def jet(x: Array, order: int) -> Array:
        i = _interval(u, x)
        return np.stack([horner(c[i], (x - u[i])[:, None], k) for k in range(order + 1)])

    return jet


def _interval(u: Array, x: Array) -> NDArray[np.intp]:
    return np.clip(np.searchsorted(u, x, side="right") - 1, 0, u.size - 2)


def _cubic(u: Array, nodes: PoseMotion) -> Jet:
    q = node_quaternions(nodes)[0]
    R_T = np.swapaxes(nodes.rotation, 1, 2)
    delta = np.einsum("nij,nj->ni", R_T, nodes.angular)
    phi = rotation_vector_from_quaternion(quaternion_product(quaternion_conjugate(q[:-1]), q[1:]))
    positions = _pieces(u, hermite_coefficients(u, np.stack([nodes.position, nodes.velocity])))

    def jet(x: Array, order: int) -> Array:
        i = _interval(u, x)
        D = u[i + 1] - u[i]
        xi = (x - u[i]) / D
        turns = ((D[:, None] * delta[i], _H10), (phi[i], _H01), (D[:, None] * delta[i + 1], _H11))
        R = np.concatenate([q[i][None], np.zeros((order, *q[i].shape))])
        for vector, shape in turns:
            h = np.stack([horner(np.tile(shape, (x.size, 1)), xi, k) / D**k for k in range(order + 1)])
            R = jets.product(R, _turn(vector, h), quaternion_product)
        return np.concatenate([positions(x, order), R], axis=-1)

    return jet


def _turn(vector: Array, h: Array) -> Array:
    """Jet (K + 1, n, 4) of the quaternion of the rotation vector h(u) `vector` (n, 3)."""
    angle = np.linalg.norm(vector, axis=-1)
    axis = vector / np.where(angle > 0.0, angle, 1.0)[:, None]
    c, s = jets.cos_sin(0.5 * angle * h)
    return np.concatenate([c[..., None], s[..., None] * axis], axis=-1)
