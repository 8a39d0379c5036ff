"""Masses and inertias that no body has are refused also where they come from parameters."""

from __future__ import annotations

import pytest

import sekant as sk
from sekant.errors import ModelError


def arm(**parameters) -> sk.Model:
    return sk.Model(
        parameters={"m": 2.0, "long": 0.17, "thin": 0.01} | parameters,
        bodies={"arm": sk.Body(mass="m", com=(0, 0, -0.5), inertia=("long", 0.16, "thin"))},
        joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0="100 deg")},
    )


BAD = [
    ({"m": -2.0}, r"body 'arm': mass must not be negative \(got -2 kg\) \(with .*m = -2"),
    ({"long": 0.9}, r"body 'arm': inertia violates the triangle inequality.*long = 0.9"),
    ({"thin": -0.3}, r"body 'arm': inertia is not positive definite .*thin = -0.3"),
    ({"m": 0.0}, r"body 'arm': a body with inertia needs a mass.*m = 0"),
]


@pytest.mark.parametrize(("values", "text"), BAD)
def test_baked_in(values, text):
    with pytest.raises(ModelError, match=text):
        sk.compile(arm(**values))


@pytest.fixture(scope="module")
def system():
    return sk.compile(arm(), parameters=["m", "long", "thin"], engine="casadi")


@pytest.mark.parametrize(("values", "text"), BAD)
def test_at_run_time(system, values, text):
    with pytest.raises(ModelError, match=text):
        sk.simulate(system, 0.1, parameters=values)
    for analysis in (sk.equilibrium, sk.linearize):
        with pytest.raises(ModelError, match=text):
            analysis(system, parameters=values)


def test_defaults_of_run_time_parameters():
    with pytest.raises(ModelError, match=r"mass must not be negative \(got -2 kg\) \(with m = -2\)"):
        sk.compile(arm(m=-2.0), parameters=["m"])


def test_a_field_as_parameter(system):
    fields = sk.compile(arm(), parameters=["arm.mass", "arm.inertia"], engine="casadi")
    with pytest.raises(ModelError, match=r"body 'arm': mass must not be negative .*arm.mass = -1"):
        fields.parameter_vector({"arm.mass": -1.0})
    with pytest.raises(ModelError, match=r"triangle inequality.*arm.inertia = \(1, 1, 3, 0, 0, 0\)"):
        fields.parameter_vector({"arm.inertia": (1, 1, 3, 0, 0, 0)})
    assert fields.parameter_vector({"arm.mass": 3.0})[0] == 3.0


def test_natural_parts():
    m = sk.natural.Mechanism(dim=2)
    mass = m.parameter("mass", 1.5)
    O, A = m.ground("O", (0.0, 0.0)), m.point("A", (0.3, -0.4))
    m.rod(O, A, mass=mass, name="rod")
    system = m.compile(engine="casadi")
    assert system.parameter_vector({"mass": 2.0})[0] == 2.0
    with pytest.raises(ModelError, match=r"'rod': mass must not be negative \(got -2\)"):
        system.parameter_vector({"mass": -2.0})


def test_a_steady_motion_that_needs_a_negative_mass():
    """A pendulum weight that is to be found from the force of a spring which pulls up too strongly."""
    model = sk.Model(
        parameters={"m": 2.0},
        bodies={"block": sk.Body(mass="m"), "disc": sk.Body(mass=0.1, inertia=(1, 1, 1.5))},
        joints={
            "slide": sk.joints.Prismatic(child="block"),
            "turn": sk.joints.Revolute(parent="block", child="disc"),
        },
        forces={"push": sk.forces.PointForce(frame="block", force=(0, 0, -30.0))},
    )
    system = sk.compile(model, parameters=["m"], engine="casadi")
    with pytest.raises(ModelError, match=r"body 'block': mass must not be negative"):
        sk.analyses.steady_motion(system, rates={"turn.angle": 3.0}, unknown=["m"])
