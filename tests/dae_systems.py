"""Systems for the tests of implicit integrators, as expressions. No mechanics of the package is used."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sekant.engine.functions.dae import DaeExpressions, build_dae
from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.solvers.dae import DaeProblem
from sekant.solvers.taylor import TaylorProblem

SX = ca.SX
NONE, ZERO = SX.zeros(0, 1), SX(0)


@dataclass(frozen=True)
class System:
    problem: DaeProblem
    q0: np.ndarray
    v0: np.ndarray


def lagrange(q, v, L, Phi=NONE, B=NONE, rayleigh=ZERO, t=None, power=NONE) -> DaeExpressions:
    """d/dt L_v - L_q + Phi_q^T lam + B_v^T mu = -rayleigh_v, with q' = v."""
    t = SX.sym("t") if t is None else t
    n, mh = q.numel(), Phi.numel()
    a, lam = SX.sym("a", n), SX.sym("lam", mh + B.numel())
    L_v = ca.gradient(L, v)
    R = ca.jtimes(L_v, v, a) + ca.jtimes(L_v, q, v) - ca.gradient(L, q) + ca.gradient(rayleigh, v)
    if lam.numel():
        R = R + ca.vertcat(ca.jacobian(Phi, q), ca.jacobian(B, v)).T @ lam
    return DaeExpressions(t=t, q=q, v=v, a=a, lam=lam, qdot=v, R=R, Phi=Phi, B=B, power=power)


def first_order(n, rates) -> DaeProblem:
    """x' = rates(t, x) as velocities without coordinates."""
    t, x, a = SX.sym("t"), SX.sym("x", n), SX.sym("a", n)
    f = rates(t, [x[i] for i in range(n)])
    e = DaeExpressions(t=t, q=NONE, v=x, a=a, lam=NONE, qdot=NONE, R=a - ca.vertcat(*f))
    return DaeProblem(build_dae("first_order", e))


def pendulum(m=1.3, g=9.81, length=0.8, angle=1.1, rate=0.0, damping=0.0, rows=None) -> System:
    """A mass on a massless rod from the origin, in Cartesian coordinates; work of the damper as quadrature.

    `angle` from the downward vertical. `rows`: the constraint written in another way.
    """
    q, v = SX.sym("q", 2), SX.sym("v", 2)
    Phi = ca.dot(q, q) - length**2
    Phi = Phi if rows is None else rows(q, Phi)
    L = 0.5 * m * ca.dot(v, v) - m * g * q[1]
    e = lagrange(q, v, L, Phi, rayleigh=0.5 * damping * ca.dot(v, v), power=-damping * ca.dot(v, v))
    q0 = length * np.array([np.sin(angle), -np.cos(angle)])
    v0 = length * rate * np.array([np.cos(angle), np.sin(angle)])
    return System(DaeProblem(build_dae("pendulum", e)), q0, v0)


def slider_crank(crank=0.4, rod=1.0, m1=0.9, m2=1.2, g=9.81, angle=np.pi / 4, rate=3.0) -> System:
    """Crank tip A and slider B on the x-axis, both bars homogeneous."""
    q, v = SX.sym("q", 3), SX.sym("v", 3)
    A, Ad, B, Bd = q[:2], v[:2], ca.vertcat(q[2], 0), ca.vertcat(v[2], 0)
    T = m1 / 6 * ca.dot(Ad, Ad) + m2 / 6 * (ca.dot(Ad, Ad) + ca.dot(Ad, Bd) + ca.dot(Bd, Bd))
    V = g / 2 * (m1 * A[1] + m2 * (A[1] + B[1]))
    Phi = ca.vertcat(ca.dot(A, A) - crank**2, ca.dot(A - B, A - B) - rod**2)
    y = crank * np.sin(angle)
    bx = crank * np.cos(angle) + np.sqrt(rod**2 - y**2)
    ad = crank * rate * np.array([-np.sin(angle), np.cos(angle)])
    bd = ad[0] - y * ad[1] / np.sqrt(rod**2 - y**2)
    q0, v0 = np.array([crank * np.cos(angle), y, bx]), np.array([*ad, bd])
    return System(DaeProblem(build_dae("slider_crank", lagrange(q, v, T - V, Phi))), q0, v0)


def governor(k=8e5, c=4e4, omega=2 * np.pi) -> System:
    """The stiff flyball governor (DERA 6.2, tables 6.24 and 6.25; z of the slider at rest is 0.5 m).

    Coordinates: A (2) on the shaft's rim, B (3) a globe, z of the slider. The other arm is the mirror image.
    """
    q, v = SX.sym("q", 6), SX.sym("v", 6)
    ms, mr, msl, mg, g, rim, rod, d0 = 0.3, 0.3, 3.0, 5.0, 9.81, 0.05, 1.0, 0.5
    A, Ad = ca.vertcat(q[0], q[1], 1.0), ca.vertcat(v[0], v[1], 0.0)
    B, Bd, z, zd = q[2:5], v[2:5], q[5], v[5]
    u2, u2d = A[:2] / rim, Ad[:2] / rim
    u3 = ca.vertcat(u2[1], -u2[0], 0.0)
    J = ms * 2e-4 / 12 + msl * 2e-2 / 12  # shaft and slider about z
    T = 0.5 * J * ca.dot(u2d, u2d) + 0.5 * msl * zd**2 + mg * ca.dot(Bd, Bd)
    T = T + 2 * mr / 6 * (ca.dot(Ad, Ad) + ca.dot(Ad, Bd) + ca.dot(Bd, Bd))
    V = g * (msl * z + 2 * mg * B[2] + mr * (A[2] + B[2]))
    D = (A + B) / 2 - ca.vertcat(rim * u2, z)
    Dd = (Ad + Bd) / 2 - ca.vertcat(rim * u2d, zd)
    length = ca.sqrt(ca.dot(D, D))
    V = V + k * (length - d0) ** 2
    Phi = ca.vertcat(ca.dot(A[:2], A[:2]) - rim**2, ca.dot(A - B, A - B) - rod**2, ca.dot(A - B, u3))
    e = lagrange(q, v, T - V, Phi, rayleigh=c * (ca.dot(D, Dd) / length) ** 2)
    beta = np.pi / 6
    reach = rim + rod * np.cos(beta)
    q0 = np.array([rim, 0.0, reach, 0.0, 1.0 - rod * np.sin(beta), 0.5])
    v0 = np.array([0.0, omega * rim, 0.0, omega * reach, 0.0, 0.0])
    return System(DaeProblem(build_dae("governor", e)), q0, v0)


def skate(slope=0.3, g=9.81, m=1.7, inertia=0.23, rate=1.9, speed=0.4) -> System:
    """A knife edge at the center of mass on an inclined plane: x, y, heading; it cannot move sideways."""
    q, v = SX.sym("q", 3), SX.sym("v", 3)
    L = 0.5 * m * (v[0] ** 2 + v[1] ** 2) + 0.5 * inertia * v[2] ** 2 + m * g * np.sin(slope) * q[0]
    B = v[0] * ca.sin(q[2]) - v[1] * ca.cos(q[2])
    problem = DaeProblem(build_dae("skate", lagrange(q, v, L, B=B)))
    return System(problem, np.zeros(3), np.array([speed, 0.0, rate]))


def top(m=0.6, g=9.81, length=0.35, transverse=0.021, axial=0.008) -> System:
    """A heavy symmetric top about a fixed point: unit quaternion and angular velocity in the body."""
    t, q, w, a = SX.sym("t"), SX.sym("q", 4), SX.sym("w", 3), SX.sym("a", 3)
    e0, e = q[0], q[1:]
    qdot = 0.5 * ca.vertcat(-ca.dot(e, w), e0 * w + ca.cross(e, w))
    down = ca.vertcat(2 * (e[0] * e[2] - e0 * e[1]), 2 * (e[1] * e[2] + e0 * e[0]), e0**2 + e[2] ** 2)
    down = ca.vertcat(down[0], down[1], down[2] - e[0] ** 2 - e[1] ** 2)
    J = ca.diag(ca.vertcat(transverse, transverse, axial))
    R = J @ a + ca.cross(w, J @ w) - ca.cross(ca.vertcat(0, 0, length), -m * g * down)
    expressions = DaeExpressions(t=t, q=q, v=w, a=a, lam=NONE, qdot=qdot, R=R, unit_blocks=((0, 4),))
    tilt = 0.45
    q0 = np.array([np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0])
    return System(DaeProblem(build_dae("top", expressions)), q0, np.array([0.3, -0.2, 37.0]))


def bricard(g=9.81) -> System:
    """Bricard's mechanism of five rods of 1 m in points and axes, 24 constraint rows of which one is redundant."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    axes = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], float)
    q, v, width = SX.sym("q", 24), SX.sym("v", 24), 0.1
    still = SX.zeros(3)
    P = [SX(points[0]), *[q[3 * i : 3 * i + 3] for i in range(4)], SX(points[5])]
    Pd = [still, *[v[3 * i : 3 * i + 3] for i in range(4)], still]
    e = [SX(axes[0]), *[q[12 + 3 * i : 15 + 3 * i] for i in range(4)], SX(axes[5])]
    ed = [still, *[v[12 + 3 * i : 15 + 3 * i] for i in range(4)], still]
    L, rows = SX(0), []
    for i in range(5):
        r, rd = P[i + 1] - P[i], Pd[i + 1] - Pd[i]
        T = ca.dot(Pd[i], Pd[i]) + ca.dot(Pd[i], rd) + ca.dot(rd, rd) / 3
        T = T + width**2 / 12 * (ca.dot(ed[i], ed[i]) + ca.dot(ed[i + 1], ed[i + 1]))
        L = L + 0.5 * T - g / 2 * (P[i][1] + P[i + 1][1])
        rows += [ca.dot(r, r) - 1, ca.dot(r, e[i]), ca.dot(r, e[i + 1]), ca.dot(e[i], e[i + 1])]
    rows += [ca.dot(e[i], e[i]) - 1 for i in range(1, 5)]
    q0 = np.concatenate([points[1:5].ravel(), axes[1:5].ravel()])
    return System(DaeProblem(build_dae("bricard", lagrange(q, v, L, ca.vertcat(*rows)))), q0, np.zeros(24))


def squeezer() -> tuple[DaeExpressions, np.ndarray, np.ndarray]:
    """Andrews' squeezing mechanism: seven bodies in three loops, driven by a constant torque, for 0.03 s.

    Data and letters of Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., section VII.7; angles
    beta, Theta, gamma, Phi, delta, Omega, epsilon. Returns the equations, q0 (7,) and v0 (7,).
    """
    q, v = SX.sym("q", 7), SX.sym("v", 7)
    beta, theta, gamma, phi, delta, omega, epsilon = (q[i] for i in range(7))
    xa, ya, xb, yb, xc, yc = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
    d, da, e, ea, rr, ra, l0 = 28e-3, 115e-4, 2e-2, 1421e-5, 7e-3, 92e-5, 7785e-5
    ss, sa, sb, sc, sd, ta, tb = 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2, 2308e-5, 916e-5
    u, ua, ub, zf, zt, fa, c0, torque = 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5, 4530.0, 0.033

    def turned(x, y, angle):
        return ca.vertcat(x * ca.cos(angle) - y * ca.sin(angle), x * ca.sin(angle) + y * ca.cos(angle))

    A, B, C = SX([xa, ya]), SX([xb, yb]), SX([xc, yc])
    elbow = turned(rr, 0, beta) - turned(d, 0, beta + theta)
    bodies = [  # mass, inertia, center of mass, angle
        (0.04325, 2.194e-6, turned(ra, 0, beta), beta),
        (0.00365, 4.410e-7, turned(rr, 0, beta) - turned(da, 0, beta + theta), beta + theta),
        (0.02373, 5.255e-6, B + turned(sb, -sa, gamma), gamma),
        (0.00706, 5.667e-7, A + turned(zt, 0, delta) + turned(0, ea - e, phi + delta), phi + delta),
        (0.07050, 1.169e-5, A + turned(ta, tb, delta), delta),
        (
            0.00706,
            5.667e-7,
            A + turned(0, -u, epsilon) + turned(zf - fa, 0, omega + epsilon),
            omega + epsilon,
        ),
        (0.05498, 1.912e-5, A + turned(-ub, -ua, epsilon), epsilon),
    ]
    T = SX(0)
    for mass, inertia, center, angle in bodies:
        speed = ca.jtimes(center, q, v)
        T = T + 0.5 * mass * ca.dot(speed, speed) + 0.5 * inertia * ca.jtimes(angle, q, v) ** 2
    V = 0.5 * c0 * (ca.norm_2(B + turned(sd, -sc, gamma) - C) - l0) ** 2 - torque * beta
    Phi = ca.vertcat(
        elbow - B + turned(0, ss, gamma),
        elbow - A + turned(0, e, phi + delta) - turned(zt, 0, delta),
        elbow - A - turned(zf, 0, omega + epsilon) + turned(0, u, epsilon),
    )
    q0 = [
        -0.0617138900142764496,
        0.0,
        0.455279819163070380,
        0.222668390165885884,
        0.487364979543842550,
        -0.222668390165885884,
        1.23054744454982119,
    ]
    return lagrange(q, v, T - V, Phi), np.array(q0), np.zeros(7)


def series_of(e: DaeExpressions) -> TaylorProblem:
    """The same system for the integrator by Taylor series, which shares nothing with the implicit ones."""
    residual = ca.substitute(e.R, e.lam, SX.zeros(e.lam.numel()))
    tape = taylor_tape(q=e.q, v=e.v, a=e.a, t=e.t, rates=e.qdot, residual=residual, positions=e.Phi)
    return TaylorProblem(tape)
