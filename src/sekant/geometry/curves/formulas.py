"""The source of a pose curve: exact derivatives of the components of its pose at any place.

A formula is stored along with the pieces: frames and arc length are computed from it, never from an
approximation. If only pieces are known (fits, files), they are the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry import jets
from sekant.geometry.rotations import check_rotations, continue_signs, quaternion_from_rotation
from sekant.tables.pieces import horner
from sekant.tables.table import Table

Array = NDArray[np.float64]


class PoseFormula(Protocol):
    """Components of a pose (see `pose_kinematics`) over `breaks[0]` to `breaks[-1]`."""

    orientation: str
    breaks: Array
    """ends of the range, and the places between them where a derivative may jump"""

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        """Components and their derivatives (order + 1, n, m) at u (n,); at a break, those of the right side,
        or of the left one if side = -1."""
        ...


def beside(u: Array, breaks: Array, side: int) -> Array:
    """u (n,) with values on a break moved by a rounding error to the given side, but not out of the range."""
    nudge = 4.0 * np.finfo(float).eps * max(abs(breaks[0]), abs(breaks[-1]))
    moved = np.where(np.isin(u, breaks[1:-1]), u + side * nudge, u)
    return np.clip(moved, breaks[0], breaks[-1])


class TableFormula:
    """Piecewise polynomials, taken as exact."""

    def __init__(self, table: Table, orientation: str = "none"):
        self.table = table
        self.orientation = orientation
        self.breaks = table.breaks

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        piece = np.searchsorted(self.breaks, u, side="right" if side > 0 else "left") - 1
        piece = np.clip(piece, 0, len(self.breaks) - 2)
        local = (u - self.breaks[piece])[:, None]
        c = self.table.coefficients[piece]
        return np.stack([horner(c, local, k) for k in range(order + 1)])


class ExpressionFormula:
    """Expressions `y` of one CasADi symbol: position (3), and a rotation matrix row by row (9) or `orientation`'s
    components. `kinks` are places where the expressions are not smooth."""

    def __init__(
        self,
        symbol: ca.SX,
        y: ca.SX,
        range: tuple[float, float],
        orientation: str = "none",
        matrix: bool = False,
        kinks: tuple[float, ...] = (),
    ):
        a, b = float(range[0]), float(range[1])
        self.orientation = orientation
        self.breaks = np.array([a, *sorted(x for x in kinks if a < x < b), b])
        self._symbol, self._matrix = symbol, matrix
        self._stack = [ca.densify(y)]
        self._functions: dict[int, ca.Function] = {}
        self._signs: Callable[[Array], Array] | None = self._follow_signs() if matrix else None

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        raw = self._evaluate(beside(u, self.breaks, side), order)
        if self._signs is not None:
            raw[..., 3:] *= np.where(np.sum(raw[0, :, 3:] * self._signs(u), axis=1) < 0.0, -1.0, 1.0)[:, None]
        return raw

    def _evaluate(self, u: Array, order: int) -> Array:
        """(order + 1, n, m); matrices become quaternions of either sign."""
        while len(self._stack) <= order:
            self._stack.append(ca.densify(ca.jacobian(self._stack[-1], self._symbol)))
        if order not in self._functions:
            parts = ca.horzcat(*self._stack[: order + 1])
            self._functions[order] = ca.Function("pose", [self._symbol], [parts])
        flat = np.asarray(self._functions[order].map(len(u))(u.reshape(1, -1)).full())
        jet = flat.reshape(-1, len(u), order + 1).transpose(2, 1, 0)
        if not self._matrix:
            return np.ascontiguousarray(jet)
        R = jet[..., 3:].reshape(order + 1, len(u), 3, 3)
        check_rotations(R[0])
        q = quaternion_from_rotation(R[0])
        turned = jets.quaternion_from_rate(q, jets.rate_from_rotation(R)) if order else q[None]
        return np.concatenate([jet[..., :3], turned], axis=-1)

    def _follow_signs(self) -> Callable[[Array], Array]:
        """Quaternions of matrices may have either sign. The sign is chosen continuously along samples so
        dense that neighbors are less than about 70 degrees apart."""
        a, b = self.breaks[0], self.breaks[-1]
        count = 257
        while True:
            record_u = np.linspace(a, b, count)
            record_q = self._evaluate(record_u, 0)[0, :, 3:]
            if np.abs(np.sum(record_q[1:] * record_q[:-1], axis=1)).min() > 0.82 or count > 200_000:
                break
            count = 2 * count - 1
        record = continue_signs(record_q)
        step = (b - a) / (count - 1)
        return lambda u: record[np.clip(np.round((u - a) / step).astype(int), 0, count - 1)]
