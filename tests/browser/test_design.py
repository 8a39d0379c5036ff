"""Design pages of suspensions in a real browser: curves of moved points are those of Sekant."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chromium import Chromium, find_chromium
from sekant.vehicle import axle_curves, load_axle, load_suspension, suspension_curves
from sekant.vehicle.curves.ranges import through_zero
from sekant.vehicle.hardpoints.coordinates import moved
from sekant.vehicle.suspension.build import corner
from sekant.views.design.page import write_design

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


def saved(browser: Chromium, key: str) -> str:
    """The text of a download, taken where the page hands it to the browser."""
    browser.run(
        "window.caught = null; URL.createObjectURL = (blob) => {"
        " blob.text().then((text) => (window.caught = text)); return 'data:,'; }"
    )
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


def drag(browser: Chromium, name: str, side: int, dx: float, dy: float, steps: int = 6) -> None:
    """A handle by the mouse."""
    x, y = browser.run(
        f"(() => {{ const h = sekant.picture.handles.find((h) => h.name === {name!r} && h.side === {side});"
        " const box = document.getElementById('canvas').getBoundingClientRect();"
        " const [x, y] = sekant.picture.pixel(h.mesh.position); return [box.x + x, box.y + y]; })()"
    )
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


def test_dragged_points_of_an_axle_give_the_curves_of_sekant(browser: Chromium, tmp_path: Path):
    browser.open(write_design(tmp_path / "axle.html", AXLE, axle=True), width=1280, height=720)
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


def test_set_up_changes_are_those_of_the_command(browser: Chromium, tmp_path: Path):
    browser.open(write_design(tmp_path / "axle.html", AXLE, axle=True), width=1280, height=720)
    press(browser, "[data-tab=setup]")
    type_into(browser, "camber shim in mm", "4")
    type_into(browser, "tie rod length in mm", "-2")
    settle(browser)
    given = load_axle(AXLE).model_copy(update={"set_up": {"camber_shim": 4e-3, "tie_rod_length": -2e-3}})
    same(columns(browser), axle_curves(given, travel=through_zero(-0.08, 0.08, 41)), lambda v: v[:, 0])
    file = tmp_path / "again.yaml"
    file.write_text(saved(browser, "yaml"))
    assert load_axle(file).set_up == pytest.approx({"camber_shim": 4e-3, "tie_rod_length": -2e-3})
