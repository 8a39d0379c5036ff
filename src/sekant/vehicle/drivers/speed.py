"""A driver who maintains the speed: PI control of the drive torque."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from sekant.model.signals.pid import Pid
from sekant.model.table import TableData
from sekant.vehicle.aero import DENSITY
from sekant.vehicle.car.build import standing_loads
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.tires.slip import Slip

PROPORTIONAL = 3.0  # 1/s: acceleration per speed error
INTEGRAL = 1.0  # 1/s^2


def hold_speed(commands: Commands, car: Car, speed: str, mass: float, start: float | None = None) -> Commands:
    """The `commands` with a torque that maintains `speed` (m/s, an expression).

    The controller demands an acceleration of 3/s times the speed error. The mass (kg) of the car and the radius of
    its driven wheels convert it to a torque. The integral starts at the torque that maintains the speed `start`
    (m/s) against air and rolling resistance, so the speed does not drop at first. By default, `start` is `speed`, if
    this is a number.
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
        start=_resistance(car, speed if start is None else repr(start)),
        unit="N*m",
    )
    return replace(commands, torque="speed_driver", signals={**commands.signals, "speed_driver": pid})


def _resistance(car: Car, speed: str) -> float:
    """Torque (N m) at the driven axle that maintains the speed of a car straight ahead; 0 if the speed is not a
    number."""
    try:
        v = float(speed)
    except ValueError:
        return 0.0
    assert car.drive is not None
    force = 0.0 if car.air is None else DENSITY / 2 * float(car.air.drag_area) * v**2
    for name, load in standing_loads(car).items():
        tire = car.axles[name].tire
        moment = ca.SX(tire.forces(Slip(ca.SX(0), ca.SX(0), ca.SX(0), ca.SX(load), 0.0, ca.SX(v))).My)
        force += 2 * abs(float(ca.evalf(moment))) / float(tire.unloaded_radius)  # type: ignore[arg-type]
    return force * float(car.axles[car.drive.axle].tire.unloaded_radius)  # type: ignore[arg-type]
