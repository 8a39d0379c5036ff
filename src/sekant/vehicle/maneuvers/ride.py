"""Ride on a random road: vertical acceleration of the chassis, weighted by human perception."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
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
from sekant.vehicle.quantities import Seconds
from sekant.vehicle.roads import RandomRoad

SETTLED = 2.0  # s, time that is excluded from the measures


@register
class Ride(Maneuver):
    """Straight ahead at constant speed on a random road of a class of ISO 8608."""

    type: ClassVar[str] = "ride"
    summary: ClassVar[str] = "straight ahead on a random road"
    source: ClassVar[str] = (
        "ISO 2631-1, weighting W_k of vertical acceleration (poles as given in open literature)"
    )
    cites: ClassVar[tuple[str, ...]] = ("ISO 2631-1", "ISO 8608", "Zuo")

    roughness: Literal["A", "B", "C", "D", "E"] = "C"
    """class of ISO 8608: A very good, C average, E very poor"""
    seed: int = 1
    """seed of the random road; the same number gives the same road"""
    duration: Seconds = 12.0
    """duration of the run"""

    @property
    def until(self) -> float:
        return self.duration

    def car(self, given: Car) -> Car:
        first = next(iter(given.axles.values()))
        track = 2 * abs(float(axle_data(first).center[1]))
        road = RandomRoad(
            roughness=self.roughness, seed=self.seed, track=track, start=10.0, friction=given.road.friction
        )
        return given.model_copy(update={"road": road})

    def commands(self, at: ManeuverContext) -> Commands:
        return hold_speed(straight_on(), at.car, repr(self.speed), at.linear.mass)

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        t = run.time
        v = run["velocity"][:, 2]
        az = np.gradient(v, t, edge_order=2)
        weighted = weighted_wk(t, az)
        late = t > SETTLED
        loads = {
            f"{a}.{s}": run[f"{a}.{s}.tire.load"][late] for a in run.car.axles for s in ("left", "right")
        }
        share = max(float(load.std() / load.mean()) for load in loads.values())
        return [
            ManeuverMeasure(
                "weighted vertical acceleration",
                _rms(weighted[late]),
                "m/s^2",
                "root mean square at the chassis's center of mass, weighted by W_k",
            ),
            ManeuverMeasure(
                "vertical acceleration", _rms(az[late]), "m/s^2", "root mean square, without weighting"
            ),
            ManeuverMeasure(
                "largest dynamic load share",
                100 * share,
                "%",
                "standard deviation of a wheel's load divided by its mean",
            ),
            ManeuverMeasure(
                "roll rate", float(np.degrees(_rms(run["turn"][late, 0]))), "deg/s", "root mean square"
            ),
        ]


def weighted_wk(t: Floats, a: Floats) -> Floats:
    """Acceleration (n,) at times (n,) s, weighted by W_k of ISO 2631-1 in the frequency domain.

    The weighting has band limits at 0.4 and 100 Hz (Butterworth filters of second order), an acceleration-velocity
    transition at 12.5 Hz (Q = 0.63), and an upward step at 2.37 and 3.35 Hz (Q = 0.91).
    """
    even = np.linspace(t[0], t[-1], t.size)
    A = np.fft.rfft(np.interp(even, t, a))
    s = 2j * np.pi * np.fft.rfftfreq(t.size, float(even[1] - even[0]))
    w1, w2, w3, w4, w5, w6 = (2 * np.pi * f for f in (0.4, 100.0, 12.5, 12.5, 2.37, 3.35))
    Q4, Q5, Q6 = 0.63, 0.91, 0.91
    with np.errstate(divide="ignore", invalid="ignore"):
        high = s**2 / (s**2 + np.sqrt(2) * w1 * s + w1**2)
        low = w2**2 / (s**2 + np.sqrt(2) * w2 * s + w2**2)
        transition = (1 + s / w3) / (1 + s / (Q4 * w4) + (s / w4) ** 2)
        step = (1 + s / (Q5 * w5) + (s / w5) ** 2) / (1 + s / (Q6 * w6) + (s / w6) ** 2) * (w5 / w6) ** 2
    return np.fft.irfft(A * high * low * transition * step, t.size)


def _rms(x: Floats) -> float:
    return float(np.sqrt(np.mean(x**2)))
