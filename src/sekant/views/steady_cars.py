"""`sekant steady` for a car file: the car runs straight ahead or turns; steering wheel, drive and spins are
unknowns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sekant.views.linear_options import VALUES, number_of
from sekant.views.options import parse_assignments

if TYPE_CHECKING:
    from sekant.analyses.linear.root_locus import RootLocus
    from sekant.analyses.steady.motion import SteadyMotion
    from sekant.engine.system import System
    from sekant.vehicle.car.description import Car

UNITS = {"speed": "m/s", "lateral_acceleration": "m/s^2"}


def steady_car(
    file: Path,
    velocity: str | None,
    target: list[str] | None,
    parameters: list[str],
    refused: dict[str, object],
) -> tuple[System, SteadyMotion]:
    """The car at its own speed, or at the values of `target`: straight ahead, or in a turn to the left."""
    from sekant.vehicle.car import load_car
    from sekant.vehicle.driving import steady_turns

    for option, value in refused.items():
        if value:
            raise typer.BadParameter(
                "this option does not apply to cars; use --target speed='80 km/h' and --target "
                "lateral_acceleration=3",
                param_hint=option,
            )
    asked = {"lateral_acceleration": 0.0}
    for name, text in parse_assignments(target, "--target").items():
        name = name.removeprefix("chassis.")
        if name not in UNITS:
            raise typer.BadParameter(
                f"unknown target '{name}' of a car; use {' or '.join(UNITS)}", param_hint="--target"
            )
        asked[name] = number_of(str(text), "--target", UNITS[name])
    car: Car = load_car(file)
    if velocity is not None:
        parts = [number_of(part, "--velocity", "m/s") for part in velocity.split(",")]
        if len(parts) != 3 or any(parts[1:]):
            raise typer.BadParameter(
                "a car drives along x; write its velocity as 20,0,0", param_hint="--velocity"
            )
        asked["speed"] = parts[0]
    speed, a = asked.get("speed", float(car.speed)), asked["lateral_acceleration"]
    for name, value in (("speed", speed), ("lateral_acceleration", a)):
        if value < 0 or (value == 0 and name == "speed"):
            least = "positive" if name == "speed" else "at least 0"
            raise typer.BadParameter(f"{name} must be {least} (got {value:g})", param_hint="--target")
    turns = steady_turns(car, speed, [a], parameters=parameters)
    return turns.system, turns.motions[-1]


def car_locus(file: Path, motion: SteadyMotion, text: str) -> RootLocus | None:
    """Modes straight ahead over the speed; None if another number varies."""
    from sekant.model.ranges import read_named_range, read_range
    from sekant.vehicle.car import load_car
    from sekant.vehicle.driving import speed_locus

    name, values = read_named_range(text, "--locus")
    if motion.asked["targets"] or name.removeprefix("chassis.") != "speed":
        return None
    return speed_locus(load_car(file), read_range(values, "m/s", "--locus").values(VALUES))
