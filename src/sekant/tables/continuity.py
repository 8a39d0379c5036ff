"""Smoothness of a piecewise polynomial: the order of continuity over its breaks, and the place of the first jump."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from sekant.tables.pieces import horner, shift_polynomial
from sekant.tables.table import Table, Table2

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Continuity:
    """Derivatives up to `order` are continuous; the next one jumps by `jump` (relative to its size) at `where`.

    `position` and `orientation` are the orders of the two groups of components; `order` is the lower one.
    """

    order: int
    where: float | None = None
    jump: float = 0.0
    position: int = 0
    orientation: int | None = None

    def __str__(self) -> str:
        if self.order < 0:
            return f"not continuous (the value jumps by {self.jump:.3g} of its size at {self.where:.9g})"
        text = f"C{self.order}"
        if self.orientation is not None and self.position != self.orientation:
            text = f"C{self.position} position, C{self.orientation} orientation"
        if self.where is None:
            return text
        step = f"derivative {self.order + 1} jumps by {self.jump:.3g} of its size at {self.where:.9g}"
        return f"{text} ({step})"


def break_jumps(breaks: Array, coefficients: Array, order: int, increment: Array | None = None) -> Array:
    """Jump (n - 1, m) of a derivative over the inner breaks; for a closed curve, which grows by `increment`
    (m,) in each period, (n, m) with the seam last. At the seam, quaternions may differ in sign and angles by
    whole turns.
    """
    left = horner(coefficients, np.diff(breaks)[:, None], order)
    right = coefficients[:, :, order] * factorial(order)
    jumps = right[1:] - left[:-1]
    if increment is not None:
        seam = right[:1] - left[-1:] + (increment if order == 0 else 0.0)
        if coefficients.shape[1] >= 7:
            flipped = right[:1] + left[-1:]
            use = np.linalg.norm(flipped[:, 3:]) < np.linalg.norm(seam[:, 3:])
            seam[:, 3:] = flipped[:, 3:] if use else seam[:, 3:]
        elif order == 0:
            seam[:, 3:] = np.angle(np.exp(1j * seam[:, 3:]))
        jumps = np.concatenate([jumps, seam])
    return jumps


def table_continuity(table: Table) -> Continuity:
    """Continuity of a table, including the ends of its range if it continues beyond them."""
    breaks, c = table.breaks, table.coefficients
    if table.extrapolation == "periodic":
        return continuity_of(breaks, c, table.increment, split=table.components)
    if table.extrapolation != "error":
        width = float(breaks[-1] - breaks[0])
        k = max(c.shape[2], table.outside.shape[2])
        rows = [shift_polynomial(table.outside[:1], -width), c, table.outside[1:]]
        c = np.concatenate([np.pad(row, ((0, 0), (0, 0), (0, k - row.shape[2]))) for row in rows])
        breaks = np.concatenate([[breaks[0] - width], breaks, [breaks[-1] + width]])
    return continuity_of(breaks, c, split=table.components)


def grid_continuity(table: Table2, split: int = 3) -> tuple[Continuity, Continuity]:
    """Continuity along the first and along the second argument, over lines through the patches; see
    `continuity_of`."""
    c = table.coefficients
    found = []
    for axis, (breaks, across) in enumerate(((table.breaks1, table.breaks2), (table.breaks2, table.breaks1))):
        along = c if axis == 0 else np.transpose(c, (1, 0, 2, 4, 3))  # (n, n across, m, k, k across)
        h = np.diff(across)
        lines = [
            horner(along, (share * h)[:, None, None], 0) for share in (0.0, 0.5)
        ]  # (n, n across, m, k) each
        rows = np.concatenate(lines, axis=1).transpose(0, 2, 1, 3)  # (n, m, lines, k)
        flat = rows.reshape(len(breaks) - 1, -1, rows.shape[3])
        closed = np.zeros(flat.shape[1]) if table.extrapolation[axis] == "periodic" else None
        found.append(continuity_of(breaks, flat, closed, split=split * rows.shape[2]))
    return found[0], found[1]


def continuity_of(
    breaks: Array,
    coefficients: Array,
    increment: Array | None = None,
    tolerance: float = 1e-5,
    split: int = 3,
) -> Continuity:
    """Largest order to which all components (n, m, k) are continuous over all breaks.

    A derivative jumps where left and right differ by more than `tolerance` of the largest value of that derivative
    in its group (the first `split` components are positions, the others orientation) and by more than rounding can
    explain. With `increment` (m,) the curve is closed, and its seam is included.
    """
    m, k = coefficients.shape[1:]
    h = np.diff(breaks)
    closed = increment is not None
    near = np.minimum(h, np.roll(h, -1)) if closed else np.minimum(h[:-1], h[1:])
    places = breaks[1:] if closed else breaks[1:-1]
    found: list[tuple[int, float | None, float]] = []
    for group in [slice(0, split), slice(split, m)] if m > split else [slice(0, split)]:
        found.append(_group_order(breaks, coefficients, increment, group, near, places, tolerance))
    order, where, jump = min(found, key=lambda item: item[0]) if len(places) else (k - 1, None, 0.0)
    position = found[0][0] if len(places) else k - 1
    orientation = None if len(found) == 1 else found[1][0] if len(places) else k - 1
    return Continuity(order, where, jump, position, orientation)


def _group_order(
    breaks: Array,
    coefficients: Array,
    increment: Array | None,
    group: slice,
    near: Array,
    places: Array,
    tolerance: float,
) -> tuple[int, float | None, float]:
    """Order of continuity of a group of components, and place and relative size of the first jump."""
    k = coefficients.shape[-1]
    size = float(np.abs(coefficients[:, group, 0]).max()) + 1e-300
    for order in range(k) if len(places) else ():
        scale = float(np.abs(coefficients[:, group, order]).max()) * factorial(order)
        jumps = np.abs(break_jumps(breaks, coefficients, order, increment))[:, group].max(axis=1)
        rounding = 4096.0 * np.finfo(float).eps * size * factorial(k - 1) / near**order
        excess = jumps - tolerance * scale - rounding
        if np.any(excess > 0.0):
            row = int(np.argmax(excess))
            return order - 1, float(places[row]), float(jumps[row] / max(scale, 1e-300))
    return k - 1, None, 0.0
