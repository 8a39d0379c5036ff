"""Position and orientation of a wheel: angles, contact point and steering axis, after ISO 8855.

Axes: x forward, y to the left, z up. `s` is +1 for a wheel on the left, -1 on the right. The spin axis e points
to the left on both sides. Arrays have the shape (..., 3) for vectors and (...) for scalars; derivatives are with
respect to a drive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.vehicle.curves.arrays import angle, cross, dot, norm, sign

Vector = NDArray[np.float64]
UP = np.array([0.0, 0.0, 1.0])


def camber(e: Vector, s: float) -> Vector:
    """Camber (rad), positive if the top of the wheel leans outward; the outward axis then points down."""
    return np.arcsin(-s * e[..., 2])


def camber_rate(e: Vector, e_u: Vector, s: float) -> Vector:
    return -s * e_u[..., 2] / np.sqrt(1 - e[..., 2] ** 2)


def steer_angle(e: Vector) -> Vector:
    """Steer angle (rad) about the vehicle's z axis, positive if the wheel is turned to the left."""
    return angle(-e[..., 0], e[..., 1])


def steer_angle_rate(e: Vector, e_u: Vector) -> Vector:
    return (e[..., 0] * e_u[..., 1] - e[..., 1] * e_u[..., 0]) / (e[..., 0] ** 2 + e[..., 1] ** 2)


def contact(center: Vector, e: Vector, radius: float | Vector, up: Vector = UP) -> Vector:
    """The lowest point of a thin disc, farthest in the direction opposite to the unit vector `up`."""
    down = up - e * dot(e, up)[..., None]
    return center - radius * down / norm(down)[..., None]


def contact_rate(center_u: Vector, e: Vector, e_u: Vector, radius: float | Vector) -> Vector:
    """Derivative of the position of the lowest point, which moves relative to the wheel."""
    down = UP - e * e[..., 2:]
    down_u = -(e_u * e[..., 2:] + e * e_u[..., 2:])
    size = norm(down)[..., None]
    n = down / size
    return center_u - radius * (down_u - n * dot(n, down_u)[..., None]) / size


def screw_axis(w: Vector, v: Vector, p: Vector) -> tuple[Vector, Vector]:
    """A point (..., 3) and the upward direction (..., 3) of the axis of a twist, where `v` is the velocity of `p`.

    They are NaN where there is no rotation.
    """
    square = dot(w, w)[..., None]
    with np.errstate(invalid="ignore", divide="ignore"):
        direction = w / np.sqrt(square) * sign(w[..., 2:])
        return p + cross(w, v) / square, direction


def caster(k: Vector) -> Vector:
    """Caster angle (rad) of the steering axis, positive if its top leans rearward."""
    return angle(-k[..., 0], k[..., 2])


def kingpin_inclination(k: Vector, s: float) -> Vector:
    """Kingpin inclination (rad) of the steering axis, positive if its top leans inward."""
    return angle(-s * k[..., 1], k[..., 2])


def ground_offsets(
    point: Vector, k: Vector, touch: Vector, e: Vector, s: float, up: Vector = UP
) -> tuple[Vector, Vector]:
    """(scrub radius, mechanical trail) m: from the contact point to the point at which the steering axis
    meets the road.

    Both are measured in the axes of the tire. The scrub radius is positive if the axis meets the road inboard of the
    contact point, the trail if it meets the road in front of that point. `up` is the road's normal.
    """
    up = np.broadcast_to(up, e.shape)
    x = cross(e, up)
    x = x / norm(x)[..., None]
    y = cross(up, x)
    meets = point + k * (dot(touch - point, up) / dot(k, up))[..., None]
    d = meets - touch
    return -s * dot(d, y), dot(d, x)


def at_fixed_length(rates: Vector, length_rates: Vector) -> Vector:
    """Derivative (..., 3) with respect to steering at constant spring length.

    `rates` (..., 2, 3) of a vector and `length_rates` (..., 2) of the spring's length l are derivatives with respect
    to travel z and steering s. With l constant, dz = -(l_s / l_z) ds.
    """
    slide = (length_rates[..., 1] / length_rates[..., 0])[..., None]
    return rates[..., 1, :] - slide * rates[..., 0, :]
