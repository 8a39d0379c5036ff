"""A rigid body along a trefoil with Frenet's frame: accelerations and motion against the equation in u alone.

With T = mu(u) u'^2 / 2 and mu = m |r'|^2 + omega.J omega, where omega = |r'| (torsion, 0, curvature) in the moving
frame, Lagrange's equation is mu u'' + mu' u'^2 / 2 + m g z' = 0. Nothing of the library takes part in it.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sekant as sk
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.joints import Path

MASS, J, G = 1.3, (0.021, 0.043, 0.034), 9.81
U0, V0 = 1.0, 4.0


def knot(u):
    return 0.5 * ca.vertcat(ca.sin(u) + 2 * ca.sin(2 * u), ca.cos(u) - 2 * ca.cos(2 * u), -ca.sin(3 * u))


SIZE = 3.0  # m, its width


def equation() -> tuple[ca.Function, ca.Function]:
    """u''(u, u') and the position r(u)."""
    u, rate = ca.SX.sym("u"), ca.SX.sym("rate")  # type: ignore[call-arg]
    r = [knot(u)]
    for _ in range(3):
        r.append(ca.jacobian(r[-1], u))
    normal = ca.cross(r[1], r[2])
    speed, bend = ca.norm_2(r[1]), ca.norm_2(normal)
    torsion = ca.dot(normal, r[3]) / bend**2
    mu = MASS * speed**2 + J[0] * (torsion * speed) ** 2 + J[2] * (bend / speed**2) ** 2
    slope = ca.jacobian(mu, u)
    push = -(0.5 * slope * rate**2 + MASS * G * r[1][2]) / mu
    return ca.Function("acceleration", [u, rate], [push]), ca.Function("position", [u], [r[0]])


ACCELERATION, POSITION = equation()


@pytest.fixture(scope="module")
def curve() -> PoseCurve:
    """At the default tolerance."""
    return PoseCurve.from_function(knot, (0.0, 2.0 * np.pi), frame="frenet", extrapolation="periodic")


def model(curve: PoseCurve) -> sk.Model:
    joint = Path(child="body", curve=curve, q0=U0, v0=V0)
    return sk.Model(bodies={"body": sk.Body(mass=MASS, inertia=J)}, joints={"wire": joint})


@pytest.mark.parametrize("source", ["function", "file"])
def test_accelerations_are_right_to_ten_digits(curve, source, tmp_path):
    """1e-10 of the largest, at 400 places between and on the nodes, from a formula and from the file of it."""
    if source == "file":
        curve.save(tmp_path / "knot.json")
        curve = PoseCurve.load(tmp_path / "knot.json")
    system = sk.compile(model(curve))
    u = np.linspace(0.0, 2.0 * np.pi, 400)
    exact = np.array([float(ACCELERATION(x, 3.0)) for x in u])
    found = np.array([system.forward_dynamics([x], [3.0])[0] for x in u])
    assert np.abs(found - exact).max() <= 1e-10 * np.abs(exact).max()


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
def test_motion_over_three_laps(curve, formulation):
    """1e-9 of the size of the path after 5 s at rtol 1e-11."""
    reference = solve_ivp(
        lambda t, y: [y[1], float(ACCELERATION(y[0], y[1]))],
        (0.0, 5.0),
        [U0, V0],
        "DOP853",
        rtol=3e-14,
        atol=1e-14,
    )
    assert reference.y[0, -1] > 6.0 * np.pi  # three laps
    exact = np.asarray(POSITION(reference.y[0, -1])).ravel()
    system = sk.compile(model(curve), formulation=formulation)
    result = sk.simulate(system, 5.0, rtol=1e-11, atol=1e-12)
    assert result.status == "finished"
    assert np.linalg.norm(result["body.position"][-1] - exact) <= 1e-9 * SIZE
