"""Accelerations of joints, cut ones too, and of bodies are reported alike in all formulations."""

import numpy as np
import pytest

import sekant as sk


@pytest.fixture(scope="module")
def found():
    model = sk.load("examples/slider_crank.yaml")
    names = ["*.a", "*.angular_acceleration"]
    told = {}
    for formulation in ("joint", "cartesian", "natural"):
        system = sk.compile(model, formulation=formulation, engine="casadi")
        told[formulation] = system.outputs(sk.assemble(system), names)
    return model, told


def test_every_joint_and_body_is_there(found):
    model, told = found
    turning = [name for name, joint in model.joints.items() if joint.nv and joint.unit_quaternion is None]
    wanted = {f"{name}.a" for name in turning} | {f"{body}.angular_acceleration" for body in model.bodies}
    for values in told.values():
        assert wanted <= set(values)


@pytest.mark.parametrize("formulation", ["cartesian", "natural"])
def test_they_are_those_of_joint_coordinates(found, formulation):
    _, told = found
    largest = 0.0
    for name, value in told["joint"].items():
        np.testing.assert_allclose(told[formulation][name], value, rtol=1e-8, atol=1e-8)
        largest = max(largest, np.max(np.abs(value)))
    assert largest > 1.0
