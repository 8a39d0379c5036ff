"""Courses, speed profiles, tracks, and the driver on them: closed solutions, mirror images, faults of files."""

import numpy as np
import pytest

from sedans import LINEAR, sedan
from sekant.errors import SekantError
from sekant.vehicle.courses import course_of_pieces, course_through, read_track, speed_profile
from sekant.vehicle.courses.speed_profile import CarAsPoint
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


FAULTS = {
    "jumps by": "x [m], y [m]\n" + "".join(f"{x}, 0\n" for x in (0, 2, 4, 6, 60, 62, 64)),
    "too narrow": "x [m], y [m], left [m], right [m]\n" + "".join(f"{x}, 0, 0.4, 0.5\n" for x in range(9)),
    "crosses itself": "x [m], y [m]\n0, 0\n10, 0\n20, 0\n25, 6\n20, 12\n12, 6\n12, -8\n",
    "stands twice": "x [m], y [m]\n0, 0\n1, 0\n1, 0\n2, 0\n3, 0\n",
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
