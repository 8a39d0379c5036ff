"""Quantities that pass through infinity: where plots are cut, and the text in tables beyond a bound.

A roll center goes to infinity where the lines of both sides become parallel; a turning circle does so where
the wheels point straight ahead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
BOUNDS = {
    "turning_circle": 200.0,
    "roll_center_y": 1.0,
    "roll_center_height": 2.0,
    "front_view_center_y": 50.0,
    "front_view_center_z": 50.0,
    "front_view_swing_arm": 50.0,
    "side_view_center_x": 200.0,
    "side_view_center_z": 200.0,
    "side_view_swing_arm": 200.0,
    "ackermann_share": 5.0,
}
"""Magnitude, in m or dimensionless, beyond which a quantity counts as infinite."""
FOLLOWS = {"roll_center_height": "roll_center_y"}
"""Quantities that are meaningless where another quantity exceeds its bound, because the lines of both sides are
nearly parallel there."""
USUAL = 6.0  # times the median magnitude: plots are cut there, so that a pole does not flatten the rest


def bound_of(column: str) -> float | None:
    """The magnitude beyond which a column such as ``left.roll_center_height`` counts as infinite, SI; None for
    other columns."""
    return BOUNDS.get(column.rpartition(".")[2])


def cut_at(column: str, values: Vector) -> float | None:
    """The magnitude (SI) at which a plot of these values is cut; None if no cut is needed."""
    bound = bound_of(column)
    sizes = np.abs(values[np.isfinite(values)])
    if bound is None or not sizes.size:
        return None
    usual = max(USUAL * float(np.median(sizes)), 0.05 * bound)
    found = min(bound, usual)
    return found if sizes.max() > found else None


def cut_off(column: str, values: Vector, guide: Vector | None = None) -> NDArray[np.bool_]:
    """Mask of the values (any shape, SI) that a plot leaves out; `guide`: values of the quantity that `FOLLOWS`
    names."""
    bound, named = cut_at(column, values), FOLLOWS.get(column)
    found = np.zeros(values.shape, bool) if bound is None else np.abs(values) > bound
    if guide is not None and named is not None:
        found |= np.abs(guide) > BOUNDS[named]
    return found & np.isfinite(values)


def shown_number(column: str, value: float, factor: float, digits: int = 4) -> str:
    """A value (SI) times `factor` as text; a dash for NaN, ``> 200`` beyond the meaningful range."""
    if not np.isfinite(value):
        return "-"
    bound = bound_of(column)
    if bound is not None and abs(value) > bound:
        return f"{'<' if value < 0 else '>'} {np.sign(value) * factor * bound:.6g}"
    return f"{round(factor * float(value), digits) + 0.0:.{digits}f}"
