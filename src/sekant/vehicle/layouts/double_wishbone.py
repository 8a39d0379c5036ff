"""Double wishbone: two triangular arms, a tie rod, and a spring on one of the arms."""

from __future__ import annotations

import numpy as np

from sekant.errors import ModelError
from sekant.vehicle.hardpoints.description import not_collinear
from sekant.vehicle.suspension.corner import COMMON, Corner, Layout

ARMS = {
    "upper_front": "front hinge of the upper arm",
    "upper_rear": "rear hinge of the upper arm",
    "upper_ball": "upper ball joint",
    "lower_front": "front hinge of the lower arm",
    "lower_rear": "rear hinge of the lower arm",
    "lower_ball": "lower ball joint",
}
SHIMS = ("camber_shim", "caster_shim", "tie_rod_length")


def build_arms(corner: Corner) -> None:
    """Upright, both arms and the tie rod."""
    on_hinge = "the arm cannot move its ball joint"
    not_collinear(corner.given, "upper_front", "upper_rear", "upper_ball", on_hinge)
    not_collinear(corner.given, "lower_front", "lower_rear", "lower_ball", on_hinge)
    not_collinear(
        corner.given, "lower_ball", "upper_ball", "tie_rod_outer", "the tie rod cannot hold the upright"
    )
    if corner.given.point("upper_ball")[2] <= corner.given.point("lower_ball")[2]:
        raise ModelError(
            "does not lie above 'lower_ball'; check whether the two points are swapped",
            path=("points", "upper_ball"),
        )
    corner.upright()
    out, rear = np.array([0.0, corner.outward, 0.0]), np.array([-1.0, 0.0, 0.0])
    corner.arm(
        "upper_arm",
        "upper_front",
        "upper_rear",
        "upper_ball",
        tip_changes={"camber_shim": out},
        hinge_changes={"caster_shim": rear},
    )
    corner.arm("lower_arm", "lower_front", "lower_rear", "lower_ball")
    corner.tie_rod("tie_rod", "tie_rod_inner", "tie_rod_outer")
    corner.draw_upright("upper_ball", "lower_ball", "tie_rod_outer")


def _build(corner: Corner) -> None:
    build_arms(corner)
    corner.spring()


DOUBLE_WISHBONE = Layout(
    name="double_wishbone",
    required={**ARMS, **COMMON},
    masses={"upright": 25.0, "upper_arm": 2.0, "lower_arm": 3.5, "tie_rod": 0.8, "rack": 3.0},
    build=_build,
    spring_on="lower_arm",
    set_up=SHIMS,
)
