"""Numeric functions given by the address of their code.

Expressions use them like tables. First derivatives are central differences; higher ones are not available.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sekant.errors import DataError

INCREMENT = 2.0**-20
"""Step of differences, times 1 + |x|: near eps^(1/3), the optimum for a function and an argument of size one."""
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, eq=False)
class NumericFunction:
    """R^n -> R^m by ``void f(const double *x, double *y)`` at `address`, which must stay valid.

    `dimension`: n; `components`: m; `increment`: step of the differences, times 1 + |x|; `name`: for messages.
    """

    name: str
    dimension: int
    components: int
    address: int
    increment: float = INCREMENT

    @property
    def label(self) -> str:
        return f"signal '{self.name}'"

    def __call__(self, values: Sequence[float], order: Sequence[int]) -> np.ndarray:
        """(m,): the value at n numbers, or a first derivative."""
        x = np.array(values, dtype=float)
        if not any(order):
            return self._value(x)
        i = list(order).index(1)
        h = self.increment * (1.0 + abs(x[i]))
        ahead, behind = x.copy(), x.copy()
        ahead[i] += h
        behind[i] -= h
        return (self._value(ahead) - self._value(behind)) / (ahead[i] - behind[i])

    def _value(self, x: np.ndarray) -> np.ndarray:
        y = np.empty(self.components)
        _ENTRY(self.address)(x.ctypes.data, y.ctypes.data)
        return y

    def range_error(self, *values: float) -> DataError:
        """The error to raise where the value is not a number."""
        shown = ", ".join(f"{x:.6g}" for x in values)
        return DataError(
            f"{self.label}: its function does not return a finite number at ({shown}); it may raise an "
            "exception there, or divide by zero; return a finite number for all arguments"
        )

    def order_error(self) -> DataError:
        """The error to raise where a second derivative is needed."""
        return DataError(
            f"{self.label}: second derivatives are needed here, but a numeric function has none; write it "
            "with NumPy's functions and record it (sk.signals.traced), or as an expression"
        )
