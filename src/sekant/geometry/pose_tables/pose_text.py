"""Pose tables as text, one body a file: the drive u, the matrix T, its derivatives d and delta (PILS 3.2).

A CSV file of columns ``u``, ``T11`` to ``T34`` (rows of [R p], p in m), ``d1`` to ``d3`` = dp/du and ``delta1`` to
``delta3`` with dR/du = [delta x] R; and, for the quintic scheme, their derivatives by u, ``dd1`` ... ``ddelta3``.
Files without the latter are read too: they are then taken from cubic splines through d and delta. The unit of the
drive stands in its header, as in ``z [mm]``; derivatives are by the drive in that unit.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sekant.columns import read_columns
from sekant.geometry.pose_motion import PoseMotion
from sekant.units import parse_unit

if TYPE_CHECKING:
    from sekant.geometry.pose_tables.pose_table import PoseTable

MATRIX = tuple(f"T{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3, 4))
GROUPS = {"velocity": "d", "angular": "delta", "acceleration": "dd", "angular_acceleration": "ddelta"}
FIRST = ("velocity", "angular")


def write_pose_text(table: PoseTable, body: str, path: str | PathLike[str]) -> None:
    """Write the poses of one body; numbers read back as they were."""
    nodes = table.nodes(body)
    T = np.concatenate([nodes.rotation, nodes.position[:, :, None]], axis=2).reshape(-1, 12)
    parts = [getattr(nodes, field) for field in GROUPS]
    unit = f" [{table.unit}]" if table.unit else ""
    names = [f"{table.parameter}{unit}", *MATRIX]
    names += [f"{name}{i}" for name in GROUPS.values() for i in (1, 2, 3)]
    rows = np.column_stack([table.drive, T, *parts])
    lines = [",".join(names), *(",".join(map(repr, row)) for row in rows.tolist())]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_pose_text(path: str | PathLike[str]) -> tuple[NDArray[np.float64], PoseMotion, str, str]:
    """Drive (n,), poses, and the name and unit of the drive, which is the first column."""
    found = read_columns(path)
    values = dict(zip(found.names, found.in_si().T, strict=True))
    first = [f"{GROUPS[field]}{i}" for field in FIRST for i in (1, 2, 3)]
    missing = [name for name in (*MATRIX, *first) if name not in values]
    if missing:
        raise found.wrong(
            f"there is no column '{missing[0]}'; a pose table has u, T11 to T34, d1 to d3, delta1 to delta3"
        )
    if len(found.values) < 2:
        raise found.wrong("a pose table needs at least two nodes")
    T = np.stack([values[name] for name in MATRIX], axis=1).reshape(-1, 3, 4)
    u = values[found.names[0]]
    unit = parse_unit(found.units[0]) if found.units[0] else None
    if np.any(np.diff(u) <= 0):
        raise found.wrong("the drive must increase", int(np.argmax(np.diff(u) <= 0)) + 1)
    arrays, scale = {}, unit.factor if unit else 1.0
    for field, name in GROUPS.items():
        columns = [f"{name}{i}" for i in (1, 2, 3)]
        if set(columns) <= set(values):
            order = 1 if field in FIRST else 2
            arrays[field] = np.stack([values[column] for column in columns], axis=1) / scale**order
    for second, below in (("acceleration", "velocity"), ("angular_acceleration", "angular")):
        if second not in arrays:
            from scipy.interpolate import CubicSpline

            arrays[second] = CubicSpline(u, arrays[below])(u, 1)
    nodes = PoseMotion(T[:, :, 3].copy(), T[:, :, :3].copy(), **arrays)
    return u, nodes, found.names[0], unit.si if unit else ""
