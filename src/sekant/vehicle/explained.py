"""What `sekant explain` shows of files of hard points, cars and maneuvers: classes by name, with examples."""

from __future__ import annotations

from functools import cache

from sekant.io.source import parse_source
from sekant.io.writing import yaml_text
from sekant.vehicle.car.description import (
    Air,
    Axle,
    Brakes,
    Car,
    Chassis,
    Drivetrain,
    RimAndTire,
    SimpleSuspension,
    Steering,
)
from sekant.vehicle.hardpoints.components import (
    AntiRollBar,
    AxleLoadCase,
    AxleParts,
    BarSection,
    BushingData,
    CurveData,
    HeaveSpring,
    SteeringColumn,
    StopData,
    WheelData,
)
from sekant.vehicle.hardpoints.description import HardPoints, SpringData
from sekant.vehicle.hardpoints.suspension import Suspension
from sekant.vehicle.maneuvers import MANEUVERS
from sekant.vehicle.measured.description import (
    MeasuredDamper,
    MeasuredMasses,
    MeasuredSpring,
    MeasuredSuspension,
)
from sekant.vehicle.measured.files import MeasuredAxle
from sekant.vehicle.roads import ROADS

CAR = """\
vehicle: car
chassis: {mass: 1180 kg, com: [-1.15 m, 0, 0.5 m], inertia: [400, 1500, 1650]}
axles:
  front:
    suspension: {track: 1.5 m, stiffness: 25 N/mm, damping: 2 N*s/mm}
    tire:
      {type: linear_tire, radius: 0.31 m, vertical_stiffness: 200 N/mm, slip_stiffness: 80 kN,
       cornering_stiffness: 80 kN/rad}
    wheel: {mass: 18 kg, inertia: [0.6, 1.0, 0.6]}
    steering: {rack_per_turn: 50 mm}
  rear:
    at: [-2.6 m, 0, 0]
    suspension: {track: 1.5 m, stiffness: 25 N/mm, damping: 2 N*s/mm}
    tire:
      {type: linear_tire, radius: 0.31 m, vertical_stiffness: 200 N/mm, slip_stiffness: 90 kN,
       cornering_stiffness: 90 kN/rad}
    wheel: {mass: 18 kg, inertia: [0.6, 1.0, 0.6]}
drive: {axle: front, torque: 3000 N*m}
brakes: {torque: 7000 N*m, front_share: 0.65}
air: {drag_area: 0.6 m^2}
"""
MEASURED = """\
name: front_axle
suspension:
  curves: rig.csv
  compliance: rates.csv
  axle: front
  wheel_center: [0, 730 mm, 0]
  spring: {stiffness: 28 N/mm, top: [-15 mm, 530 mm, 545 mm], bottom: [-3 mm, 545 mm, 125 mm]}
  damper: {damping: 1.8 N*s/mm, motion_ratio: 0.98}
  masses: {upright: 20 kg, rack: 3 kg}
wheel: {radius: 0.31 m, mass: 20 kg}
anti_roll_bar: 10 N/mm
load: 3.6 kN
"""
MEASURED_PARTS: dict[str, tuple[type, tuple[str, ...]]] = {
    "suspension": (MeasuredSuspension, ("suspension",)),
    "measured_spring": (MeasuredSpring, ("suspension", "spring")),
    "measured_damper": (MeasuredDamper, ("suspension", "damper")),
    "masses": (MeasuredMasses, ("suspension", "masses")),
}
PARTS: dict[str, type] = {
    "axle": Axle,
    "chassis": Chassis,
    "suspension": SimpleSuspension,
    "steering": Steering,
    "wheel": RimAndTire,
    "drive": Drivetrain,
    "brakes": Brakes,
    "air": Air,
}
HARD_POINTS = """\
type: double_wishbone
unit: mm
points:
  upper_front: [103, 350, 142]
  upper_rear: [-127, 350, 128]
  upper_ball: [-12, 589, 127]
  lower_front: [122, 345, -80]
  lower_rear: [-108, 345, -80]
  lower_ball: [7, 620, -89]
  tie_rod_outer: [-156, 545, 178]
  tie_rod_inner: [-156, 317, 186]
  spring_top: [-15, 500, 540]
  spring_bottom: [-12, 491, 104]
  wheel_center: [0, 678, 0]
masses: {upright: 17 kg, lower_arm: 4 kg}
wheel: {tire: 205/55 R16, mass: 15 kg}
spring: {stiffness: 80 N/mm, preload: 6.6 kN, on: upper_arm, damper_curve: {x: [-1, 0, 1], y: [-900, 0, 1500]}}
bump_stop: {gap: 60 mm, stiffness: 300 N/mm}
bushings:
  lower_rear: {stiffness: [5 kN/mm, 5 kN/mm, 1 kN/mm], rotational_stiffness: [60, 60, 20]}
axle:
  steering: {rack_per_turn: -50 mm}
  anti_roll_bar:
    {bar: [200, 300, -60], arm: [-50, 400, -60], link: [-50, 450, 100], on: upper_arm,
     section: {diameter: 20 mm, length: 0.9 m}}
  heave_spring: {point: [0, 300, 127], on: upper_arm, stiffness: 40 N/mm}
set_up: {camber_shim: 2 mm}
load_cases: {braking: {az: 1, ax: -0.8}, kerb: {left: {fy: -9 kN, fz: 6 kN}}}
suspension: {travel: [-80 mm, 80 mm], steering: [-30 mm, 30 mm], wheelbase: 2.6 m, cg_height: 0.55 m}
"""
POINT_PARTS: dict[str, tuple[type, tuple[str, ...]]] = {
    "corner_spring": (SpringData, ("spring",)),
    "curve": (CurveData, ("spring", "damper_curve")),
    "wheel": (WheelData, ("wheel",)),
    "stop": (StopData, ("bump_stop",)),
    "bushing": (BushingData, ("bushings", "lower_rear")),
    "axle": (AxleParts, ("axle",)),
    "steering": (SteeringColumn, ("axle", "steering")),
    "anti_roll_bar": (AntiRollBar, ("axle", "anti_roll_bar")),
    "bar_section": (BarSection, ("axle", "anti_roll_bar", "section")),
    "heave_spring": (HeaveSpring, ("axle", "heave_spring")),
    "load_case": (AxleLoadCase, ("load_cases", "braking")),
    "suspension": (Suspension, ("suspension",)),
}
"""Classes, and the location of each in the example of hard points."""


def explained_items() -> dict[str, tuple[type, str]]:
    """Name -> (class, example). Examples of parts are taken from the example of the car."""
    found = dict(_parts())
    found |= {f"road.{name}": (cls, f"road: {cls.shown}\n") for name, cls in ROADS.items()}
    found |= {f"maneuver.{name}": (cls, f"maneuver: {name}\n") for name, cls in MANEUVERS.items()}
    return found


@cache
def _parts() -> dict[str, tuple[type, str]]:
    car = parse_source(CAR, "").data
    given = car | car["axles"]["front"] | {"axle": car["axles"]["front"]}
    found: dict[str, tuple[type, str]] = {"car": (Car, CAR)}
    found |= {f"car.{name}": (cls, yaml_text({name: given[name]})) for name, cls in PARTS.items()}
    found["hard_points"] = (HardPoints, HARD_POINTS)
    found |= {f"hard_points.{name}": (c, _cut(HARD_POINTS, at)) for name, (c, at) in POINT_PARTS.items()}
    found["measured_axle"] = (MeasuredAxle, MEASURED)
    return found | {
        f"measured_axle.{name}": (c, _cut(MEASURED, at)) for name, (c, at) in MEASURED_PARTS.items()
    }


def _cut(example: str, where: tuple[str, ...]) -> str:
    """The part of an example at a path, below the keys that lead to it."""
    part = parse_source(example, "").data
    for key in where:
        part = part[key]
    for key in reversed(where):
        part = {key: part}
    return yaml_text(part)
