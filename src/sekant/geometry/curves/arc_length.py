"""Arc length of curves by Gauss quadrature, and any pose curve over its arc length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.curves.formulas import PoseFormula
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.tabulate import formula_of, retabulated
from sekant.geometry.fit.report import FitReport
from sekant.tables.hermite import piece_coefficients
from sekant.tables.pieces import horner

Array = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_FINE, _FINE_WEIGHTS = np.polynomial.legendre.leggauss(12)


def cumulative_length(derivative: Callable[[Array], Array], u: Array) -> Array:
    """Arc length (n,) from u[0] to each of the increasing u (n,): the integral of |dr/du| (HALL 3.72).

    `derivative` gives dr/du (k, 3) at k parameters. Eight Gauss points an interval.
    """
    h = np.diff(u)
    x = u[:-1, None] + 0.5 * h[:, None] * (1.0 + _NODES)
    speed = np.linalg.norm(derivative(x.ravel()), axis=-1).reshape(x.shape)
    return np.concatenate([[0.0], np.cumsum(0.5 * h * (speed @ _WEIGHTS))])


def along_arc_length(curve: PoseCurve, tolerance: float | None = None, parameter: str = "s") -> PoseCurve:
    """The same poses over arc length s [m], made from the curve's formula where it is known.

    `tolerance` is that of `refinement.refine`; the curve's own unless given. DataError where the position stands
    still: there arc length is no parameter.
    """
    formula = ArcLength(formula_of(curve), f"pose curve '{curve.name or curve.parameter}'", curve.parameter, curve.unit)
    t = curve.table
    increment = t.increment if curve.closed else None
    report = curve.report or FitReport("curve", "", parameter, "m", curve.orientation)
    result = retabulated(curve, formula, tolerance, report, increment, parameter=parameter, unit="m")
    speed = unit_speed_error(result.table.breaks, result.table.coefficients)
    return result.reported(parameter=parameter, unit="m", unit_speed_error=speed)


def unit_speed_error(breaks: Array, coefficients: Array, samples: int = 7) -> float:
    """Largest | |dr/ds| - 1 | (HALL 3.75) over `samples` places in each piece."""
    h = np.diff(breaks)
    worst = 0.0
    for share in np.linspace(0.0, 1.0, samples):
        speed = np.linalg.norm(horner(coefficients[:, :3], (share * h)[:, None], 1), axis=1)
        worst = max(worst, float(np.abs(speed - 1.0).max()))
    return worst


class ArcLength:
    """A formula over the length s of its path, from 0.

    s(u) is a quadrature over intervals short enough for it to be exact to rounding; u(s) starts from its quintic
    Hermite polynomial on the interval and is corrected by Newton's method. Derivatives follow from d/ds = g d/du with
    g = 1 / |r_u|, applied to jets.
    """

    def __init__(self, formula: PoseFormula, label: str, parameter: str, unit: str):
        self.formula, self.orientation = formula, formula.orientation
        self._where = label, parameter, unit
        u = self._intervals()
        length = self._lengths(u[:-1], np.diff(u))
        self._u, self._s = u, np.concatenate([[0.0], np.cumsum(length)])
        self.breaks = self._s[np.searchsorted(u, formula.breaks)]
        ends = [self._inverse_jet(u[:-1], 1), self._inverse_jet(u[1:], -1)]
        self._guess = piece_coefficients(length, *(end[:, :, None] for end in ends))[:, 0]

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        places = self._parameter(u, side)
        y = self.formula.jet(places, max(order, 1), side)
        if order == 0:
            return y[:1]
        g = self._rate(y[1:, :, :3], places)[..., None]
        out, current = [y[0]], y
        for _ in range(order):
            current = jets.product(g, current[1:])
            out.append(current[0])
        return np.stack(out)

    def _parameter(self, s: Array, side: int) -> Array:
        """u (n,) at the lengths s (n,)."""
        i = np.searchsorted(self._s, s, side="right" if side > 0 else "left") - 1
        i = np.clip(i, 0, len(self._s) - 2)
        local = s - self._s[i]
        low, high = self._u[i], self._u[i + 1]
        u = np.clip(horner(self._guess[i], local, 0), low, high)
        for _ in range(3):
            speed = np.linalg.norm(self.formula.jet(u, 1, side)[1, :, :3], axis=1)
            u = np.clip(u + (local - self._lengths(low, u - low)) / speed, low, high)
        return np.where(s == self._s[i], low, np.where(s == self._s[i + 1], high, u))

    def _lengths(self, a: Array, h: Array) -> Array:
        """Arc length (n,) from a to a + h, within one interval each."""
        x = a[:, None] + 0.5 * h[:, None] * (1.0 + _FINE)
        slope = self.formula.jet(x.ravel(), 1)[1, :, :3]
        return 0.5 * h * (np.linalg.norm(slope, axis=1).reshape(x.shape) @ _FINE_WEIGHTS)

    def _intervals(self) -> Array:
        """Ends of intervals on which the quadrature agrees with that over their halves."""
        left, right = self.formula.breaks[:-1], self.formula.breaks[1:]
        whole = self._lengths(left, right - left)
        least = 1e-9 * (right[-1] - left[0])
        ends, total = [right[-1:]], float(whole.sum())
        while left.size:
            middle = 0.5 * (left + right)
            halves = self._lengths(left, middle - left), self._lengths(middle, right - middle)
            uneven = np.maximum(*halves) > 1.5 * np.minimum(*halves)
            bad = (np.abs(whole - halves[0] - halves[1]) > 1e-15 * total) | uneven
            bad &= right - left > least
            ends.append(left[~bad])
            left, right = np.concatenate([left[bad], middle[bad]]), np.concatenate([middle[bad], right[bad]])
            whole = np.concatenate([half[bad] for half in halves])
        return np.sort(np.concatenate(ends))

    def _inverse_jet(self, u: Array, side: int) -> Array:
        """u and its first two derivatives by s (3, n)."""
        g = self._rate(self.formula.jet(u, 2, side)[1:, :, :3], u)
        return np.stack([u, g[0], g[0] * g[1]])

    def _rate(self, r1: Array, u: Array) -> Array:
        """du/ds and its derivatives by u from those of dr/du (K, n, 3)."""
        size = np.linalg.norm(r1[0], axis=1)
        bad = np.flatnonzero(size <= 1e-9 * max(float(size.max()), 1e-300))
        if bad.size:
            label, parameter, unit = self._where
            raise DataError(
                f"{label}: the position stands still at {parameter} = {u[bad[0]]:.6g} {unit}, so arc length is no "
                "parameter there; keep the present one"
            )
        speed = jets.root(jets.dot(r1, r1))
        one = np.zeros_like(speed)
        one[0] = 1.0
        return jets.quotient(one, speed)
