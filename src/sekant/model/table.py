"""Tables of a model: data by name, for springs, drivers and expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import model_validator

from sekant.model.quantities import Description
from sekant.tables.table import Table

if TYPE_CHECKING:
    from sekant.model.examples import Stage

Kind = Literal["linear", "cubic", "pchip", "step"]
Extrapolation = Literal["error", "constant", "linear", "periodic"]


class TableData(Description):
    """y over x, in SI units, and how to go between the points and beyond them."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: Kind = "linear"
    extrapolation: Extrapolation = "constant"

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(x=(-0.1, 0.0, 0.05, 0.1), y=(-700.0, 0.0, 500.0, 1500.0), kind="linear")

    @model_validator(mode="after")
    def _increasing(self):
        if len(self.x) != len(self.y):
            raise ValueError(f"x has {len(self.x)} values and y {len(self.y)}; they belong in pairs")
        if len(self.x) < 2:
            raise ValueError(f"needs at least 2 points (got {len(self.x)})")
        if not np.all(np.isfinite(self.x)) or not np.all(np.isfinite(self.y)):
            raise ValueError("holds NaN or infinity; remove those points")
        steps = np.diff(self.x)
        if np.any(steps <= 0):
            row = int(np.argmax(steps <= 0))
            raise ValueError(
                f"x must increase: x[{row + 1}] = {self.x[row + 1]:g} does not exceed x[{row}] = {self.x[row]:g}"
            )
        if self.kind in ("cubic", "pchip") and len(self.x) < 4:
            raise ValueError(f"a {self.kind} table needs at least 4 points (got {len(self.x)})")
        return self

    def table(self, name: str) -> Table:
        """The piecewise polynomial."""
        x, y = np.array(self.x), np.array(self.y)
        if self.kind == "step":
            return _staircase(x, y, self.extrapolation, name)
        build = {"linear": Table.linear, "cubic": Table.cubic, "pchip": Table.pchip}[self.kind]
        return build(x, y, extrapolation=self.extrapolation, name=name)


def _staircase(x: np.ndarray, y: np.ndarray, extrapolation: str, name: str) -> Table:
    """y[i] from x[i] up to x[i + 1]; the last value is reached at the end and holds beyond it."""
    outside = None
    if extrapolation in ("constant", "linear"):
        extrapolation, outside = "explicit", np.array([y[0], y[-1]])[:, None, None]
    return Table(x, y[:-1, None, None], extrapolation, name, outside=outside)
