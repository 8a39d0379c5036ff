"""Given motions whose position or velocity jumps: no finite force can follow them."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry.spatial import SX
from sekant.tables.lookups import Lookups

NEAR = 1e-12
"""Distance before and after a switching time, against the times at hand, at which values are compared."""
STEP = 1e-6
"""Relative difference of two values that counts as a jump."""


def jump_text(
    position: SX,
    t: SX,
    p: SX,
    lookups: Lookups,
    values: NDArray[np.float64],
    times: Iterable[float],
    span: tuple[float, float],
) -> str | None:
    """Whether a position () given in time or its rate jumps at one of the times within the span, for a reader.

    `values` (np,): of the parameters p.
    """
    at = lookups.oracle("drive", [t, p], [ca.vertcat(position, lookups.jacobian(position, t))])
    begin, end = span
    for time in times:
        near = NEAR * max(abs(time), end - begin)
        if not begin + near < time < end - near:
            continue
        before, after = (np.array(at(time + side * near, values)).ravel() for side in (-1, 1))
        for what, old, new in zip(("position", "velocity"), before, after, strict=True):
            if abs(new - old) > STEP * max(1.0, abs(old), abs(new)):
                return f"its {what} jumps from {old:.6g} to {new:.6g} at t = {time:.6g} s"
    return None
