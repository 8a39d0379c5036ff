"""Signals, samples, delays, events, dry friction, a contact and play in one mechanism, in all coordinates and as an
FMU; and turns of joints, which all coordinates count where something goes by them."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.model.parse import model_from_dict

PLACES = ("carriage.position.x", "load.position.x", "arm.position.x", "goal", "work", "swing")
UNTIL, RTOL = 3.0, 1e-9


@pytest.fixture(scope="module")
def feeder() -> sk.Model:
    return sk.load("examples/feeder.yaml")


def run(system: sk.System | sk.Model, method: str = "dop853") -> sk.Result:
    return sk.simulate(system, until=UNTIL, method=method, rtol=RTOL, atol=RTOL / 100, output_step=0.02)


@pytest.fixture(scope="module")
def own(feeder) -> sk.Result:
    """Everything happens: the motor turns twice, the load slides, sticks and hits the wall, the run is reset once."""
    found = run(feeder)
    assert found["shaft.q"].max() > 4 * np.pi
    assert found["bumper.normal_force"].max() > 5
    assert found["arrival"][-1] == 1
    assert min(found.stats["slips"], found.stats["sticks"]) >= 1
    assert found.warnings == ()
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("formulation", "method"),
    [("joint", "taylor"), *((f, m) for f in ("cartesian", "natural") for m in ("dop853", "taylor"))],
)
def test_all_coordinates_and_methods_agree(feeder, own, formulation, method):
    found = run(sk.compile(feeder, formulation=formulation), method)
    for name in PLACES:
        assert np.abs(found[name] - own[name]).max() <= 100 * RTOL * max(1, np.abs(own[name]).max()), name
    for count in ("events", "sticks", "slips"):
        assert found.stats[count] == own.stats[count]


@pytest.mark.long
def test_co_simulation_agrees(feeder, own, tmp_path):
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    path, shown = str(tmp_path / "feeder.fmu"), ("rail.q", "tray.q", "hang.q", "shaft.q", "tray.v")
    outputs = [*shown, "arrival", "tray_friction.stuck"]
    sk.export.fmu(feeder, path, kind="cs", method="dop853", rtol=RTOL, atol=RTOL / 100, outputs=outputs)
    assert validate_fmu(path) == []
    options = {"stop_time": UNTIL, "output_interval": 0.02, "relative_tolerance": RTOL}
    found = simulate_fmu(path, record_events=False, **options)
    for name in shown:
        assert np.abs(found[name] - own[name]).max() <= 100 * RTOL * max(1, np.abs(own[name]).max()), name
    for name in ("arrival", "tray_friction.stuck"):
        np.testing.assert_array_equal(found[name], own[name])


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
@pytest.mark.parametrize("kind", ["revolute", pytest.param("cylindrical", marks=pytest.mark.long)])
def test_a_rack_goes_on_after_half_a_turn(formulation, kind):
    """x = ratio M t^2 / 2 (J + m ratio^2); the spring on the hinge is wound up by whole turns too."""
    ratio, torque, k = 0.05, 3.0, 0.7
    model = model_from_dict(
        {
            "name": "rack",
            "gravity": [0, 0, 0],
            "bodies": {
                "wheel": {"mass": 1, "inertia": [1, 1, 1]},
                "rack": {"mass": 2, "inertia": [0.1, 0.1, 0.1]},
            },
            "joints": {
                "axle": {"type": kind, "child": "wheel", "axis": [0, 1, 0]},
                "rail": {"type": "prismatic", "child": "rack", "axis": [1, 0, 0]},
            },
            "constraints": {"teeth": {"type": "coupling", "joint": "axle", "driven": "rail", "ratio": ratio}},
            "forces": {
                "motor": {"type": "actuator", "joint": "axle", "force": torque},
                "spring": {"type": "rotational_spring_damper", "joint": "axle", "stiffness": k},
            },
        }
    )
    result = sk.simulate(sk.compile(model, formulation=formulation), until=3.0, rtol=1e-9, output_step=0.25)
    w = np.sqrt(k / (1 + 2 * ratio**2))
    angle = torque / k * (1 - np.cos(w * result.time))
    assert angle.max() > 2 * np.pi
    np.testing.assert_allclose(result["rack.position.x"], ratio * angle, atol=1e-8)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_an_even_spin_ends_where_it_should(method):
    """Velocities are constant: the orientation alone limits the steps."""
    fly = {"type": "free", "child": "top", "angular_velocity": [0, 0, 40.0]}
    data = {"name": "top", "gravity": [0, 0, 0], "bodies": {"top": {"mass": 1, "inertia": [1, 1, 2]}}}
    result = sk.simulate(
        model_from_dict({**data, "joints": {"fly": fly}}), until=3.0, method=method, rtol=1e-9
    )
    w = result["top.orientation"][:, 0]
    assert np.abs(np.abs(w) - np.abs(np.cos(20.0 * result.time))).max() < 1e-6
