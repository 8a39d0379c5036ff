"""Steps of equal length over a span."""

from __future__ import annotations

from math import floor

from sekant.loops.declare.procedures import inner

MULTIPLE = 1e-6


@inner
def divide(span, step):
    """Split a span into (steps of full length, their length, length of one shortened step or 0).

    A span that misses a multiple of the step by less than 1e-6 of a step counts as one: its steps are made equal.
    """
    ratio = span / step
    nearest = floor(ratio + 0.5)
    if nearest >= 1 and abs(ratio - nearest) <= MULTIPLE:
        return nearest, span / nearest, 0.0
    whole = floor(ratio)
    return whole, step, span - whole * step
