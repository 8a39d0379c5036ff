"""Hard points for tests: a real corner, and planar ones whose motion has a closed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[1] / "examples" / "suspensions"
KINDS = ("double_wishbone", "mcpherson", "five_link", "formula_student")


def planar_points(upper, lower, tilt: float = 0.0, **changes) -> dict[str, list[float]]:
    """A double wishbone whose hinges all run along x, turned about y by `tilt`; (inner y, z, outer y, z) of each arm.

    The tie rod is the lower arm shifted along the hinge, so that the upright moves in the plane across it.
    """
    (uy, uz, vy, vz), (ly, lz, my, mz) = upper, lower
    points = {
        "upper_front": (0.13, uy, uz),
        "upper_rear": (-0.11, uy, uz),
        "upper_ball": (0.0, vy, vz),
        "lower_front": (0.17, ly, lz),
        "lower_rear": (-0.19, ly, lz),
        "lower_ball": (0.0, my, mz),
        "tie_rod_inner": (-0.12, ly, lz),
        "tie_rod_outer": (-0.12, my, mz),
        "spring_top": (0.02, 0.49, 0.55),
        "spring_bottom": (0.01, 0.52, -0.07),
        "wheel_center": (0.0, 0.71, 0.0),
        "contact": (0.0, 0.71, -0.29),
    }
    c, s = np.cos(tilt), np.sin(tilt)
    turned = {name: [c * x - s * z, y, s * x + c * z] for name, (x, y, z) in points.items()}
    turned["contact"] = [turned["wheel_center"][0], 0.71, turned["wheel_center"][2] - 0.29]
    return turned | changes
