"""Mechanisms by implicit integrators against independent routes: minimal coordinates, conserved quantities."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dae_systems import SX, bricard, governor, lagrange, pendulum, slider_crank
from sekant.engine.functions.dae import build_dae
from sekant.solvers.dae import DaeProblem, integrate_dae, stiffness


def minimal(L, rayleigh, q, v, q0, v0, times):
    """Motion (n, 2k) of a system in minimal coordinates by SciPy's Radau."""
    L_v = ca.gradient(L, v)
    force = ca.gradient(L, q) - ca.jtimes(L_v, q, v) - ca.gradient(rayleigh, v)
    rates = ca.vertcat(v, ca.solve(ca.jacobian(L_v, v), force))
    x = ca.vertcat(q, v)
    f = ca.Function("f", [x], [rates])
    jacobian = ca.Function("j", [x], [ca.densify(ca.jacobian(rates, x))])
    solution = solve_ivp(
        lambda t, y: np.array(f(y)).ravel(),
        (times[0], times[-1]),
        np.concatenate([q0, v0]),
        method="Radau",
        jac=lambda t, y: np.array(jacobian(y)),
        t_eval=times,
        rtol=1e-10,
        atol=1e-11,
    )
    return solution.y.T


def governor_by_angles(times, k=8e5, c=4e4, omega=2 * np.pi):
    """Coordinates of `governor` from the shaft's angle, the rod's depression and the slider's height."""
    q, v = SX.sym("q", 3), SX.sym("v", 3)
    ms, mr, msl, mg, g, rim, rod, d0 = 0.3, 0.3, 3.0, 5.0, 9.81, 0.05, 1.0, 0.5

    def place(reach, depth):
        return ca.vertcat(reach * ca.cos(q[0]), reach * ca.sin(q[0]), 1.0 - depth)

    A = place(rim, 0.0)
    B = place(rim + rod * ca.cos(q[1]), rod * ca.sin(q[1]))
    middle = (A + B) / 2
    F = ca.vertcat(rim * ca.cos(q[0]), rim * ca.sin(q[0]), q[2])
    Bd, Md, Fd = (ca.jtimes(P, q, v) for P in (B, middle, F))
    J = ms * 2e-4 / 12 + msl * 2e-2 / 12
    turn = rod**2 / 12 * (v[1] ** 2 + (ca.cos(q[1]) * v[0]) ** 2)
    T = 0.5 * J * v[0] ** 2 + mr * (ca.dot(Md, Md) + turn) + 0.5 * msl * v[2] ** 2 + mg * ca.dot(Bd, Bd)
    D = middle - F
    length = ca.sqrt(ca.dot(D, D))
    V = g * (2 * mr * middle[2] + msl * q[2] + 2 * mg * B[2]) + k * (length - d0) ** 2
    rayleigh = c * (ca.dot(D, Md - Fd) / length) ** 2
    start = np.array([0.0, np.pi / 6, 0.5])
    motion = minimal(T - V, rayleigh, q, v, start, np.array([omega, 0.0, 0.0]), times)
    places = ca.Function("places", [q], [ca.vertcat(A[:2], B, q[2])])
    return np.array([np.array(places(row[:3])).ravel() for row in motion])


def test_the_stiff_governor():
    times = np.linspace(0.0, 2.0, 41)
    system = governor()
    expected = governor_by_angles(times)
    errors = []
    for tolerance in (1e-6, 1e-8):
        outcome = integrate_dae(system.problem, times, system.q0, system.v0, rtol=tolerance, atol=tolerance)
        assert outcome.status == "finished"
        assert max(outcome.start_moved) < 1e-12
        assert outcome.largest_residuals[0] <= 1e-10
        assert outcome.largest_residuals[1] <= 1e-9
        errors.append(np.abs(outcome.x[:, :6] - expected).max())
    assert errors[0] < 1e-4
    assert errors[1] < 1e-6
    B, Bd = outcome.x[:, 2:5], outcome.x[:, 8:11]
    assert np.ptp(B[:, 2]) > 0.1
    A, Ad = outcome.x[:, :2], outcome.x[:, 6:8]
    shares = (
        (10.0 + 0.2) * _cross(B, Bd)
        + 0.2 * _cross(A, Ad)
        + 0.1 * (_cross(A, Bd) + _cross(B, Ad))
        + (0.3 * 2e-4 + 3.0 * 2e-2) / 12 * _cross(A, Ad) / 0.05**2
    )
    assert np.abs(shares / shares[0] - 1).max() < 1e-7


def _cross(a, b):
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def test_multipliers_of_a_stiff_system():
    """Multipliers at outputs between the steps agree with those of a run at a tighter tolerance."""
    system, times = governor(), np.linspace(0.0, 1.0, 21)
    rough, fine = (
        integrate_dae(system.problem, times, system.q0, system.v0, rtol=tol, atol=tol)
        for tol in (1e-8, 1e-10)
    )
    assert np.abs(rough.lam - fine.lam).max() < 1e-3 * np.abs(fine.lam).max()


@pytest.mark.parametrize(
    ("options", "bound"),
    [({"rtol": 1e-9, "atol": 1e-9}, 1e-7), ({"method": "generalized_alpha", "step": 5e-4}, 2e-3)],
)
def test_slider_crank_against_the_crank_angle(options, bound):
    crank, rod, m1, m2, g = 0.4, 1.0, 0.9, 1.2, 9.81
    system = slider_crank(crank, rod, m1, m2, g)
    times = np.linspace(0.0, 3.0, 31)
    q, v = SX.sym("q"), SX.sym("v")
    A = crank * ca.vertcat(ca.cos(q), ca.sin(q))
    B = ca.vertcat(A[0] + ca.sqrt(rod**2 - A[1] ** 2), 0)
    Ad, Bd = ca.jtimes(A, q, v), ca.jtimes(B, q, v)
    T = m1 / 6 * ca.dot(Ad, Ad) + m2 / 6 * (ca.dot(Ad, Ad) + ca.dot(Ad, Bd) + ca.dot(Bd, Bd))
    V = g / 2 * (m1 + m2) * A[1]
    angles = minimal(T - V, SX(0), q, v, np.array([np.pi / 4]), np.array([3.0]), times)
    place = ca.Function("place", [q], [ca.vertcat(A, B[0])])
    expected = np.array([np.array(place(row[0])).ravel() for row in angles])
    outcome = integrate_dae(system.problem, times, system.q0, system.v0, **options)
    assert np.ptp(angles[:, 0]) > 3.0
    assert np.abs(outcome.x[:, :3] - expected).max() < bound


@pytest.mark.parametrize(
    "options", [{"rtol": 1e-8, "atol": 1e-8}, {"method": "generalized_alpha", "step": 2e-3}]
)
def test_redundant_rows_change_nothing_but_the_multipliers(options):
    times = np.linspace(0.0, 3.0, 13)
    one = pendulum()
    plain = integrate_dae(one.problem, times, one.q0, one.v0, **options)
    two = pendulum(rows=lambda q, Phi: ca.vertcat(Phi, -2 * Phi, 0.5 * Phi))
    twice = integrate_dae(two.problem, times, two.q0, two.v0, **options)
    assert twice.status == "finished"
    assert np.abs(twice.x - plain.x).max() < 1e-6
    weights = np.array([1.0, -2.0, 0.5])
    assert twice.lam @ weights == pytest.approx(plain.lam[:, 0], abs=1e-4)
    least = plain.lam * weights / (weights @ weights)
    assert np.abs(twice.lam - least).max() < 1e-4


def test_bricard_with_all_its_rows():
    system = bricard()
    times = np.linspace(0.0, 5.0, 26)
    outcome = integrate_dae(system.problem, times, system.q0, system.v0, rtol=1e-8, atol=1e-8)
    assert outcome.status == "finished"
    energy = _bricard_energy(outcome.x)
    assert np.ptp(outcome.x[:, :12], axis=0).max() > 0.9
    assert np.abs(energy - energy[0]).max() < 1e-5
    assert outcome.largest_residuals[0] <= 1e-10
    assert outcome.largest_residuals[1] <= 1e-9
    assert np.abs(outcome.lam).max() < 1e3
    assert outcome.stats["rejected"] < 0.1 * outcome.stats["steps"]


def _bricard_energy(x):
    points = np.zeros((x.shape[0], 6, 3))
    points[:, 5, 2] = 1.0
    points[:, 1:5] = x[:, :12].reshape(-1, 4, 3)
    axes, speeds, turns = (np.zeros_like(points) for _ in range(3))
    axes[:, 1:5] = x[:, 12:24].reshape(-1, 4, 3)
    speeds[:, 1:5] = x[:, 24:36].reshape(-1, 4, 3)
    turns[:, 1:5] = x[:, 36:48].reshape(-1, 4, 3)
    energy = np.zeros(x.shape[0])
    for i in range(5):
        rd = speeds[:, i + 1] - speeds[:, i]
        T = np.sum(speeds[:, i] ** 2 + speeds[:, i] * rd + rd**2 / 3, axis=1)
        T = T + 0.01 / 12 * np.sum(turns[:, i] ** 2 + turns[:, i + 1] ** 2, axis=1)
        energy += 0.5 * T + 9.81 / 2 * (points[:, i, 1] + points[:, i + 1, 1])
    return energy


def test_a_pendulum_on_a_stiff_spring():
    """Without constraints: a damped spring of 2e6 N/m in place of the rod, by two routes."""
    q, v = SX.sym("q", 2), SX.sym("v", 2)
    length = ca.sqrt(ca.dot(q, q))
    L = 0.5 * 1.3 * ca.dot(v, v) - 1.3 * 9.81 * q[1] - 0.5 * 2e6 * (length - 0.8) ** 2
    rayleigh = 0.5 * 900.0 * (ca.dot(q, v) / length) ** 2
    problem = DaeProblem(build_dae("stiff_spring", lagrange(q, v, L, rayleigh=rayleigh)))
    q0, v0, times = np.array([0.55, -0.58]), np.array([0.4, 0.3]), np.linspace(0.0, 2.0, 21)
    expected = minimal(L, rayleigh, q, v, q0, v0, times)
    outcome = integrate_dae(problem, times, q0, v0, rtol=1e-8, atol=1e-8)
    assert np.abs(outcome.x[:, :2] - expected[:, :2]).max() < 1e-6
    found = stiffness(problem, 0.0, np.concatenate([q0, v0]), span=2.0)
    assert found["spectral_radius"] == pytest.approx(np.sqrt(2e6 / 1.3), rel=1e-2)


def test_stiffness_of_known_systems():
    system = pendulum(g=9.81, length=0.8, angle=0.0)
    found = stiffness(system.problem, 0.0, np.concatenate([system.q0, system.v0]), span=12.0)
    assert found["spectral_radius"] == pytest.approx(np.sqrt(9.81 / 0.8), rel=1e-9)
    assert found["fastest_decay"] == pytest.approx(0.0, abs=1e-9)
    assert found["explicit_steps"] == int(np.ceil(np.sqrt(9.81 / 0.8) * 2.0))
    damped = pendulum(m=1.3, g=9.81, length=0.8, angle=0.0, damping=260.0)
    found = stiffness(damped.problem, 0.0, np.concatenate([damped.q0, damped.v0]))
    half = 0.5 * 260.0 / 1.3
    assert found["fastest_decay"] == pytest.approx(half + np.sqrt(half**2 - 9.81 / 0.8), rel=1e-9)


def test_stiffness_of_large_systems_is_iterated(monkeypatch):
    system = governor()
    state = np.concatenate([system.q0, system.v0])
    dense = stiffness(system.problem, 0.0, state, 10.0)
    from sekant.solvers.dae import stiffness as function

    monkeypatch.setitem(function.__globals__, "MOST_DENSE", 3)
    iterated = stiffness(system.problem, 0.0, state, 10.0)
    assert iterated["spectral_radius"] == pytest.approx(dense["spectral_radius"], rel=1e-3)
    assert dense["spectral_radius"] > 1e3
    assert np.isnan(iterated["fastest_decay"])
