"""A load ramp and the displacement of a point under it, measured or simulated."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.columns import read_columns
from sekant.errors import DataError, suggest

Array = NDArray[np.float64]
DIRECTIONS = ("fx", "fy", "fz", "mx", "my", "mz")
FEW = 50  # rows that are not averaged
DISPLACEMENTS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class LoadCase:
    """A ramp of a force "fx", "fy", "fz" (N) or a moment "mx", "my", "mz" (N m) along an axis of the world.

    `load` (n,); `displacement` (n, 6) of the loaded frame from its first pose: position (m), then the rotation
    vector (rad), both in the world. The load changes so slowly that each row is an equilibrium.
    """

    direction: str
    load: Array
    displacement: Array

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            hint = suggest(self.direction, list(DIRECTIONS), "directions")
            raise DataError(f"load case: unknown direction '{self.direction}'; {hint}")
        load, moved = np.asarray(self.load, float), np.asarray(self.displacement, float)
        if load.ndim != 1 or moved.shape != (load.size, 6):
            raise DataError(
                f"load case '{self.direction}': loads must have shape (n,) and displacements (n, 6) (got "
                f"{load.shape} and {moved.shape})"
            )
        finite = np.isfinite(load) & np.isfinite(moved).all(axis=1)
        if not finite.all():
            raise DataError(
                f"load case '{self.direction}': row {int(np.argmin(finite)) + 1} contains a value that is "
                "not finite; remove this row"
            )
        if load.size < 3 or np.ptp(load) == 0.0:
            raise DataError(
                f"load case '{self.direction}': a ramp needs at least three rows, with different loads"
            )
        object.__setattr__(self, "load", load)
        object.__setattr__(self, "displacement", moved - moved[0])

    @staticmethod
    def from_csv(path: str | os.PathLike[str], direction: str, load: str = "load") -> LoadCase:
        """Load case from a CSV file with the columns `load`, x, y, z, rx, ry, rz in any order; other columns are
        ignored.

        Columns without a unit are in N or N m, m and rad.
        """
        found = read_columns(path)
        table = dict(zip(found.names, found.in_si().T, strict=True))
        for wanted in (load, *DISPLACEMENTS):
            if wanted not in table:
                raise found.wrong(f"there is no column '{wanted}'; {suggest(wanted, found.names, 'columns')}")
        return LoadCase(direction, table[load], np.column_stack([table[name] for name in DISPLACEMENTS]))

    def levels(self, count: int) -> tuple[Array, Array]:
        """Loads (k,) and displacements (k, 6): all rows if they are few, otherwise averages over `count` equal
        intervals of the load."""
        if self.load.size <= FEW:
            return self.load, self.displacement
        low, high = self.load.min(), self.load.max()
        place = np.minimum((count * (self.load - low) / (high - low)).astype(int), count - 1)
        used = np.unique(place)
        load = np.array([self.load[place == k].mean() for k in used])
        return load, np.array([self.displacement[place == k].mean(axis=0) for k in used])


def as_case(item: LoadCase | tuple[str, ArrayLike, ArrayLike]) -> LoadCase:
    """A load case, or (direction, load, displacement)."""
    if isinstance(item, LoadCase):
        return item
    direction, load, moved = item
    return LoadCase(direction, np.asarray(load, float), np.asarray(moved, float))
