"""`sekant drive --live`: write a page on which a reader drives a car in real time."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.files import replace_file
from sekant.model.scene import Scene
from sekant.vehicle.car.description import Car
from sekant.vehicle.driving.scenery import cone_shapes, road_strip
from sekant.vehicle.maneuvers import maneuver
from sekant.vehicle.maneuvers.base import Maneuver
from sekant.vehicle.maneuvers.courses import CourseManeuver
from sekant.version import __version__
from sekant.views.cockpit.driven_car import DrivenCar, SetUp, driven_car
from sekant.views.live.loops import Asked
from sekant.views.live.simulation import simulation_of
from sekant.views.player.page import (
    framed_page,
    in_one_scope,
    library_scripts,
    page_scripts,
    page_source,
    script_hash,
)
from sekant.views.player.view import shown_results

Floats = NDArray[np.float64]
_SCRIPTS = {
    "live": "module simulation poses",
    "player": "inflate decode colors dom shapes actor cameras stage",
    "cockpit": "car controls scene gauges main",
}
LONGEST = 0.1
"""s: largest simulated time between two frames"""
BELOW = 0.5
"""m: distance of the grid below the lowest point of a road"""


def write_drive(
    path: str | os.PathLike[str], car: Car, course: Maneuver | str | None = None, **options: Any
) -> Path:
    """Write the page of a car that a reader drives; returns its path.

    `course`: a maneuver (an object, or its name with `options`) whose cones and road are drawn; by default that of
    the car.
    """
    chosen = maneuver(course or car.maneuver, **options) if not isinstance(course, Maneuver) else course
    target = Path(path)
    on_course = isinstance(chosen, CourseManeuver)
    driven = driven_car(car, chosen.course()) if on_course else driven_car(chosen.car(car))
    replace_file(target, drive_page(driven, chosen).encode())
    return target


def drive_page(driven: DrivenCar, course: Maneuver) -> str:
    """HTML text of the page; see `write_drive`."""
    shown = drive_figure(driven, course)
    codes = (library_scripts(), _scripts())
    allowed = f"{' '.join(map(script_hash, codes))} 'wasm-unsafe-eval'"
    elements = "\n".join(f"<script>{code}</script>" for code in codes)
    style = page_source("cockpit/cockpit.css")
    return framed_page("cockpit", f"Drive {shown['title']}", shown, elements, allowed, style)


def drive_figure(driven: DrivenCar, course: Maneuver) -> dict[str, Any]:
    """The data of the page: figure and computations."""
    system = driven.system
    count = round(LONGEST / driven.step)
    asked = Asked(np.array([0.0, count * driven.step]), driven.step, 1e-8, 1e-10)
    program = simulation_of(system, "rk4", asked, driven.start, driven.outputs, driven.parameters)
    line = _center_line(course)
    first = replace(driven.first, make_scene=lambda: _scene(driven, course, line))
    run = shown_results([first], plots=[])["runs"][0]
    car = shown_results([driven.first], plots=[])["runs"][0]
    run |= {size: car[size] for size in ("bar", "near", "bounds")}  # those of the car
    run["parts"] = [part for part in run["parts"] if part["track"] < 0 or part["group"] == "bodies"]
    run["arrows"] = [arrow for arrow in run["arrows"] if arrow["channel"] in driven.outputs]
    tracks = (driven.first.scene or {}).get("tracks", {})
    return {
        "title": driven.car.name,
        "run": run,
        "tracks": [tracks[track["name"]] for track in run["tracks"]],
        "program": program,
        "step": driven.step,
        "longest": count,
        "inputs": driven.inputs,
        "lock": driven.lock,
        "eyes": driven.eyes,
        "setUp": [_slider(driven, one) for one in driven.set_up],
        "course": {"name": course.type, "floor": _floor(first.scene)},
        "about": (
            f"Computed in this page by rk4 with steps of {driven.step * 1e3:g} ms and the equations of the model; "
            f"the page sends no data. Sekant {__version__}, model {system.model_hash}. The brakes "
            "do not hold the car exactly still: it creeps. The page draws the road only near "
            "the course."
        ),
    }


def _slider(driven: DrivenCar, one: SetUp) -> dict[str, Any]:
    places = [driven.system.places[name].start for name in one.names]
    return {"label": one.label, "places": places, "value": one.value, "unit": one.unit}


def _center_line(course: Maneuver) -> Floats:
    """Centerline (n, 2) m of a course by arc length; empty if the maneuver has none."""
    if not isinstance(course, CourseManeuver):
        return np.zeros((0, 2))
    found = course.course()
    return np.column_stack([found.x, found.y])


def _floor(scene: Scene) -> float:
    """Height of the grid, m, below a road that is not level."""
    heights = np.array(scene.get("surfaces", [])[-1]["points"])[:, 2]
    return float(heights.min()) - BELOW if np.ptp(heights) > 0 else 0.0


def _scene(driven: DrivenCar, course: Maneuver, line: Floats) -> Scene:
    """The car with the road and the cones of the course."""
    scene = driven.first.scene.copy()
    road = driven.car.road
    path = line if len(line) > 1 else np.array([[-20.0, 0.0], [220.0, 0.0]])
    scene["surfaces"] = [*scene.get("surfaces", []), road_strip(road, path)]
    scene["shapes"] = [*scene.get("shapes", []), *cone_shapes(course.edges(driven.car), road)]
    return scene


@cache
def _scripts() -> str:
    return in_one_scope(page_scripts(_SCRIPTS))
