"""Measured K&C curves of one wheel: they are read from CSV files and compared with computed curves."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.columns import read_columns
from sekant.errors import DataError, ModelError, counted, suggest
from sekant.vehicle.curves.table import DRIVES, SHOWN, SuspensionCurves
from sekant.vehicle.kc.glossary import GLOSSARY
from sekant.vehicle.measured.strokes import NEAR, on_one_grid, strokes_of

Floats = NDArray[np.float64]
NEEDED = (
    "travel",
    "rack",
    "camber",
    "toe",
    "track_change",
    "wheelbase_change",
    "spring_load",
    "motion_ratio",
)
"""Columns that models use, and that must not have gaps."""


def read_measured(path: str | PathLike[str], side: str = "left", *, strict: bool = False) -> SuspensionCurves:
    """Curves of one wheel against its travel, from a CSV file with headers such as ``travel [mm], camber [deg]``.

    Headers use the names of the glossary and state units in brackets (default: SI). Columns of the other wheel of an
    axle are ignored. Travel is measured from the same position as the other quantities. Up and down strokes, in the
    order in which they were measured, are averaged, and their gap is the `hysteresis`; other rows may be in any
    order. With a column ``rack``, the file contains a curve for each of its values. Curves at different travels are
    interpolated to the travels of the shortest curve. With `strict`, as for models, every column must have a unit,
    and the travel must be in order.
    """
    table = read_columns(path, gaps=True)
    if len(table.values) < 4:
        raise table.wrong(
            f"contains only {counted(len(table.values), 'positions')}; a curve needs at least four"
        )
    other, places = "right." if side == "left" else "left.", {}
    for place, header in enumerate(table.names):
        if header.startswith(other):
            continue
        name = header.replace(" ", "_").removeprefix(f"{side}.")
        if name not in GLOSSARY:
            hint = suggest(name, list(GLOSSARY), "quantities")
            raise table.wrong(f"column '{header}': unknown quantity '{name}'; {hint}")
        places.setdefault(name, place)  # of columns of the wheel and of the axle, the first is used
    if "travel" not in places:
        raise table.wrong("has no column 'travel'; add the travel of the wheel, for example as travel [mm]")
    if strict:
        table.check_finite(table.names[place] for name, place in places.items() if name in NEEDED)
    names, columns = list(places), []
    for name, place in places.items():
        unit = GLOSSARY[name].unit
        needed = SHOWN.get(unit, (unit, 1.0))[0] if strict and unit != "1" else ""
        columns.append(table.column(table.names[place], unit, needed))
    numbers = np.column_stack(columns)
    try:
        numbers, gaps = strokes_of(numbers, names, strict)
        travel, rack, grid = on_one_grid(numbers, names)
    except ModelError as error:
        row = getattr(error, "row", None)
        raise DataError(
            error.message, file=table.file, line=None if row is None else int(table.lines[row])
        ) from None
    data = {name: (GLOSSARY[name].unit, grid[:, :, k]) for k, name in enumerate(names)}
    gap = {name: float(gaps[k]) for k, name in enumerate(names) if gaps[k] > 0 and name not in DRIVES}
    return SuspensionCurves(Path(path).stem, side, travel, rack, data, hysteresis=gap)


def deviations(
    ours: SuspensionCurves, measured: SuspensionCurves, side: str = "left"
) -> dict[str, tuple[str, float]]:
    """Name -> (unit, root mean square of `ours` minus `measured`), in display units, at the measured travel and
    rack.

    Splines interpolate between the positions of `ours`; they are cubic with at least four positions. Measurements
    beyond these positions are not compared. Raises `ModelError` if `ours` has none of the measured positions of the
    rack.
    """
    racks = (measured.steering >= ours.steering.min() - NEAR) & (
        measured.steering <= ours.steering.max() + NEAR
    )
    if not racks.any():
        places, own = (
            ", ".join(f"{1e3 * rack:.4g}" for rack in x) for x in (measured.steering, ours.steering)
        )
        raise ModelError(
            f"{measured.name}: the rack positions of the measurement ({places} mm) are outside the range of the "
            f"computed curves ({own} mm); compute the curves over a steering range that contains the measured "
            "positions"
        )
    found = {}
    for name in measured.names:
        own = name if name in ours.names else f"{side}.{name}"
        if name in DRIVES or own not in ours.names:
            continue
        unit, shown = measured.shown(name)
        gaps = []
        for values, wanted in zip(
            _at_racks(ours, own, measured.steering[racks]).T, shown[:, racks].T, strict=True
        ):
            known = np.isfinite(values)
            if not known.any():
                continue
            at = ours.travel[known]
            inside = (measured.travel >= at.min()) & (measured.travel <= at.max())
            moved = _spline(at, values[known])(measured.travel[inside])
            gaps.append(SHOWN[measured.unit(name)][1] * moved - wanted[inside])
        gap = np.concatenate([np.zeros(0), *gaps])
        gap = gap[np.isfinite(gap)]
        if gap.size:
            found[name] = (unit, float(np.sqrt(np.mean(gap**2))))
    return found


def _at_racks(ours: SuspensionCurves, name: str, racks: Floats) -> Floats:
    """Values (n, m) of a curve at positions (m,) m of the rack, with NaN beyond the positions of the curve."""
    nearest = np.abs(ours.steering[:, None] - racks).argmin(axis=0)
    if np.all(np.abs(ours.steering[nearest] - racks) <= NEAR):
        return ours[name][:, nearest]
    found = np.full((len(ours.travel), len(racks)), np.nan)
    for row, values in zip(found, ours[name], strict=True):
        known = np.isfinite(values)
        at = ours.steering[known]
        if at.size > 1:
            inside = (racks >= at.min() - NEAR) & (racks <= at.max() + NEAR)
            row[inside] = _spline(at, values[known])(racks[inside])
    return found


def _spline(x: Floats, y: Floats) -> Any:
    """Spline through values (n, ...) at x (n,), cubic or, with fewer than four values, of lower degree."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(x, y, k=min(3, x.size - 1))
