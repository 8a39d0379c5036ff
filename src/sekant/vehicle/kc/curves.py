"""Kinematic curves of an axle: curves of its two wheels, and curves of the axle as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import ModelError, check_known
from sekant.model.model import Model
from sekant.vehicle.curves.corner_curves import drive_columns
from sekant.vehicle.curves.ranges import grid_values, through_zero
from sekant.vehicle.curves.rate_warnings import rate_warnings
from sekant.vehicle.curves.table import DRIVES, SuspensionCurves
from sekant.vehicle.hardpoints.description import GivenPoints
from sekant.vehicle.kc.motion import AxleMotion, axle_motion
from sekant.vehicle.kc.roles import SIDES, AxleRoles, axle_of

Vector = NDArray[np.float64]
Columns = dict[str, tuple[str, Vector]]
MOTIONS = {"parallel": (1.0, 1.0), "roll": (1.0, -1.0)}
"""Motion -> travel of the left and the right wheel per unit of travel."""


@dataclass(frozen=True, eq=False, repr=False)
class AxleCurves(SuspensionCurves):
    """Curves of an axle against the travel (n,) m of its wheels and the rack displacement (m,) m, with names such as
    ``left.camber``."""

    motion: str = "parallel"
    moved: AxleMotion | None = field(default=None, repr=False)
    """motion of the axle, for pictures and further quantities"""

    @property
    def title(self) -> str:
        return f"{self.name}, axle in {self.motion} travel"

    def gradients(self, by: str = "travel") -> dict[str, tuple[str, Vector]]:
        """Exact derivatives of every curve with respect to the travel or the rack: name -> (unit, values (n, m)),
        SI."""
        if self.moved is None or by not in ("travel", "rack") or (by == "rack" and not self.moved.steered):
            raise ModelError(
                f"gradients are available only with respect to 'travel' or, for a steered axle, 'rack' (got '{by}')"
            )
        slopes = self.moved.compiled.columns(self.moved.slopes(by))
        return {name: (f"{unit}/m" if unit != "1" else "1/m", x) for name, (unit, x) in slopes.items()}

    @property
    def summary_names(self) -> list[str]:
        """Names of the curves of the left wheel and of the axle that have values."""
        j = self.design()[1]
        names = [n for n in self.names if n.rpartition(".")[2] not in DRIVES and not n.startswith("right.")]
        return [name for name in names if np.isfinite(self[name][:, j]).any()]


def axle_curves(
    given: Model | GivenPoints,
    roles: AxleRoles | None = None,
    *,
    motion: str | Sequence[float] = "parallel",
    travel: ArrayLike | None = None,
    steering: ArrayLike | None = None,
) -> AxleCurves:
    """All curves of both wheels and of the axle, on a grid of travel and rack displacement.

    `given` is a description by hard points, whose joints are then rigid, or a model of an axle. In the `motion`
    "parallel", both wheels rise by `travel` (n,) m. In "roll", the left wheel rises, and the right wheel falls by the
    same amount. A pair (left, right) gives other ratios. Travel is measured from the drawing, independent of set-up
    changes; for a model, it is measured from the start. `steering` (m,) m contains displacements of the rack.
    Derivatives are exact. Values are NaN at positions that the mechanism cannot reach, and `limits` reports why.
    """
    model, roles = axle_of(given, roles, compliant=False)
    ways, label = ways_of(motion)
    heights = grid_values(travel, through_zero(*roles.left.travel, 41), "travel")
    moves = grid_values(steering, np.zeros(1), "steering")
    if steering is not None and roles.left.rack is None:
        raise ModelError(f"model '{model.name}' has no rack; omit the argument 'steering'")
    moved = axle_motion(model, roles, ways, heights, moves, drawn=not isinstance(given, Model))
    columns = drives_of(roles, moved.ways, heights, moves) | moved.columns()
    springs = {f"{side}.": role.spring for side, role in roles.sides}
    warnings = moved.warnings + rate_warnings(model, springs, heights, columns)
    return AxleCurves(
        model.name, "axle", heights, moves, columns, moved.limits, warnings, motion=label, moved=moved
    )


def drives_of(roles: AxleRoles, ways: Vector, heights: Vector, moves: Vector) -> Columns:
    """Name -> (unit, values (n, m)), SI, of the columns with positions."""
    found = drive_columns(roles.left, roles.left.rack is not None, heights, moves)
    travel = found["travel"][1]
    for side, way in zip(SIDES, ways, strict=True):
        if way:
            found[f"{side}.travel"] = ("m", way * travel)
    return found


def ways_of(motion: Any) -> tuple[tuple[float, float], str]:
    if isinstance(motion, str):
        check_known(motion, MOTIONS, f"unknown motion '{motion}' of an axle", "motions")
        return MOTIONS[motion], motion
    ways = np.asarray(motion, float)
    if ways.shape != (2,) or not np.all(np.isfinite(ways)) or not ways.any():
        raise ModelError(
            "motion must be 'parallel', 'roll', or a pair of numbers (left, right) that are not both zero (got "
            f"{motion!r})"
        )
    return (float(ways[0]), float(ways[1])), f"({ways[0]:g}, {ways[1]:g})"


def jacking(curves: AxleCurves, radius: float) -> dict[str, tuple[str, Vector]]:
    """``left.jacking`` and ``right.jacking`` (m,) over the rack, m: the rise of each side of the steered vehicle.

    It follows from the motion of the contacts at constant spring length. On the rig the heights of the wheels are
    prescribed: the height z at which a spring has its length as drawn follows from its length l(z) and motion ratio
    i = -dl/dz at neighboring heights by cubic Hermite interpolation of z(l). The contact of a wheel of `radius` r
    (m) and camber e is then r (1 - cos e) nearer to its center.

    `curves` are in parallel travel over three or more ascending heights, zero among them. The result is empty
    without springs, and NaN where the spring has this length only beyond these heights.
    """
    i, j = curves.design()
    found: dict[str, tuple[str, Vector]] = {}
    for side in SIDES:
        names = [f"{side}.{name}" for name in ("spring_length", "motion_ratio", "camber", "camber_gradient")]
        if not all(name in curves.names for name in names):
            return {}
        length, ratio, camber, slope = (curves[name] for name in names)
        rows = []
        for k in range(curves.steering.size):
            z = _height(curves.travel, length[:, k], ratio[:, k], float(length[i, j]))
            n = int(np.argmin(np.abs(curves.travel - z))) if np.isfinite(z) else i
            leans = camber[n, k] + slope[n, k] * (z - curves.travel[n])
            rows.append(-z + radius * (np.cos(leans) - np.cos(camber[i, j])))
        found[f"{side}.jacking"] = ("m", np.array(rows))
    return found


def _height(z: Vector, length: Vector, ratio: Vector, wanted: float) -> float:
    """The height at which the spring has the wanted length."""
    from scipy.interpolate import CubicHermiteSpline

    for a in range(z.size - 1):
        at = a + np.argsort(length[a : a + 2])
        low, high = length[at]
        if low <= wanted <= high and low != high:
            return float(CubicHermiteSpline(length[at], z[at], -1 / ratio[at])(wanted))
    return float("nan")
