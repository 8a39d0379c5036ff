"""Base class of maneuvers: inputs, duration and measures; and the registry of maneuvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, suggest
from sekant.model.explain import read_as
from sekant.model.forces.base import Force
from sekant.model.model import Model
from sekant.model.quantities import Description, Positive
from sekant.model.registry import Registry
from sekant.results import Result
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.grip import Grip, grip_of
from sekant.vehicle.car.single_track import SingleTrack
from sekant.vehicle.quantities import MetersPerSecond

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ManeuverMeasure:
    """A measure of a maneuver: its name, value, unit and definition."""

    name: str
    value: float
    unit: str
    definition: str


@dataclass(frozen=True)
class Stop:
    """Ends a run where the expression `when` falls through zero; `message` describes the event."""

    when: str
    message: str


@dataclass(frozen=True, eq=False)
class Diagram:
    """Curves over a quantity other than time: labels with units, x (n,), curves (n,) by name, and a fitted
    line through two points (x (2,), y (2,)), if there is one."""

    across: str
    along: str
    x: Floats
    curves: dict[str, Floats]
    line: tuple[Floats, Floats] | None = None
    logarithmic: bool = False
    """whether the horizontal axis is logarithmic"""


OVER = "over"
"""The event that ends a run when its maneuver is over."""
OVERTURNED = Stop("cos(angles.roll)*cos(angles.pitch) - 0.5", "the car has turned over")
"""An event of every run: the chassis leans by more than 60 degrees, where tire models are no longer valid."""


@dataclass(frozen=True, eq=False)
class DrivenManeuver:
    """A completed run of a maneuver."""

    car: Car
    maneuver: Maneuver
    model: Model
    result: Result
    linear: SingleTrack
    label: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def time(self) -> Floats:
        """Times (n,) s of the result."""
        return self.result.time

    def __getitem__(self, name: str) -> Floats:
        return self.result[name]

    @cached_property
    def lateral_acceleration(self) -> Floats:
        """Lateral acceleration (n,) m/s^2 of the center of mass in intermediate axes: v_y' + r V."""
        rate = np.gradient(self["lateral_velocity"], self.time, edge_order=2)
        return rate + self["yaw_rate"] * self["speed"]

    @cached_property
    def longitudinal_acceleration(self) -> Floats:
        """Longitudinal acceleration (n,) m/s^2: V' - r v_y."""
        rate = np.gradient(self["speed"], self.time, edge_order=2)
        return rate - self["yaw_rate"] * self["lateral_velocity"]

    @property
    def complete(self) -> bool:
        """Whether the maneuver was driven to its end, so that its measures are meaningful."""
        return self.result.status == "finished" or self.result.stats.get("stopped_by") == OVER

    @cached_property
    def measures(self) -> list[ManeuverMeasure]:
        """Measures of the maneuver, if it was driven to its end, and those of every run."""
        own = self.maneuver.measures(self) if self.complete else []
        return [*own, *(common_measures(self) if self.maneuver.travels else [])]


@dataclass(frozen=True)
class Lane:
    """A piece of a course: between x = `start` and `end`, the middle at `middle`, `width` wide; m."""

    start: float
    end: float
    middle: float
    width: float


@dataclass(frozen=True)
class ManeuverContext:
    """Data of the car for a maneuver: the description, its single-track model, its grip."""

    car: Car
    linear: SingleTrack
    loads: dict[str, float]
    """load (N) of one wheel of each axle at rest"""

    @property
    def grip(self) -> Grip:
        return grip_of(self.car, self.loads, self.linear)


class Maneuver(Description):
    """Inputs of a driver over time, or a path to follow, and measures of the run."""

    type: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str] = ""
    """which part comes from which source"""
    cites: ClassVar[tuple[str, ...]] = ()
    """short names in `sources` of the definitions of maneuver and measures"""

    travels: ClassVar[bool] = True
    """whether the car moves along the road, so that the common measures apply"""
    to_the_limit: ClassVar[bool] = False
    """whether the car is expected to exceed the limit of its grip"""
    shown: ClassVar[tuple[str, ...]] = ("yaw_rate", "steering_wheel")
    """outputs that players plot beside the motion"""

    speed: Positive[MetersPerSecond] = 80 / 3.6
    """speed at the start, which the driver maintains unless the maneuver changes it"""

    @property
    def pace(self) -> str:
        """The speed in titles; empty from rest."""
        return f"at {3.6 * self.speed:.4g} km/h" if self.speed else ""

    @property
    def until(self) -> float:
        """Duration, s."""
        raise NotImplementedError

    def commands(self, at: ManeuverContext) -> Commands:
        """The driver's commands."""
        raise NotImplementedError

    def car(self, given: Car) -> Car:
        """The car as driven, e.g. on another road."""
        return given

    def forces(self, at: ManeuverContext) -> Mapping[str, Force]:
        """Additional forces on the car, by name."""
        return {}

    @property
    def stop(self) -> Stop | None:
        """The end of the maneuver, if it may be over before `until`."""
        return None

    @property
    def watched(self) -> Stop | None:
        """The event that ends a run.

        In a family of maneuvers, those that end only by time get an event that never happens, so that a car
        has the same structure in all of them.
        """
        return self.stop

    def lanes(self, car: Car) -> Sequence[Lane]:
        """Lanes along x between cones, if there are any."""
        return ()

    def edges(self, car: Car) -> Sequence[Floats]:
        """Lines (n, 2) m of cones; a single point is a cone."""
        return [
            np.array([[x, lane.middle + side * lane.width / 2] for x in (lane.start, lane.end)])
            for lane in self.lanes(car)
            for side in (-1, 1)
            if lane.width > 0
        ]

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        return []

    def warnings(self, run: DrivenManeuver) -> list[str]:
        """Warnings about the measures of a run that reached its end."""
        return []

    def measured(self) -> dict[str, tuple[Floats, Floats]]:
        """Times (n,) s and values (n,) SI of measured channels, by name; reports draw them over the run."""
        return {}

    def diagram(self, run: DrivenManeuver) -> Diagram | None:
        """Plots of a report in addition to curves versus time."""
        return None


MANEUVERS: Registry[Maneuver] = Registry("maneuver", package="sekant.vehicle.maneuvers")
register = MANEUVERS.register


def maneuver(kind: str, **options: Any) -> Maneuver:
    """A maneuver by its name, with options as texts with units or numbers in SI."""
    if kind not in MANEUVERS:
        raise ModelError(f"unknown maneuver '{kind}'; {suggest(kind, list(MANEUVERS), 'maneuvers')}")
    return read_as(MANEUVERS[kind], options, (kind,))


def common_measures(run: DrivenManeuver) -> list[ManeuverMeasure]:
    """Measures of every run."""
    ay, loads = (
        run.lateral_acceleration,
        [run[f"{name}.{side}.tire.load"] for name in run.car.axles for side in ("left", "right")],
    )
    least = min(float(load.min()) for load in loads)
    return [
        ManeuverMeasure(
            "largest lateral acceleration", _most(ay), "m/s^2", "of the center of mass, |v_y' + r V|"
        ),
        ManeuverMeasure(
            "largest sideslip",
            np.degrees(_most(run["sideslip"])),
            "deg",
            "of the center of mass, |atan(v_y / V)|",
        ),
        ManeuverMeasure(
            "largest yaw rate",
            np.degrees(_most(run["yaw_rate"])),
            "deg/s",
            "of the chassis about the vertical",
        ),
        ManeuverMeasure(
            "largest roll angle",
            np.degrees(_most(run["angles"][:, 2])),
            "deg",
            "of the chassis relative to the horizontal",
        ),
        ManeuverMeasure(
            "largest steering wheel angle",
            np.degrees(_most(run["steering_wheel"])),
            "deg",
            "that the driver applies",
        ),
        ManeuverMeasure("least wheel load", least, "N", "of all wheels; 0: a wheel was off the road"),
    ]


def _most(x: Floats) -> float:
    return float(np.max(np.abs(x)))


def first_time(t: Floats, y: Floats, level: float, start: float = 0.0) -> float:
    """The first time after `start` at which y rises through `level`, by linear interpolation; NaN if it never
    does."""
    inside = t >= start
    t, y = t[inside], y[inside]
    above = np.flatnonzero(y >= level)
    if not above.size:
        return float("nan")
    k = int(above[0])
    if k == 0:
        return float(t[0])
    return float(t[k - 1] + (t[k] - t[k - 1]) * (level - y[k - 1]) / (y[k] - y[k - 1]))


def side_by_side(runs: Sequence[DrivenManeuver]) -> list[tuple[ManeuverMeasure, list[float]]]:
    """Every measure of several runs of one maneuver, with the values of all runs; NaN where a run has none."""
    found: dict[str, ManeuverMeasure] = {}
    for run in sorted(runs, key=lambda run: -len(run.measures)):  # complete runs determine the order
        found |= {m.name: m for m in run.measures if m.name not in found}
    values = [{m.name: m.value for m in run.measures} for run in runs]
    return [(m, [own.get(name, float("nan")) for own in values]) for name, m in found.items()]
