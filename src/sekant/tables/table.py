"""Tables: piecewise polynomials of one or two variables, with exact derivatives.

On piece i, ``breaks[i] <= x < breaks[i+1]``, component j of a table is

    y_j(x) = sum_p coefficients[i, j, p] (x - breaks[i])^p ,

and the last piece includes the upper end of the range. Outside its range a table continues by its
`extrapolation`:

========== =====================================================================================
error      NaN; the range counts as 1e-9 of its length wider at both ends, to allow for round-off
constant   the value at the end
linear     the tangent at the end
polynomial the polynomial of the last piece
periodic   repeats; each period adds `increment` (zero by default; a closed track adds 2 pi of heading)
explicit   the polynomials `outside[0]` (below, in powers of x - range[0]), `outside[1]` (above, x - range[1])
========== =====================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sekant.errors import DataError
from sekant.tables.pieces import (
    axis_kinks,
    check_breaks,
    check_extrapolation,
    check_finite,
    continuation,
    differentiate,
    extrapolation_limits,
    horner,
    integrate,
    locate,
    locate_one,
    monomials,
    shift_polynomial,
    with_continuations,
)
from sekant.tables.splines import bspline_pieces, monotone_slopes, smooth_slopes, through_slopes


@dataclass(frozen=True, eq=False)
class Table:
    """A piecewise polynomial R -> R^m. Two tables are equal only if they are the same object.

    `breaks` (n+1,): strictly increasing, in the unit of the argument.
    `coefficients` (n, m, k): ascending powers of the distance from the left break of the piece.
    `increment` (m,): growth over one period, for extrapolation "periodic" only.
    `outside` (2, m, k): for extrapolation "explicit" only.
    `name`, `unit` (of the values): for messages.
    """

    breaks: np.ndarray
    coefficients: np.ndarray
    extrapolation: str = "error"
    name: str = ""
    unit: str = ""
    increment: Any = field(default=None, repr=False)
    outside: Any = field(default=None, repr=False)

    @property
    def content(self) -> tuple[str | bytes, ...]:
        """All data that distinguish the table from another one."""
        outside = b"" if self.outside is None else np.asarray(self.outside, float).tobytes()
        words = repr((self.extrapolation, self.name, self.unit, self.coefficients.shape))
        return words, *(x.tobytes() for x in (self.breaks, self.coefficients, self.increment)), outside

    def __post_init__(self):
        breaks = check_breaks(self.breaks, self.label)
        c = np.array(self.coefficients, dtype=float)
        if c.ndim != 3 or c.shape[0] != breaks.size - 1 or 0 in c.shape:
            raise DataError(
                f"{self.label}: with {breaks.size} breaks, the coefficients must have shape "
                f"({breaks.size - 1}, components, powers) (got {c.shape})"
            )
        check_finite(c, self.label, "coefficients")
        check_extrapolation(self.extrapolation, self.label)
        m, k = c.shape[1:]
        increment, outside = self.increment, self.outside
        if (increment is not None) and self.extrapolation != "periodic":
            raise DataError(f"{self.label}: an increment requires extrapolation 'periodic'")
        if (outside is not None) != (self.extrapolation == "explicit"):
            raise DataError(
                f"{self.label}: outside polynomials and extrapolation 'explicit' require each other"
            )
        increment = np.zeros(m) if increment is None else np.broadcast_to(np.asarray(increment, float), (m,))
        if outside is not None and np.shape(outside) != (2, m, k):
            raise DataError(f"{self.label}: outside polynomials must have shape {(2, m, k)}")
        if self.extrapolation == "linear" and k == 1:
            c = np.concatenate([c, np.zeros_like(c)], axis=2)
        _freeze(self, breaks=breaks, coefficients=c, increment=increment.copy())
        if outside is None:
            outside = np.stack([self._end_polynomial(0), self._end_polynomial(-1)])
        _freeze(self, outside=np.array(outside, dtype=float))

    def _end_polynomial(self, end: int) -> np.ndarray:
        """(m, k): the continuation below (end 0) or above (end -1), about that end."""
        piece = self.coefficients[end]
        at = 0.0 if end == 0 else self.breaks[-1] - self.breaks[-2]
        return continuation(shift_polynomial(piece, at), self.extrapolation)

    @property
    def label(self) -> str:
        return f"table '{self.name}'" if self.name else "table"

    @property
    def dimension(self) -> int:
        """Number of its arguments."""
        return 1

    @property
    def components(self) -> int:
        return self.coefficients.shape[1]

    @property
    def powers(self) -> int:
        """Number of coefficients of a component on a piece (degree + 1)."""
        return self.coefficients.shape[2]

    @property
    def range(self) -> tuple[float, float]:
        return float(self.breaks[0]), float(self.breaks[-1])

    @property
    def limits(self) -> tuple[float, float]:
        """The values at which the continuation begins; see `extrapolation_limits`."""
        return extrapolation_limits(self.breaks, self.extrapolation)

    def __call__(self, x: Any, order: int = 0) -> np.ndarray:
        """Values of a derivative, with shape ``shape(x) + (m,)``."""
        x = np.asarray(x, dtype=float)
        local, row, laps = locate(self.breaks, self.extrapolation, x)
        rows = np.concatenate([self.outside[:1], self.coefficients, self.outside[1:]])
        y = horner(rows[row], local[..., None], order)
        return y + laps[..., None] * self.increment if order == 0 else y

    def at(self, x: float, order: int = 0) -> np.ndarray:
        """(m,): the derivative at one number."""
        u, row, laps = locate_one(self.breaks, self.extrapolation, x)
        pieces = self.coefficients
        c = pieces[row - 1] if 0 < row <= len(pieces) else self.outside[0 if row == 0 else 1]
        y = c @ monomials(u, self.powers, order)
        return y + laps * self.increment if laps and order == 0 else y

    def derivative(self, order: int = 1) -> Table:
        """The table of the derivative. Its jumps are those of the derivative at the breaks."""
        kind = {"linear": "constant" if order == 1 else "explicit", "constant": "explicit"}
        extrapolation = kind.get(self.extrapolation, self.extrapolation)
        outside = differentiate(self.outside, order) if extrapolation == "explicit" else None
        c = differentiate(self.coefficients, order)
        return Table(self.breaks, c, extrapolation, self.name, outside=outside)

    def antiderivative(self, start: float | None = None) -> Table:
        """The table Y with Y' = y and Y(start) = 0; `start` is by default the lower end of the range."""
        if np.any(self.increment):
            raise DataError(
                f"{self.label}: it grows by {self.increment} each period, so its antiderivative cannot be a table"
            )
        c = integrate(self.coefficients)
        width = np.diff(self.breaks)
        gain = horner(c, width[:, None], 0)
        total = np.concatenate([np.zeros((1, self.components)), np.cumsum(gain, axis=0)])
        c[:, :, 0] = total[:-1]
        kind = {"constant": "linear", "linear": "explicit"}.get(self.extrapolation, self.extrapolation)
        outside = integrate(self.outside) if kind == "explicit" else None
        if outside is not None:
            outside[:, :, 0] = total[[0, -1]]
        increment = total[-1] if kind == "periodic" else None
        result = Table(self.breaks, c, kind, self.name, increment=increment, outside=outside)
        return result if start is None else result.plus(-result(start))

    def plus(self, offset: Any) -> Table:
        """The table with `offset` (m,) added to its values."""
        offset = np.broadcast_to(np.asarray(offset, float), (self.components,))
        c = self.coefficients.copy()
        c[:, :, 0] += offset
        outside = None
        if self.extrapolation == "explicit":
            outside = self.outside.copy()
            outside[:, :, 0] += offset
        increment = self.increment if self.extrapolation == "periodic" else None
        return Table(self.breaks, c, self.extrapolation, self.name, self.unit, increment, outside)

    @property
    def kinks(self) -> np.ndarray:
        """The breaks, ends of the range included, at which the value or the first derivative jumps."""
        c, w = self.coefficients, np.diff(self.breaks)
        jumps = []
        for order in (0, 1):
            d = differentiate(c, order)
            left = horner(d, w[:, None], 0)
            right = d[:, :, 0]
            scale = np.max(np.abs(np.stack([left, right])), axis=(0, 1)) + 1e-300
            before, after = differentiate(self.outside, order)[:, :, 0]
            if self.extrapolation == "periodic":
                shift = self.increment if order == 0 else 0.0
                before, after = left[-1] - shift, right[0] + shift
            elif self.extrapolation == "error":
                before, after = right[0], left[-1]
            jump = np.abs(np.vstack([before, left]) - np.vstack([right, after])) / scale
            jumps.append(np.any(jump > 1e-9, axis=1))
        return self.breaks[jumps[0] | jumps[1]]

    def range_error(self, x: float) -> DataError:
        """The error to raise when `x` is outside the range of a table with extrapolation "error"."""
        a, b = self.range
        return DataError(
            f"{self.label}: {x:.6g} is outside its range [{a:.6g}, {b:.6g}]; extend the data, "
            "choose another extrapolation, or keep the motion inside"
        )

    @classmethod
    def linear(cls, x: Any, y: Any, **options: Any) -> Table:
        """Straight lines through the points `x` (n,), `y` (n,) or (n, m). Options: fields of the class."""
        x, y = _points(x, y, options.get("name", ""))
        slope = np.diff(y, axis=0) / np.diff(x)[:, None]
        return cls(x, np.stack([y[:-1], slope], axis=2), **options)

    @classmethod
    def cubic(cls, x: Any, y: Any, ends: Any = "not-a-knot", **options: Any) -> Table:
        """The C2 cubic spline; `ends` as ``bc_type`` of SciPy's CubicSpline ("natural", "periodic", ...)."""
        x, y = _points(x, y, options.get("name", ""))
        if ends == "not-a-knot" and x.size > 3:
            return cls(x, through_slopes(x, y, smooth_slopes(x, y)), **options)
        from scipy.interpolate import CubicSpline

        return cls.from_scipy(CubicSpline(x, y, bc_type=ends), **options)

    @classmethod
    def pchip(cls, x: Any, y: Any, **options: Any) -> Table:
        """The monotone C1 cubic interpolant (no overshoot)."""
        x, y = _points(x, y, options.get("name", ""))
        slopes = (
            monotone_slopes(x, y) if x.size > 2 else np.repeat(np.diff(y, axis=0) / np.diff(x), 2, axis=0)
        )
        return cls(x, through_slopes(x, y, slopes), **options)

    @classmethod
    def hermite(cls, x: Any, *derivatives: Any, **options: Any) -> Table:
        """Polynomials of degree 2r-1 through r data: value, first, ... derivative, each (n,) or (n, m)."""
        from scipy.interpolate import BPoly, PPoly

        x = check_breaks(x, f"table '{options.get('name', '')}'")
        data = np.stack([_points(x, d, options.get("name", ""))[1] for d in derivatives], axis=1)
        return cls.from_scipy(PPoly.from_bernstein_basis(BPoly.from_derivatives(x, data)), **options)

    @classmethod
    def from_scipy(cls, spline: Any, **options: Any) -> Table:
        """From a SciPy PPoly (CubicSpline and the like) or BSpline, with values of shape () or (m,)."""
        from scipy.interpolate import BSpline, PPoly

        if isinstance(spline, BSpline):
            return cls(*bspline_pieces(spline), **options)
        if not isinstance(spline, PPoly):
            raise DataError(
                f"table '{options.get('name', '')}': {type(spline).__name__} is not a PPoly or BSpline"
            )
        c = np.asarray(spline.c)[::-1].reshape(spline.c.shape[0], spline.c.shape[1], -1)
        return cls(np.asarray(spline.x), np.moveaxis(c, 0, 2), **options)


def _points(x: Any, y: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    label = f"table '{name}'" if name else "table"
    x = check_breaks(x, label)
    y = np.asarray(y, dtype=float)
    if y.ndim not in (1, 2) or y.shape[0] != x.size:
        raise DataError(
            f"{label}: there must be one value per point (got {x.size} points and values of shape {y.shape})"
        )
    check_finite(y, label, "values")
    return x, y.reshape(x.size, -1)


def _freeze(table: Any, **arrays: np.ndarray) -> None:
    for name, value in arrays.items():
        value.setflags(write=False)
        object.__setattr__(table, name, value)


@dataclass(frozen=True, eq=False)
class Table2:
    """A tensor-product piecewise polynomial R^2 -> R^m.

    On patch (i1, i2), with u1 = x1 - breaks1[i1] and u2 = x2 - breaks2[i2],
    ``y_j = sum_pq coefficients[i1, i2, j, p, q] u1^p u2^q``. Each axis has its own extrapolation ("explicit"
    excepted); one string applies to both.
    """

    breaks1: np.ndarray
    breaks2: np.ndarray
    coefficients: np.ndarray
    extrapolation: str | Sequence[str] = "error"
    name: str = ""
    unit: str = ""

    def __post_init__(self):
        kinds = (
            (self.extrapolation,) * 2 if isinstance(self.extrapolation, str) else tuple(self.extrapolation)
        )
        for kind in kinds:
            check_extrapolation(kind, self.label)
        if len(kinds) != 2 or "explicit" in kinds:
            raise DataError(f"{self.label}: give one extrapolation for each axis, none of them 'explicit'")
        b1, b2 = (check_breaks(b, self.label) for b in (self.breaks1, self.breaks2))
        c = np.array(self.coefficients, dtype=float)
        if c.ndim != 5 or c.shape[:2] != (b1.size - 1, b2.size - 1) or 0 in c.shape:
            raise DataError(
                f"{self.label}: coefficients must have shape ({b1.size - 1}, {b2.size - 1}, components, "
                f"powers, powers) (got {c.shape})"
            )
        check_finite(c, self.label, "coefficients")
        for axis in (3, 4):
            if kinds[axis - 3] == "linear" and c.shape[axis] == 1:
                c = np.concatenate([c, np.zeros_like(c)], axis=axis)
        _freeze(self, breaks1=b1, breaks2=b2, coefficients=c)
        object.__setattr__(self, "extrapolation", kinds)

    @property
    def label(self) -> str:
        return f"table '{self.name}'" if self.name else "table"

    @property
    def dimension(self) -> int:
        """Number of its arguments."""
        return 2

    @property
    def components(self) -> int:
        return self.coefficients.shape[2]

    @property
    def powers(self) -> tuple[int, int]:
        return self.coefficients.shape[3], self.coefficients.shape[4]

    @property
    def range(self) -> tuple[tuple[float, float], tuple[float, float]]:
        (a1, *_, b1), (a2, *_, b2) = self.breaks1, self.breaks2
        return (float(a1), float(b1)), (float(a2), float(b2))

    @cached_property
    def rows(self) -> np.ndarray:
        """(n1+2, n2+2, m, k1, k2): all patches with their continuations around them."""
        c = with_continuations(self.coefficients, 0, 3, self.breaks1, self.extrapolation[0])
        return with_continuations(c, 1, 4, self.breaks2, self.extrapolation[1])

    def __call__(self, x1: Any, x2: Any, order: tuple[int, int] = (0, 0)) -> np.ndarray:
        """Derivative d^(o1+o2) y / dx1^o1 dx2^o2: shape ``broadcast(x1, x2).shape + (m,)``."""
        x1, x2 = np.broadcast_arrays(np.asarray(x1, float), np.asarray(x2, float))
        u1, i1, _ = locate(self.breaks1, self.extrapolation[0], x1)
        u2, i2, _ = locate(self.breaks2, self.extrapolation[1], x2)
        inner = horner(self.rows[i1, i2], u2[..., None, None], order[1])
        return horner(inner, u1[..., None], order[0])

    def at(self, x1: float, x2: float, order: tuple[int, int] = (0, 0)) -> np.ndarray:
        """(m,): the derivative at one pair of numbers."""
        u1, i1, _ = locate_one(self.breaks1, self.extrapolation[0], x1)
        u2, i2, _ = locate_one(self.breaks2, self.extrapolation[1], x2)
        k1, k2 = self.powers
        return self.rows[i1, i2] @ monomials(u2, k2, order[1]) @ monomials(u1, k1, order[0])

    @property
    def kinks(self) -> tuple[np.ndarray, np.ndarray]:
        """For each axis the interior breaks across which the value or the first derivative jumps."""
        c = self.coefficients
        return (
            axis_kinks(np.moveaxis(c, 3, 4), self.breaks1),
            axis_kinks(np.swapaxes(c, 0, 1), self.breaks2),
        )

    def range_error(self, x1: float, x2: float) -> DataError:
        """The error to raise when (x1, x2) is outside the range of a table with extrapolation "error"."""
        (a1, b1), (a2, b2) = self.range
        return DataError(
            f"{self.label}: ({x1:.6g}, {x2:.6g}) is outside its range [{a1:.6g}, {b1:.6g}] x "
            f"[{a2:.6g}, {b2:.6g}]; extend the data, choose another extrapolation, or keep the motion inside"
        )

    @classmethod
    def linear(cls, x1: Any, x2: Any, y: Any, **options: Any) -> Table2:
        """Bilinear through the grid `y` (n1, n2) or (n1, n2, m)."""
        return cls._tensor(Table.linear, x1, x2, y, options)

    @classmethod
    def cubic(cls, x1: Any, x2: Any, y: Any, **options: Any) -> Table2:
        """The C2 bicubic spline through the grid `y` (n1, n2) or (n1, n2, m), ends not-a-knot."""
        return cls._tensor(Table.cubic, x1, x2, y, options)

    @classmethod
    def _tensor(cls, interpolate: Any, x1: Any, x2: Any, y: Any, options: dict[str, Any]) -> Table2:
        """Interpolation along the first axis, then of its coefficients along the second."""
        name = options.get("name", "")
        x1, x2 = (check_breaks(x, f"table '{name}'") for x in (x1, x2))
        y = np.asarray(y, dtype=float)
        if y.ndim not in (2, 3) or y.shape[:2] != (x1.size, x2.size):
            raise DataError(
                f"table '{name}': there must be one value per point of the grid (got {x1.size} x {x2.size} "
                f"points and values of shape {y.shape})"
            )
        m = 1 if y.ndim == 2 else y.shape[2]
        first = interpolate(x1, y.reshape(x1.size, -1)).coefficients
        n1, k1 = first.shape[0], first.shape[2]
        first = np.moveaxis(first.reshape(n1, x2.size, m, k1), 1, 0)
        second = interpolate(x2, first.reshape(x2.size, -1)).coefficients
        c = second.reshape(x2.size - 1, n1, m, k1, second.shape[2])
        return cls(x1, x2, np.swapaxes(c, 0, 1), **options)
