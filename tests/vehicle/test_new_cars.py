"""What `sekant new car` and `sekant new formula` write: curves that one would build, and how the cars are drawn."""

import numpy as np
import pytest

import sekant as sk
from sekant.model.shapes import Box, Wheel
from sekant.views.commands.new import FOLDER
from suspensions import EXAMPLES

AXLES = [(car, axle) for car in ("car", "formula") for axle in ("front", "rear")]
HARD_POINTS = [
    *(FOLDER / car / f"{axle}.yaml" for car, axle in AXLES),
    *sorted((EXAMPLES / "hardpoints").glob("*.yaml")),
    *sorted((EXAMPLES.parent / "axles").glob("*.yaml")),
]


@pytest.mark.parametrize(("car", "axle"), AXLES)
def test_axles_one_would_build(car, axle):
    """Camber falls all the way from rebound to bump, toe stays, springs always push, wheels are held in roll.

    A rebound stop holds a wheel that hangs free well within the travel.
    """
    points = sk.vehicle.load_axle(FOLDER / car / f"{axle}.yaml")
    low, high = points.suspension.travel
    heights = np.linspace(low, high, 9)
    if points.rebound_stop is not None:
        held = sk.vehicle.axle_curves(points, travel=heights)["left.spring_load"][:, 0]
        assert held[0] < 0 < held[1]
        points = points.model_copy(update={"rebound_stop": None})
    curves = sk.vehicle.axle_curves(points, travel=heights)
    assert np.all(np.diff(curves["left.camber"][:, 0]) < 0)
    toe = curves["left.toe"][:, 0]
    assert np.abs(toe - toe[4]).max() < np.radians(0.1)
    assert np.all(curves["left.spring_load"] > 0)
    assert np.all(np.diff(curves["left.spring_load"][:, 0]) > 0)
    assert 0 < curves["roll_center_height"][4, 0] < 0.2
    if points.suspension.steering is not None:
        steered = sk.vehicle.axle_curves(points, travel=[0.0], steering=points.suspension.steering)
        assert np.all(steered["ackermann_share"] > 0)
        turn = points.suspension.rack_per_turn
        assert steered["left.steer_angle"][0, 1] * turn > 0  # the rack's way of a left turn is told rightly


def test_a_new_car_stays_within_its_travel_as_it_brakes():
    """The rear wheels hang on their rebound stops under full braking."""
    car = sk.vehicle.load_car(FOLDER / "car" / "car.yaml")
    run = sk.vehicle.drive(car, "brake-straight", speed="60 km/h")
    assert run.result.ok, run.result.message
    reached = run.result["rear.left.upright_path.q"].min()
    assert -0.08 < reached < -0.062  # the stop pushes


@pytest.mark.parametrize("file", HARD_POINTS, ids=lambda file: f"{file.parent.name}_{file.stem}")
def test_hard_points_are_saved_as_they_are(file, tmp_path):
    points = sk.vehicle.load_axle(file)
    again = sk.vehicle.load_axle(points.save(tmp_path / "points.yaml"))
    assert again == points
    with pytest.raises(sk.SekantError, match=r"must end in \.yaml"):
        points.save(tmp_path / "points.txt")


@pytest.mark.parametrize("file", ["sedan.yaml", "formula/formula.yaml", "measured/car.yaml"])
def test_a_car_is_compiled_with_its_springs_as_parameters(file):
    car = sk.vehicle.load_car(EXAMPLES.parent / "car" / file)
    system = sk.compile(car, parameters=["front.left.spring.stiffness"])
    axle = car.axles["front"].suspension
    wanted = {"sedan": 25e3, "formula": 150e3, "measured": 28e3}[file.partition("/")[0].removesuffix(".yaml")]
    assert system.parameter_vector() == [wanted], axle


def test_softer_springs_of_a_simple_axle_as_a_parameter_or_written():
    """The motion of a car compiled with a stiffness as run-time parameter is that of one built with its value."""
    car = sk.vehicle.load_car(EXAMPLES.parent / "car" / "sedan.yaml")
    names = {f"front.{side}.spring.stiffness": 20e3 for side in ("left", "right")}
    softer = sk.simulate(sk.compile(car, parameters=list(names)), 0.1, parameters=names)
    front = car.axles["front"]
    load = car.model().forces["front.left.spring"].force  # the push as the car stands stays
    preload = -float(str(load).split(" - ")[0])
    front = front.changed(suspension=front.suspension.changed(stiffness=20e3, preload=preload))
    written = sk.simulate(car.changed(axles={**car.axles, "front": front}), 0.1)
    name = "front.left.travel.q"
    assert softer[name][-1] == pytest.approx(written[name][-1], rel=1e-6)
    assert preload > 2000


def test_a_race_car_is_drawn_as_one():
    """No part of the body lies within a wheel; the area of a wing follows from the downforce."""
    model = sk.load(FOLDER / "formula" / "formula.yaml")
    car = sk.vehicle.load_car(FOLDER / "formula" / "formula.yaml")
    boxes = {name: shape for name, shape in model.shapes.items() if isinstance(shape, Box)}
    wheels = [shape for shape in model.shapes.values() if isinstance(shape, Wheel)]
    assert [wheel.radius for wheel in wheels] == [
        axle.tire.unloaded_radius for axle in car.axles.values() for _ in range(2)
    ]
    inner = 0.59 - car.axles["rear"].wheel.width / 2
    assert {"chassis_cockpit", "chassis_left_pod", "chassis_rear_wing"} <= set(boxes)
    for name, box in boxes.items():
        reach = abs(box.pose.position[1]) + box.size[1] / 2
        assert reach < inner or "wing" in name or "plate" in name
    front, rear = (boxes[f"chassis_{end}_wing"].size for end in ("front", "rear"))
    ratio = float(car.air.rear_area) / float(car.air.front_area)
    assert rear[0] * rear[1] / (front[0] * front[1]) == pytest.approx(ratio)
    closed = car.changed(looks="closed").model()
    assert "chassis_cabin" in closed.shapes
    assert "chassis_cabin" in sk.load(EXAMPLES.parent / "car" / "sedan.yaml").shapes
