"""Arc length of curves by Gauss quadrature, and any pose curve over its arc length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.curves.formulas import PoseFormula
from sekant.geometry.curves.integrals import (
    RESOLVED,
    at_share,
    gauss_places,
    integrated,
    series,
    subdivided,
    tail,
)
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.tabulate import formula_of, retabulated
from sekant.geometry.fit.report import FitReport
from sekant.tables.pieces import horner

Array = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


def cumulative_length(derivative: Callable[[Array], Array], u: Array) -> Array:
    """Arc length (n,) from u[0] to each of the increasing u (n,): the integral of |dr/du| (HALL 3.72).

    `derivative` gives dr/du (k, 3) at k parameters. Eight Gauss points per interval.
    """
    h = np.diff(u)
    x = u[:-1, None] + 0.5 * h[:, None] * (1.0 + _NODES)
    speed = np.linalg.norm(derivative(x.ravel()), axis=-1).reshape(x.shape)
    return np.concatenate([[0.0], np.cumsum(0.5 * h * (speed @ _WEIGHTS))])


def along_arc_length(curve: PoseCurve, tolerance: float | None = None, parameter: str = "s") -> PoseCurve:
    """The same poses over arc length s [m], computed from the curve's formula if it is known.

    `tolerance`: see `refinement.refine`; by default the curve's own. DataError if the position does not
    change somewhere: arc length is not a parameter there.
    """
    formula = ArcLength(
        formula_of(curve), f"pose curve '{curve.name or curve.parameter}'", curve.parameter, curve.unit
    )
    t = curve.table
    increment = t.increment if curve.closed else None
    report = curve.report or FitReport("curve", "", parameter, "m", curve.orientation)
    result = retabulated(curve, formula, tolerance, report, increment, parameter=parameter, unit="m")
    speed = unit_speed_error(result.table.breaks, result.table.coefficients)
    return result.reported(parameter=parameter, unit="m", unit_speed_error=speed)


def unit_speed_error(breaks: Array, coefficients: Array, samples: int = 7) -> float:
    """Largest | |dr/ds| - 1 | (HALL 3.75) at `samples` places in each piece."""
    h = np.diff(breaks)
    worst = 0.0
    for share in np.linspace(0.0, 1.0, samples):
        speed = np.linalg.norm(horner(coefficients[:, :3], (share * h)[:, None], 1), axis=1)
        worst = max(worst, float(np.abs(speed - 1.0).max()))
    return worst


class ArcLength:
    """A formula over the length s of its path, from 0.

    s(u) is the integral of |r_u| over intervals that are short enough for it to be exact to rounding;
    Newton's method on its series gives u(s). Derivatives follow from d/ds = g d/du with g = 1 / |r_u|,
    applied to jets.
    """

    def __init__(self, formula: PoseFormula, label: str, parameter: str, unit: str):
        self.formula, self.orientation = formula, formula.orientation
        self._where = label, parameter, unit
        self._u = self._intervals()
        h = np.diff(self._u)
        self._speed = series(self._speeds(self._u[:-1], self._u[1:]))
        self._length = integrated(self._speed, h)
        self._s = np.concatenate([[0.0], np.cumsum(at_share(self._length, np.ones(len(h))))])
        self.breaks = self._s[np.searchsorted(self._u, formula.breaks)]

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        places = self.parameter_at(u, side)
        y = self.formula.jet(places, order, side)
        if order == 0:
            return y
        g = self._rate(y[1:, :, :3], places)[..., None]
        out, current = [y[0]], y
        for _ in range(order):
            current = jets.product(g, current[1:])
            out.append(current[0])
        return np.stack(out)

    def parameter_at(self, s: Array, side: int = 1) -> Array:
        """u (n,) at the lengths s (n,)."""
        i = np.searchsorted(self._s, s, side="right" if side > 0 else "left") - 1
        i = np.clip(i, 0, len(self._s) - 2)
        local, h = s - self._s[i], self._u[i + 1] - self._u[i]
        share = local / (self._s[i + 1] - self._s[i])
        for _ in range(5):  # speeds differ by less than a half within an interval
            rest = local - at_share(self._length[i], share)
            share = np.clip(share + rest / (h * at_share(self._speed[i], share)), 0.0, 1.0)
        return np.where(s == self._s[i + 1], self._u[i + 1], self._u[i] + share * h)

    def length_at(self, u: Array) -> Array:
        """s (n,) at the parameters u (n,)."""
        i = np.clip(np.searchsorted(self._u, u, side="right") - 1, 0, len(self._u) - 2)
        share = (u - self._u[i]) / (self._u[i + 1] - self._u[i])
        inside = self._s[i] + at_share(self._length[i], share)
        return np.where(share <= 0.0, self._s[i], np.where(share >= 1.0, self._s[i + 1], inside))

    def _speeds(self, left: Array, right: Array) -> Array:
        """|r_u| (n, 12) at the Gauss points of intervals."""
        x = gauss_places(left, right)
        return np.linalg.norm(self.formula.jet(x.ravel(), 1)[1, :, :3], axis=1).reshape(x.shape)

    def _intervals(self) -> Array:
        """Ends (n,) of intervals on which the speed is resolved and differs by less than a half."""
        largest = 0.0

        def unresolved(left: Array, right: Array) -> NDArray[np.bool_]:
            nonlocal largest
            speed = self._speeds(left, right)
            largest = max(largest, float(speed.max()))
            return (tail(series(speed)) > RESOLVED * largest) | (speed.max(axis=1) > 1.5 * speed.min(axis=1))

        nodes = subdivided(self.formula.breaks, unresolved)
        self._rate(self.formula.jet(nodes, 1)[1:, :, :3], nodes, largest)
        return nodes

    def _rate(self, r1: Array, u: Array, largest: float = 0.0) -> Array:
        """du/ds and its derivatives with respect to u, from dr/du and its derivatives (K, n, 3)."""
        size = np.linalg.norm(r1[0], axis=1)
        bad = np.flatnonzero(size <= 1e-9 * max(float(size.max(initial=0.0)), largest, 1e-300))
        if bad.size:
            label, parameter, unit = self._where
            raise DataError(
                f"{label}: the position does not change at {parameter} = {u[bad[0]]:.6g} {unit}, so arc "
                "length cannot be the parameter there; keep the current parameter"
            )
        speed = jets.root(jets.dot(r1, r1))
        one = np.zeros_like(speed)
        one[0] = 1.0
        return jets.quotient(one, speed)
