"""A car in joint, Cartesian and natural coordinates: the same accelerations, tire forces and motion."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sedans import sedan
from sekant.vehicle.car import Commands, car_description, car_model
from sekant.vehicle.drivers import hold_speed

FORMULATIONS = ("joint", "cartesian", "natural")
OUTPUTS = ["position", "velocity", "angles", "turn", "sideslip", "*.tire.*", "*.wheel.*", "*.upright.*"]


def swerving() -> sk.Model:
    """The steered car, driven by a PI driver, in a state in which everything moves."""
    car = car_description(sedan())
    steered = Commands(steer="0.2 + 0.5*step5(t, 0, 0, 0.05, 1)")
    model = car_model(car, hold_speed(steered, car, "20.5", 1500.0), speed=20.0)
    joints = dict(model.joints)
    joints["travel"] = joints["travel"].model_copy(
        update={"velocity": (19.7, 0.4, -0.1), "angular_velocity": (0.12, -0.07, 0.23)}
    )
    for k, name in enumerate(name for name in model.joints if name.endswith(".left.travel")):
        joints[name] = joints[name].model_copy(update={"q0": (0.011 - 0.017 * k,), "v0": (0.13 + 0.05 * k,)})
    return model.changed(joints=joints)


def differences(one: sk.Result, other: sk.Result) -> dict[str, float]:
    """Largest differences of all outputs, as shares of their largest values (or of a thousandth of their unit)."""
    return {
        name: float(np.abs(one[name] - other[name]).max() / max(1e-3, np.abs(one[name]).max()))
        for name in one.names
    }


@pytest.mark.parametrize("formulation", FORMULATIONS[1:])
def test_accelerations_and_forces_of_a_car(formulation) -> None:
    model = swerving()
    found = [sk.compile(model, formulation=name, engine="casadi") for name in ("joint", formulation)]
    values = [system.outputs(sk.assemble(system), names=OUTPUTS) for system in found]
    assert len(values[0]) > 80
    for name, value in values[0].items():
        size = max(1e-3, float(np.abs(value).max()))
        np.testing.assert_allclose(values[1][name], value, atol=1e-8 * size, err_msg=name)


@pytest.mark.long
@pytest.mark.parametrize("formulation", FORMULATIONS[1:])
def test_the_motion_of_a_car(formulation) -> None:
    model, how = swerving(), {"method": "dop853", "rtol": 1e-11, "atol": 1e-12, "output_step": 0.01}
    joint, other = (
        sk.simulate(sk.compile(model, formulation=name), 0.05, outputs=OUTPUTS, **how)
        for name in ("joint", formulation)
    )
    assert joint.ok
    assert other.ok
    worst = differences(joint, other)
    assert max(worst.values()) < 1e-8, max(worst, key=lambda name: worst[name])
