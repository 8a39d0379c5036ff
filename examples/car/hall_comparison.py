"""Hall's comparison (section 4.1.4): a car with all its links, and reduced to path and surface joints.

Through a 2 m double lane change at 80 km/h, Fiala tires, Euler with 0.1 ms over 15 s. As there, the steering is found
once, by a driver in the car with all its links, and then given to all of them over time; a PI driver holds the speed.
Run it:

    python examples/car/hall_comparison.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

import numpy as np

import sekant as sk
from sekant.model.table import TableData
from sekant.vehicle.car import Car, Commands, car_model, load_car, single_track, standing_loads
from sekant.vehicle.drivers import hold_speed
from sekant.vehicle.driving import drive
from sekant.vehicle.driving.standing_car import settled

SPEED = 80 / 3.6
VARIANTS = {"all links": {"reduced": False}, "exact": {"links": "exact"}, "split": {"links": "split"}}
LOADS = tuple(f"{axle}.{side}.tire.load" for axle in ("front", "rear") for side in ("left", "right"))
CHANNELS = ("position", "yaw_rate", "angles", *LOADS)


def steering_trace(car: Car, until: float) -> TableData:
    """Steering wheel angle over time of the driver who follows the path."""
    run = drive(car, "double-lane-change", speed=SPEED, duration=until, rtol=1e-6, output_step=0.02)
    return TableData(x=tuple(run.t), y=tuple(run["steering_wheel"]), kind="cubic")


def driven(car: Car, trace: TableData, until: float, **how) -> tuple[sk.Result, float, int]:
    """The result, the processor time of the run without compilation, and the number of coordinates."""
    mass = single_track(car, standing_loads(car), SPEED).mass
    commands = hold_speed(Commands(steer="trace(t)", tables={"trace": trace}), car, repr(SPEED), mass)
    system = sk.compile(car_model(car, commands, speed=SPEED))
    start = settled(system)
    few = {"outputs": list(CHANNELS), "balance": False, "output_step": 0.01, "initial": start}
    sk.simulate(system, until=0.02, **few, **how)
    begin = process_time()
    result = sk.simulate(system, until=until, **few, **how)
    return result, process_time() - begin, system.nq


def compare(until: float = 15.0, **how) -> dict[str, dict[str, float]]:
    """Differences of the reduced cars from that with all its links, as shares of what varies; and the speed-up."""
    car = load_car(Path(__file__).parent / "hall.yaml")
    full = car.model_copy(update={"reduced": False})
    trace = steering_trace(full, until)
    how = how or {"method": "euler", "step": 1e-4}
    runs = {
        name: driven(car.model_copy(update={"reduced": True, **change}), trace, until, **how)
        for name, change in VARIANTS.items()
    }
    reference, seconds, _ = runs["all links"]
    found = {}
    for name, (result, own, count) in runs.items():
        y = result["position"][:, 1] - reference["position"][:, 1]
        loads = [np.abs(result[c] - reference[c]).max() / reference[c].mean() for c in LOADS]
        rate = np.abs(result["yaw_rate"] - reference["yaw_rate"]).max() / np.ptp(reference["yaw_rate"])
        found[name] = {
            "coordinates": count,
            "seconds": own,
            "faster": seconds / own,
            "lateral": float(np.abs(y).max() / np.ptp(reference["position"][:, 1])),
            "yaw rate": float(rate),
            "tire loads": float(max(loads)),
        }
    return found


if __name__ == "__main__":
    found = compare(float(sys.argv[1]) if len(sys.argv) > 1 else 15.0)
    print(f"{'':10} coordinates  processor s  faster  lateral %  yaw rate %  tire loads %")
    for name, row in found.items():
        shares = "  ".join(f"{100 * row[key]:10.3g}" for key in ("lateral", "yaw rate", "tire loads"))
        print(f"{name:10} {row['coordinates']:11}  {row['seconds']:11.2f}  {row['faster']:6.1f}  {shares}")
