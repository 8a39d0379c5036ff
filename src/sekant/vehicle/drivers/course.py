"""A driver who follows a course of any shape, from rest to rest.

The position s along the course moves with the car. With the tangent e_t and the normal e_n of the course at s, the
car's center of mass at p with the velocity v, and the error e = (p - p(s)) . e_n to the left,

    s' = v . e_t / (1 - k e) + (p - p(s)) . e_t / T_s .

The last term is zero for the exact solution and prevents integration errors from growing. Angles enter only through
sines and cosines, so there is no jump at half a turn. The steering wheel angle u follows from the curvature of the
course a little ahead, and from an arc that meets the course at the distance d = V T ahead, at which the error of the
car will be e_d = e + d sin(dpsi) + d v_y / V:

    u = i (L + K V^2) (k_ahead - 2 (e_d + E) / d^2) ,   E' = e / T_i .

K is the understeer gradient and L the wheelbase of the single-track model, and i is the ratio of the steering; E
removes the remaining error. Without lags, the error obeys e'' + 2/T e' + 2/T^2 e = 0. The limits of grip are those of
`drivers.path`. The profile gives speed and acceleration at s, and motor and brakes provide the force for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sekant.model.signals.base import Signal
from sekant.model.signals.expression import ExpressionSignal
from sekant.model.signals.integral import Integral
from sekant.model.table import TableData
from sekant.vehicle.aero import DENSITY
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.grip import Grip
from sekant.vehicle.car.single_track import SingleTrack
from sekant.vehicle.car.statics import spin_at
from sekant.vehicle.courses.course import Course
from sekant.vehicle.courses.speed_profile import SpeedProfile, drive_slip_of_most_force
from sekant.vehicle.drivers.path import LAG, SLOW, hands_of
from sekant.vehicle.quantities import GRAVITY

PREVIEW = 0.45  # s
NEAREST = 3.0  # m, least distance d ahead
AHEAD = (0.5, 1.0, 1.5)  # times the lag of hands, tires and yaw: where the driver samples the curvature
ALONG = 0.2  # s, T_s
LEARNING = 1.2  # s, T_i
RUN_OUT = (40.0, 200.0)  # m, straight pieces before and behind the course
FARTHEST = 0.6  # m, largest error that E integrates
TAIL = 3.0  # the throttle closes beyond the slip angle of the largest rear force, completely at 1.5 times this angle
GAIN = 4.0  # 1/s: acceleration per speed error
ROLLS = 1.5  # m/s: lower limit of the speed in slips
ROLLING = 10.0  # m/s, at which the rolling radius is evaluated
BAND = 0.5  # of the slip, over which the torque is reduced
SLIP = "driven_slip"
PROGRESS, ERROR, WANTED = "progress", "course_error", "wanted_speed"


def follow_course(
    commands: Commands,
    course: Course,
    profile: SpeedProfile,
    *,
    car: Car,
    linear: SingleTrack,
    loads: Mapping[str, float],
    grip: Grip,
) -> Commands:
    """The `commands` with steering, drive and brakes of a driver who follows `course` at the speed of `profile`.

    `loads` contains the load (N) of one wheel of each axle at rest.
    """
    run = course.with_run_out(*RUN_OUT)
    place = place_on(run, PROGRESS, car)
    tables = dict(place.tables)
    if not course.level:
        tables["course_slope"] = TableData(
            x=tuple(run.s), y=tuple(run.slope), kind="linear", extrapolation="constant"
        )
    for name, row in (("profile_square", profile.speed**2), ("profile_acceleration", profile.acceleration)):
        tables[name] = TableData(x=tuple(profile.s), y=tuple(row), kind="linear", extrapolation="constant")
    pace, slow = "max(speed, 0)", _lag_per_speed(linear)
    seen = " + ".join(
        f"course_curvature({PROGRESS} + {part!r}*({LAG!r} + {slow!r}*{pace})*{pace})" for part in AHEAD
    )
    wish = _wish(linear, f"{ERROR} + course_integral", "course_sine", f"({seen})/{len(AHEAD)}")
    signals: dict[str, Signal] = {
        **place.signals,
        "course_sine": ExpressionSignal(value=f"sin(angles.yaw - course_heading({PROGRESS}))"),
        "course_integral": Integral(
            input=f"max(-{FARTHEST!r}, min({FARTHEST!r}, {ERROR}))*max(0, min(1, speed/3))/{LEARNING!r}",
            unit="m",
        ),
        **hands_of(wish, grip),
        WANTED: ExpressionSignal(value=f"sqrt(max(0.0025, profile_square({PROGRESS})))", unit="m/s"),
    }
    driven = replace(
        commands,
        steer="hands",
        tables={**commands.tables, **tables},
        signals={**commands.signals, **signals, **_force(car, linear.mass, course.level)},
    )
    return _geared(driven, car, loads, grip)


def place_on(run: Course, place: str, car: Car) -> Commands:
    """Tables and signals for the position of the car on a course: PROGRESS along it and ERROR across it.

    `run` is the course, extended at its ends, and `place` its arc length as an expression of PROGRESS.
    """
    tables = {
        name: TableData(x=tuple(run.s), y=tuple(row), kind=kind, extrapolation="linear")
        for name, row, kind in (
            ("course_x", run.x, "cubic"),
            ("course_y", run.y, "cubic"),
            ("course_heading", run.heading, "cubic"),
            ("course_curvature", run.curvature, "linear"),
        )
    }
    dx, dy = (f"(position.{axis} - course_{axis}({place}))" for axis in "xy")
    signals = {
        PROGRESS: Integral(
            input="(velocity.x*course_cos + velocity.y*course_sin)"
            f"/max(0.2, 1 - course_curvature({place})*{ERROR})"
            f" + ({dx}*course_cos + {dy}*course_sin)/{ALONG!r}",
            start=car.chassis.com[0],
            unit="m",
        ),
        "course_cos": ExpressionSignal(value=f"cos(course_heading({place}))"),
        "course_sin": ExpressionSignal(value=f"sin(course_heading({place}))"),
        ERROR: ExpressionSignal(value=f"{dy}*course_cos - {dx}*course_sin", unit="m"),
    }
    return Commands(tables=tables, signals=signals)


def keep_straight(commands: Commands, linear: SingleTrack, grip: Grip) -> Commands:
    """The `commands` with a driver who steers along the x axis, for any throttle and brakes."""
    wish = _wish(linear, "position.y", "sin(angles.yaw)", "0")
    return replace(commands, steer="hands", signals={**commands.signals, **hands_of(wish, grip)})


def _wish(linear: SingleTrack, error: str, sine: str, ahead: str) -> str:
    """The wanted steering wheel angle u as an expression of the error, the sine of the heading error, and the
    curvature ahead."""
    L, K = linear.wheelbase, linear.understeer_gradient
    distance = f"max({NEAREST!r}, {PREVIEW!r}*speed)"
    off = f"({error} + {distance}*({sine} + lateral_velocity/max(speed, 1)))"
    return f"{linear.ratio!r}*({L!r} + {K!r}*speed^2)*({ahead} - 2*{off}/{distance}^2)"


def _lag_per_speed(linear: SingleTrack) -> float:
    """Sum of the lags of sideslip, m V / (C_f + C_r), and of yaw, J V / (C_r L b), divided by the speed, s^2/m."""
    total, rear = float(linear.stiffnesses.sum()), float(linear.stiffnesses[-1])
    b = max(-float(linear.places[-1]), 0.1 * linear.wheelbase)
    return linear.mass / total + linear.inertia / (rear * linear.wheelbase * b)


def _force(car: Car, mass: float, level: bool) -> dict[str, Signal]:
    """The force (N) that the profile requires, including drag and slope."""
    drag = 0.0 if car.air is None else DENSITY / 2 * float(car.air.drag_area)
    asked = f"{mass!r}*(profile_acceleration({PROGRESS}) + {GAIN!r}*({WANTED} - speed)) + {drag!r}*speed^2"
    asked += "" if level else f" + {mass * GRAVITY!r}*course_slope({PROGRESS})"
    return {"wanted_force": ExpressionSignal(value=asked, unit="N")}


def _geared(commands: Commands, car: Car, loads: Mapping[str, float], grip: Grip) -> Commands:
    """The `commands` with the motor torque and the brake command for the wanted force.

    The driver reduces the throttle when the driven wheels slip and when the rear slides.
    """
    drag = 0.0
    if car.drive is not None:
        radius = float(car.axles[car.drive.axle].tire.unloaded_radius)  # type: ignore[arg-type]
        drag = car.drive.drag_torque / radius
        slips, held = held_by_slip(car, loads)
        tail = (
            f"atan2(lateral_velocity + {grip.rear_place!r}*yaw_rate, max(speed, {SLOW}))/{grip.rear_angle!r}"
        )
        free = f"{held}*max(0, min(1, {TAIL!r} - 2*abs({tail})))"
        commands = replace(
            commands,
            torque=f"{radius!r}*(min(wanted_force, 0) + max(wanted_force, 0)*{free})",
            signals={**commands.signals, **slips},
        )
    if car.brakes is not None:
        radii = [float(axle.tire.unloaded_radius) for axle in car.axles.values()]  # type: ignore[arg-type]
        most = car.brakes.torque / float(np.mean(radii))
        commands = replace(commands, brake=f"max(0, -wanted_force - {drag!r})/{most!r}")
    return commands


def driven_slip(car: Car, loads: Mapping[str, float]) -> dict[str, Signal]:
    """The slip of the faster driven wheel as the signal `driven_slip`; `loads` (N) are those of one wheel, by
    axle."""
    assert car.drive is not None
    axle = car.drive.axle
    radius = ROLLING / spin_at(car.axles[axle].tire, loads[axle], ROLLING)
    hubs = f"max({axle}.left.hub.v, {axle}.right.hub.v)"
    slip = f"({radius!r}*{hubs} - speed)/max(abs(speed), {ROLLS!r})"
    return {SLIP: ExpressionSignal(value=slip)}


def best_slip(car: Car, load: float) -> float:
    """The slip at which the driven tires produce their largest force under `load` (N)."""
    assert car.drive is not None
    return drive_slip_of_most_force(car.axles[car.drive.axle].tire, load)


def held_by_slip(
    car: Car, loads: Mapping[str, float], slip: float | None = None
) -> tuple[dict[str, Signal], str]:
    """The signal `driven_slip`, and the fraction of the torque that remains, as an expression.

    This fraction is 1 up to `slip`, by default the slip of the largest force, and 0 beyond 1.5 times this slip.
    """
    assert car.drive is not None
    most = slip or best_slip(car, loads[car.drive.axle])
    share = f"max(0, min(1, 1 - ({SLIP} - {most!r})/{BAND * most!r}))"
    return driven_slip(car, loads), share
