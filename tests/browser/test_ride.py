"""Riding along: what the dash of a page shows is what a sensor on the body measures, and the camera goes with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from chromium import Chromium, find_chromium
from sekant.geometry.rotations import rotation_from_quaternion
from sekant.model.parse import model_from_dict

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: install the package 'chromium' to test pages"
)
COASTER = Path(__file__).parents[2] / "examples" / "roller_coaster.yaml"
G = 9.81
MASS = 1058.0
SHOWN = "['up', 'left', 'forward'].map((name) => byId(`g-${name}`).textContent)"
ID = "byId = (id) => document.getElementById(id)"


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    found = Chromium(PROGRAM)
    yield found
    found.close()


@pytest.fixture(scope="module")
def coaster(tmp_path_factory) -> Path:
    page = tmp_path_factory.mktemp("ride") / "coaster.html"
    sk.live(sk.load(COASTER), page, vary={"v0": "1..12 m/s"})
    return page


def drag_first_slider(browser: Chromium, share: float) -> None:
    """By the mouse, from where the knob is to a share of its way."""
    box = "(({ x, y, width, height }) => [x, y, width, height])(sekant.live.rows[0].range.getBoundingClientRect())"
    x, y, width, height = browser.run(box)
    mouse = {"y": y + height / 2, "button": "left", "buttons": 1, "clickCount": 1}
    at = browser.run("Number(sekant.live.rows[0].range.value) / 1000")
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x + 8 + at * (width - 16), **mouse)
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + share * width, **mouse)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + share * width, **mouse)
    browser.wait("sekant.live.done === sekant.live.number && !sekant.live.due")


def test_the_dash_shows_the_motion_of_simulate_after_a_slider_moved(browser, coaster):
    browser.open(coaster)
    drag_first_slider(browser, 0.6)
    speed = browser.run("sekant.live.values[sekant.live.rows[0].index]")
    assert 6 < speed < 9
    browser.press("r", 82)  # chase
    assert browser.run("sekant.playing")
    browser.press(" ", 32)
    browser.run(ID)
    system = sk.compile(sk.load(COASTER), parameters=["v0"])
    times = np.array([0.0, 1.2, 4.3, 7.0, 20.0])
    run = sk.simulate(system, output_times=times, parameters={"v0": speed})
    period = browser.run("sekant.runs[0].tracks[0].lap.period")
    R = rotation_from_quaternion(run["car.orientation"])
    head = R @ np.array([0.0, 0.0, 1.75])  # of the rider, from the origin of the car
    w, alpha = run["car.angular_velocity"], run["car.angular_acceleration"]
    felt = run["car.acceleration"] + np.cross(alpha, head) + np.cross(w, np.cross(w, head)) + [0, 0, G]
    felt = np.einsum("nji,nj->ni", R, felt) / G
    pace = np.linalg.norm(run["car.velocity"] + np.cross(w, head), axis=1)
    for i, t in enumerate(times):
        browser.run(f"sekant.setTime({t})")
        up, left, forward = (float(text.replace("\N{MINUS SIGN}", "-")) for text in browser.run(SHOWN))
        assert [forward, left, up] == pytest.approx(felt[i], abs=0.011)  # two digits
        assert float(browser.run("byId('speed-now').textContent")) == pytest.approx(3.6 * pace[i], abs=0.6)
        lap = 1 + int(run["rail.q"][i] // period)
        assert browser.run("byId('lap').textContent") == str(lap)
    assert lap == 2
    assert np.ptp(felt[:, 2]) > 1.5
    assert browser.errors == []


def test_a_rider_at_the_center_of_mass_feels_the_rails(browser, tmp_path):
    """Nothing but gravity and the rails acts on the car: f = F / m."""
    model = sk.load(COASTER)
    seat = {"rider": {"position": [0, 0, 0.7]}}
    car = model.bodies["car"].model_validate({**model.bodies["car"].model_dump(), "frames": seat})
    run = sk.simulate(model.changed(bodies={"car": car}), 12.0, output_step=0.01)
    browser.open(sk.view(run, tmp_path / "rails.html"))
    felt = np.array(browser.run("[...sekant.runs[0].series.get('car.g_force').columns].map((c) => [...c])"))
    expected = run["rail.reaction_local"][:, :3].T / MASS / G
    np.testing.assert_allclose(felt, expected, atol=2e-4)  # of packed columns
    assert np.abs(expected).max() > 2.0


def test_a_turned_seat_feels_the_second_derivative_of_its_place(browser, tmp_path):
    seat = {"position": [0.3, -0.2, -0.7], "orientation": {"axis": [1, 2, 2], "angle": 0.8}}
    raw = {
        "name": "arms",
        "bodies": {
            "arm": {"mass": 1.3, "com": [0, 0, -0.5], "inertia": [0.15, 0.2, 0.07]},
            "tip": {"mass": 0.7, "com": [0.1, 0, -0.3], "inertia": [0.02, 0.03, 0.04], "frames": {"seat": seat}},
        },
        "joints": {
            "hinge": {"type": "revolute", "child": "arm", "axis": [0, 1, 0], "q0": 1.9},
            "elbow": {
                "type": "spherical",
                "parent": "arm",
                "child": "tip",
                "parent_pose": {"position": [0, 0, -1]},
            },
        },
        "sensors": {"place": {"type": "position", "frame": "tip.seat"}},
        "view": {"plane": "xz", "ride": "tip.seat"},
    }  # fmt: skip
    model = model_from_dict(raw)
    h = 1e-3
    run = sk.simulate(model, 1.0, output_step=h, rtol=1e-12, atol=1e-12)
    browser.open(sk.view(run, tmp_path / "arms.html"))
    found = browser.run(
        "[sekant.runs[0].times, ...sekant.runs[0].series.get('tip.g_force').columns].map((c) => [...c])"
    )
    times, felt = np.array(found[0]), np.array(found[1:]).T
    p = run["place"]
    acceleration = (p[2:] - 2 * p[1:-1] + p[:-2]) / h**2
    angle, axis = 0.8, np.array([1.0, 2.0, 2.0]) / 3
    K = np.cross(np.eye(3), axis)
    own = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    R = rotation_from_quaternion(run["tip.orientation"])[1:-1] @ own
    expected = np.einsum("nji,nj->ni", R, acceleration + np.array([0, 0, G])) / G
    rows = np.rint(times[1:-1] / h).astype(int) - 1
    np.testing.assert_allclose(felt[1:-1], expected[rows], atol=2e-3 * np.abs(expected).max())


def test_the_camera_rides_with_a_body_of_choice(browser, tmp_path):
    joints = {
        "one": {"type": "revolute", "child": "arm", "axis": [0, 1, 0], "q0": 1.0},
        "two": {"type": "revolute", "parent": "arm", "child": "tip", "axis": [0, 1, 0],
                "parent_pose": {"position": [0, 0, -1]}, "q0": 0.6},
    }  # fmt: skip
    bodies = {"arm": {"mass": 2.0, "com": [0, 0, -0.5], "inertia": [0.2, 0.2, 0.01]},
              "tip": {"mass": 1.0, "com": [0, 0, -0.4], "inertia": [0.1, 0.1, 0.01]}}  # fmt: skip
    run = sk.simulate(
        model_from_dict({"name": "arms", "bodies": bodies, "joints": joints}), 2.0, output_step=0.01
    )
    browser.open(sk.view(run, tmp_path / "both.html"))
    before = browser.run("sekant.stage.camera.position.toArray()")
    for camera in ("chase", "on board", "top"):
        browser.press("r", 82)
        assert browser.run("sekant.ride.camera") == camera
        if camera == "on board":
            break
    browser.press(" ", 32)
    ridden = "sekant.runs[0].tracks[sekant.ride.track].name"
    assert browser.run(ridden) == "arm"
    x, y = browser.run(
        "(() => { const rows = [...document.querySelectorAll('.row')].find((row) => row.textContent.includes('tip'));"
        " const button = rows.querySelector('[aria-label=Follow]'); button.scrollIntoView({ block: 'center' });"
        " const box = button.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    assert browser.run(ridden) == "tip"
    for t in (0.3, 1.7):
        browser.run(f"sekant.setTime({t})")
        gap = browser.run(
            "(() => { const { groups } = sekant.actors[0]; const g = groups[sekant.ride.track];"
            " return sekant.ride.eyes.position.clone().applyQuaternion(g.quaternion).add(g.position)"
            ".distanceTo(sekant.stage.camera.position); })()"
        )
        assert gap < 1e-6
    browser.press("0", 48)  # as at first
    assert browser.run("sekant.ride.camera") == ""
    assert browser.run("sekant.stage.camera.position.toArray()") == pytest.approx(before, abs=1e-9)
    assert browser.run("document.getElementById('dash').hidden")
    assert browser.errors == []


def test_a_phone_rides_without_sideways_scrolling(browser, coaster):
    browser.open(coaster, width=390, height=780, phone=True)
    browser.run("sekant.ride.take('on board')")
    box = browser.run(
        "(({ left, right, height }) => [left, right, height])"
        "(document.getElementById('dash').getBoundingClientRect())"
    )
    assert box[0] >= 0
    assert box[1] <= 390
    assert 20 < box[2] < 120
    assert browser.run("document.documentElement.scrollWidth") <= 390
