"""A state of a system."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """Free coordinates q (nq,) and velocities v (nv,) of a system, and the states z (nz,) of its signals and forces.

    `held` (nh,): what elements hold between events, such as samples and branches. An empty z or `held` stands for the
    start values that the model gives.
    """

    q: Vector
    v: Vector
    z: Vector = field(default_factory=lambda: np.zeros(0), kw_only=True)
    held: Vector = field(default_factory=lambda: np.zeros(0), kw_only=True)
