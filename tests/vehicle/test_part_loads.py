"""Loads of every part and point of an axle: balance, legs, axes of parts, held springs, CSV."""

import csv
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.io.source import read_source
from sekant.vehicle.kc.part_loads import hinge_ends

EXAMPLES = Path(__file__).parents[2] / "examples"
AXLE = EXAMPLES / "axles" / "front_double_wishbone.yaml"


@pytest.fixture(scope="module")
def table():
    given = sk.vehicle.load_axle(AXLE)
    cases = {"turn": {"ay": 0.7, "az": 1.0, "rack": 0.004}, "held": {"ay": 0.7, "az": 1.0, "hold": "springs"}}
    return sk.vehicle.member_loads(given, cases)


def test_every_part_is_in_balance(table):
    """Forces and moments of a part with its weight and inertia, about its center of mass: 1e-9 of the loads."""
    for found in table.loads.values():
        size = max(np.abs(load.force).max() for load in found.points)
        assert max(force for force, _ in found.imbalance.values()) < 1e-9 * size
        assert max(moment for _, moment in found.imbalance.values()) < 1e-9 * size


def test_the_body_feels_what_the_road_does(table):
    """Sum over its points: contact loads less the weight and inertia of all parts of the axle."""
    for case, found in table.loads.items():
        felt = sum(load.force for load in found.points if load.part == "body")
        values = table.applied[case]
        road = np.array([sum(values.get(f"{s}.f{k}", 0.0) for s in ("left", "right")) for k in "xyz"])
        mass = sum(float(body.mass) for body in table.model.bodies.values())
        weight = mass * np.array([values[key] for key in ("gx", "gy", "gz")])
        np.testing.assert_allclose(felt, road - weight, rtol=0, atol=1e-8 * np.abs(road).max())


def test_legs_carry_the_ball_of_an_arm(table):
    """The lower arm has no spring: T1 e1 + T2 e2 + F = 0 at its tip, but for its own weight."""
    found = table.loads["turn"]
    tip = next(x for x in found.points if (x.part, x.point) == ("left.lower_arm", "left.lower_arm_ball"))
    ends = {
        end: next(
            x for x in found.points if (x.part, x.point) == ("left.lower_arm", f"left.lower_{end}_bushing")
        )
        for end in ("front", "rear")
    }
    pulls = [found.axial[f"left.lower_arm.{end} leg"] for end in ends]
    lines = [end.place - tip.place for end in ends.values()]
    rest = tip.force + sum(T * d / np.linalg.norm(d) for T, d in zip(pulls, lines, strict=True))
    assert np.linalg.norm(rest) < 0.02 * np.linalg.norm(tip.force)  # weight, and bushings that turn


def test_axes_of_parts_turn_with_them(table):
    """The size of a force is the same in both axes; in a turn those of the upright differ from the vehicle's."""
    loads = [x for x in table.loads["turn"].points if x.part == "right.upright"]
    assert loads
    for load in loads:
        assert np.linalg.norm(load.own_force) == pytest.approx(np.linalg.norm(load.force), rel=1e-12)
    assert max(np.linalg.norm(x.own_force - x.force) for x in loads) > 10.0


def test_held_springs_stay_as_drawn_and_free_ones_give(table):
    drawn = {x.point: x.place for x in table.loads["held"].points if x.part == "left.upper_arm"}
    moved = {x.point: x.place for x in table.loads["turn"].points if x.part == "left.upper_arm"}
    assert np.linalg.norm(moved["left.spring"] - drawn["left.spring"]) > 1e-3
    wheel = table.applied["turn"]["right.fz"] - table.applied["turn"]["left.fz"]
    assert wheel > 0
    assert -table.loads["turn"].axial["right.spring"] > -table.loads["turn"].axial["left.spring"]


def test_hinges_are_split_into_their_ends():
    """Two forces across and one along a hinge come back from their wrench."""
    A, B = np.array([0.1, 0.2, 0.3]), np.array([-0.2, 0.25, 0.31])
    u = (B - A) / np.linalg.norm(B - A)
    across = [np.cross(u, v) for v in ([10.0, 20.0, -5.0], [3.0, -7.0, 11.0])]
    along = 42.0 * u
    f = across[0] + across[1] + along
    wrench = np.concatenate([f, np.cross(B - A, across[1])])
    front, rear = hinge_ends(A, B, wrench)
    assert front == pytest.approx(across[0] + along / 2, rel=1e-12)
    assert rear == pytest.approx(across[1] + along / 2, rel=1e-12)


def test_a_row_a_part_point_and_case(table, tmp_path):
    rows = list(csv.DictReader(table.to_csv(tmp_path / "loads.csv").read_text().splitlines()))
    keys = [(row["case"], row["part"], row["point"]) for row in rows]
    assert len(keys) == len(set(keys))
    row = next(r for r in rows if (r["case"], r["part"], r["point"]) == ("turn", "left.tie_rod", "axial"))
    assert float(row["axial [N]"]) == pytest.approx(table.axial["left.tie_rod"][0], rel=1e-10)
    assert {row["case"] for row in rows} == {"turn", "held"}


def test_mirrored_cases_give_mirrored_loads():
    data = {**read_source(AXLE).data}
    cases = {"left": {"ay": 0.5, "az": 1.0}, "right": {"ay": -0.5, "az": 1.0}}
    found = sk.vehicle.member_loads(data, cases)
    for name, values in found.axial.items():
        if name.startswith("left."):
            assert values[0] == pytest.approx(found.axial["right." + name[5:]][1], rel=1e-6, abs=1e-5)
