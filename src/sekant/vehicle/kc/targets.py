"""Files of targets: target curves of an axle, and the hard points that may move to reach them.

move: {tie_rod_inner.z: -20..20 mm, tie_rod_inner.y: -10..10 mm}  # relative to the drawing
targets:
  toe: 0 deg                                                       # over the entire travel
  camber: {design: -1.5 deg, gradient: -25 deg/m, tolerance: 0.1 deg}
  roll_center_height: {design: 45 mm, tolerance: 5 mm}             # as drawn only
  motion_ratio: {travel: [-30 mm, 30 mm], values: [0.9, 1.0], weight: 2}
travel: -30..30 mm:9                                               # by default the travel of the axle
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, check_known, suggest
from sekant.io.source import locating, read_source
from sekant.model.ranges import is_range, read_range
from sekant.vehicle.curves.poles import shown_number
from sekant.vehicle.curves.ranges import grid_values, quantity, through_zero
from sekant.vehicle.curves.table import unit_for_people
from sekant.vehicle.hardpoints.coordinates import coordinates
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.kc.curves import AxleCurves
from sekant.vehicle.kc.fitting import fit_points
from sekant.vehicle.kc.glossary import GLOSSARY, term_of

Vector = NDArray[np.float64]
KEYS = ("move", "targets", "travel", "description")
OF_TARGET = ("design", "gradient", "travel", "values", "tolerance", "weight")
POSITIONS = 9


@dataclass(frozen=True)
class CurveTarget:
    """The target of a curve, SI: a line through `design` with the slope `gradient`, or `values` at `travel`.

    Without gradient and values, it applies only at the design position, unless it applies `everywhere`.
    """

    curve: str
    unit: str
    design: float | None = None
    gradient: float | None = None
    everywhere: bool = False
    travel: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    tolerance: float | None = None
    weight: float = 1.0

    def over(self, travel: Vector) -> Vector:
        """Target values (n,) at travel (n,) m, with NaN where the curve is free."""
        if self.values:
            return np.interp(travel, self.travel, self.values, left=np.nan, right=np.nan)
        assert self.design is not None
        if self.everywhere or self.gradient is not None:
            return self.design + (self.gradient or 0.0) * travel
        drawn = np.abs(travel) == np.abs(travel).min()
        return np.where(drawn, self.design, np.nan)

    @property
    def drawn(self) -> float:
        """The target value as drawn; NaN if there is none."""
        return float(self.over(np.zeros(1))[0])


@dataclass(frozen=True)
class Targets:
    """The contents of a file of targets.

    `move` contains bounds (m) of the changes of coordinates from the drawing; `travel` (n,) m may be None.
    """

    targets: tuple[CurveTarget, ...]
    move: Mapping[str, tuple[float, float]]
    travel: Vector | None
    file: str

    def of(self, column: str) -> CurveTarget | None:
        """The target of a column such as ``left.camber``; ``camber`` refers to the left wheel."""
        return next((t for t in self.targets if column in (t.curve, f"left.{t.curve}")), None)


def read_targets(path: str | PathLike[str]) -> Targets:
    """The targets in a YAML file; errors name file and line."""
    source = read_source(Path(path))
    with locating(source, path):
        return _targets(source.data, str(path))


def _targets(data: Mapping[str, Any], file: str) -> Targets:
    for key in data:
        check_known(key, KEYS, "unknown key", "keys of a targets file", (key,))
    given = data.get("targets")
    if not isinstance(given, dict) or not given:
        raise ModelError("a targets file needs 'targets', such as targets: {toe: 0 deg}")
    targets = tuple(_target(str(name), entry) for name, entry in given.items())
    move: dict[str, tuple[float, float]] = {}
    for name, text in (data.get("move") or {}).items():
        path = ("move", name)
        if not is_range(text):
            raise ModelError(f"must be the range of the change, such as -20..20 mm (got {text!r})", path=path)
        with_place = _read(lambda text=text, name=name: read_range(text, "m", name, rising=True), path)
        move[name] = (with_place.first, with_place.last)
    travel = None
    if "travel" in data:
        span = _read(lambda: read_range(str(data["travel"]), "m", "travel", rising=True), ("travel",))
        travel = through_zero(span.first, span.last, span.count or POSITIONS)
    return Targets(targets, move, travel, file)


def _read(make: Any, path: tuple[str, ...]) -> Any:
    try:
        return make()
    except ModelError as error:
        raise ModelError(error.message, path=path) from None


def _target(name: str, given: Any) -> CurveTarget:
    path = ("targets", name)
    term = term_of(name)
    if term is None:
        raise ModelError(f"there is no curve '{name}'; {suggest(name, list(GLOSSARY), 'curves')}", path=path)
    unit = term.unit

    def number(value: Any, unit: str, *where: str) -> float:
        if value is None:
            raise ModelError("is empty; write a number with its unit", path=(*path, *where))
        return _read(lambda: quantity(value, unit, name), (*path, *where))

    if not isinstance(given, dict):
        return CurveTarget(name, unit, design=number(given, unit), everywhere=True)
    for key in given:
        check_known(key, OF_TARGET, f"unknown key '{key}' in a target", "keys", (*path, key))
    tolerance = number(given["tolerance"], unit, "tolerance") if "tolerance" in given else None
    weight = number(given.get("weight", 1.0), "1", "weight")
    if (tolerance is not None and tolerance <= 0) or weight <= 0:
        raise ModelError("the tolerance and weight of a target must be positive", path=path)
    if "values" in given or "travel" in given:
        at, values = given.get("travel"), given.get("values")
        if not (isinstance(at, list) and isinstance(values, list) and len(at) == len(values) > 1):
            raise ModelError(
                "'travel' and 'values' must be lists of equal length, with at least two entries", path=path
            )
        if "design" in given or "gradient" in given:
            raise ModelError(
                "give either 'travel' and 'values', or 'design' and 'gradient', not both", path=path
            )
        places = tuple(float(z) for z in _read(lambda: grid_values(at, np.zeros(1), "travel"), path))
        wanted = tuple(number(value, unit, "values") for value in values)
        return CurveTarget(name, unit, travel=places, values=wanted, tolerance=tolerance, weight=weight)
    if "design" not in given:
        raise ModelError(
            "a target needs either 'design' (the value at the design position) or 'travel' and 'values'",
            path=path,
        )
    slope = None
    if "gradient" in given:
        slope = number(given["gradient"], "1/m" if unit == "1" else f"{unit}/m", "gradient")
    design = number(given["design"], unit, "design")
    return CurveTarget(name, unit, design=design, gradient=slope, tolerance=tolerance, weight=weight)


@dataclass(frozen=True, eq=False)
class Tuned:
    """Hard points that were moved to reach targets, and curves before and after over the travel of the targets."""

    points: HardPoints
    moves: Mapping[str, tuple[float, float]]
    """coordinate -> its values (m) as drawn and as tuned"""
    before: AxleCurves
    after: AxleCurves
    targets: Targets

    def misses(self, curves: AxleCurves) -> dict[str, float]:
        """Curve -> its largest deviation from the target, SI."""
        found = {}
        for target in self.targets.targets:
            name = target.curve if target.curve in curves.names else f"left.{target.curve}"
            gap = np.abs(curves[name][:, 0] - target.over(curves.travel))
            found[target.curve] = float(np.nanmax(gap))
        return found

    def summary(self) -> str:
        lines = ["moved coordinates, mm:"]
        for name, (a, b) in self.moves.items():
            low, high = self.targets.move[name]
            edge = "" if low + 1e-9 < b - a < high - 1e-9 else "  (at its bound)"
            lines.append(f"  {name:<28}{1e3 * a:12.3f} -> {1e3 * b:.3f}  ({1e3 * (b - a):+.3f}){edge}")
        lines.append("largest deviation from the target, before -> after:")
        before, after = self.misses(self.before), self.misses(self.after)
        for target in self.targets.targets:
            unit, factor = unit_for_people(target.curve, target.unit)
            a, b = (shown_number("", x[target.curve], factor) for x in (before, after))
            verdict = ""
            if target.tolerance is not None:
                met = "within" if after[target.curve] <= target.tolerance else "outside"
                verdict = f", {met} its tolerance of {factor * target.tolerance:.4g}"
            lines.append(
                f"  {target.curve.replace('_', ' '):<28}{a:>12} -> {f'{b} {unit}'.rstrip()}{verdict}"
            )
        return "\n".join(lines)

    def as_dict(self) -> dict:
        """All results as plain data in SI, for JSON."""
        return {
            "moves": {name: {"drawn": a, "tuned": b} for name, (a, b) in self.moves.items()},
            "deviation_before": self.misses(self.before),
            "deviation_after": self.misses(self.after),
            "curves": self.after.as_dict(),
        }


def tune(points: HardPoints, targets: Targets) -> Tuned:
    """Move the hard points that the targets list to minimize the deviations of the curves (`fit_points`)."""
    from sekant.vehicle.kc.curves import axle_curves

    if not targets.move:
        known = list(coordinates(points))
        raise ModelError(
            "contains no hard points to move; add, for example, move: {tie_rod_inner.z: -20..20 mm}; some "
            f"coordinates of this axle: {', '.join(known[:3])}",
            file=targets.file,
        )
    drawn = coordinates(points)
    for name in targets.move:
        if name not in drawn:
            hint = suggest(name, list(drawn), "coordinates")
            raise ModelError(f"move: there is no coordinate '{name}'; {hint}", file=targets.file)
    travel = targets.travel
    if travel is None:
        travel = through_zero(*points.suspension.travel, POSITIONS)
    goals = {target.curve: target.over(travel) for target in targets.targets}
    weights = {target.curve: target.weight for target in targets.targets}
    tolerances = {t.curve: t.tolerance for t in targets.targets if t.tolerance is not None}
    best, after = fit_points(
        points,
        goals,
        targets.move,
        travel=travel,
        weights=weights,
        tolerances=tolerances,
    )
    found = coordinates(best)
    kept = best.model_copy(update={"compliant": points.compliant, "load": points.load})
    moves = {name: (drawn[name], found[name]) for name in targets.move}
    return Tuned(kept, moves, axle_curves(points, travel=travel), after, targets)
