"""Planar double wishbones against their closed form: a four-bar linkage, and its instant center."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from suspensions import planar_points

UPPER, LOWER = (0.36, 0.16, 0.62, 0.19), (0.33, -0.11, 0.66, -0.13)


def circles(a, ra, b, rb):
    """Intersection of two circles in the plane that is further out."""
    d = b - a
    distance = np.linalg.norm(d)
    along = (ra**2 - rb**2 + distance**2) / (2 * distance)
    across = np.sqrt(ra**2 - along**2)
    e = d / distance
    both = [a + along * e + side * across * np.array([-e[1], e[0]]) for side in (1, -1)]
    return max(both, key=lambda p: p[0])


def crossing(a, b, c, d):
    """Of the lines ab and cd."""
    t = np.linalg.solve(np.column_stack([b - a, c - d]), c - a)
    return a + t[0] * (b - a)


def four_bar(angle: float) -> tuple[float, float, float, float]:
    """(travel, camber, roll center height, track change) of the left corner, with the lower arm turned by `angle`."""
    inner_u, outer_u = np.array(UPPER[:2]), np.array(UPPER[2:])
    inner_l, outer_l = np.array(LOWER[:2]), np.array(LOWER[2:])
    c, s = np.cos(angle), np.sin(angle)
    low = inner_l + np.array([[c, -s], [s, c]]) @ (outer_l - inner_l)
    up = circles(inner_u, np.linalg.norm(outer_u - inner_u), low, float(np.linalg.norm(outer_u - outer_l)))
    before, after = outer_u - outer_l, up - low
    turn = np.arctan2(after[1], after[0]) - np.arctan2(before[1], before[0])
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    center = low + R @ (np.array([0.71, 0.0]) - outer_l)
    touch = low + R @ (np.array([0.71, -0.29]) - outer_l)
    pole = crossing(inner_u, up, inner_l, low)
    at_middle = touch + (pole - touch) * (0 - touch[0]) / (pole[0] - touch[0])
    return center[1], -turn, at_middle[1] - touch[1], touch[0] - 0.71


@pytest.fixture(scope="module")
def model():
    return sk.vehicle.double_wishbone(planar_points(UPPER, LOWER))


def test_camber_roll_center_and_track_are_those_of_the_four_bar(model):
    expected = np.array([four_bar(angle) for angle in (-0.22, -0.09, 0.0, 0.06, 0.17)])
    curves = sk.vehicle.suspension_curves(model, travel=expected[:, 0])
    assert curves["camber"][:, 0] == pytest.approx(expected[:, 1], abs=1e-11)
    assert curves["roll_center_height"][:, 0] == pytest.approx(expected[:, 2], abs=1e-9)
    assert curves["track_change"][:, 0] == pytest.approx(expected[:, 3], abs=1e-11)
    assert np.abs(curves["toe"]).max() < 1e-11
    assert np.abs(curves["wheelbase_change"]).max() < 1e-11
    assert np.ptp(curves["camber"]) > 0.02


def test_parallel_equal_arms_keep_the_wheel_upright():
    points = planar_points((0.33, 0.16, 0.66, 0.13), (0.33, -0.11, 0.66, -0.14))
    curves = sk.vehicle.suspension_curves(
        sk.vehicle.double_wishbone(points), travel=np.linspace(-0.07, 0.09, 9)
    )
    for name in ("camber", "toe", "camber_gradient"):
        assert np.abs(curves[name]).max() < 1e-10
    # every point moves on a circle of the arms' length: dy/dz = -tan of the arm's slope
    rise = (curves.travel - 0.03) / np.hypot(0.33, 0.03)
    half_track = 0.71 + curves["track_change"][:, 0]
    expected = -half_track * rise / np.sqrt(1 - rise**2)
    assert curves["roll_center_height"][:, 0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("tilt", [0.06, -0.04])
def test_tilted_hinges_support_the_braked_wheel(tilt):
    """With all hinges along one direction a, every point moves across it: dx/dz = -a_z/a_x."""
    points = planar_points((0.33, 0.16, 0.62, 0.17), (0.33, -0.11, 0.66, -0.14), tilt)
    roles = sk.vehicle.Suspension(wheelbase=2.5, cg_height=0.5, brake_share=0.7, drive_share=0.4)
    curves = sk.vehicle.suspension_curves(
        sk.vehicle.double_wishbone(points), roles, travel=np.linspace(-0.06, 0.05, 5)
    )
    assert curves["braking_support_angle"] == pytest.approx(-tilt, abs=1e-10)
    assert curves["driving_support_angle"] == pytest.approx(-tilt, abs=1e-10)
    assert curves["anti_dive"] == pytest.approx(-np.tan(tilt) * 0.7 * 2.5 / 0.5, abs=1e-10)
    rear = roles.model_copy(update={"axle": "rear"})
    behind = sk.vehicle.suspension_curves(sk.vehicle.double_wishbone(points), rear, travel=[-0.01, 0.02])
    assert behind["anti_squat"] == pytest.approx(np.tan(tilt) * 0.4 * 2.5 / 0.5, abs=1e-10)
    assert behind["anti_lift"] == pytest.approx(np.tan(tilt) * 0.7 * 2.5 / 0.5, abs=1e-10)


def test_static_camber_and_toe_are_as_asked():
    points = planar_points(UPPER, LOWER)
    for side, camber, toe in (("left", np.radians(-1.5), 0.004), ("right", -0.02, 0.01)):
        corner = sk.vehicle.double_wishbone(points, side=side, camber=camber, toe=toe)
        curves = sk.vehicle.suspension_curves(corner, travel=[0.0, 0.01])
        assert curves.side == side
        assert (curves["camber"][0, 0], curves["toe"][0, 0]) == pytest.approx((camber, toe), abs=1e-12)
