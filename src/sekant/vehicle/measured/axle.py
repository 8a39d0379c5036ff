"""An axle whose wheels follow measured curves: path joints over the travel or, if it is steered, surface joints over
the travel and a rack that both wheels share.

Bodies and joints have the same names as in other axles (`left.upright`, `left.hub`, `rack` ...). The coordinate of
the joint `left.travel` is the travel. The ground is the vehicle's body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sekant.cache.content import Recent
from sekant.errors import ModelError
from sekant.files import read_file
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.body import Body
from sekant.model.joints import Path, Prismatic, Revolute, Surface
from sekant.model.model import Ground, Model
from sekant.model.placement import Placement
from sekant.model.shapes import Cylinder
from sekant.vehicle.curves import wheel as wheel_geometry
from sekant.vehicle.measured.description import MeasuredSuspension
from sekant.vehicle.measured.laws import SprungWheel, bars_over_travel, laws_of
from sekant.vehicle.measured.matrices import elastic_modes
from sekant.vehicle.measured.readings import SIDES, MeasuredWheels, check_zero, read_suspension
from sekant.vehicle.quantities import GRAVITY
from sekant.vehicle.suspension.drawn import numbers


@dataclass(frozen=True)
class Spinning:
    """Data of a wheel of the axle: mass (kg), inertia (3,) kg m^2 about the center, and radius (m)."""

    mass: float
    inertia: tuple[float, float, float]
    radius: float


_ANSWERS = Recent()


def measured_of(
    given: MeasuredSuspension, radius: float
) -> tuple[MeasuredWheels, dict[str, PoseCurve | PoseSurface]]:
    """The measurements of a suspension, and the path or surface of each wheel. They are cached until a file
    changes."""
    radius = radius if given.radius is None else given.radius
    contents = tuple(read_file(file) for file in given.files)
    key = (given.model_dump_json(include={"curves", "compliance", "wheel_center", "axle"}), radius, contents)

    def read() -> tuple[MeasuredWheels, dict[str, PoseCurve | PoseSurface]]:
        found = read_suspension(given, radius)
        for side, one in found.curves.items():
            check_zero(one, given.curves if isinstance(given.curves, str) else given.curves[side])
        return found, {side: poses.shape("kc") for side, poses in found.poses.items()}

    return _ANSWERS.answer(key, read)


def measured_axle(
    given: MeasuredSuspension,
    spinning: Spinning,
    *,
    steered: bool,
    rack_mass: float = 5.0,
    anti_roll_bar: float = 0.0,
    load: float = 0.0,
    compliant: bool = True,
    gravity: float = GRAVITY,
) -> Model:
    """The axle, whose springs carry `load` (N) of one wheel at the design position.

    `anti_roll_bar` (N/m) is the force at each wheel per difference between the travels of the two wheels. Unless
    `compliant` is true, the compliance of the suspension is neglected.
    """
    measured, shapes = measured_of(given, spinning.radius)
    file = given.curves if isinstance(given.curves, str) else given.curves["left"]
    if steered and not measured.steered:
        raise ModelError(
            f"{file}: the axle is steered, but its curves were measured at only one rack position; measure at "
            "three or more rack positions and add a column rack [mm], or remove the steering of the axle",
            path=("curves",),
        )
    part = Model(name="axle")
    if measured.steered:
        mass = rack_mass if given.masses.rack is None else given.masses.rack
        part = part.changed(
            bodies={"rack_bar": Body(mass=mass)},
            joints={"rack": Prismatic(child="rack_bar", axis=(0, 1, 0))},
        )
    carried = load - gravity * (given.masses.upright + spinning.mass) if load else 0.0
    for side, sign in SIDES.items():
        part = part.mount(
            _corner(given, spinning, measured, shapes[side], side, sign, carried, compliant), side
        )
        if measured.steered:
            name = f"{side}.travel"
            shared = part.joints[name].model_copy(update={"second_coordinate_of": "rack"})
            part = part.changed(joints={**part.joints, name: shared})
    if anti_roll_bar:
        part = part.changed(forces={**part.forces, **bars_over_travel(anti_roll_bar, "q0")})
    return part


def _corner(
    given: MeasuredSuspension,
    spinning: Spinning,
    measured: MeasuredWheels,
    shape: PoseCurve | PoseSurface,
    side: str,
    sign: float,
    carried: float,
    compliant: bool,
) -> Model:
    """The corner of one wheel. If it is steered, the rack is a separate coordinate."""
    laws = laws_of(given.spring, given.damper, SprungWheel(shape, sign, measured.curves.get(side), carried))
    at = (np.zeros(1), np.zeros(1)) if isinstance(shape, PoseSurface) else (np.zeros(1),)
    R = shape.pose(*at)[0][0]
    radius = spinning.radius if given.radius is None else given.radius
    touch = wheel_geometry.contact(np.zeros((1, 3)), R[None, :, 1], radius)[0]
    frames = {"wheel_center": Placement(), "contact": Placement(position=numbers(R.T @ touch))}
    upright = Body(
        mass=given.masses.upright,
        inertia=(*given.masses.inertia, 0.0, 0.0, 0.0),
        frames={**frames, **laws.upright},
    )
    rim = Body(mass=spinning.mass, inertia=(*spinning.inertia, 0.0, 0.0, 0.0))
    modes = None
    if compliant and side in measured.compliance:
        modes = elastic_modes(measured.compliance[side], shape, radius, given.lag)
    joint: Any = (
        Surface(parent="ground", child="upright", surface="kc", elastic=modes, q0=(0.0, 0.0))
        if isinstance(shape, PoseSurface)
        else Path(parent="ground", child="upright", curve="kc", elastic=modes, q0=0.0)
    )
    hub = Revolute(parent="upright.wheel_center", child="wheel", axis=(0, 1, 0))
    carrier = Cylinder(frame="upright.wheel_center", radius=0.07, length=0.14, axis=(0.0, 1.0, 0.0))
    return Model(
        name="corner",
        ground=Ground(frames=laws.ground),
        bodies={"upright": upright, "wheel": rim},
        joints={"travel": joint, "hub": hub},
        curves={"kc": shape},
        tables=laws.tables,
        forces=laws.forces,
        shapes={"carrier": carrier},
    )
