"""K and C of axles: single corners, mirror images, virtual work, closed forms, stiff bushings."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.io.source import read_source
from sekant.vehicle.curves.wheel import ground_offsets
from sekant.vehicle.kc.glossary import GLOSSARY, table, term_of
from sekant.vehicle.kc.motion import axle_motion
from sekant.vehicle.kc.roles import axle_of
from suspensions import EXAMPLES

FILE = EXAMPLES / "hardpoints" / "double_wishbone.yaml"
TRAVEL, RACK = np.array([-0.03, 0.0, 0.02]), np.array([-0.01, 0.0, 0.01])
BAR = {
    "bar": [200, 300, -60],
    "arm": [-50, 400, -60],
    "link": [-50, 450, 100],
    "rate": "900 N*m/rad",
    "on": "upper_arm",
}


def described(**more):
    return {**read_source(FILE).data, **more}


@pytest.fixture(scope="module")
def parallel():
    return sk.vehicle.axle_curves(described(), travel=TRAVEL, steering=RACK)


@pytest.fixture(scope="module")
def corner():
    model, roles = sk.vehicle.load_suspension(FILE)
    return sk.vehicle.suspension_curves(model, roles, travel=TRAVEL, steering=RACK)


def test_an_axle_has_the_curves_of_its_corner(parallel, corner):
    shared = [name for name in corner.names if name not in ("travel", "rack", "steering_wheel")]
    assert len(shared) > 15
    for name in shared:
        np.testing.assert_allclose(parallel[f"left.{name}"], corner[name], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    "spring",
    [
        {"spring": {"stiffness": "26 N/mm", "preload": "3400 N"}},
        {"spring": {"curve": {"x": ["0 mm", "60 mm", "200 mm"], "y": ["0 kN", "1.2 kN", "7 kN"]}}},
    ],
    ids=["linear", "curve"],
)
def test_wheel_rates_of_a_corner_include_its_stops(spring, tmp_path):
    """Like those of an axle, which adds up all springs; both stops touch within the travel."""
    stops = {
        "bump_stop": {"gap": "6 mm", "stiffness": "210 N/mm"},
        "rebound_stop": {"gap": "9 mm", "stiffness": "170 N/mm"},
    }
    given = {**described(), **spring, **stops}
    heights = np.linspace(-0.035, 0.045, 9)
    file = tmp_path / "corner.yaml"
    file.write_text(json.dumps(given))
    rates = sk.vehicle.suspension_curves(*sk.vehicle.load_suspension(file), travel=heights)["wheel_rate"]
    axle = sk.vehicle.axle_curves(given, travel=heights)
    np.testing.assert_allclose(rates, axle["left.wheel_rate"], rtol=1e-9)
    assert min(rates[0, 0], rates[-1, 0]) > 2 * rates[4, 0]  # near the drawing neither stop touches


def test_the_right_wheel_is_the_mirror_image(parallel):
    for name in (n.removeprefix("left.") for n in parallel.names if n.startswith("left.")):
        left, right = parallel[f"left.{name}"], parallel[f"right.{name}"][:, ::-1]
        sign = -1.0 if name in ("steer_angle", "front_view_center_y") else 1.0
        # the instant centers of wheels that turn little lie far away: relative to their distance
        np.testing.assert_allclose(right, sign * left, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(parallel["roll_center_y"][:, 1], 0.0, atol=1e-9)
    np.testing.assert_allclose(
        parallel["roll_center_height"][:, 1], parallel["left.roll_center_height"][:, 1], rtol=1e-9
    )


def test_roll_is_travel_in_opposite_ways(parallel):
    """Independent corners: in roll the left wheel is where parallel travel brings it, the right one opposite."""
    roll = sk.vehicle.axle_curves(described(), motion="roll", travel=[-0.02, 0.0, 0.02])
    both = sk.vehicle.axle_curves(described(), travel=[-0.02, 0.0, 0.02])
    for name in ("camber", "toe", "track_change", "motion_ratio", "camber_gradient"):
        np.testing.assert_allclose(roll[f"left.{name}"], both[f"left.{name}"], atol=1e-9, err_msg=name)
        np.testing.assert_allclose(
            roll[f"right.{name}"][::-1], both[f"right.{name}"], atol=1e-9, err_msg=name
        )
    assert abs(roll["roll_center_y"][0, 0]) > 1e-4
    # without a bar the roll stiffness is that of two wheel rates at half the track, exactly
    center = both["left.wheel_rate"][1, 0]
    assert both["roll_stiffness"][1, 0] == pytest.approx(2 * center * 0.678**2, rel=1e-12)
    assert both["ride_rate"][1, 0] == pytest.approx(center, rel=1e-12)


def test_a_bar_adds_roll_stiffness_only():
    """d(moment)/d(roll) by the twist of the bar: k (twist by roll angle)^2, and nothing in parallel travel."""
    plain, bar = (
        sk.vehicle.axle_curves(described(**more), motion="roll", travel=[-1e-3, 0.0, 1e-3])
        for more in ({}, {"axle": {"anti_roll_bar": BAR}})
    )
    twist = bar.gradients()["bar_twist"][1][1, 0] * 0.678  # by the roll angle: the wheels stand at +-0.678 m
    added = bar["roll_stiffness"][1, 0] - plain["roll_stiffness"][1, 0]
    assert abs(twist) > 0.5
    assert added == pytest.approx(900.0 * twist**2, rel=1e-9)
    assert bar["ride_rate"][1, 0] == pytest.approx(plain["ride_rate"][1, 0], rel=1e-9)


def test_ackermann(parallel):
    """By the definition: cot(outer) - cot(inner) over track / wheelbase."""
    a, b = parallel["left.steer_angle"][1, 0], parallel["right.steer_angle"][1, 0]
    inner, outer = max(abs(a), abs(b)), min(abs(a), abs(b))
    if (a + b > 0) == (abs(a) < abs(b)):
        inner, outer = outer, inner
    ideal = np.arctan(1 / (1 / np.tan(outer) - parallel["track"][1, 0] / 2.6))
    assert parallel["ackermann_error"][1, 0] == pytest.approx(inner - ideal, abs=1e-12)
    assert parallel["turning_circle"][1, 0] == pytest.approx(5.2 / np.sin(outer), rel=1e-12)
    assert np.isnan(parallel["ackermann_error"][1, 1])


def test_instant_centers_are_where_the_arms_meet():
    """Level hinges along x: in the front view the center is the intersection of the two arms' lines."""
    from suspensions import planar_points

    upper, lower = (0.36, 0.16, 0.62, 0.19), (0.33, -0.11, 0.66, -0.13)
    points = planar_points(upper, lower)
    found = sk.vehicle.axle_curves({"type": "double_wishbone", "points": points}, travel=[0.0, 0.01])
    (uy, uz, vy, vz), (ly, lz, my, mz) = upper, lower
    slope_u, slope_l = (vz - uz) / (vy - uy), (mz - lz) / (my - ly)
    y = (lz - uz + slope_u * uy - slope_l * ly) / (slope_u - slope_l)
    assert found["left.front_view_center_y"][0, 0] == pytest.approx(y, rel=1e-9)
    assert found["left.front_view_center_z"][0, 0] == pytest.approx(uz + slope_u * (y - uy), rel=1e-9)
    # the roll center is on the line from the contact through the instant center
    z = uz + slope_u * (y - uy)
    assert found["roll_center_height"][0, 0] == pytest.approx(0.71 * (z + 0.29) / (0.71 - y), rel=1e-9)


def test_gradients_of_everything(parallel):
    """By travel against the exact ones; by the rack against the derivative of the steering itself."""
    found = parallel.gradients()
    assert set(found) == {
        n for n in parallel.names if n.rpartition(".")[2] not in ("travel", "rack", "steering_wheel")
    }
    for name, exact, sign in (
        ("camber", "camber_gradient", 1),
        ("toe", "toe_gradient", 1),
        ("spring_length", "motion_ratio", -1),
    ):
        values = found[f"left.{name}"][1]
        np.testing.assert_allclose(values, sign * parallel[f"left.{exact}"], atol=1e-10, err_msg=name)
    assert found["left.spring_load"][0] == "N/m"
    both = (found["left.spring_load"][1] + found["right.spring_load"][1]) / 2
    np.testing.assert_allclose(both, parallel["ride_rate"], rtol=1e-6)
    by_rack = parallel.gradients("rack")["left.steer_angle"][1]
    slope = (parallel["left.steer_angle"][:, 2] - parallel["left.steer_angle"][:, 0]) / 0.02
    np.testing.assert_allclose(by_rack[:, 1], slope, rtol=0.02)  # differences over 20 mm of rack
    with pytest.raises(SekantError, match="gradients are available only with respect to"):
        parallel.gradients("time")


def test_every_column_is_in_the_glossary(parallel):
    for name in parallel.names:
        term = term_of(name)
        assert term is not None, name
        assert term.unit == parallel.unit(name), name
    assert len(GLOSSARY) > 35


def test_faults():
    with pytest.raises(SekantError, match="unknown motion 'heave'"):
        sk.vehicle.axle_curves(described(), motion="heave")
    with pytest.raises(SekantError, match="which is the default name of a frame at a wheel center"):
        sk.vehicle.axle_curves(sk.vehicle.corner(described()))
    swapped = {name: described()["points"][name] for name in ("upper_ball", "lower_ball")}
    points = {"upper_ball": swapped["lower_ball"], "lower_ball": swapped["upper_ball"]}
    with pytest.raises(SekantError, match="check whether the two points are swapped"):
        sk.vehicle.axle(described() | {"points": described()["points"] | points})
    with pytest.raises(SekantError, match="there is no load 'fq'"):
        sk.vehicle.member_loads(described(), {"kerb": {"left": {"fq": 1.0}}})
    with pytest.raises(SekantError, match="must consist of finite, increasing numbers"):
        sk.vehicle.axle_curves(described(), travel=[0.1, 0.0])


def test_travel_beyond_the_dead_point_is_told():
    """What was reached is there; heights and rack of the dead point are told, not the number of a row."""
    found = sk.vehicle.axle_curves(described(), travel=[0.0, 0.2, 0.6])
    assert np.isnan(found["left.camber"][2, 0])
    assert np.isfinite(found["left.camber"][1, 0])
    assert found.limits
    told = [str(warning) for warning in found.warnings if warning.code == "range_not_reached"]
    assert len(told) == 1
    assert "drive 'travel', requested 0 to 0.6 m: 1 of 3 points" in told[0]
    assert all("meet at travel = " in text and "wheel_center" not in text for text in found.limits)
    advised = float(told[0].split(" to ")[-1].split()[0])
    assert 0.2 < advised <= float(found.limits[0].split("travel = ")[1].split()[0])
    again = sk.vehicle.axle_curves(described(), travel=[0.0, advised])
    assert not again.limits


def test_a_rack_beyond_the_dead_point_leaves_the_others():
    found = sk.vehicle.axle_curves(described(), travel=[-0.02, 0.0, 0.03], steering=[0.0, 0.4])
    assert np.isfinite(found["left.toe"][:, 0]).all()
    assert np.isnan(found["left.toe"][:, 1]).all()
    assert np.isnan(found.gradients()["left.toe"][1][:, 1]).all()
    assert any("rack = 0.4 to 0.4 can" in str(warning) for warning in found.warnings)
    assert len(repr(found)) < 120


LIGHT = dict.fromkeys(("upright", "upper_arm", "lower_arm", "tie_rod", "rack"), 1e-7)
CASE = {
    "left": {"fx": -2100.0, "fy": 1700.0, "fz": 5200.0},
    "right": {"fx": -900.0, "fy": 800.0, "fz": 3100.0},
}


def test_loads_balance_and_do_virtual_work():
    """Without weight: what the body feels is what the road does; the spring's force by virtual work, to 1e-9."""
    data = described(masses=LIGHT)
    found = sk.vehicle.member_loads(data, {"turn": {**CASE, "hold": "springs"}})
    felt = sum(rows[0] for name, rows in found.forces.items() if name.endswith("on body"))
    applied = [sum(CASE[side][key] for side in CASE) for key in ("fx", "fy", "fz")]
    np.testing.assert_allclose(felt, applied, rtol=1e-9, atol=1e-4)  # N; parts weigh 1e-6 N each
    model, roles = axle_of(data, None, compliant=False)
    moved = axle_motion(model, roles, (1.0, 1.0), np.array([0.0, 1e-3]), np.zeros(1))
    for k, side in enumerate(("left", "right")):
        way = [moved.rows[0].derivative(f"{side}.upright.contact.{axis}")[0, k] for axis in "xyz"]
        ratio = moved.rows[0].derivative(f"{side}.spring.length")[0, k]
        work = np.dot(way, [CASE[side][key] for key in ("fx", "fy", "fz")])
        assert found.axial[f"{side}.spring"][0] * ratio == pytest.approx(work, rel=1e-9)
    largest = found.envelope()
    assert largest["left.upper_arm_ball"][1] == "turn"


def test_loads_of_accelerations(tmp_path):
    """2 g upward: twice the wheel's load; in a left turn the right wheel carries 2 W ay h / track more."""
    cases = {"bump": {"az": 2.0}, "turn": {"ay": 0.8, "az": 1.0}}
    found = sk.vehicle.member_loads(described(), cases)
    assert found.applied["bump"]["left.fz"] == pytest.approx(8600.0)
    moved = 2 * 4300 * 0.8 * 0.55 / (2 * 0.678)
    assert found.applied["turn"]["right.fz"] == pytest.approx(4300 + moved, rel=1e-9)
    assert found.applied["turn"]["left.fy"] + found.applied["turn"]["right.fy"] == pytest.approx(0.8 * 8600)
    text = found.to_csv(tmp_path / "loads.csv").read_text()
    assert "left.tie_rod_outer" in text
    assert text.splitlines()[0].startswith("case,axle,part,point,x [mm]")
    with pytest.raises(SekantError, match="no load 'fq'; loads: fx"):
        sk.vehicle.member_loads(described(), {"a": {"left": {"fq": 1.0}}})
    with pytest.raises(SekantError, match="require the static load of a wheel; give wheel_load"):
        sk.vehicle.member_loads({**described(), "load": 0.0}, {"a": {"az": 2.0}})


ARM = {
    "type": "trailing_arm",
    "points": {
        "hinge_inner": [0.5, 0.4, 0.0],
        "hinge_outer": [0.5, 0.6, 0.0],
        "wheel_center": [0.0, 0.7, 0.0],
    },
    "wheel": {"radius": 0.3},
}


def test_the_compliance_of_an_arm_on_two_bushings():
    """Radial stiffness k each, d = 0.2 m apart, the wheel 0.2 m beside their middle: closed form."""
    k, d, beside = 2e6, 0.2, 0.2
    mount = {"stiffness": [k, k, 3e6], "rotational_stiffness": [1e-4] * 3}
    data = ARM | {
        "bushings": {"hinge_inner": mount, "hinge_outer": mount},
        "masses": {"upright": 1e-3, "arm": 1e-3},
    }
    found = sk.vehicle.axle_compliance(data, cases=("driving", "lateral_same", "lateral_opposite"))
    yaw = k * d**2 / 2  # N m/rad
    assert found.rate("driving", "left", "x") == pytest.approx(1 / (2 * k) + beside**2 / yaw, rel=1e-6)
    # a force forward, outside of the mounts, turns the wheel inward: to the right on the left side
    assert found.rate("driving", "left", "toe") == pytest.approx(beside / yaw, rel=1e-6)
    for quantity in ("toe", "camber", "x"):
        left, right = (found.rate("lateral_opposite", side, quantity) for side in ("left", "right"))
        assert right == pytest.approx(left, rel=1e-6, abs=1e-13)
    unit, value = found.shown("driving", "left", "x")
    assert (unit, value) == ("mm/kN", pytest.approx(1e6 * found.rate("driving", "left", "x")))


def test_free_height_gives_way_by_the_wheel_rate():
    """A vertical load at free height moves the wheel by one over the ride rate of the rigid axle."""
    found = sk.vehicle.axle_compliance(described(), height="free", cases=("vertical",))
    curves = sk.vehicle.axle_curves(described(), travel=[0.0, 0.01])
    assert found.carried["left"] == pytest.approx(found.carried["right"], rel=1e-9)
    # at the contact, which moves with the wheel's center but for camber; differences over 50 N
    assert 1 / found.rate("vertical", "left", "z") == pytest.approx(curves["ride_rate"][0, 0], rel=0.02)


def test_the_page_holds_the_glossary():
    page = (EXAMPLES.parents[1] / "docs" / "suspensions.md").read_text()
    assert table() in page


def test_a_full_matrix_is_mirrored():
    """Bushings whose directions are coupled, on a hinge at an angle: the right wheel gives way as the left one."""
    root = np.random.default_rng(5).uniform(-1, 1, (6, 6))
    size = np.diag([2e3, 2e3, 1e3, 20, 20, 20])
    matrix = size @ (root @ root.T + np.eye(6)) @ size
    points = ARM["points"] | {"hinge_inner": [0.42, 0.3, 0.03]}
    mount = {"matrix": matrix.tolist()}
    data = ARM | {
        "type": "semi_trailing_arm",
        "points": points,
        "bushings": {"hinge_inner": mount, "hinge_outer": mount},
    }
    found = sk.vehicle.axle_compliance(data, cases=("driving", "lateral_opposite"))
    for case in ("driving", "lateral_opposite"):
        for quantity, sign in (("toe", 1), ("camber", 1), ("x", 1), ("y", -1)):
            left, right = (found.rate(case, side, quantity) for side in ("left", "right"))
            assert right == pytest.approx(sign * left, rel=1e-5, abs=1e-12), (case, quantity)


def test_camber_against_a_tilted_road():
    """Trailing arms keep their wheels upright in the body: in roll they lean as the body does, by hand."""
    points = {"hinge_inner": [0.5, 0.4, 0.0], "hinge_outer": [0.5, 0.6, 0.0], "wheel_center": [0.0, 0.7, 0.0]}
    data = {"type": "trailing_arm", "points": points, "wheel": {"radius": 0.3}}
    z = np.array([-0.05, 0.0, 0.04])
    roll = sk.vehicle.axle_curves(data, motion="roll", travel=z)
    phi = np.arctan(z / 0.7)  # wheels at +-0.7 m rise and fall by z
    np.testing.assert_allclose(roll["road_angle"][:, 0], phi, atol=1e-9)
    # the body leans to the right of the road by phi: the left wheel's top, upright in the body, leans outward by it
    np.testing.assert_allclose(roll["left.camber_to_road"][:, 0], phi, atol=1e-9)
    np.testing.assert_allclose(roll["right.camber_to_road"][:, 0], -phi, atol=1e-9)
    parallel = sk.vehicle.axle_curves(data, travel=z)
    np.testing.assert_allclose(parallel["road_angle"], 0.0, atol=1e-12)
    np.testing.assert_allclose(parallel["left.camber_to_road"], parallel["left.camber"], atol=1e-12)
    np.testing.assert_allclose(parallel["track_on_road"], parallel["track"], atol=1e-12)


def test_rates_on_a_tilted_road():
    """Wheels that rise along z come nearer to a road at the angle phi by cos phi of it, by hand."""
    points = ARM["points"] | {"spring_top": [0.1, 0.6, 0.5], "spring_bottom": [0.1, 0.6, 0.02]}
    data = {
        "type": "trailing_arm",
        "points": points | {"hinge_inner": [0.5, 0.4, 0.0], "hinge_outer": [0.5, 0.6, 0.0]},
        "wheel": {"radius": 0.3},
        "spring": {"stiffness": 3e4, "preload": 2500.0},
    }
    z = np.array([-0.05, 0.0, 0.04])
    roll, parallel = (sk.vehicle.axle_curves(data, motion=m, travel=z) for m in ("roll", "parallel"))
    cosine = np.cos(roll["road_angle"])
    np.testing.assert_allclose(
        roll["left.wheel_rate_on_road"] * cosine**2, roll["left.wheel_rate"], rtol=1e-9
    )
    np.testing.assert_allclose(roll["roll_stiffness_on_road"] * cosine**4, roll["roll_stiffness"], rtol=1e-9)
    for name in ("left.wheel_rate", "right.wheel_rate", "roll_stiffness"):
        np.testing.assert_allclose(parallel[f"{name}_on_road"], parallel[name], rtol=1e-9)


def test_scrub_and_trail_on_a_tilted_road():
    """On a road at the angle phi they are those of the axle turned back by phi onto a level one."""
    axis, touch = np.array([-0.1, -0.2, 0.97]), np.array([0.01, 0.7, -0.3])
    point, e, phi = np.array([0.0, 0.6, 0.1]), np.array([0.02, 1.0, -0.03]) / np.sqrt(1.0013), 0.07
    turn = np.array([[1, 0, 0], [0, np.cos(phi), -np.sin(phi)], [0, np.sin(phi), np.cos(phi)]])
    level = ground_offsets(point, axis, touch, e, 1.0)
    tilted = ground_offsets(turn @ point, turn @ axis, turn @ touch, turn @ e, 1.0, turn[:, 2])
    np.testing.assert_allclose(tilted, level, atol=1e-12)


def test_files_and_units_will_do():
    """What a file holds, and numbers with units, wherever a description or a number in SI may stand."""
    file = EXAMPLES.parent / "axles" / "rear_twist_beam.yaml"
    found = sk.vehicle.axle_curves(file, travel=["-5 mm", 0.01])
    same = sk.vehicle.axle_curves(sk.vehicle.load_axle(file), travel=[-0.005, 0.01])
    np.testing.assert_array_equal(found["left.camber"], same["left.camber"])
    for travel, said in (
        ("5 N", "travel: '5 N' is a force"),
        ([-50, 50], "in meters"),
        (["a"], "not a number"),
        ([[0], [1, 2]], "increasing numbers"),
    ):
        with pytest.raises(SekantError, match=said):
            sk.vehicle.axle_curves(file, travel=travel)
    with pytest.raises(SekantError, match=r"load of 'left': '3 mm' is a length"):
        sk.vehicle.standing(file, "3 mm")
    with pytest.raises(SekantError, match=r"load_cases\.x\.az: '2 g' is a mass"):
        sk.vehicle.member_loads(file, {"x": {"az": "2 g"}})
