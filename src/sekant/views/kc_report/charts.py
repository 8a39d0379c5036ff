"""Charts of the page over travel, steering and roll as plain data, one line for each design and position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.tables.table import Table
from sekant.vehicle.curves.poles import FOLLOWS, cut_off
from sekant.vehicle.curves.table import DRIVES, unit_for_people
from sekant.vehicle.kc.curves import AxleCurves
from sekant.vehicle.kc.glossary import term_of
from sekant.vehicle.kc.targets import CurveTarget, Targets

Vector = NDArray[np.float64]
FIRST = ("camber", "toe", "roll_center_height", "motion_ratio", "wheel_rate")
"""Curves versus travel that are shown first; the others are folded."""
STEERED = (
    "steer_angle",
    "ackermann_share",
    "ackermann_error",
    "camber",
    "jacking",
    "track",
    "turning_circle",
)
ROLLED = (
    *("camber_to_road", "toe", "roll_center_height", "roll_center_y"),
    *("roll_stiffness_on_road", "track_on_road"),
)
MOST_RACKS = 5
DIGITS = 7
NOTHING = 1e-9  # deg, mm ...: smaller values are round-off


def short(name: str) -> str:
    """The usual name of a column such as ``left.camber_gradient``."""
    return name.removeprefix("left.").replace("_", " ")


def over_travel(designs: Sequence[AxleCurves], targets: Targets | None) -> list[dict[str, Any]]:
    """A chart for each curve of the left wheel and of the axle; a line for each design and position of the rack."""
    first = designs[0]
    x = 1e3 * first.travel
    charts = []
    for name in _names(designs):
        # the curve of the axle is the same in parallel travel
        if name == "left.roll_center_height" and "roll_center_height" in first.names:
            continue
        lines, unit = [], ""
        for d, curves in enumerate(designs):
            if name not in curves.names:
                continue
            unit = curves.unit(name)
            for r, k in enumerate(_racks(curves)):
                guide = curves[FOLLOWS[name]][:, k] if name in FOLLOWS else None
                lines.append({"d": d, "r": r, "y": curves[name][:, k], "guide": guide})
        wanted = targets.of(name) if targets else None
        charts.append(_chart(name, unit, x, lines, wanted, first.travel))
    return [chart for chart in charts if chart is not None]


def racks(curves: AxleCurves) -> list[float]:
    """Positions of the rack that have a line, mm."""
    return [float(1e3 * curves.steering[k]) + 0.0 for k in _racks(curves)]


def _racks(curves: AxleCurves) -> list[int]:
    """At most five positions, including the design position."""
    count = curves.steering.size
    even = np.round(np.linspace(0, count - 1, min(count, MOST_RACKS))).astype(int)
    chosen = set(even.tolist())
    if curves.design()[1] not in chosen:
        chosen.remove(min(chosen, key=lambda k: abs(k - curves.design()[1])))
        chosen.add(curves.design()[1])
    return sorted(chosen)


def over_steering(
    designs: Sequence[AxleCurves], more: Sequence[dict[str, tuple[str, Vector]]]
) -> list[dict[str, Any]]:
    """Charts over the rack at the height as drawn, with lines for both wheels; `more`: further columns (m,)."""
    x = 1e3 * designs[0].steering

    def found(d: int, column: str) -> tuple[str, Vector] | None:
        curves = designs[d]
        known = column in curves.names
        return more[d].get(
            column, (curves.unit(column), curves[column][curves.design()[0]]) if known else None
        )

    return _of_wheels(STEERED, x, len(designs), found)


def _of_wheels(
    names: Sequence[str], x: Vector, count: int, found: Callable[[int, str], tuple[str, Vector] | None]
) -> list[dict[str, Any]]:
    """Charts with lines for both wheels; `found`: (design, column) -> its unit and values, None if it has none."""
    charts = []
    for name in names:
        lines, unit = [], ""
        for d in range(count):
            for side in ("", "left.", "right."):
                known = found(d, f"{side}{name}")
                if known is not None:
                    unit = known[0]
                    lines.append({"d": d, "side": side.rstrip("."), "y": known[1]})
        charts.append(_chart(name, unit, x, lines, None, x) if lines else None)
    return [chart for chart in charts if chart is not None]


def over_roll(designs: Sequence[AxleCurves]) -> list[dict[str, Any]]:
    """Charts over the angle of the body relative to the road, right side down; between positions by splines."""
    angles = [-np.degrees(curves["road_angle"][:, curves.design()[1]]) for curves in designs]
    x = np.sort(angles[0][np.isfinite(angles[0])])
    if x.size < 4 or np.any(np.diff(x) <= 0):
        return []

    def found(d: int, column: str) -> tuple[str, Vector] | None:
        curves = designs[d]
        if column not in curves.names or column.endswith(".roll_center_height"):
            return None
        return curves.unit(column), _at(x, angles[d], curves[column][:, curves.design()[1]])

    return _of_wheels(ROLLED, x, len(designs), found)


def _at(x: Vector, at: Vector, values: Vector) -> Vector:
    """Interpolated values (n,), known at `at` (n,), at x; NaN where they are unknown."""
    known = np.isfinite(at) & np.isfinite(values)
    order = np.argsort(at[known])
    a, y = at[known][order], values[known][order]
    if a.size < 4:
        return np.full(x.size, np.nan)
    found = Table.cubic(a, y)(np.clip(x, a[0], a[-1]))[:, 0]
    return np.where((x >= a[0] - 1e-9) & (x <= a[-1] + 1e-9), found, np.nan)


def _names(designs: Sequence[AxleCurves]) -> list[str]:
    """Curves of all designs, the most important first."""
    found = dict.fromkeys(name for curves in designs for name in curves.summary_names)
    rank = {name: k for k, name in enumerate(FIRST)}
    return sorted(
        (name for name in found if name.rpartition(".")[2] not in DRIVES),
        key=lambda name: rank.get(name.removeprefix("left."), len(FIRST)),
    )


def _chart(
    name: str, unit: str, x: Vector, lines: list[dict[str, Any]], target: CurveTarget | None, travel: Vector
) -> dict[str, Any] | None:
    """Plain data of one chart in display units; None if there are no finite values to draw."""
    everything = np.concatenate([line["y"] for line in lines])
    if not np.isfinite(everything).any():
        return None
    shown, factor = unit_for_people(name, unit)
    values = np.array([line.pop("y") for line in lines], float)
    guides = [line.pop("guide", None) for line in lines]
    away = cut_off(name, values, None if guides[0] is None else np.array(guides))
    for line, y, beyond in zip(lines, values, away, strict=True):
        line |= {"y": _plain(factor * np.where(beyond, np.nan, y)), "cuts": _cuts(x, y, beyond)}
    term = term_of(name)
    chart: dict[str, Any] = {
        "name": name,
        "title": short(name),
        "unit": shown,
        "about": "" if term is None else f"{term.definition}; positive if {term.positive}",
        "first": name.removeprefix("left.") in FIRST,
        "x": _plain(x),
        "lines": lines,
    }
    if target is not None:
        wanted = factor * target.over(travel)
        give = 0.0 if target.tolerance is None else factor * target.tolerance
        chart["target"] = {"y": _plain(wanted), "give": give}
    return chart


def _cuts(x: Vector, y: Vector, beyond: NDArray[np.bool_]) -> list[list[float]]:
    """[x, 1 or -1]: where a line leaves the chart upward or downward."""
    found = []
    for k in range(y.size):
        if beyond[k]:
            continue
        for other in (k - 1, k + 1):
            if 0 <= other < y.size and beyond[other]:
                found.append([float(x[k]), float(np.sign(y[other]))])
    return found


def _plain(values: Vector) -> list[float | None]:
    tidy = np.where(np.abs(values) < NOTHING, 0.0, values)
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in tidy]
