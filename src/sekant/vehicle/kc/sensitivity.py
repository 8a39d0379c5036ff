"""How curves of a corner change with its hard points, and points that bring curves to given targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import ModelError, SolverError, suggest
from sekant.vehicle.build import corner
from sekant.vehicle.curves import suspension_curves
from sekant.vehicle.hardpoints import HardPoints, hard_points
from sekant.vehicle.table import SHOWN, SuspensionCurves

Vector = NDArray[np.float64]
STEP = 1e-4  # m: differences over twice this; curves bend over decimeters, so they are good to about 1e-6
AXES = "xyz"


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of curves by the coordinates of hard points, SI: each curve (travel, coordinates)."""

    name: str
    travel: Vector
    coordinates: tuple[str, ...]
    """``lower_ball.z`` and so on"""
    units: dict[str, str]
    data: dict[str, Vector]

    def of(self, curve: str, coordinate: str) -> Vector:
        """(n,) derivative of a curve by a coordinate, per m."""
        if curve not in self.data:
            raise ModelError(f"there is no curve '{curve}'; {suggest(curve, list(self.data), 'curves')}")
        if coordinate not in self.coordinates:
            raise ModelError(
                f"no coordinate '{coordinate}'; {suggest(coordinate, list(self.coordinates), 'known')}"
            )
        return self.data[curve][:, self.coordinates.index(coordinate)]

    def ranked(self, curve: str, at: float = 0.0) -> list[tuple[str, float]]:
        """Coordinates by the size of what 1 mm does to a curve at a travel (m), in units for people."""
        self.of(curve, self.coordinates[0])
        row = self.data[curve][int(np.argmin(np.abs(self.travel - at)))]
        factor = SHOWN[self.units[curve]][1] * 1e-3
        order = np.argsort(-np.abs(row))
        return [(self.coordinates[k], float(factor * row[k])) for k in order]

    def to_csv(self, path: str | Path) -> Path:
        """Curve, travel (mm), and the change by 1 mm of each coordinate, in deg, mm ..."""
        lines = [",".join(["curve [unit per mm]", "travel [mm]", *self.coordinates])]
        for curve, values in self.data.items():
            unit, factor = SHOWN[self.units[curve]]
            for z, row in zip(self.travel, values, strict=True):
                numbers = ",".join(f"{x * factor * 1e-3:.9g}" for x in row)
                lines.append(f"{curve} [{unit or '1'}],{1e3 * z:.9g},{numbers}")
        place = Path(path)
        place.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return place

    def summary(self, most: int = 6) -> str:
        lines = [f"{self.name}: what 1 mm of a hard point changes, as drawn"]
        for curve in self.data:
            unit = SHOWN[self.units[curve]][0]
            parts = ", ".join(f"{name} {value:+.4g}" for name, value in self.ranked(curve)[:most])
            lines.append(f"  {curve.replace('_', ' ')} [{unit or '1'}]: {parts}")
        return "\n".join(lines)


def curve_sensitivities(
    given: HardPoints | dict[str, Any],
    curves: Sequence[str] | None = None,
    *,
    points: Sequence[str] | None = None,
    travel: ArrayLike = (-0.03, 0.0, 0.03),
    steered: bool = True,
) -> Sensitivities:
    """Derivatives of `curves` by x, y, z of `points` (default: all of both) over travel (n,) m, the rack as drawn.

    They are central differences over 0.2 mm, two models for each coordinate.
    """
    base = _rigid(given)
    chosen = list(points or base.points)
    for name in chosen:
        if name not in base.points:
            raise ModelError(f"there is no point '{name}'; {suggest(name, list(base.points), 'points')}")
    start = _curves(base, travel, steered)
    names = list(curves or [n for n in start.names if n not in ("travel", "rack", "steering_wheel")])
    for name in names:
        start[name]  # refuses what is not there
    columns: dict[str, list[Vector]] = {name: [] for name in names}
    coordinates = []
    for point in chosen:
        for axis in range(3):
            coordinates.append(f"{point}.{AXES[axis]}")
            high, low = (_curves(moved(base, {coordinates[-1]: s * STEP}), travel, steered) for s in (1, -1))
            for name in names:
                columns[name].append((high[name][:, 0] - low[name][:, 0]) / (2 * STEP))
    units = {name: start.unit(name) for name in names}
    data = {name: np.column_stack(values) for name, values in columns.items()}
    return Sensitivities(start.name, start.travel, tuple(coordinates), units, data)


def moved(points: HardPoints, shifts: Mapping[str, float]) -> HardPoints:
    """The corner with coordinates such as ``lower_ball.z`` moved by so many m."""
    changed = {name: list(p) for name, p in points.points.items()}
    for name, shift in shifts.items():
        point, _, axis = name.rpartition(".")
        if point not in changed or axis not in AXES:
            known = [f"{p}.{a}" for p in changed for a in AXES]
            raise ModelError(f"there is no coordinate '{name}'; {suggest(name, known, 'coordinates')}")
        changed[point][AXES.index(axis)] += shift
    return points.model_copy(update={"points": {name: tuple(p) for name, p in changed.items()}})


def fit_points(
    given: HardPoints | dict[str, Any],
    targets: Mapping[str, ArrayLike],
    bounds: Mapping[str, tuple[float, float]],
    *,
    travel: ArrayLike,
    weights: Mapping[str, float] | None = None,
    steered: bool = True,
) -> tuple[HardPoints, SuspensionCurves]:
    """Hard points whose curves come nearest to `targets` (name -> values (n,) over travel, SI), and their curves.

    `bounds` says how far coordinates may move: ``{"tie_rod_inner.z": (-0.01, 0.01)}`` in m against the drawing.
    Each curve counts by its largest target, times `weights`. Least squares (SciPy, trust region).
    """
    from scipy.optimize import least_squares

    base, names = _rigid(given), list(bounds)
    if not names or not targets:
        raise ModelError(
            "fit_points: give bounds for at least one coordinate and a target for at least one curve"
        )
    start = _curves(base, travel, steered)
    goals = {name: np.asarray(values, float) for name, values in targets.items()}
    for name, values in goals.items():
        if values.shape != start[name][:, 0].shape:
            raise ModelError(f"target of '{name}' has {values.size} values for {start.travel.size} positions")
    size = {n: (weights or {}).get(n, 1.0) / max(float(np.abs(g).max()), 1e-6) for n, g in goals.items()}

    def gap(x: Vector) -> Vector:
        found = _curves(moved(base, dict(zip(names, x.tolist(), strict=True))), travel, steered)
        parts = [size[name] * (found[name][:, 0] - goal) for name, goal in goals.items()]
        return np.nan_to_num(np.concatenate(parts), nan=1e3)

    low, high = np.array([bounds[name] for name in names], float).T
    if np.any(low >= high):
        raise ModelError("fit_points: bounds must rise from the first to the second number")
    x0 = np.clip(np.zeros(len(names)), low, high)
    found = least_squares(
        gap, x0, bounds=(low, high), x_scale=high - low, diff_step=1e-4, xtol=1e-12, ftol=1e-14
    )
    if found.status <= 0:
        raise SolverError(f"fit_points: {found.message}")
    best = moved(base, dict(zip(names, found.x.tolist(), strict=True)))
    return best, _curves(best, travel, steered)


def _rigid(given: HardPoints | dict[str, Any]) -> HardPoints:
    return hard_points(given).model_copy(update={"compliant": False, "load": 0.0})


def _curves(points: HardPoints, travel: ArrayLike, steered: bool) -> SuspensionCurves:
    model = corner(points, steered=steered)
    roles = points.suspension
    if not steered:
        roles = roles.model_copy(update={"rack": None})
    return suspension_curves(model, roles, travel=travel)
