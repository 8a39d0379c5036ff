"""A reduced car with Magic Formula tires and fixed steps, Hall's car with Euler steps, and a car with all links."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from timing import best_of, figure, target

import sekant as sk
from sekant.engine.alike import Variant
from sekant.vehicle.car import Car, Commands, car_model, load_car, single_track, standing_loads
from sekant.vehicle.drivers import hold_speed
from sekant.vehicle.driving.standing_car import settled
from sekant.views.commands.new import write_template

SPEED = 80 / 3.6
HALL = 32.6e-6  # s a step of his reduced car: Table 4.9, 4.898 s for 150,000 steps
METHODS = ("auto", "dop853", "radau5")
STEER = "0.6*sin(2*pi*0.5*t)*step5(t, 0, 0, 0.5, 1)"


def runner(car: Car, until: float, **how: Any):
    """A function that simulates a swerve of the car, which is already compiled and at rest."""
    mass = single_track(car, standing_loads(car), SPEED).mass
    commands = hold_speed(Commands(steer=STEER), car, repr(SPEED), mass)
    system = sk.compile(car_model(car, commands, speed=SPEED))
    options = {
        "initial": settled(Variant(system, system.model), car, SPEED),
        "outputs": ["position"],
        "balance": False,
        "output_step": until,
        **how,
    }

    def once() -> sk.Result:
        result = sk.simulate(system, until, **options)
        assert result.ok, result.message
        return result

    return once


def run(quick: bool) -> dict[str, Any]:
    until = 0.05 if quick else 20.0
    examples = Path(__file__).parents[1] / "examples" / "car"
    with tempfile.TemporaryDirectory() as folder:
        return _measured(quick, until, load_car(write_template("car", folder)[0]), examples)


def _measured(quick: bool, until: float, reduced: Car, examples: Path) -> dict[str, Any]:
    hall = load_car(examples / "hall.yaml")
    full = reduced.model_copy(update={"reduced": False})
    euler = {"method": "semi_implicit_euler", "step": 1e-3}
    contenders = {
        "reduced, Magic Formula, semi-implicit Euler 1 ms": (
            runner(reduced, until, **euler),
            round(until / 1e-3),
        ),
        "reduced, Magic Formula, RK4 1 ms": (
            runner(reduced, until, method="rk4", step=1e-3),
            round(until / 1e-3),
        ),
        "Hall's reduced car, Euler 0.1 ms": (
            runner(hall, until, method="euler", step=1e-4),
            round(until / 1e-4),
        ),
    }
    if not quick:  # a series is left out: its operations are counted by `auto`, and are far too many
        for method in METHODS:
            contenders[f"all links, {method}, rtol 1e-6"] = (runner(full, until, method=method, rtol=1e-6), 1)
    times = best_of(contenders, 2 if quick else 5)
    figures = [figure(name, t, "us", "per step") for name, t in list(times.items())[:3]]
    semi, rk4, own = (t.seconds for t in list(times.values())[:3])
    targets = [
        target("reduced car, derivative (a quarter of an RK4 step)", rk4 / 4 * 1e6, 3.0, unit="us"),
        target(
            "real time / processor time, semi-implicit Euler with 1 ms", 1e-3 / semi, 300.0, at_least=True
        ),
        target("real time / processor time, RK4 with 1 ms", 1e-3 / rk4, 75.0, at_least=True),
        target("time per step, Hall / Sekant, Euler with 0.1 ms", HALL / own, 20.0, at_least=True),
    ]
    if not quick:
        whole, *others = (times[f"all links, {method}, rtol 1e-6"].seconds for method in METHODS)
        targets += [
            target("real time / processor time, all links, auto", until / whole, 30.0, at_least=True),
            target("all links: time of auto / time of the best method", whole / min(others), 1.5),
        ]
        figures += [
            figure(
                f"all links, {method}, rtol 1e-6",
                times[f"all links, {method}, rtol 1e-6"],
                "ms",
                "20 s of driving",
            )
            for method in METHODS
        ]
    return {"figures": figures, "targets": targets}
