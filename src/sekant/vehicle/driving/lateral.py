"""A car that runs straight ahead: its exact linear model, in axes that move with it, and its eigenvalues as
functions of speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.linear.root_locus import RootLocus, root_locus
from sekant.analyses.steady.motion import SteadyMotion, steady_motion
from sekant.engine.alike import Alike
from sekant.engine.state import State
from sekant.errors import ModelError
from sekant.model.model import Model
from sekant.vehicle.car.axle_data import rack_travel
from sekant.vehicle.car.build import car_model
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.drivers.path import FELT
from sekant.vehicle.driving.driver_model import simplest
from sekant.vehicle.driving.standing_car import needs_settling, settled


@dataclass(frozen=True, eq=False)
class StraightRunning:
    """The linear model of a car about straight running, with the rack's motion `steering` as its input; `travel`:
    displacement of the rack (m) per radian of the steering wheel; `names` of the outputs."""

    linear: LinearModel
    travel: float
    names: tuple[str, ...]

    def response(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Responses (n, names) per radian of the steering wheel, at frequencies in Hz."""
        order = [self.linear.outputs.index(name) for name in self.names]
        return np.asarray(self.linear.frequency_response(frequencies)[:, order, 0] * self.travel, complex)


def straight_running(
    given: Car | dict[str, Any],
    speed: float,
    outputs: Sequence[str] = tuple(FELT),
    alike: Alike | None = None,
    keep: bool = True,
) -> StraightRunning:
    """The linear model of a car that runs straight ahead at `speed` (m/s) on a level road.

    `alike` stores systems of cars of the same kind; `keep` stores the rest position for later processes. Axles with
    hard points are reduced where possible, with exact inertia of their links: they move like the axles with all
    links, with a tenth of the computation.
    """
    return _StraightRunner(given, speed, alike, keep).at(speed, outputs)


def speed_locus(given: Car | dict[str, Any], speeds: ArrayLike) -> RootLocus:
    """Eigenvalues of a car that runs straight ahead as functions of its speed (m/s): its weave modes, and the
    speeds at which it is unstable."""
    values = np.atleast_1d(np.asarray(speeds, float))
    if np.any(values <= 0):
        raise ModelError(f"the speeds of a root locus must be positive (got {values.min():g} m/s)")
    runner = _StraightRunner(given, float(values[0]))
    return root_locus(lambda speed: linearize(runner.system, runner.motion(speed)), "speed", values)


class _StraightRunner:
    """Linear models of one car at many speeds."""

    def __init__(
        self, given: Car | dict[str, Any], speed: float, alike: Alike | None = None, keep: bool = True
    ):
        car = simplest(car_description(given))
        # evaluated a few times: compiling would take longer than all evaluations
        alike = alike or Alike()
        variant = alike.variant(_model(car, speed), parameters=["torque"], engine="casadi")
        self.system, self.values = variant.system, variant.values
        self.start = variant.initial_state()
        if needs_settling(car, speed):
            self.start = settled(variant, car, speed, alike, keep)
        self.drives, self.speed = car.drive is not None, speed
        assert car.steered is not None
        self.travel = rack_travel(car.axles[car.steered])

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


def _model(car: Car, speed: float) -> Model:
    return car_model(car, Commands(torque="torque", parameters={"torque": 0.0}), speed=speed)
