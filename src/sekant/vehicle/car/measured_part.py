"""An axle by measured curves, as a part of a car."""

from __future__ import annotations

from sekant.model.model import Model
from sekant.vehicle.car.description import Axle
from sekant.vehicle.measured.axle import Spinning, measured_axle
from sekant.vehicle.measured.description import MeasuredSuspension


def rack_mass(axle: Axle, data: MeasuredSuspension) -> float:
    """Of the rack, kg."""
    own = data.masses.rack
    return own if own is not None else 5.0 if axle.steering is None else axle.steering.rack_mass


def measured_part(axle: Axle, data: MeasuredSuspension, load: float) -> Model:
    """The part, with springs that carry `load` (N) of one wheel at the design position unless they say otherwise."""
    radius = float(axle.tire.unloaded_radius)  # type: ignore[arg-type]
    return measured_axle(
        data,
        Spinning(axle.wheel.mass, axle.wheel.inertia, radius),
        steered=axle.steering is not None,
        rack_mass=rack_mass(axle, data),
        anti_roll_bar=axle.anti_roll_bar,
        load=load,
    )
