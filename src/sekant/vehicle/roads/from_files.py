"""Roads from data: profiles of two tracks along x, and heights on a grid."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import model_validator

from sekant.columns import read_columns
from sekant.errors import SekantError, counted
from sekant.geometry.spatial import SX
from sekant.model.quantities import Positive
from sekant.tables.table import Table, Table2
from sekant.vehicle.quantities import Meters
from sekant.vehicle.roads.base import Road, RoadSurroundings, register

Beyond = Literal["error", "constant", "periodic"]


def _columns(data: dict[str, Any], wanted: tuple[tuple[str, ...], ...]) -> list[list[float]]:
    """Columns of the file named in `data`: those of the first set in `wanted` that the file contains."""
    path = Path(str(data["file"]))
    try:
        found = read_columns(path)
        names, columns = found.names, found.in_si().T.tolist()
    except SekantError as error:
        raise ValueError(str(error)) from None
    for options in wanted:
        if set(options) <= set(names):
            return [columns[names.index(name)] for name in options]
    forms = ", or ".join(", ".join(options) for options in wanted)
    raise ValueError(f"{path} must have the columns {forms} (got {', '.join(names)})")


@register
class TrackRoad(Road):
    """Measured heights along x, interpolated by C2 splines. The two tracks have separate heights (columns x, left,
    right) or the same heights (columns x, z).

    The file is read when the road is created; the road then contains its values.
    """

    type: ClassVar[str] = "track"
    summary: ClassVar[str] = "measured profiles along x from a CSV file"
    shown: ClassVar[str] = "{type: track, file: road.csv}"

    file: str | None = None
    """CSV file with columns x, left, right or x, z, with units in brackets; the road stores the values in the
    file, not its name"""
    x: tuple[float, ...] = ()
    """positions (n,) m, increasing"""
    left: tuple[float, ...] = ()
    """heights (n,) of the left track, m"""
    right: tuple[float, ...] = ()
    """heights (n,) of the right track, m; by default those of the left track"""
    track: Positive[Meters] = 1.5
    """distance between the tracks"""
    beyond: Beyond = "error"
    """road beyond the ends of the data; error: the run fails; constant: the height at the end continues; periodic:
    the data repeat"""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not data.get("file"):
            return data
        columns = _columns(data, (("x", "left", "right"), ("x", "z")))
        found = dict(zip(("x", "left", "right"), columns, strict=False))
        return {**{key: value for key, value in data.items() if key != "file"}, **found}

    @model_validator(mode="after")
    def _complete(self):
        if len(self.x) < 4:
            raise ValueError(f"a track needs a file, or at least four values of x (got {len(self.x)})")
        if len(self.left) != len(self.x) or (self.right and len(self.right) != len(self.x)):
            raise ValueError("x, left and right must have the same number of values")
        if np.any(np.diff(self.x) <= 0):
            row = int(np.argmax(np.diff(self.x) <= 0)) + 1
            raise ValueError(f"x must increase, but value {row + 1} is not greater than value {row}")
        if self.beyond == "periodic" and (
            self.left[0] != self.left[-1] or (self.right and self.right[0] != self.right[-1])
        ):
            raise ValueError(
                "with beyond: periodic, the first and the last height of each track must be equal"
            )
        return self

    @cached_property
    def _table(self) -> Table:
        left = np.array(self.left)
        right = np.array(self.right) if self.right else left
        ends = "periodic" if self.beyond == "periodic" else "not-a-knot"
        parts = np.column_stack([(left + right) / 2, (left - right) / 2])
        return Table.cubic(self.x, parts, ends=ends, extrapolation=self.beyond, name="road")

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        z = around.lookups(self._table, x)
        return z[0] + z[1] * y * (2 / self.track)


@register
class GridRoad(Road):
    """Heights on a rectangular grid in x and y, interpolated by a bicubic spline.

    The file has the columns x, y, z and one row for each point, in any order. It is read when the road is created.
    """

    type: ClassVar[str] = "grid"
    summary: ClassVar[str] = "heights on a grid in x and y"
    shown: ClassVar[str] = "{type: grid, file: heights.csv}"

    file: str | None = None
    """CSV file with columns x, y, z; the road stores the values in the file, not its name"""
    x: tuple[float, ...] = ()
    """positions (n,) m, increasing"""
    y: tuple[float, ...] = ()
    """positions (m,) m to the left, increasing"""
    z: tuple[tuple[float, ...], ...] = ()
    """heights (n, m) m, one row for each x"""
    beyond: Literal["error", "constant"] = "error"
    """road beyond the edges of the data; error: the run fails; constant: the height at the edge continues"""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not data.get("file"):
            return data
        px, py, pz = (np.array(column) for column in _columns(data, (("x", "y", "z"),)))
        xs, ys = np.unique(px), np.unique(py)
        if xs.size * ys.size != pz.size:
            raise ValueError(
                f"the points do not form a grid: {counted(xs.size, 'values')} of x and "
                f"{counted(ys.size, 'values')} of y require {counted(xs.size * ys.size, 'rows')}, but the file has "
                f"{counted(pz.size, 'rows')}"
            )
        z = np.full((xs.size, ys.size), np.nan)
        z[np.searchsorted(xs, px), np.searchsorted(ys, py)] = pz
        if np.isnan(z).any():
            raise ValueError(
                "the points do not form a grid: at least one point occurs twice, and another is missing; give "
                "each combination of x and y once"
            )
        kept = {key: value for key, value in data.items() if key != "file"}
        return {**kept, "x": xs.tolist(), "y": ys.tolist(), "z": z.tolist()}

    @model_validator(mode="after")
    def _complete(self):
        if len(self.x) < 4 or len(self.y) < 4:
            raise ValueError(
                f"a grid needs a file, or at least 4 x 4 points (got {len(self.x)} x {len(self.y)})"
            )
        if len(self.z) != len(self.x) or any(len(row) != len(self.y) for row in self.z):
            raise ValueError(
                f"z must have {len(self.x)} rows (one for each x) of {len(self.y)} values (one for each y)"
            )
        if np.any(np.diff(self.x) <= 0) or np.any(np.diff(self.y) <= 0):
            raise ValueError("the values of x and of y must increase")
        return self

    @cached_property
    def _table(self) -> Table2:
        return Table2.cubic(self.x, self.y, np.array(self.z), extrapolation=self.beyond, name="road")

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        return around.lookups(self._table, x, y)[0]
