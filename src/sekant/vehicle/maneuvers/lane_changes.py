"""Double lane changes: a path through lanes between cones, followed by a driver who previews it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.courses.course import blended
from sekant.vehicle.drivers import follow_path, hold_speed
from sekant.vehicle.maneuvers.base import (
    DrivenManeuver,
    Floats,
    Lane,
    Maneuver,
    ManeuverContext,
    ManeuverMeasure,
    Stop,
    register,
)
from sekant.vehicle.quantities import Meters, MetersPerSecond, Seconds

RUN_UP = 30.0  # m before the first cones
RUN_OUT = 60.0  # m after the last ones
NEVER = 1e9  # m: end of a course that ends only by time
LEFT = 1.0  # m, distance from the path beyond which the car has left it
LONGEST = 1.5  # longest duration divided by that of the course at constant speed


class LaneChange(Maneuver):
    """Base of lane changes on a path through the centers of lanes."""

    vehicle_width: Meters = 1.8
    """width of the car's body: the width of the lanes depends on it, and the corners of the body must miss the
    cones"""

    def _points(self, car: Car) -> tuple[Floats, Floats]:
        """Points of the path, which follows the center of each lane and is straight before and after the lanes."""
        lanes = self.lanes(car)
        x, y = [lanes[0].start - 2 * RUN_UP, lanes[0].start - 0.5 * RUN_UP], [lanes[0].middle] * 2
        for lane in lanes:
            x += [lane.start, lane.end]
            y += [lane.middle, lane.middle]
        return np.array([*x, lanes[-1].end + RUN_OUT]), np.array([*y, lanes[-1].middle])

    def path(self, car: Car) -> tuple[Floats, Floats]:
        """Points of the path, which has continuous curvature between lanes."""
        x, y = self._points(car)
        xs, ys = [x[0]], [y[0]]
        for a, b, ya, yb in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True):
            s = np.linspace(0, 1, 13 if ya != yb else 3)[1:]
            xs += (a + (b - a) * s).tolist()
            ys += (ya + (yb - ya) * blended(s)).tolist()
        return np.array(xs), np.array(ys)

    @property
    def until(self) -> float:
        return LONGEST * (self._length + RUN_OUT) / self.speed

    @property
    def stop(self) -> Stop | None:
        return self._through(self._length + RUN_OUT)

    @property
    def watched(self) -> Stop:
        return self.stop or self._through(NEVER)

    def _through(self, end: float) -> Stop:
        return Stop(f"{end!r} - position.x", "the car has passed the course")

    @property
    def _length(self) -> float:
        raise NotImplementedError

    def commands(self, at: ManeuverContext) -> Commands:
        steered = follow_path(Commands(), *self.path(at.car), speed=self.speed, grip=at.grip)
        return hold_speed(steered, at.car, repr(self.speed), at.linear.mass)

    def path_error(self, run: DrivenManeuver) -> float:
        """The largest distance (m) of the center of mass from the path, in the y direction."""
        x, y = run["position"][:, 0], run["position"][:, 1]
        return float(np.abs(y - np.interp(x, *self.path(run.car))).max())

    def warnings(self, run: DrivenManeuver) -> list[str]:
        error = self.path_error(run)
        if error <= LEFT:
            return []
        return [
            f"the car was {error:.3g} m off the path, because it cannot follow it at {self.speed * 3.6:.0f} km/h; "
            "drive more slowly"
        ]

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        found = [
            ManeuverMeasure(
                "largest path error",
                self.path_error(run),
                "m",
                "distance of the center of mass from the path, in the y direction",
            ),
            ManeuverMeasure(
                "speed lost", float(run["speed"][0] - run["speed"][-1]), "m/s", "during the maneuver"
            ),
        ]
        room = self._room(run)
        if room is not None:
            found.append(
                ManeuverMeasure(
                    "least distance to cones", room, "m", "of the body's corners; negative: cones are hit"
                )
            )
        return found

    def _room(self, run: DrivenManeuver) -> float | None:
        lanes = [lane for lane in self.lanes(run.car) if lane.width > 0]
        if not lanes:
            return None
        ends = [axle_data(axle).x - run.car.chassis.com[0] for axle in run.car.axles.values()]
        yaw, p = run["angles"][:, 0], run["position"]
        least = np.inf
        for dx in (max(ends) + 0.8, min(ends) - 0.8):
            for dy in (-self.vehicle_width / 2, self.vehicle_width / 2):
                cx = p[:, 0] + dx * np.cos(yaw) - dy * np.sin(yaw)
                cy = p[:, 1] + dx * np.sin(yaw) + dy * np.cos(yaw)
                for lane in lanes:
                    inside = (cx >= lane.start) & (cx <= lane.end)
                    if inside.any():
                        least = min(least, float((lane.width / 2 - np.abs(cy[inside] - lane.middle)).min()))
        return least


@register
class DoubleLaneChange(LaneChange):
    """A lane change by `offset` and back, as in Hall's comparison (2 m at 80 km/h; the run takes 15 s).

    Hall specifies offset, speed and duration. The lengths are in a figure that is not available, so we chose them.
    """

    type: ClassVar[str] = "double-lane-change"
    summary: ClassVar[str] = "2 m to the side and back (Hall)"
    source: ClassVar[str] = "HALL, section 4.1.4; we chose the lengths"
    cites: ClassVar[tuple[str, ...]] = ("HALL",)

    offset: Meters = 2.0
    """distance between the two lanes, to the left"""
    start: Meters = 40.0
    """x at which the first lane change begins"""
    change: Meters = 45.0
    """length of each lane change"""
    straight: Meters = 35.0
    """length of the straight between the lane changes"""
    duration: Seconds = 15.0
    """duration of the run"""

    @property
    def until(self) -> float:
        return self.duration

    @property
    def stop(self) -> None:
        return None

    def lanes(self, car: Car) -> Sequence[Lane]:
        a = self.start
        b = a + self.change
        c = b + self.straight
        d = c + self.change
        return (Lane(0.0, a, 0.0, 0.0), Lane(b, c, self.offset, 0.0), Lane(d, d + 30.0, 0.0, 0.0))


@register
class SevereLaneChange(LaneChange):
    """Double lane change of ISO 3888-1: lanes of 15, 25 and 15 m, lane changes of 30 and 25 m, offset 3.5 m."""

    type: ClassVar[str] = "iso-3888-1"
    summary: ClassVar[str] = "severe double lane change, 3.5 m to the side"
    source: ClassVar[str] = "dimensions of ISO 3888-1 as given in open literature"
    cites: ClassVar[tuple[str, ...]] = ("ISO 3888-1", "Rill")

    @property
    def _length(self) -> float:
        return RUN_UP + 125.0

    def lanes(self, car: Car) -> Sequence[Lane]:
        w, a = self.vehicle_width, RUN_UP
        return (
            Lane(a, a + 15, 0.0, 1.1 * w + 0.25),
            Lane(a + 45, a + 70, 3.5, 1.2 * w + 0.25),
            Lane(a + 95, a + 110, 0.0, 1.3 * w + 0.25),
        )


@register
class ObstacleAvoidance(LaneChange):
    """ISO 3888-2 (moose test): lanes of 12, 11 and 12 m, lane changes of 13.5 and 12.5 m, 1 m between the edges of
    the lanes."""

    type: ClassVar[str] = "iso-3888-2"
    summary: ClassVar[str] = "obstacle avoidance"
    source: ClassVar[str] = "dimensions of ISO 3888-2 as given in open literature"
    cites: ClassVar[tuple[str, ...]] = ("ISO 3888-2",)

    speed: MetersPerSecond = 60 / 3.6
    """speed at the entry"""

    @property
    def _length(self) -> float:
        return RUN_UP + 61.0

    def lanes(self, car: Car) -> Sequence[Lane]:
        w, a = self.vehicle_width, RUN_UP
        first, second, third = 1.1 * w + 0.25, w + 1.0, max(1.3 * w + 0.25, 3.0)
        beside = first / 2 + 1.0 + second / 2
        # the third lane shares its left edge with the first one
        return (
            Lane(a, a + 12, 0.0, first),
            Lane(a + 25.5, a + 36.5, beside, second),
            Lane(a + 49, a + 61, first / 2 - third / 2, third),
        )
