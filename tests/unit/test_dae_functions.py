"""The native functions of a differential-algebraic system against differences of the residual."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from sekant.engine.functions.dae import DaeExpressions, build_dae
from sekant.errors import SekantError
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

SX = ca.SX


def rolling_body(lookups: Lookups) -> DaeExpressions:
    """Made up: x, y and a quaternion; one position row, one velocity row, a table, time and a parameter."""
    t, q, v, a, lam, p = (
        SX.sym("t"),
        SX.sym("q", 6),
        SX.sym("v", 5),
        SX.sym("a", 5),
        SX.sym("lam", 2),
        SX.sym("p"),
    )
    w, e0, e = v[2:], q[2], q[3:]
    qdot = ca.vertcat(v[:2], 0.5 * ca.vertcat(-ca.dot(e, w), e0 * w + ca.cross(e, w)))
    spring = Table.pchip([-2.0, -0.4, 0.3, 2.0], [-3.0, -0.5, 0.1, 4.0], name="spring")
    M = ca.diag(ca.vertcat(1.3, 1.3 + q[0] ** 2, 0.2, 0.5, 0.7))
    f = ca.vertcat(-lookups(spring, q[0] - q[1]), ca.sin(t) - p * v[1] ** 3, ca.cross(w, w * q[0]) - 0.3 * w)
    Phi = q[0] ** 2 + q[1] * q[4] - 0.3 * ca.cos(t)
    B = v[0] * q[3] - v[1] + 0.4 * w[0] * q[5] - 0.1 * t
    Phi_q = ca.jacobian(Phi, q) @ ca.jacobian(qdot, v)
    R = M @ a + ca.vertcat(Phi_q, ca.jacobian(B, v)).T @ lam - f
    return DaeExpressions(
        t=t, q=q, v=v, a=a, lam=lam, p=p, qdot=qdot, R=R, Phi=Phi, B=B, lookups=lookups, unit_blocks=((2, 4),)
    )


@pytest.fixture(scope="module")
def functions():
    return build_dae("rolling", rolling_body(Lookups()))


@pytest.fixture
def point():
    generator = np.random.default_rng(5)
    q = generator.normal(size=6) * 0.4
    q[2:] /= np.linalg.norm(q[2:])
    return {
        "t": 0.37,
        "q": q,
        "v": generator.normal(size=5),
        "a": generator.normal(size=5),
        "lam": generator.normal(size=2),
        "p": np.array([0.9]),
    }


def test_curved_coordinates_are_found(functions):
    assert functions.curved.tolist() == [2, 3, 4, 5]
    assert (functions.mh, functions.mn) == (1, 1)


def test_newton_matrix_is_the_derivative_of_the_residuals(functions, point):
    """K(s) [dv; z; y] against differences of the residuals for dq, da, dlam as Newton's method relates them."""
    f, mu, eps = functions, 7.3, 1e-6
    K0, K1, K2 = f.jacobian(*point.values())
    K = np.zeros((11, 11))
    np.add.at(K, (f.K_row, f.K_col), K0 + K1 / mu + K2 / mu**2)
    generator = np.random.default_rng(8)
    dv, z, y = generator.normal(size=5), generator.normal(size=4), generator.normal(size=2)
    N_dv = f.kinematics(0.37, point["q"], dv, point["p"])[0]
    dq = np.concatenate([N_dv[:2], z]) / mu

    def residuals(s):
        moved = dict(point)
        moved["q"], moved["v"] = point["q"] + s * dq, point["v"] + s * dv
        moved["a"], moved["lam"] = point["a"] + s * mu * dv, point["lam"] + s * mu * y
        return f.residual(*moved.values())

    R, qdot, Phi, B = (
        (up - down) / (2 * eps) for up, down in zip(residuals(eps), residuals(-eps), strict=True)
    )
    expected = np.concatenate([R / mu, z - qdot, mu * Phi, B])
    assert np.abs(K @ np.concatenate([dv, z, y]) - expected).max() < 1e-7


def test_rates_and_their_derivative(functions, point):
    f, eps = functions, 1e-6
    t, q, v, a, p = (point[name] for name in ("t", "q", "v", "a", "p"))
    qdot = f.kinematics(t, q, v, p)[0]
    Phi = [f.constraints(t + s, q + s * qdot, v + s * a, p) for s in (-eps, 0.0, eps)]
    rates = Phi[1][1]
    assert rates[0] == pytest.approx((Phi[2][0] - Phi[0][0])[0] / (2 * eps), abs=1e-8)
    G = np.zeros((2, 5))
    G[f.G_row, f.G_col] = f.saddle(t, q, v, p)[1]
    gamma = f.bias(t, q, v, p)[1]
    assert G @ a - gamma == pytest.approx((Phi[2][1] - Phi[0][1]) / (2 * eps), abs=1e-7)


def test_bias_and_mass_matrix_make_up_the_residual(functions, point):
    f = functions
    t, q, v, a, lam, p = point.values()
    M_values, G_values = f.saddle(t, q, v, p)
    M, G = np.zeros((5, 5)), np.zeros((2, 5))
    M[f.M_row, f.M_col], G[f.G_row, f.G_col] = M_values, G_values
    force = f.bias(t, q, v, p)[0]
    assert f.residual(t, q, v, a, lam, p)[0] == pytest.approx(M @ a + G.T @ lam - force, abs=1e-12)


def test_wrong_sizes_are_named():
    q, v, a = SX.sym("q", 2), SX.sym("v", 2), SX.sym("a", 2)
    with pytest.raises(SekantError, match="lam has size 1, but must have size 0"):
        DaeExpressions(t=SX.sym("t"), q=q, v=v, a=a, lam=SX.sym("lam"), qdot=v, R=a)
