"""Double wishbone with a push rod that turns a rocker, against which the spring acts."""

from __future__ import annotations

import numpy as np

from sekant.vehicle import parts
from sekant.vehicle.corner import COMMON, Corner, Layout
from sekant.vehicle.hardpoints import apart, not_collinear
from sekant.vehicle.layouts.double_wishbone import ARMS, build_arms

ROCKER = {
    "push_rod_outer": "outer end of the push rod",
    "push_rod_inner": "inner end of the push rod, on the rocker",
    "rocker_pivot": "pivot of the rocker",
}


def _build(corner: Corner) -> None:
    given = corner.given
    build_arms(corner)
    apart(given, ("rocker_pivot", "push_rod_inner"), ("rocker_pivot", "spring_bottom"))
    pivot, push, spring = corner.p("rocker_pivot"), corner.p("push_rod_inner"), corner.p("spring_bottom")
    if "rocker_axis" in given.points:
        apart(given, ("rocker_pivot", "rocker_axis"))
        end = corner.p("rocker_axis")
    else:
        not_collinear(
            given, "rocker_pivot", "push_rod_inner", "spring_bottom", "give a point 'rocker_axis' of its axis"
        )
        end = pivot + np.cross(push - pivot, spring - pivot)
    rocker = corner.name("rocker")
    corner.bodies[rocker] = parts.plate(corner.mass("rocker"), pivot, push, spring)
    corner.joints[corner.name("rocker_hinge")] = parts.hinge("ground", rocker, end, pivot)
    corner.rod("push_rod", "push_rod_inner", "push_rod_outer", given.push_rod_on or "upper_arm", "rocker")
    corner.spring()


FORMULA_STUDENT = Layout(
    name="formula_student",
    required={**ARMS, **ROCKER, **COMMON},
    optional={"rocker_axis": "a second point of the rocker's axis"},
    masses={
        "upright": 10.0,
        "upper_arm": 0.5,
        "lower_arm": 0.6,
        "tie_rod": 0.2,
        "push_rod": 0.25,
        "rocker": 0.3,
        "rack": 1.0,
    },
    build=_build,
    spring_on="rocker",
)
