"""What stands in files of cars and maneuvers, for `sekant explain`: classes by name, and an example of each."""

from __future__ import annotations

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
from sekant.vehicle.maneuvers import MANEUVERS
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
ROAD_FIELDS = {
    "track": "file: road.csv",
    "grid": "file: heights.csv",
    "random": "roughness: C",
    "grade": "slope: 0.05",
    "bank": "slope: 0.03",
    "ramp": "height: 0.2 m, start: 20 m, length: 4 m",
    "sine": "amplitude: 10 mm, wavelength: 5 m",
    "bump": "start: 20 m, height: 80 mm, length: 3 m",
    "cleat": "start: 20 m, height: 20 mm, length: 30 mm",
    "expression": "height: 0.01*sin(x)",
}
"""What a road needs besides its type."""


def explained_items() -> dict[str, tuple[type, str]]:
    """Names, classes and examples; those of parts are cut from that of the car."""
    car = parse_source(CAR, "").data
    given = car | car["axles"]["front"] | {"axle": car["axles"]["front"]}
    found: dict[str, tuple[type, str]] = {"car": (Car, CAR)}
    found |= {f"car.{name}": (cls, yaml_text({name: given[name]})) for name, cls in PARTS.items()}
    for name, cls in ROADS.items():
        fields = f", {ROAD_FIELDS[name]}" if name in ROAD_FIELDS else ""
        found[f"road.{name}"] = (cls, f"road: {{type: {name}{fields}}}\n")
    found |= {f"maneuver.{name}": (cls, f"maneuver: {name}\n") for name, cls in MANEUVERS.items()}
    return found
