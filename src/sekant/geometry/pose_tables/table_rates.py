"""Checks that the derivatives of a pose table agree with its poses: differences between neighboring nodes bound them.

Over an interval of length h, the mean of the derivatives at its ends deviates from the difference quotient s
by h^2 f'''/12, while neighboring quotients differ by h f'' (h^2 f''' where f'' is zero). So a mean that
deviates more from its quotient than nearby quotients differ is not the derivative of these poses, or the
nodes are too far apart for any interpolation. Errors of the poses themselves (rounding, noise) also affect
the quotients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.rotations import (
    quaternion_from_rotation,
    rotation_vector_from_quaternion,
)

Array = NDArray[np.float64]
ALLOWED = 2.0  # times the difference of neighboring quotients; a well-resolved table reaches a sixth of it
ROUNDING = 1e-6  # of the largest rate of its kind: columns that are zero up to rounding
LIKELY = {
    1000.0: "mm where m is meant, or a drive in m where it is in mm",
    1e-3: "m where mm is meant, or a drive in mm where it is in m",
    180.0 / np.pi: "degrees where radians are meant",
    np.pi / 180.0: "a drive in degrees where it is in radians",
    -1.0: "the opposite sign",
}


def check_rates(name: str, u: Array, nodes: PoseMotion, parameter: str) -> None:
    """DataError if a derivative contradicts the poses (of body `name`) at the nodes u (n,)."""
    h = np.diff(u)[:, None]
    relative = nodes.rotation[1:] @ np.swapaxes(nodes.rotation[:-1], 1, 2)
    turns = rotation_vector_from_quaternion(quaternion_from_rotation(relative)) / h
    of_positions, of_rates = "the positions", "the derivatives before"
    for column, quotients, rates, origin in (
        ("d", np.diff(nodes.position, axis=0) / h, nodes.velocity, of_positions),
        ("delta", turns, nodes.angular, "the rotations"),
        ("dd", np.diff(nodes.velocity, axis=0) / h, nodes.acceleration, of_rates),
        ("ddelta", np.diff(nodes.angular, axis=0) / h, nodes.angular_acceleration, of_rates),
    ):
        means = 0.5 * (rates[1:] + rates[:-1])
        excess = np.abs(means - quotients) - ALLOWED * _spread(quotients, rates)
        excess -= ROUNDING * max(np.abs(quotients).max(), np.abs(means).max())
        if np.any(excess > 0.0):
            row, i = np.unravel_index(int(np.argmax(excess)), excess.shape)
            raise DataError(
                f"pose table: '{name}': {column}{i + 1} contradicts {origin}: between {parameter} = "
                f"{u[row]:.6g} and {u[row + 1]:.6g}, it is {means[row, i]:.4g} on average, but {origin} "
                f"change by {quotients[row, i]:.4g} per unit of {parameter}; "
                f"{_cause(means[:, i], quotients[:, i])}"
            )


def _spread(quotients: Array, rates: Array) -> Array:
    """Largest difference of quotients (n - 1, 3) from their neighbors, over three intervals; for a single
    interval, the difference of the rates at its ends."""
    if len(quotients) == 1:
        return np.abs(np.diff(rates, axis=0))
    steps = np.abs(np.diff(quotients, axis=0))
    padded = np.concatenate([steps[:1], steps[:1], steps, steps[-1:], steps[-1:]])
    return np.stack([padded[k : k + len(quotients)] for k in range(4)]).max(axis=0)


def _cause(means: Array, quotients: Array) -> str:
    """A constant factor that explains the contradiction, and its likely cause, if there is one."""
    remedy = "correct the column, its unit or the drive's"
    size = float(quotients @ quotients)
    factor = float(means @ quotients) / size if size > 0.0 else 0.0
    left = float(np.linalg.norm(means - factor * quotients))
    if abs(factor) < 1e-9 or left > 0.2 * float(np.linalg.norm(means - quotients)):
        return (
            "no constant factor explains it: the column may belong to another drive or to other axes "
            "(all columns must use the axes of the position), or the nodes are too far apart"
        )
    near = [known for known in LIKELY if abs(factor / known - 1.0) < 0.05]
    hint = f" ({LIKELY[near[0]]})" if near else ""
    if near and near[0] == -1.0:
        return f"it has {LIKELY[near[0]]}; {remedy}"
    return f"it is about {near[0] if near else factor:.4g} times too large{hint}; {remedy}"
