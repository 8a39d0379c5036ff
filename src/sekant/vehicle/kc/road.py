"""Both wheels of an axle on a road that is tilted sideways relative to the vehicle's body, as in roll.

The road is the plane along x that touches both wheels: its normal is (0, -sin phi, cos phi), with phi the angle of
the line between the points of the wheels that are farthest in the direction opposite to the normal. It is
found by iteration, starting from the line between the centers; the heights of the contact points hardly
depend on it.
"""

from __future__ import annotations

import numpy as np

from sekant.vehicle.curves import wheel
from sekant.vehicle.curves.arrays import angle, dot, norm
from sekant.vehicle.curves.corner_formulas import CornerQuantities

REPEATS = 4


def tilted_road(
    left: CornerQuantities, right: CornerQuantities
) -> tuple[dict[str, tuple[str, np.ndarray]], np.ndarray]:
    """Angle of the road (rad), camber of both wheels relative to it (rad), the track along it (m), scrub
    radius and trail on it (m); and its normal (..., 3)."""
    d = left.center.position - right.center.position
    phi = angle(d[..., 2], d[..., 1])
    touch, up = [left.touch, right.touch], np.zeros(0)
    for _ in range(REPEATS):
        zero = np.zeros(phi.shape, dtype=phi.dtype)
        up = np.stack([zero, -np.sin(phi), np.cos(phi)], axis=-1)
        touch = [wheel.contact(made.center.position, made.e, made.radius, up) for made in (left, right)]
        d = touch[0] - touch[1]
        phi = angle(d[..., 2], d[..., 1])
    found = {"road_angle": ("rad", phi), "track_on_road": ("m", norm(d[..., 1:]))}
    for made, at in zip((left, right), touch, strict=True):
        found[f"{made.side}.camber_to_road"] = ("rad", np.arcsin(-made.s * dot(made.e, up)))
        axis = made.axis()
        if axis is not None:
            scrub, trail = wheel.ground_offsets(*axis, at, made.e, made.s, up)
            found[f"{made.side}.scrub_radius_on_road"] = ("m", scrub)
            found[f"{made.side}.mechanical_trail_on_road"] = ("m", trail)
    return found, up


def rates_on_road(
    F: np.ndarray, K: np.ndarray, H: np.ndarray, bends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Loads N (..., 2) normal to the road and their rates (..., 2, 2) by the approach of the wheels to it.

    F (..., 2) and K (..., 2, 2) are loads and rates over the heights z of the centers, H (..., 2, 2) and bends
    (..., 2, 2, 2) derivatives of the distances h(z) of the contacts: F = H^T N, K = H^T K_N H + sum N_k h_k,ij.
    """
    a, b, c, d = H[..., 0, 0], H[..., 0, 1], H[..., 1, 0], H[..., 1, 1]
    inverse = np.stack([np.stack([d, -b], -1), np.stack([-c, a], -1)], -2) / (a * d - b * c)[..., None, None]
    N = np.stack([dot(inverse[..., :, k], F) for k in range(2)], -1)
    rest = K - N[..., 0, None, None] * bends[..., 0, :, :] - N[..., 1, None, None] * bends[..., 1, :, :]
    rates = [[_form(inverse[..., :, i], rest, inverse[..., :, j]) for j in range(2)] for i in range(2)]
    return N, np.stack([np.stack(row, -1) for row in rates], -2)


def _form(x: np.ndarray, A: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^T A y of vectors (..., 2)."""
    return sum((x[..., i] * A[..., i, j] * y[..., j] for i in range(2) for j in range(2)), np.zeros(()))
