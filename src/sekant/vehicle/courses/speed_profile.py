"""The highest speed on a course with the available grip, for a point mass with a friction ellipse.

At the curvature k and the speed v, the forces of the tires are limited by

    (m a_y / F_y)^2 + (m a / F_x)^2 <= share^2 ,   F = mu m n ,
    a_y = v^2 k cos(phi) + g sin(phi) ,   n = g cos(phi) cos(theta) + v^2 (z'' - k sin(phi) + rho A / (2 m)) ,

with the bank phi of the road, its slope theta and its height z(s), and with the downforce. The curvature limits v
everywhere. From the start forward, the motor and the driven axle limit it; from the end backward, the brakes and the
axle that locks first limit it. The acceleration a is along the road, and a slope requires g sin(theta) of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.model.table import TableData
from sekant.vehicle.aero import DENSITY
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.grip import NEARLY, OUTER, forces_at
from sekant.vehicle.car.single_track import SingleTrack
from sekant.vehicle.courses.course import Course
from sekant.vehicle.quantities import GRAVITY
from sekant.vehicle.roads import road_values
from sekant.vehicle.tires.element import Tire

Floats = NDArray[np.float64]
SLIPS = np.linspace(0.0, 0.6, 601)
FASTEST, SLOWEST = 120.0, 1.0  # m/s, limits of the speed in a curve


@dataclass(frozen=True)
class CarAsPoint:
    """Data of a car for speed profiles.

    They are the friction `across`, the mass (kg), the areas C_l A and C_d A (m^2), the largest torque of the motor
    (N m, a number or a table versus speed), and the radius of the driven wheels (m). `traction` and `braking` are
    the largest accelerations (m/s^2) that the driven axle and the brakes can produce at full friction without
    downforce.
    """

    across: float
    mass: float
    lift_area: float
    drag_area: float
    torque: float | TableData
    radius: float
    traction: float
    braking: float

    def motor(self, v: float) -> float:
        """Largest acceleration (m/s^2) due to the motor and the drag."""
        torque = self.torque
        most = float(np.interp(v, torque.x, torque.y)) if isinstance(torque, TableData) else torque  # type: ignore[arg-type]
        return most / (self.radius * self.mass) - DENSITY * self.drag_area * v**2 / (2 * self.mass)


@dataclass(frozen=True, eq=False)
class _Way:
    """What a course requires of the point mass.

    It contains the curvature (n,) (1/m), sine and cosine of the bank, the components of g normal to and along the
    road (m/s^2), and the additional normal acceleration divided by the square of the speed (1/m).
    """

    curvature: Floats
    sine: Floats
    cosine: Floats
    normal: Floats
    along: Floats
    pressed: Floats

    @staticmethod
    def of(course: Course, mass: CarAsPoint) -> _Way:
        theta = np.arctan(course.slope)
        sine, cosine = np.sin(course.bank), np.cos(course.bank)
        bend = np.gradient(course.slope, course.s) if not course.level else np.zeros(course.s.size)
        gain = DENSITY * mass.lift_area / (2 * mass.mass)
        pressed = bend - course.curvature * sine + gain
        return _Way(
            course.curvature,
            sine,
            cosine,
            GRAVITY * cosine * np.cos(theta),
            GRAVITY * np.sin(theta),
            pressed,
        )

    def load(self, v: Floats | float, i: int | slice = slice(None)) -> Floats:
        """Normal force of the road divided by the mass, m/s^2."""
        return np.maximum(self.normal[i] + np.square(v) * self.pressed[i], 0.1 * GRAVITY)

    def across(self, v: Floats | float, i: int | slice = slice(None)) -> Floats:
        """Lateral force of the road to the left, divided by the mass, m/s^2."""
        return np.square(v) * self.curvature[i] * self.cosine[i] + GRAVITY * self.sine[i]

    def fastest(self, mu: float) -> Floats:
        """The speed (n,) m/s at which |a_y| = mu n."""
        least = np.full(self.curvature.size, FASTEST**2)
        for side in (1.0, -1.0):
            room = side * self.curvature * self.cosine - mu * self.pressed
            have = mu * self.normal - side * GRAVITY * self.sine
            limit = np.where(room > have / FASTEST**2, have / np.maximum(room, 1e-9), FASTEST**2)
            least = np.minimum(least, np.maximum(limit, SLOWEST**2))
        return np.sqrt(least)


@dataclass(frozen=True, eq=False)
class SpeedProfile:
    """Speed (n,) m/s and acceleration (n,) m/s^2 at the arc length s (n,) m of a course; `time` (s) is that of the
    whole course."""

    s: Floats
    speed: Floats
    acceleration: Floats

    @property
    def time(self) -> float:
        v = self.speed
        return float(np.sum(2 * np.diff(self.s) / np.maximum(v[1:] + v[:-1], 1e-6)))


def speed_profile(
    course: Course,
    mass: CarAsPoint,
    *,
    share: float = 0.85,
    start: float = 0.0,
    end: float | None = None,
    most: float = FASTEST,
    before: float = 0.0,
    transition: float = 0.0,
) -> SpeedProfile:
    """The fastest profile along a course with the fraction `share` of the grip.

    `start` and `end` (m/s) are the speeds at both ends; with None, the speed at the end is free. The car starts
    `before` (m) before the start of the course, straight toward it. The speed limit of a curve also applies for the
    time `transition` (s) before and after it, while the car turns in or out.
    """
    if not 0 < share <= 1:
        raise ModelError(f"grip must be greater than 0 and at most 1 (got {share:g})")
    course = course.with_lead(before) if before > 0 else course
    s, way = course.s, _Way.of(course, mass)
    v = _held_around(s, np.minimum(fastest_speed(course, mass, share), most), transition)
    v[0] = min(v[0], start)
    if end is not None:
        v[-1] = min(v[-1], end)
    ds = np.diff(s)

    def left_over(i: int) -> float:
        used = way.across(v[i], i) / (share * mass.across * way.load(v[i], i))
        return float(np.sqrt(max(0.0, 1 - used**2)))

    for i in range(s.size - 1):
        grip = share * mass.traction * float(way.load(v[i], i)) / GRAVITY
        a = min(mass.motor(v[i]), grip * left_over(i)) - float(way.along[i])
        v[i + 1] = min(v[i + 1], np.sqrt(max(v[i] ** 2 + 2 * a * ds[i], 0.0)))
    for i in range(s.size - 1, 0, -1):
        grip = share * mass.braking * float(way.load(v[i], i)) / GRAVITY
        a = max(grip * left_over(i) + float(way.along[i]), 0.0)
        v[i - 1] = min(v[i - 1], np.sqrt(v[i] ** 2 + 2 * a * ds[i - 1]))
    return SpeedProfile(s, v, np.gradient(v**2, s) / 2)


def fastest_speed(course: Course, mass: CarAsPoint, share: float = 1.0) -> Floats:
    """The speed (n,) m/s that curvature, bank and height of a course allow."""
    return _Way.of(course, mass).fastest(share * mass.across)


def _held_around(s: Floats, v: Floats, time: float) -> Floats:
    """The least speed (n,) m/s within `time` (s) before and after each s."""
    if time <= 0:
        return v
    reach = v * time
    near = np.abs(s[:, None] - s[None, :]) <= reach[None, :]
    return np.min(np.where(near, v[None, :], np.inf), axis=1)


def car_as_point(car: Car, loads: dict[str, float], linear: SingleTrack) -> CarAsPoint:
    """The point-mass data of a car whose wheels carry `loads` (N, by axle)."""
    factor = float(road_values(car.road, 0.0, 0.0)[1])
    frictions = {name: friction(car.axles[name].tire, OUTER * loads[name], factor) for name in car.axles}
    along = min(x for x, _ in frictions.values())
    weight = sum(loads.values())
    shares = np.array([loads[name] for name in car.axles]) / weight
    height = car.chassis.com[2] + _above_road(car, loads)
    transfer = along * height / linear.wheelbase  # of the weight, at full friction
    names = list(car.axles)
    radius, traction, torque = 0.3, 0.0, 0.0
    if car.drive is not None:
        k = names.index(car.drive.axle)
        sign = 1.0 if linear.places[k] < 0 else -1.0
        room = 1 - sign * transfer
        traction = along * GRAVITY * shares[k] / room if room > 0 else np.inf
        if sign > 0:  # until the other axle lifts
            traction = min(traction, GRAVITY * (1 - shares[k]) * linear.wheelbase / height)
        radius, torque = float(car.axles[car.drive.axle].tire.unloaded_radius), car.drive.torque  # type: ignore[arg-type,assignment]
    braking = 0.0
    if car.brakes is not None:
        front = car.brakes.front_share
        split = [front, *[(1 - front) / (len(names) - 1)] * (len(names) - 1)]
        limits = []
        for k, part in enumerate(split):
            need = part - transfer if linear.places[k] > 0 else part + transfer
            limits.append(along * GRAVITY * shares[k] / need if need > 0 else np.inf)
        tires = car.axles[names[0]].tire
        most = car.brakes.torque / (float(tires.unloaded_radius) * linear.mass)  # type: ignore[arg-type]
        braking = float(min(*limits, most, along * GRAVITY))
    air = car.air
    lift = (
        0.0 if air is None else sum(a for a in (air.front_area, air.rear_area) if isinstance(a, (int, float)))
    )
    drag = 0.0 if air is None else float(air.drag_area)
    across = min(y for _, y in frictions.values())
    return CarAsPoint(across, linear.mass, float(lift), drag, torque, radius, float(traction), braking)


def _above_road(car: Car, loads: dict[str, float]) -> float:
    """Height of the vehicle's origin above the road at rest, m."""
    from sekant.vehicle.car.build import car_model

    return float(car_model(car, speed=0.0).joints["travel"].position[2])  # type: ignore[attr-defined]


def drive_slip_of_most_force(tire: Tire, load: float, speed: float = 15.0) -> float:
    """The smallest longitudinal slip at which a tire under `load` (N) reaches 98 % of its largest force."""
    forces = forces_at(tire, load, SLIPS, 1.0, speed, along=True)
    return float(SLIPS[np.argmax(forces >= NEARLY * forces.max())])


def friction(tire: Tire, load: float, factor: float = 1.0, speed: float = 15.0) -> tuple[float, float]:
    """Largest force of a tire divided by its load, along and across the road."""
    along, across = (forces_at(tire, load, SLIPS, factor, speed, along=way) for way in (True, False))
    return float(along.max() / load), float(across.max() / load)
