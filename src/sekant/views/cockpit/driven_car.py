"""The car of a page: its compiled equations with inputs, the step of its integrator, and its set-up as parameters."""

from __future__ import annotations

from dataclasses import dataclass
from math import tau

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.simulate import simulate
from sekant.analyses.simulation.start import start_of, suited
from sekant.engine.functions.outputs import all_outputs
from sekant.engine.state import State
from sekant.engine.system import System, compile
from sekant.errors import ModelError, SekantError
from sekant.model.joints import Surface
from sekant.model.model import Model
from sekant.model.scene import channels_of
from sekant.results.result import Result
from sekant.vehicle.car.build import BRAKE, STEERING, THROTTLE, car_with_inputs
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.looks import eye_point
from sekant.vehicle.courses.course import Course
from sekant.vehicle.drivers.course import PROGRESS, RUN_OUT, place_on
from sekant.vehicle.maneuvers.courses import on_course

Floats = NDArray[np.float64]
STEPS = (1e-3, 5e-4, 2.5e-4, 1.25e-4)
"""s: candidates for the step of the integrator; the largest that is accurate enough is used"""
AGREE = 2e-3
"""m: largest distance between trial drives with a step and half of it"""
TRIAL = 3.5  # s
TRIAL_ROWS = 0.25  # s between the rows of a trial drive
TRIALS = ({THROTTLE: 1.0}, {THROTTLE: 0.3, STEERING: 0.6})
"""Trial drives: spinning wheels, whose tires are the stiffest part of a drive, and a turn"""
UNITS = {"stiffness": "N/m", "damping": "N*s/m"}
"""Units of the numbers that a set-up changes"""
USUAL_LOCK = 7.5  # rad
KEPT_BACK = 0.85
"""Margin of the rack's travel: the steering is compliant, so the rack overshoots the angle of the wheel"""
GAUGES = ("speed", "sideslip", "yaw_rate", "steering_wheel", "brake", "drive_torque", "angles")


@dataclass(frozen=True)
class SetUp:
    """Numbers of the car that a slider changes together: the left and the right one of an axle. `value` in SI."""

    label: str
    names: tuple[str, ...]
    value: float
    unit: str


@dataclass(frozen=True)
class DrivenCar:
    """A car for a page.

    `system`: the compiled system of the page; `first`: the start of a drive, for the drawing; `step`: s, of
    RK4; `outputs`: names of the outputs that the page computes in each frame.
    """

    car: Car
    model: Model
    system: System
    start: State
    first: Result
    step: float
    outputs: tuple[str, ...]
    set_up: tuple[SetUp, ...]
    parameters: dict[str, Floats]
    inputs: dict[str, int]
    lock: float
    """rad: largest angle of the steering wheel to each side"""
    eyes: tuple[float, float, float]
    """m, in the axes of the chassis: of the driver"""


def driven_car(car: Car, course: Course | None = None) -> DrivenCar:
    """A stationary car, ready to be driven, on the slopes and banks of a course; axles on hard points as path
    joints."""
    if car.steered is None:
        raise ModelError("the car has no steered axle, so it cannot be driven; add 'steering' to one axle")
    if car.drive is None:
        raise ModelError("the car has no 'drive', so it cannot move; add 'drive'")
    car, further = _on_road(car.changed(reduced=True, speed=0.0), course)
    model = car_with_inputs(car, further)
    set_up = _set_up(model)
    parameters = [name for one in set_up for name in one.names]
    system, _ = suited(compile(model, parameters=parameters), "rk4")
    if system.facts.constrained:
        raise ModelError(
            f"car '{car.name}': a page requires axles without closed loops, but this car has closed loops even with "
            "reduced: true; use 'sekant drive' without --live"
        )
    step = _step(system, car)
    first = simulate(system, 0.05, method="rk4", step=step, output_step=0.05)
    numbers = {name: np.array(value) for name, value in first.provenance["parameters"].items()}
    start, _, _ = start_of(system, numbers, None, 0.0)
    inputs = {
        name: system.places[name].start for name in (STEERING, THROTTLE, BRAKE) if name in system.places
    }
    return DrivenCar(
        car,
        model,
        system,
        start,
        first,
        step,
        _outputs(system, first),
        set_up,
        numbers,
        inputs,
        _lock(car, model),
        eye_point(car, -float(first["chassis.position"][0, 2])),
    )


def _on_road(car: Car, course: Course | None) -> tuple[Car, Commands | None]:
    """The car on a course with slopes or banks, and the signals of its position there; a closed course has no end."""
    if course is None or course.level:
        return car, None
    if course.closed:
        run, place = course.around(RUN_OUT[0]), f"mod({PROGRESS}, {course.length!r})"
    else:
        run, place = course.with_run_out(*RUN_OUT), PROGRESS
    return on_course(car, run, place), place_on(run, place, car)


def _lock(car: Car, model: Model) -> float:
    """Largest angle of the steering wheel, from the range of the rack in the poses of steered wheels, less a
    margin."""
    assert car.steered is not None
    steering = car.axles[car.steered].steering
    assert steering is not None
    reach = [USUAL_LOCK]
    for joint in model.joints.values():
        if isinstance(joint, Surface) and joint.second_coordinate_of is not None:
            poses = model.curves[joint.surface] if isinstance(joint.surface, str) else joint.surface
            rack = np.abs(poses.range[1]).min()
            reach.append(KEPT_BACK * float(rack) * tau / steering.rack_per_turn)
    return min(reach)


def _outputs(system: System, first: Result) -> tuple[str, ...]:
    """Parts to draw and outputs of gauges."""
    scene = first.scene or {}
    drawn = [name for track in scene.get("tracks", {}).values() for name in sorted(channels_of(track))]
    drawn += [arrow["channel"] for arrow in scene.get("arrows", [])]
    known = [output.name for output in all_outputs(system)]
    tires = [name for name in known if ".tire." in name and name.endswith((".load", ".kappa", ".alpha"))]
    tires += [name for name in known if ".tire." in name and name.endswith((".Fx", ".Fy"))]
    wanted = dict.fromkeys([*drawn, *GAUGES, "position", "chassis.acceleration", *tires])
    return tuple(name for name in wanted if name in known)


def _set_up(model: Model) -> tuple[SetUp, ...]:
    """Springs, dampers and bars of both sides of an axle, if they are plain numbers and equal."""
    numbers = dict(model.parameters)  # of simple axles
    for name, force in model.forces.items():
        if ".tire" not in name:
            numbers |= {f"{name}.{field}": getattr(force, field) for field in UNITS if hasattr(force, field)}
    found: dict[str, list[tuple[str, float, str]]] = {}
    for name, value in numbers.items():
        owner, _, field = name.rpartition(".")
        axle, _, rest = owner.partition(".")
        side, _, part = rest.partition(".")
        if field in UNITS and side in ("left", "right") and isinstance(value, (int, float)) and value > 0.0:
            found.setdefault(f"{axle} {part} {field}", []).append((name, float(value), field))
    made = []
    for label, items in found.items():
        values = {value for _, value, _ in items}
        if len(values) == 1:
            names = tuple(name for name, _, _ in items)
            made.append(SetUp(label, names, values.pop(), UNITS[items[0][2]]))
    return tuple(made)


def _step(system: System, car: Car) -> float:
    """The largest of STEPS whose trial drives agree with trial drives at half the step; the page shows it."""
    before: list[Result] = []
    for step in (*STEPS, STEPS[-1] / 2):
        runs = [
            simulate(system, TRIAL, method="rk4", step=step, output_step=TRIAL_ROWS, inputs=given)
            for given in TRIALS
        ]
        if before and all(map(_agree, before, runs)):
            return 2 * step
        before = runs
    raise SekantError(
        f"car '{car.name}' cannot be driven on a page: even at a step size of {STEPS[-1] * 1e3:g} ms, its motion "
        "depends on the step size; check the units of the largest stiffnesses and reduce them, or use "
        "'sekant drive' without --live"
    )


def _agree(run: Result, other: Result) -> bool:
    """Whether the positions of two trial drives agree while both last.

    A drive may end early, because the car leaves the range of its model, as at a crest at full throttle. Both drives
    must then end at the same row or one row apart.
    """
    count = min(len(run), len(other))
    last_alike = abs(len(run) - len(other)) <= 1 and run.time[count - 1] >= TRIAL / 2
    apart = np.abs(run["position"][:count] - other["position"][:count])
    return last_alike and float(apart.max()) < AGREE
