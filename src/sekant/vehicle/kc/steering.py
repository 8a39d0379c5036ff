"""Ackermann and the turning circle of a steered axle.

With the steer angles d_o and d_i of the outer and the inner wheel, wheelbase l and track t (of the contact points),
both wheels roll about one point of the rear axle's line if cot d_o - cot d_i = t / l.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.vehicle.curves import wheel
from sekant.vehicle.curves.arrays import angle, beyond
from sekant.vehicle.curves.corner_formulas import CornerQuantities
from sekant.vehicle.kc.roles import AxleRoles

Vector = NDArray[np.float64]
STRAIGHT = 1e-4  # rad: smaller steer angles do not determine a turn


def steering_columns(
    left: CornerQuantities, right: CornerQuantities, roles: AxleRoles
) -> dict[str, tuple[str, Vector]]:
    """Ackermann error (rad), share (1) and turning circle (m); empty without a wheelbase."""
    base = roles.left.wheelbase
    if base is None:
        return {}
    a, b = wheel.steer_angle(left.e), wheel.steer_angle(right.e)
    turn = np.abs(beyond((a + b) / 2, STRAIGHT))
    outer, inner = turn + (b - a) / 2, turn + (a - b) / 2  # in a left turn b and a, in a right one -a and -b
    track = np.abs(left.touch[..., 1] - right.touch[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ideal = angle(np.sin(outer), np.cos(outer) - np.sin(outer) * track / base)
        error, share = inner - ideal, (inner - outer) / (ideal - outer)
        circle = 2 * base / np.sin(outer)
    return {
        "ackermann_error": ("rad", error),
        "ackermann_share": ("1", share),
        "turning_circle": ("m", circle),
    }
