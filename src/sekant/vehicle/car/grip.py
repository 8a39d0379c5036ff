"""Limits of useful steering: the slip angles at which the front and the rear tires have their largest force."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.single_track import SingleTrack
from sekant.vehicle.roads import road_values
from sekant.vehicle.tires.element import Tire
from sekant.vehicle.tires.slip import Slip

Floats = NDArray[np.float64]
NEARLY = 0.98  # of the largest force: some tires approach it without a peak
STEEPEST = 1.0  # tangent of the largest slip angle that is searched
POINTS = 2000
OUTER = 1.5  # of the load at rest: about the load of the outer wheel at the limit


@dataclass(frozen=True)
class Grip:
    """Positions (m) of the steered axle and the last axle ahead of the center of mass, and the slip angles (rad) of
    their largest tire forces on the car's road. `ratio` is the steering wheel angle divided by the steer angle."""

    front_place: float
    front_angle: float
    rear_place: float
    rear_angle: float
    ratio: float


def grip_of(car: Car, wheel_loads: dict[str, float], linear: SingleTrack) -> Grip:
    """The grip of a car with the friction of its road at the origin; each wheel carries `wheel_loads` (N, by
    axle)."""
    if car.steered is None:
        raise ModelError("no axle is steered; add steering: {} to one axle", path=("axles",))
    factor = float(road_values(car.road, 0.0, 0.0)[1])
    found: list[float] = []
    for name in (car.steered, list(car.axles)[-1]):
        place = linear.places[list(car.axles).index(name)]
        angle = slip_of_most_force(car.axles[name].tire, OUTER * wheel_loads[name], factor)
        found += [float(place), angle]
    return Grip(*found, ratio=linear.ratio)


def slip_of_most_force(tire: Tire, load: float, factor: float = 1.0, speed: float = 20.0) -> float:
    """The smallest slip angle (rad) at which a tire under `load` (N) reaches 98 % of its largest side force.

    `factor` is the friction of the road as a factor on the friction of the tire. For a tire without a limit, the
    angle is 45 degrees.
    """
    tangents = np.linspace(0.0, STEEPEST, POINTS + 1)
    forces = forces_at(tire, load, tangents, factor, speed, along=False)
    return float(np.arctan(tangents[np.argmax(forces >= NEARLY * forces.max())]))


def forces_at(tire: Tire, load: float, slips: Floats, factor: float, speed: float, *, along: bool) -> Floats:
    """Magnitudes (n,) N of the force along or across the road at slips (n,): kappa or tan(alpha)."""
    a = SX.sym("a")
    kappa, alpha = (a, SX(0)) if along else (SX(0), a)
    forces = tire.forces(Slip(kappa, alpha, SX(0), SX(load), 0.0, SX(speed), 1.0, factor, factor))
    force = ca.Function("force", [a], [SX(forces.Fx if along else forces.Fy)])
    return np.abs(np.array(force.map(slips.size)(slips))).ravel()
