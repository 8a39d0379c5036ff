"""Points and vectors, and expressions of them: the coordinates of a mechanism in natural coordinates.

All values are in the world frame W; a mechanism of dimension 2 lives in its xy plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.geometry.spatial import SX

AXES = ("x", "y", "z")
FOLLOWS = 1e-14
"""Weight of a start velocity that is not stated; that of the stated ones, from which it follows, is 1."""

ROUGH = 0.01
"""Start values may be approximate: only a change by more than this fraction of their size is a contradiction."""


class Space(Protocol):
    """The mechanism of points and vectors."""

    dim: int

    def rate(self, expression: SX) -> SX:
        """Time derivative of an expression of coordinates and time."""
        ...

    def constant_vector(self, components: Any) -> Geometric:
        """A vector with fixed components in W."""
        ...


@dataclass(frozen=True, eq=False)
class Geometric:
    """A point (weight 1) or a vector (weight 0) of a mechanism, or an intermediate sum from which a point or a vector
    is formed.

    `value` (dim,) m in W, an expression of the mechanism's coordinates, time and parameters. ``B - A`` is a vector,
    ``A + 0.3*u`` and ``(A + B)/2`` are points.
    """

    mechanism: Space
    value: SX
    weight: float
    name: str = ""
    product: tuple[str, str] | None = None
    """names of the two vectors in the product"""

    @property
    def title(self) -> str:
        """The name in quotes, or what the item is, for messages."""
        return f"'{self.name}'" if self.name else "an expression"

    @property
    def is_point(self) -> bool:
        return abs(self.weight - 1.0) < 1e-12

    @property
    def is_vector(self) -> bool:
        return abs(self.weight) < 1e-12

    @property
    def velocity(self) -> SX:
        """(dim,) m/s."""
        return self.mechanism.rate(self.value)

    @property
    def x(self) -> SX:
        return self.value[0]

    @property
    def y(self) -> SX:
        return self.value[1]

    @property
    def z(self) -> SX:
        if self.mechanism.dim < 3:
            raise ModelError(f"{self.title} has no z: the mechanism is planar (dim=2)")
        return self.value[2]

    @property
    def length(self) -> SX:
        """m."""
        return ca.norm_2(self.value)

    def __add__(self, other: Any) -> Geometric:
        other = self._same(other)
        return Geometric(self.mechanism, self.value + other.value, self.weight + other.weight)

    def __sub__(self, other: Any) -> Geometric:
        other = self._same(other)
        return Geometric(self.mechanism, self.value - other.value, self.weight - other.weight)

    def __mul__(self, factor: Any) -> Geometric:
        weight = 0.0 if self.weight == 0.0 else self.weight * _number(factor)
        return Geometric(self.mechanism, self.value * factor, weight)

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Geometric:
        weight = 0.0 if self.weight == 0.0 else self.weight / _number(factor)
        return Geometric(self.mechanism, self.value / factor, weight)

    def __neg__(self) -> Geometric:
        return self * -1.0

    def dot(self, other: Any) -> SX:
        return ca.dot(self.value, self._same(other).value)

    def cross(self, other: Any) -> Any:
        """In space a vector; in the plane its z component (SX)."""
        other = self._same(other)
        if self.mechanism.dim == 2:
            return self.value[0] * other.value[1] - self.value[1] * other.value[0]
        names = (self.name, other.name) if self.name and other.name else None
        return Geometric(self.mechanism, ca.cross(self.value, other.value), 0.0, "", names)

    def unit(self) -> Geometric:
        """The vector of length one in this direction."""
        return Geometric(self.mechanism, self.value / self.length, 0.0)

    def _same(self, other: Any) -> Geometric:
        found = other if isinstance(other, Geometric) else self.mechanism.constant_vector(other)
        if found.mechanism is not self.mechanism:
            raise ModelError(f"{found.title} and {self.title} belong to different mechanisms")
        return found


def _number(factor: Any) -> float:
    """A factor of points as a number; weights of points must be known."""
    if isinstance(factor, ca.SX):
        if not factor.is_constant():
            raise ModelError(
                "a point cannot be multiplied by a quantity that varies; multiply a vector instead, as in "
                "A + s*(B - A)"
            )
        return float(factor)
    return float(factor)


def combination(value: SX, y: SX, owners: list[tuple[str, str]], dim: int) -> dict[str, float] | None:
    """Names of points and vectors and the weights whose sum gives `value` (dim,), if there are any.

    `owners`: name and axis of each entry of y, axes of one name in order.
    """
    J = ca.jacobian(value, y)
    if not J.is_constant():
        return None
    weights = np.array(ca.DM(J))
    found, left = {}, weights.copy()
    for i, (owner, axis) in enumerate(owners):
        if axis == "x" and weights[0, i]:
            found[owner] = float(weights[0, i])
            left[:, i : i + dim] -= weights[0, i] * np.eye(dim)
    rest = ca.substitute(value, y, SX.zeros(y.numel()))  # constant, or a function of time or parameters
    return found if found and not left.any() and rest.is_constant() and rest.is_zero() else None


@dataclass(eq=False)
class BasicComponent:
    """One component of a basic point or vector; `fixed`: its value as a function of time, or None if it is free.

    `weight`, `rate_weight`: weights of the start value and its rate in the assembly. `written`, `written_rate`:
    values in the item where they are prescribed (None: none).
    """

    name: str
    symbol: SX
    rate: SX
    start: float
    start_rate: float
    weight: float
    fixed: SX | None = None
    rate_weight: float = 1.0
    written: float | None = None
    written_rate: float | None = None

    @property
    def rate_name(self) -> str:
        owner, _, axis = self.name.rpartition(".")
        return f"{owner}.v{axis}" if owner and axis in AXES else f"{self.name}.rate"


@dataclass(frozen=True, eq=False)
class EquationRows:
    """Equations under one name. `text`: a description for readers. `conjugate`: the force of one multiplier is
    -conjugate * lam, with `unit`. `stated`: whether they contain numbers given by the user, not from the start."""

    name: str
    kind: str
    expression: SX
    text: str = ""
    conjugate: SX | float = 1.0
    unit: str = "J"
    stated: bool = False
