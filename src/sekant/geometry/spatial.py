"""Spatial-vector algebra in CasADi SX: poses, twists, wrenches, inertias.

Conventions. A pose ``X_AB`` holds ``R_AB`` (3, 3), which takes components in B to components in A, and
``p_AB`` (3,), from A's origin to B's origin, in A. A twist ``V`` is (angular; linear) at a frame's origin,
a wrench ``F`` is (moment; force) about it. Everything is a dense SX, so that CasADi folds constants
element by element: a hinge about z needs only the operations of a hinge about z, without special code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import casadi as ca

from sekant.tables.inlined import inlined

SX = ca.SX
_UPPER = ca.Sparsity.upper(3)
_EYE = SX(ca.DM.eye(3).full())


def scalar(value: Any) -> SX:
    """A number as SX; an SX is returned unchanged."""
    return SX(value)


def vector(values) -> SX:
    """Dense column of floats and SX scalars, or of anything CasADi can turn into an SX."""
    if isinstance(values, SX):
        return ca.densify(values)
    if isinstance(values, (list, tuple)):
        return ca.densify(ca.vertcat(*[SX(value) for value in values])) if values else SX.zeros(0, 1)
    return ca.densify(SX(ca.DM(values)))


def column(entries: Sequence[SX]) -> SX:
    """The entries stacked in a dense column; empty ones are omitted."""
    filled = [entry for entry in entries if entry.numel()]
    return ca.densify(ca.vertcat(*filled)) if filled else SX.zeros(0, 1)


def skew(a: SX) -> SX:
    """(3, 3) matrix with ``skew(a) @ b == cross(a, b)``."""
    return ca.densify(ca.skew(a))


def direction(a: SX) -> SX:
    """Unit vector (3,) along a, by one division."""
    square = ca.dot(a, a)
    return a * (ca.sqrt(square) / square)


def turn(R: SX) -> SX:
    """2 sin(angle / 2) n (3,) of a rotation R (3, 3) by an angle about n.

    For small angles it is the rotation vector. It increases up to half a turn (where it has no direction, and
    is 0/0), so that it is zero only without rotation, unlike the sine of the angle, which is also zero at
    half a turn.
    """
    sines = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])  # 2 sin(angle) n
    return sines / ca.sqrt(1 + R[0, 0] + R[1, 1] + R[2, 2])


def angle_of(y: SX, x: SX) -> SX:
    """atan2(y, x), in (-pi, pi], with its jump at half a turn as a switch at which methods stop.

    Behind x = 0 the angle is that of (-x, -y) plus or minus half a turn. The sign of y decides only there, so that
    nothing happens where a small angle passes zero.
    """
    behind = x < 0
    back = ca.if_else(behind, -1, 1)
    half = ca.if_else(ca.if_else(behind, y, 1) < 0, -pi, pi)
    return ca.atan2(back * y, back * x) + ca.if_else(behind, half, 0)


def symmetric_product(A: SX, B: SX) -> SX:
    """``A @ B`` (3, 3) when the product is known to be symmetric: only its upper half is computed."""
    return ca.triu2symm(ca.mac(A, B, SX.zeros(_UPPER)))


def rotation_x(angle) -> SX:
    """Rotation by `angle` (rad) about x."""
    return _rotation_x(SX(angle))


@inlined
def _rotation_x(angle: SX) -> SX:
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.densify(ca.blockcat([[SX(1), 0, 0], [0, c, -s], [0, s, c]]))


def rotation_y(angle) -> SX:
    """Rotation by `angle` (rad) about y."""
    return _rotation_y(SX(angle))


@inlined
def _rotation_y(angle: SX) -> SX:
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.densify(ca.blockcat([[SX(c), 0, s], [0, 1, 0], [-s, 0, c]]))


def rotation_z(angle) -> SX:
    """Rotation by `angle` (rad) about z."""
    return _rotation_z(SX(angle))


@inlined
def _rotation_z(angle: SX) -> SX:
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.densify(ca.blockcat([[SX(c), -s, 0], [s, c, 0], [0, 0, 1]]))


AXIS_ROTATIONS = {"x": rotation_x, "y": rotation_y, "z": rotation_z}


@inlined
def rotation_from_quaternion(e: SX) -> SX:
    """R_AB of a unit quaternion (4,), scalar first."""
    w, x, y, z = ca.vertsplit(e)
    X, Y, Z = 2 * x, 2 * y, 2 * z  # no entry has a factor, so that none is moved into later expressions
    return ca.blockcat(
        [
            [1 - (Y * y + Z * z), X * y - Z * w, X * z + Y * w],
            [X * y + Z * w, 1 - (X * x + Z * z), Y * z - X * w],
            [X * z - Y * w, Y * z + X * w, 1 - (X * x + Y * y)],
        ]
    )


@inlined
def quaternion_rate(e: SX, w_B: SX) -> SX:
    """Rate (4,) of the unit quaternion of R_AB when B turns with `w_B` (3,) rad/s, resolved in B."""
    w, x, y, z = ca.vertsplit(e)
    G = ca.blockcat([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
    return 0.5 * (G @ w_B)


@inlined
def quaternion_from_rotation(R: SX) -> SX:
    """Unit quaternion (4,), scalar first, of R (3, 3); the branch with the largest pivot is taken."""
    traces = [
        1 + R[0, 0] + R[1, 1] + R[2, 2],
        1 + R[0, 0] - R[1, 1] - R[2, 2],
        1 - R[0, 0] + R[1, 1] - R[2, 2],
        1 - R[0, 0] - R[1, 1] + R[2, 2],
    ]
    columns = [
        ca.vertcat(traces[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]),
        ca.vertcat(R[2, 1] - R[1, 2], traces[1], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]),
        ca.vertcat(R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], traces[2], R[1, 2] + R[2, 1]),
        ca.vertcat(R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], traces[3]),
    ]
    best, pivot = columns[0], traces[0]
    for column, trace in zip(columns[1:], traces[1:], strict=True):
        better = trace > pivot
        best, pivot = ca.if_else(better, column, best), ca.if_else(better, trace, pivot)
    e = best / (2 * ca.sqrt(pivot))
    return e * ca.if_else(e[0] < 0, -1, 1)


@dataclass(frozen=True, slots=True)
class Pose:
    """X_AB: the pose of frame B in frame A."""

    R: SX  # (3, 3), R_AB
    p: SX  # (3,) m, p_AB in A

    @staticmethod
    def identity() -> Pose:
        return Pose(SX(_EYE), SX.zeros(3))

    @inlined
    def __matmul__(self, X_BC: Pose) -> Pose:
        return Pose(self.R @ X_BC.R, self.p + self.R @ X_BC.p)

    @inlined
    def inverse(self) -> Pose:
        return Pose(self.R.T, -(self.R.T @ self.p))

    def point(self, p_B: SX) -> SX:
        """A point given in B, in A."""
        return self.p + self.R @ p_B

    @inlined
    def twist_to_child(self, V_A: Twist) -> Twist:
        """The same motion seen at B's origin, in B."""
        return Twist(self.R.T @ V_A.w, self.R.T @ (V_A.v + ca.cross(V_A.w, self.p)))

    @inlined
    def wrench_to_parent(self, F_B: Wrench) -> Wrench:
        """The same wrench about A's origin, in A."""
        f_A = self.R @ F_B.f
        return Wrench(self.R @ F_B.n + ca.cross(self.p, f_A), f_A)


@dataclass(frozen=True, slots=True)
class Twist:
    """Spatial velocity or acceleration at a frame's origin: angular `w`, linear `v`."""

    w: SX
    v: SX

    @staticmethod
    def zero() -> Twist:
        return Twist(SX.zeros(3), SX.zeros(3))

    @staticmethod
    def of(column: SX) -> Twist:
        """From a (6, 1) column."""
        return Twist(column[:3], column[3:])

    def __add__(self, other: Twist) -> Twist:
        return Twist(self.w + other.w, self.v + other.v)

    def column(self) -> SX:
        return ca.vertcat(self.w, self.v)

    @inlined
    def cross(self, other: Twist) -> Twist:
        """Rate of change of `other` caused by moving with this twist."""
        return Twist(ca.cross(self.w, other.w), ca.cross(self.w, other.v) + ca.cross(self.v, other.w))

    @inlined
    def power(self, F: Wrench) -> SX:
        return ca.dot(self.w, F.n) + ca.dot(self.v, F.f)


@dataclass(frozen=True, slots=True)
class Wrench:
    """Spatial force or momentum about a frame's origin: moment `n`, force `f`."""

    n: SX
    f: SX

    @staticmethod
    def zero() -> Wrench:
        return Wrench(SX.zeros(3), SX.zeros(3))

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(self.n + other.n, self.f + other.f)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.n - other.n, self.f - other.f)

    def __neg__(self) -> Wrench:
        return Wrench(-self.n, -self.f)

    def column(self) -> SX:
        return ca.vertcat(self.n, self.f)


@dataclass(frozen=True, slots=True)
class RigidInertia:
    """Inertia of a rigid body about a frame's origin, in that frame."""

    m: SX  # () kg
    h: SX  # (3,) kg m, mass times the position of the center of mass
    J: SX  # (3, 3) kg m^2, about the origin

    @staticmethod
    def of(mass, com, J_com) -> RigidInertia:
        """From mass, center of mass (3,) and inertia about the center of mass (3, 3), in one frame."""
        return _about_origin(SX(mass), vector(com), ca.densify(SX(J_com)))

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(self.m + other.m, self.h + other.h, self.J + other.J)

    def __mul__(self, V: Twist) -> Wrench:
        """Momentum of the body at the twist `V` (or inertial force at an acceleration)."""
        return Wrench(self.J @ V.w + ca.cross(self.h, V.v), self.m * V.v - ca.cross(self.h, V.w))

    def force(self, A: Twist, V: Twist) -> Wrench:
        """The wrench that gives the body at the twist `V` the acceleration `A`: I A + V x* (I V).

        The force is m a + w' x h + w x (w x h), the moment J w' + w x J w + h x a, with the acceleration
        a = A.v + w x v of the origin.
        """
        gyroscopic = Wrench(ca.cross(V.w, self.J @ V.w), ca.cross(V.w, ca.cross(V.w, self.h)))
        return self * Twist(A.w, A.v + ca.cross(V.w, V.v)) + gyroscopic

    def to_parent(self, X: Pose) -> RigidInertia:
        """The same inertia about A's origin, in A, where X = X_AB and this one is in B."""
        h = X.R @ self.h
        J = symmetric_product(X.R, self.J @ X.R.T)
        h_A = h + self.m * X.p
        px, hx, hAx = skew(X.p), skew(h), skew(h_A)
        # J_A = J - [p][h] - [h + m p][p]: parallel axes theorem with a nonzero first moment h
        return RigidInertia(self.m, h_A, J - symmetric_sum(px @ hx, hAx @ px))

    @inlined
    def kinetic_energy(self, V: Twist) -> SX:
        return 0.5 * V.power(self * V)


@inlined
def _about_origin(m: SX, c: SX, J_com: SX) -> RigidInertia:
    cx = skew(c)
    return RigidInertia(m, m * c, J_com + m * symmetric_product(cx, cx.T))


def symmetric_sum(A: SX, B: SX) -> SX:
    """``A + B`` (3, 3) when the sum is known to be symmetric: its upper half, mirrored."""
    return ca.triu2symm(ca.triu(A + B))


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """Symmetric 6 x 6 inertia in blocks: n = I w + H v, f = H^T w + M v (Featherstone 2008, ch. 7)."""

    I: SX
    H: SX
    M: SX

    @staticmethod
    def of(rigid: RigidInertia) -> ArticulatedInertia:
        return ArticulatedInertia(rigid.J, skew(rigid.h), rigid.m * ca.densify(SX.eye(3)))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def __mul__(self, V: Twist) -> Wrench:
        return Wrench(self.I @ V.w + self.H @ V.v, self.H.T @ V.w + self.M @ V.v)

    def to_parent(self, X: Pose) -> ArticulatedInertia:
        """The same inertia about A's origin, in A: rotate, then shift."""
        R, p = X.R, X.p
        I = symmetric_product(R, self.I @ R.T)
        M = symmetric_product(R, self.M @ R.T)
        H = R @ self.H @ R.T
        px = skew(p)
        H_A = H + px @ M
        return ArticulatedInertia(I + symmetric_sum(px @ H.T, -(H_A @ px)), H_A, M)
