"""`drive`: a car through a maneuver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sekant.analyses.simulation.simulate import simulate
from sekant.engine.alike import Alike
from sekant.model.model import Model
from sekant.model.signals.event import EventSignal
from sekant.progress_bar import fraction_teller
from sekant.vehicle.car.build import car_model, standing_loads
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.car.numbers import self_contained
from sekant.vehicle.car.single_track import single_track
from sekant.vehicle.drivers import hold_speed
from sekant.vehicle.drivers.path import BEYOND
from sekant.vehicle.driving.driver_model import lateral_model
from sekant.vehicle.driving.standing_car import needs_settling, settled
from sekant.vehicle.maneuvers.base import (
    OVER,
    OVERTURNED,
    DrivenManeuver,
    Maneuver,
    ManeuverContext,
    maneuver,
)

ROWS_PER_SECOND = 100.0
SPUN = 0.35  # rad of sideslip, beyond which few drivers recover the car
NOTICED = 0.02  # rad of steering wheel angle beyond the grip of the tires that triggers a warning


def drive(
    given: Car | dict[str, Any],
    what: Maneuver | str,
    *,
    label: str = "",
    reduced: bool | None = None,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    output_step: float | None = None,
    alike: Alike | None = None,
    **options: Any,
) -> DrivenManeuver:
    """Drive a car through a maneuver (an object, or its name with `options` such as ``speed="80 km/h"``).

    `reduced`: axles with hard points as path and surface joints (True), or with all links (False), regardless
    of the setting of the car. `method`, `step`, `rtol`, `output_step` as for `sk.simulate`; rows are 10 ms
    apart by default. `alike`: the system of an earlier car; a car that differs from it only in numbers needs
    no compilation.
    """
    car = self_contained(car_description(given))
    if reduced is not None:
        car = car.model_copy(update={"reduced": reduced})
    chosen = maneuver(what, **options) if isinstance(what, str) else what
    loads = standing_loads(car)
    linear = single_track(car, loads, chosen.speed)
    car = chosen.car(car)
    keep, alike = alike is None, alike or Alike()
    context = ManeuverContext(car, linear, loads)
    commands = _watched(chosen, chosen.commands(context))
    if commands.gains is not None:
        commands = commands.also_by_hand()
    model = car_model(car, commands, speed=chosen.speed)
    further = chosen.forces(context)
    model = model.changed(forces={**model.forces, **further}) if further else model
    numbers = {name: float(value) for name, value in commands.parameters.items()}  # type: ignore[arg-type]
    # these numbers have the same defaults for all maneuvers, which makes the structure the same
    usual = {**model.parameters, **dict.fromkeys(numbers, 1.0)}
    variant = alike.variant(model.changed(parameters=usual), parameters=list(numbers))
    start = None
    if needs_settling(car, chosen.speed):
        start = settled(variant, car, chosen.speed, alike, keep)
    if commands.gains is not None:
        driven = variant, start or variant.initial_state()
        numbers |= commands.gains(lateral_model(car, chosen.speed, alike, keep, driven))
        model = model.changed(parameters={**model.parameters, **numbers})
    result = simulate(
        variant.system,
        parameters={**variant.values, **numbers},
        initial=start,
        until=chosen.until,
        method=method,
        step=step,
        rtol=rtol,
        output_step=output_step or 1 / ROWS_PER_SECOND,
        progress=fraction_teller(),
    )
    run = DrivenManeuver(car, chosen, model, result, linear, label or car.name)
    return replace(run, warnings=_warnings(run))


def standing_model(given: Car | dict[str, Any]) -> Model:
    """The model of a car without a maneuver: straight ahead at the speed of its description, or at rest."""
    car = car_description(given)
    commands = Commands()
    if car.speed > 0:
        mass = single_track(car, standing_loads(car), car.speed).mass
        commands = hold_speed(commands, car, repr(car.speed), mass)
    return car_model(car, commands, speed=car.speed).changed(simulation=car.simulation)


def _watched(chosen: Maneuver, commands: Commands) -> Commands:
    """The commands with events that end the run: where the maneuver is over, and where the car rolls over."""
    ends = {"overturned": OVERTURNED, **({} if chosen.watched is None else {OVER: chosen.watched})}
    events = {
        name: EventSignal(when=end.when, direction="falling", stop=end.message) for name, end in ends.items()
    }
    return replace(commands, signals={**commands.signals, **events})


def _warnings(run: DrivenManeuver) -> tuple[str, ...]:
    found = []
    if not run.complete:
        found.append(
            f"the run ended at {run.time[-1]:.4g} s of {run.maneuver.until:.4g} s: {run.result.message}; measures of "
            "the maneuver are left out"
        )
        found += _spun(run)
    elif run.maneuver.stop is not None and run.result.status == "finished":
        found.append(
            f"the maneuver did not end within {run.time[-1]:.4g} s; it ends when {run.maneuver.stop.message}"
        )
    found += _beyond_grip(run)
    return tuple(found + (run.maneuver.warnings(run) if run.complete else []))


def _spun(run: DrivenManeuver) -> list[str]:
    """Warnings if the car spun before its run ended."""
    over = np.abs(run["sideslip"]) > SPUN
    if not over.any():
        return []
    return [
        f"the car spun: its sideslip is beyond {np.degrees(SPUN):.0f} deg from {run.time[over][0]:.3g} s "
        f"onward; {_gentler(run)}"
    ]


def _beyond_grip(run: DrivenManeuver) -> list[str]:
    """Warnings about steering beyond the grip of the front tires."""
    if run.maneuver.to_the_limit or BEYOND not in run.result.names:
        return []
    over = np.abs(run[BEYOND])
    late = over > NOTICED
    if not late.any():
        return []
    length = float(np.trapezoid(late.astype(float), run.time))
    return [
        f"limit of grip: from {run.time[late][0]:.3g} s onward, for {length:.2g} s in total, the path "
        f"requires up to {np.degrees(over.max()):.0f} deg more steering wheel angle than the front tires can "
        f"use, and the car understeers; {_gentler(run)}"
    ]


def _gentler(run: DrivenManeuver) -> str:
    """The remedy for a run beyond the grip: the option of its maneuver to change, with a value."""
    grip = getattr(run.maneuver, "grip", None)
    if grip is not None:
        return f"use less of the grip (--set grip={0.9 * grip:.2g})"
    return f"drive more slowly (--speed '{0.9 * 3.6 * run.maneuver.speed:.0f} km/h')"
