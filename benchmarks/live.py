"""Pages that compute: the time for each of 150 positions while a slider or a hard point is dragged in the
browser, the time to make the page, and the frames of a drive at full throttle."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
from timing import target

import sekant as sk

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
MODELS = {
    "quarter car": ("quarter_car.yaml", "strut.stiffness", "10..40 kN/m"),
    "slider-crank": ("slider_crank.yaml", "l2", "0.9..1.4 m"),
    "double wishbone corner": ("suspensions/double_wishbone.yaml", "", ""),
    "coaster": ("roller_coaster.yaml", "v0", "1..4 m/s"),
}
DESIGNS = {
    "design of a corner": ("suspensions/hardpoints/double_wishbone.yaml", False),
    "design of an axle": ("axles/front_double_wishbone.yaml", True),
}
DRIVES: dict[str, tuple[str, float | None]] = {
    "drive of the sedan": ("car/sedan.yaml", 10),
    "drive of the race car": ("car/formula/formula.yaml", None),
}
"""Cars, and how many times as fast as real time their pages have to be"""
MAKES_DESIGN = """
import sys, time
from sekant.views.design.page import write_design
began = time.process_time()
write_design(sys.argv[2], sys.argv[1], axle=sys.argv[3] == "True")
print(time.process_time() - began)
"""
MAKES = """
import sys, time
import sekant as sk
model, name, ends, page = sk.load(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
sk.simulate(sk.compile(model, parameters=[name]))
began = time.process_time()
sk.live(model, page, vary={name: ends})
print(time.process_time() - began)
"""


def run(quick: bool) -> dict[str, Any]:
    from chromium import Chromium, find_chromium

    program = find_chromium()
    if program is None:
        raise RuntimeError("there is no Chromium on this machine")
    moves, figures, targets = (15 if quick else 150), [], []
    browser = Chromium(program)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for title, (file, name, ends) in MODELS.items():
                page = Path(folder, "live.html")
                vary = (name, ends) if name else _first_force(file)
                made = [_made(MAKES, file, *vary, page) for _ in range(1 if quick else 3)]
                found = title, page, made, _dragged(browser, page, moves)
                _add(figures, targets, *found)
            for title, (file, axle) in DESIGNS.items():
                page = Path(folder, "design.html")
                made = [_made(MAKES_DESIGN, file, page, axle) for _ in range(2 if quick else 4)]
                _add(figures, targets, title, page, made, _moved(browser, page, moves))
            for title, (file, least) in DRIVES.items():
                frame, pace = _driven(browser, file, Path(folder, "drive.html"), 1.0 if quick else 3.0)
                targets.append(target(f"{title}: 95th percentile of frame times", frame, 33, unit="ms"))
                targets.append(target(f"{title}: times real time", pace, least, at_least=True, unit=""))
    finally:
        browser.close()
    return {"figures": figures, "targets": targets}


def _add(
    figures: list[Any], targets: list[Any], title: str, page: Path, made: list[float], times: list[float]
) -> None:
    median, high = np.percentile(times, [50, 95])
    size = page.stat().st_size / 1024
    figures.append({"name": f"{title}: page", "value": size, "unit": "KiB", "note": ""})
    targets.append(target(f"{title}: median time of a move", float(median), 8, unit="ms"))
    targets.append(target(f"{title}: 95th percentile of moves", float(high), 16, unit="ms"))
    targets.append(target(f"{title}: making the page, processor time", min(made), 1, unit="s"))


def _first_force(file: str) -> tuple[str, str]:
    """The stiffness of the strut, from half to twice its value."""
    model = sk.load(ROOT / "examples" / file)
    name = next(f"{name}.stiffness" for name, force in model.forces.items() if hasattr(force, "stiffness"))
    value = float(sk.compile(model, parameters=[name]).parameters[name][0])
    return name, f"{value / 2:g}..{2 * value:g} N/m"


def _made(script: str, file: str, *arguments: object) -> float:
    """Processor time (s) of making the page in a process whose functions and loops are in the cache."""
    command = [sys.executable, "-c", script, str(ROOT / "examples" / file), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def _dragged(browser: Any, page: Path, moves: int) -> list[float]:
    """Drag the knob of the first slider from its left end to its right end; times (ms) of the runs."""
    browser.open(page, 1280, 720)
    settled = "sekant.live.done === sekant.live.number && !sekant.live.due"
    browser.wait(settled)
    box = "(({ x, y, width, height }) => [x, y, width, height])(sekant.live.rows[0].range.getBoundingClientRect())"
    x, y, width, height = browser.run(box)
    mouse = {"y": y + height / 2, "button": "left", "buttons": 1, "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x + 10, **mouse)
    browser.wait(settled)
    browser.run("sekant.live.times = []")
    for place in np.linspace(x + 11, x + width - 11, moves):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=place, **mouse)
        browser.wait(settled)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + width - 11, **mouse)
    times = browser.run("sekant.live.times")
    if len(times) < moves / 2:
        raise RuntimeError(f"only {len(times)} of {moves} moves led to runs")
    return times


def _driven(browser: Any, file: str, page: Path, seconds: float) -> tuple[float, float]:
    """95th percentile (ms) of the frames at full throttle, and simulated time over that of computing it."""
    from sekant.vehicle.car import load_car
    from sekant.views.cockpit.page import write_drive

    write_drive(page, load_car(ROOT / "examples" / file))
    browser.open(page, 1280, 720)
    key = {"key": "ArrowUp", "code": "ArrowUp"}
    browser.call("Input.dispatchKeyEvent", type="keyDown", **key)
    sleep(2.0)  # the page finds out how many pixels it can draw, and the browser optimizes the code
    browser.run("sekant.frames = [], sekant.computing = { spent: 0, simulated: 0 }, 1")
    sleep(seconds)
    frames, pace, lost = browser.run("[sekant.frames, sekant.pace, sekant.car.lost]")
    browser.call("Input.dispatchKeyEvent", type="keyUp", **key)
    if lost:
        raise RuntimeError(lost)
    return float(np.percentile(frames, 95)), float(pace)


def _moved(browser: Any, page: Path, moves: int) -> list[float]:
    """Drag the inner end of the tie rod; times (ms) of 41 positions, all curves and their drawing."""
    browser.open(page, 1280, 720)
    browser.run("sekant.look('front')")
    settled = "!sekant.stale && !sekant.moved"
    browser.wait(settled)
    x, y = browser.run(
        "(() => { const { mesh } = sekant.picture.handles.find(({ name }) => name === 'tie_rod_inner');"
        " const box = document.getElementById('canvas').getBoundingClientRect();"
        " const [x, y] = sekant.picture.pixel(mesh.position); return [box.x + x, box.y + y]; })()"
    )
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    browser.run("sekant.times.length = 0")
    for k in range(1, moves + 1):
        place = {"x": x + 30 * k / moves, "y": y + 20 * k / moves}
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", **place, **mouse)
        browser.wait(settled)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + 30, y=y + 20, **mouse)
    times = browser.run("sekant.times.map(([, whole]) => whole)")
    if len(times) < moves / 2:
        raise RuntimeError(f"only {len(times)} of {moves} moves were computed")
    return times
