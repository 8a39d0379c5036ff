"""Lateral motion of a car on a straight road: its exact linear model, and the few states that a driver feels of it.

The car runs straight ahead at its speed, a steady motion; about it, in axes that move along, sideslip velocity v, yaw
rate r, roll angle and roll rate answer to the steering wheel by the transfer functions G(s) of all coordinates,
tires' states included. A driver's model has these four as its states x,

    x' = A x + B u .

Its gains at rest are those of the car, B = -A G(0), and A is what comes nearest to the car over the frequencies at
which people steer (up to `HIGHEST`): the sum of |s G(s) - A (G(s) - G(0))|^2 is least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.linear.root_locus import RootLocus, root_locus
from sekant.analyses.steady.motion import SteadyMotion, steady_motion
from sekant.engine.alike import Alike
from sekant.engine.kept import kept_answer
from sekant.engine.system import State
from sekant.errors import ModelError
from sekant.model.model import Model
from sekant.progress_bar import doing
from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.build import car_model
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.drivers.path import ROLL_RATE, LateralModel
from sekant.vehicle.driving.standing_car import needs_settling, settled
from sekant.vehicle.roads import Plane

FELT = {
    "lateral_velocity": "lateral_velocity",
    "yaw_rate": "yaw_rate",
    "angles.roll": "angles.roll",
    "turn.x": ROLL_RATE,
}
"""Outputs of the linear model, and what they are called in a car that has turned away from x."""
LEAST = 1e-9  # of the yaw rate: answers below are none, as the roll of a car that cannot roll
HIGHEST = 1.5  # Hz
SLOWEST = 1e-5  # Hz: as good as standing; at zero, place and heading grow without bound
POINTS = 24


@dataclass(frozen=True, eq=False)
class StraightRunning:
    """The linear model of a car about straight running, with the rack's motion `steering` as its input;
    `travel`: of the rack (m) a radian of the steering wheel; `names` of what is observed."""

    linear: LinearModel
    travel: float
    names: tuple[str, ...]

    def response(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """(n, names) a radian of the steering wheel, at frequencies in Hz."""
        order = [self.linear.outputs.index(name) for name in self.names]
        return np.asarray(self.linear.frequency_response(frequencies)[:, order, 0] * self.travel, complex)


def straight_running(
    given: Car | dict[str, Any],
    speed: float,
    outputs: Sequence[str] = tuple(FELT),
    alike: Alike | None = None,
    keep: bool = True,
) -> StraightRunning:
    """The linear model of a car that runs straight ahead at `speed` (m/s) on a level road; `alike` knows cars
    of the same kind; `keep` how it stands for later processes.

    Axles with hard points are taken reduced, links' inertia exact, where they can be: they move as the axles with
    all their links do, at a tenth of the work.
    """
    return _StraightRunner(given, speed, alike, keep).at(speed, outputs)


def speed_locus(given: Car | dict[str, Any], speeds: ArrayLike) -> RootLocus:
    """Eigenvalues of a car that runs straight ahead, over its speed (m/s): how it weaves, where it is unstable."""
    values = np.atleast_1d(np.asarray(speeds, float))
    if np.any(values <= 0):
        raise ModelError(f"speeds of a locus must be positive (got {values.min():g} m/s)")
    runner = _StraightRunner(given, float(values[0]))
    return root_locus(lambda speed: linearize(runner.system, runner.motion(speed)), "speed", values)


class _StraightRunner:
    """One car at many speeds."""

    def __init__(
        self, given: Car | dict[str, Any], speed: float, alike: Alike | None = None, keep: bool = True
    ):
        car = _simplest(car_description(given))
        # asked a few times: compiling would take longer than all answers
        alike = alike or Alike()
        variant = alike.variant(_model(car, speed), parameters=["torque"], engine="casadi")
        self.system, self.values = variant.system, variant.values
        self.start = settled(variant, car, alike, keep) if needs_settling(car) else variant.initial_state()
        self.drives, self.speed = car.drive is not None, speed
        assert car.steered is not None
        axle = car.axles[car.steered]
        travel = axle.steering.rack_per_turn / (2 * pi)  # type: ignore[union-attr]
        self.travel = travel if axle_data(axle).arm > 0 else -travel

    def motion(self, speed: float) -> SteadyMotion:
        system = self.system
        start = State(q=self.start.q, v=np.asarray(self.start.v, float) * speed / self.speed)
        names, v = list(system.state_names), np.asarray(start.v, float)
        hubs = [name for name in names[: system.nq] if name.endswith(".hub.angle")]
        own = names[system.nq : system.nq + system.nv]
        rates = {name: float(v[own.index(name.replace(".angle", ".rate"))]) for name in hubs}
        unknown = [*(["torque"] if self.drives else []), *rates]
        return steady_motion(
            system,
            start,
            velocity=(speed, 0.0, 0.0),
            rates=rates,
            unknown=unknown,
            parameters={**self.values, "torque": 0.0},
        )

    def at(self, speed: float, outputs: Sequence[str]) -> StraightRunning:
        linear = linearize(self.system, self.motion(speed), inputs=["steering"], outputs=list(outputs))
        return StraightRunning(linear, self.travel, tuple(outputs))


def _simplest(given: Car) -> Car:
    """The car on a level road, its axles reduced where they can be."""
    car = given.model_copy(update={"road": Plane()})
    if car.reduced:
        return car
    small = car.model_copy(update={"reduced": True, "links": "exact"})
    try:
        car_model(small)
    except ModelError:
        return car
    return small


def _model(car: Car, speed: float) -> Model:
    return car_model(car, Commands(torque="torque", parameters={"torque": 0.0}), speed=speed)


def lateral_model(
    given: Car | dict[str, Any], speed: float, alike: Alike | None = None, keep: bool = True
) -> LateralModel:
    """What a driver knows of the car at `speed` (m/s): its linear model in what it feels. `keep`: for later
    processes; of many cars that would take longer than to find it."""
    car = _simplest(car_description(given))
    assert car.steered is not None
    if not keep:
        return _lateral_model(car, speed, alike, keep)
    options = (speed, car.axles[car.steered], car.drive is not None, needs_settling(car))
    question = f"lateral model {options!r}"
    return kept_answer(_model(car, speed), question, lambda: _lateral_model(car, speed, alike, keep))


def _lateral_model(car: Car, speed: float, alike: Alike | None, keep: bool) -> LateralModel:
    with doing("linearizing the car for its driver"):
        running = straight_running(car, speed, alike=alike, keep=keep)
    f = np.linspace(0.0, HIGHEST, POINTS + 1)[1:]
    G, G0 = running.response(f), running.response([SLOWEST])[0].real
    sizes = np.abs(G).max(axis=0)
    felt = np.flatnonzero(sizes > LEAST * sizes[1])
    G, G0 = G[:, felt], G0[felt]
    left, right = 2j * pi * f[:, None] * G, G - G0
    rows = np.vstack([right.real, right.imag])
    A = np.asarray(np.linalg.lstsq(rows, np.vstack([left.real, left.imag]), rcond=None)[0].T, float)
    return LateralModel(A, -A @ G0, tuple(list(FELT.values())[k] for k in felt))
