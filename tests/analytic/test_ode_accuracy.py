"""Measured order, tolerances, dense output and long-time behavior of the integrators."""

from __future__ import annotations

from functools import cache
from math import cos, sin

import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp

from ode_right_hand_sides import native
from sekant.solvers.ode import METHODS, OdeProblem, integrate
from sekant.solvers.ode import dop853_tableau as tableau


@native
def driven_pendulum(arg, res, w):
    """q'' = -sin q + sin s(t) + s''(t), solved by q = s(t) = 0.7 sin 1.3 t + 0.2 t."""
    t, x = arg[0][0], arg[1]
    s = 0.7 * sin(1.3 * t) + 0.2 * t
    res[0][0] = x[1]
    res[0][1] = -sin(x[0]) + sin(s) - 0.7 * 1.69 * sin(1.3 * t)


@native
def pendulum(arg, res, w):
    """x = [q, v], p = [g / l]."""
    x, p = arg[1], arg[2]
    res[0][0] = x[1]
    res[0][1] = -p[0] * sin(x[0])


@native
def orbit(arg, res, w):
    """Motion about an attracting center at the origin of the plane, x = [q1, q2, v1, v2], unit strength."""
    x = arg[1]
    cube = (x[0] * x[0] + x[1] * x[1]) ** 1.5
    res[0][0] = x[2]
    res[0][1] = x[3]
    res[0][2] = -x[0] / cube
    res[0][3] = -x[1] / cube


@native
def two_oscillators(arg, res, w):
    """Damped ones of which the second dies out; one slope is far from the other. x = [q1, q2, v1, v2]."""
    x = arg[1]
    res[0][0] = x[2]
    res[0][1] = x[3]
    res[0][2] = -76.0 * x[0] - 7.0 * x[2]
    res[0][3] = -5580.0 * x[1] - 61.4 * x[3]


def driven_solution(t):
    t = np.asarray(t)
    return np.stack([0.7 * np.sin(1.3 * t) + 0.2 * t, 0.7 * 1.3 * np.cos(1.3 * t) + 0.2], axis=-1)


def orbit_state(t, eccentricity):
    """Kepler's equation E - e sin E = t solved by Newton's method; semi-major axis 1, pericenter at t = 0."""
    anomaly = t
    for _ in range(30):
        anomaly -= (anomaly - eccentricity * sin(anomaly) - t) / (1.0 - eccentricity * cos(anomaly))
    rate, width = 1.0 / (1.0 - eccentricity * cos(anomaly)), np.sqrt(1.0 - eccentricity**2)
    return np.array(
        [
            cos(anomaly) - eccentricity,
            width * sin(anomaly),
            -sin(anomaly) * rate,
            width * cos(anomaly) * rate,
        ]
    )


DRIVEN = OdeProblem(driven_pendulum, 2, nq=1, nv=1)
STEPS = {
    "euler": [0.004, 0.002, 0.001, 0.0005],
    "semi_implicit_euler": [0.004, 0.002, 0.001, 0.0005],
    "rk4": [0.2, 0.1, 0.05, 0.025],
    "dop853": [0.5, 0.4, 0.25, 0.2],
}


def with_step(method, h):
    """Options that force steps of length h."""
    if METHODS[method].adaptive:
        return {"method": method, "first_step": h, "max_step": h, "rtol": 0.9, "atol": 1e3}
    return {"method": method, "step": h}


def slope(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize("method", METHODS)
def test_order_of_the_method(method):
    errors = []
    for h in STEPS[method]:
        outcome = integrate(DRIVEN, [0.0, 8.0], driven_solution(0.0), **with_step(method, h))
        assert outcome.stats["steps"] == round(8.0 / h)
        errors.append(np.linalg.norm(outcome.x[-1] - driven_solution(8.0)))
    assert slope(STEPS[method], errors) == pytest.approx(METHODS[method].order, abs=0.15)


def test_order_of_the_dense_output():
    """Inside one step from an exact state the error is O(h^8), the local error of an interpolant of order 7."""
    steps, errors = [0.6, 0.5, 0.4, 0.32], []
    for h in steps:
        times = 2.7 + np.linspace(0.0, h, 41)
        outcome = integrate(DRIVEN, times, driven_solution(2.7), **with_step("dop853", h))
        assert outcome.stats["steps"] == 1
        errors.append(np.max(np.abs(outcome.x - driven_solution(times))))
    assert slope(steps, errors) == pytest.approx(8.0, abs=0.2)


def test_one_step_and_its_dense_output_agree_with_scipy():
    def rhs(t, x):
        return [x[1], -np.sin(x[0]) + np.sin(driven_solution(t)[0]) - 0.7 * 1.69 * np.sin(1.3 * t)]

    h = 0.9
    reference = DOP853(rhs, 0.0, [0.3, -0.8], h, first_step=h, max_step=h, rtol=0.9, atol=1e3)
    reference.step()
    times = np.linspace(0.0, h, 23)
    outcome = integrate(DRIVEN, times, [0.3, -0.8], **with_step("dop853", h))
    assert outcome.stats["steps"] == 1
    assert outcome.x == pytest.approx(reference.dense_output()(times).T, abs=2e-15)


def test_a_run_agrees_with_scipy_at_the_same_cost():
    problem = OdeProblem(orbit, 4, nq=2, nv=2)
    start = orbit_state(0.0, 0.4)
    times = np.linspace(0.0, 20.0, 57)
    outcome = integrate(problem, times, start, rtol=1e-9, atol=1e-11)

    def rhs(t, x):
        return np.concatenate([x[2:], -x[:2] / np.hypot(x[0], x[1]) ** 3])

    reference = solve_ivp(rhs, (0.0, 20.0), start, method="DOP853", rtol=1e-9, atol=1e-11, t_eval=times)
    assert outcome.x == pytest.approx(reference.y.T, abs=1e-6)
    exact = np.array([orbit_state(t, 0.4) for t in times])
    assert np.max(np.abs(outcome.x - exact)) < 3.0 * np.max(np.abs(reference.y.T - exact))
    assert outcome.stats["evaluations"] < 1.2 * reference.nfev


def test_the_error_follows_the_tolerance():
    problem = OdeProblem(orbit, 4, nq=2, nv=2)
    times = np.linspace(0.0, 12.0, 101)
    exact = np.array([orbit_state(t, 0.4) for t in times])
    tolerances = 10.0 ** -np.arange(4.0, 12.0)
    errors = []
    for tolerance in tolerances:
        outcome = integrate(problem, times, exact[0], rtol=tolerance, atol=tolerance)
        errors.append(np.max(np.abs(outcome.x - exact)))
    assert slope(tolerances, errors) == pytest.approx(1.0, abs=0.15)
    assert np.all(np.array(errors) < 300.0 * tolerances)
    assert np.all(np.diff(errors) < 0.0)


def test_outputs_keep_the_tolerance_where_steps_are_limited_by_stability():
    """Quarter car without its road: what is left of the wheel is below the tolerance, but steps that follow the body
    alone would amplify it, by far more within the step than at its end, and by chance some estimates are small."""
    problem = OdeProblem(two_oscillators, 4, nq=2, nv=2)
    times, worst = np.linspace(0.0, 2.0, 801), 0.0
    roots = [np.roots([1.0, 7.0, 76.0]), np.roots([1.0, 61.4, 5580.0])]
    start = np.array([0.02, 0.03, 0.0, 0.0])
    exact = np.empty((times.size, 4))
    for i, (a, b) in enumerate(roots):  # q = q0 (b e^(a t) - a e^(b t)) / (b - a)
        ea, eb = np.exp(a * times), np.exp(b * times)
        exact[:, i] = (start[i] * (b * ea - a * eb) / (b - a)).real
        exact[:, 2 + i] = (start[i] * a * b * (ea - eb) / (b - a)).real
    for exponent in np.arange(-5.0, -10.01, -0.125):
        rtol = 10.0**exponent
        outcome = integrate(problem, times, start, rtol=rtol, atol=0.01 * rtol)
        allowed = 0.01 * rtol + rtol * np.abs(exact)
        worst = max(worst, float(np.max(np.abs(outcome.x - exact) / allowed)))
    assert worst < 25.0


@cache
def _trees(order):
    """Rooted trees of this order, each the sorted tuple of the trees on its root."""
    found = set() if order > 1 else {()}

    def add(left, largest, parts):
        if left == 0:
            found.add(tuple(sorted(parts)))
        for size in range(1, min(left, largest) + 1):
            for tree in _trees(size):
                add(left - size, size, [*parts, tree])

    if order > 1:
        add(order - 1, order - 1, [])
    return sorted(found)


def _weight(tree):
    """What each of the twelve slopes has of the elementary differential of a tree (section II.2)."""
    weight = np.ones(12)
    for part in tree:
        weight = weight * (tableau.A[:12, :12] @ _weight(part))
    return weight


@pytest.mark.parametrize(("weights", "order"), [(tableau.E3, 3), (tableau.E5, 5), (tableau.E6, 6)])
def test_orders_of_the_estimates(weights, order):
    for k in range(1, order + 1):
        assert max(abs(weights @ _weight(tree)) for tree in _trees(k)) < 1e-14
    assert max(abs(weights @ _weight(tree)) for tree in _trees(order + 1)) > 1e-6


def test_output_times_do_not_change_the_steps():
    sparse = integrate(DRIVEN, [0.0, 8.0], driven_solution(0.0))
    dense = integrate(DRIVEN, np.linspace(0.0, 8.0, 3001), driven_solution(0.0))
    assert dense.stats["steps"] == sparse.stats["steps"]
    assert np.array_equal(dense.x[-1], sparse.x[-1])
    assert np.max(np.abs(dense.x - driven_solution(dense.t))) < 1e-7


def test_semi_implicit_euler_keeps_the_energy_bounded():
    """Over some 500 swings the energy error neither grows nor exceeds its first-order size."""
    problem = OdeProblem(pendulum, 2, np.array([2.3]), nq=1, nv=1)
    times = np.linspace(0.0, 2000.0, 40001)

    def energy_error(method, h):
        x = integrate(problem, times, [1.3, 0.2], method=method, step=h).x
        energy = 0.5 * x[:, 1] ** 2 - 2.3 * np.cos(x[:, 0])
        return np.abs(energy - energy[0])

    errors = energy_error("semi_implicit_euler", 0.01)
    assert np.max(errors[-4000:]) < 1.05 * np.max(errors[:4000])
    assert np.max(errors) / np.max(energy_error("semi_implicit_euler", 0.005)) == pytest.approx(2.0, abs=0.1)
    assert energy_error("euler", 0.01)[-1] > 20.0 * np.max(errors)
