"""Replay of a log: its steering, throttle, brake or speed, and comparison with its measured channels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError, check_known
from sekant.io.logs import Log, read_log
from sekant.model.table import TableData
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.drivers import hold_speed
from sekant.vehicle.drivers.open_loop import straight_on
from sekant.vehicle.maneuvers.base import (
    DrivenManeuver,
    Floats,
    Maneuver,
    ManeuverContext,
    ManeuverMeasure,
    register,
)
from sekant.vehicle.quantities import Seconds, number

GIVEN = {"steering": "rad", "throttle": "1", "brake": "1", "speed": "m/s"}
"""Inputs that a log may contain, with their units."""
COMPARED = {"yaw_rate": "rad/s", "lateral_acceleration": "m/s^2", "sideslip": "rad", "roll": "rad"}
"""Further measured channels of a log."""
CREEP = 1e-3  # m/s: initial speed for a log from rest, because brakes of a car at rest have no direction
GAP = 0.2  # s: longest gap without a warning
UNITS = {**GIVEN, **COMPARED}


@register
class LogReplay(Maneuver):
    """Replay of steering wheel, throttle, brake or speed of a log, with a comparison of computed and measured
    responses.

    If the log has a speed but neither throttle nor brake, the driver follows this speed.
    """

    type: ClassVar[str] = "log"
    summary: ClassVar[str] = "steering, throttle, brake or speed from a CSV or MDF file"
    source: ClassVar[str] = "channels as logged; root mean squares of the differences over the run"
    cites: ClassVar[tuple[str, ...]] = ("ISO 8855",)

    file: str = ""
    """CSV file with time [s] and the channels, or MDF file (.mf4); without a file, the car drives straight ahead for
    two seconds"""
    columns: dict[str, str] = {}  # noqa: RUF012
    """column of each channel, such as {steering: SWA, speed: v_GPS} or, as a string, steering=SWA, speed=v_GPS; by
    default columns have the names of the channels: steering, throttle, brake, speed, yaw_rate,
    lateral_acceleration, sideslip, roll"""
    shift: Seconds = 0.0
    """time that is added to the times of the log; the run begins at 0"""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        given = dict(given)
        columns = given.get("columns", {})
        if isinstance(columns, str):
            pairs = [part.partition("=") for part in columns.split(",") if part.strip()]
            given["columns"] = {role.strip(): name.strip() for role, _, name in pairs}
        for role in given.get("columns") or {}:
            check_known(role, UNITS, f"unknown channel '{role}' in columns", "channels")
        if given.get("file") and "speed" not in given:
            log = read_log(given["file"])
            name = (given.get("columns") or {}).get("speed", "speed")
            if name in log.names:
                t, v = log.series(name, "m/s")
                begins = float(np.interp(-number("s").read(given.get("shift", 0.0)), t, v))
                given["speed"] = begins if abs(begins) > CREEP else CREEP
        return given

    def channel(self, log: Log, role: str) -> tuple[Floats, Floats] | None:
        """Times (n,) s of the run and values (n,) of a channel, if the log contains it."""
        name = self.columns.get(role, role)
        if name not in log.names and role not in self.columns:
            return None
        t, y = log.series(name, UNITS[role])
        kept = np.append(True, np.diff(t) > 0)
        return t[kept] + self.shift, y[kept]

    @property
    def until(self) -> float:
        return float(read_log(self.file).time[-1]) + self.shift if self.file else 2.0

    def commands(self, at: ManeuverContext) -> Commands:
        if not self.file:
            return hold_speed(straight_on(), at.car, repr(self.speed), at.linear.mass)
        log, tables = read_log(self.file), {}
        for role in GIVEN:
            found = self.channel(log, role)
            if found is not None:
                kind = "cubic" if role == "steering" and found[0].size >= 4 else "linear"
                tables[f"log_{role}"] = TableData(
                    x=tuple(found[0]), y=tuple(found[1]), kind=kind, extrapolation="constant"
                )
        if not tables:
            have = ", ".join(log.names)
            raise ModelError(
                f"'{self.file}' has no column for any of {', '.join(GIVEN)} (its columns: {have}); assign columns "
                "to these channels, for example with columns: {steering: SWA}"
            )
        commands = Commands(tables=tables)
        if "log_steering" in tables:
            commands = replace(commands, steer="log_steering(t)")
        if "log_brake" in tables:
            commands = replace(commands, brake="log_brake(t)")
        drive = at.car.drive
        if "log_throttle" in tables and drive is not None:
            most = "drive_limit(speed)" if isinstance(drive.torque, TableData) else repr(drive.torque)
            return replace(commands, torque=f"max(0, min(1, log_throttle(t)))*{most}")
        wanted = "log_speed(t)" if "log_speed" in tables else repr(self.speed)
        if "log_brake" in tables:
            return commands
        return hold_speed(commands, at.car, wanted, at.linear.mass, self.speed)

    def measured(self) -> dict[str, tuple[Floats, Floats]]:
        if not self.file:
            return {}
        log = read_log(self.file)
        found = {role: self.channel(log, role) for role in UNITS}
        return {role: pair for role, pair in found.items() if pair is not None}

    def warnings(self, run: DrivenManeuver) -> list[str]:
        """Warnings about gaps in the log."""
        found = []
        for role, (t, _) in self.measured().items():
            steps = np.diff(t)
            k = int(np.argmax(steps)) if steps.size else 0
            if steps.size and steps[k] > max(GAP, 10 * float(np.median(steps))):
                found.append(
                    f"the log has no value of {role} for {steps[k]:.3g} s after {t[k]:.4g} s; the run interpolates "
                    "over this gap"
                )
        return found

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        own = {
            "speed": run["speed"],
            "yaw_rate": run["yaw_rate"],
            "lateral_acceleration": run.lateral_acceleration,
            "sideslip": run["sideslip"],
            "roll": run["angles"][:, 2],
        }
        found = []
        for role, (t, y) in self.measured().items():
            if role in own:
                off = own[role] - np.interp(run.time, t, y)
                unit, factor = ("deg", 180 / np.pi) if UNITS[role] == "rad" else (UNITS[role], 1.0)
                size = float(np.sqrt(np.mean(off**2))) * factor
                words = role.replace("_", " ")
                found.append(
                    ManeuverMeasure(f"difference of {words}", size, unit, "root mean square of run minus log")
                )
        return found
