"""Instant centers of a wheel in the front and the side view, and the roll center of an axle.

The upright has the twist (w, v) per unit of travel, with v at the wheel's center p. In the transverse plane through
p, the point p + (0, -v_z, v_y) / w_x has no velocity in that plane; in the longitudinal plane, this is the point p +
(v_z, 0, -v_x) / w_y.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.vehicle.curves.arrays import beyond, cross
from sekant.vehicle.curves.corner_formulas import CornerQuantities
from sekant.vehicle.curves.wheel import contact_rate
from sekant.vehicle.kc.expressions import AxleExpressions

Vector = NDArray[np.float64]
PARALLEL = 1e-12  # slope between two lines below which they are parallel
Columns = dict[str, tuple[str, Vector]]


def instant_centers(made: CornerQuantities) -> Columns:
    """Instant centers of a wheel in both views (m), and the lengths of the swing arms from the contact point."""
    center = made.center
    p, w, v = center.position, center.angular[..., 0, :], center.velocity[..., 0, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        front_y, front_z = p[..., 1] - v[..., 2] / w[..., 0], p[..., 2] + v[..., 1] / w[..., 0]
        side_x, side_z = p[..., 0] + v[..., 2] / w[..., 1], p[..., 2] - v[..., 0] / w[..., 1]
    front = 1.0 if made.roles.axle == "front" else -1.0
    return {
        "front_view_center_y": ("m", front_y),
        "front_view_center_z": ("m", front_z),
        "front_view_swing_arm": ("m", -made.s * (front_y - made.touch[..., 1])),
        "side_view_center_x": ("m", side_x),
        "side_view_center_z": ("m", side_z),
        "side_view_swing_arm": ("m", -front * (side_x - made.touch[..., 0])),
    }


def roll_center(left: CornerQuantities, right: CornerQuantities, moved: AxleExpressions) -> Columns:
    """Intersection of the lines through both contact points, perpendicular to their paths in the front view.

    The line of one side is (y - c_y) c_y' + (z - c_z) c_z' = 0. In any motion, c' is the derivative with respect to
    the height of the wheel while the other wheel falls by the same amount, so the axle rolls about the intersection.
    The paths of the wheels of a solid axle differ between roll and heave; the paths of independent wheels are the
    same in all motions. The height of the roll center is measured from the line between the contact points. For one
    side, the height is that of the line's intersection with the center plane.
    """
    ways = []
    for k, made in enumerate((left, right)):
        w, v = moved.opposed(made.roles.wheel_center, k)
        ways.append(contact_rate(v, made.e, cross(w, made.e), made.radius))
    (a, b), (c, d) = ((way[..., 1], way[..., 2]) for way in ways)
    rhs_1 = a * left.touch[..., 1] + b * left.touch[..., 2]
    rhs_2 = c * right.touch[..., 1] + d * right.touch[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        det = beyond(a * d - b * c, PARALLEL)
        y, z = (rhs_1 * d - b * rhs_2) / det, (a * rhs_2 - rhs_1 * c) / det
        share = (y - right.touch[..., 1]) / (left.touch[..., 1] - right.touch[..., 1])
    road = right.touch[..., 2] + share * (left.touch[..., 2] - right.touch[..., 2])
    alone = {
        f"{made.side}.roll_center_height": ("m", made.touch[..., 1] * way[..., 1] / way[..., 2])
        for made, way in zip((left, right), ways, strict=True)
    }
    return {"roll_center_y": ("m", y), "roll_center_height": ("m", z - road), **alone}
