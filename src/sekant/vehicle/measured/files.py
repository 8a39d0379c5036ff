"""Files of axles with measured curves: YAML with `suspension: {curves: rig.csv, ...}`, and the files that it
names."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, SekantError
from sekant.io.named_files import existing_file
from sekant.io.source import KeyPath, Places, located, read_source
from sekant.model.explain import read_as
from sekant.model.model import Model
from sekant.model.quantities import Description, NotNegative, Positive
from sekant.vehicle.hardpoints.components import WheelData
from sekant.vehicle.hardpoints.suspension import Suspension
from sekant.vehicle.kc.roles import AxleRoles
from sekant.vehicle.measured.axle import Spinning, measured_axle, measured_of
from sekant.vehicle.measured.description import MeasuredSuspension
from sekant.vehicle.measured.readings import MeasuredWheels
from sekant.vehicle.quantities import Meters, Newtons, StiffnessNumber

INERTIA = (0.8, 1.2, 0.8)  # kg m^2, of a wheel
TABLES = (
    ("spring", "wheel_rate"),
    ("spring", "motion_ratio"),
    ("damper", "damping"),
    ("damper", "motion_ratio"),
)


class MeasuredAxle(Description):
    """An axle with measured curves, alone on a rig or as a part of a car that names its file."""

    name: str = "axle"
    """name of the axle"""
    description: str = ""
    """description in one sentence"""
    suspension: MeasuredSuspension
    """curves, springs and masses of the suspension"""
    wheel: WheelData = WheelData()
    """radius, mass and inertia of one wheel; in a car, the values of the car apply"""
    anti_roll_bar: NotNegative[StiffnessNumber] = 0.0
    """force at each wheel per difference between the travels of the two wheels"""
    load: NotNegative[Newtons] = 0.0
    """load of one wheel at the design position, which springs without a preload carry"""
    wheelbase: Positive[Meters] | None = None
    """distance between the axles, for anti-dive and related quantities"""
    cg_height: Positive[Meters] | None = None
    """height of the vehicle's center of mass above the road"""

    @property
    def radius(self) -> float:
        found = self.suspension.radius or self.wheel.given_radius
        if found is None:
            raise ModelError(
                "the radius of the wheel is missing; write wheel: {tire: 205/55 R16} or wheel: {radius: 316 mm}",
                path=("wheel",),
            )
        return found

    @property
    def spinning(self) -> Spinning:
        return Spinning(self.wheel.mass or 20.0, self.wheel.inertia or INERTIA, self.radius)

    def measured(self) -> MeasuredWheels:
        """The contents of the files of the axle."""
        return measured_of(self.suspension, self.radius)[0]

    def model(self, *, compliant: bool = True) -> Model:
        """The model of the axle alone, with a free rack."""
        made = measured_axle(
            self.suspension,
            self.spinning,
            steered=False,
            anti_roll_bar=self.anti_roll_bar,
            load=self.load,
            compliant=compliant,
        )
        return made.changed(name=self.name)

    def roles(self, model: Model) -> AxleRoles:
        """The roles of items in the model of the axle."""
        travel = measured_of(self.suspension, self.radius)[0].poses["left"].travel
        given = Suspension(
            axle=self.suspension.axle or "front",
            wheelbase=self.wheelbase,
            cg_height=self.cg_height,
            travel=(float(travel[0]), float(travel[-1])),
        )
        return AxleRoles.of(model, given)


def is_measured_file(path: str | PathLike[str]) -> bool:
    """Whether a file describes an axle by measured curves."""
    if Path(path).suffix.lower() not in (".yaml", ".yml") or not Path(path).is_file():
        return False
    return describes_curves(read_source(Path(path)).data)


def on_measured_curves(path: str | PathLike[str]) -> bool:
    """Whether a file describes an axle with measured curves, or a car with such an axle."""
    if Path(path).suffix.lower() not in (".yaml", ".yml") or not Path(path).is_file():
        return False
    data = read_source(Path(path)).data
    axles = data.get("axles") if "vehicle" in data else None
    if not isinstance(axles, dict):
        return describes_curves(data)
    for axle in axles.values():
        own = axle.get("suspension") if isinstance(axle, dict) else None
        if describes_curves(axle) or (isinstance(own, str) and is_measured_file(Path(path).parent / own)):
            return True
    return False


def describes_curves(data: Any) -> bool:
    """Whether the contents of a file describe an axle with measured curves."""
    own = data.get("suspension") if isinstance(data, dict) else None
    return isinstance(own, dict) and "curves" in own


def load_measured_axle(path: str | PathLike[str]) -> MeasuredAxle:
    """The axle that a file describes; errors name file and line."""
    place = Path(path)
    source = read_source(place)
    try:
        locate_measured(source.data.get("suspension"), place.parent, source.places, ("suspension",))
        found = read_as(MeasuredAxle, source.data)
        found.model()  # reports errors in files that it names with their lines
        return found
    except SekantError as error:
        raise located(_below(error, "suspension"), source.places, str(path)) from None


def _below(error: SekantError, key: str) -> SekantError:
    """Let an error of a field of the suspension refer to the location of the field in the file."""
    path = getattr(error, "path", ())
    if path and path[0] in MeasuredSuspension.model_fields:
        error.path = (key, *path)  # type: ignore[attr-defined]
    return error


def locate_measured(data: Any, folder: Path, places: Places, path: KeyPath) -> None:
    """Replace the file names of a suspension with measured curves by paths that begin with the folder of its file."""
    if not isinstance(data, dict) or "curves" not in data:
        return
    for key in ("curves", "compliance"):
        if isinstance(data.get(key), str):
            data[key] = existing_file(data[key], folder, places, (*path, key))
        elif isinstance(data.get(key), dict):
            for side, name in data[key].items():
                if isinstance(name, str):
                    data[key][side] = existing_file(name, folder, places, (*path, key, side))
    for part, key in TABLES:
        own = data.get(part)
        if isinstance(own, dict) and isinstance(own.get(key), str) and own[key].lower().endswith(".csv"):
            own[key] = existing_file(own[key], folder, places, (*path, part, key))
