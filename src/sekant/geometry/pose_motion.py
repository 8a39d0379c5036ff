"""The pose of a frame over one or several drives, with its first and second derivatives with respect to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FIELDS = ("position", "rotation", "velocity", "angular", "acceleration", "angular_acceleration")


@dataclass(frozen=True, eq=False)
class PoseMotion:
    """Motion of a frame M over values of d drives, resolved in the frame F in which it moves, usually the world.

    position (..., 3) m, rotation (..., 3, 3) R_FM. Per unit of drive i: velocity (..., d, 3) of M's origin and
    angular (..., d, 3), dR/du_i = [angular_i x] R. Their derivatives with respect to drive j, entry i, j, for
    the first k <= d drives: acceleration (..., k, k, 3), angular_acceleration (..., k, k, 3). For a single
    drive its axes may be omitted.
    """

    position: Array
    rotation: Array
    velocity: Array
    angular: Array
    acceleration: Array
    angular_acceleration: Array

    @property
    def fields(self) -> Mapping[str, Array]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in FIELDS}

    def at(self, index: Any) -> PoseMotion:
        """The motion at the drive values `index` along the first axes."""
        return PoseMotion(*(array[index] for array in self.fields.values()))
