"""A body on springs across its path or surface: displaced and rotated relative to the frame C that moves along it.

C moves with twist (w, s) per unit of u, in its own axes. The displacement d (3,) is given in axes D = (t, n, b), of
the path's tangent, normal and binormal, or on a surface those of C. All rates of M follow from those of C and of d
by the rules of relative motion, which takes a fraction of the operations that differentiating S would.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from sekant.geometry.pose_symbolic import CurveMotion
from sekant.geometry.spatial import SX, Pose, Twist, rotation_x, rotation_y, rotation_z, vector


@dataclass(frozen=True, slots=True)
class Displaced:
    """M displaced by d (3,) m, in D, and turned by R_CM = R_x R_y R_z of three angles, from C."""

    d: SX
    R_CM: SX
    R_CD: SX
    R_MD: SX
    axes: SX  # (3, 3) of the three turns, in M

    @staticmethod
    def by(d: SX, angles: SX, R_CD: SX) -> Displaced:
        Rz = rotation_z(angles[2])
        R_yz = rotation_y(angles[1]) @ Rz
        R = ca.densify(rotation_x(angles[0]) @ R_yz)
        axes = ca.horzcat(R_yz[0, :].T, Rz[1, :].T, vector([0.0, 0.0, 1.0]))
        return Displaced(d, R, R_CD, R.T @ R_CD, ca.densify(axes))

    def pose(self, R_FC: SX, p_FC: SX) -> Pose:
        """X_FM."""
        return Pose(R_FC @ self.R_CM, p_FC + R_FC @ (self.R_CD @ self.d))

    def column(self, w: SX, v: SX) -> SX:
        """Column (6,) of S in M for a rate that rotates C with w (3,), in C, and moves M's origin with v
        (3,), in D."""
        return ca.vertcat(self.R_CM.T @ w, self.R_MD @ v)

    @property
    def S_angles(self) -> SX:
        """The columns (6, 3) of S for the three angles, in M."""
        return ca.vertcat(self.axes, SX.zeros(3, 3))

    def bias(self, V: Twist, rates: SX, w_rate: SX, v_rate: SX) -> SX:
        """(6,) rate in M of the twist V of M, at constant rates; those of the angles are `rates` (3,).

        `w_rate` (3,) in C: of the angular velocity of C; `v_rate` (3,) in D: of the velocity of M's origin; both of
        the components in C. With R^T x = y, y' = R^T x' + y x w_CM.
        """
        first, second = self.axes[:, 0] * rates[0], self.axes[:, 1] * rates[1]
        last = vector([0, 0, rates[2]])
        after = second + last
        w_CM = first + after
        turning = ca.cross(first, after) + ca.cross(second, last)
        w = self.R_CM.T @ w_rate + ca.cross(V.w, w_CM) + turning
        return ca.vertcat(w, self.R_MD @ v_rate + ca.cross(V.v, w_CM))


class PathAxes:
    """Axes D of a path: tangent t, normal n (the reference e made perpendicular to it), binormal b = t x n.

    Along the path they turn relative to C by omega, e.g. t' = omega x t = omega_b n - omega_n b. From s = speed t,
    s' and s'' follow omega_n = -b s' / speed and omega_b = n s' / speed, and from b e = 0
    omega_t = k omega_n with k = e t / e n.
    """

    def __init__(self, along: CurveMotion, e: SX | None, y_3: SX | None = None):
        """`e` (3,) in C; None where C's own axes are t, n, b. `y_3` (3,): third derivative of the position, in F."""
        self.along, self.aligned, self.y_3 = along, e is None, y_3
        s = along.S[3:]
        self.R_CD, self.s_D = Pose.identity().R, s
        if e is not None:
            self.speed = ca.sqrt(ca.dot(s, s))
            t, side = s / self.speed, ca.cross(s, e)
            width = ca.sqrt(ca.dot(side, side))
            b, self.k = side / width, ca.dot(e, s) / width
            self.R_CD, self.s_D = ca.horzcat(t, ca.cross(b, t), b), ca.vertcat(self.speed, 0, 0)

    @cached_property
    def s_u(self) -> SX:
        """(3,) derivative of s with respect to u, in D."""
        return self.R_CD.T @ self.along.dS[3:]

    @cached_property
    def omega(self) -> SX:
        """(3,) in D, per unit of u."""
        if self.aligned:
            return SX.zeros(3)
        n, b = -self.s_u[2] / self.speed, self.s_u[1] / self.speed
        return ca.vertcat(self.k * n, n, b)

    @cached_property
    def omega_u(self) -> SX:
        """(3,) derivative of omega with respect to u, in D."""
        if self.aligned or self.y_3 is None:
            return SX.zeros(3)
        w, s, dw, ds = self.along.S[:3], self.along.S[3:], self.along.dS[:3], self.along.dS[3:]
        # s' = R^T y'' - w x s, and (R^T)' = -[w] R^T
        s_uu = self.along.R_FM.T @ self.y_3 - ca.cross(dw, s) - ca.cross(w, 2 * ds + ca.cross(w, s))
        _, second, third = ca.vertsplit(self.R_CD.T @ s_uu)
        t, n, b = ca.vertsplit(self.omega)
        twice = 2 * self.s_u[0]
        n_u = t * b - (third + twice * n) / self.speed
        b_u = (second - twice * b) / self.speed - t * n
        return ca.vertcat(self.k * n_u + n * b * (1 + self.k**2), n_u, b_u)

    @property
    def turning(self) -> SX:
        """(3,) angular velocity of D per unit of u, in D."""
        return self.R_CD.T @ self.along.S[:3] + self.omega

    def origin_rate(self, d: SX, v: SX) -> SX:
        """(3,) in D: rate of the velocity of a point displaced by d = (0, n, b), at constant rates v of (u, n, b)."""
        across = ca.vertcat(0, v[1], v[2])
        w, W = (self.R_CD.T @ self.along.S[:3]) * v[0], self.omega * v[0]
        d_rate = ca.cross(W, d) + across
        turned = self.R_CD.T @ self.along.dS[:3] + self.omega_u
        return (
            (self.s_u + ca.cross(turned, d)) * v[0] ** 2 + ca.cross(w, d_rate) + ca.cross(W, d_rate + across)
        )


class FramedAxes:
    """Axes D of a path from a separate frame along it, such as Frenet's; the same interface as `PathAxes`."""

    def __init__(self, along: CurveMotion, frame: CurveMotion):
        """Motions of C and of D, both over the parameter u of the path."""
        self.along, self.frame = along, frame
        self.R_CD = along.R_FM.T @ frame.R_FM
        self.s_D, self.turning = frame.S[3:], frame.S[:3]

    def origin_rate(self, d: SX, v: SX) -> SX:
        """(3,) in D: rate of the velocity of a point displaced by d = (0, n, b), at constant rates v of (u, n, b)."""
        across = ca.vertcat(0, v[1], v[2])
        velocity = (self.s_D + ca.cross(self.turning, d)) * v[0] + across
        omega = (self.turning - self.R_CD.T @ self.along.S[:3]) * v[0]  # of D relative to C
        own = (self.frame.dS[3:] + ca.cross(self.frame.dS[:3], d)) * v[0] ** 2
        return own + ca.cross(self.turning, across) * v[0] + ca.cross(omega, velocity)
