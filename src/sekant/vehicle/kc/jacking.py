"""The height by which a steered axle lifts the vehicle, from the motion of the contacts at constant spring length.

On the rig the heights of the wheels are prescribed. The height z at which a spring has its length as drawn follows
from its length l(z) and motion ratio i = -dl/dz at neighboring heights by cubic Hermite interpolation of z(l); the
contact of a wheel of radius r and camber e is then r (1 - cos e) nearer to its center.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.vehicle.kc.curves import AxleCurves
from sekant.vehicle.kc.roles import SIDES

Vector = NDArray[np.float64]


def jacking(curves: AxleCurves, radius: float) -> dict[str, tuple[str, Vector]]:
    """``left.jacking`` and ``right.jacking`` (m,) over the rack, m: the rise of each side of the vehicle.

    `curves` in parallel travel over heights (three or more, ascending, zero among them); empty without springs. NaN
    where the spring has this length only beyond these heights.
    """
    i, j = curves.design()
    found: dict[str, tuple[str, Vector]] = {}
    for side in SIDES:
        names = [f"{side}.{name}" for name in ("spring_length", "motion_ratio", "camber", "camber_gradient")]
        if not all(name in curves.names for name in names):
            return {}
        length, ratio, camber, slope = (curves[name] for name in names)
        rows = []
        for k in range(curves.steering.size):
            z = _height(curves.travel, length[:, k], ratio[:, k], float(length[i, j]))
            n = int(np.argmin(np.abs(curves.travel - z))) if np.isfinite(z) else i
            leans = camber[n, k] + slope[n, k] * (z - curves.travel[n])
            rows.append(-z + radius * (np.cos(leans) - np.cos(camber[i, j])))
        found[f"{side}.jacking"] = ("m", np.array(rows))
    return found


def _height(z: Vector, length: Vector, ratio: Vector, wanted: float) -> float:
    """The height at which the spring has the wanted length."""
    from scipy.interpolate import CubicHermiteSpline

    for a in range(z.size - 1):
        at = a + np.argsort(length[a : a + 2])
        low, high = length[at]
        if low <= wanted <= high and low != high:
            return float(CubicHermiteSpline(length[at], z[at], -1 / ratio[at])(wanted))
    return float("nan")
