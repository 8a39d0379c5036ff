"""The hard points of a suspension corner, from which a model is built.

Vehicle axes (ISO 8855): x forward, y to the left, z up. The origin may be anywhere on the center plane y = 0.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sekant.errors import ModelError, ModelErrors, suggest
from sekant.model.explain import read_as
from sekant.model.quantities import Description, NotNegative
from sekant.vehicle.hardpoints.components import (
    AxleLoadCase,
    AxleParts,
    BushingData,
    CurveData,
    RotationalStiffnessNumber,
    StopData,
    WheelData,
)
from sekant.vehicle.hardpoints.suspension import Suspension
from sekant.vehicle.quantities import (
    DampingNumber,
    InertiaNumbers,
    Kilograms,
    Meters,
    Newtons,
    PointNumbers,
    Radians,
    StiffnessNumber,
)

Vector = NDArray[np.float64]
Side = Literal["left", "right"]
BESIDE = 0.05  # m: points of one side may lie this far beyond the center plane


class SpringData(Description):
    """Spring and damper of the corner."""

    stiffness: StiffnessNumber = 0.0
    """force per change of length, along the axis of the spring"""
    damping: DampingNumber = 0.0
    """force per rate of change of the length"""
    preload: Newtons = 0.0
    """compressive force of the spring as drawn"""
    free_length: Meters | None = None
    """free length, instead of a preload"""
    on: str = ""
    """body that carries the lower end; the default depends on the layout"""
    curve: CurveData | None = None
    """compressive force as a function of the compression from the free length, in addition to the stiffness"""
    damper_curve: CurveData | None = None
    """tension as a function of the velocity of extension (positive in rebound), in addition to the damping"""

    @model_validator(mode="after")
    def _preload_or_length(self):
        if self.free_length is None and self.preload and not self.stiffness:
            raise ValueError(
                "a spring with a preload needs a stiffness; give one, or give free_length instead of preload"
            )
        if self.free_length is not None and self.preload:
            raise ValueError("give either preload or free_length, not both")
        return self


class HardPoints(Description):
    """A suspension corner given by its hard points. Numbers without a unit in `points` have the unit `unit`."""

    type: str
    """type of suspension: double_wishbone, mcpherson, five_link, push_rod, pull_rod, trailing_arm ..."""
    name: str = ""
    """name of the model; by default the type"""
    unit: Literal["m", "mm"] = "m"
    """unit of coordinates that are plain numbers, including points of axle parts; a coordinate such as 12 mm states
    its unit"""
    points: dict[str, PointNumbers] = Field(default_factory=dict)
    """[x, y, z] of the points of one side by name, as the type requires: x forward, y to the left, z up"""
    camber: Radians = 0.0
    """camber as drawn, positive if the top of the wheel leans outward; a point `axle_inner` takes precedence"""
    toe: Radians = 0.0
    """toe as drawn, positive for toe-in; a point `axle_inner` takes precedence"""
    masses: dict[str, NotNegative[Kilograms]] = Field(default_factory=dict)
    """masses of parts by name (upright, lower_arm, rack ...); the defaults depend on the type"""
    inertia: InertiaNumbers | None = None
    """inertia of upright and wheel together about the wheel's center, [Ixx, Iyy, Izz]"""
    spring: SpringData = SpringData()
    """spring and damper of one side"""
    push_rod_on: str = ""
    """body that carries the outer end of a push or pull rod: upright, lower_arm or upper_arm; by default the lower
    arm for `push_rod`, and the upper arm for `pull_rod` and `formula_student`"""
    tie_rod: int = 3
    """five_link: number of the link that steers the wheel"""
    wheel: WheelData = WheelData()
    """size, mass and inertia of wheel and tire"""
    bump_stop: StopData | None = None
    """stop that limits the compression of the spring"""
    rebound_stop: StopData | None = None
    """stop that limits the extension of the spring"""
    bushings: dict[str, BushingData] = Field(default_factory=dict)
    """elastic mounts in place of the joints at these points"""
    compliant: bool = True
    """whether bushings are elastic; otherwise rigid joints take their place"""
    set_up: dict[str, Meters] = Field(default_factory=dict)
    """set-up changes from the drawing by name: ``camber_shim``, or ``left.camber_shim`` for one side"""
    axle: AxleParts | None = None
    """parts that connect the two sides; a file with this key describes an axle"""
    beam_rate: RotationalStiffnessNumber = 0.0
    """twist_beam: torque per angle of twist of the beam"""
    load_cases: dict[str, AxleLoadCase] = Field(default_factory=dict)
    """load cases by name, for which the loads on members are computed"""
    load: Newtons = 0.0
    """vertical force of the road on the wheel at the contact point"""
    suspension: Suspension = Suspension()
    """further data for curves"""

    @model_validator(mode="before")
    @classmethod
    def _in_unit(cls, data: Any):
        """Convert plain numbers of points in millimeters to meters; strings contain their unit."""
        if isinstance(data, dict) and data.get("unit") == "mm" and isinstance(data.get("points"), dict):
            points = {name: _scaled(p) for name, p in data["points"].items()}
            data = {**data, "points": points, "unit": "m"}
            if isinstance(data.get("axle"), dict):
                data["axle"] = {key: _scaled_points(part) for key, part in data["axle"].items()}
        return data

    @model_validator(mode="after")
    def _one_rack(self):
        """Use the rack travel per turn of the axle's steering for the curves, too."""
        turn = self.axle.steering.rack_per_turn if self.axle else None
        known = self.suspension.rack_per_turn
        if turn is not None and known not in (None, turn):
            both = f"{known:g} m and {turn:g} m"
            raise ValueError(
                f"axle.steering and suspension have different values of rack_per_turn ({both}); remove one of them"
            )
        if known is None and turn is not None:
            with_ratio = self.suspension.model_copy(update={"rack_per_turn": turn})
            object.__setattr__(self, "suspension", with_ratio)
        return self

    @model_validator(mode="after")
    def _contact_of_wheel(self):
        """Allow the wheel radius or a tire size to replace the contact point."""
        touch = self.touching()
        if touch is None:
            return self
        if "contact" in self.points:
            if self.wheel.radius is not None:
                raise ValueError("give either wheel.radius or the point 'contact', not both")
            return self
        self.points["contact"] = touch
        return self

    def touching(self) -> tuple[float, float, float] | None:
        """The contact point (3,) m that follows from the radius of the wheel; None without a radius."""
        radius = self.wheel.given_radius
        if radius is None or "wheel_center" not in self.points:
            return None
        if "axle_inner" in self.points:
            e = self.point("wheel_center") - self.point("axle_inner")
            e = e / np.linalg.norm(e)
        else:
            e = self.spin_axis()
        down = np.array([0.0, 0.0, 1.0]) - e * e[2]
        x, y, z = self.point("wheel_center") - radius * down / np.linalg.norm(down)
        return float(x), float(y), float(z)

    @property
    def contact_follows(self) -> bool:
        """Whether the contact point follows from the wheel's center, axis and radius."""
        touch = self.touching()
        return touch is not None and bool(np.allclose(touch, self.point("contact"), atol=1e-9))

    def point(self, name: str) -> Vector:
        """A hard point (3,) m."""
        return np.array(self.points[name])

    @property
    def side(self) -> Side:
        return "left" if self.point("wheel_center")[1] > 0 else "right"

    def spin_axis(self) -> Vector:
        """Unit vector (3,) of the spin axis from `camber` and `toe`, pointing to the left."""
        outward = 1.0 if self.side == "left" else -1.0
        camber, toe = self.camber, self.toe
        out = [np.cos(camber) * np.sin(toe), outward * np.cos(camber) * np.cos(toe), -np.sin(camber)]
        return outward * np.array(out)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the description to a YAML file, points in mm; `sekant.vehicle.load_axle` reads it back."""
        from sekant.vehicle.hardpoints.writing import save

        return save(self, path)

    def mirrored(self) -> HardPoints:
        """The corner on the other side of the vehicle."""
        points = {name: (x, -y, z) for name, (x, y, z) in self.points.items()}
        return self.model_copy(update={"points": points})

    @model_validator(mode="after")
    def _sizes(self):
        if "wheel_center" in self.points and "contact" in self.points:
            radius = float(np.linalg.norm(self.point("wheel_center") - self.point("contact")))
            if not 0.005 < radius < 5.0:
                likely = "millimeters, write unit: mm" if radius > 1.0 else "meters, write unit: m"
                raise ValueError(
                    f"points: the wheel center is {radius:g} m from the contact point, which cannot be the radius "
                    f"of a wheel; if the points are in {likely}"
                )
        return self

    def on(self, side: Side | None) -> HardPoints:
        """The corner on the given side: its mirror image if it is drawn on the other side."""
        if side not in (None, "left", "right"):
            raise ModelError(f"'{side}' is not a side of a vehicle; use 'left' or 'right'")
        return self if side in (None, self.side) else self.mirrored()


SMALLEST, LARGEST_SIZE = 0.01, 20.0  # m across all points of a side: from a model car to a haul truck
LARGEST = 1e300  # later checks refuse larger numbers


def _scaled(p: Any) -> Any:
    if not isinstance(p, (list, tuple)):
        return p
    return [
        x / 1000 if isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < LARGEST else x
        for x in p
    ]


def _scaled_points(part: Any) -> Any:
    """Points of an anti-roll bar or heave spring, converted from millimeters to meters."""
    if not isinstance(part, dict):
        return part
    return {key: _scaled(value) if isinstance(value, (list, tuple)) else value for key, value in part.items()}


GivenPoints = HardPoints | dict[str, Any] | str | PathLike[str]
"""Hard points as arguments of functions: a description, its keys, or a file."""


def hard_points(data: GivenPoints) -> HardPoints:
    """`data`, or the contents of the file it names, as `HardPoints`; raises `ModelError` with the location of an
    error."""
    if isinstance(data, (str, PathLike)):
        from sekant.vehicle.hardpoints.files import load_axle

        return load_axle(data)
    return data if isinstance(data, HardPoints) else read_as(HardPoints, data)


def _wrong_unit(given: HardPoints) -> list[ModelError]:
    """An error if the points are too far apart or too close for a suspension, because their unit is wrong."""
    p = np.array([given.point(name) for name in given.points])
    size = float(np.ptp(p, axis=0).max())
    if SMALLEST <= size <= LARGEST_SIZE:
        return []
    likely = "mm" if size > LARGEST_SIZE else "m"
    return [
        ModelError(
            f"the points span {size:.4g} m, which cannot be the size of a suspension; if their coordinates are in "
            f"{likely}, write unit: {likely}",
            path=("unit",),
        )
    ]


def _astray(given: HardPoints, names: list[str]) -> list[ModelError]:
    """Errors of points on the other side of the vehicle than the wheel; if most points are there, errors of the
    points of the wheel."""
    outward = np.sign(given.point("wheel_center")[1])
    sided = [name for name in names if not name.startswith(("panhard", "watt", "drag_link", "pitman"))]
    far = [name for name in sided if given.point(name)[1] * outward < -BESIDE]
    near = [name for name in sided if given.point(name)[1] * outward > BESIDE]
    wheel = [name for name in near if name in ("wheel_center", "contact")]
    few = not wheel or len(far) <= len(near) - len(wheel)
    blamed, others = (far, "wheel_center") if few else (wheel, "most points")
    return [
        ModelError(
            f"lies {abs(given.point(name)[1]):g} m from the center plane, on the side of the vehicle opposite to "
            f"{others}; give the points of only one side, and check the sign of y",
            path=("points", name),
        )
        for name in blamed
        if name != "contact" or not given.contact_follows
    ]


def check_points(given: HardPoints, required: dict[str, str], optional: dict[str, str]) -> None:
    """Refuse missing, unknown and coinciding points."""
    found: list[ModelError] = []
    known = {**required, **optional}
    for name, meaning in required.items():
        if name not in given.points:
            found.append(
                ModelError(f"'{name}' is missing ({meaning}); a {given.type} requires it", path=("points",))
            )
    for name in given.points:
        if name not in known:
            hint = suggest(name, list(known), "points")
            found.append(ModelError(f"a {given.type} has no point '{name}'; {hint}", path=("points", name)))
    if "wheel_center" in given.points:
        found += _astray(given, [name for name in given.points if name in known])
    if not found:
        found += _wrong_unit(given)
    if not found and "contact" not in given.points:
        found.append(
            ModelError(
                "'contact' is missing (the point at which the tire meets the road); give the point 'contact', "
                "wheel.tire or wheel.radius",
                path=("points",),
            )
        )
    if not found and abs(given.point("wheel_center")[1]) < 1e-6:
        found.append(
            ModelError(
                "lies on the center plane of the vehicle (y = 0); give the points of the left or right side",
                path=("points", "wheel_center"),
            )
        )
    if found:
        raise found[0] if len(found) == 1 else ModelErrors(found)


def apart(given: HardPoints, *pairs: tuple[str, str]) -> None:
    """Refuse pairs of points that coincide although they are the ends of one part."""
    for a, b in pairs:
        if np.linalg.norm(given.point(a) - given.point(b)) < 1e-6:
            raise ModelError(
                f"coincides with '{a}', but the two points are different points of one part; move them apart",
                path=("points", b),
            )


def not_collinear(given: HardPoints, a: str, b: str, c: str, why: str) -> None:
    """Refuse three points on one line."""
    apart(given, (a, b), (b, c), (a, c))
    p, q, r = given.point(a), given.point(b), given.point(c)
    area = np.linalg.norm(np.cross(q - p, r - p))
    longest = max(np.linalg.norm(q - p), np.linalg.norm(r - p), np.linalg.norm(r - q))
    if area < 1e-6 * longest**2:
        raise ModelError(f"'{a}', '{b}' and '{c}' lie on one line; {why}", path=("points", c))
