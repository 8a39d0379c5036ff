"""What works for models of bodies works for mechanisms modeled with points: statics, steady motion, linear
models, inputs."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk


def conical(l=0.7, m=0.4, k=0.0):
    """A bob on a string in space, which can circle about the vertical."""
    mechanism = sk.natural.Mechanism(dim=3)
    O, A = mechanism.ground("O", (0, 0, 0)), mechanism.point("A", (0.3, 0, -0.6))
    mechanism.distance(O, A, l, name="string")
    mechanism.mass(A, m, "bob")
    return mechanism


def test_conical_pendulum_circles_steadily():
    """cos(theta) = g/(l w^2)."""
    w, l = 5.0, 0.7
    system = conical(l).compile(engine="casadi")
    guess = sk.State(np.array([0.58, 0.0, -0.39]), np.zeros(3))
    found = sk.analyses.steady_motion(system, turn=w, guess=guess)
    cosine = 9.81 / (l * w**2)
    assert -found.q[2] / l == pytest.approx(cosine, abs=1e-9)
    assert np.cross([0, 0, w], found.q) == pytest.approx(found.v, abs=1e-9)
    assert np.hypot(*found.q[:2]) == pytest.approx(l * np.sqrt(1 - cosine**2))
    fixed = sk.analyses.steady_motion(
        system, turn=w, guess=guess, unknown=["turn"], targets={"bob.radius": 0.3}
    )
    assert fixed.unknowns["turn"] ** 2 == pytest.approx(9.81 / np.sqrt(l**2 - 0.09), rel=1e-9)
    with pytest.raises(sk.SekantError, match="no body 'bop'"):
        sk.analyses.steady_motion(system, turn=w, bodies=["bop"])


def sprung(k=30.0):
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0, 0)), m.point("A", (0.0, -0.5))
    m.mass(A, 1.2, "bob")
    m.spring(O, A, m.parameter("k", k), 0.4, name="coil")
    m.spring(A, m.ground("P", (0.9, -0.5)), 20.0, 0.8, name="side")
    return m


def test_equilibrium_with_a_coordinate_held():
    system = sprung().compile(engine="casadi")
    free = sk.equilibrium(system)
    assert np.abs(system.forward_dynamics(free.q, np.zeros(2))).max() < 1e-9
    held = sk.equilibrium(system, sk.State(np.array([0.05, -0.5]), np.zeros(2)), hold=["A.x"])
    assert held.q[0] == pytest.approx(0.05, abs=1e-12)
    a = system.forward_dynamics(held.q, np.zeros(2))
    assert a[1] == pytest.approx(0.0, abs=1e-9)
    assert held.holding["A.x"] == pytest.approx(-1.2 * a[0], rel=1e-9)


def test_linear_model_against_differences_and_any_parameter():
    system = sprung().compile(engine="casadi")
    rest = sk.equilibrium(system)
    lin = sk.linearize(system, rest)
    step = 1e-6
    for i in range(2):
        dq = np.eye(2)[i] * step
        slope = (
            system.forward_dynamics(rest.q + dq, np.zeros(2))
            - system.forward_dynamics(rest.q - dq, np.zeros(2))
        ) / (2 * step)
        assert np.allclose(lin.A[2:, i], slope, atol=1e-5)
    changed = lin.sensitivity("side.stiffness").undamped_frequency
    values = []
    for k in (20.0 - 1e-3, 20.0 + 1e-3):
        other = sprung()
        other.items["springs"]["side"] = other.items["springs"]["side"].model_copy(update={"stiffness": k})
        one = other.compile(engine="casadi")
        values.append(sk.linearize(one, sk.equilibrium(one, rest)).modes().undamped_frequency)
    expected = (values[1] - values[0]) / 2e-3
    assert np.allclose(np.ravel(changed), np.ravel(expected), rtol=1e-5)


def test_inputs_and_tables_in_expressions(tmp_path):
    path = tmp_path / "pushed.yaml"
    path.write_text(
        """
format: 2
inputs: {push: {default: 2}}
tables: {law: {x: [-1, 0, 1, 2], y: [-2, 0, 2, 4]}}
natural:
  points: {A: {at: [0.1, 0], free: x}}
  masses: {bob: {at: A, mass: 0.5}}
  forces: {drive: {at: A, force: ["push - law(A.x)", 0]}}
simulation: {until: 0.5, method: rk4, step: 0.01}
"""
    )
    system = sk.compile(sk.load(path), engine="casadi")
    assert system.inputs == ("push",)
    assert system.forward_dynamics([0.1], [0.0]) == pytest.approx([(2 - 0.2) / 0.5])
    assert system.forward_dynamics([0.1], [0.0], parameters={"push": 3}) == pytest.approx([(3 - 0.2) / 0.5])
    result = sk.simulate(system, inputs={"push": ([0.0, 1.0], [0.0, 4.0])})
    w = 2.0
    t = result.time
    expected = 0.1 * np.cos(w * t) + 2 * (t - np.sin(w * t) / w)  # x'' + w^2 x = 8 t
    assert np.allclose(result["A.x"], expected, atol=1e-8)


def test_quantities_with_rates_nonlinear_in_the_velocities():
    """The way along a path, int |v| dt, and a force that fades with it."""
    m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
    A = m.point("A", (1.0, 0.0), free="x", velocity=(0.8, 0))
    m.mass(A, 0.5)
    way = m.track("way", ca.sqrt(A.velocity[0] ** 2 + 1e-12), start=0.3)
    m.force(A, (-0.2 * way, 0), "brake")
    result = sk.simulate(m, until=1.0, rtol=1e-10, atol=1e-10, method="taylor")
    s = result["A.x"] - 1.0 + 0.3
    assert np.allclose(result["way"], s, atol=1e-8)
    w = np.sqrt(0.4)
    expected = 0.3 * np.cos(w * result.time) + 0.8 / w * np.sin(w * result.time)
    assert np.allclose(s, expected, atol=1e-8)
    m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
    A = m.point("A", (1.0, 0.0), velocity=(0.8, 0))
    m.mass(A, 0.5)
    way = m.track("way", ca.sumsqr(A.velocity))
    m.potential("well", way**2)
    with pytest.raises(sk.SekantError, match=r"rate of 'way' is not linear .*Lagrangian"):
        m.compile()


def test_derivatives_of_outputs_to_any_order():
    """A pendulum's angle by differences of the order below."""
    m = sk.natural.Mechanism(dim=2)
    m.rod(m.ground("O", (0, 0)), m.point("A", (0.6, -0.8)), mass=1.3)
    m.output("angle", "atan2(A.x, -A.y)", "rad", derivatives=4)
    result = sk.simulate(m, until=0.5, rtol=1e-12, atol=1e-12, method="taylor", output_step=1e-3)
    theta = result["angle"]
    assert np.allclose(result["angle.rate2"], -1.5 * 9.81 * np.sin(theta), atol=1e-8)
    rate = result["angle.rate"]
    assert np.allclose(result["angle.rate3"], -1.5 * 9.81 * np.cos(theta) * rate, atol=1e-7)
    fourth = -1.5 * 9.81 * (np.cos(theta) * result["angle.rate2"] - np.sin(theta) * rate**2)
    assert np.allclose(result["angle.rate4"], fourth, atol=1e-6)
