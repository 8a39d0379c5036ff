"""Mechanisms of points, as expressions: Lagrangian, constraints, start (DERA chapters 5 and 6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np

from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.solvers.taylor import TaylorProblem

GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class PointMechanism:
    """L(q, v), C(q) = 0 and a consistent start. `energy(q, v)`: T + V in J."""

    q: ca.SX
    v: ca.SX
    L: ca.SX
    C: ca.SX
    q0: np.ndarray
    v0: np.ndarray

    @property
    def n(self) -> int:
        return self.q.numel()

    def problem(self, constraints: ca.SX | None = None) -> TaylorProblem:
        a = ca.SX.sym("a", self.n)
        momentum = ca.gradient(self.L, self.v)
        rate = ca.jtimes(momentum, self.v, a) + ca.jtimes(momentum, self.q, self.v)
        residual = rate - ca.gradient(self.L, self.q)
        C = self.C if constraints is None else constraints
        return TaylorProblem(taylor_tape(q=self.q, v=self.v, a=a, residual=residual, positions=C))

    def energy(self, x: np.ndarray) -> float:
        E = ca.dot(self.v, ca.gradient(self.L, self.v)) - self.L
        return float(ca.Function("E", [self.q, self.v], [E])(x[: self.n], x[self.n :]))

    def residuals(self, x: np.ndarray) -> tuple[float, float]:
        """Largest |C| and |dC/dt|."""
        rate = ca.jtimes(self.C, self.q, self.v)
        c, d = ca.Function("C", [self.q, self.v], [self.C, rate])(x[: self.n], x[self.n :])
        return float(ca.norm_inf(c)), float(ca.norm_inf(d))


def pendulum(length: float = 1.3, mass: float = 0.7, angle: float = 2.0) -> PointMechanism:
    """A point on a circle, released at rest at an angle from the lowest position."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    L = 0.5 * mass * ca.dot(v, v) - mass * GRAVITY * q[1]
    q0 = np.array([length * np.sin(angle), -length * np.cos(angle)])
    return PointMechanism(q, v, L, ca.dot(q, q) - length**2, q0, np.zeros(2))


def double_pendulum() -> PointMechanism:
    """Two points; lengths 1.1 and 0.6 m, masses 0.9 and 0.4 kg; angles 1.9 and -0.7 rad, at rest."""
    q, v = ca.SX.sym("q", 4), ca.SX.sym("v", 4)
    L = 0.5 * (0.9 * ca.dot(v[:2], v[:2]) + 0.4 * ca.dot(v[2:], v[2:])) - GRAVITY * (0.9 * q[1] + 0.4 * q[3])
    C = ca.vertcat(ca.dot(q[:2], q[:2]) - 1.1**2, ca.dot(q[2:] - q[:2], q[2:] - q[:2]) - 0.6**2)
    first = 1.1 * np.array([np.sin(1.9), -np.cos(1.9)])
    second = first + 0.6 * np.array([np.sin(-0.7), -np.cos(-0.7)])
    return PointMechanism(q, v, L, C, np.r_[first, second], np.zeros(4))


@cache
def slider_crank() -> PointMechanism:
    """DERA 5.2: rods of 0.4 and 1 m, 1 kg each, slider without mass, started at -4 m/s at 45 degrees."""
    q, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    A, dA = q[:2], v[:2]
    B, dB = ca.vertcat(q[2], 0), ca.vertcat(v[2], 0)
    T = ca.dot(dA, dA) / 6 + (ca.dot(dA, dA) + ca.dot(dA, dB) + ca.dot(dB, dB)) / 6
    L = T - GRAVITY / 2 * (A[1] + A[1] + B[1])
    C = ca.vertcat(ca.dot(A, A) - 0.16, ca.dot(A - B, A - B) - 1)
    c = 0.4 * np.cos(np.pi / 4)
    reach = np.sqrt(1 - c * c)
    rate = 4 / (c + c * c / reach)
    return PointMechanism(q, v, L, C, np.array([c, c, c + reach]), np.array([-c * rate, c * rate, -4.0]))


@cache
def four_bars(N: int) -> PointMechanism:
    """N-four-bar mechanism: N + 1 cranks and N couplers of 1 m and 1 kg, upright, tips started at 1 m/s."""
    n = 2 * (N + 1)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    P = [q[2 * i : 2 * i + 2] for i in range(N + 1)]
    V = [v[2 * i : 2 * i + 2] for i in range(N + 1)]
    L, C = ca.SX(0), []
    for i in range(N + 1):
        L += ca.dot(V[i], V[i]) / 6 - GRAVITY / 2 * P[i][1]
        arm = P[i] - ca.DM([i, 0])
        C.append(ca.dot(arm, arm) - 1)
    for i in range(N):
        T = (ca.dot(V[i], V[i]) + ca.dot(V[i], V[i + 1]) + ca.dot(V[i + 1], V[i + 1])) / 6
        L += T - GRAVITY / 2 * (P[i][1] + P[i + 1][1])
        C.append(ca.dot(P[i + 1] - P[i], P[i + 1] - P[i]) - 1)
    q0 = np.ravel([[i, 1.0] for i in range(N + 1)])
    return PointMechanism(q, v, L, ca.vertcat(*C), q0, np.ravel([[1.0, 0.0]] * (N + 1)))


def four_bars_angle(N: int, t: float) -> float:
    """Angle of the cranks from upright: all move as one pendulum as long as the cells stay parallelograms."""
    from scipy.integrate import solve_ivp

    inertia = (N + 1) / 3 + N
    torque = GRAVITY * ((N + 1) / 2 + N)
    found = solve_ivp(
        lambda _, y: [y[1], torque / inertia * np.sin(y[0])],
        (0, t),
        [0.0, 1.0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    return float(found.y[0, -1])


@cache
def bricard() -> PointMechanism:
    """DERA 6.1: five rods of 1 m and 1 kg, six hinges at right angles, all 24 equations, gravity along -y.

    The joint axes are coordinates too, with a little inertia of their own.
    """
    points = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
    axes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], float)
    q, v = ca.SX.sym("q", 24), ca.SX.sym("v", 24)

    def chain(x: ca.SX, offset: int, ends: np.ndarray) -> list[ca.SX]:
        inner = [x[offset + 3 * i : offset + 3 * i + 3] for i in range(4)]
        return [ca.SX(ca.DM(ends[0])), *inner, ca.SX(ca.DM(ends[1]))]

    P, V = chain(q, 0, points[[0, 5]]), chain(v, 0, np.zeros((2, 3)))
    e, de = chain(q, 12, axes[[0, 5]]), chain(v, 12, np.zeros((2, 3)))
    L, C = ca.SX(0), []
    for i in range(5):
        r, dr = P[i + 1] - P[i], V[i + 1] - V[i]
        T = ca.dot(V[i], V[i]) + ca.dot(V[i], dr) + ca.dot(dr, dr) / 3
        T += 0.01 / 12 * (ca.dot(de[i], de[i]) + ca.dot(de[i + 1], de[i + 1]))
        L += 0.5 * T - GRAVITY / 2 * (P[i][1] + P[i + 1][1])
        C += [ca.dot(r, r) - 1, ca.dot(r, e[i]), ca.dot(r, e[i + 1]), ca.dot(e[i], e[i + 1])]
    C += [ca.dot(e[i], e[i]) - 1 for i in range(1, 5)]
    q0 = np.r_[points[1:5].ravel(), axes[1:5].ravel()]
    return PointMechanism(q, v, L, ca.vertcat(*C), q0, np.zeros(24))
