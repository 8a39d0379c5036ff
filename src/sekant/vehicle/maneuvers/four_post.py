"""A car on four posts: its excitation, and the responses of body, wheels and wheel loads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import casadi as ca
import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError, check_known
from sekant.geometry.spatial import SX
from sekant.io.logs import read_log
from sekant.model.forces import PointForce
from sekant.model.forces.base import Force
from sekant.model.quantities import NotNegative, Positive
from sekant.model.signals.expression import ExpressionSignal
from sekant.model.table import TableData
from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.statics import pressed_by
from sekant.vehicle.maneuvers.base import (
    Diagram,
    DrivenManeuver,
    Floats,
    Maneuver,
    ManeuverContext,
    ManeuverMeasure,
    register,
)
from sekant.vehicle.maneuvers.steering import frequency_response
from sekant.vehicle.quantities import Meters, MetersPerSecond, Plain, Seconds
from sekant.vehicle.roads import RandomRoad
from sekant.vehicle.roads.moving import Posts, PulledRoad
from sekant.vehicle.tires.element import Tire

BEGIN, QUIET = 0.5, 2.0  # s: time before the sweep, and after it while the car comes to rest
FADE = 0.5  # s
FLAT, LONG = 0.5, 400.0  # m: flat part before a road, and period of the road
SETTLED = 1.0  # s, time that is excluded from root mean squares
STRAPS = 2 * np.pi * 0.2  # rad/s, natural frequency of the car on its straps
FASTEST = 40.0  # Hz, because rows are 10 ms apart
SIDES = ("left", "right")
WHEELS = ("front_left", "front_right", "rear_left", "rear_right")
MODES = {
    "heave": (1, 1, 1, 1),
    "pitch": (-1, -1, 1, 1),
    "roll": (1, -1, 1, -1),
    "warp": (1, -1, -1, 1),
    "front_left": (1, 0, 0, 0),
    "front_right": (0, 1, 0, 0),
    "rear_left": (0, 0, 1, 0),
    "rear_right": (0, 0, 0, 1),
}
"""Amplitude of each of `WHEELS`, positive upward."""
_ASSIGNED = re.compile(r"\s*(\w+)\s*=\s*")


def _pairs(given: Any) -> Any:
    """The mapping from a string such as ``front_left=0.01*sin(t), rear_left=...``; mappings remain unchanged."""
    if not isinstance(given, str):
        return given
    parts = _ASSIGNED.split(given)[1:]
    return {key: value.strip().rstrip(",") for key, value in zip(parts[::2], parts[1::2], strict=True)}


@register
class FourPost(Maneuver):
    """A stationary car with its wheels on frictionless plates that move up and down.

    The excitation is a sweep of heave, pitch, roll, warp or one wheel, a road of ISO 8608 that passes below the car,
    expressions, or time series of a file. With `air_speed`, the car has the downforce at that speed.
    """

    type: ClassVar[str] = "four-post"
    summary: ClassVar[str] = "the car on four posts: responses of body, wheels and wheel loads"
    source: ClassVar[str] = (
        "customary on motor sport rigs: responses to a sweep of constant velocity, root mean square of wheel loads"
    )
    cites: ClassVar[tuple[str, ...]] = ("ISO 8608", "Milliken")
    travels: ClassVar[bool] = False
    shown: ClassVar[tuple[str, ...]] = ("front.left.tire.load", "rear.left.tire.load")

    speed: NotNegative[MetersPerSecond] = 0.0
    """speed of the car, which must be zero"""
    excite: Literal["sweep", "road"] = "sweep"
    """sweep: a sweep of `mode` from `first` to `last`; road: a road of ISO 8608 at `road_speed`"""
    mode: Literal[
        "heave", "pitch", "roll", "warp", "front_left", "front_right", "rear_left", "rear_right"
    ] = "heave"
    """sweep: mode in which the posts move together, or the only post that moves"""
    first: Positive[Plain] = 0.5
    """sweep: first frequency, Hz"""
    last: Positive[Plain] = 25.0
    """sweep: last frequency, Hz"""
    velocity: Positive[MetersPerSecond] = 0.05
    """sweep: velocity amplitude of a post, except at low frequencies"""
    amplitude: Positive[Meters] = 0.008
    """sweep: largest amplitude of a post, which limits the velocity at low frequencies"""
    duration: Positive[Seconds] = 30.0
    """duration of a sweep from the first to the last frequency, or of a road or expressions"""
    roughness: Literal["A", "B", "C", "D", "E"] = "B"
    """road: class of ISO 8608"""
    road_speed: Positive[MetersPerSecond] = 20.0
    """road: speed at which the road passes under the car, from the front wheels to the rear wheels"""
    seed: int = 1
    """road: seed of the random road"""
    posts: dict[str, str] = {}  # noqa: RUF012
    """heights (m) as expressions of t, instead of sweep or road, such as {front_left: 0.005*sin(20*t)}; other posts
    do not move"""
    file: str = ""
    """CSV file with time [s] and heights, instead of sweep or road"""
    columns: dict[str, str] = {}  # noqa: RUF012
    """file: column of each moving post; by default front_left, front_right, rear_left, rear_right"""
    air_speed: NotNegative[MetersPerSecond] = 0.0
    """speed of the air that causes the downforce"""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        found = {**given, **{key: _pairs(given[key]) for key in ("posts", "columns") if key in given}}
        for key in ("posts", "columns"):
            for name in found.get(key) or {}:
                check_known(name, WHEELS, f"unknown post '{name}' in {key}", "posts")
        if found.get("posts"):
            found["posts"] = {name: str(value) for name, value in found["posts"].items()}
        return found

    @model_validator(mode="after")
    def _fits(self) -> FourPost:
        if self.speed:
            raise ValueError(
                "the car does not move forward on the four-post rig; remove speed, and set air_speed or road_speed"
            )
        if not self.first < self.last <= FASTEST:
            raise ValueError(
                f"first must be less than last, and last must be at most {FASTEST:g} Hz (got first: {self.first:g} "
                f"Hz, last: {self.last:g} Hz)"
            )
        if self.posts and self.file:
            raise ValueError("give either posts or file, not both")
        return self

    @property
    def sweeps(self) -> bool:
        return not self.posts and not self.file and self.excite == "sweep"

    @property
    def until(self) -> float:
        if self.file:
            return float(read_log(self.file).time[-1])
        return self.duration + (BEGIN + QUIET if self.sweeps else 0.0)

    def car(self, given: Car) -> Car:
        if len(given.axles) != 2:
            raise ModelError(
                f"a four-post rig requires a car with two axles, but this car has {len(given.axles)}",
                path=("axles",),
            )
        air = given.air
        if air is not None:
            air = air.model_copy(update={"headwind": self.air_speed, "drag_area": 0.0})
        return given.model_copy(update={"road": self._road(given), "air": air})

    def _road(self, car: Car) -> Posts | PulledRoad:
        front, rear = (axle_data(axle).center for axle in car.axles.values())
        middle = float(front[0] + rear[0]) / 2
        if self.posts or self.file or self.excite == "sweep":
            return Posts(middle=middle, friction=0.0, **self._heights())
        profile = RandomRoad(
            roughness=self.roughness,
            seed=self.seed,
            track=2 * abs(float(front[1])),
            start=float(front[0]) + FLAT,
            length=LONG,
        )
        places = {"front": (float(front[0]), float(front[1])), "rear": (float(rear[0]), float(rear[1]))}
        return PulledRoad(of=profile, speed=self.road_speed, middle=middle, friction=0.0, **places)

    def _heights(self) -> dict[str, str]:
        if self.posts:
            return dict(self.posts)
        if self.file:
            return {name: f"log_{name}(t)" for name in self._series()}
        sweep = self._sweep()
        return {name: f"{k}*({sweep})" for name, k in zip(WHEELS, MODES[self.mode], strict=True) if k}

    def _sweep(self) -> str:
        """z = v sin(p) / sqrt(w^2 + (v / A)^2), w = 2 pi f, f = f0 exp(t / T), p' = w."""
        T = self.duration / np.log(self.last / self.first)
        w0, since = 2 * np.pi * self.first, f"(t - {BEGIN!r})"
        w = f"{w0!r}*exp({since}/{float(T)!r})"
        phase = f"{float(w0 * T)!r}*(exp({since}/{float(T)!r}) - 1)"
        end = BEGIN + self.duration
        window = f"step5(t, {BEGIN!r}, 0, {BEGIN + FADE!r}, 1)*step5(t, {end - FADE!r}, 1, {end!r}, 0)"
        low = self.velocity / self.amplitude
        return f"{window}*{self.velocity!r}*sin({phase})/sqrt(({w})^2 + {low!r}^2)"

    def _series(self) -> dict[str, tuple[Floats, Floats]]:
        """Times (n,) s and heights (n,) m of the posts from the file."""
        log = read_log(self.file)
        named = self.columns or {name: name for name in WHEELS if name in log.names}
        if not named:
            raise ModelError(
                f"'{self.file}' has no column named after a post (its columns: {', '.join(log.names)}); assign "
                "columns to posts, for example with columns: {front_left: z_fl}"
            )
        return {name: log.series(column, "m") for name, column in named.items()}

    def commands(self, at: ManeuverContext) -> Commands:
        tables = {}
        for name, (t, z) in self._series().items() if self.file else ():
            kept = np.append(True, np.diff(t) > 0)
            kind = "cubic" if kept.sum() >= 4 else "linear"
            tables[f"log_{name}"] = TableData(
                x=tuple(t[kept]), y=tuple(z[kept]), kind=kind, extrapolation="constant"
            )
        road = at.car.road
        shown = {name: getattr(road, name) for name in WHEELS} if isinstance(road, Posts) else {}
        signals = {
            f"post_{name}": ExpressionSignal(value=height, unit="m")
            for name, height in shown.items()
            if height != 0.0
        }
        return Commands(tables=tables, signals=signals)

    def forces(self, at: ManeuverContext) -> Mapping[str, Force]:
        """Soft straps that hold the car, because a pitched car with downforce would slide off its posts."""
        x, m = float(at.car.chassis.com[0]), at.linear.mass
        k, c = m * STRAPS**2, 1.4 * m * STRAPS
        pulls = (
            f"{-k!r}*(position.x - {x!r}) - {c!r}*velocity.x",
            f"{-k!r}*position.y - {c!r}*velocity.y",
            0.0,
        )
        return {"straps": PointForce(frame="chassis.cg", force=pulls)}  # type: ignore[arg-type]

    # -- measures ----------------------------------------------------------------------------------

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        t, late = run.time, run.time > SETTLED
        found = self._peaks(run) if self.sweeps else []
        az = np.gradient(run["velocity"][:, 2], t, edge_order=2)
        found.append(
            ManeuverMeasure(
                "vertical acceleration", float(az[late].std()), "m/s^2",
                "root mean square at the chassis's center of mass",
            )
        )  # fmt: skip
        for axle in run.car.axles:
            loads = [run[f"{axle}.{side}.tire.load"][late] for side in SIDES]
            share = np.mean([float(load.std() / load.mean()) for load in loads])
            found.append(
                ManeuverMeasure(
                    f"load variation, {axle}", 100 * float(share), "%",
                    "standard deviation of a wheel's load divided by its mean, averaged over both sides",
                )
            )  # fmt: skip
            height = run[f"{axle}.left.tire.load"][0] + run[f"{axle}.right.tire.load"][0]
            found.append(
                ManeuverMeasure(f"load at rest, {axle}", float(height), "N", "of the axle, with downforce")
            )
        least = min(float(run[f"{a}.{s}.tire.load"].min()) for a in run.car.axles for s in SIDES)
        found.append(
            ManeuverMeasure("least wheel load", least, "N", "of all wheels; 0: a wheel lifted off its post")
        )
        return found

    def _peaks(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        f, responses = self.responses(run)
        found = []
        if "body" in responses:
            gain = np.abs(responses["body"])
            k = int(np.argmax(np.where(f < 0.4 * self.last, gain, 0.0)))
            found += [
                ManeuverMeasure(
                    "resonance of the body",
                    float(f[k]),
                    "Hz",
                    f"frequency of the largest response to {self.mode}",
                ),
                ManeuverMeasure(
                    "largest gain of the body",
                    float(gain[k]),
                    "1",
                    "motion of the body divided by the motion of the posts, at resonance",
                ),
            ]
        for name, response in responses.items():
            if name.endswith("load"):
                k = int(np.argmax(np.abs(response)))
                found.append(
                    ManeuverMeasure(
                        f"resonance of the {name}", float(f[k]), "Hz",
                        "frequency of the largest ratio of wheel load to post motion",
                    )
                )  # fmt: skip
        return found

    def post(self, run: DrivenManeuver) -> Floats:
        """Motion (n,) m of the posts in their mode, positive upward."""
        k, name = next((k, name) for name, k in zip(WHEELS, MODES[self.mode], strict=True) if k)
        return k * run[f"post_{name}"]

    def responses(self, run: DrivenManeuver) -> tuple[Floats, dict[str, np.ndarray]]:
        """Frequencies (n,) Hz and complex responses (n,) to the posts of a sweep.

        ``body`` is the heave at the center of mass, or in roll and pitch the motion of the body at the wheels,
        divided by the motion of the posts. ``front wheel`` and ``rear wheel`` are the motion of a wheel's center
        divided by that of its post. ``front load`` and ``rear load`` are the wheel load divided by the motion of the
        post and by the static tire stiffness.
        """
        x = self.post(run)
        signs: dict[str, int] = dict(zip(WHEELS, MODES[self.mode], strict=True))
        low, high = 1.05 * self.first, 0.95 * self.last
        found: dict[str, np.ndarray] = {}
        f: Floats = np.zeros(0)
        body = self._body(run)
        rows = {} if body is None else {"body": body}
        for axle, end in zip(run.car.axles, ("front", "rear"), strict=True):
            side = next((side for side in SIDES if signs[f"{end}_{side}"]), None)
            if side is None:
                continue
            k, tire = signs[f"{end}_{side}"], f"{axle}.{side}.tire"
            radius, load = run[f"{tire}.loaded_radius"], run[f"{tire}.load"]
            rows[f"{axle} wheel"] = k * (radius - radius[0]) + x
            stiffness = _stiffness(run.car.axles[axle].tire, float(load[0]))
            rows[f"{axle} load"] = k * (load - load[0]) / stiffness
        for name, row in rows.items():
            at, found[name] = frequency_response(run.time, x, row, low, high)
            f = np.asarray(at, np.float64)
        return f, found

    def _body(self, run: DrivenManeuver) -> Floats | None:
        """Motion (n,) m of the body in the mode of the posts; None in warp, which does not move the body."""
        z, angles = run["position"][:, 2], run["angles"]
        data = [axle_data(axle) for axle in run.car.axles.values()]
        if self.mode == "warp":
            return None
        if self.mode == "roll":
            half = float(np.mean([abs(part.center[1]) for part in data]))
            return half * (angles[:, 2] - angles[0, 2])
        if self.mode == "pitch":
            return (data[0].x - data[1].x) / 2 * (angles[:, 1] - angles[0, 1])
        return z - z[0]

    def diagram(self, run: DrivenManeuver) -> Diagram | None:
        if not self.sweeps:
            return None
        f, responses = self.responses(run)
        curves = {
            f"{name} over tire stiffness" if name.endswith("load") else name: np.abs(response)
            for name, response in responses.items()
        }
        words = f"response to {self.mode} [1]"
        return Diagram("frequency [Hz]", words, f, curves, logarithmic=True)


def _stiffness(tire: Tire, load: float) -> float:
    """Stiffness (N/m) of a tire that carries `load` (N)."""
    d = SX.sym("d")
    slope = ca.Function("slope", [d], [ca.jacobian(SX(tire.load(d, SX(0), SX(0))), d)])
    return float(slope(pressed_by(tire, load)))
