"""Measured K&C curves of one wheel: read from CSV, and compared with computed curves."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.columns import read_columns
from sekant.errors import DataError, ModelError, suggest
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
"""columns that a model requires; they must have no gaps"""


def read_measured(path: str | PathLike[str], side: str = "left", *, strict: bool = False) -> SuspensionCurves:
    """Curves of one wheel over its travel from a CSV file with Sekant's headers: ``travel [mm], camber [deg] ...``.

    Names are those of the glossary, units are in brackets (default: SI); columns of the other wheel of an axle are
    ignored. Travel is measured from the same position as the other quantities. Up and down strokes, in the order in
    which they were taken, are averaged, and their gap is `hysteresis`; other rows may come in any order. With a
    column ``rack`` the file contains a curve for each of its values; curves at different travels are interpolated
    to the travels of the shortest one. `strict`, for models: every column must have a unit, and the travel must be
    in order.
    """
    table = read_columns(path, gaps=True)
    if len(table.values) < 4:
        raise table.wrong("contains fewer than four positions; a curve needs at least four")
    other, places = "right." if side == "left" else "left.", {}
    for place, header in enumerate(table.names):
        if header.startswith(other):
            continue
        name = header.replace(" ", "_").removeprefix(f"{side}.")
        if name not in GLOSSARY:
            hint = suggest(name, list(GLOSSARY), "quantities")
            raise table.wrong(f"column '{header}': unknown quantity '{name}'; {hint}")
        places.setdefault(name, place)  # columns of the wheel and of the axle: the first one counts
    if "travel" not in places:
        raise table.wrong("has no column 'travel'")
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
    """Name -> (unit, root mean square of `ours` less `measured`), in display units, at the measured travel and
    rack.

    Between positions of `ours` the curves are splines, cubic with at least four positions; beyond them nothing is
    compared. Raises `ModelError` if `ours` has none of the measured positions of the rack.
    """
    racks = (measured.steering >= ours.steering.min() - NEAR) & (
        measured.steering <= ours.steering.max() + NEAR
    )
    if not racks.any():
        places, own = (
            ", ".join(f"{1e3 * rack:.4g}" for rack in x) for x in (measured.steering, ours.steering)
        )
        raise ModelError(
            f"{measured.name}: measured at rack {places} mm, but the curves are at {own} mm; use a range of "
            "the steering that contains these positions"
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
    """Values (n, m) of a curve at travel (n,) at positions of the rack (m,) m; NaN beyond those that it knows."""
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
    """Spline through values (n, ...) at x (n,): cubic, or of lower degree for fewer than four values."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(x, y, k=min(3, x.size - 1))
