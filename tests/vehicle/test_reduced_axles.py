"""Axles of cars reduced to surfaces and paths: one rack for both sides, masses kept, mirror images."""

import re
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import sekant as sk
from sekant.model.resolve import resolve
from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.axle_parts import hard_point_axle, points_of
from sekant.vehicle.car.description import Axle
from sekant.vehicle.car.reduced_axle import lumps_on_chassis, reduced_axle
from sekant.vehicle.hardpoints.description import hard_points

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


def test_a_file_that_changes_is_read_again(tmp_path):
    file = tmp_path / "front.yaml"
    text = Path(POINTS).read_text()
    axle = Axle(suspension=str(file), tire=TIRE, steering={})
    file.write_text(text)
    before = axle_data(axle)
    x, y, z = points_of(POINTS).point("wheel_center").tolist()
    written = re.sub(r"(wheel_center: )\[.*\]", rf"\1[{1e3 * x + 11}, {1e3 * y}, {1e3 * z}]", text)
    assert written != text
    file.write_text(written)
    assert axle_data(axle).center[0] - before.center[0] == pytest.approx(0.011)


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
    lumps = lumps_on_chassis(
        axle, POINTS, "split", tolerance=1e-6
    )  # shares of links where they hang on the chassis
    assert sum(lump.mass for lump in lumps) == pytest.approx(whole - split, rel=1e-12)
    assert {lump.source for lump in lumps} == {"lower_arm", "strut_rod", "tie_rod"}
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


OTHER_LAWS = {
    "spring": {"spring": {"stiffness": 53e3, "damping": 2200.0, "preload": 4300.0}},
    "damper": {"spring": {"stiffness": 50e3, "damping": 2400.0, "preload": 4500.0}},
    "curve": {"spring": {"stiffness": 50e3, "damper_curve": {"x": [-1, 0, 1], "y": [-1500, 0, 2600]}}},
    "stop": {"bump_stop": {"gap": 0.04, "stiffness": 170e3}},
}


def test_another_spring_damper_or_stop_is_not_reduced_again(tmp_path, monkeypatch):
    """The corners follow the poses that were found with the first ones, and have the laws that the file gives."""
    data = points_of(POINTS).model_dump(exclude_unset=True) | {"bump_stop": {"gap": 0.05, "stiffness": 150e3}}
    axle = Axle(suspension=POINTS, tire=TIRE)
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    first = reduced_axle(axle, hard_points(data), "split", tolerance=1e-4)
    with (
        patch("sekant.reduction.poses.kinematics", side_effect=AssertionError("swept again")),
        patch("sekant.reduction.reduce.fit_poses", side_effect=AssertionError("fitted again")),
    ):
        for what, change in OTHER_LAWS.items():
            points = hard_points(data | change)
            part = reduced_axle(axle, points, "split", tolerance=1e-4)
            whole = hard_point_axle(axle, points)
            assert part.forces == whole.forces != first.forces
            assert part.tables == whole.tables
            assert (part.tables == first.tables) == (what in ("spring", "damper"))
            assert (part.bodies, part.joints) == (first.bodies, first.joints)


def with_bar(tmp_path, bar):
    ends = "bar: [200, 400, 0], arm: [20, 450, 0], link: [10, 500, -80]"
    file = tmp_path / "front.yaml"
    file.write_text(Path(POINTS).read_text() + f"axle: {{anti_roll_bar: {{{bar}, {ends}}}}}\n")
    return str(file)


def test_a_bar_of_a_reduced_axle_has_the_roll_stiffness_of_the_mechanism(tmp_path):
    """Vertical loads on the wheels that hold the axle in roll, reduced and not; in heave the bar does nothing."""
    rate, z = 3000.0, 0.02
    file = with_bar(tmp_path, f"rate: {rate} N*m/rad")
    axle = Axle(suspension=file, tire=TIRE)
    part = reduced_axle(axle, file, "ignore", tolerance=1e-6)
    system = sk.compile(part, engine="casadi")
    names = {
        side: next(n for n in system.state_names if n.startswith(f"{side}.") and n.endswith(".u"))
        for side in ("left", "right")
    }
    start = sk.assemble(system)

    def couple(left, right):
        """Couple (N m) of the bar between its arms."""
        q = start.q.copy()
        for side, way in (("left", left), ("right", right)):
            q[list(system.state_names).index(names[side])] += way
        return system.outputs(sk.State(q=q, v=np.zeros(system.nv)))["anti_roll_bar.moment"][1]

    points = sk.vehicle.load_axle(file)
    found = sk.vehicle.axle_curves(points, motion="roll", travel=[-z, 0.0, z])
    assert couple(z, -z) == pytest.approx(-rate * found["bar_twist"][2, 0], rel=1e-4)
    assert couple(z, z) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.long
def test_a_t_bar_and_a_heave_spring_of_a_reduced_axle_do_what_those_of_the_mechanism_do(tmp_path):
    """In roll the bar's twist and in heave the spring's length are those of the whole axle's curves."""
    z, stiffness, y = 0.02, 25e3, 0.45
    ends = "bar: [200, 400, 0], arm: [20, 450, 0], link: [10, 500, -80]"
    heave = f"heave_spring: {{point: [10, {1e3 * y}, -80], stiffness: {stiffness} N/m, preload: 900 N}}"
    file = tmp_path / "front.yaml"
    text = f"axle: {{anti_roll_bar: {{type: T, rate: 300 N*m/rad, {ends}}}, {heave}}}\n"
    file.write_text(Path(POINTS).read_text() + text)
    axle = Axle(suspension=str(file), tire=TIRE)
    part = reduced_axle(axle, str(file), "ignore", tolerance=1e-6)
    whole = hard_point_axle(axle, str(file))
    for ways in ((z, -z), (z, z)):
        values = []
        for model in (part, whole):
            drives = {
                f"{side}.upright.wheel_center.z": [way]
                for side, way in zip(("left", "right"), ways, strict=True)
            }
            still = model.changed(motions={})
            steps = {name: np.linspace(0.0, value[0], 5) for name, value in drives.items()}
            found = sk.kinematics(still, steps, path=True, hold=["left.hub.angle", "right.hub.angle"])
            values.append([found["bar_twist.angle"][-1], found["heave_spring.length"][-1]])
        np.testing.assert_allclose(values[0], values[1], atol=1e-6)
        assert abs(values[0][0]) > 1e-3 or ways[0] == ways[1]


BUSHINGS = """
bushings:
  lower_front: {stiffness: [9 kN/mm, 9 kN/mm, 2 kN/mm], rotational_stiffness: [90, 90, 20]}
  lower_rear: {stiffness: [5 kN/mm, 5 kN/mm, 1 kN/mm], rotational_stiffness: [60, 60, 20]}
"""


@pytest.fixture
def soft(tmp_path):
    file = tmp_path / "rear.yaml"
    file.write_text(Path(POINTS).read_text() + BUSHINGS)
    return str(file)


@pytest.mark.long
def test_a_steered_axle_on_bushings_keeps_its_modes_on_surfaces_over_one_rack(soft):
    """Two travels, one rack, two spins and the modes of both sides; its mirror image with the rack the other way."""
    part = reduced_axle(Axle(suspension=soft, tire=TIRE, steering={}), soft, "split")
    sides = [part.joints[f"{side}.upright_surface"] for side in ("left", "right")]
    r = sides[0].elastic.count
    system = sk.compile(part)
    assert system.nv == 5 + 2 * r
    for travel, rack in ((0.0, 0.0), (0.02, 0.01)):
        left, right = (
            joint.elastic.compliance(travel, way) for joint, way in zip(sides, (rack, -rack), strict=True)
        )
        image = np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        np.testing.assert_allclose(right, image @ left @ image, atol=1e-5 * np.abs(left).max())


@pytest.mark.long
def test_a_reduced_axle_on_bushings_gives_way_as_the_mechanism_does(soft):
    """Rates at held height of the whole axle, by loads at contact and center, within one percent."""
    part = reduced_axle(Axle(suspension=soft, tire=TIRE), soft, "ignore")
    points = sk.vehicle.load_axle(soft)
    joint = part.joints["left.upright_path"]
    assert isinstance(joint, sk.joints.Path)
    assert joint.elastic is not None
    C = joint.elastic.compliance(0.0)
    loads = {
        "lateral_same": [0.0, 1.0, 0.0, 0.31, 0.0, 0.0],
        "driving": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        "aligning_same": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    }
    rates = sk.vehicle.axle_compliance(points, cases=tuple(loads))
    for case, load in loads.items():
        x, y, _, roll, _, yaw = C @ np.array(load)
        found = {"x": x, "y": y, "camber": -roll, "toe": -yaw}
        for name, value in found.items():
            assert value == pytest.approx(rates.rate(case, "left", name), rel=0.01), (case, name)
