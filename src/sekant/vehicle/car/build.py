"""From the description of a car to a plain model: chassis, axles, tires, drive, brakes, air, and measured
quantities.

Names: body `chassis` on the free joint `travel`; of each axle `front.left.wheel`, `front.left.hub`,
`front.left.tire`, `front.rack`, ... Measured, of the chassis' center of mass in ISO 8855's intermediate axes (x
horizontal): `speed` and `lateral_velocity` (m/s), `sideslip`, `yaw_rate`, and the sensors `position`, `angles`,
`turn`. Commands: `steering_wheel`, `drive_torque`, `brake`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sekant.errors import ModelError
from sekant.model.body import Body
from sekant.model.forces import Actuator, JointFriction
from sekant.model.forces.base import Force
from sekant.model.input import Input
from sekant.model.joints import Free
from sekant.model.model import Model
from sekant.model.placement import Placement
from sekant.model.prescribed_motion import Motion
from sekant.model.sensors import Angles, AngularVelocity, Position, Velocity
from sekant.model.signals.expression import ExpressionSignal
from sekant.model.table import TableData
from sekant.reduction.lumping import Lump, with_lumps
from sekant.vehicle.aero import Aero
from sekant.vehicle.car.axle_data import axle_data, rack_travel
from sekant.vehicle.car.axle_parts import hard_point_axle, measured_part
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Axle, Car, SimpleSuspension, car_description
from sekant.vehicle.car.looks import car_shapes
from sekant.vehicle.car.reduced_axle import lumps_on_chassis, reduced_axle
from sekant.vehicle.car.simple_axle import SIDES, simple_axle
from sekant.vehicle.car.statics import axle_loads, pressed_by, spin_at
from sekant.vehicle.measured.description import MeasuredSuspension
from sekant.vehicle.powertrain import AxleDrive
from sekant.vehicle.quantities import GRAVITY

LEAST_WHEELBASE = 1e-3  # m
STANDS = 0.1  # m/s: sideslip is the direction of the velocity from here on
STEERING, THROTTLE, BRAKE = "steering_wheel_angle", "throttle", "brake_pedal"
"""Inputs of a car that another program drives."""


def car_model(
    given: Car | dict[str, Any],
    commands: Commands | None = None,
    *,
    speed: float | None = None,
    start: tuple[float, float] = (0.0, 0.0),
) -> Model:
    """The model of a car that moves along x at `speed` (m/s). The default is the speed in the description of the car.

    It starts at `start` (x, y, m) and follows `commands`.
    """
    car = car_description(given)
    return _CarBuilder(car, commands or Commands(), car.speed if speed is None else speed, start).build()


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


def standing_loads(car: Car) -> dict[str, float]:
    """Load (N) of one wheel of each axle while the car stands level."""
    masses, places, axles = [car.chassis.mass], [car.chassis.com[0]], []
    for axle in car.axles.values():
        data = axle_data(axle)
        masses += data.masses.tolist()
        places += data.places[:, 0].tolist()
        axles.append(data.x)
    if max(axles) - min(axles) < LEAST_WHEELBASE:
        raise ModelError(
            f"all axles are at x = {axles[0]:g} m; set the position of each axle with at: [x, 0, 0]",
            path=("axles",),
        )
    found = axle_loads(masses, places, axles, GRAVITY)
    return {name: float(load) / 2 for name, load in zip(car.axles, found, strict=True)}


def check_standing(car: Car) -> None:
    """Raise if the car cannot stand on its wheels."""
    for name, load in standing_loads(car).items():
        try:
            pressed_by(car.axles[name].tire, load)
        except ModelError as error:
            raise ModelError(error.message, path=("axles", name, "tire")) from None


class _CarBuilder:
    def __init__(self, car: Car, commands: Commands, speed: float, start: tuple[float, float]):
        self.car, self.commands, self.speed, self.start = car, commands, speed, start
        self.wheel_load = standing_loads(car)

    def build(self) -> Model:
        car = self.car
        chassis = Body(
            mass=car.chassis.mass,
            com=car.chassis.com,
            inertia=(*car.chassis.inertia, 0.0, 0.0, 0.0),
            frames={"cg": Placement(position=car.chassis.com), **self._air_frames()},
        )
        model = Model(
            name=car.name,
            description=car.description,
            gravity=(0.0, 0.0, -GRAVITY),
            bodies={"chassis": chassis},
            joints={
                "travel": Free(
                    child="chassis", position=(*self.start, self._height()), velocity=(self.speed, 0.0, 0.0)
                )
            },
        )
        model = model.changed(bodies={"chassis": with_lumps(model, "chassis", self._lumps())})
        for name, axle in car.axles.items():
            at = None if isinstance(axle.suspension, SimpleSuspension) else Placement(position=axle.at)
            model = model.mount(self._axle(name, axle), name, on="chassis", at=at)
        return model.changed(
            joints=self._spinning(model),
            tables={**model.tables, **car.tables, **self._tables(), **self.commands.tables},
            parameters={**model.parameters, **self.commands.parameters},
            inputs=dict(self.commands.inputs),
            sensors={**model.sensors, **_sensors()},
            signals={**model.signals, **self._signals(), **self.commands.signals},
            motions={**model.motions, **self._rack_motion()},
            forces={
                **model.forces,
                **self._tires(),
                **self._rack_force(),
                **self._drive(),
                **self._brakes(),
                **self._air(),
            },
            shapes={**model.shapes, **car_shapes(self.car, -self._height())},
        )

    # -- axles -----------------------------------------------------------------------------------------

    def _axle(self, name: str, axle: Axle) -> Model:
        load, data = self.wheel_load[name], axle.suspension
        if isinstance(data, MeasuredSuspension):
            return measured_part(axle, data, load)
        if not isinstance(data, SimpleSuspension):
            return (
                reduced_axle(axle, data, self.car.links) if self.car.reduced else hard_point_axle(axle, data)
            )
        height = float(axle.tire.unloaded_radius) - pressed_by(axle.tire, load)  # type: ignore[arg-type]
        preload = data.preload
        if preload is None:
            preload = load - GRAVITY * (data.mass + axle.wheel.mass)
        return simple_axle(axle, data, height, preload)

    def _lumps(self) -> tuple[Lump, ...]:
        """The shares of link masses of reduced axles that the chassis carries."""
        found: list[Lump] = []
        for axle in self.car.axles.values() if self.car.reduced else ():
            if not isinstance(axle.suspension, (SimpleSuspension, MeasuredSuspension)):
                found += lumps_on_chassis(axle, axle.suspension, self.car.links)
        return tuple(found)

    def _height(self) -> float:
        """Height of the chassis' origin above the road, m: at rest on its tires, averaged over all axles."""
        found = []
        for name, axle in self.car.axles.items():
            data = axle_data(axle)
            radius = float(axle.tire.unloaded_radius) - pressed_by(axle.tire, self.wheel_load[name])  # type: ignore[arg-type]
            found.append(radius - float(data.center[2]) if data.drawn else 0.0)
        return sum(found) / len(found)

    def _spinning(self, model: Model) -> dict[str, Any]:
        """The joints of the model, with wheels that roll freely at the start."""
        joints = dict(model.joints)
        for name, axle in self.car.axles.items():
            rate = spin_at(axle.tire, self.wheel_load[name], self.speed) if self.speed else 0.0
            for side in SIDES:
                joint = f"{name}.{side}.hub"
                joints[joint] = joints[joint].model_copy(update={"v0": (rate,)})
        return joints

    def _tires(self) -> dict[str, Force]:
        found: dict[str, Force] = {}
        for name, axle in self.car.axles.items():
            for side in SIDES:
                own: dict[str, Any] = {"wheel": f"{name}.{side}.wheel", "road": self.car.road}
                if "side" in type(axle.tire).model_fields:
                    own["side"] = side
                found[f"{name}.{side}.tire"] = axle.tire.model_copy(update=own)
        return found

    # -- steering --------------------------------------------------------------------------------------

    @property
    def _rack_travel(self) -> str:
        return f"{rack_travel(self.car.axles[self.car.steered])!r}*({self.commands.steer})"  # type: ignore[index]

    def _rack_motion(self) -> dict[str, Motion]:
        if self.car.steered is None or not self.commands.steers_by_time:
            return {}
        still = self.commands.steer == "0"
        return {
            "steering": Motion(joint=f"{self.car.steered}.rack", value=0.0 if still else self._rack_travel)
        }

    def _rack_force(self) -> dict[str, Force]:
        if self.car.steered is None or self.commands.steers_by_time:
            return {}
        axle = self.car.axles[self.car.steered]
        k, c = axle.steering.stiffness, axle.steering.damping  # type: ignore[union-attr]
        wish = f"{k!r}*({self._rack_travel} - q) - {c!r}*v"
        return {"steering": Actuator(joint=f"{self.car.steered}.rack", force=wish)}

    # -- drive, brakes, air ----------------------------------------------------------------------------

    def _tables(self) -> dict[str, TableData]:
        drive = self.car.drive
        if drive is None or not isinstance(drive.torque, TableData):
            return {}
        return {"drive_limit": drive.torque}

    def _signals(self) -> dict[str, Any]:
        # below STANDS the direction of the velocity is undefined: the angle goes to zero smoothly
        slow = f"max(0, {STANDS!r} - (speed^2 + lateral_velocity^2)/{STANDS!r})"
        found = {
            "speed": ("velocity.x*cos(angles.yaw) + velocity.y*sin(angles.yaw)", "m/s"),
            "lateral_velocity": ("velocity.y*cos(angles.yaw) - velocity.x*sin(angles.yaw)", "m/s"),
            "sideslip": (f"atan2(lateral_velocity, speed + {slow})", "rad"),
            "yaw_rate": ("turn.z", "rad/s"),
            "steering_wheel": (self.commands.steer, "rad"),
            "brake": (f"max(0, min(1, {self.commands.brake}))", "1"),
        }
        drive = self.car.drive
        if drive is not None:
            most = "drive_limit(speed)" if isinstance(drive.torque, TableData) else repr(drive.torque)
            found["drive_torque"] = (
                f"max({-drive.drag_torque!r}, min({most}, {self.commands.torque}))",
                "N*m",
            )
        return {
            name: ExpressionSignal(value=_number_or_text(value), unit=unit)
            for name, (value, unit) in found.items()
        }

    def _drive(self) -> dict[str, Force]:
        drive = self.car.drive
        if drive is None:
            return {}
        fields = {key: getattr(drive, key) for key in ("differential", "preload", "bias", "locking")}
        left, right = (f"{drive.axle}.{side}.wheel" for side in SIDES)
        return {
            "drive": AxleDrive(left=left, right=right, carrier="chassis", torque="drive_torque", **fields)
        }

    def _brakes(self) -> dict[str, Force]:
        brakes = self.car.brakes
        if brakes is None or self.commands.brake == "0":
            return {}
        found: dict[str, Force] = {}
        rest = (1 - brakes.front_share) / max(len(self.car.axles) - 1, 1)
        for number, name in enumerate(self.car.axles):
            most = brakes.torque * (brakes.front_share if number == 0 else rest) / 2
            for side in SIDES:
                found[f"{name}.{side}.brake"] = JointFriction(
                    joint=f"{name}.{side}.hub", level=f"{most!r}*brake", width=brakes.standstill
                )
        return found

    def _air_frames(self) -> dict[str, Placement]:
        air = self.car.air
        if air is None:
            return {}
        ends = [axle_data(axle).x for axle in self.car.axles.values()]
        points = (air.front or (ends[0], 0.0, 0.0), air.rear or (ends[-1], 0.0, 0.0))
        return {f"air_{end}": Placement(position=p) for end, p in zip(("front", "rear"), points, strict=True)}

    def _air(self) -> dict[str, Force]:
        air = self.car.air
        if air is None:
            return {}
        areas = {key: getattr(air, key) for key in ("drag_area", "front_area", "rear_area", "headwind")}
        return {"air": Aero(front="chassis.air_front", rear="chassis.air_rear", road=self.car.road, **areas)}


def _number_or_text(text: str) -> float | str:
    """A command that is a plain number as a float; expressions remain texts."""
    try:
        return float(text)
    except ValueError:
        return text


def _sensors() -> dict[str, Any]:
    return {
        "position": Position(frame="chassis.cg"),
        "velocity": Velocity(frame="chassis.cg"),
        "angles": Angles(frame="chassis"),
        "turn": AngularVelocity(frame="chassis"),
    }
