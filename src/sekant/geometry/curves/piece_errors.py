"""Errors of a pose, of its twist and of the twist's rate: the criteria for pieces, and the numbers in reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.geometry import pose_kinematics
from sekant.geometry.rotations import quaternion_from_rotation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PieceErrors:
    """Largest errors between nodes: `position` [m], `rotation` [rad]; `twist` and `twist_rate` (angular, linear),
    each as a fraction of its `sizes` along the curve."""

    position: float
    rotation: float
    twist: tuple[float, float]
    twist_rate: tuple[float, float]

    @property
    def largest(self) -> float:
        """The largest of all errors, in the units of a tolerance."""
        return max(self.position, self.rotation, *self.twist, *self.twist_rate)

    @staticmethod
    def of(worst: Array, largest: Array) -> PieceErrors:
        """Errors from the largest differences (6,) and the largest values (6,)."""
        share = worst / np.where(largest > 0.0, largest, 1.0)
        p, r, w, v, dw, dv = (float(x) for x in np.concatenate([worst[:2], share[2:]]))
        return PieceErrors(p, r, (w, v), (dw, dv))


def sizes(jet: Array, orientation: str) -> Array:
    """(6, n): position, one (for the rotation), twist and its rate (angular, linear each) of a jet (3, n, m).

    The components of the twist in M may be constant although the body accelerates, as on a circle. So the
    size of the rate is at least the second derivative of the pose in F: |omega|^2 and |p''|.
    """
    V = pose_kinematics.twists(jet, orientation, np.eye(3))
    p, w, v, dw, dv, p2 = (
        np.linalg.norm(part, axis=1)
        for part in (jet[0, :, :3], V[0, :, :3], V[0, :, 3:], V[1, :, :3], V[1, :, 3:], jet[2, :, :3])
    )
    return np.stack([p, np.ones_like(p), w, v, np.maximum(dw, w**2), np.maximum(dv, p2)])


def differences(found: Array, truth: Array, orientation: str) -> Array:
    """(6, n): distance [m], angle [rad] and differences of twist and rate between two jets (3, n, m)."""
    q, p = (_unit_quaternions(jet[0], orientation) for jet in (found, truth))
    same = np.where(np.sum(q * p, axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    angle = 2.0 * np.linalg.norm(q - same * p, axis=1)
    D = pose_kinematics.twists(found, orientation, np.eye(3)) - pose_kinematics.twists(
        truth, orientation, np.eye(3)
    )
    parts = [found[0, :, :3] - truth[0, :, :3], D[0, :, :3], D[0, :, 3:], D[1, :, :3], D[1, :, 3:]]
    norms = [np.linalg.norm(part, axis=1) for part in parts]
    return np.stack([norms[0], angle, *norms[1:]])


def _unit_quaternions(y: Array, orientation: str) -> Array:
    if orientation == "quaternion":
        return y[:, 3:] / np.linalg.norm(y[:, 3:], axis=1, keepdims=True)
    return quaternion_from_rotation(pose_kinematics.rotations(y, orientation, np.eye(3)))
