"""A point held on a surface: the same motion as a surface joint with a free orientation."""

from __future__ import annotations

import casadi as ca
import numpy as np

import sekant as sk
from sekant.model.constraints import PointOnSurface
from sekant.model.joints import Free


def bowl() -> sk.PoseSurface:
    return sk.PoseSurface.from_function(
        lambda u1, u2: (ca.vertcat(u1, u2, 0.4 * u1**2 + 0.7 * u2**2), None), ((-1.5, 1.5), (-1.5, 1.5))
    )


def test_a_particle_in_a_bowl():
    # the particle's own equation: with z = f(x, y), Lagrange's equations of x and y
    surface = bowl()
    start = (0.8, -0.5, 0.4 * 0.64 + 0.7 * 0.25)
    model = sk.Model(
        curves={"bowl": surface},
        bodies={"ball": sk.Body(mass=1.7, inertia=(0.1, 0.2, 0.25))},
        joints={"float": Free(child="ball", position=start, velocity=(0.3, 0.2, 0.0))},
        constraints={"on": PointOnSurface(frame="ball", surface="bowl", u0=(0.8, -0.5))},
    )
    system = sk.compile(model)
    assert sk.analyses.structural_analysis(system).degrees_of_freedom == 5
    result = sk.simulate(system, until=1.0, method="dop853", rtol=1e-11, atol=1e-12)
    assert result.status == "finished"
    assert result["constraints.position"].max() < 1e-10
    assert np.abs(result["energy.balance"]).max() < 1e-8

    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    z = 0.4 * q[0] ** 2 + 0.7 * q[1] ** 2
    J = ca.vertcat(ca.DM.eye(2), ca.jacobian(z, q))
    M = J.T @ J
    T, V = 0.5 * v.T @ M @ v, 9.81 * z
    a = ca.solve(M, ca.gradient(T - V, q) - ca.jacobian(M @ v, q) @ v)
    f = ca.Function("f", [q, v], [a])

    def rate(_, x):
        return np.concatenate([x[2:], np.array(f(x[:2], x[2:])).ravel()])

    from scipy.integrate import solve_ivp

    # the start velocity is made consistent with the least change in the metric of the masses
    x0 = np.concatenate([result["ball.position"][0][:2], result["ball.velocity"][0][:2]])
    series = sk.simulate(system, until=1.0, method="taylor", rtol=1e-11)
    np.testing.assert_allclose(series["ball.position"], result["ball.position"], atol=1e-8)
    reference = solve_ivp(rate, (0.0, 1.0), x0, method="DOP853", rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result["ball.position"][-1][:2], reference.y[:2, -1], atol=1e-8)
