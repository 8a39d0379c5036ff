"""The description of a car: chassis, axles, drive, brakes, air, road. `build` makes the model from it.

Vehicle axes (ISO 8855): x forward, y to the left, z up. The origin is anywhere in the plane y = 0. The points of all
parts are given in these axes, in the position of rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, InstanceOf, SerializeAsAny, model_validator

from sekant.errors import ModelError
from sekant.model.body import check_body
from sekant.model.explain import fault_within, read_as
from sekant.model.forces import force_class
from sekant.model.quantities import AnyQuantity, Description, NotNegative, Positive, wrong
from sekant.model.settings import SimulationSettings
from sekant.model.table import TableData
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.measured.description import MeasuredSuspension
from sekant.vehicle.quantities import (
    DampingNumber,
    InertiaNumbers,
    Kilograms,
    Meters,
    MetersPerSecond,
    NewtonMeters,
    Newtons,
    Plain,
    PointNumbers,
    Radians,
    SquareMeters,
    StiffnessNumber,
)
from sekant.vehicle.roads import AnyRoad, Plane
from sekant.vehicle.tires.element import Tire

if TYPE_CHECKING:
    from sekant.model.model import Model

FARTHEST = 50.0  # m, between the parts of a car: larger distances are in millimeters without the unit


def _check_near(name: str, *lengths: float) -> None:
    """Raise an error for a length (m) that no car can have."""
    far = max(lengths, key=abs)
    if abs(far) >= FARTHEST:
        raise ValueError(
            f"{name}: {abs(far):g} m is larger than any car; numbers without a unit are in meters, so write "
            f"'{far:g} mm' if you mean millimeters"
        )


def _tire(given: Any) -> Any:
    """A tire element without wheel and road, which the car provides; a string is the name of a property file."""
    if isinstance(given, Tire):
        return given
    if isinstance(given, str):
        given = {"type": "magic_formula_tire", "file": given}
    if not isinstance(given, dict):
        raise wrong(
            "must be the name of a property file, such as sport.tir, or a mapping such as "
            "{type: fiala_tire, radius: ...}"
        )
    for key in ("wheel", "road"):
        if key in given:
            raise wrong(f"'{key}' is not allowed here, because the car sets it; remove it")
    try:
        cls = force_class(given.get("type"))
    except ModelError as error:
        raise wrong(error.message) from None
    if not issubclass(cls, Tire):
        raise wrong(f"'{cls.type}' is a force, but not a tire; use a type such as fiala_tire")
    try:
        return read_as(
            cls, {key: value for key, value in given.items() if key != "type"} | {"wheel": "wheel"}
        )
    except ModelError as error:
        raise fault_within(error) from None


AnyTire = Annotated[SerializeAsAny[Tire], BeforeValidator(_tire)]


class Chassis(Description):
    """The sprung body."""

    mass: Positive[Kilograms]
    """mass of the sprung body, without axles and wheels"""
    com: PointNumbers
    """center of mass"""
    inertia: InertiaNumbers
    """[Ixx, Iyy, Izz] about the center of mass"""

    @model_validator(mode="after")
    def _possible(self):
        _check_near("com", *self.com)
        check_body(self.mass, (*self.inertia, 0.0, 0.0, 0.0))
        return self


class RimAndTire(Description):
    """Rim and tire of one wheel, which spin."""

    mass: Positive[Kilograms] = 20.0
    """mass of one wheel with its tire"""
    inertia: InertiaNumbers = (0.8, 1.2, 0.8)
    """[Ixx, Iyy, Izz] about the wheel's center; Iyy is about the spin axis"""
    width: Positive[Meters] = 0.2
    """width of the wheel in pictures"""

    @model_validator(mode="after")
    def _possible(self):
        check_body(self.mass, (*self.inertia, 0.0, 0.0, 0.0))
        return self


class SimpleSuspension(Description):
    """Wheels that move vertically, each on a spring and a damper, without further kinematics."""

    track: Positive[Meters]
    """distance between the wheels"""
    stiffness: Positive[StiffnessNumber]
    """stiffness of one wheel's spring: force per travel of the wheel"""
    damping: NotNegative[DampingNumber]
    """damping of one wheel's damper: force per velocity of the wheel"""
    mass: NotNegative[Kilograms] = 20.0
    """mass of one wheel's carrier, without the wheel"""
    inertia: InertiaNumbers = (0.4, 0.4, 0.4)
    """[Ixx, Iyy, Izz] of one wheel's carrier about its center"""
    preload: Newtons | None = None
    """force of one spring at zero travel of the wheel; by default the force that keeps the car level"""
    camber: Radians = 0.0
    """camber of the wheels, positive if the top leans outward"""

    @model_validator(mode="after")
    def _possible(self):
        _check_near("track", self.track)
        check_body(self.mass, (*self.inertia, 0.0, 0.0, 0.0))
        return self


class Steering(Description):
    """Steering wheel, column and rack. On axles with hard points, the tie rods turn the wheels."""

    rack_per_turn: Positive[Meters] = 0.05
    """travel of the rack for one turn of the steering wheel, without a sign: a positive angle of the steering wheel
    turns the car to the left, whichever way the rack moves"""
    arm: Positive[Meters] = 0.13
    """with a simple suspension: travel of the rack per steer angle (in rad) of the wheels"""
    rack_mass: Positive[Kilograms] = 5.0
    """mass of the rack and of the parts that move with it"""
    stiffness: Positive[StiffnessNumber] = 2e6
    """stiffness of column and rack, referred to the rack, for drivers that steer by measured signals"""
    damping: NotNegative[DampingNumber] = 2e4
    """damping of column and rack, referred to the rack, for drivers that steer by measured signals"""


def _suspension(given: Any) -> Any:
    """The suspension of an axle; a mapping with curves is a measured suspension."""
    if not isinstance(given, dict) or "curves" not in given:
        return given
    try:
        return read_as(MeasuredSuspension, given)
    except ModelError as error:
        raise fault_within(error) from None


AnySuspension = Annotated[
    SimpleSuspension | InstanceOf[MeasuredSuspension] | str | InstanceOf[HardPoints],
    BeforeValidator(_suspension),
]


class Axle(Description):
    """Two wheels, left and right, and their suspension."""

    at: PointNumbers = (0.0, 0.0, 0.0)
    """position of the axle: with a simple suspension, only x is used (y and z follow from track and tires); with
    hard points or measured curves, this is the position of the origin of their coordinates"""
    suspension: AnySuspension
    """a simple suspension {track: ..., stiffness: ..., damping: ...}, a file of hard points, or curves measured on a
    rig, {curves: rig.csv, wheel_center: ...}"""
    tire: AnyTire
    """property file (.tir), or a tire such as {type: fiala_tire, ...}"""
    wheel: RimAndTire = RimAndTire()
    """mass, inertia and width of one wheel"""
    steering: Steering | None = None
    """steering of the axle; without it, the axle is not steered"""
    anti_roll_bar: StiffnessNumber = 0.0
    """force at each wheel per difference between the travels of the two wheels"""


class Drivetrain(Description):
    """Motor and differential."""

    axle: str = "rear"
    """name of the driven axle"""
    differential: Literal["open", "locked", "limited_slip"] = "open"
    """open: equal torques; locked: equal speeds; limited_slip: transfers torque from the faster to the slower
    wheel"""
    preload: NotNegative[NewtonMeters] = 60.0
    """limited_slip: largest difference between the wheel torques without drive torque"""
    bias: NotNegative[Plain] = 0.3
    """limited_slip: increase of this largest difference divided by the drive torque"""
    locking: NotNegative[Plain] = 300.0
    """locked, limited_slip: torque transferred to the slower wheel divided by the difference between the wheel
    speeds, N*m*s/rad"""
    torque: NotNegative[NewtonMeters | TableData] = 3000.0
    """largest torque at the axle: a number, or a table versus the speed (m/s), such as {x: [0, 20, 60], y: [4000,
    3000, 900]}"""
    drag_torque: NotNegative[NewtonMeters] = 300.0
    """largest braking torque of the motor"""


class Brakes(Description):
    """Brake torques in proportion to one command; their sum is at most `torque`."""

    torque: NotNegative[NewtonMeters] = 8000.0
    """largest brake torque of all wheels together"""
    front_share: Plain = 0.62
    """fraction of the brake torque that acts at the first axle"""
    standstill: Positive[Plain] = 0.5
    """spin rate (rad/s) below which a braked wheel creeps with methods that do not stop at events; with other
    methods, the wheel stops exactly"""

    @model_validator(mode="after")
    def _share(self):
        if not 0 <= self.front_share <= 1:
            raise ValueError(f"front_share must be between 0 and 1 (got {self.front_share:g})")
        return self


class Air(Description):
    """Drag and downforce. Downforce areas may be expressions of the ride height h and may use tables of the car."""

    drag_area: NotNegative[SquareMeters] = 0.65
    """drag area C_d A; half of the drag acts at the front point, and half at the rear point"""
    front: PointNumbers | None = None
    """point at which the front downforce acts; by default [x of the first axle, 0, 0]"""
    rear: PointNumbers | None = None
    """point at which the rear downforce acts; by default [x of the last axle, 0, 0]"""
    front_area: AnyQuantity = 0.0
    """C_l A at the front, m^2, positive downward; may be an expression of h"""
    rear_area: AnyQuantity = 0.0
    """C_l A at the rear, m^2, positive downward; may be an expression of h"""
    headwind: MetersPerSecond = 0.0
    """speed of the air in the direction -x of the world"""


class Car(Description):
    """A car."""

    name: str = "car"
    """name of the car and of its model"""
    description: str = ""
    """description in one sentence"""
    chassis: Chassis
    """the sprung body"""
    axles: dict[str, Axle]
    """axles by name, from front to rear; at least two"""
    drive: Drivetrain | None = Drivetrain()
    """motor and differential; with null, the car is not driven"""
    brakes: Brakes | None = Brakes()
    """brakes with one command for all wheels; with null, the car has no brakes"""
    air: Air | None = None
    """drag and downforce; by default none"""
    road: AnyRoad = Plane()
    """road under the tires"""
    tables: dict[str, TableData] = Field(default_factory=dict)
    """tables by name, for expressions such as those of downforce areas"""
    reduced: bool = False
    """whether to replace hard points with path and surface joints"""
    links: Literal["exact", "split", "identify", "ignore"] = "exact"
    """with `reduced`: how the masses of links are distributed (see `sk.reduce`)"""
    maneuver: str = "double-lane-change"
    """maneuver that the car drives by default"""
    speed: MetersPerSecond = 0.0
    """speed at which the driver goes straight ahead if the model runs without a maneuver"""
    simulation: SimulationSettings = SimulationSettings()
    """duration, steps and tolerances if the model runs without a maneuver"""
    looks: Literal["closed", "open_wheels"] | None = None
    """how the car is drawn: with a closed body, or with a tub, wings and open wheels; by default open_wheels if the
    mass of the chassis is less than 500 kg"""

    @model_validator(mode="after")
    def _fits(self):
        if len(self.axles) < 2:
            raise ValueError(f"axles: a car needs at least two axles (got {len(self.axles)})")
        for name, axle in self.axles.items():
            _check_near(f"axles: 'at' of '{name}'", *axle.at)
        if self.drive is not None and self.drive.axle not in self.axles:
            raise ValueError(
                f"drive: the car has no axle '{self.drive.axle}'; its axles: {', '.join(self.axles)}"
            )
        if self.speed < 0:
            raise ValueError(
                f"speed must not be negative (got {self.speed:g} m/s), because cars drive only forward"
            )
        return self

    @property
    def steered(self) -> str | None:
        """The steered axle; None if there is none."""
        return next((name for name, axle in self.axles.items() if axle.steering is not None), None)

    def model(self) -> Model:
        """The model of the car without a maneuver, see `car_model`; `sk.compile` and `sk.simulate` use it."""
        from sekant.vehicle.car.build import car_model

        return car_model(self)


def car_description(given: Car | dict[str, Any]) -> Car:
    """`given` as a `Car`; raises `ModelError` with the location of an error."""
    if isinstance(given, Car):
        return given
    if isinstance(given, dict):
        given = {key: value for key, value in given.items() if key != "vehicle"}
    return read_as(Car, given)
