"""Pendulums whose motion is known: elliptic integrals, TROM's slider-pendulum, driven cranks and pivots."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from mechanisms import equations_of, values
from sekant.analyses.simulation.simulate import simulate
from sekant.engine import State, compile
from sekant.engine.functions.outputs import output_function
from sekant.geometry.spatial import SX
from sekant.model.body import Body
from sekant.model.forces import JointFriction, RotationalSpringDamper
from sekant.model.joints import Fixed, Prismatic, Revolute
from sekant.model.model import Model
from sekant.model.prescribed_motion import Motion

TIGHT = {"rtol": 1e-12, "atol": 1e-13}


@pytest.mark.parametrize("amplitude", [0.1, 1.7, 3.0])
def test_period_at_large_amplitude(amplitude):
    """T = 4 sqrt(J / (m g l)) K(sin^2(amplitude / 2)), J about the hinge."""
    m, r, g, J = 1.7, 0.45, 9.3, (0.3, 0.7, 0.9)
    model = Model(
        gravity=(0.0, 0.0, -g),
        bodies={"bob": Body(mass=m, com=(0.0, 0.21, -r), inertia=J)},
        joints={"hinge": Revolute(child="bob", axis=(0.0, 1.0, 0.0), q0=amplitude)},
    )
    period = 4 * np.sqrt((J[1] + m * r**2) / (m * g * r)) * ellipk(np.sin(amplitude / 2) ** 2)
    times = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 3.0]) * period
    result = simulate(model, output_times=times, outputs=["hinge.q", "hinge.v", "energy.balance"], **TIGHT)
    assert result.ok
    assert result["hinge.q"] == pytest.approx([amplitude, 0, -amplitude, 0, amplitude, amplitude], abs=2e-9)
    assert result["hinge.v"][[0, 2, 4, 5]] == pytest.approx(np.zeros(4), abs=2e-9)
    assert np.max(np.abs(result["energy.balance"])) < 1e-10


class TestSliderPendulum:
    """TROM 3.2.4: the published numbers belong to m2 = 10, m3 = 20, l = 2, j3x = 15, k = 20."""

    m2, m3, l, j, k, g = 10.0, 20.0, 2.0, 15.0, 20.0, 9.81

    def model(self, c=0.0) -> Model:
        return Model(
            bodies={
                "slider": Body(mass=self.m2, inertia=(0.3, 0.5, 0.7)),
                "rod": Body(mass=self.m3, com=(0.0, 0.0, -self.l / 2), inertia=(self.j, 14.0, 3.0)),
            },
            joints={
                "slide": Prismatic(child="slider", axis=(0.0, 1.0, 0.0)),
                "hinge": Revolute(parent="slider", child="rod", axis=(1.0, 0.0, 0.0)),
            },
            forces={"spring": RotationalSpringDamper(joint="slide", stiffness=self.k, damping=c)},
        )

    def test_equations_of_motion(self):
        """(3.36) at a large angle and speed."""
        c, y, theta, dy, w = 3.7, 0.4, 0.9, -1.1, 2.3
        half = self.m3 * self.l / 2
        M = np.array(
            [
                [self.m2 + self.m3, half * np.cos(theta)],
                [half * np.cos(theta), self.m3 * self.l**2 / 4 + self.j],
            ]
        )
        f = [half * np.sin(theta) * w**2 - c * dy - self.k * y, -half * self.g * np.sin(theta)]
        system = compile(self.model(c), engine="casadi")
        assert system.mass_matrix([y, theta]) == pytest.approx(M, rel=1e-14)
        assert system.forward_dynamics([y, theta], [dy, w]) == pytest.approx(np.linalg.solve(M, f), rel=1e-13)

    def matrices(self, c=0.0):
        eq = equations_of(self.model(c))
        rest = (0.0, np.zeros(2), np.zeros(2))
        static = eq.inverse_dynamics(SX.zeros(2))
        return values(eq, rest, eq.mass_matrix, ca.jacobian(static, eq.v), ca.jacobian(static, eq.q))

    def test_published_matrices_and_frequencies(self):
        M, C, K = self.matrices()
        assert pytest.approx(np.array([[30, 20], [20, 35]]), rel=1e-14) == M
        assert pytest.approx(np.diag([20, 196.2]), abs=1e-12) == K
        assert not np.any(C)
        squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
        assert squares == pytest.approx([0.63569205, 9.49661564], abs=6e-9)

    def test_published_damped_eigenvalues(self):
        """TROM table 3.7, with the minus sign of the real parts that is missing there."""
        M, C, K = self.matrices(c=20.0)
        A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
        found = np.linalg.eigvals(A)
        found = found[np.argsort(found.imag)][2:]
        assert found == pytest.approx([-0.312177 + 0.747815j, -0.226284 + 3.023550j], abs=1e-6)


class TestDrivenCrank:
    """A crank that turns as prescribed: nothing is free, and all forces follow."""

    m, r, g, J = 2.3, 0.4, 9.81, (0.3, 0.7, 0.9)

    def model(self, law) -> Model:
        return Model(
            bodies={"crank": Body(mass=self.m, com=(self.r, 0.0, 0.0), inertia=self.J)},
            joints={"hinge": Revolute(child="crank", axis=(0.0, -1.0, 0.0))},
            motions={"motor": Motion(joint="hinge", value=law)},
        )

    def test_torque_work_and_reaction(self):
        """theta = t^2: torque (J + m r^2) theta'' + m g r cos theta; the hinge carries weight and inertia."""
        result = simulate(self.model("t^2"), until=1.5, **TIGHT)
        t = result.time
        angle, rate = t**2, 2 * t
        assert result.ok
        assert result["hinge.q"] == pytest.approx(angle, abs=1e-15)
        torque = (self.J[1] + self.m * self.r**2) * 2 + self.m * self.g * self.r * np.cos(angle)
        assert result["motor.force"] == pytest.approx(torque, rel=1e-12)
        energy = 0.5 * (self.J[1] + self.m * self.r**2) * rate**2 + self.m * self.g * self.r * np.sin(angle)
        assert result["motor.work"] == pytest.approx(energy, abs=1e-9)
        radial = np.stack([np.cos(angle), 0 * t, np.sin(angle)], axis=1)
        tangent = np.stack([-np.sin(angle), 0 * t, np.cos(angle)], axis=1)
        force = self.m * self.r * (2 * tangent - rate[:, None] ** 2 * radial) + [0, 0, self.m * self.g]
        assert result["hinge.reaction"][:, :3] == pytest.approx(force, abs=1e-11)

    def test_steady_turning_pulls_towards_the_hinge(self):
        model = self.model("7*t").model_copy(update={"gravity": (0.0, 0.0, 0.0)})
        result = simulate(model, until=1.0, outputs=["hinge.reaction", "motor.force"])
        size = np.linalg.norm(result["hinge.reaction"][:, :3], axis=1)
        assert size == pytest.approx(np.full(size.size, self.m * self.r * 49), rel=1e-12)
        assert np.max(np.abs(result["motor.force"])) < 1e-11


def test_a_hanging_mass_weighs_on_its_joint():
    model = Model(
        gravity=(0.4, -0.7, -9.6),
        bodies={
            "weight": Body(mass=3.1, com=(0.2, 0.5, -0.3), inertia=(0.3, 0.7, 0.9)),
            "pan": Body(mass=0.7),
        },
        joints={
            "rod": Fixed(child="weight", at=(0.1, 0.2, 0.3)),
            "hinge": Revolute(parent="weight", child="pan"),
        },
    )
    system = compile(model, engine="casadi")
    function, chosen = output_function(system, ["rod.reaction"])
    fx, fy, fz, *moment = function([0.0], np.zeros(2), np.zeros(0))[0]
    weight = 3.8 * np.array([0.4, -0.7, -9.6])
    assert [fx, fy, fz] == pytest.approx(-weight, rel=1e-13)
    about = np.array([0.1, 0.2, 0.3])
    arms = 3.1 * (np.array([0.2, 0.5, -0.3]) - about) + 0.7 * (0 - about)
    assert moment == pytest.approx(-np.cross(arms, [0.4, -0.7, -9.6]), rel=1e-12)
    assert chosen[0].components[:3] == ("fx", "fy", "fz")


def test_a_pendulum_on_a_driven_pivot():
    """theta'' = -(m l (g sin theta + y'' cos theta) + c theta') / (J + m l^2), integrated by SciPy."""
    m, l, J, g, c = 1.3, 0.8, 0.21, 9.81, 0.35
    model = Model(
        bodies={"cart": Body(mass=5.0), "bob": Body(mass=m, com=(0, 0, -l), inertia=(J, 0.3, 0.25))},
        joints={
            "slide": Prismatic(child="cart", axis=(0, 1, 0)),
            "hinge": Revolute(parent="cart", child="bob", axis=(1, 0, 0), q0=0.4),
        },
        forces={"drag": JointFriction(joint="hinge", damping=c)},
        motions={"shaker": Motion(joint="slide", value="0.3*cos(4*t) + 0.1*t")},
    )
    result = simulate(model, until=6.0, **TIGHT)

    def rhs(t, x):
        push = -0.3 * 16 * np.cos(4 * t)
        turn = m * l * (g * np.sin(x[0]) + push * np.cos(x[0])) + c * x[1]
        return [x[1], -turn / (J + m * l**2)]

    expected = solve_ivp(rhs, (0, 6), [0.4, 0.0], "DOP853", result.time, rtol=1e-12, atol=1e-13).y
    assert result["hinge.q"] == pytest.approx(expected[0], abs=1e-9)
    assert result["hinge.v"] == pytest.approx(expected[1], abs=1e-8)
    assert np.max(np.abs(result["energy.balance"])) < 1e-9
    assert np.max(np.abs(result["shaker.work"])) > 1.0
    force = 5.0 * -4.8 * np.cos(4 * result.time)
    bob = m * result["bob.acceleration"][:, 1]
    alpha, angle, rate = result["hinge.a"], result["hinge.q"], result["hinge.v"]
    bob = bob + m * l * (alpha * np.cos(angle) - rate**2 * np.sin(angle))
    assert result["shaker.force"] == pytest.approx(force + bob, abs=1e-9)


def test_a_start_other_than_the_models_own():
    model = TestSliderPendulum().model(c=1.0)
    system = compile(model)
    halfway = simulate(system, output_times=[0.0, 0.4, 0.9], initial=State(np.array([0.1, 0.5]), np.zeros(2)))
    start = State(
        np.array([halfway["slide.q"][1], halfway["hinge.q"][1]]),
        np.array([halfway["slide.v"][1], halfway["hinge.v"][1]]),
    )
    rest = simulate(system, output_times=[0.4, 0.9], initial=start)
    assert rest.time == pytest.approx([0.4, 0.9])
    assert rest["hinge.q"][-1] == pytest.approx(halfway["hinge.q"][-1], abs=1e-8)
