"""Double wishbone with a push rod or pull rod that turns a rocker, on which the spring acts.

Push and pull rods have the same structure, but opposite signs of the rod's force. `formula_student` has the light
parts of a small race car; `push_rod` and `pull_rod` have the parts of a road car. A pull rod is on the upper arm, a
push rod on the lower arm.
"""

from __future__ import annotations

import numpy as np

from sekant.vehicle.hardpoints.description import apart, not_collinear
from sekant.vehicle.layouts.double_wishbone import ARMS, SHIMS, build_arms
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.corner import COMMON, SPRING, Corner, Layout

ROCKER = {
    "push_rod_outer": "outer end of the push rod",
    "push_rod_inner": "inner end of the push rod, on the rocker",
    "rocker_pivot": "pivot of the rocker",
}
_LIGHT = {
    "upright": 10.0,
    "upper_arm": 0.5,
    "lower_arm": 0.6,
    "tie_rod": 0.2,
    "push_rod": 0.25,
    "rocker": 0.3,
}
_ROAD = {"upright": 25.0, "upper_arm": 2.0, "lower_arm": 3.5, "tie_rod": 0.8, "push_rod": 0.8, "rocker": 1.0}


def _build(corner: Corner, carrier: str) -> None:
    given = corner.given
    build_arms(corner)
    if not corner.has("spring_bottom") and not corner.has("rocker_axis"):
        corner.spring()
        return
    apart(given, ("rocker_pivot", "push_rod_inner"))
    pivot, push = corner.p("rocker_pivot"), corner.p("push_rod_inner")
    third = corner.p("spring_bottom") if corner.has("spring_bottom") else None
    if third is not None:
        apart(given, ("rocker_pivot", "spring_bottom"))
    if corner.has("rocker_axis"):
        apart(given, ("rocker_pivot", "rocker_axis"))
        end = corner.p("rocker_axis")
    else:
        assert third is not None
        not_collinear(
            given,
            "rocker_pivot",
            "push_rod_inner",
            "spring_bottom",
            "add 'rocker_axis', a second point of its axis",
        )
        end = pivot + np.cross(push - pivot, third - pivot)
    corners = [pivot, push, third if third is not None else pivot + 0.3 * (push - pivot)]
    rocker = corner.body("rocker", members.plate(corner.mass("rocker"), *corners))
    corner.into.add("joints", corner.name("rocker_hinge"), members.hinge("ground", rocker, end, pivot))
    corner.into.bar(rocker + "_plate", rocker, 0.012, *corners, pivot)
    corner.rod(
        "push_rod",
        "push_rod_inner",
        "push_rod_outer",
        given.push_rod_on or carrier,
        "rocker",
        length="push_rod_length",
    )
    corner.spring()


def _layout(name: str, masses: dict[str, float], carrier: str) -> Layout:
    return Layout(
        name=name,
        required={**ARMS, **ROCKER, **COMMON},
        optional={"rocker_axis": "a second point of the rocker's axis", **SPRING},
        masses={**masses, "rack": 1.0 if masses is _LIGHT else 3.0},
        build=lambda corner: _build(corner, carrier),
        spring_on="rocker",
        set_up=(*SHIMS, "push_rod_length"),
    )


FORMULA_STUDENT = _layout("formula_student", _LIGHT, "upper_arm")
PUSH_ROD = _layout("push_rod", _ROAD, "lower_arm")
PULL_ROD = _layout("pull_rod", _ROAD, "upper_arm")
