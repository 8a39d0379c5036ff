"""The Taylor integrator against closed forms and independent integrations."""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from point_mechanisms import (
    GRAVITY,
    bricard,
    double_pendulum,
    four_bars,
    four_bars_angle,
    pendulum,
    slider_crank,
)
from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.solvers.linear.rank import redundant_rows
from sekant.solvers.taylor import TaylorProblem, integrate
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table


def ode(f, n: int) -> TaylorProblem:
    x, a, t = ca.SX.sym("x", n), ca.SX.sym("a", n), ca.SX.sym("t")
    return TaylorProblem(taylor_tape(v=x, a=a, t=t, residual=a - f(x, t)))


def test_dense_output_of_an_oscillator() -> None:
    times = np.linspace(0.0, 30.0, 301)
    found = integrate(ode(lambda x, t: ca.vertcat(x[1], -x[0]), 2), times, [], [1.0, 0.0], rtol=1e-12)
    np.testing.assert_allclose(found.x[:, 0], np.cos(times), atol=2e-13)
    np.testing.assert_allclose(found.a[:, 1], -np.cos(times), atol=2e-13)
    assert found.stats["steps"] < 40


def test_equation_with_explicit_time_and_gaps_in_its_series() -> None:
    """x' = 4 t^3 x: the series at 0 has every fourth coefficient only."""
    found = integrate(ode(lambda x, t: 4 * t**3 * x, 1), [0.0, 0.7, 1.6], [], [0.8], rtol=1e-12)
    np.testing.assert_allclose(found.x[:, 0], 0.8 * np.exp(np.array([0.0, 0.7, 1.6]) ** 4), rtol=1e-11)


def test_orbit_of_kepler_after_ten_rounds() -> None:
    def force(x, t):
        r = ca.hypot(x[0], x[1])
        return ca.vertcat(x[2], x[3], -x[0] / r**3, -x[1] / r**3)

    e = 0.6
    start = [1 - e, 0.0, 0.0, np.sqrt((1 + e) / (1 - e))]
    errors = []
    for tol in (1e-6, 1e-9, 1e-12):
        found = integrate(ode(force, 4), [0.0, 20 * np.pi], [], start, rtol=tol)
        errors.append(np.abs(found.x[-1] - start).max())
    assert errors[0] < 1e-2
    assert errors[1] < 1e-5
    assert errors[2] < 1e-9


def pendulum_angle(t: np.ndarray, length: float, amplitude: float) -> np.ndarray:
    """sin(theta/2) = k cd(w t), k = sin(amplitude/2), released at rest."""
    k, w = np.sin(amplitude / 2), np.sqrt(GRAVITY / length)
    sn, _, _, _ = ellipj(w * t + ellipk(k**2), k**2)
    return 2 * np.arcsin(k * sn)


def test_cartesian_pendulum_follows_the_elliptic_function() -> None:
    m = pendulum(length=1.3, mass=0.7, angle=2.0)
    times = np.linspace(0.0, 10.0, 101)
    theta = pendulum_angle(times, 1.3, 2.0)
    found = integrate(m.problem(), times, m.q0, m.v0, rtol=1e-12)
    np.testing.assert_allclose(found.x[:, 0], 1.3 * np.sin(theta), atol=2e-11)
    np.testing.assert_allclose(found.x[:, 1], -1.3 * np.cos(theta), atol=2e-11)
    # m l theta'^2 + m g cos(theta) is the force in the rod, and 2 l lam that of the constraint q.q - l^2.
    square = 2 * GRAVITY / 1.3 * (np.cos(theta) - np.cos(2.0))
    rod = 0.7 * (1.3 * square + GRAVITY * np.cos(theta))
    np.testing.assert_allclose(2 * 1.3 * found.lam[:, 0], rod, atol=1e-9)


def test_error_falls_with_the_tolerance_to_round_off() -> None:
    m = pendulum(length=1.3, mass=0.7, angle=2.0)
    theta = float(pendulum_angle(np.array([7.0]), 1.3, 2.0)[0])
    errors = []
    for tol in (1e-3, 1e-5, 1e-7, 1e-9):
        found = integrate(m.problem(), [0.0, 7.0], m.q0, m.v0, rtol=tol)
        errors.append(np.hypot(found.x[-1, 0] - 1.3 * np.sin(theta), found.x[-1, 1] + 1.3 * np.cos(theta)))
        assert max(m.residuals(found.x[-1])) < 1e-12
    assert errors[0] < 1e-4
    assert all(fine < 0.1 * coarse for coarse, fine in pairwise(errors))
    assert errors[-1] < 1e-11


def test_double_pendulum_equals_its_equations_in_angles() -> None:
    m = double_pendulum()
    l1, l2, m1, m2 = 1.1, 0.6, 0.9, 0.4

    def rhs(t, y):
        a, b, wa, wb = y
        c, s = np.cos(a - b), np.sin(a - b)
        M = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2 * c], [m2 * l1 * l2 * c, m2 * l2**2]])
        f = [
            -m2 * l1 * l2 * s * wb**2 - (m1 + m2) * GRAVITY * l1 * np.sin(a),
            m2 * l1 * l2 * s * wa**2 - m2 * GRAVITY * l2 * np.sin(b),
        ]
        return [wa, wb, *np.linalg.solve(M, f)]

    y = solve_ivp(rhs, (0, 3.0), [1.9, -0.7, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    tip = [l1 * np.sin(y[0]) + l2 * np.sin(y[1]), -l1 * np.cos(y[0]) - l2 * np.cos(y[1])]
    found = integrate(m.problem(), [0.0, 3.0], m.q0, m.v0, rtol=1e-12)
    np.testing.assert_allclose(found.x[-1, 2:4], tip, atol=1e-9)


def test_slider_crank_keeps_energy_and_constraints() -> None:
    m = slider_crank()
    times = np.linspace(0.0, 10.0, 41)
    end = []
    for tol in (1e-6, 1e-9, 1e-12):
        found = integrate(m.problem(), times, m.q0, m.v0, rtol=tol)
        residuals = np.array([m.residuals(x) for x in found.x])
        assert residuals[:, 0].max() <= 1e-10
        assert residuals[:, 1].max() <= 1e-9
        end.append(found.x[-1])
    drift = abs(m.energy(end[-1]) - m.energy(np.r_[m.q0, m.v0]))
    assert drift < 1e-10
    assert np.abs(end[1] - end[2]).max() < 1e-5
    # The reduced equation in the crank angle.
    th = ca.SX.sym("th")
    w = ca.SX.sym("w")
    A = 0.4 * ca.vertcat(ca.cos(th), ca.sin(th))
    q = ca.vertcat(A, A[0] + ca.sqrt(1 - A[1] ** 2))
    L = ca.substitute(m.L, ca.vertcat(m.q, m.v), ca.vertcat(q, ca.jacobian(q, th) * w))
    p = ca.jacobian(L, w)
    acceleration = (ca.jacobian(L, th) - ca.jacobian(p, th) * w) / ca.jacobian(p, w)
    f = ca.Function("f", [th, w], [acceleration])
    start = [np.pi / 4, m.v0[1] / (0.4 * np.cos(np.pi / 4))]
    y = solve_ivp(
        lambda t, y: [y[1], float(f(y[0], y[1]))], (0, 2.0), start, method="DOP853", rtol=1e-13, atol=1e-12
    )
    short = integrate(m.problem(), [0.0, 2.0], m.q0, m.v0, rtol=1e-12)
    angle = y.y[0, -1]
    np.testing.assert_allclose(short.x[-1, :2], 0.4 * np.array([np.cos(angle), np.sin(angle)]), atol=1e-9)


def test_bricard_runs_with_all_its_equations() -> None:
    m = bricard()
    times = np.linspace(0.0, 10.0, 21)
    found = integrate(m.problem(), times, m.q0, m.v0, rtol=1e-11)
    assert found.status == "finished"
    energies = [m.energy(x) for x in found.x]
    assert np.ptp(energies) < 1e-9
    residuals = np.array([m.residuals(x) for x in found.x])
    assert residuals[:, 0].max() <= 1e-10
    assert residuals[:, 1].max() <= 1e-9
    moved = np.linalg.norm(found.x[:, 3:6] - m.q0[3:6], axis=1)
    assert moved.max() > 1.0
    G = np.array(ca.Function("G", [m.q], [ca.jacobian(m.C, m.q)])(found.x[7, :24]))
    redundancy = redundant_rows(G)
    assert redundancy.rank == 23
    # Multipliers of minimum norm have no part in the null space of the transposed matrix.
    null = np.linalg.svd(G)[0][:, 23]
    assert abs(found.lam[7] @ null) < 1e-5 * np.linalg.norm(found.lam[7])


@pytest.mark.parametrize(("N", "until"), [(2, 20.0), (40, 10.0)])
def test_four_bars_pass_the_flat_position_on_their_branch(N: int, until: float) -> None:
    m = four_bars(N)
    angle = four_bars_angle(N, until)
    found = integrate(m.problem(), np.linspace(0.0, until, 21), m.q0, m.v0, rtol=1e-10)
    assert found.status == "finished"
    points = found.x[-1, : 2 * N + 2].reshape(-1, 2)
    expected = np.array([[i + np.sin(angle), np.cos(angle)] for i in range(N + 1)])
    np.testing.assert_allclose(points, expected, atol=1e-7)
    assert abs(m.energy(found.x[-1]) - m.energy(found.x[0])) < 1e-6
    residuals = np.array([m.residuals(x) for x in found.x])
    assert residuals[:, 0].max() <= 1e-10
    assert residuals[:, 1].max() <= 1e-9


@pytest.mark.parametrize("tol", [1e-6, 1e-8, 1e-10, 1e-12])
def test_four_bars_from_many_starts(tol: float) -> None:
    """The flat position is hit with ever other steps: none may leave the branch."""
    m = four_bars(2)
    problem = m.problem()
    for speed in np.linspace(0.6, 2.9, 7):
        found = integrate(problem, [0.0, 4.0], m.q0, speed * m.v0, rtol=tol, reactions=False)
        assert found.status == "finished"
        x = found.x[-1, :6].reshape(3, 2)
        np.testing.assert_allclose(np.diff(x, axis=0), [[1.0, 0.0]] * 2, atol=1e3 * tol + 1e-9)


def test_doubled_constraints_change_nothing_but_share_the_multipliers() -> None:
    m = slider_crank()
    times = [0.0, 0.4, 0.9]
    single = integrate(m.problem(), times, m.q0, m.v0, rtol=1e-11)
    doubled = integrate(m.problem(ca.vertcat(m.C, m.C[0], 2 * m.C[1])), times, m.q0, m.v0, rtol=1e-11)
    np.testing.assert_allclose(doubled.x, single.x, atol=1e-9)
    np.testing.assert_allclose(doubled.lam[:, [0, 2]], single.lam[:, [0, 0]] / 2, atol=1e-5)
    np.testing.assert_allclose(doubled.lam[:, [1, 3]], single.lam[:, [1, 1]] * [0.2, 0.4], atol=1e-5)


def test_unit_quaternion_of_a_free_top() -> None:
    """Free rotation, I = diag(0.3, 0.7, 0.9): angular momentum in space and energy stay."""
    q, w, a = ca.SX.sym("q", 4), ca.SX.sym("w", 3), ca.SX.sym("a", 3)
    inertia = ca.DM([0.3, 0.7, 0.9])
    rates = 0.5 * ca.vertcat(-ca.dot(q[1:], w), q[0] * w + ca.cross(q[1:], w))
    residual = inertia * a + ca.cross(w, inertia * w)
    problem = TaylorProblem(taylor_tape(q=q, v=w, a=a, residual=residual, rates=rates), unit_blocks=[(0, 4)])
    start = np.array([0.5, -0.1, 0.7, 0.3])
    start /= np.linalg.norm(start)
    found = integrate(problem, np.linspace(0.0, 20.0, 9), start, [0.4, 2.1, -0.3], rtol=1e-12)

    def momentum(x):
        s, u, h = x[0], x[1:4], np.array([0.3, 0.7, 0.9]) * x[4:]
        return h + 2 * np.cross(u, np.cross(u, h) + s * h)

    H = np.array([momentum(x) for x in found.x])
    np.testing.assert_allclose(H, np.tile(H[0], (9, 1)), atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(found.x[:, :4], axis=1), 1.0, atol=1e-15)
    assert np.ptp(found.x[:, 4:], axis=0).min() > 0.1


def test_closed_loop_in_quaternion_coordinates() -> None:
    """A heavy top with its tip held by a position constraint equals the top that turns about a fixed point."""
    q, v, a = ca.SX.sym("q", 7), ca.SX.sym("v", 6), ca.SX.sym("a", 6)
    s, u, r = q[0], q[1:4], q[4:]
    inertia = ca.DM([0.3, 0.7, 0.9])
    mass, arm = 1.7, ca.DM([0.1, -0.2, -0.5])
    rates = ca.vertcat(0.5 * ca.vertcat(-ca.dot(u, v[:3]), s * v[:3] + ca.cross(u, v[:3])), v[3:])
    residual = ca.vertcat(
        inertia * a[:3] + ca.cross(v[:3], inertia * v[:3]), mass * (a[3:] + ca.DM([0, 0, GRAVITY]))
    )

    def turned(x):
        return x + 2 * ca.cross(u, ca.cross(u, x) + s * x)

    tip = r + turned(arm)
    problem = TaylorProblem(
        taylor_tape(q=q, v=v, a=a, residual=residual, rates=rates, positions=tip), unit_blocks=[(0, 4)]
    )
    w0 = np.array([0.5, -0.3, 4.0])
    q0 = np.r_[1.0, 0.0, 0.0, 0.0, -np.array(arm).ravel()]
    v0 = np.r_[w0, np.cross(w0, -np.array(arm).ravel())]
    loop = integrate(problem, [0.0, 2.0], q0, v0, rtol=1e-12)

    f, w, b = ca.SX.sym("f", 4), ca.SX.sym("w", 3), ca.SX.sym("b", 3)
    c = -arm
    fixed = ca.diag(inertia) + mass * (ca.dot(c, c) * ca.DM.eye(3) - c @ c.T)
    down = ca.DM([0, 0, -mass * GRAVITY])
    body_down = down + 2 * ca.cross(-f[1:], ca.cross(-f[1:], down) + f[0] * down)
    moment = ca.cross(c, body_down)
    top = TaylorProblem(
        taylor_tape(
            q=f,
            v=w,
            a=b,
            residual=fixed @ b + ca.cross(w, fixed @ w) - moment,
            rates=0.5 * ca.vertcat(-ca.dot(f[1:], w), f[0] * w + ca.cross(f[1:], w)),
        ),
        unit_blocks=[(0, 4)],
    )
    free = integrate(top, [0.0, 2.0], [1.0, 0, 0, 0], w0, rtol=1e-12)
    np.testing.assert_allclose(loop.x[-1, :4], free.x[-1, :4], atol=1e-10)
    np.testing.assert_allclose(loop.x[-1, 7:10], free.x[-1, 4:], atol=1e-9)


def test_skate_with_a_velocity_constraint() -> None:
    """Knife edge on a plane without forces: it runs on a circle (x, y, angle; no velocity across the blade)."""
    q, v, a = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("a", 3)
    across = -ca.sin(q[2]) * v[0] + ca.cos(q[2]) * v[1]
    residual = ca.DM([1.3, 1.3, 0.4]) * a
    problem = TaylorProblem(taylor_tape(q=q, v=v, a=a, residual=residual, velocities=across))
    speed, turn = 2.0, 0.7
    times = np.linspace(0.0, 12.0, 25)
    found = integrate(
        problem, times, [0.0, 0.0, 0.2], [speed * np.cos(0.2), speed * np.sin(0.2), turn], rtol=1e-12
    )
    angle = 0.2 + turn * times
    np.testing.assert_allclose(found.x[:, 2], angle, atol=1e-11)
    np.testing.assert_allclose(found.x[:, 0], speed / turn * (np.sin(angle) - np.sin(0.2)), atol=1e-11)
    np.testing.assert_allclose(found.x[:, 1], speed / turn * (np.cos(0.2) - np.cos(angle)), atol=1e-11)
    np.testing.assert_allclose(found.lam[:, 0], -1.3 * speed * turn, atol=1e-9)


def test_driven_point_and_its_force() -> None:
    """x = 0.3 sin(2 t) is prescribed; the multiplier is minus the force that this takes."""
    q, v, a, t = ca.SX.sym("q"), ca.SX.sym("v"), ca.SX.sym("a"), ca.SX.sym("t")
    problem = TaylorProblem(
        taylor_tape(q=q, v=v, a=a, t=t, residual=1.9 * a + 5.0 * q, positions=q - 0.3 * ca.sin(2 * t))
    )
    times = np.linspace(0.0, 5.0, 11)
    found = integrate(problem, times, [0.0], [0.6], rtol=1e-10)
    np.testing.assert_allclose(found.x[:, 0], 0.3 * np.sin(2 * times), atol=1e-12)
    np.testing.assert_allclose(found.lam[:, 0], (4 * 1.9 - 5.0) * 0.3 * np.sin(2 * times), atol=1e-9)


def test_point_on_a_tabulated_curve_equals_the_exact_curve() -> None:
    """A bead on y = Table(x), a parabola in three pieces: knots are passed without loss."""
    breaks = np.array([-2.0, -0.3, 0.4, 2.0])
    pieces = np.array([[[0.5 * b**2, b, 0.5]] for b in breaks[:-1]])
    table = Table(breaks, pieces)
    q, v, a = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("a", 2)
    residual = a + ca.vertcat(0, GRAVITY)
    lookups = Lookups()
    tabulated = TaylorProblem(
        taylor_tape(q=q, v=v, a=a, residual=residual, positions=q[1] - lookups(table, q[0]), lookups=lookups)
    )
    exact = TaylorProblem(taylor_tape(q=q, v=v, a=a, residual=residual, positions=q[1] - 0.5 * q[0] ** 2))
    times = np.linspace(0.0, 6.0, 7)
    one, two = (integrate(p, times, [1.2, 0.72], [0.0, 0.0], rtol=1e-12) for p in (tabulated, exact))
    np.testing.assert_allclose(one.x, two.x, atol=1e-9)
    assert one.stats["restarts"] > 5
