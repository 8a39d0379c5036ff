"""Axles as parts of a car.

An axle comes from a file of hard points or from measured curves. Its wheel data, load and steering come from the car.
"""

from __future__ import annotations

from typing import Any

from sekant.io.source import locating
from sekant.model.model import Model
from sekant.vehicle.car.description import Axle
from sekant.vehicle.hardpoints.description import HardPoints, hard_points
from sekant.vehicle.hardpoints.point_tables import hard_point_source
from sekant.vehicle.measured.axle import Spinning, measured_axle
from sekant.vehicle.measured.description import MeasuredSuspension
from sekant.vehicle.suspension.build import axle as axle_of


def points_of(file: str | HardPoints) -> HardPoints:
    """The hard points in a file, without the load at the contact, because the tires carry the car."""
    if isinstance(file, HardPoints):
        return file
    source = hard_point_source(file)
    with locating(source, file):
        found = hard_points(source.data)
    return found.model_copy(update={"load": 0.0})


def points_with_wheels(axle: Axle, file: str | HardPoints) -> HardPoints:
    """The hard points with mass and inertia of the car's wheels."""
    points = points_of(file)
    wheel = points.wheel.model_copy(update={"mass": axle.wheel.mass, "inertia": axle.wheel.inertia})
    return points.model_copy(update={"wheel": wheel})


def hard_point_axle(axle: Axle, file: str | HardPoints) -> Model:
    """An axle with hard points and spinning wheels, and with steering and drive shafts if the car steers or drives
    it."""
    made = axle_of(points_with_wheels(axle, file), steered=axle.steering is not None, spin=True)
    motions: dict[str, Any] = {name: item for name, item in made.motions.items() if name != "steering"}
    forces = {name: item for name, item in made.forces.items() if name != "column"}
    shapes = {
        name: item for name, item in made.shapes.items() if not name.endswith(".tire")
    }  # the car draws them
    return made.changed(motions=motions, forces=forces, shapes=shapes)


def rack_mass(axle: Axle, data: MeasuredSuspension) -> float:
    """Mass of the rack, kg."""
    own = data.masses.rack
    return own if own is not None else 5.0 if axle.steering is None else axle.steering.rack_mass


def measured_part(axle: Axle, data: MeasuredSuspension, load: float) -> Model:
    """An axle with measured curves. By default, its springs carry `load` (N) of one wheel at the design position."""
    radius = float(axle.tire.unloaded_radius)  # type: ignore[arg-type]
    return measured_axle(
        data,
        Spinning(axle.wheel.mass, axle.wheel.inertia, radius),
        steered=axle.steering is not None,
        rack_mass=rack_mass(axle, data),
        anti_roll_bar=axle.anti_roll_bar,
        load=load,
    )
