"""Components of a suspension in addition to its hard points: wheel, stops, bushings, steering, anti-roll bar ..."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from sekant.errors import check_known, suggest
from sekant.model.quantities import Description, Positive, Vector
from sekant.vehicle.hardpoints.suspension import RackPerTurn
from sekant.vehicle.quantities import (
    DampingNumber,
    InertiaNumbers,
    Kilograms,
    Meters,
    Newtons,
    Plain,
    PointNumbers,
    StiffnessNumber,
    number,
)

RotationalStiffnessNumber = Annotated[float, number("N*m/rad")]
RotationalDampingNumber = Annotated[float, number("N*m*s/rad")]
Pascals = Annotated[float, number("N/m^2")]
Stiffnesses = Annotated[tuple[StiffnessNumber, StiffnessNumber, StiffnessNumber], Vector()]
Dampings = Annotated[tuple[DampingNumber, DampingNumber, DampingNumber], Vector()]
RotationalStiffnesses = Annotated[
    tuple[RotationalStiffnessNumber, RotationalStiffnessNumber, RotationalStiffnessNumber], Vector()
]
RotationalDampings = Annotated[
    tuple[RotationalDampingNumber, RotationalDampingNumber, RotationalDampingNumber], Vector()
]
_SIZE = re.compile(r"\s*(\d{2,3})\s*/\s*(\d{2,3})\s*[A-Z]*\s*(\d{2}(?:\.\d)?)\s*")
STEEL = 79.3e9  # N/m^2, shear modulus


class WheelData(Description):
    """Wheel and tire of a corner."""

    tire: str | None = None
    """size such as 205/55 R16: section width (mm), aspect ratio (%), rim diameter (in)"""
    radius: Positive[Meters] | None = None
    """unloaded radius: distance of the contact point from the center; by default that of the tire size, or as
    drawn"""
    width: Positive[Meters] = 0.2
    """width in pictures; a tire size takes precedence"""
    mass: Positive[Kilograms] | None = None
    """mass of rim, tire and everything else that spins; by default three fifths of the mass of the upright"""
    inertia: InertiaNumbers | None = None
    """inertia about the center, [Ixx, Iyy, Izz], with y along the spin axis"""

    @model_validator(mode="after")
    def _readable(self):
        if self.tire is not None and _SIZE.fullmatch(self.tire) is None:
            raise ValueError(f"'{self.tire}' is not a tire size; write a size such as 205/55 R16")
        return self

    @property
    def size(self) -> tuple[float, float] | None:
        """(radius, width) m of the tire size."""
        if self.tire is None:
            return None
        found = _SIZE.fullmatch(self.tire)
        assert found is not None
        width, aspect, rim = (float(part) for part in found.groups())
        return rim * 0.0254 / 2 + 1e-3 * width * aspect / 100, 1e-3 * width

    @property
    def given_radius(self) -> float | None:
        return self.radius if self.radius is not None else (self.size[0] if self.size else None)

    @property
    def drawn_width(self) -> float:
        return self.size[1] if self.size else self.width


class CurveData(Description):
    """A force as a function of a displacement or a velocity, in SI or with units."""

    x: tuple[Annotated[float, number(None)], ...]
    """displacements or velocities, increasing, in m or m/s unless units are given"""
    y: tuple[Newtons, ...]
    """forces, one for each displacement or velocity"""


class StopData(Description):
    """A bump or rebound stop in line with the spring. It acts only beyond its gap, and only pushes."""

    gap: Meters
    """compression (bump) or extension (rebound) of the spring, from its drawn length, at which the stop acts"""
    stiffness: StiffnessNumber = 0.0
    """rate of the stop: force per compression beyond the gap"""
    curve: CurveData | None = None
    """force as a function of the compression beyond the gap, instead of a stiffness"""

    @model_validator(mode="after")
    def _one_law(self):
        if (self.curve is None) == (self.stiffness == 0.0):
            raise ValueError("a stop needs a stiffness or a curve, but not both")
        return self


class BushingData(Description):
    """Elastic mount at a hard point. On the hinge of an arm, its z axis is along the hinge; elsewhere, its axes are
    those of the vehicle."""

    stiffness: Stiffnesses = (0.0, 0.0, 0.0)
    """[x, y, z], force per displacement"""
    damping: Dampings = (0.0, 0.0, 0.0)
    """[x, y, z], force per velocity"""
    rotational_stiffness: RotationalStiffnesses = (0.0, 0.0, 0.0)
    """[x, y, z], torque per angle"""
    rotational_damping: RotationalDampings = (0.0, 0.0, 0.0)
    """[x, y, z], torque per angular velocity"""
    matrix: tuple[tuple[float, ...], ...] | None = None
    """full symmetric stiffness matrix (6, 6), SI, of the left side; the right side has its mirror image"""

    @model_validator(mode="after")
    def _stiff(self):
        if self.matrix is None and not any(self.stiffness):
            raise ValueError("a bushing needs a stiffness [x, y, z] or a matrix")
        return self


class BarSection(Description):
    """A round bar in torsion: k = G pi (D^4 - d^4) / (32 L)."""

    diameter: Meters
    """outer diameter D"""
    inner_diameter: Meters = 0.0
    """inner diameter d; 0 for a solid bar"""
    length: Meters
    """length L of the twisted part"""
    shear_modulus: Pascals = STEEL
    """shear modulus G; by default the value of steel"""

    @property
    def rate(self) -> float:
        """Torsional stiffness, N m/rad."""
        return self.shear_modulus * np.pi * (self.diameter**4 - self.inner_diameter**4) / (32 * self.length)


class AntiRollBar(Description):
    """An anti-roll bar with drop links. Roll twists the bar. Its points are on the left side; the right side is the
    mirror image.

    U: the bar runs across the vehicle, and its two arms reach to the drop links. T: a stem that can tilt fore and
    aft, with a crossbar that twists it about its axis.
    """

    type: Literal["U", "T"] = "U"
    """U: across the vehicle with two arms; T: a stem with a crossbar"""
    bar: PointNumbers
    """U: point at which the arm leaves the bar, on the bar's axis across the vehicle; T: foot of the stem"""
    arm: PointNumbers
    """end of the arm (U) or of the crossbar (T), to which the drop link is attached"""
    link: PointNumbers
    """other end of the drop link"""
    on: str = ""
    """part that carries the drop link; by default the part that carries the spring"""
    top: PointNumbers | None = None
    """T: point at which stem and crossbar meet; by default midway between the ends of the crossbar"""
    rate: RotationalStiffnessNumber | None = None
    """torque per angle of twist"""
    section: BarSection | None = None
    """section of the bar, instead of a rate"""
    damping: RotationalDampingNumber = 0.0
    """torque per twist rate"""
    mass: Kilograms = 2.0
    """mass of the whole bar"""

    @model_validator(mode="after")
    def _one_rate(self):
        if (self.rate is None) == (self.section is None):
            raise ValueError("an anti-roll bar needs a rate or a section, but not both")
        return self

    @property
    def stiffness(self) -> float:
        """Torsional stiffness, N m/rad."""
        if self.rate is not None:
            return self.rate
        assert self.section is not None
        return self.section.rate


class HeaveSpring(Description):
    """A spring and damper between the two sides of the axle. They act in heave, but not in roll."""

    point: PointNumbers
    """end on the left side; the other end is its mirror image"""
    on: str = ""
    """part that carries the end; by default the part that carries the spring"""
    stiffness: StiffnessNumber = 0.0
    """force per change of length"""
    damping: DampingNumber = 0.0
    """force per rate of change of the length"""
    preload: Newtons = 0.0
    """compressive force of the spring as drawn"""

    @model_validator(mode="after")
    def _stiff(self):
        if self.preload and not self.stiffness:
            raise ValueError("a spring with a preload needs a stiffness; give one, or remove the preload")
        return self


class SteeringColumn(Description):
    """The connection of the steering wheel to the rack."""

    rack_per_turn: RackPerTurn | None = None
    """travel of the rack to the left for one turn of the steering wheel to the left; negative for a tie rod behind
    the axle"""
    column: bool = False
    """whether the steering wheel turns on a joint that is coupled to the rack"""
    stiffness: RotationalStiffnessNumber | None = None
    """stiffness of the column; the angle of the steering wheel is then the input `steering_wheel`, and the rack can
    deflect"""
    damping: RotationalDampingNumber = 0.0
    """damping of the column, at the steering wheel; requires a stiffness"""

    @model_validator(mode="after")
    def _ratio(self):
        if (self.column or self.stiffness is not None) and not self.rack_per_turn:
            raise ValueError(
                "a column needs rack_per_turn, the travel of the rack for one turn of the steering wheel"
            )
        if self.column and self.stiffness is not None:
            raise ValueError(
                "a column is either rigid (column: true) or has a stiffness; remove column or stiffness"
            )
        return self


LOADS = {"fx": "N", "fy": "N", "fz": "N", "mz": "N*m", "dx": "N"}
"""Loads on a wheel: three forces and a moment about z at the contact, and a force along x at the wheel's center."""


class AxleLoadCase(Description):
    """Loads at the contacts (N, N m, in vehicle axes), accelerations of the vehicle in g, or the sum of both.

    Under accelerations, each wheel carries its static load times `az` (1 at rest). A lateral acceleration `ay`
    transfers load between the wheels of the axle, in proportion to the height of the center of mass divided by the
    track. A longitudinal acceleration `ax` transfers load between the axles, in proportion to the mass of the vehicle
    and to the height of its center of mass divided by the wheelbase. The axle takes the fraction `brake_share` of the
    braking force, or `drive_share` of the driving force. Its two wheels share forces along x and y in proportion to
    their loads. Inertia forces act on the parts of the axle.
    """

    left: dict[str, Newtons] = Field(default_factory=dict)
    """loads on the left wheel: fx, fy, fz, mz at the contact, dx at the wheel's center"""
    right: dict[str, Newtons] = Field(default_factory=dict)
    """loads on the right wheel, with the same names"""
    ax: Plain = 0.0
    """acceleration forward, in g; negative in braking"""
    ay: Plain = 0.0
    """acceleration to the left, in g"""
    az: Plain | None = None
    """vertical acceleration with gravity, in g: 1 at rest, 2 in a 2 g bump; in a case without accelerations, the
    parts have their weight at rest"""
    rack: Meters = 0.0
    """displacement of the rack to the left in this case"""
    hold: Literal["springs"] | None = None
    """`springs` locks the springs at their length as drawn; by default, springs and bars deflect under the loads"""

    @field_validator("left", "right")
    @classmethod
    def _known(cls, loads: dict[str, float]) -> dict[str, float]:
        for name in loads:
            if name not in LOADS:
                raise ValueError(f"there is no load '{name}'; {suggest(name, list(LOADS), 'loads')}")
        return loads


class AxleParts(Description):
    """Parts of an axle in addition to its two corners."""

    steering: SteeringColumn = SteeringColumn()
    """steering wheel, column and rack"""
    anti_roll_bar: AntiRollBar | None = None
    """bar that twists when the travels of the wheels differ"""
    heave_spring: HeaveSpring | None = None
    """spring between the two sides, which is compressed when both wheels rise"""
    brakes: bool = False
    """whether the axle has the inputs `left.brake_torque` and `right.brake_torque` (N m): torques between wheel and
    upright, against the spin"""
    drive: bool = False
    """whether the axle has the inputs `left.drive_torque` and `right.drive_torque` (N m): torques on the wheels, with
    their reaction on the vehicle's body"""


SET_UP = {
    "camber_shim": "moves the upper ball joint on the upright, or the top of the strut, outward",
    "caster_shim": "moves the upper arm, or the top of the strut, rearward",
    "tie_rod_length": "lengthens the tie rod, or that side of the track rod",
    "push_rod_length": "lengthens the push or pull rod",
    "spring_perch": "increases the free length of the spring",
    "rack_height": "moves the rack up",
}
"""Set-up changes (m) by name. They are parameters of the model, and zero as drawn."""


def check_set_up(given: dict[str, float], known: list[str]) -> None:
    """Refuse set-up changes that the suspension does not have."""
    for name in given:
        problem = f"there is no set-up change '{name}' in this suspension"
        check_known(name, known, problem, "changes", ("set_up", name))
