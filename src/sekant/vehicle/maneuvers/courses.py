"""Events on a course: skidpad, slalom, constant radius, autocross. The driver drives as fast as the grip allows."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from sekant.errors import ModelError
from sekant.model.quantities import NotNegative, Positive
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.courses.course import Course, blended, course_of_pieces, course_through
from sekant.vehicle.courses.speed_profile import (
    FASTEST,
    SpeedProfile,
    car_as_point,
    fastest_speed,
    speed_profile,
)
from sekant.vehicle.courses.track_files import read_track
from sekant.vehicle.drivers.course import ERROR, PROGRESS, RUN_OUT, follow_course
from sekant.vehicle.maneuvers.base import (
    DrivenManeuver,
    Floats,
    Maneuver,
    ManeuverContext,
    ManeuverMeasure,
    Stop,
    first_time,
    register,
)
from sekant.vehicle.maneuvers.grip_use import grip_measures
from sekant.vehicle.quantities import GRAVITY, Meters, MetersPerSecond, Plain
from sekant.vehicle.roads.along_course import RoadAlongCourse

SLOWEST = 2.0  # m/s: the time limit stops a slower run
LEFT = 1.0  # m, distance from the course beyond which the car has left it
STANDS = 0.3  # m/s, speed below which the car has stopped
TRANSITION = 0.3  # s before and after a curve at constant speed
SHORT = (
    (30.0, 0.0, 0.0),
    (8.0, 0.0, 1 / 14),
    (14 * np.pi - 8.0, 1 / 14, 1 / 14),
    (8.0, 1 / 14, 0.0),
    (20.0, 0.0, 0.0),
    (8.0, 0.0, -1 / 20),
    (16.0, -1 / 20, -1 / 20),
    (16.0, -1 / 20, 1 / 20),
    (16.0, 1 / 20, 1 / 20),
    (8.0, 1 / 20, 0.0),
    (25.0, 0.0, 0.0),
)
"""Pieces of the default course: length (m), and curvature (1/m) at the start and at the end."""


class CourseManeuver(Maneuver):
    """Base of events on a course, which the car drives from `speed` as fast as a fraction of the grip allows."""

    shown: ClassVar[tuple[str, ...]] = ("speed", "steering_wheel")

    speed: NotNegative[MetersPerSecond] = 0.0
    """speed at the start; with 0, the car starts from rest"""
    grip: Positive[Plain] = 0.85
    """fraction of the tires' grip that the driver uses, at most 1"""
    fastest: Positive[MetersPerSecond] = FASTEST
    """speed limit of the driver"""

    def course(self) -> Course:
        """The line that the driver follows, from the origin along x."""
        raise NotImplementedError

    @property
    def pace(self) -> str:
        return f"starting at {3.6 * self.speed:.4g} km/h" if self.speed else ""

    @property
    def rests(self) -> bool:
        """Whether the car stops at the end."""
        return False

    @property
    def until(self) -> float:
        return 10.0 + self.course().length / SLOWEST

    @property
    def stop(self) -> Stop:
        length = self.course().length
        if self.rests:
            return Stop(
                f"max(speed - {STANDS!r}, {length / 2!r} - {PROGRESS})", "the car has stopped at the end"
            )
        return Stop(f"{length!r} - {PROGRESS}", "the car is at the end of the course")

    def car(self, given: Car) -> Car:
        """The car on the slopes and banks of the course, if it has any."""
        course = self.course()
        if course.level:
            return given
        return on_course(given, course.with_run_out(*RUN_OUT), PROGRESS)

    def edges(self, car: Car) -> list[Floats]:
        course = self.course()
        found = []
        for side, width in ((1.0, course.left), (-1.0, course.right)):
            if np.all(np.isfinite(width)):
                across = np.column_stack([-np.sin(course.heading), np.cos(course.heading)])
                found.append(np.column_stack([course.x, course.y]) + side * width[:, None] * across)
        return found

    def profile(self, at: ManeuverContext) -> SpeedProfile:
        """The speed along the course."""
        mass = car_as_point(at.car, at.loads, at.linear)
        end = 0.0 if self.rests else None
        return speed_profile(
            self.course(),
            mass,
            share=self.grip,
            start=self.speed,
            end=end,
            most=self.fastest,
            before=_before(at.car),
            transition=TRANSITION,
        )

    def commands(self, at: ManeuverContext) -> Commands:
        profile = self.profile(at)
        return follow_course(
            Commands(),
            self.course(),
            profile,
            car=at.car,
            linear=at.linear,
            loads=at.loads,
            grip=at.grip,
        )

    def time_at(self, run: DrivenManeuver, s: float) -> float:
        """The time at which the car's center of mass is at the arc length s (m) of the course."""
        return first_time(run.time, run[PROGRESS], s)

    def warnings(self, run: DrivenManeuver) -> list[str]:
        error = float(np.abs(run[ERROR]).max())
        if error <= LEFT:
            return []
        k = int(np.argmax(np.abs(run[ERROR])))
        return [
            f"the car was {error:.3g} m off the course at {run[PROGRESS][k]:.4g} m after the start; use less grip, "
            f"such as grip: {0.9 * self.grip:.2g}"
        ]

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        ax, ay = run.longitudinal_acceleration, run.lateral_acceleration
        return [
            *self.times(run),
            ManeuverMeasure(
                "mean speed", _mean_speed(run), "m/s", "length of the driven course divided by its time"
            ),
            ManeuverMeasure(
                "largest cornering", _high(np.abs(ay)) / GRAVITY, "1", "|a_y| / g, 99th percentile"
            ),
            ManeuverMeasure("largest acceleration", _high(ax) / GRAVITY, "1", "a_x / g, 99th percentile"),
            ManeuverMeasure("largest braking", _high(-ax) / GRAVITY, "1", "-a_x / g, 99th percentile"),
            ManeuverMeasure(
                "largest course error",
                float(np.abs(run[ERROR]).max()),
                "m",
                "distance of the center of mass from the course",
            ),
            *grip_measures(run),
        ]

    def times(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        start = self.time_at(run, 0.0)
        return [
            ManeuverMeasure(
                "time", float(run.time[-1]) - start, "s", "from the start of the course to its end"
            )
        ]


def on_course(given: Car, run: Course, place: str) -> Car:
    """The car on the slopes and banks of the course `run`; `place` is its arc length as an expression of PROGRESS."""
    rows = (run.x, run.y, run.heading, run.height, np.tan(run.bank))
    road = RoadAlongCourse(
        place=place,
        s=tuple(run.s.tolist()),
        rows=tuple(tuple(row.tolist()) for row in rows),
        friction=given.road.friction,
        patches=given.road.patches,
    )
    return given.model_copy(update={"road": road})


def _before(car: Car) -> float:
    """Distance (m) of the center of mass before the start of the course, at the start of the run."""
    return max(0.0, -float(car.chassis.com[0]))


def _high(row: np.ndarray) -> float:
    return float(np.percentile(row, 99))


def _mean_speed(run: DrivenManeuver) -> float:
    return float((run[PROGRESS][-1] - run[PROGRESS][0]) / (run.time[-1] - run.time[0]))


@register
class Skidpad(CourseManeuver):
    """Figure of eight: two circles to the right and two to the left, of which the second ones are timed.

    Formula Student Rules 2024, D 4: inner diameter 15.25 m, outer 21.25 m, centers 18.25 m apart, lanes 3 m wide.
    The driver follows the middle of the lane, 9.125 m from the centers, with clothoids of length `blend` into and
    out of each circle.
    """

    type: ClassVar[str] = "skidpad"
    summary: ClassVar[str] = "Formula Student figure of eight: two circles to the right, two to the left"
    source: ClassVar[str] = "Formula Student Rules 2024, D 4: dimensions; mean of the second circles' times"
    cites: ClassVar[tuple[str, ...]] = ("FSG",)

    inner: Positive[Meters] = 15.25
    """diameter of the inner circles of cones"""
    outer: Positive[Meters] = 21.25
    """diameter of the outer circles of cones"""
    blend: Positive[Meters] = 2.0
    """length of the transition to the curvature of a circle"""
    approach: Positive[Meters] = 15.0
    """length of the straights before and after the circles"""

    @property
    def radius(self) -> float:
        """Radius of the middle of the lane, m."""
        return (self.inner + self.outer) / 4

    def course(self) -> Course:
        k, b = 1 / self.radius, self.blend
        width = (self.outer - self.inner) / 2
        # two circles, shortened by the clothoids, so that both directions cross at the same point
        arc = 4 * np.pi * self.radius - 1.5 * b
        pieces = [
            (self.approach - b / 2, 0.0, 0.0),
            (b, 0.0, -k),
            (arc, -k, -k),
            (2 * b, -k, k),
            (arc, k, k),
            (b, k, 0.0),
            (self.approach - b / 2, 0.0, 0.0),
        ]
        return course_of_pieces(pieces, width=width)

    def edges(self, car: Car) -> list[Floats]:
        """Both circles of cones on each side, open where the lanes cross."""
        angle, found = np.linspace(0.0, 2 * np.pi, 121), []
        for side in (-1.0, 1.0):
            for diameter in (self.inner, self.outer):
                round_ = np.column_stack([np.cos(angle), np.sin(angle)]) * diameter / 2
                line = round_ + np.array([self.approach, side * self.radius])
                other = np.hypot(line[:, 0] - self.approach, line[:, 1] + side * self.radius)
                closed = (other >= self.outer / 2) & (np.abs(line[:, 1]) > (self.outer - self.inner) / 4)
                keep = closed if diameter == self.outer else np.ones(angle.size, bool)
                ends = np.flatnonzero(np.diff(keep.astype(int))) + 1
                found += [
                    part for part, k in zip(np.split(line, ends), np.split(keep, ends), strict=True) if k[0]
                ]
        return found

    def laps(self) -> list[tuple[float, float]]:
        """Arc lengths (m) of the start and end of the timed circles: at the crossing."""
        a, once = self.approach, 2 * np.pi * self.radius
        return [(a + once, a + 2 * once), (a + 3 * once, a + 4 * once)]

    def times(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        right, left = (self.time_at(run, b) - self.time_at(run, a) for a, b in self.laps())
        return [
            ManeuverMeasure(
                "skidpad time",
                (left + right) / 2,
                "s",
                "mean time of the second laps to the right and to the left",
            ),
            ManeuverMeasure("time to the right", right, "s", "of the second lap to the right"),
            ManeuverMeasure("time to the left", left, "s", "of the second lap to the left"),
        ]


@register
class Slalom(CourseManeuver):
    """A slalom through cones in a line, from `speed` and as fast as the grip allows. The path is a sine around the
    cones."""

    type: ClassVar[str] = "slalom"
    summary: ClassVar[str] = "cones in a line, passed alternately on the left and on the right"
    source: ClassVar[str] = (
        "customary at motor sport events: equal distances, time from the first to the last cone"
    )
    cites: ClassVar[tuple[str, ...]] = ("Milliken",)

    speed: NotNegative[MetersPerSecond] = 40 / 3.6
    """speed at the start"""
    grip: Positive[Plain] = 0.7
    """fraction of the tires' grip that the driver uses at the cones"""
    cones: int = 6
    """number of cones"""
    distance: Positive[Meters] = 18.0
    """distance between two cones"""
    offset: Positive[Meters] = 1.4
    """distance of the path from the cones that it passes"""
    approach: Positive[Meters] = 30.0
    """length of the straights before and after the cones"""

    def course(self) -> Course:
        if self.cones < 2:
            raise ModelError(f"a slalom needs at least two cones (got {self.cones})")
        a, d = self.approach, self.distance
        length = (self.cones - 1) * d
        x = np.arange(0.0, 2 * a + length + 0.5, 1.0)
        u = x - a
        fade = blended(np.minimum(u + d, length + d - u) / d)
        return course_through(
            np.column_stack([x, self.offset * np.cos(np.pi * u / d) * fade])
        ).moved_to_start()

    def edges(self, car: Car) -> list[Floats]:
        return [np.array([[self.approach + k * self.distance, 0.0]]) for k in range(self.cones)]

    def profile(self, at: ManeuverContext) -> SpeedProfile:
        """A constant speed between the cones, because braking between them would only disturb the car."""
        course, mass = self.course(), car_as_point(at.car, at.loads, at.linear)
        among = np.abs(course.x - self.approach - (self.cones - 1) * self.distance / 2)
        among = among <= (self.cones + 1) * self.distance / 2
        k = np.where(among, np.abs(course.curvature).max(), course.curvature)
        return speed_profile(
            replace(course, curvature=k),
            mass,
            share=self.grip,
            start=self.speed,
            most=self.fastest,
            before=_before(at.car),
        )

    def times(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        x = run["position"][:, 0]
        begin, end = self.approach, self.approach + (self.cones - 1) * self.distance
        time = first_time(run.time, x, end) - first_time(run.time, x, begin)
        return [
            ManeuverMeasure(
                "slalom time", time, "s", "from the first cone to the last, for the center of mass"
            ),
            ManeuverMeasure("slalom speed", (end - begin) / time, "m/s", "along the line of cones"),
        ]


@register
class ConstantRadius(CourseManeuver):
    """A circle of constant radius at slowly increasing speed, up to the limit of grip (ISO 4138, constant radius)."""

    type: ClassVar[str] = "constant-radius"
    summary: ClassVar[str] = "a circle at increasing speed, up to the limit of grip"
    source: ClassVar[str] = "ISO 4138, method of constant radius, as given in open literature"
    cites: ClassVar[tuple[str, ...]] = ("ISO 4138", "ISO 8855", "Milliken")
    to_the_limit: ClassVar[bool] = True

    speed: NotNegative[MetersPerSecond] = 20 / 3.6
    """speed at the start"""
    radius: Positive[Meters] = 40.0
    """radius of the circle, to the left"""
    rise: Positive[Plain] = 0.4
    """rate at which the speed increases, m/s^2"""
    grip: Positive[Plain] = 1.1
    """lateral acceleration at the end divided by that of a point mass at the limit of grip"""
    limit: Positive[Meters] = 0.5
    """course error at which the run ends, because the car is at its limit"""

    def course(self) -> Course:
        fastest = 1.5 * np.sqrt(3.0 * GRAVITY * self.radius)
        blend = self.radius / 2
        length = max(fastest**2 / (2 * self.rise), 4 * blend)
        pieces = [(20.0, 0.0, 0.0), (blend, 0.0, 1 / self.radius), (length, 1 / self.radius, 1 / self.radius)]
        return course_of_pieces(pieces)

    @property
    def until(self) -> float:
        return 10.0 + 1.5 * np.sqrt(3.0 * GRAVITY * self.radius) / self.rise

    @property
    def stop(self) -> Stop:
        return Stop(
            f"{self.limit!r} - abs({ERROR})", "the car has left the circle because it is at its limit of grip"
        )

    def profile(self, at: ManeuverContext) -> SpeedProfile:
        mass, course = car_as_point(at.car, at.loads, at.linear), self.course()
        most = float(fastest_speed(course, mass)[-1]) * float(np.sqrt(self.grip))
        begin = 20.0 + self.radius / 2
        square = self.speed**2 + 2 * self.rise * np.maximum(course.s - begin, 0.0)
        square = np.minimum(square, min(most, self.fastest) ** 2)
        return SpeedProfile(course.s, np.sqrt(square), np.gradient(square, course.s) / 2)

    def warnings(self, run: DrivenManeuver) -> list[str]:
        return []

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        ay = run.lateral_acceleration
        settled = run[PROGRESS] > 20.0 + self.radius
        ratio, L = run.linear.ratio, run.linear.wheelbase
        handling = run["steering_wheel"] / ratio - L / self.radius
        chosen = settled & (ay > 0.3 * ay.max()) & (ay < 0.6 * ay.max())
        slope = float(np.polyfit(ay[chosen], handling[chosen], 1)[0]) if chosen.sum() > 5 else float("nan")
        return [
            ManeuverMeasure("limit of cornering", _high(ay) / GRAVITY, "1", "a_y / g, 99th percentile"),
            ManeuverMeasure("speed at the limit", float(run["speed"].max()), "m/s", "largest speed of the run"),
            ManeuverMeasure(
                "understeer gradient", float(np.degrees(slope)), "deg s^2/m",
                "d(steer angle - L / R) / d(lateral acceleration), between 30 and 60 % of the limit",
            ),
            *grip_measures(run),
        ]  # fmt: skip


@register
class Autocross(CourseManeuver):
    """One run along the center line of a track, from rest, with a stop or a flying finish."""

    type: ClassVar[str] = "autocross"
    summary: ClassVar[str] = "the track of a file, as fast as the grip allows"
    source: ClassVar[str] = "customary at motor sport events: time of one run along the center line"
    cites: ClassVar[tuple[str, ...]] = ("Milliken",)

    grip: Positive[Plain] = 0.7
    """fraction of the tires' grip that the driver uses; the rest is a reserve for transients"""
    file: str = ""
    """CSV file with the columns x [m], y [m] of the center line and optionally left [m], right [m], z [m], bank
    [deg]; by default a short course of straights, a hairpin and bends"""
    mirror: bool = False
    """whether the car drives the mirror image of the track"""
    finish: Plain = 0.0
    """1 to stop at the end, 0 to drive through the finish"""

    @property
    def rests(self) -> bool:
        return self.finish > 0

    def course(self) -> Course:
        if self.file:
            course = read_track(self.file).moved_to_start().from_level()
        else:
            course = course_of_pieces(SHORT, width=4.0)
        return course.mirrored() if self.mirror else course
