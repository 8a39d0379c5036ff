"""Hall's comparison (section 4.1.4) of a car with all its links and the same car reduced to path
and surface joints.

The cars drive through a 2 m double lane change at 80 km/h, with Fiala tires and Euler steps of 0.1 ms over 15 s. As
in HALL, a driver first steers the car with all its links. All cars then repeat this steering as a function of time; a
PI controller holds the speed. To run the comparison:

    python examples/car/hall_comparison.py
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import sekant as sk
from sekant.engine import alike
from sekant.model.table import TableData
from sekant.vehicle.car import Car, Commands, car_model, load_car, single_track, standing_loads
from sekant.vehicle.drivers import hold_speed
from sekant.vehicle.driving import drive
from sekant.vehicle.driving.standing_car import settled

SPEED = 80 / 3.6
VARIANTS: dict[str, dict[str, Any]] = {
    "all links": {"reduced": False},
    "exact": {"reduced": True, "links": "exact"},
    "split": {"reduced": True, "links": "split"},
}
LOADS = tuple(f"{axle}.{side}.tire.load" for axle in ("front", "rear") for side in ("left", "right"))
CHANNELS = ("position", "yaw_rate", "angles", "turn", "steering_wheel", *LOADS)


@dataclass(frozen=True, eq=False)
class Variant:
    """Run of one car: result, processor time without compilation (s), steps, and how many velocities and
    constraints describe it; then differences from the car with all links, relative to the range there."""

    name: str
    result: sk.Result
    seconds: float
    steps: int
    velocities: int
    constraints: int
    faster: float = 1.0
    lateral: float = 0.0
    yaw_rate: float = 0.0
    loads: float = 0.0
    """largest difference of a wheel's load over its mean"""
    mean_loads: float = 0.0
    """root mean square of the same"""

    @property
    def freedoms(self) -> int:
        return self.velocities - self.constraints


def steering_trace(car: Car, until: float) -> TableData:
    """Steering wheel angle over time of a driver who follows the path."""
    run = drive(car, "double-lane-change", speed=SPEED, duration=until, rtol=1e-6, output_step=0.02)
    return TableData(x=tuple(run.time), y=tuple(run["steering_wheel"]), kind="cubic")


def driven(name: str, car: Car, trace: TableData, until: float, **how: Any) -> Variant:
    mass = single_track(car, standing_loads(car), SPEED).mass
    commands = hold_speed(Commands(steer="trace(t)", tables={"trace": trace}), car, repr(SPEED), mass)
    system = sk.compile(car_model(car, commands, speed=SPEED))
    start = settled(alike.Variant(system, system.model), car, SPEED)
    few = {"outputs": list(CHANNELS), "balance": False, "output_step": 0.01, "initial": start}
    sk.simulate(system, until=0.02, **few, **how)
    begin = process_time()
    result = sk.simulate(system, until=until, **few, **how)
    seconds = process_time() - begin
    rows = system.equations.rate.numel()
    return Variant(name, result, seconds, int(result.stats["steps"]), system.nv, rows)


def compare(until: float = 15.0, **how: Any) -> dict[str, Variant]:
    """The three cars through the same steering."""
    car = load_car(Path(__file__).parent / "hall.yaml")
    trace = steering_trace(car.changed(reduced=False), until)
    how = how or {"method": "euler", "step": 1e-4}
    runs = [driven(name, car.changed(**change), trace, until, **how) for name, change in VARIANTS.items()]
    return {run.name: _against(runs[0], run) for run in runs}


def _against(reference: Variant, run: Variant) -> Variant:
    whole, small = reference.result, run.result
    y, y0 = small["position"][:, 1], whole["position"][:, 1]
    rate, rate0 = small["yaw_rate"], whole["yaw_rate"]
    loads = np.array([(small[name] - whole[name]) / whole[name].mean() for name in LOADS])
    return Variant(
        run.name,
        small,
        run.seconds,
        run.steps,
        run.velocities,
        run.constraints,
        faster=reference.seconds / run.seconds,
        lateral=float(np.abs(y - y0).max() / np.ptp(y0)),
        yaw_rate=float(np.abs(rate - rate0).max() / np.ptp(rate0)),
        loads=float(np.abs(loads).max()),
        mean_loads=float(np.sqrt(np.mean(loads**2, axis=1)).max()),
    )


if __name__ == "__main__":
    found = compare(float(sys.argv[1]) if len(sys.argv) > 1 else 15.0)
    print(f"{'':10} velocities  constraints  us per step  faster  lateral %  yaw rate %  loads %  rms %")
    for run in found.values():
        shares = (run.lateral, run.yaw_rate, run.loads, run.mean_loads)
        percent = "  ".join(f"{100 * x:8.2g}" for x in shares)
        step = 1e6 * run.seconds / run.steps
        print(
            f"{run.name:10} {run.velocities:10}  {run.constraints:11}  {step:11.2f}  {run.faster:6.1f}  {percent}"
        )
