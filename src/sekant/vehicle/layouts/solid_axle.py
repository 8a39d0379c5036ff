"""Solid axle: one beam with both wheels on links, held across by a Panhard rod, a Watt linkage, or the links' angle.

Two degrees of freedom need four links in all: two lower ones, and two upper ones that stand at an angle, or one upper
one in the middle (at y = 0) with a Panhard rod or a Watt linkage. Two upper links and a Panhard rod are one too many
for rigid joints: give the upper ones bushings.
"""

from __future__ import annotations

import numpy as np

from sekant.errors import ModelError
from sekant.vehicle import parts
from sekant.vehicle.corner import Corner, Layout
from sekant.vehicle.hardpoints import apart

MIDDLE = 1e-6  # m
PANHARD = {
    "panhard_body": "end of the Panhard rod on the vehicle's body",
    "panhard_axle": "end of the Panhard rod on the axle",
}
WATT = {
    "watt_pivot": "pivot of the Watt linkage's crank on the axle",
    "watt_upper": "upper end of the crank",
    "watt_upper_body": "end of the upper rod on the vehicle's body",
    "watt_lower": "lower end of the crank",
    "watt_lower_body": "end of the lower rod on the vehicle's body",
}


def _build(corner: Corner) -> None:
    given, into = corner.given, corner.into
    first = corner.prefix == "left."
    single = abs(given.point("upper_axle")[1]) < MIDDLE and abs(given.point("upper_body")[1]) < MIDDLE
    _check(corner, single)
    center = corner.p("wheel_center")
    if first:
        other = center * [1.0, -1.0, 1.0]
        into.add("bodies", "beam", parts.rod(corner.mass("beam"), center, other))
        into.bar("beam_tube", "beam", 0.035, center, other)
        into.floating("beam")
    corner.upright("beam")
    corner.rod("lower_link", "lower_body", "lower_axle", carrier="beam")
    if first or not single:
        corner.rod("upper_link", "upper_body", "upper_axle", carrier="beam")
    if first and corner.has(*PANHARD):
        corner.rod("panhard", "panhard_body", "panhard_axle", carrier="beam")
    if first and corner.has(*WATT):
        _watt(corner)
    corner.spring()
    apart(given, ("wheel_center", "contact"))


def _watt(corner: Corner) -> None:
    """A crank on the axle, which turns about x, and two rods to the vehicle's body."""
    into, pivot = corner.into, corner.p("watt_pivot")
    upper, lower = corner.p("watt_upper"), corner.p("watt_lower")
    crank = corner.body("crank", parts.rod(corner.mass("crank"), upper, lower))
    into.bar(crank + "_plate", crank, 0.012, upper, pivot, lower)
    hinge = parts.hinge("beam", crank, pivot + np.array([0.1, 0.0, 0.0]), pivot)
    into.add("joints", corner.name("crank_hinge"), hinge)
    for end in ("upper", "lower"):
        corner.rod(f"watt_{end}_rod", f"watt_{end}_body", f"watt_{end}", carrier="crank")


def _check(corner: Corner, single: bool) -> None:
    across = corner.has(*PANHARD) or corner.has(*WATT)
    if corner.has(*PANHARD) and corner.has(*WATT):
        raise ModelError("a Panhard rod and a Watt linkage hold the axle twice; drop one", path=("points",))
    if single and not across:
        raise ModelError(
            "one upper link in the middle leaves the axle free across: give a Panhard rod (panhard_body, "
            "panhard_axle) or a Watt linkage",
            path=("points",),
        )
    if not single and across and not (corner.elastic("upper_body") or corner.elastic("upper_axle")):
        raise ModelError(
            "two upper links and a Panhard rod or Watt linkage hold the axle once too often for rigid joints; give "
            "bushings at upper_body, or one upper link at y = 0, or drop the Panhard rod",
            path=("points", "upper_body"),
        )


SOLID_AXLE = Layout(
    name="solid_axle",
    required={
        "lower_body": "end of the lower link on the vehicle's body",
        "lower_axle": "end of the lower link on the axle",
        "upper_body": "end of the upper link on the vehicle's body",
        "upper_axle": "end of the upper link on the axle",
        "wheel_center": "center of the wheel",
    },
    optional={**PANHARD, **WATT},
    masses={
        "upright": 20.0,
        "beam": 55.0,
        "lower_link": 2.0,
        "upper_link": 1.5,
        "panhard": 2.0,
        "crank": 1.0,
        "watt_upper_rod": 1.0,
        "watt_lower_rod": 1.0,
    },
    build=_build,
    spring_on="beam",
    steerable=False,
    whole=True,
)
