"""Linear systems x' = A x + B u, y = C x + D u."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity
from sekant.model.signals.base import Signal, register

Matrix = tuple[tuple[AnyQuantity, ...], ...]


@register
class StateSpace(Signal):
    """x' = A x + B u, y = C x + D u. If there are several outputs, their names are ``name.y0``, ``name.y1``
    and so on."""

    type: ClassVar[str] = "state_space"
    summary: ClassVar[str] = "linear system with given matrices A, B, C and D"
    signals: ClassVar = ("inputs",)

    inputs: tuple[AnyQuantity, ...]
    """inputs u: a list of expressions"""
    A: Matrix
    """matrix A, row by row"""
    B: Matrix
    """matrix B, row by row"""
    C: Matrix
    """matrix C, row by row"""
    D: Matrix | None = None
    """matrix D, row by row; by default zero"""
    start: tuple[AnyQuantity, ...] | None = None
    """states x at the start; by default zero"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        A, B, C = ((-0.7, 1.9), (-1.3, -0.4)), ((0.3,), (1.1,)), ((1.0, 0.2),)
        return cls(inputs=(stage.signal(),), A=A, B=B, C=C, D=((0.1,),))

    @model_validator(mode="after")
    def _shapes(self):
        n, m = len(self.A), len(self.inputs)
        wanted = {"A": (n, n), "B": (n, m), "C": (len(self.C), n)}
        if self.D is not None:
            wanted["D"] = (len(self.C), m)
        for field, (rows, columns) in wanted.items():
            matrix = getattr(self, field)
            if len(matrix) != rows or any(len(row) != columns for row in matrix):
                lengths = " or ".join(str(n) for n in sorted({len(row) for row in matrix}))
                shape = f"{len(matrix)} x {lengths}" if matrix else "an empty list"
                raise ValueError(f"{field} must be a {rows} x {columns} matrix (got {shape})")
        if not n or not m or not self.C:
            raise ValueError("a state-space signal needs at least one state, one input and one output")
        if self.start is not None and len(self.start) != n:
            raise ValueError(f"start must have one number per state, {n} in all (got {len(self.start)})")
        return self

    @property
    def components(self) -> tuple[str, ...]:
        return tuple(f"y{i}" for i in range(len(self.C))) if len(self.C) > 1 else ()

    def _x(self, name: str, motion: ElementKinematics) -> SX:
        start = self.start or (0.0,) * len(self.A)
        parts = [motion.state(name, f"x{i}", motion.value(x), "1") for i, x in enumerate(start)]
        return ca.vertcat(*parts)

    def output(self, name: str, motion: ElementKinematics) -> SX:
        y = _matrix(self.C, motion) @ self._x(name, motion)
        if self.D is not None:
            y = y + _matrix(self.D, motion) @ _column(self.inputs, motion)
        return y

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        x = self._x(name, motion)
        rate = _matrix(self.A, motion) @ x + _matrix(self.B, motion) @ _column(self.inputs, motion)
        return {f"x{i}": rate[i] for i in range(len(self.A))}


def _matrix(rows: Matrix, motion: ElementKinematics) -> SX:
    return ca.vertcat(*[ca.horzcat(*[motion.value(x) for x in row]) for row in rows])


def _column(numbers: tuple, motion: ElementKinematics) -> SX:
    return ca.vertcat(*[motion.value(x) for x in numbers])
