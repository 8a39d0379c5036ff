"""Studies that drive: rows are the runs they stand for, by one compiled car; names are those of the car file."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sedans import sedan
from sekant import studies
from sekant.engine.alike import Alike
from sekant.errors import ModelError, SekantError
from sekant.studies.study_files import load_study
from sekant.vehicle.car import car_description, load_car
from sekant.vehicle.car.numbers import number_at, self_contained, with_numbers
from sekant.vehicle.driving import drive

MANEUVER = {"type": "step-steer", "duration": 2.6, "at": 0.2}
ROWS = studies.rows(
    {
        "chassis.mass": [1300.0, -5.0, 1480.0],
        "axles.*.tire.friction": [0.9, 0.9, 0.8],
        "maneuver.speed": [22.0, 22.0, 27.0],
    }
)


@pytest.fixture(scope="module")
def found():
    return sk.sweep(sedan(), ROWS, analysis="drive", maneuver=MANEUVER)


def pendulum(length, start, text="0.3*sin(2.5*t) - 0.2*v"):
    rod = sk.Body(mass=2.0, com=(0.0, 0.0, -length), inertia=(0.3, 0.4, 0.5))
    hinge = sk.joints.Revolute(child="rod", axis=(0.0, 1.0, 0.0), q0=start)
    return sk.Model(
        bodies={"rod": rod},
        joints={"hinge": hinge},
        forces={"push": sk.forces.Actuator(joint="hinge", force=text)},
    )


def test_models_that_differ_in_numbers_share_a_system():
    alike = Alike()
    plain = alike.variant(pendulum(0.6, 0.1))
    assert plain.values == {}
    second = alike.variant(pendulum(0.8, 0.2, "0.4*sin(2.5*t) - 0.2*v"))
    third = alike.variant(pendulum(0.7, 0.3, "0.5*sin(2.5*t) - 0.2*v"))
    assert sorted(third.values.values()) == [-0.7, 0.3, 0.5]
    assert third.system is second.system
    run = sk.simulate(third.system, 0.5, parameters=third.values, output_step=0.1)
    alone = sk.simulate(third.model, 0.5, output_step=0.1)
    np.testing.assert_allclose(run["hinge.q"], alone["hinge.q"], rtol=1e-9)
    other = alike.variant(pendulum(0.8, 0.2, "0.4*cos(2.5*t) - 0.2*v"))
    assert other.system is not second.system


def test_a_row_is_the_run_of_its_car(found):
    car = with_numbers(car_description(sedan()), {"chassis.mass": 1480.0, "axles.*.tire.friction": 0.8})
    run = drive(car, "step-steer", speed=27.0, duration=2.6, at=0.2)
    for measure in run.measures:  # both within the tolerance of their runs
        assert found[measure.name][2] == pytest.approx(measure.value, rel=1e-5, abs=1e-6)
        assert found.units[measure.name] == measure.unit


def test_a_row_that_cannot_be_is_a_row(found):
    assert [found.statuses[i] for i in found.status] == ["finished", "failed", "finished"]
    assert "chassis.mass: must be positive (got -5)" in found.messages[1]
    assert np.isnan(found["overshoot of yaw rate"][1])
    assert found["overshoot of yaw rate"][0] != found["overshoot of yaw rate"][2]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("chassis.mas", "'chassis.mas': 'chassis' has no 'mas'.*mass"),
        ("axles.middle.tire.friction", "'axles' has no 'middle'.*front"),
        ("axles.front.tire", "'axles.front.tire' of the car is not a number; name one of its fields"),
        ("chassis.com[3]", "'chassis.com' has no '3'"),
        ("maneuver.sped", "maneuver 'step-steer' has no option 'sped'.*speed"),
        ("sped", "the car has no 'sped'; did you mean 'speed'"),
        ("car.sped", r"write the name without 'car\.'; did you mean 'speed'"),
    ],
)
def test_names_that_no_car_has_are_told_before_anything_runs(name, says):
    with pytest.raises(ModelError, match=says):
        sk.sweep(sedan(), studies.rows({name: [1.0]}), analysis="drive", maneuver=MANEUVER)


def test_a_model_is_no_car():
    with pytest.raises(SekantError, match=r"requires a car, for example from sk\.vehicle\.load_car"):
        sk.sweep(pendulum(0.6, 0.1), ROWS, analysis="drive")


def test_numbers_of_hard_points_are_those_of_their_file():
    car = self_contained(load_car("examples/car/hatchback.yaml"))
    place = "axles.rear.suspension.points.lower_ball[2]"
    assert number_at(car, place) == pytest.approx(-0.09)
    other = with_numbers(car, {place: -0.08, "axles.*.suspension.set_up.camber_shim": 1e-3})
    assert other.axles["rear"].suspension.points["lower_ball"] == (0.005, 0.625, -0.08)
    assert [axle.suspension.set_up for axle in other.axles.values()] == [{"camber_shim": 1e-3}] * 2
    assert number_at(car, place) == pytest.approx(-0.09)
    with pytest.raises(ModelError, match="stiffness"):
        with_numbers(car, {"axles.front.suspension.spring.stiffness": "12 kg"})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("mean: 1450 kg", "mean: 1450 N", r":5: .*'1450 N' is a force, but a mass is expected"),
        ("70..110 km/h", "70..110 km", r":8: .*a length, but a velocity is expected"),
        ("maneuver.speed", "maneuver.sped", r":8: .*maneuver 'step-steer' has no option 'sped'.*speed"),
        ("type: step-steer", "type: step-ster", r":9: .*unknown maneuver 'step-ster'.*step-steer"),
        ("acceleration: 4", "acelleration: 4", r":9: .*unknown key 'acelleration'.*acceleration"),
    ],
)
def test_faults_of_a_study_have_their_line(tmp_path, old, new, says):
    text = Path("examples/studies/step_steer.yaml").read_text().replace(old, new)
    (tmp_path / "s.yaml").write_text(text.replace("../car/", f"{Path('examples/car').resolve()}/"))
    with pytest.raises(SekantError, match=r"s\.yaml" + says):
        load_study(tmp_path / "s.yaml")


def test_the_example_is_read():
    study = load_study("examples/studies/step_steer.yaml")
    assert study.analysis == "drive"
    assert study.samples.values.shape == (24, 4)
    assert study.options["maneuver"] == {"type": "step-steer", "acceleration": 4}
