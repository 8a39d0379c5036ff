"""Trailing and semi-trailing arm: the hinge of the arm that carries the wheel runs across the vehicle, or at an
angle."""

from __future__ import annotations

import numpy as np

from sekant.errors import ModelError
from sekant.vehicle.hardpoints.description import apart, not_collinear
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.corner import ARM, Corner, Layout

HINGE = {
    "hinge_inner": "inner point of the arm's hinge",
    "hinge_outer": "outer point of the arm's hinge",
    "wheel_center": "center of the wheel",
}
ACROSS = 1e-3  # rad: largest angle between the hinge of a trailing arm and the vehicle's y axis


def _build(corner: Corner) -> None:
    given = corner.given
    apart(given, ("hinge_inner", "hinge_outer"))
    not_collinear(given, "hinge_inner", "hinge_outer", "wheel_center", "the arm cannot move the wheel")
    a, b, c = corner.p("hinge_inner"), corner.p("hinge_outer"), corner.p("wheel_center")
    arm = corner.body("upright", members.plate(corner.mass("arm"), a, b, c))
    corner.upright()
    corner.into.bar(arm + "_tube", arm, 1.6 * ARM, a, c, b)
    corner.pick_ups(arm, a, b)
    if not corner.on_bushings("upright", "hinge_inner", "hinge_outer"):
        corner.into.add("joints", corner.name("arm_hinge"), members.hinge("ground", arm, a, b))
    corner.spring()


def _build_trailing(corner: Corner) -> None:
    d = members.unit(corner.given.point("hinge_outer") - corner.given.point("hinge_inner"))
    if np.hypot(d[0], d[2]) > ACROSS:
        raise ModelError(
            "the hinge of a trailing arm must run across the vehicle, but its direction is "
            f"{np.round(d, 4).tolist()}; move the points of the hinge, or write type: semi_trailing_arm",
            path=("points", "hinge_outer"),
        )
    _build(corner)


TRAILING_ARM = Layout(
    name="trailing_arm",
    required=HINGE,
    masses={"upright": 22.0, "arm": 8.0},
    build=_build_trailing,
    spring_on="upright",
    steerable=False,
)
SEMI_TRAILING_ARM = Layout(
    name="semi_trailing_arm",
    required=HINGE,
    masses={"upright": 22.0, "arm": 8.0},
    build=_build,
    spring_on="upright",
    steerable=False,
)
