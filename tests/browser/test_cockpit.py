"""Pages in which a reader drives: the motion of `sk.simulate`, real events, laps, replay and download."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

import sekant as sk
from chromium import Chromium, find_chromium
from sekant.errors import SekantError
from sekant.vehicle.car import load_car
from sekant.vehicle.car.looks import car_shapes, eye_point
from sekant.vehicle.driving import drive
from sekant.vehicle.maneuvers import maneuver
from sekant.vehicle.maneuvers.courses import CourseManeuver
from sekant.views.cockpit.driven_car import DrivenCar, driven_car
from sekant.views.cockpit.page import drive_page

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: install the package 'chromium' to test pages"
)
EXAMPLES = Path(__file__).parents[2] / "examples"
SEDAN = EXAMPLES / "car" / "sedan.yaml"


@pytest.fixture(scope="module")
def driven() -> DrivenCar:
    return driven_car(load_car(SEDAN))


@pytest.fixture(scope="module")
def page(tmp_path_factory, driven) -> Path:
    path = tmp_path_factory.mktemp("cockpit") / "drive.html"
    path.write_text(drive_page(driven, maneuver(load_car(SEDAN).maneuver)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    found = Chromium(PROGRAM)
    yield found
    found.close()


def test_a_scripted_drive_is_that_of_simulate(browser, page, driven):
    """Full throttle while turning, then the brake; inputs change between steps of the integrator."""
    assert_drives_as_simulate(browser, page, driven, 0.4)


def assert_drives_as_simulate(browser, page, driven, seconds):
    """`seconds`: of each of three inputs; returns the heights of the chassis at their ends, m."""
    browser.open(page, 640, 400)
    assert browser.errors == []
    steps = [(0.6, 0.3, 0.0), (0.2, -0.5, 0.0), (0.0, 0.1, 0.4)]  # throttle, steering wheel [rad], brake
    count = round(seconds / driven.step)
    script = "sekant.pause(true); sekant.car.reset(); const found = [];"
    for throttle, steering, brake in steps:
        script += (
            f"sekant.car.set('throttle', {throttle}); sekant.car.set('steering_wheel_angle', {steering});"
            f"sekant.car.set('brake_pedal', {brake}); sekant.car.advance({count}); sekant.car.read();"
            "found.push([...sekant.car.values('chassis.position'), ...sekant.car.values('chassis.orientation'),"
            "...sekant.car.values('front.left.tire.force')]);"
        )
    found = np.array(browser.run(f"(() => {{ {script} return found; }})()"))
    state, t = None, 0.0
    for row, (throttle, steering, brake) in zip(found, steps, strict=True):
        inputs = {"throttle": throttle, "steering_wheel_angle": steering, "brake_pedal": brake}
        times = np.array([t, t + count * driven.step])
        result = sk.simulate(
            driven.system, output_times=times, method="rk4", step=driven.step, inputs=inputs, initial=state
        )
        expected = np.concatenate(
            [
                result[name][-1]
                for name in ("chassis.position", "chassis.orientation", "front.left.tire.force")
            ]
        )
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=1e-8)
        state, t = result.final_state, times[-1]
    return found[:, 2]


@pytest.fixture(scope="module")
def hill(tmp_path_factory) -> CourseManeuver:
    """A closed track over two hills, banked inward."""
    a = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    x, y, z, bank = 30 * np.sin(a), 25 * (1 - np.cos(a)), 2 * (1 - np.cos(2 * a)), -8 * np.abs(np.sin(a))
    rows = "".join(
        f"{p:.4f}, {q:.4f}, 4, 4, {h:.4f}, {b:.3f}\n" for p, q, h, b in zip(x, y, z, bank, strict=True)
    )
    track = tmp_path_factory.mktemp("track") / "hill.csv"
    track.write_text(f"x [m], y [m], left [m], right [m], z [m], bank [deg]\n{rows}")
    return maneuver("autocross", file=str(track))


def test_slopes_and_banks_are_driven_as_by_simulate(browser, hill, tmp_path):
    driven, page = driven_car(load_car(SEDAN), hill.course()), tmp_path / "hill.html"
    page.write_text(drive_page(driven, hill), encoding="utf-8")
    heights = assert_drives_as_simulate(browser, page, driven, 1.6)
    assert heights[-1] > heights[0] + 0.3
    low = browser.run("sekant.told.course.floor")
    road = browser.run(
        "(() => { const road = sekant.scene.run.parts.find(({ name }) => name === 'road').points.map((p) => p[2]);"
        " return [Math.min(...road), Math.max(...road)]; })()"
    )
    assert low < road[0] < 0.2
    assert road[1] == pytest.approx(4.0, abs=0.7)  # of the crest, with the bank beside it


def test_a_closed_road_meets_itself(hill):
    course = hill.course()
    assert (course.height[-1], course.bank[0], course.bank[-1]) == pytest.approx((course.height[0], 0.0, 0.0))
    assert np.abs(course.slope[[0, -1]]).max() < 1e-3
    longer = course.around(20.0)
    for at in (-15.0, 12.0):  # the same place of the road, a lap apart
        for row in (longer.x, longer.y, longer.height, longer.bank):
            a, b = (np.interp(s, longer.s, row) for s in (at, at + course.length))
            assert a == pytest.approx(b, abs=2e-3)
    turned = np.interp(12.0 + course.length, longer.s, longer.heading) - np.interp(
        12.0, longer.s, longer.heading
    )
    assert turned == pytest.approx(2 * np.pi, abs=1e-3)


def test_the_set_up_changes_both_sides_while_the_car_stands(browser, page, driven):
    assert [one.label for one in driven.set_up][:2] == ["front spring stiffness", "front spring damping"]
    browser.open(page, 640, 400)
    browser.run(
        "sekant.pause(true); sekant.sliders[0].value = 1.5; sekant.sliders[0].dispatchEvent(new Event('input'))"
    )
    places = browser.run("sekant.told.setUp[0].places.map((i) => sekant.car.p[i])")
    assert places == pytest.approx([1.5 * 25000.0] * 2)


def test_keys_drive_and_brake(browser, page):
    browser.open(page, 640, 400)
    assert browser.run("document.getElementById('first').textContent").startswith("Arrow keys")
    key = {"key": "ArrowUp", "code": "ArrowUp"}
    browser.call("Input.dispatchKeyEvent", type="keyDown", **key)
    browser.wait("sekant.car.value('speed') > 1.5")
    browser.call("Input.dispatchKeyEvent", type="keyUp", **key)
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowDown", code="ArrowDown")
    browser.wait("Math.abs(sekant.car.value('speed')) < 0.3")
    browser.call("Input.dispatchKeyEvent", type="keyUp", key="ArrowDown", code="ArrowDown")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="c", code="KeyC")
    assert browser.run("sekant.scene.camera") == "on board"
    assert browser.run("document.getElementById('first').hidden")
    assert browser.errors == []
    assert browser.requests[1:] == []


def test_a_drag_steers_and_what_was_driven_is_replayed_and_saved(browser, page):
    browser.open(page, 640, 400)
    at = {"x": 200, "y": 200, "button": "left", "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mousePressed", **at)
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=150, y=120, button="left")
    browser.wait("sekant.controls.wheel > 0.5 && sekant.controls.throttle > 0.2 && sekant.rows.length > 5")
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", **at)
    browser.run("byId = (id) => document.getElementById(id); byId('replay').click()")
    end = monotonic() + 30
    while browser.run("sekant.replaying") and monotonic() < end:
        sleep(0.05)
    rows, lines = browser.run("sekant.rows.length"), browser.run("sekant.csv()").splitlines()
    assert len(lines) == rows + 1
    names = lines[0].split(",")
    assert names[:4] == ["time [s]", "steering_wheel_angle [rad]", "throttle [1]", "brake_pedal [1]"]
    assert {"chassis.position.x [m]", "front.left.tire.load [N]", "speed [m/s]"} <= set(names)
    assert len(lines[-1].split(",")) == len(lines[0].split(","))
    assert browser.errors == []


def test_a_finger_drives(browser, page):
    browser.open(page, 390, 844, phone=True)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": 200, "y": 400}])
    browser.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": 150, "y": 280}])
    browser.wait(
        "sekant.controls.wheel > 0.5 && sekant.controls.throttle > 0.5 && sekant.car.value('speed') > 0.3"
    )
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.wait("sekant.controls.throttle === 0")
    buttons = "[...document.querySelectorAll('header button')].map((b) => b.getBoundingClientRect())"
    assert browser.run(
        f"{buttons}.every(({{ left, right, width }}) => width > 20 && left >= 0 && right <= 390)"
    )
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
    assert browser.errors == []


def test_a_game_pad_drives(browser, page):
    """A pad as browsers report one: axes from -1 to 1 with a little noise, triggers from 0 to 1."""
    pad = "{ axes: [%s, 0.02, 0, 0], buttons: Array.from({ length: 16 }, (_, k) => ({ value: k === 7 ? %s : 0 })) }"
    browser.open(page, 640, 400)
    browser.run(f"navigator.getGamepads = () => [null, {pad % (-0.03, 0.8)}, null, null], 1")
    browser.wait("Math.abs(sekant.controls.throttle - 0.8) < 1e-9 && sekant.car.value('speed') > 1")
    assert browser.run("sekant.controls.wheel") == 0.0
    browser.run(f"navigator.getGamepads = () => [null, {pad % (0.5, 0)}, null, null], 1")
    browser.wait("sekant.controls.throttle === 0 && sekant.controls.wheel < -0.3")  # to the right
    browser.run("navigator.getGamepads = () => [null, null, null, null], 1")
    browser.wait("sekant.controls.wheel === 0")
    assert browser.errors == []


def test_aids_keep_wheels_from_spinning_and_locking(browser, page):
    """From standstill at full throttle, then with the brake to a stop, with and without aids."""
    browser.open(page, 640, 400)
    script = """(() => { sekant.pause(true); sekant.restart(); sekant.pause(true); sekant.useAids(%s);
        const n = Math.round(0.02 / sekant.told.step), { car, controls } = sekant;
        const slip = (sign) => Math.max(...sekant.aids.tires.map((name) => sign * car.value(name)));
        controls.throttle = 1;
        let spin = 0, locked = 0;
        while (car.t < 5) { sekant.move(n); if (car.value("speed") > 5) spin = Math.max(spin, slip(1)); }
        const [speed, from] = [car.value("speed"), car.values("chassis.position")[0]];
        controls.throttle = 0; controls.brake = 1;
        while (car.value("speed") > 1 && car.t < 20) {
          sekant.move(n);
          if (car.value("speed") > 5) locked = Math.max(locked, slip(-1));
        }
        const way = car.values("chassis.position")[0] - from;
        return { speed, spin, locked, stops: way / speed ** 2, lost: car.lost };
    })()"""
    on, off = (browser.run(script % flag) for flag in ("true", "false"))
    assert on["lost"] == off["lost"] == ""
    assert off["spin"] > 3.0
    assert on["spin"] < 0.5
    assert off["locked"] > 0.9
    assert on["locked"] < 0.5
    assert on["speed"] > 0.7 * off["speed"]
    assert on["stops"] < 0.95 * off["stops"]  # distance over the square of the speed


def test_steps_are_finer_where_wheels_spin(browser, page, driven):
    """Full throttle without aids: the tires' deflections become too stiff for the usual steps."""
    browser.open(page, 640, 400)
    script = """(() => { sekant.pause(true); sekant.car.reset(); sekant.car.set("throttle", 1);
        while (sekant.car.t < 5.5 - 1e-9 && sekant.car.advance(100)); sekant.car.read();
        const { car } = sekant;
        return [car.t, car.value("speed"), car.finer, car.values("chassis.position")[0]]; })()"""
    t, speed, finer, x = browser.run(script)
    run = sk.simulate(driven.system, output_times=[0.0, 5.5], method="dop853", inputs={"throttle": 1.0})
    assert t == pytest.approx(5.5)
    assert finer > 0
    assert speed == pytest.approx(run["speed"][-1], rel=1e-3)
    assert x == pytest.approx(run["chassis.position"][-1, 0], rel=1e-3)


def test_eyes_are_where_the_driver_sits(driven, tmp_path):
    """In the middle of a car with open wheels, ahead of the helmet; on the left of the sedan."""
    assert driven.eyes[1] > 0.2
    racer = load_car(EXAMPLES / "car" / "formula" / "formula.yaml")
    x, y, z = eye_point(racer, -0.25)
    helmet = car_shapes(racer, -0.25)["chassis_helmet"]
    hx, hy, hz = helmet.pose.position
    assert (y, z) == (hy, hz)
    assert 0.0 < x - hx - helmet.radius < 0.1


@pytest.fixture(scope="module")
def log(browser, page, tmp_path_factory) -> Path:
    """The download of four seconds at full throttle, the last one in a turn."""
    browser.open(page, 640, 400)
    browser.run(
        "sekant.pause(true); sekant.restart(); sekant.pause(true); sekant.controls.throttle = 1;"
        " while (sekant.car.t < 4) { sekant.car.set('steering_wheel_angle', sekant.car.t < 3 ? 0 : 0.5);"
        " sekant.move(Math.round(0.02 / sekant.told.step)); }"
    )
    file = tmp_path_factory.mktemp("log") / "drive.csv"
    file.write_text(browser.run("sekant.csv()"))
    return file


def test_a_download_has_the_inputs_of_the_car(log):
    """The pedals as the aids leave them, for the file drives the car again."""
    rows = np.genfromtxt(log, delimiter=",", skip_header=1)
    assert 0.0 < rows[:, 2].min() < 0.5  # the throttle
    assert (rows[:, 1].min(), rows[:, 1].max()) == (0.0, 0.5)


def test_a_download_drives_the_car_again(log):
    """To the accuracy of its rows: aids act eight times between two of them."""
    columns = {"steering": "steering_wheel_angle", "brake": "brake_pedal"}
    run = drive(load_car(SEDAN), "log", file=str(log), columns=columns)
    found = {measure.name: measure.value for measure in run.measures}
    assert found["difference of speed"] < 0.15  # m/s
    assert found["difference of yaw rate"] < 0.02  # rad/s


def test_laps_count_over_the_line_from_behind(browser, page):
    browser.open(page, 640, 400)
    script = """(() => { const laps = sekant.gauges.laps; laps.restart();
        for (const [t, x, y] of [[0, -1, 0], [1, 1, 0], [5, 50, 0], [9, -1, 3], [11, 1, 3], [12, -1, 0], [13, 1, 0]])
            laps.see(t, x, y);
        return [laps.count, laps.last, laps.best]; })()"""
    assert browser.run(script) == [1, 9.5, 9.5]  # at 0.5 s and 10 s; the last one came without a way around


def test_a_lost_motion_says_so_and_starts_again(browser, page):
    browser.open(page, 640, 400)
    browser.run("sekant.car.x[0] = NaN; sekant.move(4) || sekant.say(sekant.car.lost)")
    assert "Press Again (R) to start again" in browser.run("document.getElementById('message').textContent")
    browser.run("sekant.restart()")
    assert browser.run("sekant.move(4)")


def test_what_cannot_be_driven_is_refused():
    car = load_car(SEDAN)
    with pytest.raises(SekantError, match="the car has no 'drive'"):
        driven_car(car.changed(drive=None))
