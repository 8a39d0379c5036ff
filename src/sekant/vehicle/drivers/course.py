"""A driver who follows a course by arc length, whatever way it turns, from rest to rest.

The place s along the course moves with the car: with the tangent e_t and the normal e_n of the course there, the
car's center of mass at p, its velocity v and the error e = (p - p(s)) . e_n to the left,

    s' = v . e_t / (1 - k e) + (p - p(s)) . e_t / T_s .

The last term is zero on the exact solution and keeps errors of integration away. Angles enter by sines and cosines
only, so nothing happens at half a turn. The driver steers for the curvature of the course a little ahead and for an
arc that meets the course at the distance d = V T ahead, where the car is off by e_d = e + d sin(dpsi) + d v_y / V:

    u = i (L + K V^2) (k_ahead - 2 (e_d + E) / d^2) ,   E' = e / T_i .

K is the understeer gradient and L the wheelbase of the single-track model, i the ratio of the steering; E takes away
what the tires ask for beyond that. Without lags the error obeys e'' + 2/T e' + 2/T^2 e = 0. The limits of grip are
those of `drivers.path`. Speed: the profile gives speed and acceleration at s; motor and brakes give the force for
both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sekant.model.signals.base import Signal
from sekant.model.signals.expression import ExpressionSignal
from sekant.model.signals.integral import Integral
from sekant.model.signals.lowpass import Lowpass
from sekant.model.table import TableData
from sekant.vehicle.aero import DENSITY
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.grip import Grip
from sekant.vehicle.car.single_track import SingleTrack
from sekant.vehicle.courses.course import Course
from sekant.vehicle.courses.speed_profile import SpeedProfile
from sekant.vehicle.drivers.path import BEYOND, LAG, WISH, within_grip

PREVIEW = 0.6  # s
NEAREST = 3.0  # m, least distance ahead
AHEAD = (0.06, 0.14, 0.22)  # s, where the curvature is seen: lag of hands, steering and tires
ALONG = 0.2  # s, T_s
LEARNING = 0.8  # s, T_i
FARTHEST = 0.6  # m of error that E learns from
GAIN = 4.0  # 1/s: acceleration over the error of the speed
PROGRESS, ERROR, WANTED = "progress", "course_error", "wanted_speed"


def follow_course(
    commands: Commands,
    course: Course,
    profile: SpeedProfile,
    *,
    car: Car,
    linear: SingleTrack,
    grip: Grip,
) -> Commands:
    """The `commands` with steering, drive and brakes of a driver on `course`, as fast as `profile` has it."""
    run = course.with_run_out(40.0, 200.0)
    tables = {
        name: TableData(x=tuple(run.s), y=tuple(row), kind=kind, extrapolation="linear")
        for name, row, kind in (
            ("course_x", run.x, "cubic"),
            ("course_y", run.y, "cubic"),
            ("course_heading", run.heading, "cubic"),
            ("course_curvature", run.curvature, "linear"),
        )
    }
    for name, row in (("profile_square", profile.speed**2), ("profile_acceleration", profile.acceleration)):
        tables[name] = TableData(x=tuple(profile.s), y=tuple(row), kind="linear", extrapolation="constant")
    L, K = linear.wheelbase, linear.understeer_gradient
    dx, dy = (f"(position.{axis} - course_{axis}({PROGRESS}))" for axis in "xy")
    seen = " + ".join(f"course_curvature({PROGRESS} + {t!r}*max(speed, 0))" for t in AHEAD)
    distance = f"max({NEAREST!r}, {PREVIEW!r}*speed)"
    off = f"({ERROR} + course_integral + {distance}*(course_sine + lateral_velocity/max(speed, 1)))"
    wish = f"{grip.ratio!r}*({L!r} + {K!r}*speed^2)*(({seen})/{len(AHEAD)} - 2*{off}/{distance}^2)"
    signals: dict[str, Signal] = {
        PROGRESS: Integral(
            input="(velocity.x*course_cos + velocity.y*course_sin)"
            f"/max(0.2, 1 - course_curvature({PROGRESS})*{ERROR})"
            f" + ({dx}*course_cos + {dy}*course_sin)/{ALONG!r}",
            start=car.chassis.com[0],
            unit="m",
        ),
        "course_cos": ExpressionSignal(value=f"cos(course_heading({PROGRESS}))"),
        "course_sin": ExpressionSignal(value=f"sin(course_heading({PROGRESS}))"),
        ERROR: ExpressionSignal(value=f"{dy}*course_cos - {dx}*course_sin", unit="m"),
        "course_sine": ExpressionSignal(value=f"sin(angles.yaw - course_heading({PROGRESS}))"),
        "course_integral": Integral(
            input=f"max(-{FARTHEST!r}, min({FARTHEST!r}, {ERROR}))*max(0, min(1, speed/3))/{LEARNING!r}",
            unit="m",
        ),
        WISH: ExpressionSignal(value=wish, unit="rad"),
        BEYOND: ExpressionSignal(value=f"{WISH} - ({within_grip(WISH, grip)})", unit="rad"),
        "hands": Lowpass(input=within_grip(WISH, grip), time_constant=LAG, unit="rad"),
        WANTED: ExpressionSignal(value=f"sqrt(max(0.0025, profile_square({PROGRESS})))", unit="m/s"),
    }
    driven = replace(
        commands,
        steer="hands",
        tables={**commands.tables, **tables},
        signals={**commands.signals, **signals, **_force(car, linear.mass)},
    )
    return _geared(driven, car)


def _force(car: Car, mass: float) -> dict[str, Signal]:
    """Force (N) that the profile asks for, with that against drag."""
    drag = 0.0 if car.air is None else DENSITY / 2 * float(car.air.drag_area)
    asked = f"{mass!r}*(profile_acceleration({PROGRESS}) + {GAIN!r}*({WANTED} - speed)) + {drag!r}*speed^2"
    return {"wanted_force": ExpressionSignal(value=asked, unit="N")}


def _geared(commands: Commands, car: Car) -> Commands:
    """Torque of the motor and share of the brakes for the force that is wanted."""
    drag = 0.0
    if car.drive is not None:
        radius = float(car.axles[car.drive.axle].tire.unloaded_radius)  # type: ignore[arg-type]
        drag = car.drive.drag_torque / radius
        commands = replace(commands, torque=f"{radius!r}*wanted_force")
    if car.brakes is not None:
        radii = [float(axle.tire.unloaded_radius) for axle in car.axles.values()]  # type: ignore[arg-type]
        most = car.brakes.torque / float(np.mean(radii))
        commands = replace(commands, brake=f"max(0, -wanted_force - {drag!r})/{most!r}")
    return commands
