"""How smooth a piecewise polynomial is: the order of continuity over its breaks, and where the first
jump lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from sekant.tables.pieces import horner

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
        text = f"C{self.order}"
        if self.orientation is not None and self.position != self.orientation:
            text = f"C{self.position} position, C{self.orientation} orientation"
        if self.where is None:
            return text
        step = f"derivative {self.order + 1} jumps by {self.jump:.3g} of its size at {self.where:.9g}"
        return f"{text} ({step})"


def break_jumps(breaks: Array, coefficients: Array, order: int, increment: Array | None = None) -> Array:
    """Jump (n - 1, m) of a derivative over the inner breaks; of a closed curve, which gains `increment`
    (m,) in each period, (n, m) with the seam last. There quaternions may differ in sign and angles by whole
    turns.
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


def continuity_of(
    breaks: Array, coefficients: Array, increment: Array | None = None, tolerance: float = 1e-5
) -> Continuity:
    """Largest order to which all components (n, m, k) are continuous over all breaks.

    A derivative jumps where left and right differ by more than `tolerance` of the largest value of that derivative
    in its group (positions, orientation) and by more than rounding can explain. `increment` (m,) makes the curve
    closed: its seam counts too.
    """
    m, k = coefficients.shape[1:]
    h = np.diff(breaks)
    closed = increment is not None
    near = np.minimum(h, np.roll(h, -1)) if closed else np.minimum(h[:-1], h[1:])
    places = breaks[1:] if closed else breaks[1:-1]
    found: list[tuple[int, float | None, float]] = []
    for group in [slice(0, 3), slice(3, m)] if m > 3 else [slice(0, 3)]:
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
