"""Rotations in numbers: Euler sequences, unit quaternions, rotation vectors, vectorized over leading axes.

Conventions: quaternions are scalar first; a rotation matrix R_FM maps components in M to components in F;
Euler sequences are intrinsic, "zyx" meaning R = Rz(a1) Ry(a2) Rx(a3); angles are in radians.
Functions that say so accept quaternions of any length: R(c q) = R(q) for every c != 0.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError

Array = NDArray[np.float64]


def skew(v: ArrayLike) -> Array:
    """(..., 3) -> (..., 3, 3) with skew(v) @ w == cross(v, w)."""
    v = np.asarray(v, float)
    S = np.zeros((*v.shape[:-1], 3, 3))
    S[..., 0, 1], S[..., 0, 2], S[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    S[..., 1, 0], S[..., 2, 0], S[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return S


def quaternion_product(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product of (..., 4) and (..., 4): R(a b) = R(a) R(b)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, v], axis=-1)


def quaternion_conjugate(q: ArrayLike) -> Array:
    """(w, v) -> (w, -v)."""
    return np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])


def rotation_from_quaternion(q: ArrayLike) -> Array:
    """(..., 4) of any non-zero length -> (..., 3, 3): R = 1 + 2 (w [v] + [v][v]) / (q.q)."""
    q = np.asarray(q, float)
    V = skew(q[..., 1:])
    factor = 2.0 / np.sum(q * q, axis=-1)[..., None, None]
    return np.eye(3) + factor * (q[..., :1, None] * V + V @ V)


def quaternion_from_rotation(R: ArrayLike) -> Array:
    """(..., 3, 3) -> (..., 4) of unit length with non-negative largest component (Shepperd's choice of
    pivot)."""
    R = np.asarray(R, float)
    d = np.diagonal(R, axis1=-2, axis2=-1)
    trace = d.sum(axis=-1)
    # Rows k of K are q_k * q times 4: the row of the largest pivot is the best conditioned.
    K = np.empty((*R.shape[:-2], 4, 4))
    K[..., 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        K[..., i + 1, i + 1] = 1.0 + 2.0 * d[..., i] - trace
        K[..., 0, i + 1] = K[..., i + 1, 0] = R[..., k, j] - R[..., j, k]
        K[..., i + 1, j + 1] = K[..., j + 1, i + 1] = R[..., i, j] + R[..., j, i]
    pivot = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(K, pivot[..., None, None], axis=-2)[..., 0, :]
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def quaternion_from_rotation_vector(phi: ArrayLike) -> Array:
    """(..., 3) rotation vector [rad] -> (..., 4): exp(phi / 2)."""
    phi = np.asarray(phi, float)
    half = 0.5 * np.linalg.norm(phi, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * phi * np.sinc(half / np.pi)], axis=-1)


def rotation_vector_from_quaternion(q: ArrayLike) -> Array:
    """(..., 4) of any non-zero length -> (..., 3) rotation vector [rad] of length at most pi."""
    q = np.asarray(q, float)
    q = np.where(q[..., :1] < 0.0, -q, q)
    s = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    half = np.arctan2(s, q[..., :1])
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    return 2.0 * q[..., 1:] / (norm * np.sinc(half / np.pi))


def rotation_from_vector(phi: ArrayLike) -> Array:
    """(..., 3) rotation vector [rad] -> (..., 3, 3)."""
    return rotation_from_quaternion(quaternion_from_rotation_vector(phi))


def angle_between(q1: ArrayLike, q2: ArrayLike) -> Array:
    """Angle of rotation (...) [rad], 0 to pi, between quaternions (..., 4) of any length; accurate for all angles."""
    q = quaternion_product(quaternion_conjugate(q1), q2)
    return 2.0 * np.arctan2(np.linalg.norm(q[..., 1:], axis=-1), np.abs(q[..., 0]))


def angle_between_rotations(R1: ArrayLike, R2: ArrayLike) -> Array:
    """Angle of rotation (...) [rad], 0 to pi, between rotation matrices (..., 3, 3); accurate for all angles.

    An arc cosine (PILS 3.37) would lose half of the digits of small angles.
    |R1 - R2|^2 = 8 sin^2 (angle / 2), |R1 + R2|^2 = 4 + 8 cos^2 (angle / 2).
    """
    R1, R2 = np.asarray(R1, float), np.asarray(R2, float)
    sine2, cosine2 = np.sum((R1 - R2) ** 2, axis=(-2, -1)), np.sum((R1 + R2) ** 2, axis=(-2, -1)) - 4.0
    return 2.0 * np.arctan2(np.sqrt(sine2), np.sqrt(np.maximum(cosine2, 0.0)))


def continue_signs(q: ArrayLike) -> Array:
    """(n, 4): flip signs so that neighbors lie on the same half of the sphere (q and -q are the same rotation)."""
    q = np.asarray(q, float)
    flips = np.sum(q[1:] * q[:-1], axis=-1) < 0.0
    signs = np.concatenate([[1.0], np.cumprod(np.where(flips, -1.0, 1.0))])
    return q * signs[:, None]


def check_sequence(sequence: str) -> str:
    """The Euler sequence in lower case; DataError with the possible ones if it is invalid."""
    s = sequence.lower()
    if not 1 <= len(s) <= 3 or set(s) - set("xyz") or any(a == b for a, b in pairwise(s)):
        raise DataError(
            f"'{sequence}' is not an Euler sequence; give one to three of the letters x, y and z, without "
            "using the same letter twice in a row, e.g. 'zyx' (yaw, pitch, roll) or 'zxz'; each rotation "
            "is about an axis that the previous rotations have already turned"
        )
    return s


def axis_quaternion(axis: str, angle: ArrayLike) -> Array:
    """Rotation by `angle` [rad] (...,) about the coordinate axis named x, y or z -> (..., 4)."""
    half = 0.5 * np.asarray(angle, float)
    q = np.zeros((*half.shape, 4))
    q[..., 0] = np.cos(half)
    q[..., 1 + "xyz".index(axis)] = np.sin(half)
    return q


def quaternion_from_euler(angles: ArrayLike, sequence: str) -> Array:
    """(..., k) angles [rad] of an intrinsic sequence of k letters -> (..., 4)."""
    sequence = check_sequence(sequence)
    angles = np.asarray(angles, float)
    q = axis_quaternion(sequence[0], angles[..., 0])
    for i, axis in enumerate(sequence[1:], start=1):
        q = quaternion_product(q, axis_quaternion(axis, angles[..., i]))
    return q


def rotation_from_euler(angles: ArrayLike, sequence: str) -> Array:
    """(..., k) angles [rad] of an intrinsic sequence of k letters -> (..., 3, 3)."""
    return rotation_from_quaternion(quaternion_from_euler(angles, sequence))


def euler_from_quaternion(q: ArrayLike, sequence: str) -> Array:
    """(n, 4) or (4,) -> angles [rad] of a three-letter intrinsic sequence, continuous (unwrapped) along n."""
    from scipy.spatial.transform import Rotation

    sequence = check_sequence(sequence)
    if len(sequence) != 3:
        raise DataError(f"the Euler sequence '{sequence}' cannot describe every rotation; give three letters")
    q = np.asarray(q, float)
    angles = Rotation.from_quat(q, scalar_first=True).as_euler(sequence.upper(), suppress_warnings=True)
    if q.ndim != 2 or len(q) < 2:
        return angles
    # (a, b, c) and (a + pi, +-b (+ pi), c + pi) are the same rotation: follow the branch closest to the previous row.
    proper = sequence[0] == sequence[2]
    other = angles + np.pi
    other[:, 1] = -angles[:, 1] if proper else np.pi - angles[:, 1]
    out = np.empty_like(angles)
    out[0] = angles[0]
    for i in range(1, len(q)):
        pair = np.stack([angles[i], other[i]])
        pair += 2.0 * np.pi * np.round((out[i - 1] - pair) / (2.0 * np.pi))
        out[i] = pair[np.argmin(np.abs(pair - out[i - 1]).sum(axis=1))]
    return out


def check_rotations(R: ArrayLike, tolerance: float = 1e-6) -> Array:
    """(n, 3, 3) if all are proper rotations; DataError names the first row that is not, and why."""
    R = np.asarray(R, float)
    if R.ndim != 3 or R.shape[1:] != (3, 3):
        raise DataError(f"rotation matrices must have shape (n, 3, 3) (got {R.shape})")
    det = np.linalg.det(R)
    bad = np.flatnonzero(det < 0.0)
    if bad.size:
        raise DataError(
            f"row {bad[0] + 1}: the rotation matrix is left-handed (determinant {det[bad[0]]:.6g}; "
            f"{bad.size} such row{'s' if bad.size > 1 else ''}); exchange two axes or flip the sign of one "
            "axis of the source's coordinate system"
        )
    error = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(1, 2))
    bad = np.flatnonzero(error > tolerance)
    if bad.size:
        raise DataError(
            f"row {bad[0] + 1}: the matrix is not a rotation: R^T R differs from the identity by "
            f"{error[bad[0]]:.3g} (allowed {tolerance:g}); check the order of the nine columns and the "
            "number of digits"
        )
    return R
