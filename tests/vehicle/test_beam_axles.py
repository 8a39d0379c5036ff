"""Axles whose sides share a part: twist beam and solid axle, against closed forms and other layouts."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError, SekantError

TRAVEL = [-1e-3, 0.0, 1e-3]
ROLES = {"axle": "rear"}
TWIST = {
    "type": "twist_beam",
    "points": {"pivot": [0.45, 0.55, 0.02], "beam": [0.2, 0.0, 0.05], "wheel_center": [0.0, 0.7, 0.0]},
    "wheel": {"radius": 0.3},
    "beam_rate": "400 N*m/rad",
    "suspension": ROLES,
}
K, SPRING_Y = 40e3, 0.45
SOLID = {
    "type": "solid_axle",
    "points": {
        "lower_body": [0.5, 0.5, -0.05],
        "lower_axle": [0.0, 0.5, -0.05],
        "upper_body": [0.45, 0.0, 0.12],
        "upper_axle": [0.0, 0.0, 0.12],
        "panhard_body": [-0.1, 0.45, 0.0],
        "panhard_axle": [-0.1, -0.45, 0.0],
        "wheel_center": [0.0, 0.7, 0.0],
        "spring_top": [0.0, SPRING_Y, 0.4],
        "spring_bottom": [0.0, SPRING_Y, 0.0],
    },
    "wheel": {"radius": 0.3},
    "spring": {"stiffness": K},
    "suspension": ROLES,
}


def arm(inner, outer):
    points = {"hinge_inner": inner, "hinge_outer": outer, "wheel_center": TWIST["points"]["wheel_center"]}
    data = {"type": "semi_trailing_arm", "points": points, "wheel": {"radius": 0.3}, "suspension": ROLES}
    return sk.vehicle.axle_curves(data, travel=TRAVEL)


def test_a_twist_beam_is_a_trailing_arm_in_parallel_travel_and_a_semi_trailing_one_in_roll():
    """In roll each arm turns about the line from its pivot to the shear center: first derivatives as drawn."""
    pivot, beam = TWIST["points"]["pivot"], TWIST["points"]["beam"]
    trailing, oblique = arm([pivot[0], 0.0, pivot[2]], pivot), arm(beam, pivot)
    parallel = sk.vehicle.axle_curves(TWIST, travel=TRAVEL)
    roll = sk.vehicle.axle_curves(TWIST, motion="roll", travel=TRAVEL)
    for name in ("camber_gradient", "toe_gradient", "braking_support_angle", "roll_center_height"):
        # it rolls about the center of its oblique arms, also where both wheels rise
        still = oblique if name == "roll_center_height" else trailing
        for found, wanted in ((parallel, still), (roll, oblique)):
            for side in ("left", "right"):
                got, want = found[f"{side}.{name}"][1, 0], wanted[f"{side}.{name}"][1, 0]
                assert got == pytest.approx(want, rel=1e-8, abs=1e-9), (name, side)
    assert abs(roll["left.camber_gradient"][1, 0]) > 0.1
    # the beam's own roll stiffness: k (twist over roll angle)^2
    twist = roll.gradients()["bar_twist"][1][1, 0] * 0.7
    assert roll["roll_stiffness"][1, 0] == pytest.approx(400 * twist**2, rel=1e-9)


def test_a_solid_axle_on_vertical_springs():
    """Heave rate k a wheel, roll stiffness 2 k y^2, no camber in heave, all of the roll in roll."""
    roll = sk.vehicle.axle_curves(SOLID, motion="roll", travel=TRAVEL)
    parallel = sk.vehicle.axle_curves(SOLID, travel=[-1e-3, 0.0, 1e-3])
    assert parallel["ride_rate"][1, 0] == pytest.approx(K, rel=1e-9)
    assert roll["roll_stiffness"][1, 0] == pytest.approx(2 * K * SPRING_Y**2, rel=1e-9)
    # the wheel that rises leans inward with the beam
    assert roll["left.camber"][2, 0] == pytest.approx(-np.arcsin(1e-3 / 0.7), rel=1e-6)
    assert roll["left.camber"][2, 0] == pytest.approx(-roll["right.camber"][2, 0], rel=1e-9)
    np.testing.assert_allclose(parallel["left.camber"], 0.0, atol=1e-6)  # but for the Panhard rod's own curve


def test_a_solid_axle_rolls_about_its_panhard_rod_at_every_height():
    """With links along the vehicle the axle rolls about where the rod crosses the center plane; with both
    wheels risen by h its end on the axle is h higher."""
    rod = {"panhard_body": [0.0, 0.45, 0.0], "panhard_axle": [0.0, -0.45, 0.0]}
    above = SOLID | {
        "points": SOLID["points"] | rod
    }  # in the plane of the wheels, so that no roll axis leans
    for h in (-0.02, 0.0, 0.03):
        found = sk.vehicle.axle_curves(above, travel=[h])
        share = 0.45 / np.sqrt(0.9**2 - h**2)  # of the rod from its end at the body to the center plane
        assert found["roll_center_height"][0, 0] == pytest.approx(
            0.3 - h + h * share, abs=1e-4
        )  # the links pitch the axle
    drawn = [sk.vehicle.axle_curves(SOLID, motion=m, travel=[0.0]) for m in ("parallel", "roll")]
    for name in ("roll_center_height", "left.roll_center_height"):
        assert drawn[0][name][0, 0] == pytest.approx(drawn[1][name][0, 0], rel=1e-9)
        assert drawn[0][name][0, 0] == pytest.approx(0.3, abs=1e-9)


def test_a_triangulated_axle_and_a_watt_linkage():
    points = {k: v for k, v in SOLID["points"].items() if not k.startswith("panhard")}
    angled = points | {"upper_body": [0.4, 0.2, 0.12], "upper_axle": [0.0, 0.45, 0.12]}
    watt = points | {
        "watt_pivot": [-0.1, 0.0, 0.0],
        "watt_upper": [-0.1, 0.0, 0.05],
        "watt_upper_body": [-0.1, 0.5, 0.05],
        "watt_lower": [-0.1, 0.0, -0.05],
        "watt_lower_body": [-0.1, -0.5, -0.05],
    }
    for given in (angled, watt):
        found = sk.vehicle.axle_curves(SOLID | {"points": given}, travel=[-0.02, 0.0, 0.02])
        assert np.isfinite(found["left.camber"]).all()
        roll = sk.vehicle.axle_curves(SOLID | {"points": given}, motion="roll", travel=TRAVEL)
        # the same from both sides: the axle stays in the middle
        np.testing.assert_allclose(roll["roll_center_y"][1], 0.0, atol=1e-7)
        np.testing.assert_allclose(found["left.track_change"], found["right.track_change"], atol=5e-6)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            SOLID
            | {"points": SOLID["points"] | {"upper_body": [0.45, 0.3, 0.12], "upper_axle": [0, 0.3, 0.12]}},
            "an axle with rigid joints is overconstrained",
        ),
        (
            SOLID | {"points": {k: v for k, v in SOLID["points"].items() if "panhard" not in k}},
            "does not locate the axle laterally",
        ),
        (
            TWIST | {"points": TWIST["points"] | {"beam": [0.2, 0.1, 0.05]}},
            "from the center plane, but must lie on it",
        ),
    ],
)
def test_faults(data, said):
    with pytest.raises(SekantError, match=said):
        sk.vehicle.axle(data)
    with pytest.raises(SekantError, match="cannot be built as a single corner"):
        sk.vehicle.corner(data)


@pytest.mark.parametrize("data", [TWIST, SOLID], ids=["twist beam", "solid axle"])
def test_what_the_body_feels_is_what_the_road_does(data):
    """Parts almost without weight; springs for the twist beam, whose wheels else nothing would carry."""
    points = data["points"] | {"spring_top": [0.1, 0.5, 0.4], "spring_bottom": [0.1, 0.5, 0.0]}
    parts = dict.fromkeys(
        ("upright", "arm") if data is TWIST else ("upright", "beam", "lower_link", "upper_link", "panhard"),
        1e-7,
    )
    case = {
        "left": {"fx": -500.0, "fy": 900.0, "fz": 4000.0},
        "right": {"fx": -300.0, "fy": 700.0, "fz": 2500.0},
    }
    found = sk.vehicle.member_loads(data | {"points": points, "masses": parts}, {"turn": case})
    felt = sum(rows[0] for name, rows in found.forces.items() if name.endswith("on body"))
    np.testing.assert_allclose(felt, [-800.0, 1600.0, 6500.0], atol=1e-3)


STEERED = SOLID | {
    "points": SOLID["points"]
    | {
        "kingpin_upper": [-0.012, 0.59, 0.09],
        "kingpin_lower": [0.014, 0.64, -0.11],
        "tie_rod_outer": [-0.16, 0.6, -0.02],
        "drag_link_outer": [0.15, 0.58, 0.05],
        "drag_link_inner": [0.15, -0.3, 0.07],
    },
    "suspension": {"axle": "front", "wheelbase": 2.6},
}


def test_a_steered_solid_axle_turns_about_its_kingpins():
    """Caster and kingpin inclination are those of the points, by hand; both wheels turn the same way."""
    found = sk.vehicle.axle_curves(STEERED, travel=TRAVEL, steering=[-0.03, 0.0, 0.03])
    axis = np.subtract(STEERED["points"]["kingpin_upper"], STEERED["points"]["kingpin_lower"])
    for side in ("left", "right"):
        assert found[f"{side}.caster"][1, 1] == pytest.approx(np.arctan2(-axis[0], axis[2]), abs=1e-9)
        assert found[f"{side}.kingpin_inclination"][1, 1] == pytest.approx(
            np.arctan2(-axis[1], axis[2]), abs=1e-9
        )
    steer = [found[f"{side}.steer_angle"][1, 2] for side in ("left", "right")]
    assert np.sign(steer[0]) == np.sign(steer[1])
    # the drag link's end is 0.15 m from the kingpin's axis along x: the first estimate of the angle
    assert abs(steer[0]) == pytest.approx(0.03 / 0.15, rel=0.1)
    assert found["left.toe"][1, 1] == pytest.approx(0.0, abs=1e-12)


def test_the_drag_link_of_a_beam_steers_it_in_bump():
    """Beam and drag link turn about different points: toe changes with opposite signs left and right (both steer)."""
    found = sk.vehicle.axle_curves(STEERED, travel=[-0.04, 0.0, 0.04])
    left, right = (found[f"{side}.steer_angle"][:, 0] for side in ("left", "right"))
    assert np.max(np.abs(left)) > 1e-4
    np.testing.assert_allclose(left, right, atol=2e-2 * np.max(np.abs(left)))
    with pytest.raises(SekantError, match="cannot hold the knuckle"):
        points = STEERED["points"] | {"tie_rod_outer": [0.001, 0.615, -0.01]}
        sk.vehicle.axle(STEERED | {"points": points})


BOX = {"pitman_pivot": [0.62, 0.42, 0.3], "pitman_axis": [0.62, 0.25, 0.3]}
FORE_AFT = STEERED | {
    "points": STEERED["points"]
    | {"drag_link_outer": [0.02, 0.44, 0.13], "drag_link_inner": [0.62, 0.43, 0.12]}
    | BOX
}


def test_a_pitman_arm_steers_by_a_drag_link_that_runs_fore_and_aft():
    """The end of the arm goes along its arc by what the rack does; forward turns the left wheel by the drag link."""
    s = 0.02
    found = sk.vehicle.axle_curves(FORE_AFT, travel=[0.0], steering=[-s, 0.0, s])
    model = sk.vehicle.axle(FORE_AFT, spin=False).changed(motions={})
    held = [f"{side}.upright.wheel_center.z" for side in ("left", "right")]
    moved = sk.kinematics(model, "rack.displacement", values=[0.0, s], hold=held)
    assert moved["pitman.angle"][-1] == pytest.approx(-s / 0.18, rel=1e-12)  # about y, from axis to pivot
    arm = np.subtract(FORE_AFT["points"]["drag_link_outer"], FORE_AFT["points"]["kingpin_lower"])
    axis = np.subtract(FORE_AFT["points"]["kingpin_upper"], FORE_AFT["points"]["kingpin_lower"])
    axis /= np.linalg.norm(axis)
    along = np.subtract(FORE_AFT["points"]["drag_link_outer"], FORE_AFT["points"]["drag_link_inner"])
    along /= np.linalg.norm(along)
    # the drag link keeps its length: the ends' velocities along it are the same (the arm's end moves along x)
    rate = along[0] / (np.cross(axis, arm) @ along)
    steer = (found["left.steer_angle"][0, 2] - found["left.steer_angle"][0, 0]) / (2 * s)
    assert steer == pytest.approx(rate * axis[2], rel=0.03)
    assert np.sign(steer) == np.sign(found["right.steer_angle"][0, 2])


def test_the_travel_of_the_rack_a_turn_is_said_once():
    turning = STEERED | {"axle": {"steering": {"rack_per_turn": "-45 mm"}}}
    found = sk.vehicle.axle_curves(turning, travel=[0.0], steering=[0.009])
    assert found["steering_wheel"][0, 0] == pytest.approx(-2 * np.pi / 5, rel=1e-12)
    with pytest.raises(SekantError, match="have different values of rack_per_turn"):
        sk.vehicle.axle(turning | {"suspension": {"rack_per_turn": 0.05}})
    for wrong, said in (("45 N", "is a force"), (0.0, "must not be zero")):  # once, and where it stands
        with pytest.raises(ModelError, match=said) as refused:
            sk.vehicle.axle(STEERED | {"axle": {"steering": {"rack_per_turn": wrong}}})
        assert refused.value.path[:2] == ("axle", "steering")


def test_loads_of_a_pitman_arm_leave_the_body_what_the_road_gives():
    light = dict.fromkeys(
        (
            "upright",
            "beam",
            "lower_link",
            "upper_link",
            "panhard",
            "track_rod",
            "drag_link",
            "pitman_arm",
            "rack",
        ),
        1e-7,
    )
    points = FORE_AFT["points"] | {"spring_top": [0.1, 0.5, 0.4], "spring_bottom": [0.1, 0.5, 0.0]}
    case = {"left": {"fx": -500.0, "fz": 4000.0}, "right": {"fy": 700.0, "fz": 2500.0}}
    found = sk.vehicle.member_loads(FORE_AFT | {"points": points, "masses": light}, {"turn": case})
    felt = sum(rows[0] for name, rows in found.forces.items() if name.endswith("on body"))
    np.testing.assert_allclose(felt, [-500.0, 700.0, 6500.0], atol=1e-3)
    assert np.linalg.norm(found.forces["pitman on body"][0]) > 10.0


def test_the_track_rod_is_adjusted_on_either_side():
    """2 mm on both sides turn each wheel by as much as 2 mm over the steering arm; on one side, both by half."""
    change = 0.002
    curves = {
        name: sk.vehicle.axle_curves(STEERED | {"set_up": given}, travel=[0.0])
        for name, given in {
            "drawn": {},
            "both": {"tie_rod_length": change},
            "left": {"left.tie_rod_length": change},
        }.items()
    }
    toe = {name: sum(c[f"{side}.toe"][0, 0] for side in ("left", "right")) for name, c in curves.items()}
    assert abs(toe["both"] - toe["drawn"]) == pytest.approx(2 * change / 0.16, rel=0.05)
    assert toe["left"] - toe["drawn"] == pytest.approx((toe["both"] - toe["drawn"]) / 2, rel=0.02)
    with pytest.raises(SekantError, match="no set-up change 'tie_rod_length'"):
        sk.vehicle.axle(SOLID | {"set_up": {"tie_rod_length": change}})
    with pytest.raises(SekantError, match="pitman arm has no length"):
        sk.vehicle.axle(FORE_AFT | {"points": FORE_AFT["points"] | {"drag_link_inner": [0.62, 0.7, 0.3]}})
    with pytest.raises(
        SekantError, match=r"together with pitman_pivot, also give 'pitman_axis' \(another point .*\)"
    ):
        half = {name: p for name, p in FORE_AFT["points"].items() if name != "pitman_axis"}
        sk.vehicle.axle(FORE_AFT | {"points": half})
