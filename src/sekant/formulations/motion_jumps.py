"""Given motions whose position or velocity jumps: no finite force can follow them."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry.spatial import SX
from sekant.tables.bound_oracle import BoundOracle
from sekant.tables.lookups import Lookups

NEAR = 1e-12
"""Distance before and after a switching time, relative to the times involved, at which values are compared."""
STEP = 1e-6
"""Relative difference of two values that counts as a jump."""


class GivenMotion:
    """A position () given in time and its rate, as functions of t () and the parameters p (np,)."""

    def __init__(self, position: SX, t: SX, p: SX, lookups: Lookups):
        both = ca.vertcat(position, lookups.jacobian(position, t))
        self.at = lookups.bound([t, p], [both])
        needed = ca.vertcat(both, *[a for node in lookups.needed_by(both) for a in node.arguments])
        self.concerned: NDArray[np.bool_] = (
            np.array(ca.which_depends(needed, p, 1, False), bool) if p.numel() else np.zeros(0, bool)
        )
        """(np,) of which parameters the motion is a function"""


def jump_text(
    at: BoundOracle, p: NDArray[np.float64], times: Iterable[float], span: tuple[float, float]
) -> str | None:
    """Whether position or rate of a given motion, `at` (t, p), jump at a time within the span, for a reader."""
    begin, end = span
    for time in times:
        near = NEAR * max(abs(time), end - begin)
        if not begin + near < time < end - near:
            continue
        before, after = (at(time + side * near, p)[0] for side in (-1, 1))
        for what, old, new in zip(("position", "velocity"), before, after, strict=True):
            if abs(new - old) > STEP * max(1.0, abs(old), abs(new)):
                return f"its {what} jumps from {old:.6g} to {new:.6g} at t = {time:.6g} s"
    return None
