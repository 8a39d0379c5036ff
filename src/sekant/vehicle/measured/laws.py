"""Springs and dampers of a wheel that follows measured curves, along their line of action or along the travel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator, SpringDamper
from sekant.model.placement import Placement
from sekant.model.table import TableData
from sekant.vehicle.curves.table import SuspensionCurves
from sekant.vehicle.measured.description import MeasuredDamper, MeasuredSpring
from sekant.vehicle.suspension.drawn import numbers

Vector = NDArray[np.float64]
PLACES = 81  # points of a spring's load over travel
STEP = 1e-5  # m: step of differences of lengths


@dataclass
class Laws:
    """Forces and tables of one wheel, and the frames on its upright and on the ground where they act."""

    forces: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, TableData] = field(default_factory=dict)
    upright: dict[str, Placement] = field(default_factory=dict)
    ground: dict[str, Placement] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SprungWheel:
    """The wheel on which springs and dampers act.

    `shape` is its path or surface over the travel, `sign` is 1 on the left and -1 on the right, `curves` are its
    measured curves, if there are any, and `carried` is the force (N) that its spring carries at the design position.
    """

    shape: PoseCurve | PoseSurface
    sign: float
    curves: SuspensionCurves | None
    carried: float

    @property
    def span(self) -> tuple[float, float]:
        return self.shape.range[0] if isinstance(self.shape, PoseSurface) else self.shape.range

    def pose(self, u: float) -> tuple[Vector, Vector]:
        at = (np.array([u]), np.zeros(1)) if isinstance(self.shape, PoseSurface) else (np.array([u]),)
        R, p = self.shape.pose(*at)
        return R[0], p[0]

    def column(self, name: str) -> TableData | None:
        """A measured column versus travel, with the wheels straight ahead."""
        if self.curves is None or name not in self.curves.names:
            return None
        return _cubic(self.curves.travel, self.curves[name][:, self.curves.design()[1]])


def laws_of(spring: MeasuredSpring | None, damper: MeasuredDamper | None, wheel: SprungWheel) -> Laws:
    """The springs and dampers of a wheel; its joint is `travel`, its body `upright`."""
    found = Laws()
    _spring(spring, wheel, found)
    if damper is not None:
        _damper(damper, wheel, found)
    return found


def bars_over_travel(stiffness: float, start: str = "q") -> dict[str, Actuator]:
    """An anti-roll bar (N/m) between the joints `travel` of both sides; `start` is the name of their coordinate."""
    return {
        f"{side}.bar": Actuator(joint=f"{side}.travel", force=f"-{stiffness!r}*(q - {other}.travel.{start})")
        for side, other in (("left", "right"), ("right", "left"))
    }


def _spring(given: MeasuredSpring | None, wheel: SprungWheel, into: Laws) -> None:
    if given is None:
        load = wheel.column("spring_load")
        if load is None:
            raise ModelError(
                "there is no spring, and the curves have no column spring_load; write spring: {wheel_rate: ...}, "
                "or give the stiffness of the spring together with its end points or a motion ratio",
                path=("spring",),
            )
        into.tables["spring_load"] = load
    elif given.top is not None and given.bottom is not None:
        _line("spring", given.top, given.bottom, wheel, into, given)
        return
    elif given.wheel_rate is not None:
        preload = wheel.carried if given.preload is None else given.preload
        into.tables["spring_load"] = _integral(given.wheel_rate, wheel.span, preload)
    else:
        ratio = given.motion_ratio if given.motion_ratio is not None else wheel.column("motion_ratio")
        if ratio is None:
            raise ModelError(
                "the motion ratio is unknown; in addition to the stiffness of the spring, give top and bottom, "
                "give motion_ratio, or add a column motion_ratio to the curves",
                path=("spring",),
            )
        into.tables["spring_load"] = _through_ratio(given, ratio, wheel)
    into.forces["spring_force"] = Actuator(joint="travel", force=Expression("-spring_load(q)"))


def _through_ratio(given: MeasuredSpring, ratio: float | TableData, wheel: SprungWheel) -> TableData:
    """Load at the wheel of a spring with the motion ratio r: r(u) (preload + k c(u)), with the compression
    c = int r du."""
    compression = _integral(ratio, wheel.span, 0.0)
    u = np.array(compression.x)
    r = _values(ratio, u)
    at_rest = float(_values(ratio, np.zeros(1))[0])
    if at_rest <= 0:
        raise ModelError(
            f"motion_ratio must be positive at the design position (got {at_rest:.3g})", path=("spring",)
        )
    preload = wheel.carried / at_rest if given.preload is None else given.preload
    load = r * (preload + given.stiffness * np.array(compression.y))
    return _cubic(u, load)


def _integral(rate: float | TableData, span: tuple[float, float], start: float) -> TableData:
    """Integral of a rate over the travel, with the value `start` at zero travel."""
    u = np.union1d(np.linspace(*span, PLACES), [0.0])
    values = _values(rate, u)
    from scipy.interpolate import CubicSpline

    whole = CubicSpline(u, values).antiderivative()
    return _cubic(u, start + whole(u) - whole(0.0))


def _cubic(x: Vector, y: Vector) -> TableData:
    return TableData(x=numbers(x), y=numbers(y), kind="cubic", extrapolation="linear")


def _values(given: float | TableData, u: Vector) -> Vector:
    if not isinstance(given, TableData):
        return np.full(u.shape, float(given))
    return np.asarray(given.table("rate")(u), float).reshape(u.shape)


def _line(
    name: str,
    top: Any,
    bottom: Any,
    wheel: SprungWheel,
    into: Laws,
    given: MeasuredSpring | None = None,
    **law: Any,
) -> None:
    """A spring or damper between a point of the vehicle's body and a point of the upright, given on the left side."""
    side = np.array([1.0, wheel.sign, 1.0])
    above, below = np.array(top) * side, np.array(bottom) * side
    R, p = wheel.pose(0.0)
    local = R.T @ (below - p)

    def length(u: float) -> float:
        R, p = wheel.pose(u)
        return float(np.linalg.norm(above - p - R @ local))

    if given is not None:
        ratio = -(length(STEP) - length(-STEP)) / (2 * STEP)
        if ratio <= 0:
            raise ModelError(
                f"{name}: the motion ratio is {ratio:.3g}, so the spring extends in bump; check its end points "
                "'top' and 'bottom'",
                path=(name,),
            )
        preload = wheel.carried / ratio if given.preload is None else given.preload
        law = {"stiffness": given.stiffness, "free_length": length(0.0) + preload / given.stiffness}
    into.ground[f"{name}_top"] = Placement(position=numbers(above))
    into.upright[f"{name}_bottom"] = Placement(position=numbers(local))
    into.forces[name] = SpringDamper(parent=f"ground.{name}_top", child=f"upright.{name}_bottom", **law)


def _damper(given: MeasuredDamper, wheel: SprungWheel, into: Laws) -> None:
    if given.top is not None and given.bottom is not None:
        law: dict[str, Any] = {"free_length": 0.0}
        if given.curve is not None:
            x, y = (tuple((-np.array(axis)[::-1]).tolist()) for axis in (given.curve.x, given.curve.y))
            into.tables["damper_curve"] = given.curve.model_copy(update={"x": x, "y": y})
            law["damper"] = "damper_curve"
        else:
            law["damping"] = given.damping
        _line("damper", given.top, given.bottom, wheel, into, **law)
        return
    ratio = given.motion_ratio if given.motion_ratio is not None else wheel.column("damper_motion_ratio")
    text = (
        "1"
        if ratio is None
        else repr(float(ratio))
        if not isinstance(ratio, TableData)
        else "damper_ratio(q)"
    )
    if isinstance(ratio, TableData):
        into.tables["damper_ratio"] = ratio
    if given.curve is not None:
        into.tables["damper_curve"] = given.curve
        push = f"damper_curve({text}*v)"
    elif isinstance(given.damping, TableData):
        into.tables["damping"] = given.damping
        push = f"damping(q)*{text}*v"
    else:
        push = f"{given.damping!r}*{text}*v"
    into.forces["damper_force"] = Actuator(joint="travel", force=Expression(f"-{text}*{push}"))
