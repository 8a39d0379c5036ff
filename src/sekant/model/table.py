"""Tables of a model: data by name, for springs, prescribed motions and expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError, counted
from sekant.model.quantities import Description
from sekant.tables.table import Table, Table2

if TYPE_CHECKING:
    from sekant.model.examples import Stage

Kind = Literal["linear", "cubic", "pchip", "step"]
Extrapolation = Literal["error", "constant", "linear", "periodic"]


class TableData(Description):
    """A function y(x), in SI units, that interpolates between given points and extrapolates beyond them.

    With `x2`, the table is a function of two variables. Expressions call it as ``name(a, b)``, where a is x
    and b is x2; `y` has a row for each value of `x` and a column for each value of `x2`.
    """

    x: tuple[float, ...]
    """first variable, increasing"""
    y: tuple[float, ...] | tuple[tuple[float, ...], ...]
    """value at each `x`; with `x2`, a row for each `x`"""
    x2: tuple[float, ...] | None = None
    """increasing values of the second variable, for a table of two variables"""
    kind: Kind = "linear"
    """interpolation between the points. cubic: twice continuously differentiable; pchip: cubic without
    overshoot; step: constant from each point to the next"""
    extrapolation: Extrapolation = "constant"
    """value beyond the points. error: the run fails; constant: the value at the end; linear: the tangent at the
    end; periodic: the table repeats"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(x=(-0.1, 0.0, 0.05, 0.1), y=(-700.0, 0.0, 500.0, 1500.0), kind="linear")

    @property
    def dimension(self) -> int:
        """Number of variables."""
        return 1 if self.x2 is None else 2

    @model_validator(mode="after")
    def _consistent(self):
        nested = any(isinstance(row, tuple) for row in self.y)
        if nested != (self.x2 is not None):
            raise ValueError("a table of two variables needs both x2 and rows of numbers in y")
        if len(self.x) != len(self.y):
            rows = "rows" if nested else "values"
            raise ValueError(
                f"x has {counted(len(self.x), 'values')}, but y has {counted(len(self.y), rows)}; give one "
                f"{rows[:-1]} of y for each value of x"
            )
        if self.x2 is not None:
            if self.kind not in ("linear", "cubic"):
                raise ValueError(f"a table of two variables must be linear or cubic (got '{self.kind}')")
            lengths = {len(row) for row in self.y if isinstance(row, tuple)}
            if lengths != {len(self.x2)}:
                raise ValueError(
                    f"x2 has {counted(len(self.x2), 'values')}, but the rows of y have "
                    f"{' or '.join(map(str, sorted(lengths)))} values; give one value for each value of x2 "
                    "in each row"
                )
        if not np.all(np.isfinite(np.array(self.y, float))):
            raise ValueError("contains NaN or infinity; remove those points")
        for axis, values in (("x", self.x), *((("x2", self.x2),) if self.x2 is not None else ())):
            self._check_axis(axis, values)
        return self

    def _check_axis(self, axis: str, x: tuple[float, ...]) -> None:
        if len(x) < 2:
            raise ValueError(f"needs at least 2 points (got {len(x)})")
        if not np.all(np.isfinite(x)):
            raise ValueError("contains NaN or infinity; remove those points")
        steps = np.diff(x)
        if np.any(steps <= 0):
            row = int(np.argmax(steps <= 0))
            raise ValueError(
                f"{axis} must increase: {axis}[{row + 1}] = {x[row + 1]:g} does not exceed {axis}[{row}] = {x[row]:g}"
            )
        if self.kind in ("cubic", "pchip") and len(x) < 4:
            raise ValueError(f"a {self.kind} table needs at least 4 points (got {len(x)})")

    def table(self, name: str) -> Table:
        """The piecewise polynomial of a table of one variable."""
        x, y = np.array(self.x), np.array(self.y, float)
        if self.x2 is not None:
            raise ModelError(
                "is a table of two variables, but a table of one variable is required", path=("tables", name)
            )
        if self.kind == "step":
            return _staircase(x, y, self.extrapolation, name)
        build = {"linear": Table.linear, "cubic": Table.cubic, "pchip": Table.pchip}[self.kind]
        return build(x, y, extrapolation=self.extrapolation, name=name)

    def table2(self, name: str) -> Table2:
        """The patches of a table of two variables."""
        build = Table2.linear if self.kind == "linear" else Table2.cubic
        y = np.array(self.y, float)
        return build(np.array(self.x), np.array(self.x2), y, extrapolation=self.extrapolation, name=name)


def _staircase(x: np.ndarray, y: np.ndarray, extrapolation: str, name: str) -> Table:
    """y[i] from x[i] up to x[i + 1]; the last value is reached at the end and holds beyond it."""
    outside = None
    if extrapolation in ("constant", "linear"):
        extrapolation, outside = "explicit", np.array([y[0], y[-1]])[:, None, None]
    return Table(x, y[:-1, None, None], extrapolation, name, outside=outside)
