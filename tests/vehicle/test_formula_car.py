"""The light race car of the examples: its axles steer little in bump, it stands and drives."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.vehicle.car import Commands, car_model, load_car, standing_loads
from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.driving import drive

FOLDER = Path(__file__).parents[2] / "examples" / "car" / "formula"


@pytest.mark.parametrize("axle", ["front", "rear"])
def test_wheels_lean_inward_and_hardly_steer_in_bump(axle):
    curves = sk.vehicle.axle_curves(
        sk.vehicle.load_axle(FOLDER / "parts" / f"{axle}.yaml"), travel=np.linspace(-0.03, 0.03, 13)
    )
    assert curves.warnings == ()
    assert np.max(np.abs(np.degrees(curves["left.toe"]))) < 0.1
    assert np.all(np.diff(curves["left.camber"][:, 0]) < 0)
    assert np.all(curves["left.motion_ratio"] > 0.25)
    assert np.all(curves["left.wheel_rate"] > 8e3)


def test_it_is_light_and_stands_near_its_drawing():
    car = load_car(FOLDER / "formula.yaml")
    mass = car.chassis.mass + sum(axle_data(axle).masses.sum() for axle in car.axles.values())
    assert mass == pytest.approx(270.0, abs=0.5)
    loads = standing_loads(car)
    assert 2 * sum(loads.values()) == pytest.approx(9.81 * mass, rel=1e-9)
    assert loads["rear"] > loads["front"]


def test_it_accelerates():
    """600 N m at the rear from 5 m/s on: no more than they push a car whose wheels weigh nothing."""
    model = car_model(load_car(FOLDER / "formula.yaml"), Commands(torque="600"), speed=5.0)
    # 140 steps: compiling would take longer than all answers
    result = sk.simulate(sk.compile(model, engine="casadi"), 0.1)
    assert result.status == "finished", result.message
    assert result.stats["steps"] < 700
    assert 5.5 < result["speed"][-1] < 5 + 0.1 * 600 / 0.22 / 270


@pytest.mark.long
def test_it_is_driven_through_its_maneuver():
    run = drive(load_car(FOLDER / "formula.yaml"), "step-steer", speed=15.0, duration=2.0)
    assert run.result.status == "finished"
    assert run.warnings == ()
    found = {m.name: m.value for m in run.measures}
    assert found["largest lateral acceleration"] == pytest.approx(3.3, abs=0.7)
    assert found["least wheel load"] > 300.0


def test_speed_does_not_sag_in_the_first_seconds():
    run = drive(load_car(FOLDER / "formula.yaml"), "step-steer", angle=0.0, duration=1.5)
    assert 3.6 * abs(run["speed"] - run["speed"][0]).max() < 0.1
