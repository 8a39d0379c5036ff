"""Explicit methods with projection, on a pendulum in Cartesian coordinates."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from sekant.engine.codegen.build import build
from sekant.errors import SolverError
from sekant.solvers.ode import OdeProblem, integrate

G, LENGTH, ANGLE = 9.7, 0.8, 1.1


def pendulum(projected: bool = True, shrink: bool = False) -> OdeProblem:
    """x = [q; v]; the rod's length falls linearly to zero at t = 1 if `shrink` is set."""
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 4), ca.SX.sym("p")
    q, v = x[:2], x[2:]
    pull = (ca.dot(v, v) - p * q[1]) / ca.dot(q, q)
    rhs = ca.vertcat(v, -pull * q[0], -p - pull * q[1])
    length = LENGTH * (1 - t) if shrink else ca.SX(LENGTH)
    Phi = ca.dot(q, q) - length * ca.fabs(length)
    q_new = q - q * Phi / (2 * ca.dot(q, q))
    v_new = v - q_new * ca.dot(q_new, v) / ca.dot(q_new, q_new)
    residual = ca.fmax(ca.fabs(Phi), ca.fabs(2 * ca.dot(q, v)))
    return OdeProblem(
        rhs=build("pendulum", [t, x, p], [rhs]),
        n=4,
        p=np.array([G]),
        nq=2,
        nv=2,
        projection=build("project", [t, x, p], [ca.vertcat(q_new, v_new), residual]) if projected else None,
    )


START = np.array([LENGTH * np.sin(ANGLE), -LENGTH * np.cos(ANGLE), 0.0, 0.0])


def exact(t):
    """Positions (n, 2) of a pendulum released at rest."""
    k = np.sin(ANGLE / 2)
    sn = ellipj(ellipk(k**2) - np.sqrt(G / LENGTH) * t, k**2)[0]
    angle = 2 * np.arcsin(k * sn)
    return LENGTH * np.stack([np.sin(angle), -np.cos(angle)], axis=1)


def violation(x):
    Phi = np.sum(x[:, :2] ** 2, axis=1) - LENGTH**2
    rate = 2 * np.sum(x[:, :2] * x[:, 2:], axis=1)
    return np.abs(Phi).max(), np.abs(rate).max()


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [("euler", 1, (1600, 3200)), ("semi_implicit_euler", 1, (1600, 3200)), ("rk4", 4, (200, 400))],
)
def test_fixed_steps_keep_their_order_and_the_constraints(method, order, steps):
    t = np.linspace(0.0, 2.0, 9)
    errors = []
    for n in steps:
        outcome = integrate(pendulum(), t, START, method=method, step=2.0 / n)
        Phi, rate = violation(outcome.x)
        assert outcome.status == "finished"
        assert Phi <= 1e-10
        assert rate <= 1e-9
        errors.append(np.abs(outcome.x[:, :2] - exact(t)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


def test_adaptive_steps_keep_the_constraints_also_between_steps():
    t = np.linspace(0.0, 6.0, 401)
    outcome = integrate(pendulum(), t, START, rtol=1e-9, atol=1e-10)
    free = integrate(pendulum(projected=False), t, START, rtol=1e-9, atol=1e-10)
    Phi, rate = violation(outcome.x)
    assert outcome.stats["steps"] < 200
    assert Phi <= 1e-10
    assert rate <= 1e-9
    assert violation(free.x)[0] > 10 * Phi
    assert np.abs(outcome.x[:, :2] - exact(t)).max() < 2e-8


def test_tightening_tolerances_of_the_adaptive_method():
    errors = []
    for tol in (1e-6, 1e-8, 1e-10):
        outcome = integrate(pendulum(), [0.0, 3.0], START, rtol=tol, atol=tol)
        errors.append(np.abs(outcome.x[-1:, :2] - exact(np.array([3.0]))).max())
    assert errors[1] < 0.1 * errors[0]
    assert errors[2] < 0.1 * errors[1]


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_chunks_do_not_change_a_projected_run(method):
    t = np.linspace(0.0, 1.0, 23)
    step = None if method == "dop853" else 0.01
    whole = integrate(pendulum(), t, START, method=method, step=step)
    pieces = integrate(pendulum(), t, START, method=method, step=step, chunk_steps=1)
    assert np.array_equal(whole.x, pieces.x)


@pytest.mark.parametrize("method", ["dop853", "rk4", "euler", "semi_implicit_euler"])
def test_constraints_that_cannot_be_met_end_the_run(method):
    step = None if method == "dop853" else 1e-3
    outcome = integrate(pendulum(shrink=True), [0.0, 2.0], START, method=method, step=step)
    assert outcome.status == "constraints"
    assert 0.9 < outcome.t_last <= 1.001
    assert "cannot be satisfied beyond t = " in outcome.describe()
    assert np.all(np.isfinite(outcome.x_last))


def test_wrong_tolerance_is_named():
    with pytest.raises(SolverError, match=r"projection_tolerance must be positive \(got 0.0\)"):
        OdeProblem(pendulum().rhs, 4, projection_tolerance=0.0)
