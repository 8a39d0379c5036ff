"""The driver's model of the car on a straight road: a linear model with a few states.

The car runs straight ahead at its speed. Sideslip velocity v, yaw rate r, roll angle and roll rate respond to the
steering wheel with the transfer functions G(s) of all coordinates, including the states of tires. The
driver's model has these four variables as its states x, x' = A x + B u .

Its static gains are those of the car, B = -A G(0). A is the best approximation of the car over the frequencies at
which people steer (up to `HIGHEST`): it minimizes the sum of |s G(s) - A (G(s) - G(0))|^2.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from sekant.engine.alike import Alike, Variant
from sekant.engine.cached import cached_answer
from sekant.engine.state import State
from sekant.errors import ModelError
from sekant.progress_bar import doing
from sekant.vehicle.car.build import car_model
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.drivers.path import FELT, LateralModel
from sekant.vehicle.driving.standing_car import needs_settling
from sekant.vehicle.driving.straight_ahead import small_steering
from sekant.vehicle.roads import Plane

LEAST = 1e-9  # of the yaw rate: smaller responses count as zero, such as the roll of a car that cannot roll
HIGHEST = 1.5  # Hz
SLOWEST = 1e-5  # Hz: nearly static; at zero, position and heading grow without bound
POINTS = 24


def simplest(given: Car) -> Car:
    """The car on a level road, with reduced axles where possible."""
    car = given.model_copy(update={"road": Plane()})
    if car.reduced:
        return car
    small = car.model_copy(update={"reduced": True, "links": "exact"})
    try:
        car_model(small)
    except ModelError:
        return car
    return small


def lateral_model(
    given: Car | dict[str, Any],
    speed: float,
    alike: Alike | None = None,
    keep: bool = True,
    driven: tuple[Variant, State] | None = None,
) -> LateralModel:
    """The driver's model of the car at `speed` (m/s): a linear model in the states that the driver notices.
    `keep`: whether to store it for later processes; for many cars, storing takes longer than computing. `driven`:
    the car with commands that are `also_by_hand`, and its start: the answer comes from it if the car is as simple
    as possible."""
    described = car_description(given)
    car = simplest(described)
    assert car.steered is not None

    def make() -> LateralModel:
        return _lateral_model(car, speed, alike, keep, driven if car == described else None)

    if not keep:
        return make()
    options = (speed, car.axles[car.steered], car.drive is not None, needs_settling(car, speed))
    return cached_answer(car_model(car, speed=speed), f"lateral model {options!r}", make)


def _lateral_model(
    car: Car, speed: float, alike: Alike | None, keep: bool, driven: tuple[Variant, State] | None
) -> LateralModel:
    with doing("computing the response of the car to steering"):
        running = small_steering(car, speed, tuple(FELT), alike, keep, driven)
        running = running or _linearized(car, speed, alike, keep)
    f = np.linspace(0.0, HIGHEST, POINTS + 1)[1:]
    G, G0 = running.response(f), running.response([SLOWEST])[0].real
    sizes = np.abs(G).max(axis=0)
    felt = np.flatnonzero(sizes > LEAST * sizes[1])
    G, G0 = G[:, felt], G0[felt]
    left, right = 2j * pi * f[:, None] * G, G - G0
    rows = np.vstack([right.real, right.imag])
    A = np.asarray(np.linalg.lstsq(rows, np.vstack([left.real, left.imag]), rcond=None)[0].T, float)
    return LateralModel(A, -A @ G0, tuple(list(FELT.values())[k] for k in felt))


def _linearized(car: Car, speed: float, alike: Alike | None, keep: bool) -> Any:
    """The same by exact linearization, for mechanisms with loops."""
    from sekant.vehicle.driving.lateral import straight_running

    return straight_running(car, speed, alike=alike, keep=keep)
