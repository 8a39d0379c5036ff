"""Numbers with their derivatives with respect to the design parameters; formulas that contain such numbers have
derivatives too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Derived:
    """A `value` and its `slope` (parameters,). Plain numbers are constants; NumPy's sqrt, exp and log may be used."""

    __array_priority__ = 1000

    def __init__(self, value: float, slope: Array):
        self.value, self.slope = float(value), np.asarray(slope, float)

    def __repr__(self) -> str:
        return f"{self.value:.9g} (slope {np.array2string(self.slope, precision=4)})"

    def __float__(self) -> float:
        return self.value

    def _with(self, other: Any) -> Derived:
        return other if isinstance(other, Derived) else Derived(float(other), np.zeros_like(self.slope))

    def __neg__(self) -> Derived:
        return Derived(-self.value, -self.slope)

    def __add__(self, other: Any) -> Derived:
        b = self._with(other)
        return Derived(self.value + b.value, self.slope + b.slope)

    def __sub__(self, other: Any) -> Derived:
        return self + (-self._with(other))

    def __rsub__(self, other: Any) -> Derived:
        return self._with(other) - self

    def __mul__(self, other: Any) -> Derived:
        b = self._with(other)
        return Derived(self.value * b.value, self.slope * b.value + self.value * b.slope)

    def __truediv__(self, other: Any) -> Derived:
        b = self._with(other)
        return Derived(self.value / b.value, (self.slope - self.value / b.value * b.slope) / b.value)

    def __rtruediv__(self, other: Any) -> Derived:
        return self._with(other) / self

    def __pow__(self, power: float) -> Derived:
        return Derived(self.value**power, power * self.value ** (power - 1) * self.slope)

    def __abs__(self) -> Derived:
        return self if self.value >= 0 else -self

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def sqrt(self) -> Derived:
        return self**0.5

    def exp(self) -> Derived:
        value = float(np.exp(self.value))
        return Derived(value, value * self.slope)

    def log(self) -> Derived:
        return Derived(float(np.log(self.value)), self.slope / self.value)

    __radd__ = __add__
    __rmul__ = __mul__
