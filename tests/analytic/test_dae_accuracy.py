"""Implicit integrators against closed forms and published values; measured orders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from dae_systems import first_order, pendulum, skate, top
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.common.outcome import FINISHED
from sekant.solvers.dae import integrate_dae
from sekant.solvers.dae.memory import lay_out
from sekant.solvers.dae.radau import advance


def radau_with_fixed_steps(problem, x0, times, h, tolerance):
    """Rows of the state with steps of length h; `tolerance` is that of Newton's iteration."""
    options = StepOptions(
        times=times,
        edges=times[[0, -1]],
        snap=0.0,
        step=0.0,
        max_step=h,
        max_steps=10**6,
        first_step=h,
        rtol=tolerance,
        atol=np.full(x0.size, tolerance),
    )
    memory = lay_out(problem, x0, options)
    memory.step.estimating = 0
    assert advance(memory, 10**6) == FINISHED
    assert memory.counts.steps == round((times[-1] - times[0]) / h)
    return memory.rows


def exact_pendulum(t, g, length, angle):
    """Positions and velocities (n, 4) of a pendulum released at rest."""
    k, omega = np.sin(angle / 2), np.sqrt(g / length)
    sn, cn, dn, _ = ellipj(ellipk(k**2) - omega * t, k**2)
    phi, rate = 2 * np.arcsin(k * sn), -2 * omega * k * cn
    assert np.allclose(dn, np.sqrt(1 - (k * sn) ** 2))
    position = length * np.stack([np.sin(phi), -np.cos(phi)], axis=1)
    return np.hstack([position, length * rate[:, None] * np.stack([np.cos(phi), np.sin(phi)], axis=1)])


def test_radau_has_order_5_on_index_3_also_between_steps():
    g, length, angle = 1.7, 0.9, 1.1
    system = pendulum(g=g, length=length, angle=angle)
    times = np.linspace(0.0, 3.0, 212)
    truth = exact_pendulum(times, g, length, angle)
    start = np.concatenate([system.q0, system.v0, [0.0]])
    errors = []
    for n in (110, 170):
        rows = radau_with_fixed_steps(system.problem, start, times, 3.0 / n, 1e-10)
        error = np.abs(rows[:, :4] - truth)
        errors.append([error[:, :2].max(), error[-1, :2].max(), error[-1, 2:].max(), error[:, 2:].max()])
    orders = np.log(np.array(errors[0]) / errors[1]) / np.log(170 / 110)
    assert orders[0] == pytest.approx(5.0, abs=0.4)
    assert orders[1] == pytest.approx(5.0, abs=0.4)
    assert orders[2] == pytest.approx(5.0, abs=0.6)
    assert orders[3] > 3.4


def test_radau_has_order_5_on_ordinary_equations():
    problem = first_order(2, lambda t, x: [x[1], -x[0] - 0.3 * x[0] ** 3])
    times, start = np.linspace(0.0, 4.0, 95), np.array([1.2, 0.4])
    f = lambda t, x: [x[1], -x[0] - 0.3 * x[0] ** 3]  # noqa: E731
    truth = solve_ivp(f, (0, 4), start, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=times).y.T
    errors = [
        np.abs(radau_with_fixed_steps(problem, start, times, 4.0 / n, 1e-11) - truth).max(axis=1)
        for n in (40, 80)
    ]
    assert np.log2(errors[0][-1] / errors[1][-1]) == pytest.approx(5.0, abs=0.3)
    assert np.log2(errors[0].max() / errors[1].max()) == pytest.approx(5.0, abs=0.4)


@pytest.mark.parametrize("spectral_radius", [0.0, 0.6, 1.0])
def test_generalized_alpha_has_order_2(spectral_radius):
    g, length, angle = 9.7, 0.8, 1.1
    system = pendulum(g=g, length=length, angle=angle)
    times = np.linspace(0.0, 2.0, 5)
    truth = exact_pendulum(times, g, length, angle)
    exact = integrate_dae(system.problem, times, system.q0, system.v0, rtol=1e-11, atol=1e-11)
    errors = []
    for step in (4e-3, 2e-3):
        outcome = integrate_dae(
            system.problem,
            times,
            system.q0,
            system.v0,
            method="generalized_alpha",
            step=step,
            spectral_radius=spectral_radius,
        )
        error = np.abs(outcome.x[:, :4] - truth)
        errors.append([error[:, :2].max(), error[:, 2:].max(), np.abs(outcome.lam - exact.lam).max()])
    assert np.log2(np.array(errors[0]) / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_pendulum_against_elliptic_functions(tolerance):
    g, length, angle = 9.7, 0.8, 2.6
    system = pendulum(g=g, length=length, angle=angle, m=2.3)
    t = np.linspace(0.0, 5.0, 101)
    outcome = integrate_dae(system.problem, t, system.q0, system.v0, rtol=tolerance, atol=tolerance)
    truth = exact_pendulum(t, g, length, angle)
    assert np.abs(outcome.x[:, :2] - truth[:, :2]).max() < 100 * tolerance
    Phi = np.sum(outcome.x[:, :2] ** 2, axis=1) - length**2
    rates = 2 * np.sum(outcome.x[:, :2] * outcome.x[:, 2:4], axis=1)
    assert np.abs(Phi).max() <= 1e-10
    assert np.abs(rates).max() <= 1e-9
    tension = 2.3 * (np.sum(truth[:, 2:] ** 2, axis=1) / length - g * truth[:, 1] / length)
    assert np.abs(2 * length * outcome.lam[:, 0] - tension).max() < 2e3 * tolerance * tension.max()


def test_quadratures_are_as_accurate_as_the_motion():
    """The damper's work against the loss of energy."""
    m, g = 1.3, 9.7
    system = pendulum(m=m, g=g, damping=0.9)
    for tolerance in (1e-6, 1e-8, 1e-10):
        t = np.linspace(0.0, 4.0, 53)
        x = integrate_dae(system.problem, t, system.q0, system.v0, rtol=tolerance, atol=tolerance).x
        energy = 0.5 * m * np.sum(x[:, 2:4] ** 2, axis=1) + m * g * x[:, 1]
        assert energy[-1] - energy[0] < -3.0
        assert np.abs(energy - energy[0] - x[:, 4]).max() < 100 * tolerance
    gaps = []
    for step in (1e-3, 5e-4):
        x = integrate_dae(system.problem, t, system.q0, system.v0, method="generalized_alpha", step=step).x
        energy = 0.5 * m * np.sum(x[:, 2:4] ** 2, axis=1) + m * g * x[:, 1]
        gaps.append(np.abs(energy - energy[0] - x[:, 4]).max())
    assert gaps[0] < 3e-5
    assert gaps[0] / gaps[1] == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize(
    ("options", "bound"),
    [({"rtol": 1e-9, "atol": 1e-9}, 2e-8), ({"method": "generalized_alpha", "step": 1e-3}, 1e-5)],
)
def test_a_skate_on_an_incline(options, bound):
    """Speed u0 + (g' / w) sin w t along a heading that turns at the constant rate w, g' = g sin(slope)."""
    slope, g, m, w, u0 = 0.3, 9.81, 1.7, 1.9, 0.4
    system = skate(slope, g, m, 0.23, w, u0)
    t = np.linspace(0.0, 4.0, 41)
    outcome = integrate_dae(system.problem, t, system.q0, system.v0, **options)
    pull = g * np.sin(slope)
    x = u0 * np.sin(w * t) / w + pull * np.sin(w * t) ** 2 / (2 * w**2)
    y = u0 * (1 - np.cos(w * t)) / w + pull / w * (t / 2 - np.sin(2 * w * t) / (4 * w))
    side = m * (pull * np.sin(w * t) + w * (u0 + pull / w * np.sin(w * t)))
    assert np.abs(outcome.x[:, :3] - np.stack([x, y, w * t], axis=1)).max() < bound
    assert np.abs(outcome.lam[:, 0] - side).max() < 20 * bound
    slip = outcome.x[:, 3] * np.sin(outcome.x[:, 2]) - outcome.x[:, 4] * np.cos(outcome.x[:, 2])
    assert np.abs(slip).max() < 1e-9


def test_a_top_on_quaternions():
    """Energy, vertical and axial angular momentum; the quaternion stays a unit one."""
    m, g, length, J = 0.6, 9.81, 0.35, np.array([0.021, 0.021, 0.008])
    system = top(m, g, length, J[0], J[2])
    t = np.linspace(0.0, 3.0, 61)
    outcome = integrate_dae(system.problem, t, system.q0, system.v0, rtol=1e-9, atol=1e-9)
    q, w = outcome.x[:, :4], outcome.x[:, 4:]
    up = np.stack(
        [
            2 * (q[:, 1] * q[:, 3] - q[:, 0] * q[:, 2]),
            2 * (q[:, 2] * q[:, 3] + q[:, 0] * q[:, 1]),
            q[:, 0] ** 2 - q[:, 1] ** 2 - q[:, 2] ** 2 + q[:, 3] ** 2,
        ],
        axis=1,
    )
    energy = 0.5 * np.sum(J * w**2, axis=1) + m * g * length * up[:, 2]
    vertical = np.sum(J * w * up, axis=1)
    assert np.ptp(up[:, 2]) > 0.05
    assert np.abs(np.sum(q**2, axis=1) - 1).max() < 1e-14
    assert np.abs(energy - energy[0]).max() < 1e-7
    assert np.abs(vertical - vertical[0]).max() < 1e-8
    assert np.abs(w[:, 2] - w[0, 2]).max() < 1e-10
    coarse, fine = (
        integrate_dae(system.problem, t, system.q0, system.v0, method="generalized_alpha", step=h).x
        for h in (5e-4, 2.5e-4)
    )
    ratio = np.abs(coarse - outcome.x).max() / np.abs(fine - outcome.x).max()
    assert ratio == pytest.approx(4.0, abs=0.3)


def test_robertson():
    """Reference at t = 1e11: Mazzia, Magherini: Test Set for IVP Solvers, release 2.4, problem ROBER."""
    problem = first_order(
        3,
        lambda t, x: [
            -0.04 * x[0] + 1e4 * x[1] * x[2],
            0.04 * x[0] - 1e4 * x[1] * x[2] - 3e7 * x[1] ** 2,
            3e7 * x[1] ** 2,
        ],
    )
    outcome = integrate_dae(problem, [0.0, 1e11], [], [1.0, 0.0, 0.0], rtol=1e-9, atol=[1e-14, 1e-18, 1e-14])
    reference = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
    assert outcome.x[-1] == pytest.approx(reference, rel=1e-5)
    assert outcome.stats["steps"] < 3000


def test_van_der_pol():
    """Reference at t = 2: Mazzia, Magherini: Test Set for IVP Solvers, release 2.4, problem VDPOL."""
    problem = first_order(2, lambda t, x: [x[1], ((1 - x[0] ** 2) * x[1] - x[0]) / 1e-6])
    outcome = integrate_dae(problem, [0.0, 2.0], [], [2.0, 0.0], rtol=1e-8, atol=1e-8)
    assert outcome.x[-1] == pytest.approx([0.1706167732170483e1, -0.8928097010247975], rel=3e-8)


def test_as_many_steps_as_scipy_on_a_stiff_equation():
    rates = lambda t, x: [x[1], ((1 - x[0] ** 2) * x[1] - x[0]) / 1e-3]  # noqa: E731
    times = np.linspace(0.0, 1.5, 16)
    ours = integrate_dae(first_order(2, rates), times, [], [2.0, -0.66], rtol=1e-7, atol=1e-7)
    theirs = solve_ivp(
        rates, (0.0, 1.5), [2.0, -0.66], method="Radau", rtol=1e-7, atol=1e-7, dense_output=True
    )
    exact = solve_ivp(rates, (0.0, 1.5), [2.0, -0.66], method="Radau", rtol=1e-11, atol=1e-11, t_eval=times)
    error = np.abs(ours.x[:, 0] - exact.y[0]).max()
    assert error < 2 * np.abs(theirs.sol(times)[0] - exact.y[0]).max() + 1e-7
    assert ours.stats["steps"] < 1.2 * (theirs.t.size - 1)
