"""Pose data: positions, orientations and parameter columns from CSV files or arrays, in SI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.columns import read_columns
from sekant.errors import DataError, ModelError, suggest
from sekant.geometry.pose_kinematics import parse_orientation
from sekant.geometry.rotations import (
    check_rotations,
    check_sequence,
    continue_signs,
    quaternion_from_euler,
    quaternion_from_rotation,
)
from sekant.units import Unit, parse_unit

Array = NDArray[np.float64]
QUATERNION = ("qw", "qx", "qy", "qz")
_MATRIX = tuple(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
_ANGLE_NAMES = {"z": ("yaw", "rz"), "y": ("pitch", "ry"), "x": ("roll", "rx")}


@dataclass(frozen=True)
class PoseData:
    """Poses X_FM in SI, one per row."""

    position: Array  # (n, 3) m
    quaternion: Array | None  # (n, 4) unit, signs continued
    angles: Array | None  # (n, k) rad, unwrapped, if the source gave Euler angles
    sequence: str  # of `angles`
    columns: dict[str, Array]  # all columns by name, SI where the unit is a length or an angle
    units: dict[str, str]  # SI units of the columns
    rows: NDArray[np.int64]  # (n,) row or line number in the source
    weights: Array | None  # (n,)
    notes: tuple[str, ...] = ()
    file: str | None = None

    def __len__(self) -> int:
        return len(self.position)

    def row(self, index: int) -> str:
        """Label of a row in messages."""
        return f"line {self.rows[index]}" if self.file else f"row {self.rows[index]}"

    def row_list(self, index: Sequence[int] | NDArray[np.int64], most: int = 12) -> str:
        """Label of several rows in messages, in the order of the source."""
        numbers = [str(number) for number in sorted(self.rows[np.asarray(index)].tolist())]
        shown = ", ".join(numbers[:most]) + (f", ... ({len(numbers)} in all)" if len(numbers) > most else "")
        return f"{'line' if self.file else 'row'}{'s' if len(numbers) > 1 else ''} {shown}"

    def wanted_orientation(self, wanted: str) -> tuple[str, str]:
        """Kind and Euler sequence of the `wanted` orientation; "auto" chooses by the data."""
        if self.quaternion is None and wanted not in ("auto", "none"):
            raise self.error(f"orientation '{wanted}' was requested, but the data have no orientation")
        return parse_orientation("quaternion" if wanted == "auto" else wanted)

    def take(self, index: NDArray[np.int64]) -> PoseData:
        """The rows `index` in that order; signs of quaternions and branches of angles are made continuous
        along it."""
        return replace(
            self,
            position=self.position[index],
            quaternion=None if self.quaternion is None else continue_signs(self.quaternion[index]),
            angles=None if self.angles is None else np.unwrap(self.angles[index], axis=0),
            columns={name: values[index] for name, values in self.columns.items()},
            rows=self.rows[index],
            weights=None if self.weights is None else self.weights[index],
        )

    def averaged(self, group: NDArray[np.int64]) -> PoseData:
        """Means of neighboring rows with the same number in `group` (n,), which counts up from 0 without gaps."""
        count = np.bincount(group)

        def mean(a: Array) -> Array:
            total = np.zeros((len(count), *a.shape[1:]))
            np.add.at(total, group, a)
            return total / count.reshape(-1, *[1] * (a.ndim - 1))

        q = None if self.quaternion is None else mean(self.quaternion)
        return replace(
            self,
            position=mean(self.position),
            quaternion=None if q is None else q / np.linalg.norm(q, axis=1, keepdims=True),
            angles=None if self.angles is None else mean(self.angles),
            columns={name: mean(values) for name, values in self.columns.items()},
            rows=self.rows[np.searchsorted(group, np.arange(len(count)))],
            weights=None if self.weights is None else mean(self.weights) * count,
        )

    def error(self, message: str, index: int | None = None) -> DataError:
        """DataError at a row, with file and line if there is a file."""
        if index is None:
            return DataError(message, file=self.file)
        if self.file:
            return DataError(message, file=self.file, line=int(self.rows[index]))
        return DataError(f"row {self.rows[index]}: {message}")


def read_poses(
    data: Any,
    *,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    sequence: str | None = None,
    weights: Any = None,
) -> PoseData:
    """Poses from a CSV file, from (n, 3) positions [m], or from a mapping of columns.

    A mapping may contain ``position`` (n, 3), ``quaternion`` (n, 4), ``rotation`` (n, 3, 3), ``euler`` (n, k) with
    `sequence`, and any further columns (n,), all in SI; or single columns x, y, z, qw..qz, r11..r33, yaw,
    pitch, roll as in a file. `columns` maps these names to those of the data, or to a constant (``{"z": 0.0}``);
    ``"angles"`` there lists the columns of the Euler angles in the order of `sequence`. `units` maps column names
    to units and is needed for files whose header has none.
    """
    file = None
    rows = None
    declared: dict[str, str | None] = {}
    if isinstance(data, (str, PathLike)):
        file = str(data)
        found = read_columns(data)
        table = {name: found.values[:, i] for i, name in enumerate(found.names)}
        declared, rows = dict(zip(found.names, found.units, strict=True)), found.lines
    elif isinstance(data, Mapping):
        table = {str(k): np.asarray(v, float) for k, v in data.items()}
    else:
        table = {"position": np.asarray(data, float)}
    for name, unit in (units or {}).items():
        if name not in table:
            raise DataError(
                f"'units' names a column '{name}' that does not exist; "
                f"{suggest(name, list(table), 'columns found')}",
                file=file,
            )
        declared[name] = unit
    try:
        return _assemble(table, declared, dict(columns or {}), sequence, weights, file, rows)
    except DataError as error:
        if file and error.file is None:
            raise DataError(error.message, file=file, line=error.line) from None
        raise


def _assemble(
    table: dict[str, Array],
    declared: dict[str, str | None],
    columns: dict[str, Any],
    sequence: str | None,
    weights: Any,
    file: str | None,
    rows: NDArray[np.int64] | None,
) -> PoseData:
    find = _ColumnFinder(table, declared, columns, strict=file is not None)
    if "position" in table:
        position = table["position"]
        if position.ndim != 2 or position.shape[1] != 3:
            raise DataError(f"positions must have shape (n, 3) (got {position.shape})")
    else:
        position = np.stack([find.get(name, "length") for name in "xyz"], axis=1)
    n = len(position)
    quaternion, angles, used = _orientation(find, table, columns, sequence)
    for name, values in table.items():
        if len(values) != n:
            raise DataError(
                f"column '{name}' has {len(values)} row{'s' if len(values) != 1 else ''}, but the positions "
                f"have {n}"
            )
    rows = np.arange(1, n + 1) if rows is None else rows
    scalar = {k: v for k, v in table.items() if v.ndim == 1}
    si = {k: v * find.factor(k, "any") for k, v in scalar.items()}
    si_units = {k: si_unit(declared.get(k)) for k in scalar}
    if weights is None and "weight" in scalar:
        weights = scalar["weight"]
    checked = _check_weights(weights, n, rows)
    _check_finite(position, "position", rows, file)
    for name, values in (("orientation", quaternion), ("angle", angles)):
        if values is not None:
            _check_finite(values, name, rows, file)
    notes: list[str] = []
    if angles is not None and sequence is None and "rz" in find.by_lower and "yaw" not in find.by_lower:
        notes.append(
            "rx, ry, rz were read as Euler angles: first rz about z, then ry about the new y, then rx about the new "
            "x; state another order with sequence='xyz' (--sequence xyz)"
        )
    if angles is not None:
        unwrapped = np.unwrap(angles, axis=0)
        jumps = np.argwhere(np.abs(np.diff(unwrapped - angles, axis=0)) > 1.0)
        if len(jumps):
            first = f"{'line' if file else 'row'} {rows[jumps[0][0]]}"
            notes.append(
                f"jumps of 2 pi in the angles were removed; there were {len(jumps)}, the first after {first}"
            )
        angles = unwrapped
        quaternion = quaternion_from_euler(angles, used)
    if quaternion is not None:
        quaternion = continue_signs(quaternion)
    return PoseData(position, quaternion, angles, used, si, si_units, rows, checked, tuple(notes), file)


def _orientation(
    find: _ColumnFinder, table: dict[str, Array], columns: dict[str, Any], sequence: str | None
) -> tuple[Array | None, Array | None, str]:
    """Quaternions, or Euler angles with their sequence, whichever the data contain."""
    lower = {name.lower() for name in find.names}
    if "quaternion" in table or all(name in lower for name in QUATERNION):
        q = table.get("quaternion")
        q = np.stack([find.get(name, "number") for name in QUATERNION], axis=1) if q is None else q
        norm = np.linalg.norm(q, axis=1)
        bad = np.flatnonzero(~(np.abs(norm - 1.0) < 1e-2))
        if bad.size:
            raise DataError(
                f"row {bad[0] + 1}: the quaternion has length {norm[bad[0]]:.4g}, not 1; check that the "
                "columns are qw, qx, qy and qz, with the scalar part first"
            )
        return q / norm[:, None], None, ""
    if "rotation" in table or all(name in lower for name in _MATRIX):
        R = table.get("rotation")
        if R is None:
            R = np.stack([find.get(name, "number") for name in _MATRIX], axis=1).reshape(-1, 3, 3)
        return quaternion_from_rotation(check_rotations(R, 1e-3)), None, ""
    if "euler" in table:
        used = _stated(sequence)
        angles = table["euler"]
        if angles.ndim != 2 or angles.shape[1] != len(used):
            raise DataError(
                f"the sequence '{used}' requires angles of shape (n, {len(used)}) (got {angles.shape})"
            )
        return None, angles, used
    names: Sequence[str] | None = columns.get("angles")
    if names is None:
        wanted = check_sequence(sequence) if sequence else "zyx"
        names = [next((a for a in _ANGLE_NAMES[axis] if a in lower), "") for axis in wanted]
        if not all(names):
            if sequence:
                raise DataError(
                    f"there are no columns for the angles of the sequence '{sequence}'; name the columns "
                    f"with columns={{'angles': [...]}}; columns found: {', '.join(find.names)}"
                )
            found = [name for name in find.names if name.lower() in ("yaw", "pitch", "roll")]
            if found:
                letters = "".join({"yaw": "z", "pitch": "y", "roll": "x"}[name.lower()] for name in found)
                raise DataError(
                    f"of the angles yaw, pitch and roll, there are columns only for {' and '.join(found)}; "
                    f"if the other {'angles are' if len(found) == 1 else 'angle is'} zero, pass "
                    f"sequence='{letters}', columns={{'angles': {found}}} (--sequence {letters} --angles "
                    f"{','.join(found)})"
                )
            return None, None, ""
        sequence = wanted
    used = _stated(sequence)
    if len(names) != len(used):
        raise DataError(f"the sequence '{used}' requires one column of angles per letter (got {len(names)})")
    return None, np.stack([find.get(name, "angle") for name in names], axis=1), used


def _stated(sequence: str | None) -> str:
    """The Euler sequence of angles whose names do not imply it."""
    if not sequence:
        raise DataError(
            "the order of the axes of these angles is unknown; for example, give sequence='zyx' "
            "(--sequence zyx) if the first angle is about z, the second about the rotated y, and the third "
            "about the rotated x"
        )
    return check_sequence(sequence)


class _ColumnFinder:
    """Finds a column by its role or name and converts it to SI."""

    def __init__(
        self, table: dict[str, Array], declared: dict[str, str | None], columns: dict[str, Any], strict: bool
    ):
        self.table, self.declared, self.columns, self.strict = table, declared, columns, strict
        self.names = list(table)
        self.by_lower = {name.lower(): name for name in table}

    def factor(self, name: str, kind: str) -> float:
        unit = self.declared.get(name)
        return 1.0 if unit is None and not self.strict else factor(name, unit, kind)

    def get(self, role: str, kind: str) -> Array:
        name = self.columns.get(role, role)
        if isinstance(name, (int, float)):
            return np.full(len(next(iter(self.table.values()))), float(name))
        name = name if name in self.table else self.by_lower.get(str(name).lower(), name)
        if name not in self.table:
            raise DataError(
                f"there is no column '{name}'; columns found: {', '.join(self.names)}. Name another column "
                f"with columns={{'{role}': '...'}} (--column {role}=...)"
                + (", or a constant, e.g. {'z': 0.0}" if role in "xyz" else "")
            )
        return self.table[name] * self.factor(name, kind)


def _check_finite(values: Array, what: str, rows: NDArray[np.int64], file: str | None) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = bad[0]
        message = f"{what} component {column + 1} is {values[row, column]}; remove the row or fill the gap"
        if file:
            raise DataError(message, file=file, line=int(rows[row]))
        raise DataError(f"row {rows[row]}: {message}")


def _check_weights(weights: Any, n: int, rows: NDArray[np.int64]) -> Array | None:
    if weights is None:
        return None
    w = np.asarray(weights, float)
    if w.shape != (n,):
        raise DataError(f"weights must have shape ({n},) (got {w.shape})")
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0.0)))
    if bad.size:
        raise DataError(
            f"row {rows[bad[0]]}: weight {w[bad[0]]:g} is not positive; to leave out the row, remove it"
        )
    return w


_KINDS = {"a length": "length", "an angle": "angle"}


def factor(column: str, unit: str | None, kind: str) -> float:
    """Factor from the declared unit of a column to SI. `kind`: "length", "angle", "number" or "any"."""
    if unit is None and kind in ("length", "angle"):
        example = "mm" if kind == "length" else "deg"
        raise DataError(
            f"column '{column}' has no unit; add the unit to the header, e.g. '{column} [{example}]', or "
            f"pass units={{'{column}': '{example}'}} (--unit {column}={example})"
        )
    found = _unit(unit)
    measured = "number" if unit in (None, "", "1", "-") else None if found is None else _KINDS.get(found.kind)
    if found is not None and measured == kind:
        return found.factor
    if kind == "any" or measured == kind == "number":
        return 1.0 if found is None or measured not in ("length", "angle") else found.factor
    examples = {"length": "m, mm, cm, in, ...", "angle": "rad, deg, ..."}.get(kind, "-")
    article = "an" if kind[0] in "aeiou" else "a"
    raise DataError(f"column '{column}': unit '{unit}' is not {article} {kind}; use one of {examples}")


def si_unit(unit: str | None) -> str:
    """The SI unit that values declared in `unit` have after conversion."""
    found = _unit(unit)
    return unit or "" if found is None or found.kind not in _KINDS else found.si


def _unit(text: str | None) -> Unit | None:
    try:
        return parse_unit(text) if text and text not in ("1", "-") else None
    except ModelError:
        return None
