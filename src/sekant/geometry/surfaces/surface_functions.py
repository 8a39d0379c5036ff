"""Pose surfaces from formulas of two CasADi symbols, as tensor-product Hermite patches of degree 5 or 7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry.curves.piece_errors import differences, sizes
from sekant.geometry.curves.pose_functions import pose_components
from sekant.geometry.curves.refinement import check_range
from sekant.geometry.fit.report import FitReport
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.tables.hermite import piece_coefficients
from sekant.tables.table import Table2

Array = NDArray[np.float64]
Range2 = tuple[tuple[float, float], tuple[float, float]]
PROBES = (0.11, 0.3, 0.5, 0.89)
"""Points in each patch, along each side, at which errors are evaluated."""
_MOST = 16_384  # patches
_SATURATED = 1e6  # multiple of the tolerance above which patches may be too long to show how errors decrease


def surface_from_function(
    function: Callable[[ca.SX, ca.SX], Any],
    range: Range2,
    *,
    orientation: str = "quaternion",
    tolerance: float = 1e-9,
    degree: int = 7,
    parameters: tuple[str, str] = ("u1", "u2"),
    units: tuple[str, str] = ("", ""),
    extrapolation: str | tuple[str, str] = "error",
    name: str = "",
    most: int = 256,
) -> PoseSurface:
    """Surface of `function`(u1, u2) -> position (3) [m], or (position, rotation) with quaternion (4) or, with
    `orientation="euler:zyx"`, angles [rad]. The grid is doubled in the direction that needs it until the pose
    between the nodes is within `tolerance` (position [m], rotation [rad]), and twists and their rates along
    u1, u2 and both at once are within that fraction of the largest ones. `degree`: 5 or 7. Degenerate
    tangents are located and
    reported. DataError if no grid is sufficient. Errors of second derivatives should fall as h^(degree - 1)
    with the length h of patches; if they do not, there is a kink, or rounding errors dominate."""
    u1, u2 = ca.SX.sym("u1"), ca.SX.sym("u2")  # type: ignore[call-arg]
    value = function(u1, u2)
    position, rotation = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    y, kind = pose_components(position, rotation, orientation)
    if kind == "matrix":
        raise DataError("the rotation of a surface must be a quaternion or Euler angles, not a matrix")
    tag = "none" if kind == "none" else orientation
    jets = _MixedDerivatives(u1, u2, y, (degree + 1) // 2)
    (a1, b1), (a2, b2) = range
    check_range(a1, b1)
    check_range(a2, b2)
    counts, before = [4, 4], [np.inf, np.inf]
    while True:
        x1, x2 = np.linspace(a1, b1, counts[0] + 1), np.linspace(a2, b2, counts[1] + 1)
        c = _patches(jets, x1, x2)
        table = Table2(x1, x2, c, extrapolation, name)
        between1, between2 = _between(x1), _between(x2)
        along1, along2 = (
            _errors(jets, table, tag, *grid, tolerance) for grid in ((between1, x2), (x1, between2))
        )
        if max(along1.share, along2.share) <= 1.0:
            inside = _errors(jets, table, tag, between1, between2, tolerance)
            if inside.share <= 1.0:
                break
            along1 = along2 = inside
        shares = along1.share, along2.share
        needed = [n * share ** (1.0 / (degree - 1)) for n, share in zip(counts, shares, strict=True)]
        stuck = any(0.5 * last < share < _SATURATED for share, last in zip(shares, before, strict=True))
        wrong = [share > 1.0 for share in shares]
        counts, held = [n * 2 if more else n for n, more in zip(counts, wrong, strict=True)], counts
        if stuck or max(needed) > 2 * most or max(counts) > most or counts[0] * counts[1] > _MOST:
            raise DataError(
                f"{held[0]} x {held[1]} patches miss the surface by {max(shares) * tolerance:.3g} (allowed "
                f"{tolerance:g}), and "
                f"{'more patches do not help' if stuck else f'more than {most} patches per side would be needed'}; "
                "the surface may have a kink or a singularity; shrink the range or raise the tolerance"
            )
        before = [share if more else np.inf for share, more in zip(shares, wrong, strict=True)]
    seen = [max(found) for found in zip(along1.values, along2.values, inside.values, strict=True)]
    surface = PoseSurface(table, tag, parameters=parameters, units=units, name=name)
    report = FitReport(
        source="function",
        method=f"Hermite patches of degree {degree} x {degree}",
        parameter=" x ".join(parameters),
        unit=" x ".join(u or "1" for u in units),
        orientation=tag,
        pieces=counts[0] * counts[1],
        tolerance=tolerance,
        between_nodes=tuple(seen),
        degenerate=tuple(surface.degenerate_points()),
    )
    return PoseSurface(table, tag, parameters=parameters, units=units, name=name, report=report)


class _Errors(NamedTuple):
    """`values`: position [m], rotation [rad], twist and its rate (angular, linear each) as fractions of the largest.

    `share`: the largest of them over the tolerance.
    """

    values: tuple[float, ...]
    share: float


def _between(x: Array) -> Array:
    """Points between nodes at which the errors of values and of second derivatives are largest."""
    return (x[:-1, None] + np.diff(x)[:, None] * np.array(PROBES)).ravel()


def _errors(
    jets: _MixedDerivatives, table: Table2, orientation: str, x1: Array, x2: Array, tolerance: float
) -> _Errors:
    """Largest errors on a grid, over motions along u1, u2 and both, with the spans of the table as rates."""
    derivatives = jets.grid(x1, x2).reshape(jets.s, jets.s, -1, jets.m)
    g1, g2 = (g.ravel() for g in np.meshgrid(x1, x2, indexing="ij"))
    orders = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    truth = {order: derivatives[order] for order in orders}
    found = {order: table(g1, g2, order) for order in orders}
    spans = [float(breaks[-1] - breaks[0]) for breaks in (table.breaks1, table.breaks2)]
    values = np.zeros(6)
    for w1, w2 in ((spans[0], 0.0), (0.0, spans[1]), (spans[0], spans[1])):
        true, stored = (_along(parts, w1, w2) for parts in (truth, found))
        largest = sizes(true, orientation).max(axis=1)
        worst = differences(stored, true, orientation).max(axis=1)
        scale = np.where(largest > 0.0, largest, 1.0)
        scale[:2] = 1.0
        values = np.maximum(values, worst / scale)
    return _Errors(tuple(values.tolist()), float(values.max()) / tolerance)


def _along(parts: dict[tuple[int, int], Array], w1: float, w2: float) -> Array:
    """Jet (3, n, m) of the components for the constant rates w1 of u1 and w2 of u2."""
    second = w1 * w1 * parts[2, 0] + 2.0 * w1 * w2 * parts[1, 1] + w2 * w2 * parts[0, 2]
    return np.stack([parts[0, 0], w1 * parts[1, 0] + w2 * parts[0, 1], second])


class _MixedDerivatives:
    """All mixed partial derivatives below order s in each variable, on grids."""

    def __init__(self, u1: ca.SX, u2: ca.SX, y: ca.SX, s: int):
        rows = [ca.densify(y)]
        for _ in range(s - 1):
            rows.append(ca.densify(ca.jacobian(rows[-1], u1)))
        blocks = []
        for row in rows:
            column = row
            for _ in range(s):
                blocks.append(column)
                column = ca.densify(ca.jacobian(column, u2))
        self.s, self.m = s, y.numel()
        self.function = ca.Function("surface", [u1, u2], [ca.horzcat(*blocks)])

    def grid(self, x1: Array, x2: Array) -> Array:
        """(s, s, n1, n2, m): derivative orders in u1 and u2, grid, components."""
        g1, g2 = (g.ravel() for g in np.meshgrid(x1, x2, indexing="ij"))
        flat = np.asarray(self.function.map(len(g1))(g1.reshape(1, -1), g2.reshape(1, -1)).full())
        if not np.isfinite(flat).all():
            raise DataError(
                "the surface or one of its derivatives is not finite everywhere in the range; shrink the "
                "range"
            )
        shaped = flat.reshape(self.m, len(x1), len(x2), self.s, self.s)
        return np.transpose(shaped, (3, 4, 1, 2, 0))


def _patches(jets: _MixedDerivatives, x1: Array, x2: Array) -> Array:
    """Coefficients (n1, n2, m, k1, k2): Hermite along u1 for every derivative with respect to u2, then along u2."""
    D = jets.grid(x1, x2)
    s, n1, n2, m = D.shape[0], len(x1) - 1, len(x2), D.shape[-1]
    first = np.moveaxis(D, 1, 3).reshape(s, n1 + 1, n2 * s * m)  # (s1, n1+1, n2*s2*m) in order n2, s2, m
    c1 = piece_coefficients(np.diff(x1), first[:, :-1], first[:, 1:])  # (n1, n2*s2*m, k1)
    k = c1.shape[-1]
    second = c1.reshape(n1, n2, s, m, k).transpose(2, 1, 0, 3, 4).reshape(s, n2, n1 * m * k)
    c2 = piece_coefficients(np.diff(x2), second[:, :-1], second[:, 1:])  # (n2-1, n1*m*k1, k2)
    return c2.reshape(n2 - 1, n1, m, k, k).transpose(1, 0, 2, 3, 4)
