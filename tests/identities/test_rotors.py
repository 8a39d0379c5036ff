"""Rotors, whose recursions do not turn, move as bodies of the same masses whose recursions do."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.formulations.rotors import rotors_of


def gyroscope(**wheel) -> sk.Model:
    """A wheel that spins at the tip of a swinging arm, its own origin off the axle, with a spring on its rim."""
    own = {"mass": 1.7, "com": (0.1, 0.23, -0.2), "inertia": (0.31, 0.52, 0.31), **wheel}
    return sk.Model(
        gravity=(0.3, -0.2, -9.81),
        parameters={"J": 0.31},
        bodies={
            "arm": sk.Body(mass=0.9, com=(0.2, 0.1, -0.3), inertia=(0.11, 0.13, 0.17)),
            "wheel": sk.Body(**own, frames={"rim": {"position": (0.4, 0.3, -0.1)}}),
        },
        joints={
            "ball": sk.joints.Spherical(child="arm", angular_velocity=(0.7, -0.4, 1.1)),
            "axle": sk.joints.Revolute(
                parent="arm", child="wheel", at=(0.1, 0.4, -0.2), axis=(0, 1, 0), q0=0.8, v0=13.0
            ),
        },
        forces={
            "rubber": sk.forces.SpringDamper(
                parent="ground", child="wheel.rim", stiffness=31.0, damping=0.7, free_length=0.2
            ),
            "motor": sk.forces.Actuator(joint="axle", force="0.4*sin(q) - 0.1*v"),
        },
    )


@pytest.fixture(scope="module")
def both():
    rotor = gyroscope()
    # one of two inertias that are equal may change: such a wheel is not a rotor
    turning = gyroscope(inertia=("J", 0.52, 0.31))
    return sk.compile(rotor), sk.compile(turning, parameters=["J"])


def test_which_bodies_are_rotors(both) -> None:
    links = both[0].equations.motion.links
    assert {links[i].body for i in rotors_of(links)} == {"wheel"}
    assert not rotors_of(both[1].equations.motion.links)
    equal = sk.compile(gyroscope(inertia=("J", 0.52, "J")), parameters=["J"])
    assert len(rotors_of(equal.equations.motion.links)) == 1
    for change in ({"com": (0.11, 0.23, -0.2)}, {"inertia": (0.31, 0.52, 0.32)}):
        assert not rotors_of(sk.compile(gyroscope(**change)).equations.motion.links)


def test_a_rotor_moves_as_its_body_does(both) -> None:
    results = [sk.simulate(system, 0.4, method="dop853", rtol=1e-11, output_step=0.1) for system in both]
    assert results[0].names == results[1].names
    for name in results[0].names:
        a, b = (result[name] for result in results)
        np.testing.assert_allclose(a, b, atol=1e-8 * max(1.0, float(np.abs(b).max())), err_msg=name)


def test_the_angle_of_a_rotor_costs_nothing() -> None:
    free = gyroscope().changed(forces={})
    eq = sk.compile(free).equations
    import casadi as ca

    assert "axle.q0" not in {symbol.name() for symbol in ca.symvar(eq.a)}
