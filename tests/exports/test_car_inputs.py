"""A car for other programs: its driver's commands are inputs, in Python and in an FMU."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant.vehicle.car import car_with_inputs, is_car_file, load_car
from sekant.views.cli import app

CARS = Path(__file__).parents[2] / "examples" / "car"
SEDAN = CARS / "sedan.yaml"


@pytest.fixture(scope="module")
def sedan() -> sk.System:
    return sk.compile(car_with_inputs(load_car(SEDAN)))


def test_inputs_are_what_the_driver_can_do(sedan: sk.System):
    assert sedan.inputs == ("steering_wheel_angle", "throttle", "brake_pedal")
    car = load_car(SEDAN)
    assert not car_with_inputs(car.changed(drive=None, brakes=None)).inputs.keys() & {
        "throttle",
        "brake_pedal",
    }
    assert is_car_file(SEDAN)
    assert not is_car_file(CARS.parent / "quarter_car.yaml")


@pytest.mark.parametrize(
    ("given", "channel", "sign"),
    [
        ({"steering_wheel_angle": 0.3}, "yaw_rate", 1),
        ({"steering_wheel_angle": -0.3}, "yaw_rate", -1),
        ({"throttle": 0.8}, "speed", 1),
        ({"brake_pedal": 0.5}, "speed", -1),
    ],
)
def test_the_car_obeys(sedan: sk.System, given: dict[str, float], channel: str, sign: int):
    """Against the same car with all inputs at 0."""
    left_alone = sk.simulate(sedan, 0.4, outputs=[channel])
    driven = sk.simulate(sedan, 0.4, outputs=[channel], inputs=given)
    assert driven.status == "finished"
    assert sign * (driven[channel][-1] - left_alone[channel][-1]) > 0.05


def test_a_car_file_becomes_an_fmu_with_these_inputs(tmp_path: Path):
    """On the command line, with another mass of its chassis."""
    fmpy = pytest.importorskip("fmpy")
    file, shown = tmp_path / "sedan.fmu", ("speed", "yaw_rate")
    options = ["--kind", "cs", "--method", "rk4", "--step", "1 ms", "--set", "chassis.mass=1450 kg", "--json"]
    channels = [part for name in shown for part in ("--channel", name)]
    run = CliRunner().invoke(app, ["export", "fmu", str(SEDAN), "-o", str(file), *options, *channels])
    assert run.exit_code == 0, run.output
    inputs = json.loads(run.stdout)["inputs"]
    assert inputs == ["steering_wheel_angle", "throttle", "brake_pedal"]
    steps = np.array(
        [(0.0, 0.2, 0.5, 0.0), (0.1, 0.2, 0.5, 0.0)],
        dtype=[("time", float), *((n, float) for n in inputs)],
    )
    found = fmpy.simulate_fmu(str(file), stop_time=0.1, output_interval=0.01, input=steps)
    car = load_car(SEDAN)
    here = sk.simulate(
        car_with_inputs(car.changed(chassis=car.chassis.changed(mass=1450.0))),
        0.1,
        method="rk4",
        step=1e-3,
        output_step=0.01,
        outputs=list(shown),
        inputs={"steering_wheel_angle": 0.2, "throttle": 0.5},
    )
    for name in shown:  # the same steps; code for every processor fuses no products and sums
        np.testing.assert_allclose(found[name], here[name], rtol=1e-9, atol=1e-11)
