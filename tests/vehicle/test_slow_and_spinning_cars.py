"""Cars that stand, start with spinning wheels, or start at their own speed."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sedans import sedan
from sekant.errors import ModelError
from sekant.vehicle.car import Commands, car_model, load_car
from sekant.vehicle.car.description import car_description
from sekant.vehicle.maneuvers import MANEUVERS

SEDAN = Path(__file__).parents[2] / "examples" / "car" / "sedan.yaml"
FIALA = {
    "type": "fiala_tire", "radius": 0.23, "vertical_stiffness": 1e5, "vertical_damping": 200.0, "slip_stiffness": 2e4,
    "cornering_stiffness": 2.1e4, "friction": 1.4, "sliding_friction": 1.1, "longitudinal_relaxation": 0.1,
    "lateral_relaxation": 0.2, "patch_damping": 500.0,
}  # fmt: skip
MAGIC = {
    "type": "magic_formula_tire",
    "coefficients": {
        "UNLOADED_RADIUS": 0.23, "FNOMIN": 800.0, "VERTICAL_STIFFNESS": 1e5, "VERTICAL_DAMPING": 150.0,
        "LONGVL": 16.7, "LONGITUDINAL_STIFFNESS": 1.2e5, "LATERAL_STIFFNESS": 8e4,
        "PCX1": 1.6, "PDX1": 1.5, "PDX2": -0.06, "PEX1": 0.1, "PKX1": 21.0, "PKX3": 0.2,
        "PCY1": 1.35, "PDY1": 1.4, "PEY1": -0.8, "PKY1": -17.0, "PKY2": 1.9, "PKY4": 2.0,
        "RBX1": 13.0, "RBX2": 9.7, "RCX1": 1.05, "RBY1": 11.0, "RBY2": 8.0, "RCY1": 1.05,
    },
}  # fmt: skip


def light_car(tire, **changes):
    """270 kg, driven at the rear."""
    wheel = {"mass": 8.0, "inertia": [0.2, 0.3, 0.2]}
    axle = {
        "suspension": {"track": 1.2, "stiffness": 3e4, "damping": 2500.0, "mass": 6.0},
        "tire": tire,
        "wheel": wheel,
    }
    chassis = {"mass": 214.0, "com": [-0.85, 0, 0.28], "inertia": [25.0, 90.0, 100.0]}
    axles = {"front": axle | {"steering": {}}, "rear": axle | {"at": [-1.55, 0, 0]}}
    return car_description({"chassis": chassis, "axles": axles, "drive": {"axle": "rear"}, **changes})


@pytest.mark.parametrize("method", [None, "radau5"])
@pytest.mark.parametrize("tire", [FIALA, MAGIC], ids=["fiala", "magic"])
def test_a_light_car_starts_with_spinning_wheels(tire, method):
    model = car_model(light_car(tire), Commands(torque="1500"), speed=5.0)
    result = sk.simulate(model, 0.4, method=method)
    assert result.status == "finished", result.message
    assert result.stats["steps"] < 1500
    assert not result.warnings
    assert result["rear.left.tire.kappa"].max() > 3.0
    # what the rear tires push accelerates the car: both slide at the friction of their load
    assert 5.5 < result["speed"][-1] < 5 + 0.4 * 1.5 * 9.81


def test_a_standing_car_has_no_warning_and_no_sideslip():
    result = sk.simulate(car_model(load_car(SEDAN), speed=0.0), 0.5)
    assert result.ok
    assert result.warnings == ()
    assert np.max(np.abs(result["sideslip"])) < 1e-9


def test_sideslip_is_the_direction_of_the_velocity_of_a_car_that_moves():
    """Rolling down a grade from rest, its wheels steered: from zero to the direction, without a jump."""
    car = light_car(FIALA, road={"type": "grade", "slope": -0.2})
    result = sk.simulate(car_model(car, Commands(steer="1.5"), speed=0.0), 0.5)
    assert result.ok
    beta, speed, side = result["sideslip"], result["speed"], result["lateral_velocity"]
    moves = np.hypot(speed, side) > 0.1
    assert moves.any()
    assert not moves.all()
    np.testing.assert_allclose(beta[moves], np.arctan2(side, speed)[moves], atol=1e-12)
    assert np.max(np.abs(np.diff(beta))) < 1.0  # a jump between -pi and pi is 6.3


@pytest.mark.parametrize("method", ["dop853", "radau5"])
def test_laps_of_a_circle_have_no_jump_where_the_yaw_angle_does(method):
    """The yaw angle passes half a turn in every lap; nothing in the axes of the car notices."""
    model = car_model(light_car(FIALA), Commands(steer="2.5*step5(t, 0, 0, 0.5, 1)", torque="40"), speed=5.0)
    # 2,000 steps: compiling with optimization would take longer than all answers
    result = sk.simulate(sk.compile(model, quick=True), 17.0, method=method, output_step=0.02)
    assert result.ok
    assert result.warnings == ()
    assert np.trapezoid(result["yaw_rate"], result.time) > 2 * 2 * np.pi
    late = result.time > 2.0
    for name in ("speed", "lateral_velocity", "sideslip", "yaw_rate"):
        # the car still gains speed, evenly: second differences are what a jump, or a kink, shows in
        assert np.max(np.abs(np.diff(result[name][late], 2))) < 1e-4, name


@pytest.mark.parametrize("given", [None, 7.0])
def test_the_model_of_a_car_starts_at_the_speed_of_the_car(given):
    car = light_car(FIALA, speed=13.0)
    model = car_model(car, speed=given)
    assert model.joints["travel"].velocity == (given or 13.0, 0.0, 0.0)


def test_lengths_without_a_unit_that_no_car_has_are_refused():
    for change, place in (
        (
            {"axles": {**sedan()["axles"], "rear": {**sedan()["axles"]["rear"], "at": [-2630, 0, 0]}}},
            "'at' of 'rear'",
        ),
        ({"chassis": {**sedan()["chassis"], "com": [-1.15, 0, 520]}}, "com"),
    ):
        with pytest.raises(
            ModelError, match=rf"{place}: -?\d+ m is larger than .* in meters, so write '-?\d+ mm'"
        ):
            car_description(sedan(**change))


def test_titles_tell_a_speed_that_is_held_from_one_at_the_start():
    slalom, lane_change = (MANEUVERS[name]() for name in ("slalom", "double-lane-change"))
    assert slalom.pace == "starting at 40 km/h"
    assert lane_change.pace == "at 80 km/h"
