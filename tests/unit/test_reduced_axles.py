"""Axles of cars reduced to surfaces and paths: one rack for both sides, masses kept, mirror images."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.model.resolve import resolve
from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.description import Axle
from sekant.vehicle.car.hard_point_axle import hard_point_axle
from sekant.vehicle.car.reduced_axle import reduced_axle

POINTS = str(Path(__file__).parents[2] / "examples" / "car" / "parts" / "hall_mcpherson.yaml")
TIRE = {
    "type": "linear_tire",
    "radius": 0.31,
    "vertical_stiffness": 2e5,
    "slip_stiffness": 1e4,
    "cornering_stiffness": 5e4,
}


@pytest.fixture(scope="module")
def front():
    axle = Axle(suspension=POINTS, tire=TIRE, steering={})
    return axle, reduced_axle(axle, POINTS, "split", tolerance=1e-6)


def test_a_steered_axle_has_two_travels_and_one_rack(front):
    _, part = front
    system = sk.compile(part)
    assert system.nv == 5  # with the spin of two wheels
    assert {joint.second_coordinate_of for joint in part.joints.values() if joint.type == "surface"} == {
        "rack"
    }


def test_no_mass_is_lost(front):
    axle, part = front
    whole = sum(float(body.mass) for body in resolve(hard_point_axle(axle, POINTS)).model.bodies.values())
    split = sum(float(body.mass) for body in part.bodies.values())
    on_chassis = whole - split  # shares of links at points that are fixed to the chassis
    assert 0 < on_chassis < 2 * (5 + 5 + 0.5)
    assert axle_data(axle).masses.sum() == pytest.approx(whole)


def test_left_and_right_are_mirror_images_at_opposite_racks(front):
    _, part = front
    left, right = part.curves["left.upright_poses"], part.curves["right.upright_poses"]
    z, rack = np.array([-0.05, 0.0, 0.06]), np.array([0.02, -0.03, 0.01])
    (R_l, p_l), (R_r, p_r) = left.pose(z, rack), right.pose(z, -rack)
    P = np.diag([1.0, -1.0, 1.0])
    np.testing.assert_allclose(p_l, p_r @ P, atol=3e-6)
    np.testing.assert_allclose(R_l, P @ R_r @ P, atol=3e-6)


def test_a_positive_rack_turns_the_wheels_to_the_left_where_the_tie_rod_is_ahead(front):
    axle, part = front
    assert axle_data(axle).arm > 0
    R, _ = part.curves["left.upright_poses"].pose(np.array([0.0]), np.array([0.02]))
    steer = np.arctan2(-R[0, 0, 1], R[0, 1, 1])  # of the spin axis about z
    assert steer == pytest.approx(0.02 / axle_data(axle).arm, rel=0.15)


def test_axles_with_bars_are_refused(tmp_path):
    text = Path(POINTS).read_text()
    ends = "bar: [200, 400, 0], arm: [20, 450, 0], link: [10, 500, -80]"
    bar = f"axle: {{anti_roll_bar: {{rate: 300 N*m/rad, {ends}}}}}\n"
    file = tmp_path / "front.yaml"
    file.write_text(text + bar)
    with pytest.raises(SekantError, match="cannot be reduced corner by corner"):
        reduced_axle(Axle(suspension=str(file), tire=TIRE, steering={}), str(file))
