"""Measurements of a rig from which a model is built: curves or poses of both wheels, checked for mistakes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sekant.columns import read_columns
from sekant.errors import DataError, ModelError
from sekant.geometry.fit.data import read_poses
from sekant.vehicle.curves.table import SHOWN, SuspensionCurves
from sekant.vehicle.measured.curves import read_measured
from sekant.vehicle.measured.description import Files, MeasuredSuspension
from sekant.vehicle.measured.matrices import Rates, read_rates
from sekant.vehicle.measured.poses import WheelPoses, poses_of_curves, poses_of_rows

Vector = NDArray[np.float64]
SIDES = {"left": 1.0, "right": -1.0}
ZERO = {"track_change": 1e-3, "wheelbase_change": 1e-3}  # m, largest values at zero travel
NEEDED = ("camber", "toe", "track_change")
SMALL = 2e-3  # rad: signs of smaller angles are not checked
OUTWARD = {
    "camber": "if the wheel leans outward",
    "toe": "for toe-in",
    "track_change": "if the wheel moves outward",
}
STEEPEST = 0.6  # rad, camber: larger values have the wrong unit


@dataclass(frozen=True, eq=False)
class MeasuredWheels:
    """Measurements of both wheels: poses, and curves and compliance rates if there are any."""

    poses: dict[str, WheelPoses]
    curves: dict[str, SuspensionCurves]
    compliance: dict[str, Rates]

    @property
    def hysteresis(self) -> dict[str, tuple[str, float]]:
        """Name -> (display unit, largest gap between up and down strokes)."""
        found: dict[str, tuple[str, float]] = {}
        for side, curves in self.curves.items():
            for name, gap in curves.hysteresis.items():
                unit, factor = SHOWN[curves.unit(name)]
                found[f"{side}.{name}"] = (unit, factor * gap)
        return found

    @property
    def steered(self) -> bool:
        return self.poses["left"].rack.size > 1


def read_suspension(given: MeasuredSuspension, radius: float) -> MeasuredWheels:
    """The contents of the files of a suspension, whose wheels have the radius `radius` m."""
    center = np.array(given.wheel_center)
    if _holds_poses(_file(given.curves, "left")):
        poses = _read_both_poses(given.curves, center)
        curves = {}
    else:
        curves = read_both(given.curves)
        poses = {
            side: poses_of_curves(one, center * [1.0, SIDES[side], 1.0], radius, given.axle)
            for side, one in curves.items()
        }
    for side, one in poses.items():
        _check_range(one, _file(given.curves, side))
    return MeasuredWheels(poses, curves, {} if given.compliance is None else _rates(given.compliance))


def _file(given: str | Files, side: str) -> str:
    return given if isinstance(given, str) else given[side]


def read_both(given: str | Files) -> dict[str, SuspensionCurves]:
    """Curves of the left and the right wheel. If only one side was measured, the other side is its mirror image."""
    sides = [side for side in SIDES if not isinstance(given, str) or _has_side(given, side)]
    found: dict[str, SuspensionCurves] = {}
    for side in sides or ["left"]:  # columns without a side are those of the left wheel
        file = _file(given, side)
        found[side] = read_measured(file, side, strict=True)
        _check(found[side], file)
    if len(found) == 2:
        _check_sides(found["left"], found["right"], _file(given, "right"))
        return found
    side, one = next(iter(found.items()))
    return {s: one if s == side else mirrored(one) for s in SIDES}


def _has_side(file: str, side: str) -> bool:
    return any(name.startswith(f"{side}.") for name in read_columns(file, gaps=True).names)


def mirrored(one: SuspensionCurves) -> SuspensionCurves:
    """Curves of the other wheel, which are the same for a rack that moves in the opposite direction."""
    data = {name: (unit, values[:, ::-1]) for name, (unit, values) in one.data.items()}
    if "steer_angle" in data:
        unit, values = data["steer_angle"]
        data["steer_angle"] = (unit, -values)
    if "rack" in data:
        data["rack"] = ("m", -data["rack"][1])
    side = "right" if one.side == "left" else "left"
    return replace(one, side=side, steering=-one.steering[::-1] + 0.0, data=data, hysteresis={})


def _check(one: SuspensionCurves, file: str) -> None:
    """Check columns, unit and signs of the curves of one wheel."""
    for needed in NEEDED:
        if needed not in one.names:
            raise DataError(
                f"has no column '{needed}'; curves of a wheel need the columns {', '.join(NEEDED)} and travel",
                file=file,
            )
    if (most := float(np.nanmax(np.abs(one["camber"])))) > STEEPEST:
        raise DataError(
            f"camber reaches {np.degrees(most):.0f} deg; check the unit in the header: camber [deg] or camber [rad]",
            file=file,
        )
    if "rack" in one.names and one.steering.size > 1 and not one.steering[0] < 0 < one.steering[-1]:
        raise DataError(
            f"rack must have both negative and positive values, but it ranges from {1e3 * one.steering[0]:.4g} mm "
            f"to {1e3 * one.steering[-1]:.4g} mm; measure the rack displacement from its position straight ahead",
            file=file,
        )
    s = SIDES[one.side]
    if "steer_angle" in one.names:
        gap, other = (np.abs(one["toe"] + k * s * one["steer_angle"]).max() for k in (1.0, -1.0))
        if gap > SMALL and other < 0.2 * gap:
            raise DataError(
                f"toe or steer_angle has the wrong sign: on the {one.side} side, toe must be "
                f"{'the negative of' if s > 0 else 'equal to'} steer_angle (toe-in and steering to the left are "
                "positive); change the sign of one of them",
                file=file,
            )


def _at_zero(one: SuspensionCurves, name: str) -> float:
    return float(np.interp(0.0, one.travel, one[name][:, one.design()[1]]))


def check_zero(one: SuspensionCurves, file: str) -> None:
    """Check that changes of track and wheelbase are measured from the design position."""
    for name, most in ZERO.items():
        if name in one.names and abs(at := _at_zero(one, name)) > most:
            raise DataError(
                f"{name} is {1e3 * at:.4g} mm at zero travel, but must be zero there; subtract this value from the "
                f"column, or measure the travel from the position where {name} is zero",
                file=file,
            )


def _check_sides(left: SuspensionCurves, right: SuspensionCurves, file: str) -> None:
    """Check that both measured wheels belong to one axle."""
    for name, most in ZERO.items():
        if name in left.names and name in right.names:
            a, b = _at_zero(left, name), _at_zero(right, name)
            if abs(a - b) > most:
                raise DataError(
                    f"at zero travel, {name} is {1e3 * a:.4g} mm on the left side, but {1e3 * b:.4g} mm on the "
                    "right side; measure the travel of both sides from the design position",
                    file=file,
                )
    low, high = max(left.travel[0], right.travel[0]), min(left.travel[-1], right.travel[-1])
    at = np.linspace(low, high, 21)
    for name, positive in OUTWARD.items():
        a, b = (np.interp(at, one.travel, one[name][:, one.design()[1]]) for one in (left, right))
        size = max(np.abs(a).max(), np.abs(b).max())
        if size > SMALL and np.abs(a + b).max() < 0.2 * np.abs(a - b).max():
            raise DataError(
                f"{name} has opposite signs on the left and right sides, but on both sides, it must "
                f"be positive {positive}; change its sign on one side",
                file=file,
            )


def _check_range(one: WheelPoses, file: str) -> None:
    if not one.travel[0] < 0 < one.travel[-1]:
        raise DataError(
            f"travel must include zero, but it ranges from {1e3 * one.travel[0]:.4g} mm to "
            f"{1e3 * one.travel[-1]:.4g} mm; measure the travel from the design position",
            file=file,
        )


def _rates(given: str | Files) -> dict[str, Rates]:
    if isinstance(given, str):
        left = read_rates(given, "left")
        return {"left": left, "right": left.mirrored()}
    return {side: read_rates(file, side) for side, file in given.items()}


# -- poses -----------------------------------------------------------------------------------------------


def _holds_poses(file: str) -> bool:
    """Whether a file has the columns of `sekant fit`."""
    return {"x", "y", "z"} <= set(read_columns(file, gaps=True).names)


def _read_both_poses(given: str | Files, center: Vector) -> dict[str, WheelPoses]:
    if not isinstance(given, str):
        return {side: _read_poses(given[side], center * [1.0, sign, 1.0]) for side, sign in SIDES.items()}
    left = _read_poses(given, center)
    return {"left": left, "right": left.mirrored()}


def _read_poses(file: str, center: Vector) -> WheelPoses:
    data = read_poses(file)
    if data.quaternion is None:
        raise DataError(
            "contains positions without orientations; add roll, pitch and yaw, or a quaternion, which determine "
            "camber and toe",
            file=file,
        )
    for name in ("travel", "rack"):
        if name in data.columns and not data.units.get(name):
            raise DataError(f"column '{name}' has no unit; write {name} [mm]", file=file)
    try:
        return poses_of_rows(
            data.position, data.quaternion, data.columns.get("travel"), data.columns.get("rack"), center
        )
    except ModelError as error:
        raise DataError(error.message, file=file) from None
