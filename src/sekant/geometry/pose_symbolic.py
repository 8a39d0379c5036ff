"""Pose, motion subspace and its derivative from table components, as CasADi expressions.

The components and their derivatives come from table look-ups, so these expressions are the same for a curve
of ten pieces and for one of a hundred thousand. Quaternions need only rational operations, Euler angles need sines.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sekant.geometry.pose_kinematics import component_count, parse_orientation
from sekant.geometry.spatial import AXIS_ROTATIONS, SX


@dataclass(frozen=True, slots=True)
class CurveMotion:
    """Motion along a pose curve X_FM(u), everything in M unless stated otherwise."""

    R_FM: SX  # (3, 3)
    p_FM: SX  # (3,) m, in F
    S: SX  # (6,) twist V_u = (omega_u, v_u) of M in F for udot = 1, in M
    dS: SX  # (6,) derivative of S with respect to u: the bias acceleration of the joint is dS * udot^2


@dataclass(frozen=True, slots=True)
class SurfaceMotion:
    """Motion on a pose surface X_FM(u1, u2), everything in M unless stated otherwise."""

    R_FM: SX  # (3, 3)
    p_FM: SX  # (3,) m, in F
    S: SX  # (6, 2) columns V_1, V_2 in M
    dS: tuple[SX, SX]  # (6, 2) each: derivatives of S with respect to u1 and to u2


def motion_from_components(y, y1, y2, orientation: str = "none", R_constant=None) -> CurveMotion:
    """Motion from the components (m,) and their first and second derivatives with respect to u.

    `orientation` is the tag of the curve, `R_constant` (3, 3) its constant rotation where the tag is "none".
    """
    y, y1, y2 = ca.SX(y), ca.SX(y1), ca.SX(y2)
    R, rate, rate_derivative = _rotation(y, orientation, R_constant)
    w = rate(y1)
    dw = rate_derivative(y1, y1, y2)
    v = R.T @ y1[:3]
    dv = R.T @ y2[:3] - ca.cross(w, v)  # (R^T)' = -[w] R^T
    return CurveMotion(R, y[:3], ca.vertcat(w, v), ca.vertcat(dw, dv))


def surface_motion_from_components(y, y_1, y_2, y_11, y_12, y_22, orientation: str = "none", R_constant=None):
    """Motion from the components (m,) and their partial derivatives with respect to u1 and u2; -> SurfaceMotion."""
    y = ca.SX(y)
    first = [ca.SX(y_1), ca.SX(y_2)]
    second = [[ca.SX(y_11), ca.SX(y_12)], [ca.SX(y_12), ca.SX(y_22)]]
    R, rate, rate_derivative = _rotation(y, orientation, R_constant)
    w = [rate(d) for d in first]
    v = [R.T @ d[:3] for d in first]
    S = ca.horzcat(*[ca.vertcat(w[i], v[i]) for i in range(2)])
    dS = []
    for j in range(2):
        columns = []
        for i in range(2):
            dw = rate_derivative(first[i], first[j], second[i][j])
            dv = R.T @ second[i][j][:3] - ca.cross(w[j], v[i])
            columns.append(ca.vertcat(dw, dv))
        dS.append(ca.horzcat(*columns))
    return SurfaceMotion(R, y[:3], S, (dS[0], dS[1]))


def twist_columns(y: SX, slopes: SX) -> SX:
    """(6, n) twists in M of the derivatives `slopes` (7, n) of position and quaternion y (7,)."""
    R, rate, _ = _quaternion_rotation(y[3:])
    return ca.vertcat(ca.horzcat(*[rate(column) for column in ca.horzsplit(slopes)]), R.T @ slopes[:3, :])


def twist_rate(y: SX, first: SX, second: SX, V: SX) -> SX:
    """(6,) rate in M of the twist V (6,), from position and quaternion y (7,) with rates `first` and `second`."""
    R, _, rate_derivative = _quaternion_rotation(y[3:], V[:3])
    return ca.vertcat(rate_derivative(first, first, second), R.T @ second[:3] - ca.cross(V[:3], V[3:]))


def _rotation(y: SX, orientation: str, R_constant):
    """R_FM, the map y_i -> omega_i, and the map (y_i, y_j, y_ij) -> d omega_i / d u_j, all in M."""
    kind, sequence = parse_orientation(orientation)
    if y.numel() != component_count(orientation):
        raise ValueError(
            f"orientation '{orientation}' requires {component_count(orientation)} components (got "
            f"{y.numel()})"
        )
    if kind == "quaternion":
        return _quaternion_rotation(y[3:])
    if kind == "euler":
        return _euler_rotation(y[3:], sequence)
    R = ca.SX(np.eye(3) if R_constant is None else np.asarray(R_constant, float))
    zero = ca.SX.zeros(3)
    return ca.densify(R), lambda y_i: zero, lambda y_i, y_j, y_ij: zero


def _quaternion_rotation(q: SX, known: SX | None = None):
    """Quaternion of any length, N = q.q: omega_i = 2 Im(q* q_i) / N,
    d omega_i / d u_j = (2 Im(q_j* q_i) + 2 Im(q* q_ij) - omega_i N_j) / N. `known`: omega_i (3,), if already
    computed."""
    w, x, y, z = ca.vertsplit(q)
    inv = 1 / ca.sumsqr(q)
    wx, wy, wz = w * x, w * y, w * z
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    k = 2 * inv
    R = ca.blockcat(
        [
            [1 - k * (yy + zz), k * (xy - wz), k * (xz + wy)],
            [k * (xy + wz), 1 - k * (xx + zz), k * (yz - wx)],
            [k * (xz - wy), k * (yz + wx), 1 - k * (xx + yy)],
        ]
    )

    def imaginary(a, b):
        """Im(a* b) = a_w b_v - b_w a_v - a_v x b_v."""
        return a[0] * b[1:] - b[0] * a[1:] - ca.cross(a[1:], b[1:])

    def rate(y_i):
        return k * imaginary(q, y_i[3:]) if known is None else known

    def rate_derivative(y_i, y_j, y_ij):
        turning = imaginary(q, y_ij[3:])
        if y_i is not y_j:
            turning += imaginary(y_j[3:], y_i[3:])
        return k * (turning - rate(y_i) * ca.dot(q, y_j[3:]))

    return R, rate, rate_derivative


def _euler_rotation(angles: SX, sequence: str):
    """omega = E(a) a' with columns (R_{i+1} ... R_n)^T e_i; a column turns with the rotations after it."""
    n = len(sequence)
    tail = ca.SX(np.eye(3))  # R_{i+1} ... R_n
    tails = [tail] * n
    for i in reversed(range(n)):
        tails[i] = tail
        tail = AXIS_ROTATIONS[sequence[i]](angles[i]) @ tail
    R = ca.densify(tail)
    columns = [tails[i]["xyz".index(sequence[i]), :].T for i in range(n)]  # (R_tail)^T e_i

    def rate(y_i):
        return sum((columns[k] * y_i[3 + k] for k in range(n)), ca.SX.zeros(3))

    def rate_derivative(y_i, y_j, y_ij):
        total = rate(y_ij)
        for k in range(n):
            # rate in M of the rotations after k when u_j moves; (R_tail^T e)' = -w_tail x (R_tail^T e)
            w_tail = sum((columns[l] * y_j[3 + l] for l in range(k + 1, n)), ca.SX.zeros(3))
            total -= ca.cross(w_tail, columns[k]) * y_i[3 + k]
        return total

    return R, rate, rate_derivative
