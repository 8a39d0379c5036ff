"""The pose of a frame over one or several drives, with its first and second derivatives by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FIELDS = ("position", "rotation", "velocity", "angular", "acceleration", "angular_acceleration")


def cross(a: Array, b: Array) -> Array:
    """Of vectors along the last axis; NumPy's own takes several times as long for a few dozens."""
    a0, a1, a2, b0, b1, b2 = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    first = a1 * b2 - a2 * b1
    found = np.empty((*first.shape, 3))
    found[..., 0] = first
    found[..., 1] = a2 * b0 - a0 * b2
    found[..., 2] = a0 * b1 - a1 * b0
    return found


@dataclass(frozen=True, eq=False)
class PoseMotion:
    """Motion of a frame M over values of d drives, all resolved in the frame F in which it moves, mostly the world.

    position (..., 3) m, rotation (..., 3, 3) R_FM. Per unit of drive i: velocity (..., d, 3) of M's origin and
    angular (..., d, 3), dR/du_i = [angular_i x] R. Their derivatives by drive j, entry i, j, for the first
    k <= d drives: acceleration (..., k, k, 3), angular_acceleration (..., k, k, 3). For one drive its axes may
    be left out.
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
        """At those values of the drives alone that are at `index` along the first axes."""
        return PoseMotion(*(array[index] for array in self.fields.values()))

    def of_frame(self, R_MN: Array, p_MN: Array) -> PoseMotion:
        """The motion of a frame N fixed to this one."""
        if not p_MN.any():
            return replace(self, rotation=self.rotation @ R_MN)
        r = self.rotation @ p_MN
        first, second = self.angular, self.angular_acceleration
        if first.ndim == r.ndim:  # no axes for the one drive
            swing = cross(first, r)
            bend = self.acceleration + cross(second, r) + cross(first, swing)
            velocity = self.velocity + swing
        else:
            k = second.shape[-2]
            arm = r[..., None, :]
            swing = cross(first[..., :k, :], arm)
            turned = cross(first[..., :k, None, :], swing[..., None, :, :])
            bend = self.acceleration + cross(second, arm[..., None, :]) + turned
            velocity = self.velocity + (swing if k == first.shape[-2] else cross(first, arm))
        return PoseMotion(self.position + r, self.rotation @ R_MN, velocity, first, bend, second)

    @staticmethod
    def resting(*shape: int, drives: int, second: int) -> PoseMotion:
        """What does not move with any of the `drives`, with derivatives by the first `second` of them."""
        rates, bends = np.zeros((*shape, drives, 3)), np.zeros((*shape, second, second, 3))
        return PoseMotion(
            np.zeros((*shape, 3)), np.broadcast_to(np.eye(3), (*shape, 3, 3)), rates, rates, bends, bends
        )
