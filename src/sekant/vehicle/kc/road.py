"""Both wheels of an axle on a road that is tilted across against the vehicle's body, as it is in roll.

The road is the plane along x that touches both wheels: its normal is (0, -sin phi, cos phi), phi the angle of the
line between the points of the wheels that lie farthest against the normal. It is found by repetition: it starts as
that of the line between the centers, and contact points hardly change their heights with it.
"""

from __future__ import annotations

import numpy as np

from sekant.vehicle import wheel
from sekant.vehicle.arrays import angle, dot, norm
from sekant.vehicle.curves import CornerQuantities

REPEATS = 4


def tilted_road(left: CornerQuantities, right: CornerQuantities) -> dict[str, tuple[str, np.ndarray]]:
    """Angle of the road (rad), camber of both wheels against it (rad), and the track along it (m)."""
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
    for made in (left, right):
        found[f"{made.side}.camber_to_road"] = ("rad", np.arcsin(-made.s * dot(made.e, up)))
    return found
