"""Design pages of suspensions in a real browser: curves of moved points are those of Sekant."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chromium import Chromium, find_chromium
from sekant.vehicle import axle_curves, load_axle, load_suspension, suspension_curves
from sekant.vehicle.curves.ranges import through_zero
from sekant.vehicle.hardpoints.coordinates import moved
from sekant.vehicle.kc.targets import read_targets
from sekant.vehicle.suspension.build import corner
from sekant.views.design.page import design_scripts, write_design
from sekant.views.player.page import shared_code

PROGRAM = find_chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: install the package 'chromium' to test design pages"
)
EXAMPLES = Path(__file__).parents[2] / "examples"
CORNER = EXAMPLES / "suspensions" / "hardpoints" / "double_wishbone.yaml"
AXLE = EXAMPLES / "axles" / "front_double_wishbone.yaml"
ACCURACY = 1e-9
"""Of the largest value of a curve."""


@pytest.fixture(scope="module")
def browser():
    assert PROGRAM is not None
    found = Chromium(PROGRAM)
    yield found
    found.close()


@pytest.fixture(scope="module")
def axle_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_design(tmp_path_factory.mktemp("axle") / "axle.html", AXLE, axle=True)


def type_into(browser: Chromium, label: str, text: str) -> None:
    """By keys, into the field of a table with this label."""
    place = browser.run(
        "(() => { const fields = [...document.querySelectorAll('aside input')];"
        f" const field = fields.find((f) => f.ariaLabel === {label!r});"
        " field.scrollIntoView({block: 'center'}); const box = field.getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    x, y = place
    for _ in range(2):
        for kind in ("mousePressed", "mouseReleased"):
            browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=3)
    browser.call("Input.insertText", text=text)
    for kind in ("rawKeyDown", "char", "keyUp"):
        extra = {"text": "\r"} if kind == "char" else {}
        browser.call(
            "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, **extra
        )


def settle(browser: Chromium) -> None:
    browser.wait("!sekant.stale && !sekant.moved && sekant.number > 0")
    browser.run("new Promise((yes) => requestAnimationFrame(() => requestAnimationFrame(yes)))")


def columns(browser: Chromium) -> dict[str, np.ndarray]:
    """Curves of the page, SI."""
    found = json.loads(
        browser.run(
            "JSON.stringify(Object.fromEntries(sekant.told.curves.map(({name}, k) =>"
            " [name, Array.from(sekant.design.columns[k])])))"
        )
    )
    return {name: np.array([np.nan if v is None else v for v in values]) for name, values in found.items()}


def same(shown: dict[str, np.ndarray], curves: Any, pick: Any) -> None:
    assert len(shown) > 15
    for name, values in shown.items():
        wanted = pick(curves[name])
        known = np.isfinite(wanted)
        assert np.array_equal(known, np.isfinite(values)), name
        size = max(np.abs(wanted[known]).max(initial=0.0), 1e-3)
        assert np.abs(values - wanted)[known].max(initial=0.0) <= ACCURACY * size, name


def press(browser: Chromium, selector: str) -> None:
    browser.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
    box = browser.run(
        f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)


def catch_downloads(browser: Chromium) -> None:
    browser.run(
        "window.caught = null; URL.createObjectURL = (blob) => {"
        " blob.text().then((text) => (window.caught = text)); return 'data:,'; }"
    )


def saved(browser: Chromium, key: str) -> str:
    """The text of a download, taken where the page hands it to the browser."""
    catch_downloads(browser)
    press(browser, "#save summary")
    press(browser, f"#save-{key}")
    browser.wait("window.caught !== null")
    return browser.run("window.caught")


def test_typed_points_of_a_corner_give_the_curves_of_sekant(browser: Chromium, tmp_path: Path):
    browser.open(write_design(tmp_path / "corner.html", CORNER, axle=False), width=1280, height=720)
    press(browser, "[data-tab=points]")
    type_into(browser, "tie_rod_inner z in mm", "172.5")
    type_into(browser, "lower_ball y in mm", "611")
    settle(browser)
    given = moved(load_axle(CORNER), {"tie_rod_inner.z": -0.0135, "lower_ball.y": -0.009})
    travel = through_zero(-0.17, 0.24, 41)
    curves = suspension_curves(corner(given), given.suspension, travel=travel, steering=[0.0])
    same(columns(browser), curves, lambda values: values[:, 0])
    assert browser.errors == []
    for key, name in (("yaml", "again.yaml"), ("points", "again.csv")):
        file = tmp_path / name
        file.write_text(saved(browser, key))
        model, roles = load_suspension(file)
        same(
            columns(browser),
            suspension_curves(model, roles, travel=travel, steering=[0.0]),
            lambda v: v[:, 0],
        )
    rows = list(csv.reader(saved(browser, "curves").splitlines()))
    racks = np.array([float(row[1]) for row in rows[1:]])
    at = rows[0].index("camber [deg]")
    camber = np.array([float(row[at] or "nan") for row in rows[1:]])[racks == 0.0]
    np.testing.assert_allclose(np.deg2rad(camber), columns(browser)["camber"], atol=1e-9)


def place_of(browser: Chromium, name: str, side: int) -> list[float]:
    """Where a handle is on the page."""
    return browser.run(
        f"(() => {{ const h = sekant.picture.handles.find((h) => h.name === {name!r} && h.side === {side});"
        " const box = document.getElementById('canvas').getBoundingClientRect();"
        " const [x, y] = sekant.picture.pixel(h.mesh.position); return [box.x + x, box.y + y]; })()"
    )


def drag(browser: Chromium, name: str, side: int, dx: float, dy: float, steps: int = 6) -> None:
    """A handle by the mouse."""
    pull(browser, *place_of(browser, name, side), dx, dy, steps)


def pull(browser: Chromium, x: float, y: float, dx: float, dy: float, steps: int = 6) -> None:
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
    for k in range(1, steps + 1):
        place = {"x": x + dx * k / steps, "y": y + dy * k / steps}
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", buttons=1, button="left", **place)
    browser.call(
        "Input.dispatchMouseEvent", type="mouseReleased", x=x + dx, y=y + dy, button="left", clickCount=1
    )


def point(browser: Chromium, name: str) -> np.ndarray:
    return np.array(
        browser.run(
            f"sekant.told.points.find((p) => p.name === {name!r}).parameters.map((i) => sekant.design.p[i])"
        )
    )


def test_dragged_points_of_an_axle_give_the_curves_of_sekant(
    browser: Chromium, axle_page: Path, tmp_path: Path
):
    browser.open(axle_page, width=1280, height=720)
    press(browser, "[data-view=front]")
    settle(browser)
    before = point(browser, "tie_rod_inner")
    drag(browser, "tie_rod_inner", 0, 14, -9)
    settle(browser)
    after = point(browser, "tie_rod_inner")
    assert after[0] == before[0]  # the front view moves y and z
    assert (np.abs(after - before)[1:] > 2e-3).all()
    given = load_axle(AXLE)
    names = [f"tie_rod_inner.{axis}" for axis in "xyz"]
    new = moved(given, dict(zip(names, (after - before).tolist(), strict=True)))
    travel = through_zero(-0.08, 0.08, 41)
    same(columns(browser), axle_curves(new, travel=travel), lambda v: v[:, 0])
    press(browser, "[data-over=roll]")
    settle(browser)
    same(columns(browser), axle_curves(new, motion="roll", travel=travel), lambda v: v[:, 0])
    press(browser, "[data-over=rack]")
    settle(browser)
    rack = through_zero(-0.03, 0.03, 41)
    same(columns(browser), axle_curves(new, travel=[0.0], steering=rack), lambda v: v[0])
    file = tmp_path / "again.yaml"
    file.write_text(saved(browser, "yaml"))
    same(columns(browser), axle_curves(file, travel=[0.0], steering=rack), lambda v: v[0])
    press(browser, "#undo")
    settle(browser)
    assert np.array_equal(point(browser, "tie_rod_inner"), before)
    press(browser, "#redo")
    settle(browser)
    assert np.array_equal(point(browser, "tie_rod_inner"), after)
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []


def test_arrows_move_along_one_axis_and_the_right_side_mirrors(browser: Chromium, axle_page: Path):
    browser.open(axle_page, width=1280, height=720)
    settle(browser)
    number = browser.run("sekant.told.points.findIndex((p) => p.name === 'lower_ball')")
    for side in (0, 1):
        browser.run(f"sekant.choose({number}, {side})")
        settle(browser)
        for axis in range(3):
            before = point(browser, "lower_ball")
            handle, tip = browser.run(
                "(() => { const box = document.getElementById('canvas').getBoundingClientRect();"
                " const { picture } = sekant; const of = (p) => { const [x, y] = picture.pixel(p);"
                " return [box.x + x, box.y + y]; }; const h = picture.chosenHandle;"
                f" return [of(h.mesh.position), of(picture.tip(h, {axis}))]; }})()"
            )
            way = np.array(tip) - np.array(handle)
            pull(browser, *tip, *(18 * way / np.linalg.norm(way)))
            settle(browser)
            change = point(browser, "lower_ball") - before
            assert np.abs(np.delete(change, axis)).max() == 0.0
            assert change[axis] * (-1.0 if (side, axis) == (1, 1) else 1.0) > 2e-3
            press(browser, "#undo")
            settle(browser)
            assert np.array_equal(point(browser, "lower_ball"), before)


def test_set_up_changes_are_those_of_the_command(browser: Chromium, axle_page: Path, tmp_path: Path):
    browser.open(axle_page, width=1280, height=720)
    press(browser, "[data-tab=setup]")
    type_into(browser, "camber shim in mm", "4")
    type_into(browser, "tie rod length in mm", "-2")
    settle(browser)
    given = load_axle(AXLE).model_copy(update={"set_up": {"camber_shim": 4e-3, "tie_rod_length": -2e-3}})
    same(columns(browser), axle_curves(given, travel=through_zero(-0.08, 0.08, 41)), lambda v: v[:, 0])
    file = tmp_path / "again.yaml"
    file.write_text(saved(browser, "yaml"))
    assert load_axle(file).set_up == pytest.approx({"camber_shim": 4e-3, "tie_rod_length": -2e-3})


def test_targets_of_a_file_have_the_deviations_that_tuning_tells(browser: Chromium, tmp_path: Path):
    file = tmp_path / "targets.yaml"
    file.write_text(
        "targets:\n"
        "  toe: {design: 0 deg, gradient: 2 deg/m, tolerance: 0.05 deg}\n"
        "  camber: {travel: [-60 mm, 0 mm, 60 mm], values: [-0.4 deg, 0 deg, -0.2 deg]}\n"
        "  roll_center_height: {design: 25 mm, tolerance: 5 mm}\n"
    )
    targets = read_targets(file)
    page = write_design(tmp_path / "axle.html", AXLE, axle=True, targets=targets)
    browser.open(page, width=1280, height=720)
    curves = axle_curves(AXLE, travel=through_zero(-0.08, 0.08, 41))
    gaps = browser.run("sekant.design.targets.map((target) => sekant.design.deviation(target).gap)")
    for target, gap in zip(targets.targets, gaps, strict=True):
        name = target.curve if target.curve in curves.names else f"left.{target.curve}"
        wanted = np.nanmax(np.abs(curves[name][:, 0] - target.over(curves.travel)))
        assert abs(gap) == pytest.approx(wanted, rel=1e-9)
    marks = browser.run("[...document.querySelectorAll('#charts .worst')].map((one) => one.textContent[0])")
    assert {"✓", "✗"} <= set(marks)
    press(browser, "[data-tab=targets]")
    catch_downloads(browser)
    press(browser, "#targets > .row:last-child button")
    browser.wait("window.caught !== null")
    file.write_text(browser.run("window.caught"))
    again = read_targets(file)
    travel = np.array([-0.06, 0.0, 0.03])
    for old, new in zip(targets.targets, again.targets, strict=True):
        np.testing.assert_allclose(new.over(travel), old.over(travel), rtol=1e-12, atol=1e-15)


def test_the_end_of_the_travel_is_told_as_by_the_command(browser: Chromium, tmp_path: Path):
    file = EXAMPLES / "suspensions" / "hardpoints" / "five_link.yaml"
    browser.open(write_design(tmp_path / "page.html", file, axle=False, travel="-300..300mm"))
    model, roles = load_suspension(file)
    curves = suspension_curves(model, roles, travel=through_zero(-0.3, 0.3, 41), steering=[0.0])
    browser.wait("sekant.told.said")
    said = browser.run("sekant.told.said")
    number = re.compile(r"-?\d+\.\d+")
    for wanted, text in zip(sorted(curves.limits), sorted(said), strict=True):
        text = text.removeprefix("limit: ")
        assert number.sub("#", text) == number.sub("#", wanted)
        assert float(number.findall(text)[0]) == pytest.approx(float(number.findall(wanted)[0]), rel=1e-5)
    shown = columns(browser)
    known = np.isfinite(curves["camber"][:, 0])
    assert 0 < np.isfinite(shown["camber"]).sum() < 41
    assert np.array_equal(known, np.isfinite(shown["camber"]))


def test_a_finger_on_a_phone_drags_a_point(browser: Chromium, tmp_path: Path):
    browser.open(
        write_design(tmp_path / "corner.html", CORNER, axle=False), width=390, height=844, phone=True
    )
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    press(browser, "[data-view=front]")
    settle(browser)
    before = point(browser, "upper_front")
    x, y = place_of(browser, "upper_front", 0)
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    for k in range(1, 6):
        browser.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y - 4 * k}])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
    settle(browser)
    after = point(browser, "upper_front")
    assert after[2] - before[2] > 5e-3
    assert abs(after[1] - before[1]) < 1e-3
    given = moved(
        load_axle(CORNER), {f"upper_front.{a}": d for a, d in zip("xyz", after - before, strict=True)}
    )
    curves = suspension_curves(
        corner(given), given.suspension, travel=through_zero(-0.17, 0.24, 41), steering=[0.0]
    )
    same(columns(browser), curves, lambda values: values[:, 0])
    width = browser.run("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]
    assert browser.errors == []


def test_pages_of_a_folder_share_their_code(browser: Chromium, tmp_path: Path):
    (tmp_path / "player.js").write_text(shared_code())
    (tmp_path / "design.js").write_text(design_scripts())
    page = write_design(tmp_path / "corner.html", CORNER, axle=False, shared=("player.js", "design.js"))
    browser.open(page, width=760, height=480)
    settle(browser)
    assert np.isfinite(columns(browser)["camber"]).all()
    assert browser.errors == []
    assert page.stat().st_size < 150_000
