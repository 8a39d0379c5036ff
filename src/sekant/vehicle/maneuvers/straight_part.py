"""The straight part of a curve, which is the widest range over which a line fits it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PLACES = 81  # points at which the curve is evaluated, evenly over x


@dataclass(frozen=True)
class StraightPart:
    """A line through a curve from x = `low` to `high`, with its `slope` and its value `at_low`.

    `residual` and `largest` are the root mean square and the largest magnitude of the deviations of the curve.
    """

    low: float
    high: float
    slope: float
    at_low: float
    residual: float
    largest: float


def straight_part(x: Floats, y: Floats, within: float, least: float) -> StraightPart | None:
    """The widest range of x, at least `least` wide, over which a line fits y (n,) to `within` everywhere.

    Among ranges of equal width, it has the smallest deviation. If no range is straight enough, it is the straightest
    range of the smallest width. The result is None if x spans less than `least`.
    """
    order = np.argsort(x)
    x, y = x[order], y[order]
    if x.size < 5 or x[-1] - x[0] < least:
        return None
    u = np.linspace(x[0], x[-1], PLACES)
    v = np.interp(u, x, y)
    fewest = max(int(np.ceil(least / (u[1] - u[0]))) + 1, 5)
    best = None
    for count in range(PLACES, fewest - 1, -1):
        found = [_line(u[k : k + count], v[k : k + count]) for k in range(PLACES - count + 1)]
        best = min(found, key=lambda part: part.largest)
        if best.largest <= within:
            break
    return best


def _line(u: Floats, v: Floats) -> StraightPart:
    slope, offset = np.polyfit(u - u[0], v, 1)
    off = v - offset - slope * (u - u[0])
    residual, largest = float(np.sqrt(np.mean(off**2))), float(np.max(np.abs(off)))
    return StraightPart(float(u[0]), float(u[-1]), float(slope), float(offset), residual, largest)
