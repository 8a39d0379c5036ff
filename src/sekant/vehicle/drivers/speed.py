"""A driver who holds the speed: PI control of the drive torque."""

from __future__ import annotations

from dataclasses import replace

from sekant.model.signals.pid import Pid
from sekant.model.table import TableData
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car

PROPORTIONAL = 3.0  # 1/s: acceleration asked for over the error of the speed
INTEGRAL = 1.0  # 1/s^2


def hold_speed(commands: Commands, car: Car, speed: str, mass: float) -> Commands:
    """The `commands` with a torque that holds `speed` (m/s, an expression).

    The gains ask for an acceleration of 3/s times the error; mass (kg) of the car and radius of its driven wheels
    turn that into torque.
    """
    if car.drive is None:
        return commands
    axle = car.axles[car.drive.axle]
    scale = mass * float(axle.tire.unloaded_radius)  # type: ignore[arg-type]
    torque = car.drive.torque
    most = max(torque.y) if isinstance(torque, TableData) else torque
    pid = Pid(
        error=f"({speed}) - speed",
        kp=PROPORTIONAL * scale,
        ki=INTEGRAL * scale,
        low=-car.drive.drag_torque,
        high=most,
        unit="N*m",
    )
    return replace(commands, torque="speed_driver", signals={**commands.signals, "speed_driver": pid})
