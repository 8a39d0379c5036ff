"""Courses, speed profiles, tracks, and the driver on them: closed solutions, mirror images, faults of files."""

from dataclasses import replace

import numpy as np
import pytest

from sedans import LINEAR, sedan
from sekant.errors import SekantError
from sekant.vehicle.courses import course_of_pieces, course_through, read_track, speed_profile
from sekant.vehicle.courses.speed_profile import CarAsPoint, fastest_speed
from sekant.vehicle.driving import drive
from sekant.vehicle.maneuvers import maneuver
from sekant.vehicle.quantities import GRAVITY

MASS = CarAsPoint(1.3, 250.0, 0.0, 0.0, 600.0, 0.25, 7.0, 9.0)


def test_pieces_give_circles_and_closed_clothoids():
    course = course_of_pieces([(3.0, 0.0, 0.0), (2 * np.pi * 7.0, 1 / 7, 1 / 7), (2.0, 0.0, 0.0)])
    circle = (course.s >= 3.0) & (course.s <= 3.0 + 2 * np.pi * 7.0)
    assert np.hypot(course.x - 3.0, course.y - 7.0)[circle] == pytest.approx(7.0, abs=1e-9)
    assert course.heading[-1] == pytest.approx(2 * np.pi, abs=1e-12)
    assert (course.x[-1], course.y[-1]) == pytest.approx((5.0, 0.0), abs=1e-9)


def test_a_course_through_points_of_a_circle_has_its_curvature():
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    course = course_through(11.0 * np.column_stack([np.cos(angle), np.sin(angle)]), closed=True)
    assert course.curvature == pytest.approx(1 / 11.0, rel=2e-3)
    assert course.length == pytest.approx(2 * np.pi * 11.0, rel=1e-5)
    assert course.laps(3).length == pytest.approx(3 * course.length)
    assert course.laps(3).heading[-1] - course.heading[0] == pytest.approx(6 * np.pi)
    assert course.mirrored().curvature == pytest.approx(-course.curvature)


def test_profile_of_a_point_mass_on_a_straight_and_a_circle():
    straight = course_of_pieces([(80.0, 0.0, 0.0)])
    profile = speed_profile(straight, MASS, share=0.5, end=0.0)
    forth, back = 0.5 * 7.0, 0.5 * 9.0  # the motor gives 9.6 m/s^2
    peak = 80.0 * back / (forth + back)
    assert profile.speed == pytest.approx(
        np.sqrt(np.minimum(2 * forth * profile.s, 2 * back * (80.0 - profile.s))), abs=0.15
    )
    assert profile.s[np.argmax(profile.speed)] == pytest.approx(peak, abs=0.5)
    circle = course_of_pieces([(60.0, 0.1, 0.1)])
    fastest = np.sqrt(0.8 * 1.3 * GRAVITY * 10.0)
    assert speed_profile(circle, MASS, share=0.8, start=99.0).speed == pytest.approx(fastest)


def test_acceleration_with_constant_force_takes_its_closed_time():
    tire = {**LINEAR, "slip_stiffness": 4e5, "cornering_stiffness": 52e3}
    stiff = {"type": "linear_tire", "cornering_stiffness": 61e3}
    car = sedan(tire, {**tire, **stiff}, drive={"torque": 800.0})
    run = drive(car, "acceleration", launch="wheelspin", staging=0.0, distance=30.0, rise=1e-3)
    radius = float(run["rear.left.tire.loaded_radius"].mean())  # the arm of the force
    spin = 2 * 1.0 / radius**2  # driven wheels turn with the car
    mass = 1300 + 2 * (17 + 15 + 19 + 18) + spin + 2 * 1.1 / 0.31**2
    time = np.sqrt(2 * 30.0 * mass * radius / 800.0)
    assert run.measures[0].name == "time"
    assert run.time[-1] == pytest.approx(time, rel=4e-3)


def test_slip_control_keeps_the_wheels_from_spinning():
    found = {}
    for launch in ("slip_control", "wheelspin"):
        run = drive(sedan(), "acceleration", launch=launch, distance=10.0)
        found[launch] = {m.name: m.value for m in run.measures}
    assert found["slip_control"]["time of wheelspin"] < 0.3
    assert found["wheelspin"]["time of wheelspin"] > 1.0
    assert found["slip_control"]["time"] == pytest.approx(found["wheelspin"]["time"], rel=0.1)


@pytest.fixture(scope="module")
def skidpad():
    return drive(sedan(), "skidpad", grip=0.6)


def test_skidpad_takes_the_time_of_a_point_mass(skidpad):
    values = {m.name: m.value for m in skidpad.measures}
    speed = np.sqrt(0.6 * 0.85 * GRAVITY * 9.125)
    assert skidpad.complete
    assert values["skidpad time"] == pytest.approx(2 * np.pi * 9.125 / speed, rel=0.01)
    assert values["time to the left"] == pytest.approx(values["time to the right"], rel=5e-3)
    assert values["largest course error"] < 0.3
    assert not skidpad.warnings
    assert np.ptp(np.unwrap(skidpad["angles"][:, 0])) > 4 * np.pi - 0.3


def test_mirrored_tracks_give_mirrored_runs(tmp_path):
    file = tmp_path / "track.csv"
    u = np.linspace(0, 60, 31)
    y = 6 * np.sin(u / 14) + 0.02 * u
    file.write_text("x [m], y [m]\n" + "".join(f"{a:.6f}, {b:.6f}\n" for a, b in zip(u, y, strict=True)))
    one, other = (drive(sedan(), "autocross", file=str(file), mirror=m, finish=1) for m in (False, True))
    assert one.complete
    assert other.complete
    assert one["speed"][-1] < 0.31
    assert one["speed"][0] == 0.0
    t = np.linspace(0, min(one.time[-1], other.time[-1]), 50)
    left, right = (np.interp(t, run.time, run["steering_wheel"]) for run in (one, other))
    assert np.abs(left).max() > 0.1
    assert left == pytest.approx(-right, abs=1e-3)
    assert one.time[-1] == pytest.approx(other.time[-1], abs=1e-3)


def test_speed_on_a_banked_circle_and_over_a_crest():
    """v^2 = g R (mu + tan phi) / (1 - mu tan phi), the road rising outward; over a crest the road pushes less."""
    mu, R, phi = 1.3, 25.0, 0.2
    circle = course_of_pieces([(60.0, 1 / R, 1 / R)])
    banked = replace(circle, bank=np.full(circle.s.size, -phi))
    t = np.tan(phi)
    assert fastest_speed(banked, MASS) == pytest.approx(np.sqrt(GRAVITY * R * (mu + t) / (1 - mu * t)))
    assert fastest_speed(banked.mirrored(), MASS) == pytest.approx(fastest_speed(banked, MASS))
    crest = replace(circle, height=-0.005 * (circle.s - 30.0) ** 2)
    top = np.argmin(np.abs(circle.s - 30.0))
    assert fastest_speed(crest, MASS)[top] == pytest.approx(
        np.sqrt(mu * GRAVITY / (1 / R + mu * 0.01)), rel=1e-3
    )


TILTED = "x [m], y [m], z [m], bank [deg]\n" + "".join(
    f"{x}, {0.004 * x * x:.6f}, {0.02 * x:.6f}, {-0.1 * x:.6f}\n" for x in range(0, 61, 3)
)


@pytest.fixture(scope="module")
def hills(tmp_path_factory):
    """One run over a hill with bank, and one over its mirror image."""
    file = tmp_path_factory.mktemp("track") / "hill.csv"
    file.write_text(TILTED)
    return [drive(sedan(), "autocross", file=str(file), mirror=mirror) for mirror in (False, True)]


def test_a_car_on_a_track_with_slope_and_bank(hills):
    """The car rises with the road, and leans with it; wheels stand on it."""
    run, _ = hills
    assert run.complete
    assert not run.warnings
    course = run.maneuver.course()
    at = np.searchsorted(run["progress"], 40.0)
    k = np.searchsorted(course.s, 40.0)
    assert course.bank[k] == pytest.approx(np.radians(-4.0), rel=0.02)
    rise = run["position"][at, 2] - run["position"][0, 2]
    assert rise == pytest.approx(course.height[k], abs=0.03)
    assert np.degrees(run["angles"][at, 2]) == pytest.approx(-4.0, abs=1.0)
    both = [run[f"rear.{side}.tire.contact"][at] for side in ("left", "right")]
    assert (both[0] - both[1])[2] / 1.49 == pytest.approx(np.sin(course.bank[k]), abs=0.003)


def test_mirrored_slopes_and_banks_give_mirrored_runs(hills):
    one, other = hills
    assert one.time[-1] == pytest.approx(other.time[-1], abs=1e-4)
    n = min(one.time.size, other.time.size)
    assert one["front.left.tire.load"][:n] == pytest.approx(other["front.right.tire.load"][:n], abs=2.0)


def test_a_noisy_center_line_has_a_quiet_curvature(tmp_path):
    angle = np.linspace(0, 2 * np.pi, 121)
    radius = 40.0 + np.random.default_rng(3).normal(0, 0.03, angle.size)
    file = tmp_path / "round.csv"
    rows = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    file.write_text("x [m], y [m]\n" + "".join(f"{x:.4f}, {y:.4f}\n" for x, y in rows))
    course = read_track(file)
    assert course.closed
    assert course.curvature == pytest.approx(1 / 40.0, rel=0.15)


FAULTS = {
    "height jumps by 4 m": "x [m], y [m], z [m]\n"
    + "".join(f"{x}, 0, {4 * (x > 9)}\n" for x in range(0, 21, 2)),
    "is 57.3 deg, but at most 45 deg": "x [m], y [m], bank [rad]\n"
    + "".join(f"{x}, 0, {x > 9:d}\n" for x in range(0, 21, 2)),
    "jumps by": "x [m], y [m]\n" + "".join(f"{x}, 0\n" for x in (0, 2, 4, 6, 60, 62, 64)),
    "but a car needs 1.5 m": "x [m], y [m], left [m], right [m]\n"
    + "".join(f"{x}, 0, 0.4, 0.5\n" for x in range(9)),
    "crosses itself": "x [m], y [m]\n0, 0\n10, 0\n20, 0\n25, 6\n20, 12\n12, 6\n12, -8\n",
    "occurs in two successive rows": "x [m], y [m]\n0, 0\n1, 0\n1, 0\n2, 0\n3, 0\n",
    "has no column 'y'": "x [m]\n0\n1\n2\n3\n",
}


@pytest.mark.parametrize("told", FAULTS)
def test_faults_of_tracks_name_the_place(tmp_path, told):
    file = tmp_path / "bad.csv"
    file.write_text(FAULTS[told])
    with pytest.raises(SekantError, match=told) as error:
        read_track(file)
    assert "bad.csv" in str(error.value)


def test_skidpad_has_the_dimensions_of_the_rules():
    pad = maneuver("skidpad")
    course = pad.course()
    assert pad.radius == 9.125
    for sign, (a, b) in zip((-1, 1), pad.laps(), strict=True):
        lap = (course.s > a) & (course.s < b - 2)
        center = np.array([pad.approach, sign * 9.125])
        off = np.hypot(course.x[lap] - center[0], course.y[lap] - center[1]) - 9.125
        assert np.abs(off).max() < 0.15


def test_the_short_course_is_driven_from_rest_without_leaving_it():
    run = drive(sedan(), "autocross")
    assert run.complete
    assert run["speed"][0] == 0.0
    assert np.abs(run["course_error"]).max() < 1.0
    assert np.ptp(np.unwrap(run["angles"][:, 0])) > np.pi


def test_skidpad_of_a_single_track_car_takes_its_closed_steer_and_time():
    """Steer delta = L / R + K v^2 / R, the time of a circle 2 pi R / v: both ways, in the second circle."""
    tire = {**LINEAR, "slip_stiffness": 2e5}
    car = sedan(tire, {**tire, "cornering_stiffness": 61e3})
    run = drive(car, "skidpad", grip=0.25, fastest=6.0, speed=6.0)
    L, R, K = run.linear.wheelbase, 9.125, run.linear.understeer_gradient
    for sign, (a, b) in zip((-1, 1), run.maneuver.laps(), strict=True):
        lap = (run["progress"] > a) & (run["progress"] < b - 2.0)
        v = np.hypot(run["speed"], run["lateral_velocity"])[lap].mean()
        steer = (run["steering_wheel"][lap] / run.linear.ratio).mean()
        assert steer == pytest.approx(sign * (L + K * v**2) / R, rel=0.03)
        time = run.maneuver.time_at(run, b) - run.maneuver.time_at(run, a)
        assert time == pytest.approx(2 * np.pi * R / v, rel=5e-3)
