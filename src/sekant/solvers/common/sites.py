"""Sites: the switches of a compiled function; modes: their states.

A site is an axis of a table that is looked up, or a switch (sign, absolute value, comparison, minimum,
maximum, floor). Its decision depends on one number, its *guard* g: the argument of the table, or the value
that is compared to zero. The last argument M of every compiled function contains two numbers per site, the
second as a double, the first as the bits of an int64:

====== ====================== =====================================================================
kind   first                  second
====== ====================== =====================================================================
PIECE  row + 1, or 0: free    whole periods by which g lies beyond the first one (0 if not periodic)
SIGN   1, or 0: free          sign of g: -1, 0 or 1
FLOOR  1, or 0: free          floor of g
====== ====================== =====================================================================

Taylor series have two kinds more, ABOVE and NOT_BELOW: 1 where g > 0, g >= 0, else 0.

A free site decides by the value of its guard, at every evaluation. A held site keeps its decision (the
polynomial of a piece, the branch of a switch) even if the guard is beyond it. A function with all sites held is
therefore smooth, and a step of an integrator that ends on the bound of a mode uses only one side of this bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PIECE, SIGN, FLOOR, ABOVE, NOT_BELOW = range(5)
NUMBERS = 2
"""Count of numbers in M for each site."""


@dataclass(frozen=True)
class Site:
    """A site of a compiled function. `key`: equal in all functions in which the guard is the same expression.

    `table`: index of the table of a PIECE among those of the equations, `axis`: index of its argument.
    """

    key: int
    kind: int
    table: int = -1
    axis: int = 0


def free_modes(sites: Sequence[Site]) -> NDArray[np.float64]:
    """M with all sites free."""
    return np.zeros(NUMBERS * max(1, len(sites)))
