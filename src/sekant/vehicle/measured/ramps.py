"""Compliance matrices from load ramps of a rig: symmetric and positive semidefinite, with cross effects.

In a ramp, the rig loads a wheel at held height and measures the displacement and rotation of its center. The
compliance C (6, 6) minimizes the sum of squares of d - d_0 - C F over the rows of all ramps at one travel, with an
offset d_0 for each ramp. The loads span r directions. In axes that begin with these directions, C = L L^T with L (6,
r). In spite of noise, C therefore satisfies Maxwell's theorem and has nonnegative energy, and its rank is the least
that explains the responses. Rotations count as displacements at the distance `LENGTH`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.columns import Columns, read_columns
from sekant.errors import DataError, ModelError, counted, suggest
from sekant.files import write_lines
from sekant.model.joints.elastic import LENGTH

Vector = NDArray[np.float64]
LOADS = {"fx": "N", "fy": "N", "fz": "N", "mx": "N*m", "my": "N*m", "mz": "N*m"}
MOVES = {"x": "m", "y": "m", "z": "m", "rx": "rad", "ry": "rad", "rz": "rad"}
FEWEST = 3  # least number of rows of a ramp
SCALE = np.array([1.0, 1.0, 1.0, LENGTH, LENGTH, LENGTH])
SPANNED = 1e-3  # of the largest load: directions with a smaller load count as unloaded
LEAST_LOAD = 1.0  # N, or N m divided by LENGTH


@dataclass(frozen=True, eq=False)
class LoadRamp:
    """Rows of loads (n, 6) N, N m on the wheel's center and of its displacements and rotations (n, 6) m, rad, in the
    vehicle's axes, at one travel (m)."""

    name: str
    travel: float
    load: Vector
    moved: Vector

    @property
    def direction(self) -> str:
        """The load with the largest range."""
        return list(LOADS)[int(np.argmax(np.ptp(self.load, axis=0) / SCALE))]


@dataclass(frozen=True)
class Misfit:
    """Misfit of one ramp: root mean squares of the residuals of `position` (m) and `angle` (rad), and of both
    together as a fraction (`share`) of the largest displacement of the ramp."""

    name: str
    direction: str
    travel: float
    position: float
    angle: float
    share: float


@dataclass(frozen=True, eq=False)
class Identified:
    """Compliance matrices C (n, 6, 6) at travel (n,) m, for loads on the wheel's center and its displacements, in the
    vehicle's axes, SI."""

    travel: Vector
    C: Vector
    misfits: tuple[Misfit, ...]

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write a CSV file for `compliance` of a suspension, with columns such as ``fy.rz [deg/kN]`` and one row for
        each travel."""
        names, columns = ["travel [mm]"], [1e3 * self.travel]
        for i, load in enumerate(LOADS):
            for j, move in enumerate(MOVES):
                unit, factor = ("mm", 1e3) if j < 3 else ("deg", 180 / np.pi)
                names.append(f"{load}.{move} [{unit}/{'kN' if i < 3 else '(kN*m)'}]")
                columns.append(1e3 * factor * self.C[:, j, i])
        lines = [", ".join(names), *(", ".join(f"{x:.9g}" for x in row) for row in np.column_stack(columns))]
        write_lines(path, lines)
        return Path(path)

    def summary(self) -> str:
        """A table of the misfit of each ramp as text."""
        lines = ["ramp                 load  travel mm  misfit mm        deg   of the largest"]
        lines += [
            f"{m.name[:20]:<20} {m.direction:>4} {1e3 * m.travel:10.4g} {1e3 * m.position:10.4g} "
            f"{np.degrees(m.angle):10.4g} {100 * m.share:12.3g} %"
            for m in self.misfits
        ]
        soft = ", ".join(f"{np.sum(np.linalg.eigvalsh(scaled(C)) > 1e-9 * scaled(C).max())}" for C in self.C)
        return "\n".join([*lines, f"compliant directions: {soft} (at each travel)"])


def read_ramps(paths: Sequence[str | PathLike[str]], radius: float = 0.0) -> list[LoadRamp]:
    """Ramps from CSV files with the columns ``fx [N] ... mz [N*m]``, ``x [mm] ... rz [deg]`` and ``travel [mm]``.

    Loads without a column are zero, and the travel is optional. A file contains one ramp, or several ramps with
    numbers in a column ``ramp``. Loads act on the wheel's center or, with `radius` (m), on the contact that far
    below it.
    """
    found: list[LoadRamp] = []
    for path in paths:
        table = read_columns(path)
        numbers = _numbers(table)
        ramps = numbers.get("ramp", np.zeros(len(table.values)))
        travel = numbers.get("travel", np.zeros(len(table.values)))
        for number in np.unique(ramps):
            rows = np.flatnonzero(ramps == number)
            name = Path(path).stem + (f" {number:g}" if "ramp" in numbers else "")
            load, moved = (np.column_stack([numbers[k][rows] for k in part]) for part in (LOADS, MOVES))
            load[:, 3] += radius * load[:, 1]  # r x F of a force at (0, 0, -radius)
            load[:, 4] -= radius * load[:, 0]
            if np.ptp(travel[rows]) > 1e-3:
                raise table.wrong(
                    f"ramp '{name}': the travel must be constant within a ramp; give a separate ramp for each "
                    "travel",
                    int(rows[0]),
                )
            if len(rows) < FEWEST or (np.ptp(load, axis=0) / SCALE).max() < LEAST_LOAD:
                raise table.wrong(
                    f"ramp '{name}' is too short to determine a slope: it has {counted(len(rows), 'rows')}, and "
                    f"its loads vary by at most {np.ptp(load, axis=0).max():.3g} (N or N*m); measure at least "
                    f"{FEWEST} rows with larger increases of the load",
                    int(rows[0]),
                )
            found.append(LoadRamp(name, float(travel[rows].mean()), load, moved))
    return found


def _numbers(table: Columns) -> dict[str, Vector]:
    """Columns in SI by name; missing loads are zero."""
    table.check_finite(table.names)
    known = {**LOADS, **MOVES, "travel": "m"}
    found: dict[str, Vector] = {}
    for name, column in zip(table.names, table.values.T, strict=True):
        if name in ("ramp", "time", "t"):
            found[name] = column
            continue
        if name not in known:
            raise table.wrong(f"unknown column '{name}'; {suggest(name, [*known, 'ramp'], 'columns')}")
        found[name] = table.column(name, known[name], known[name])
    lacking = [name for name in MOVES if name not in found]
    if lacking:
        raise table.wrong(f"has no column '{lacking[0]}'; ramps need the six columns {', '.join(MOVES)}")
    if not any(name in found for name in LOADS):
        raise table.wrong(
            f"has no column for a load; ramps need at least one of the columns {', '.join(LOADS)}"
        )
    return {**{name: np.zeros(len(table.values)) for name in LOADS}, **found}


def identify(ramps: Sequence[LoadRamp]) -> Identified:
    """The compliance at each travel of the ramps."""
    if not ramps:
        raise ModelError("identify: give at least one ramp")
    levels = np.unique(np.round([1e3 * ramp.travel for ramp in ramps]))
    groups = [[r for r in ramps if round(1e3 * r.travel) == level] for level in levels]
    C = np.array([_compliance(group) for group in groups])
    misfits = [_misfit(ramp, c) for group, c in zip(groups, C, strict=True) for ramp in group]
    return Identified(np.array([g[0].travel for g in groups]), C, tuple(misfits))


def scaled(C: Vector) -> Vector:
    """C with rotations as displacements at LENGTH, and moments as forces there."""
    return SCALE[:, None] * C * SCALE


def _rows(ramps: Sequence[LoadRamp]) -> tuple[Vector, Vector]:
    """Loads and displacements (n, 6) of all ramps relative to their means, scaled to forces and displacements."""
    load = np.vstack([(r.load - r.load.mean(axis=0)) / SCALE for r in ramps])
    moved = np.vstack([(r.moved - r.moved.mean(axis=0)) * SCALE for r in ramps])
    return load, moved


def _compliance(ramps: Sequence[LoadRamp]) -> Vector:
    """Compliance C (6, 6) in SI of the ramps at one travel."""
    from scipy.optimize import least_squares

    F, D = _rows(ramps)
    _, sizes, V = np.linalg.svd(F, full_matrices=True)
    r = int(np.sum(sizes > SPANNED * sizes[0]))
    Q = V.T  # axes that begin with the loaded directions
    f, d = F @ Q[:, :r], D @ Q
    M = np.linalg.lstsq(f, d, rcond=None)[0].T  # (6, r): responses to the loaded directions
    values, axes = np.linalg.eigh(0.5 * (M[:r] + M[:r].T))
    top = float(np.abs(values).max())
    if not values.max() > 0:
        raise ModelError(
            f"identify: under {ramps[0].direction}, the wheel moves opposite to the load; check the signs (x "
            "forward, y to the left, z up, rotations about these axes)"
        )
    values = np.maximum(values, 1e-6 * top)
    root = axes * np.sqrt(values)  # L_1, up to a rotation
    start = np.vstack([root, M[r:] @ np.linalg.inv(root).T]) / np.sqrt(top)
    weight = top * sizes[0]

    def left(x: Vector) -> Vector:
        L = x.reshape(6, r)
        return ((d - top * f @ (L[:r] @ L.T)) / weight).ravel()

    def slopes(x: Vector) -> Vector:
        L = x.reshape(6, r)
        n, J = len(f), np.zeros((len(f), 6, 6, r))
        g = f @ L[:r]  # (n, r)
        for i in range(6):
            J[:, i, i, :] -= g
        J[:, :, :r, :] -= np.einsum("na,ik->niak", f, L)
        return (J * top / weight).reshape(n * 6, 6 * r)

    settings: Any = {"jac": slopes, "xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
    found = least_squares(left, start.ravel(), **settings)
    L = Q @ found.x.reshape(6, r)
    return top * (L @ L.T) / SCALE[:, None] / SCALE


def _misfit(ramp: LoadRamp, C: Vector) -> Misfit:
    load, moved = (x - x.mean(axis=0) for x in (ramp.load, ramp.moved))
    gap = moved - load @ C.T
    size = float(np.abs(moved * SCALE).max()) or 1.0
    position, angle = (float(np.sqrt(np.mean(np.sum(part**2, axis=1)))) for part in (gap[:, :3], gap[:, 3:]))
    share = float(np.sqrt(np.mean(np.sum((gap * SCALE) ** 2, axis=1)))) / size
    return Misfit(ramp.name, ramp.direction, ramp.travel, position, angle, share)


def read_matrices(path: str | PathLike[str]) -> tuple[Vector, Vector]:
    """Travel (n,) m and C (n, 6, 6) SI from a file of `Identified.to_csv`."""
    table = read_columns(path)
    if not len(table.values):
        raise table.wrong("contains no rates")
    table.check_finite(table.names)
    travel = np.zeros(len(table.values))
    C = np.zeros((len(table.values), 6, 6))
    for name in table.names:
        if name == "travel":
            travel = table.column(name, "m", "m")
            continue
        load, _, move = name.partition(".")
        if load not in LOADS or move not in MOVES:
            known = ["travel", *(f"{a}.{b}" for a in LOADS for b in MOVES)]
            raise table.wrong(f"unknown column '{name}'; {suggest(name, known, 'columns')}")
        si = f"{MOVES[move]}/({LOADS[load]})"
        C[:, list(MOVES).index(move), list(LOADS).index(load)] = table.column(name, si, si)
    _check(table, C)
    order = np.argsort(travel)
    if np.any(np.diff(travel[order]) <= 0):
        raise table.wrong("the same travel occurs in several rows; keep one row for each travel")
    return travel[order], C[order]


def _check(table: Columns, C: Vector) -> None:
    for row, c in enumerate(C):
        s = scaled(c)
        if np.abs(s - s.T).max() > 1e-3 * np.abs(s).max():
            i, j = np.unravel_index(np.argmax(np.abs(s - s.T)), (6, 6))
            load, move = list(LOADS), list(MOVES)
            raise table.wrong(
                f"the compliance matrix is not symmetric, because {load[j]}.{move[i]} and {load[i]}.{move[j]} "
                "differ; use sekant kc --identify, which computes symmetric rates from load ramps",
                row,
            )
        if np.linalg.eigvalsh(0.5 * (s + s.T)).min() < -1e-6 * np.abs(s).max():
            raise DataError(
                "under some combination of loads, the wheel would move opposite to the loads; use sekant kc "
                "--identify, which computes physically possible rates from load ramps",
                file=table.file,
                line=int(table.lines[row]),
            )
