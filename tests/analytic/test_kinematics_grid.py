"""Two drives: every row of the grid is what a sweep of the first drive alone gives, and no fold is gone around."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import Y, rod
from sekant.model.joints import Revolute
from suspensions import EXAMPLES

TRAVEL, RACK = "upright.wheel_center.z", "rack.q"
HEIGHTS = np.concatenate([np.arange(-0.2, -0.16, 0.002), np.arange(-0.16, 0.05, 0.03)])
RACKS = np.linspace(-0.03, 0.03, 7)


@pytest.fixture(scope="module")
def corner():
    model = sk.load(EXAMPLES / "double_wishbone_steered.yaml")
    return sk.compile(model.model_copy(update={"motions": {}}))


def at_rack(limits, value):
    return [float(k.value[0]) for k in limits if abs(k.value[1] - value) < 1e-12 and k.value[0] < 0]


def test_each_row_ends_where_it_ends_alone(corner):
    grid = sk.kinematics(corner, {TRAVEL: HEIGHTS, RACK: RACKS})
    reached = grid.reached.reshape(HEIGHTS.size, RACKS.size)
    values = grid.on_grid(grid["upper_arm_hinge.angle"])
    for j, rack in enumerate(RACKS):
        way = sk.kinematics(corner, {TRAVEL: [0.0], RACK: np.linspace(0.0, rack, 5) if rack else [0.0]})
        start = sk.State(way.q[-1], np.zeros(corner.nv))
        alone = sk.kinematics(corner, TRAVEL, values=HEIGHTS, hold=[RACK], guess=start)
        np.testing.assert_array_equal(reached[:, j], alone.reached)
        np.testing.assert_allclose(values[alone.reached, j], alone["upper_arm_hinge.angle"], atol=1e-9)
        ends = [float(k.value[0]) for k in alone.limits]
        np.testing.assert_allclose(at_rack(grid.limits, rack), ends, atol=1e-9)
    middle = at_rack(grid.limits, 0.0)
    assert len(middle) == 1
    assert abs(middle[0] + 0.1863) < 1e-4


def test_the_order_of_the_drives_does_not_matter_behind_a_fold(corner):
    """With travel second, its rows beyond the dead point are entered from the other side, and end at it."""
    grid = sk.kinematics(corner, {TRAVEL: HEIGHTS, RACK: RACKS})
    turned = sk.kinematics(corner, {RACK: RACKS, TRAVEL: HEIGHTS})
    one = grid.on_grid(grid["upper_arm_hinge.angle"])
    other = turned.on_grid(turned["upper_arm_hinge.angle"]).T
    np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
    np.testing.assert_allclose(one, other, atol=1e-9)
    assert np.isnan(one[0, 3])


def test_rows_that_cannot_be_entered_at_the_start_are_reached_by_columns():
    """An arm that starts near the rim of its disc: at most of the heights it cannot keep its x."""
    l1, l2 = 0.7, 0.5
    joints = {
        "shoulder": Revolute(child="upper", axis=Y, q0=(-0.25,)),
        "elbow": Revolute(parent="upper.end", child="fore", axis=Y, q0=(0.6,)),
    }
    model = sk.Model(name="arm", bodies={"upper": rod(1.1, l1), "fore": rod(0.7, l2)}, joints=joints)
    x, z = np.linspace(0.5, 1.3, 9), np.linspace(-0.6, 0.9, 13)
    result = sk.kinematics(model, {"fore.end.x": x, "fore.end.z": z})
    radius = np.hypot(*np.meshgrid(x, z, indexing="ij")).ravel()
    np.testing.assert_array_equal(result.reached, radius < l1 + l2)
    elbow = np.arccos((radius[result.reached] ** 2 - l1**2 - l2**2) / (2 * l1 * l2))
    np.testing.assert_allclose(result["elbow.angle"], elbow, atol=1e-10)
    ends = np.array([limit.value for limit in result.limits])
    np.testing.assert_allclose(np.hypot(*ends.T), l1 + l2, rtol=1e-12)
    assert len(np.unique(np.round(ends, 9), axis=0)) == len(ends)
