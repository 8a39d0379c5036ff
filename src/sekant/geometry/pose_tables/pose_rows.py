"""Pose tables without a header, as the programs of PILS write them: u, T (12 or 16 values), d, delta in each row.

Numbers are separated by blanks, commas or semicolons. T is [R p] or the whole 4 x 4 matrix, row by row; matrices
that were written column by column are recognized by their last row 0 0 0 1. Further columns are ignored. The
model declares the units of the drive, of lengths and of angles where it names the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError, ModelError, suggest
from sekant.files import read_file, replace_file
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.rotations import euler_from_quaternion, quaternion_from_rotation
from sekant.units import parse_unit

if TYPE_CHECKING:
    from sekant.geometry.pose_tables.pose_table import PoseTable

Array = NDArray[np.float64]
MATRIX = {19: 12, 24: 12, 23: 16, 28: 16}
"""numbers in a row -> those of the matrix; with psi, theta, phi, x, y at the end"""
KINDS = ("drive", "length", "angle")
LAST = np.array([0.0, 0.0, 0.0, 1.0])


def rows_without_header(path: str | PathLike[str]) -> tuple[Array, list[int]] | None:
    """Numbers (n, k) and lines of a file whose first line contains only numbers; None if it has a header."""
    try:
        text = read_file(Path(path)).decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1)]
    lines = [(i, line) for i, line in lines if line and not line.startswith("#")]
    if not lines or _numbers(lines[0][1]) is None:
        return None
    found, count = [], len(_numbers(lines[0][1]) or ())
    for i, line in lines:
        row = _numbers(line)
        if row is None or len(row) != count:
            what = "contains a value that is not a number" if row is None else f"has {len(row)} values"
            raise DataError(f"{what}; the first row has {count} values", file=str(path), line=i)
        found.append(row)
    return np.array(found), [i for i, _ in lines]


def _numbers(line: str) -> list[float] | None:
    cells = [cell for cell in re.split(r"[\s,;]+", line) if cell]
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return None


def read_pose_rows(
    path: str | PathLike[str], rows: Array, lines: list[int], units: Mapping[str, str] | None
) -> tuple[Array, PoseMotion, str, str]:
    """Drive (n,), poses, and the name and unit of the drive, in SI."""
    file, k = str(path), rows.shape[1]
    if k not in MATRIX:
        raise DataError(
            f"has no header, and its rows have {k} value{'s' if k > 1 else ''}, but the rows of a pose "
            "table have 19, 23, 24 or 28 values: u, T (12 or 16), d (3) and delta (3), optionally followed "
            "by psi, theta, phi, x, y",
            file=file,
            line=lines[0],
        )
    if not units:
        raise DataError(
            "has no header; give its units where the model names the file, e.g. units: {drive: mm, length: "
            "mm, angle: rad}",
            file=file,
        )
    factors, si = _factors(units, file)
    n, size = len(rows), MATRIX[k]
    T = rows[:, 1 : 1 + size].reshape(n, -1, 4)
    if size == 16:
        if np.allclose(T[:, :, 3], LAST) and not np.allclose(T[:, 3], LAST):
            T = T.transpose(0, 2, 1)
        if not np.allclose(T[:, 3], LAST):
            raise DataError("the last row of a 4 x 4 matrix must be 0 0 0 1", file=file, line=lines[0])
    d, delta = rows[:, 1 + size : 4 + size], rows[:, 4 + size : 7 + size]
    u = factors["drive"] * rows[:, 0]
    if n < 2 or np.any(np.diff(u) <= 0):
        at = lines[int(np.argmax(np.diff(u) <= 0)) + 1] if n > 1 else lines[0]
        raise DataError(
            "a pose table needs at least two rows" if n < 2 else "the drive must increase from row to row",
            file=file,
            line=at,
        )
    velocity = factors["length"] / factors["drive"] * d
    angular = factors["angle"] / factors["drive"] * delta
    from scipy.interpolate import CubicSpline

    nodes = PoseMotion(
        factors["length"] * T[:, :3, 3],
        T[:, :3, :3].copy(),
        velocity,
        angular,
        CubicSpline(u, velocity)(u, 1),
        CubicSpline(u, angular)(u, 1),
    )
    return u, nodes, "u", si


def _factors(units: Mapping[str, str], file: str) -> tuple[dict[str, float], str]:
    """Factors of the kinds of numbers, and the unit of the drive in SI."""
    for name in units:
        if name not in KINDS:
            raise DataError(f"units: unknown kind '{name}'; {suggest(name, KINDS, 'kinds')}", file=file)
    try:
        drive, length = parse_unit(units.get("drive", "1")), parse_unit(units.get("length", "m"))
        angle = parse_unit(units.get("angle", "rad"))
    except ModelError as error:
        raise DataError(f"units: {error.message}", file=file) from None
    for name, unit, wanted in (("length", length, "m"), ("angle", angle, "rad")):
        if unit.dimension != parse_unit(wanted).dimension:
            raise DataError(
                f"units: the unit of {name} must be of the same kind as {wanted} (got {units[name]})",
                file=file,
            )
    return {"drive": drive.factor, "length": length.factor, "angle": angle.factor}, drive.si


def write_pose_rows(table: PoseTable, body: str, path: str | PathLike[str]) -> None:
    """Write one body without a header, SI: u, T (12), d, delta, then psi, theta, phi (about z, y, x) and x, y."""
    nodes = table.nodes(body)
    T = np.concatenate([nodes.rotation, nodes.position[:, :, None]], axis=2).reshape(-1, 12)
    angles = np.unwrap(euler_from_quaternion(quaternion_from_rotation(nodes.rotation), "zyx"), axis=0)
    rows = np.column_stack([table.drive, T, nodes.velocity, nodes.angular, angles, nodes.position[:, :2]])
    replace_file(path, "\n".join(" ".join(map(repr, row)) for row in (rows + 0.0).tolist()) + "\n")
