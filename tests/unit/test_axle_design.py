"""Design of axles: preloads for wheel loads, sensitivities to hard points, points for targets."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from suspensions import planar_points

UPPER, LOWER = (0.36, 0.16, 0.62, 0.19), (0.33, -0.11, 0.66, -0.13)
ARM = {
    "type": "trailing_arm",
    "points": {
        "hinge_inner": [0.5, 0.4, 0.0],
        "hinge_outer": [0.5, 0.6, 0.0],
        "wheel_center": [0.0, 0.7, 0.0],
        "spring_top": [0.25, 0.5, 0.4],
        "spring_bottom": [0.25, 0.5, 0.0],
    },
    "wheel": {"radius": 0.3},
    "masses": {"upright": 1e-3, "arm": 1e-3},
    "spring": {"stiffness": 30e3},
}


def test_perches_for_wheel_loads():
    """Without weight, half-way springs carry twice the load: perch = 2 F / k, by hand; each side its own."""
    made = sk.vehicle.standing(ARM, {"left": 3000.0, "right": 2500.0})
    assert made.set_up["left.spring_perch"] == pytest.approx(2 * 3000 / 30e3, rel=1e-5)
    assert made.set_up["right.spring_perch"] == pytest.approx(2 * 2500 / 30e3, rel=1e-5)
    again = sk.vehicle.axle_curves(made, travel=[0.0, 0.01])
    assert again["left.spring_load"][0, 0] == pytest.approx(3000.0, abs=0.05)  # less 2 g of parts
    with pytest.raises(SekantError, match="'left' and 'right'"):
        sk.vehicle.standing(ARM, {"left": 3000.0})
    bare = ARM | {"points": {k: v for k, v in ARM["points"].items() if "spring" not in k}}
    with pytest.raises(SekantError, match="without springs"):
        sk.vehicle.standing(bare, 3000.0)


@pytest.fixture(scope="module")
def wishbones():
    return {"type": "double_wishbone", "points": planar_points(UPPER, LOWER)}


def test_sensitivities_of_the_caster_by_hand(wishbones):
    """As drawn caster = atan2(-(upper - lower)_x, height): a ball joint moved along x turns it by 1 / height."""
    wanted = ["caster", "kingpin_inclination"]
    found = sk.vehicle.curve_sensitivities(wishbones, wanted, points=["upper_ball"], travel=[0.0, 0.01])
    height = 0.19 + 0.13
    assert found.of("caster", "upper_ball.x")[0] == pytest.approx(-1 / height, rel=1e-6)
    across = 0.62 - 0.66
    slope = -height / (height**2 + across**2)  # of atan2(-(y_u - y_l), height) by y_u
    assert found.of("kingpin_inclination", "upper_ball.y")[0] == pytest.approx(slope, rel=1e-6)
    name, change = found.ranked("caster")[0]
    assert name == "upper_ball.x"
    assert change == pytest.approx(-np.degrees(1e-3 / height), rel=1e-6)
    assert "caster [deg]: upper_ball.x" in found.summary()


@pytest.mark.long
def test_points_for_a_target(wishbones):
    """Toe curves of a known design are found again by moving the tie rod back to where it was."""
    travel = [-0.03, 0.0, 0.03]
    goal = sk.vehicle.suspension_curves(sk.vehicle.corner(wishbones), travel=travel)
    shifted = sk.vehicle.kc.sensitivity.moved(sk.vehicle.HardPoints(**wishbones), {"tie_rod_inner.z": 0.012})
    bounds = {"tie_rod_inner.z": (-0.03, 0.03)}
    found, curves = sk.vehicle.fit_points(shifted, {"toe": goal["toe"][:, 0]}, bounds, travel=travel)
    assert found.point("tie_rod_inner")[2] == pytest.approx(LOWER[1], abs=1e-5)
    assert curves["toe"] == pytest.approx(goal["toe"], abs=1e-6)
    with pytest.raises(SekantError, match="no coordinate 'tie_rod_inner"):
        sk.vehicle.fit_points(wishbones, {"toe": [0, 0, 0]}, {"tie_rod_inner.w": (-1, 1)}, travel=travel)
    with pytest.raises(SekantError, match="has 2 values for 3 positions"):
        sk.vehicle.fit_points(wishbones, {"toe": [0, 0]}, bounds, travel=travel)
