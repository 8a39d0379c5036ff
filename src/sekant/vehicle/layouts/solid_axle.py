"""Solid axle: a beam that carries both wheels on links.

Four links leave two degrees of freedom: two lower links, and either two upper links at an angle, or one upper link in
the middle (at y = 0) with a Panhard rod or a Watt linkage. With rigid joints, two upper links and a Panhard rod
overconstrain the axle: mount the upper links on bushings.

An axle with kingpins is steered. A knuckle on each end of the beam carries the wheel, and a track rod joins the two
knuckles. A drag link runs from the left knuckle to a rack that moves across the vehicle's body, or to the pitman arm
of a steering box. The end of the pitman arm moves fore and aft or across, depending on the direction of its shaft.
The rack is then inside the box, and its displacement is the arc length of the end of the arm. As the beam moves,
drag link and beam follow different arcs, which steers the wheels.
"""

from __future__ import annotations

import numpy as np

from sekant.errors import ModelError
from sekant.model.constraints import Coupling
from sekant.model.joints import Spherical
from sekant.vehicle.hardpoints.description import apart, not_collinear
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.corner import ARM, ROD, Corner, Layout

MIDDLE = 1e-6  # m
PANHARD = {
    "panhard_body": "end of the Panhard rod on the vehicle's body",
    "panhard_axle": "end of the Panhard rod on the axle",
}
KINGPIN = {
    "kingpin_upper": "upper point of the kingpin",
    "kingpin_lower": "lower point of the kingpin",
    "tie_rod_outer": "end of the track rod on the knuckle",
    "drag_link_outer": "end of the drag link on the left knuckle",
    "drag_link_inner": "end of the drag link on the rack or the pitman arm",
}
PITMAN = {
    "pitman_pivot": "point of the pitman arm on the shaft of the steering box",
    "pitman_axis": "another point on the axis of the steering box's shaft",
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
        into.add("bodies", "beam", members.rod(corner.mass("beam"), center, other))
        into.bar("beam_tube", "beam", 0.035, center, other)
        into.floating("beam")
    if corner.has(*KINGPIN):
        _knuckle(corner)
    else:
        corner.upright("beam")
    corner.rod("lower_link", "lower_body", "lower_axle", carrier="beam")
    if first or not single:
        corner.rod("upper_link", "upper_body", "upper_axle", carrier="beam")
    if first and corner.has(*PANHARD):
        corner.rod("panhard", "panhard_body", "panhard_axle", carrier="beam")
    if first and corner.has(*WATT):
        _watt(corner)
    if corner.has(*KINGPIN) and first:
        _drag_link(corner)
    elif corner.has(*KINGPIN):
        _track_rod(corner)
    corner.spring()
    apart(given, ("wheel_center", "contact"))


def _knuckle(corner: Corner) -> None:
    """The knuckle, on a kingpin at the end of the beam."""
    not_collinear(
        corner.given,
        "kingpin_upper",
        "kingpin_lower",
        "tie_rod_outer",
        "the track rod cannot hold the knuckle",
    )
    upper, lower = corner.p("kingpin_upper"), corner.p("kingpin_lower")
    corner.upright()
    upright = corner.name("upright")
    corner.into.add("joints", corner.name("kingpin"), members.hinge("beam", upright, upper, lower))
    for name, p in (("kingpin_upper", upper), ("kingpin_lower", lower)):
        corner.into.frame(upright, name, members.frame_at(p))
    corner.into.bar(upright + "_kingpin", upright, 1.3 * ARM, upper, lower, color="gray")
    corner.draw_upright("tie_rod_outer", *(["drag_link_outer"] if corner.prefix == "left." else []))


def _drag_link(corner: Corner) -> None:
    """The drag link, which leads to the rack, to the pitman arm or, if the axle is not steered, to the vehicle's
    body."""
    boxed = corner.steered and corner.has(*PITMAN)
    up = {"rack_height": np.array([0.0, 0.0, 1.0])} if corner.steered and not boxed else None
    if boxed:
        _pitman_arm(corner)
    holder = "pitman_arm" if boxed else "rack_bar" if corner.steered else "ground"
    corner.rod("drag_link", "drag_link_inner", "drag_link_outer", holder=holder, holder_changes=up)


def _pitman_arm(corner: Corner) -> None:
    """The arm on the shaft of the steering box, geared to its rack by the arm's radius as drawn.

    Its displacement is positive to the left, or forward if its end moves fore and aft rather than across.
    """
    into, given = corner.into, corner.given
    apart(given, ("pitman_pivot", "pitman_axis"))
    not_collinear(given, "pitman_pivot", "pitman_axis", "drag_link_inner", "the pitman arm has no length")
    pivot, on_axis, end = (corner.p(name) for name in ("pitman_pivot", "pitman_axis", "drag_link_inner"))
    arm = into.add("bodies", "pitman_arm", members.rod(corner.mass("pitman_arm"), pivot, end))
    into.bar("pitman_arm_bar", arm, ARM, pivot, end)
    into.bar("steering_box", "ground", 2.5 * ARM, pivot, on_axis)
    into.add("joints", "pitman", members.hinge("ground", arm, pivot, on_axis))
    axis = members.unit(given.point("pitman_pivot") - given.point("pitman_axis"))
    moved = np.cross(axis, given.point("drag_link_inner") - given.point("pitman_pivot"))  # per rad
    sign = np.sign(moved[1] if abs(moved[1]) >= abs(moved[0]) else moved[0])
    ratio = float(sign / np.linalg.norm(moved))
    into.add("constraints", "steering_gear", Coupling(joint="rack", driven="pitman", ratio=ratio))


def _track_rod(corner: Corner) -> None:
    """The track rod between the knuckles, with a turnbuckle at each end. It is added with the right side, when both
    knuckles exist."""
    into, right = corner.into, corner.p("tie_rod_outer")
    left = right * [1.0, -1.0, 1.0]
    rod = into.add("bodies", "track_rod", members.rod(corner.mass("track_rod"), left, right))
    into.bar("track_rod_tube", rod, ROD, left, right)
    outward = members.unit(right - left)
    joint = members.universal("left.upright", rod, left, right - left)
    longer = corner.shifted(left, **{"left.tie_rod_length": -outward}).position
    end = joint.child_pose.model_copy(update={"position": longer})
    into.add("joints", "track_rod_left", joint.model_copy(update={"child_pose": end}))
    here = members.frame_at(right)
    end = corner.shifted(right, tie_rod_length=outward)
    ball = Spherical(parent=rod, child="right.upright", parent_pose=end, child_pose=here)
    into.add("joints", "track_rod_right", ball)


def _watt(corner: Corner) -> None:
    """The Watt linkage: a crank on the axle, which turns about x, and two rods to the vehicle's body."""
    into, pivot = corner.into, corner.p("watt_pivot")
    upper, lower = corner.p("watt_upper"), corner.p("watt_lower")
    crank = corner.body("crank", members.rod(corner.mass("crank"), upper, lower))
    into.bar(crank + "_plate", crank, 0.012, upper, pivot, lower)
    hinge = members.hinge("beam", crank, pivot + np.array([0.1, 0.0, 0.0]), pivot)
    into.add("joints", corner.name("crank_hinge"), hinge)
    for end in ("upper", "lower"):
        corner.rod(f"watt_{end}_rod", f"watt_{end}_body", f"watt_{end}", carrier="crank")


def _check(corner: Corner, single: bool) -> None:
    for group in (PANHARD, WATT, KINGPIN, PITMAN):
        missing = [name for name in group if not corner.has(name)]
        if 0 < len(missing) < len(group):
            given = ", ".join(name for name in group if name not in missing)
            lacking = ", ".join(f"'{name}' ({group[name]})" for name in missing)
            raise ModelError(f"together with {given}, also give {lacking}", path=("points",))
    if corner.has(*PITMAN) and not corner.has(*KINGPIN):
        raise ModelError(
            "a pitman arm steers the wheels about their kingpins, but points of the kingpins and their links are "
            f"missing; add {', '.join(KINGPIN)}",
            path=("points",),
        )
    across = corner.has(*PANHARD) or corner.has(*WATT)
    if corner.has(*PANHARD) and corner.has(*WATT):
        raise ModelError(
            "a Panhard rod and a Watt linkage both locate the axle laterally; remove one of them",
            path=("points",),
        )
    if single and not across:
        raise ModelError(
            "a single upper link in the middle does not locate the axle laterally; add a Panhard rod "
            "(panhard_body, panhard_axle) or a Watt linkage",
            path=("points",),
        )
    if not single and across and not (corner.elastic("upper_body") or corner.elastic("upper_axle")):
        raise ModelError(
            "an axle with rigid joints is overconstrained by two upper links and a Panhard rod or Watt linkage; "
            "add bushings at upper_body, use one upper link at y = 0, or remove the Panhard rod or Watt linkage",
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
    optional={**PANHARD, **WATT, **KINGPIN, **PITMAN},
    masses={
        "upright": 20.0,
        "beam": 55.0,
        "lower_link": 2.0,
        "upper_link": 1.5,
        "panhard": 2.0,
        "crank": 1.0,
        "watt_upper_rod": 1.0,
        "watt_lower_rod": 1.0,
        "track_rod": 3.0,
        "drag_link": 1.5,
        "pitman_arm": 1.5,
        "rack": 3.0,
    },
    build=_build,
    spring_on="beam",
    set_up=("tie_rod_length",),
    steered_by=tuple(KINGPIN),
    whole=True,
)
