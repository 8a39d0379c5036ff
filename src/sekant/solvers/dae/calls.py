"""Evaluations at the point in memory."""

from __future__ import annotations

from math import isfinite

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.vectors import take


@inner
def set_state(memory, x):
    """q and v of the point from x = [q; v; w]."""
    q, v = memory.point.q, memory.point.v
    take(q, x, 0)
    take(v, x, q.size)


@inner
def first_not_finite(values):
    """Index of the first number that is not finite, or -1."""
    for j in range(values.size):
        if not isfinite(values[j]):
            return j
    return -1
