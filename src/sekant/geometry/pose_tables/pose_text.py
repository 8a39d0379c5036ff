"""Pose tables as text, one file per body: the drive u, the matrix T, its derivatives d and delta (PILS 3.2).

A CSV file of columns ``u``, ``T11`` to ``T34`` (rows of [R p], p in m), ``d1`` to ``d3`` = dp/du and ``delta1`` to
``delta3`` with dR/du = [delta x] R; and, for the quintic scheme, their derivatives with respect to u, ``dd1``
... ``ddelta3``. If a file does not contain these, they come from cubic splines through d and delta.

Every column may have a unit in the header, as in ``z [mm]``, ``T14 [mm]``, ``d1 [mm/mm]``, ``delta1 [rad/mm]``.
The unit must have the right dimension. A position without a unit is in m. Derivatives without a unit are in the
units of the file: d1 in the unit of T14 over the unit of the drive, delta in rad over the unit of the drive.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sekant.columns import Columns, read_columns
from sekant.errors import ModelError
from sekant.files import write_lines
from sekant.geometry.pose_motion import PoseMotion
from sekant.units import Unit, parse_unit

if TYPE_CHECKING:
    from sekant.geometry.pose_tables.pose_table import PoseTable

MATRIX = tuple(f"T{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3, 4))
GROUPS = {"velocity": "d", "angular": "delta", "acceleration": "dd", "angular_acceleration": "ddelta"}
FIRST = ("velocity", "angular")


def write_pose_text(table: PoseTable, body: str, path: str | PathLike[str]) -> None:
    """Write the poses of one body; reading the file gives the same numbers."""
    nodes = table.nodes(body)
    T = np.concatenate([nodes.rotation, nodes.position[:, :, None]], axis=2).reshape(-1, 12)
    parts = [getattr(nodes, field) for field in GROUPS]
    unit = f" [{table.unit}]" if table.unit else ""
    names = [f"{table.parameter}{unit}", *MATRIX]
    names += [f"{name}{i}" for name in GROUPS.values() for i in (1, 2, 3)]
    rows = np.column_stack([table.drive, T, *parts])
    lines = [",".join(names), *(",".join(map(repr, row)) for row in rows.tolist())]
    write_lines(path, lines)


def read_pose_text(path: str | PathLike[str]) -> tuple[NDArray[np.float64], PoseMotion, str, str]:
    """Drive (n,), poses, and the name and unit of the drive, which is the first column."""
    found = _with_units(read_columns(path))
    values = dict(zip(found.names, found.in_si().T, strict=True))
    first = [f"{GROUPS[field]}{i}" for field in FIRST for i in (1, 2, 3)]
    missing = [name for name in (*MATRIX, *first) if name not in values]
    if missing:
        raise found.wrong(
            f"there is no column '{missing[0]}'; a pose table has the columns u, T11 to T34, d1 to d3 and "
            "delta1 to delta3"
        )
    if len(found.values) < 2:
        raise found.wrong("a pose table needs at least two rows")
    T = np.stack([values[name] for name in MATRIX], axis=1).reshape(-1, 3, 4)
    u = values[found.names[0]]
    unit = parse_unit(found.units[0] or "1")
    if np.any(np.diff(u) <= 0):
        raise found.wrong("the drive must increase from row to row", int(np.argmax(np.diff(u) <= 0)) + 1)
    arrays = {}
    for field, name in GROUPS.items():
        columns = [f"{name}{i}" for i in (1, 2, 3)]
        if set(columns) <= set(values):
            arrays[field] = np.stack([values[column] for column in columns], axis=1)
    for second, below in (("acceleration", "velocity"), ("angular_acceleration", "angular")):
        if second not in arrays:
            from scipy.interpolate import CubicSpline

            arrays[second] = CubicSpline(u, arrays[below])(u, 1)
    nodes = PoseMotion(T[:, :, 3].copy(), T[:, :, :3].copy(), **arrays)
    return u, nodes, found.names[0], unit.si


def _with_units(found: Columns) -> Columns:
    """The columns with the unit of each: the declared one if its dimension fits, else the default unit."""
    declared = {
        name: "1" if unit in ("-", "") else unit for name, unit in zip(found.names, found.units, strict=True)
    }
    drive = found.names[0]
    by = declared[drive] or "1"
    bare = {name: "m" if name.endswith("4") else "1" for name in MATRIX}
    for field, name in GROUPS.items():
        over = f"({by})" if field in FIRST else f"({by})^2"
        for i in (1, 2, 3):
            of = "rad" if "angular" in field else declared.get(f"T{i}4") or "m"
            bare[f"{name}{i}"] = f"({of})/{over}"
    units: list[str | None] = []
    for name in found.names:
        unit = declared[name]
        if unit is not None and name in bare and name != drive:
            try:
                given, fitting = parse_unit(unit), parse_unit(bare[name])
            except ModelError as error:
                raise found.wrong(f"column '{name}': {error.message}") from None
            if not _fits(given, fitting, angle="delta" in name):
                remedy = f"write '{name} [{_written(bare[name])}]'"
                if declared[drive] is None and name.startswith("d"):
                    remedy += f", or write the unit of the drive '{drive}' in its header"
                raise found.wrong(f"column '{name}' has the unit {unit}, {given.kind}; {remedy}")
        units.append(unit or bare.get(name))
    return replace(found, units=units)


def _fits(given: Unit, wanted: Unit, angle: bool) -> bool:
    """Whether the dimensions are the same; the radian of a rate of rotation may be left out."""
    radian = given.dimension[:3] == wanted.dimension[:3] and given.dimension[3] + 1 == wanted.dimension[3]
    return given.dimension == wanted.dimension or (angle and radian)


def _written(unit: str) -> str:
    """'(mm)/(deg)^2' as 'mm/deg^2', '(m)/(1)' as 'm'."""
    above, below = unit.split(")/(") if ")/(" in unit else (unit, "1)")
    above, below = above.strip("("), below.replace(")", "", 1)
    return above if below in ("1", "1^2") else f"{above}/{below}"
