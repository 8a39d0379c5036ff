"""Slip control: a throttle that is reduced when the driven wheels slip."""

from __future__ import annotations

from collections.abc import Mapping

from sekant.model.signals.base import Signal
from sekant.model.signals.expression import ExpressionSignal
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.statics import spin_at
from sekant.vehicle.courses.speed_profile import drive_slip_of_most_force

SLOW = 1.5  # m/s: lower limit of the speed in slips
ROLLING = 10.0  # m/s, at which the rolling radius is evaluated
BAND = 0.5  # of the slip, over which the torque is reduced
SLIP = "driven_slip"


def driven_slip(car: Car, loads: Mapping[str, float]) -> dict[str, Signal]:
    """The slip of the faster driven wheel, as the signal `driven_slip`; `loads` (N) of one wheel, by axle."""
    assert car.drive is not None
    axle = car.drive.axle
    radius = ROLLING / spin_at(car.axles[axle].tire, loads[axle], ROLLING)
    hubs = f"max({axle}.left.hub.v, {axle}.right.hub.v)"
    slip = f"({radius!r}*{hubs} - speed)/max(abs(speed), {SLOW!r})"
    return {SLIP: ExpressionSignal(value=slip)}


def best_slip(car: Car, load: float) -> float:
    """The slip at which the driven tires produce their largest force under `load` (N)."""
    assert car.drive is not None
    return drive_slip_of_most_force(car.axles[car.drive.axle].tire, load)


def held_by_slip(
    car: Car, loads: Mapping[str, float], slip: float | None = None
) -> tuple[dict[str, Signal], str]:
    """The signal `driven_slip`, and the share of the torque that remains.

    It is 1 up to `slip` (by default that of the largest force), and 0 beyond 1.5 times this slip.
    """
    assert car.drive is not None
    most = slip or best_slip(car, loads[car.drive.axle])
    share = f"max(0, min(1, 1 - ({SLIP} - {most!r})/{BAND * most!r}))"
    return driven_slip(car, loads), share
