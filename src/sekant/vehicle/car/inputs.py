"""A car driven by another program: steering wheel, throttle and brake pedal are inputs of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sekant.model.input import Input
from sekant.model.model import Model
from sekant.model.table import TableData
from sekant.vehicle.car.build import car_model
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car, car_description

STEERING, THROTTLE, BRAKE = "steering_wheel_angle", "throttle", "brake_pedal"


def car_with_inputs(given: Car | dict[str, Any], further: Commands | None = None) -> Model:
    """The model of a car at its own speed, with an input for each control of its driver.

    `steering_wheel_angle` (rad, positive to the left) if an axle is steered, `throttle` (0 to 1, of the available
    torque) if an axle is driven, `brake_pedal` (0 to 1) if there are brakes; all are 0 by default. The steering
    acts through its own stiffness, so an angle may jump. `further`: tables and signals that the road needs.
    """
    car = car_description(given)
    inputs: dict[str, Input] = {}
    commands: dict[str, Any] = {}
    if car.steered is not None:
        inputs[STEERING], commands["steer"] = Input(unit="rad"), STEERING
    if car.drive is not None:
        most = "drive_limit(speed)" if isinstance(car.drive.torque, TableData) else repr(car.drive.torque)
        inputs[THROTTLE], commands["torque"] = Input(), f"max(0, min(1, {THROTTLE}))*{most}"
    if car.brakes is not None:
        inputs[BRAKE], commands["brake"] = Input(), BRAKE
    return car_model(car, replace(further or Commands(), inputs=inputs, **commands)).changed(
        simulation=car.simulation
    )
