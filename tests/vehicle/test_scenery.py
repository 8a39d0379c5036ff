"""The road and the cones of pictures: few points where the road is straight, all where it bends."""

from __future__ import annotations

import numpy as np
import pytest

from sekant.vehicle.driving.scenery import WIDTH, cone_shapes, road_strip
from sekant.vehicle.roads import road_values
from sekant.vehicle.roads.shapes import Grade, Plane, Sine

STRAIGHT = np.array([[0.0, 0.0], [40.0, 30.0]])


@pytest.mark.parametrize("road", [Plane(), Grade(slope=0.05)])
def test_a_straight_road_has_its_corners_only(road):
    surface = road_strip(road, STRAIGHT)
    assert surface["size"] == [2, 2]
    points = np.array(surface["points"])
    heights = road_values(road, points[:, 0], points[:, 1])[0]
    np.testing.assert_allclose(points[:, 2], heights - 2e-3, atol=1e-4)
    assert np.linalg.norm(points[1] - points[0]) == pytest.approx(2 * WIDTH, abs=1e-2)
    assert np.linalg.norm(points[2] - points[0]) == pytest.approx(50 + 16, abs=2.0)


def test_a_road_that_bends_has_rows_where_it_does():
    angle = np.linspace(0, np.pi / 2, 60)
    bend = np.column_stack([30 * np.sin(angle), 30 * (1 - np.cos(angle))])
    path = np.vstack([[[-60.0, 0.0]], bend])
    surface = road_strip(Plane(), path)
    rows, columns = surface["size"]
    points = np.array(surface["points"]).reshape(rows, columns, 3)
    assert columns == 2
    x = points[:, :, 0].mean(axis=1)
    assert np.count_nonzero(x < -1.0) <= 2  # of the straight part
    assert rows > 60
    waves = road_strip(Sine(amplitude=0.05, wavelength=4.0), STRAIGHT)
    assert waves["size"][0] > 90


def test_cones_are_one_shape():
    (cones,) = cone_shapes([STRAIGHT, STRAIGHT + np.array([0.0, 3.0])], Plane())
    assert len(cones["points"]) == 36
    assert cone_shapes([], Plane()) == []
