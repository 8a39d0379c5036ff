"""Pose and twists of a curve or surface from its table components, in numbers.

A pose X_FM is stored as components y = (p_FM [m], orientation components), with one of these orientations:

- ``"none"``: R_FM is constant (no components);
- ``"quaternion"``: four components of any non-zero length, R_FM = R(q / |q|); smooth and without singularity;
- ``"euler:zyx"``: angles [rad] of an intrinsic sequence of one to three letters (HALL's splines of angles).

The twist of the curve is V_u = (omega_u, v_u): angular velocity and velocity of M's origin for du/dt = 1,
resolved in M, or in F on request. Its derivatives are the derivatives of these components.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.rotations import (
    check_sequence,
    quaternion_conjugate,
    quaternion_from_euler,
    quaternion_product,
    rotation_from_quaternion,
)

Array = NDArray[np.float64]
Frame = Literal["M", "F"]


def parse_orientation(orientation: str) -> tuple[str, str]:
    """Kind ("none", "quaternion" or "euler") and Euler sequence ("" unless euler) of an orientation tag."""
    kind, _, sequence = orientation.partition(":")
    if kind == "euler" and sequence:
        return kind, check_sequence(sequence)
    if kind in ("none", "quaternion") and not sequence:
        return kind, ""
    raise DataError(
        f"orientation '{orientation}' is unknown; use 'none', 'quaternion' or an Euler sequence such as "
        "'euler:zyx'"
    )


def component_count(orientation: str) -> int:
    """Number of table components of a pose: 3 for the position and those of the orientation."""
    kind, sequence = parse_orientation(orientation)
    return 3 + (4 if kind == "quaternion" else len(sequence))


def component_names(orientation: str) -> list[str]:
    """Names of the components in order, e.g. x, y, z, qw, qx, qy, qz or x, y, z, a1z, a2y, a3x."""
    kind, sequence = parse_orientation(orientation)
    names = ["x", "y", "z"]
    if kind == "quaternion":
        return [*names, "qw", "qx", "qy", "qz"]
    return names + [f"a{i}{axis}" for i, axis in enumerate(sequence, start=1)]


def mirror_signs(orientation: str, plane: str) -> Array:
    """(m,) signs of the components of the pose mirrored about the plane normal to `plane`: P p and P R P."""
    kind, sequence = parse_orientation(orientation)
    position = [-1.0 if axis == plane else 1.0 for axis in "xyz"]
    if kind == "quaternion":
        return np.array([*position, 1.0, *(1.0 if axis == plane else -1.0 for axis in "xyz")])
    return np.array([*position, *(1.0 if axis == plane else -1.0 for axis in sequence)])


def mirrored_constant(R: Array, plane: str) -> Array:
    """P R P (3, 3)."""
    P = np.array([-1.0 if axis == plane else 1.0 for axis in "xyz"])
    return P[:, None] * R * P


def rotations(y: Array, orientation: str, R_constant: Array) -> Array:
    """R_FM (..., 3, 3) of components (..., m)."""
    kind, sequence = parse_orientation(orientation)
    if kind == "quaternion":
        return rotation_from_quaternion(y[..., 3:7])
    if kind == "euler":
        return rotation_from_quaternion(quaternion_from_euler(y[..., 3:], sequence))
    return np.broadcast_to(R_constant, (*y.shape[:-1], 3, 3)).copy()


def angular_rate(Y: Array, orientation: str) -> Array:
    """Jet (K, ..., 3) of omega_u in M [rad per unit of u] from the jet (K + 1, ..., m) of the components.

    Quaternions of any length: omega = 2 Im(q* q') / (q.q); the derivative of the length drops out. Euler
    angles: each further rotation R_i(a_i) gives omega <- R_i^T omega + a_i' e_i.
    """
    kind, sequence = parse_orientation(orientation)
    if kind == "none":
        return np.zeros((len(Y) - 1, *Y.shape[1:-1], 3))
    if kind == "quaternion":
        q = Y[..., 3:7]
        W = 2.0 * jets.product(quaternion_conjugate(q), q[1:], quaternion_product)[..., 1:]
        return jets.quotient(W, jets.dot(q, q)[:-1][..., None])
    w = np.zeros((len(Y) - 1, *Y.shape[1:-1], 3))
    for i, axis in enumerate(sequence):
        angle = Y[..., 3 + i]
        c, s = jets.cos_sin(angle[:-1])
        k = "xyz".index(axis)
        j, l = (k + 1) % 3, (k + 2) % 3
        turned = w.copy()
        turned[..., j] = jets.product(c, w[..., j]) + jets.product(s, w[..., l])
        turned[..., l] = jets.product(c, w[..., l]) - jets.product(s, w[..., j])
        turned[..., k] += angle[1:]
        w = turned
    return w


def twists(Y: Array, orientation: str, R_constant: Array, frame: Frame = "M") -> Array:
    """Jet (K, ..., 6) of the twist V_u = (omega_u, v_u) from the jet (K + 1, ..., m) of the components.

    Entry k is the k-th derivative with respect to u of the components of V_u in `frame`.
    """
    R0 = rotations(Y[0], orientation, R_constant)
    w_M = angular_rate(Y, orientation)
    R = jets.rotation_from_rate(R0, w_M)[:-1]
    if frame == "F":
        return np.concatenate([jets.apply(R, w_M), Y[1:, ..., :3]], axis=-1)
    if frame != "M":
        raise DataError(f"frame '{frame}' is unknown; twists are resolved in 'M' (moving) or 'F' (fixed)")
    return np.concatenate([w_M, jets.apply_transposed(R, Y[1:, ..., :3])], axis=-1)
