"""Acceleration from rest over a distance, with wheelspin or with slip control."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from sekant.errors import ModelError
from sekant.model.quantities import NotNegative, Positive
from sekant.model.signals.expression import ExpressionSignal
from sekant.model.table import TableData
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.drivers.course import SLIP, best_slip, held_by_slip, keep_straight
from sekant.vehicle.maneuvers.base import (
    DrivenManeuver,
    Maneuver,
    ManeuverContext,
    ManeuverMeasure,
    Stop,
    first_time,
    register,
)
from sekant.vehicle.maneuvers.grip_use import grip_measures
from sekant.vehicle.quantities import GRAVITY, Meters, MetersPerSecond, Plain, Seconds


@register
class Acceleration(Maneuver):
    """Full throttle from rest, while the driver keeps the car straight (Formula Student: 75 m, with the start 0.3 m
    before the line)."""

    type: ClassVar[str] = "acceleration"
    summary: ClassVar[str] = "full throttle from rest over 75 m"
    source: ClassVar[str] = "Formula Student Rules 2024, D 5: 75 m from the line, staged 0.3 m before it"
    cites: ClassVar[tuple[str, ...]] = ("FSG",)
    shown: ClassVar[tuple[str, ...]] = ("speed", "driven_slip")

    speed: NotNegative[MetersPerSecond] = 0.0
    """speed at the start; with 0, the car starts from rest"""
    distance: Positive[Meters] = 75.0
    """distance from the start line over which the time is measured"""
    staging: NotNegative[Meters] = 0.3
    """distance from the car to the start line, where timing begins"""
    launch: Literal["slip_control", "wheelspin"] = "slip_control"
    """slip_control: the torque decreases when the driven wheels slip; wheelspin: the motor applies its full torque"""
    slip: Positive[Plain] | None = None
    """slip_control: slip above which the torque decreases, to zero at 1.5 times this slip; by default the slip of the
    largest force"""
    rise: Positive[Seconds] = 0.1
    """rise time of the throttle"""
    longest: Positive[Seconds] = 60.0
    """longest duration of the run"""

    @property
    def until(self) -> float:
        return self.longest

    @property
    def stop(self) -> Stop:
        return Stop(f"{self.distance + self.staging!r} - way", "the car is at the end of the distance")

    def commands(self, at: ManeuverContext) -> Commands:
        drive, car = at.car.drive, at.car
        if drive is None:
            raise ModelError(
                "this maneuver requires a drive, but no axle is driven; add, for example, drive: {axle: rear} to "
                "the car",
                path=("drive",),
            )
        most = "drive_limit(speed)" if isinstance(drive.torque, TableData) else repr(drive.torque)
        slips, held = held_by_slip(car, at.loads, self.slip)
        torque = f"step5(t, 0, 0, {self.rise!r}, 1)*{most}"
        if self.launch == "slip_control":
            torque += f"*{held}"
        way = f"position.x - {float(car.chassis.com[0])!r}"
        signals = {**slips, "way": ExpressionSignal(value=way, unit="m")}
        commands = Commands(torque=torque, signals=signals)
        return commands if car.steered is None else keep_straight(commands, at.linear, at.grip)

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        assert run.car.drive is not None
        t, way, v = run.time, run["way"], run["speed"]
        line = first_time(t, way, self.staging)
        most = self.slip or best_slip(run.car, float(run[f"{run.car.drive.axle}.left.tire.load"][0]))
        spins = run[SLIP] > 2 * most
        found = [
            ManeuverMeasure("time", float(t[-1]) - line, "s", f"over {self.distance:g} m from the start line"),
            ManeuverMeasure("speed at the end", float(v[-1]), "m/s", "of the center of mass"),
            ManeuverMeasure(
                "largest acceleration", float(np.percentile(run.longitudinal_acceleration, 99)) / GRAVITY, "1",
                "a_x / g, 99th percentile",
            ),
            ManeuverMeasure("largest slip", float(run[SLIP].max()), "1", "of the faster driven wheel"),
            ManeuverMeasure(
                "time of wheelspin", float(np.trapezoid(spins.astype(float), t)), "s",
                "during which the slip exceeds twice the slip at the largest force",
            ),
        ]  # fmt: skip
        if v[-1] > 100 / 3.6:
            found.append(
                ManeuverMeasure("time to 100 km/h", first_time(t, v, 100 / 3.6), "s", "from the throttle")
            )
        return [*found, *grip_measures(run)]
