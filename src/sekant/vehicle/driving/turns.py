"""Steady turns of a car at one speed: handling diagram, and linear models in axes that move with it.

The search starts from the turn of the linear single-track model at a small lateral acceleration and continues from
turn to turn. Each turn determines steering wheel angle, drive torque and the spin of the wheels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.linear.sensitivity import Sensitivity
from sekant.analyses.steady.motion import SteadyMotion, steady_motion
from sekant.engine.alike import Variant
from sekant.engine.state import State
from sekant.engine.system import System, compile
from sekant.errors import ModelError, SolverError
from sekant.progress_bar import doing
from sekant.vehicle.aero import DENSITY
from sekant.vehicle.car.build import car_model, standing_loads
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.car.single_track import SingleTrack, single_track
from sekant.vehicle.courses.speed_profile import car_as_point
from sekant.vehicle.driving.standing_car import needs_settling, settled
from sekant.vehicle.quantities import GRAVITY

Floats = NDArray[np.float64]
FIRST = 0.3  # m/s^2, of the first turn
STEP = 1.0  # m/s^2: largest step from one turn to the next
BEYOND = 1.2  # times the limit of a point mass: no search finds a turn there


@dataclass(frozen=True, eq=False)
class SteadyTurns:
    """Steady turns of one car: `accelerations` (n,) m/s^2 (turn times speed), `steering` (n,) rad,
    `motions`, each with its outputs."""

    speed: float
    accelerations: Floats
    motions: tuple[SteadyMotion, ...]
    single_track: SingleTrack
    system: System

    @property
    def steering(self) -> Floats:
        return np.array([motion.unknowns.get("steer", 0.0) for motion in self.motions])

    def output(self, name: str) -> Floats:
        """An output of the model in each turn, such as ``front.left.tire.load`` or ``sideslip``."""
        return np.array([motion.outputs[name] for motion in self.motions])

    @property
    def handling(self) -> Floats:
        """Handling angle (n,) rad: steer angle of the wheels minus wheelbase times curvature.

        Over `accelerations` it is the handling diagram; its slope is the understeer gradient.
        """
        turns = np.array([motion.turn or 0.0 for motion in self.motions])
        return self.steering / self.single_track.ratio - self.single_track.wheelbase * turns / self.speed

    def linear(self, number: int) -> LinearModel:
        """The linear model about one of the turns, in axes that move with the car."""
        return linearize(self.system, self.motions[number])

    def sensitivity(self, number: int, parameters: Sequence[str]) -> Sensitivity:
        """Derivatives of one of the turns by `parameters` of `steady_turns`, at constant lateral acceleration and
        speed.

        `unknowns` has those of the steering wheel angle ("steer") and the torque, `eigenvalues` those of the linear
        model.
        """
        return self.linear(number).sensitivity(parameters)

    def table(self) -> str:
        """Lateral acceleration, steering wheel angle, handling angle, sideslip and roll of every turn."""
        lines = ["a_y [m/s^2]  steering [deg]  delta - L/R [deg]  sideslip [deg]  roll [deg]"]
        rolls = [motion.outputs["angles"][2] for motion in self.motions]
        for row in zip(
            self.accelerations, self.steering, self.handling, self.output("sideslip"), rolls, strict=True
        ):
            a, *angles = row
            d, h, b, r = (np.degrees(float(np.ravel(x)[0])) for x in angles)
            lines.append(f"{a:11.3f}  {d:14.4f}  {h:17.5f}  {b:14.5f}  {r:10.5f}")
        return "\n".join(lines)


def steady_turns(
    given: Car | dict[str, Any],
    speed: float,
    accelerations: Sequence[float],
    parameters: Sequence[str] = (),
) -> SteadyTurns:
    """Turns to the left at `speed` (m/s) with increasing lateral `accelerations` (m/s^2). At 0, the car drives
    straight ahead.

    `parameters`: numbers of the car's model for derivatives, such as ``chassis.mass`` or
    ``front.left.tire.tread_stiffness``.
    """
    car = car_description(given)
    wanted = np.asarray(accelerations, float)
    if not wanted.size or np.any(wanted < 0) or np.any(np.diff(wanted) <= 0):
        raise ModelError("steady turns: the accelerations must increase, and must not be negative")
    if not speed > 0:
        raise ModelError(f"steady turns: the speed must be positive (got {speed:g} m/s)")
    loads = standing_loads(car)
    linear = single_track(car, loads, speed)
    _refuse_beyond_grip(car, loads, linear, speed, float(wanted[-1]))
    commands = Commands(steer="steer", torque="torque", parameters={"steer": 0.0, "torque": 0.0})
    # evaluated a few times: compiling would take longer than all evaluations
    system = compile(
        car_model(car, commands, speed=speed), parameters=["steer", "torque", *parameters], engine="casadi"
    )
    search = _TurnSearch(car, system, linear, speed)
    found, last = [], 0.0
    for a in wanted:
        if a == 0.0:
            found.append(search.straight_ahead())
            continue
        between = np.linspace(last, a, int(np.ceil((a - last) / STEP)) + 1)[1:]
        for step in between if last else [min(FIRST, a), *between]:
            with doing(f"computing the turn at {step:.3g} m/s^2"):
                motion = search.turn(float(step))
        found.append(motion)
        last = float(a)
    return SteadyTurns(speed, wanted, tuple(found), linear, system)


def _refuse_beyond_grip(
    car: Car, loads: dict[str, float], linear: SingleTrack, speed: float, acceleration: float
) -> None:
    """Refuse a lateral acceleration far beyond the grip, which a search would try to reach for minutes."""
    air = car.air
    if air is not None and not all(isinstance(a, (int, float)) for a in (air.front_area, air.rear_area)):
        return  # the downforce depends on the ride height
    point = car_as_point(car, loads, linear)
    limit = point.across * (GRAVITY + DENSITY * point.lift_area * speed**2 / (2 * point.mass))
    if acceleration > BEYOND * limit:
        raise SolverError(
            f"steady turns: {acceleration:.3g} m/s^2 exceeds the grip: at {speed:.3g} m/s, the tires allow only "
            f"about {limit:.2g} m/s^2; reduce the lateral acceleration"
        )


class _TurnSearch:
    """Computes turn after turn; each search starts from the turn before."""

    def __init__(self, car: Car, system: System, linear: SingleTrack, speed: float):
        self.system, self.speed = system, speed
        start = system.initial_state()
        if needs_settling(car, speed):
            start = settled(Variant(system, system.model), car, speed)
        self.state: State = start
        names = system.state_names[: system.nq]
        hubs = [name for name in names if name.endswith(".hub.angle")]
        rates = np.asarray(start.v, float)
        own = list(system.state_names[system.nq : system.nq + system.nv])
        self.rates = {name: float(rates[own.index(name.replace(".angle", ".rate"))]) for name in hubs}
        self.steer = 1 / (speed * linear.yaw_gain(speed))  # rad per m/s^2
        self.torque = 0.0
        self.drives = car.drive is not None
        self.before: tuple[float, SteadyMotion] | None = None

    def straight_ahead(self) -> SteadyMotion:
        """Straight running with the steering wheel straight or, if the sides differ and the car pulls, turned
        slightly."""
        found = ["torque"] if self.drives else []

        def motion(unknown: list[str]) -> SteadyMotion:
            return steady_motion(
                self.system,
                self.state,
                velocity=(self.speed, 0.0, 0.0),
                rates=dict(self.rates),
                unknown=[*unknown, *self.rates],
                parameters={"steer": 0.0, "torque": 0.0},
            )

        try:
            answer = motion(found)
        except SolverError:
            answer = motion(["steer", *found])
        self.state, self.rates = State(q=answer.q, v=answer.v), dict(answer.rates)
        self.torque = answer.unknowns.get("torque", 0.0)
        return answer

    def turn(self, acceleration: float) -> SteadyMotion:
        rate = acceleration / self.speed
        center = self._center(rate)
        guess, rates = self.state, dict(self.rates)
        values = {"steer": self.steer * acceleration, "torque": self.torque}
        if self.before is not None:
            share = acceleration / self.before[0]
            values["steer"] = self.before[1].unknowns["steer"] * share
        targets = {"chassis.lateral_acceleration": acceleration, "chassis.speed": self.speed}
        motion = steady_motion(
            self.system,
            guess,
            turn=rate,
            center=center,
            rates=rates,
            unknown=["turn", "steer", *(["torque"] if self.drives else []), *rates],
            targets=targets if self.drives else {"chassis.lateral_acceleration": acceleration},
            parameters=values,
        )
        self.state, self.rates = State(q=motion.q, v=motion.v), dict(motion.rates)
        self.torque = motion.unknowns.get("torque", 0.0)
        self.before = (acceleration, motion)
        return motion

    def _center(self, rate: float) -> tuple[float, float, float]:
        """Center of the circle: to the left of the chassis, perpendicular to its velocity."""
        if self.before is None:
            return (0.0, self.speed / rate, 0.0)
        old = self.before[1]
        p = np.asarray(old.outputs["chassis.position"], float)
        inward = (np.asarray(old.center, float) - p)[:2]
        inward = inward / np.linalg.norm(inward) * self.speed / rate
        return (float(p[0] + inward[0]), float(p[1] + inward[1]), 0.0)
