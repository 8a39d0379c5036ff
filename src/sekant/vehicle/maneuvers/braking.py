"""Braking: straight ahead, and in a turn."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import ClassVar

import numpy as np

from sekant.vehicle.car.commands import Commands
from sekant.vehicle.drivers import hold_speed
from sekant.vehicle.drivers.open_loop import step_of_steering
from sekant.vehicle.maneuvers.base import (
    DrivenManeuver,
    Floats,
    Maneuver,
    ManeuverContext,
    ManeuverMeasure,
    Stop,
    first_time,
    register,
)
from sekant.vehicle.quantities import MetersPerSecond, Plain, Seconds

STOPPED = 0.1  # m/s


@register
class BrakeStraight(Maneuver):
    """Braking from `speed` to a stop, straight ahead, with a fraction of the largest brake torque."""

    type: ClassVar[str] = "brake-straight"
    summary: ClassVar[str] = "brake to a stop, straight ahead"
    source: ClassVar[str] = "ISO 21994 in outline: distance from the start of braking to standstill"
    cites: ClassVar[tuple[str, ...]] = ("ISO 21994", "Gillespie")

    speed: MetersPerSecond = 100 / 3.6
    """speed before braking"""
    pedal: Plain = 0.7
    """fraction of the largest brake torque"""
    at: Seconds = 0.5
    """time at which braking begins"""
    rise: Seconds = 0.2
    """rise time of the pedal"""

    @property
    def until(self) -> float:
        return self.at + self.speed / 2.0

    def _pedal(self) -> str:
        return f"step5(t, {self.at!r}, 0, {self.at + self.rise!r}, {self.pedal!r})"

    def commands(self, at: ManeuverContext) -> Commands:
        return Commands(brake=self._pedal())

    @property
    def stop(self) -> Stop:
        return Stop(f"speed - {STOPPED!r}", "the car has stopped")

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        t, v = run.time, run["speed"]
        s = run["position"][:, 0]
        begin = float(np.interp(self.at, t, s))
        stands = run.result.status == "stopped"
        return [
            ManeuverMeasure(
                "stopping distance",
                float(s[-1]) - begin if stands else float("nan"),
                "m",
                f"from the start of braking to {STOPPED} m/s",
            ),
            ManeuverMeasure(
                "mean deceleration",
                self._mean(t, v, s),
                "m/s^2",
                "over the distance in which the speed falls from 80 to 10 % of its initial value",
            ),
            ManeuverMeasure(
                "largest deceleration",
                float(-run.longitudinal_acceleration.min()),
                "m/s^2",
                "of the center of mass, -(V' - r v_y)",
            ),
            ManeuverMeasure(
                "largest pitch angle",
                degrees(float(np.abs(run["angles"][:, 1]).max())),
                "deg",
                "of the chassis relative to the horizontal",
            ),
            ManeuverMeasure(
                "lateral deviation",
                float(np.abs(run["position"][:, 1]).max()),
                "m",
                "of the center of mass from the line of its initial motion",
            ),
        ]

    def _mean(self, t: Floats, v: Floats, s: Floats) -> float:
        high, low = 0.8 * v[0], 0.1 * v[0]
        a, b = (first_time(t, -v, -level) for level in (high, low))
        if not (np.isfinite(a) and np.isfinite(b)):
            return float("nan")
        way = float(np.interp(b, t, s) - np.interp(a, t, s))
        return float((high**2 - low**2) / (2 * way))


@register
class BrakeInTurn(BrakeStraight):
    """Braking in a steady turn with a fixed steering wheel angle (ISO 7975 in outline)."""

    type: ClassVar[str] = "brake-in-turn"
    summary: ClassVar[str] = "brake in a turn with a fixed steering wheel"
    source: ClassVar[str] = (
        "ISO 7975 in outline: changes of yaw rate and path compared with the turn without braking"
    )
    cites: ClassVar[tuple[str, ...]] = ("ISO 7975", "ISO 8855", "Rill")

    speed: MetersPerSecond = 80 / 3.6
    """constant speed in the turn before braking"""
    acceleration: Plain = 4.0
    """lateral acceleration of the linear car before braking, m/s^2"""
    at: Seconds = 5.0
    """time at which braking begins, when the turn is steady"""
    pedal: Plain = 0.4

    def commands(self, at: ManeuverContext) -> Commands:
        angle = self.acceleration / (self.speed * at.linear.yaw_gain(self.speed))
        held = hold_speed(step_of_steering(angle, 0.5, 1.5), at.car, repr(self.speed), at.linear.mass)
        # the throttle closes as the brake is applied
        return replace(
            held,
            brake=self._pedal(),
            torque=f"({held.torque})*step5(t, {self.at!r}, 1, {self.at + 0.1!r}, 0)",
        )

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        t, r = run.time, run["yaw_rate"]
        before = float(np.interp(self.at, t, r))
        second = float(np.interp(self.at + 1.0, t, r))
        first = np.sign(before) * r[(t > self.at) & (t < self.at + 1.0)]
        beta = run["sideslip"][t > self.at]
        return [
            ManeuverMeasure(
                "yaw rate before braking", degrees(before), "deg/s", "when the pedal begins to move"
            ),
            ManeuverMeasure(
                "yaw rate after 1 s of braking",
                second / before,
                "1",
                "divided by the yaw rate before braking",
            ),
            ManeuverMeasure(
                "largest yaw rate in the first second",
                float(first.max()) / abs(before),
                "1",
                "divided by the yaw rate before braking",
            ),
            ManeuverMeasure(
                "largest sideslip while braking",
                degrees(float(np.abs(beta).max())),
                "deg",
                "of the center of mass, |atan(v_y / V)|",
            ),
            ManeuverMeasure(
                "mean deceleration",
                self._mean(t[t > self.at], run["speed"][t > self.at], _way(run)[t > self.at]),
                "m/s^2",
                "over the distance in which the speed falls from 80 to 10 % of its initial value",
            ),
        ]


def _way(run: DrivenManeuver) -> Floats:
    """Distance (n,) m that the car has driven."""
    steps = np.linalg.norm(np.diff(run["position"][:, :2], axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])
