"""Anti-roll bars and heave springs, which connect the two sides of an axle.

U: two arms turn on the axis of the bar, which runs across the vehicle; the joint `bar_twist` between them is the
twist of the bar. If the ends of the arms (of length a, perpendicular to the axis) move by +z and -z, the twist is 2
z / a, and the force at each end is k (2 z / a) / a. The rate at the drop link is therefore 2 k / a^2 in roll, and
zero in heave."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekant.errors import ModelError
from sekant.model.constraints import Distance
from sekant.model.forces import RotationalSpringDamper, SpringDamper
from sekant.model.joints import Revolute
from sekant.vehicle.hardpoints.components import AntiRollBar, HeaveSpring
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.corner import Corner
from sekant.vehicle.suspension.drawn import length, model_number, numbers, values
from sekant.vehicle.suspension.members import Assembly

MIRROR = np.array([1.0, -1.0, 1.0])
RADIUS = 0.011  # m, as drawn


def add_anti_roll_bar(into: Assembly, left: Corner, right: Corner, bar: AntiRollBar) -> None:
    """The bodies `bar_left`, `bar_right` (U) or `bar_stem`, `bar_top` (T), the twist between them, and the drop
    links."""
    bar_point, arm, link = (
        left.named_point(f"anti_roll_bar.{name}", np.array(getattr(bar, name)), False)
        for name in ("bar", "arm", "link")
    )
    if float(arm[1]) < 0:
        raise ModelError(
            "the points of the anti-roll bar must be on the left side (y > 0)", path=("axle", "anti_roll_bar")
        )
    across = np.array([0.0, 1.0, 0.0])
    if bar.type == "U":
        _check_reach(
            arm - bar_point, across, "the arm ends on the bar's axis; move 'arm' away from this axis"
        )
        for name, sign in (("left", np.ones(3)), ("right", MIRROR)):
            body = members.rod(bar.mass / 2, bar_point * sign, arm * sign)
            into.add("bodies", f"bar_{name}", body)
            middle = bar_point * [1.0, 0.0, 1.0]
            into.bar(
                f"bar_{name}_rod", f"bar_{name}", RADIUS, middle, bar_point * sign, arm * sign, color="dark"
            )
        hinge = numbers(bar_point)
        into.add(
            "joints",
            "bar",
            Revolute(parent="ground", child="bar_left", at=hinge, axis=numbers(across)),
        )
        twist = Revolute(parent="bar_left", child="bar_right", at=hinge, axis=numbers(across))
        ends = ("bar_left", "bar_right")
    else:
        top = arm * [1.0, 0.0, 1.0]
        if bar.top is not None:
            top = left.named_point("anti_roll_bar.top", np.array(bar.top), False)
        foot = bar_point * [1.0, 0.0, 1.0]
        stem = top - foot
        _check_reach(arm - top, stem, "the crossbar ends on the stem's axis; move 'arm' away from this axis")
        into.add("bodies", "bar_stem", members.rod(bar.mass / 2, foot, top))
        into.add("bodies", "bar_top", members.rod(bar.mass / 2, arm, arm * MIRROR))
        into.bar("bar_stem_rod", "bar_stem", RADIUS, foot, top, color="dark")
        into.bar("bar_top_rod", "bar_top", RADIUS, arm, top, arm * MIRROR, color="dark")
        foot_hinge = Revolute(parent="ground", child="bar_stem", at=numbers(foot), axis=numbers(across))
        into.add("joints", "bar", foot_hinge)
        twist = Revolute(parent="bar_stem", child="bar_top", at=numbers(top), axis=members.direction(stem))
        ends = ("bar_top", "bar_top")
    into.add("joints", "bar_twist", twist)
    spring = RotationalSpringDamper(joint="bar_twist", stiffness=bar.stiffness, damping=bar.damping)
    into.add("forces", "anti_roll_bar", spring)
    for corner, body, sign in ((left, ends[0], np.ones(3)), (right, ends[1], MIRROR)):
        _drop_link(into, corner, bar, body, arm * sign, link * sign)


def _drop_link(
    into: Assembly, corner: Corner, bar: AntiRollBar, body: str, arm: np.ndarray, link: np.ndarray
) -> None:
    """The drop link from an arm of the bar to the part that carries it."""
    reach = length(link - arm)
    if float(reach) < 1e-4:
        raise ModelError(
            "the drop link has no length; move 'link' away from 'arm'", path=("axle", "anti_roll_bar")
        )
    carrier = corner.carrier(bar.on, ("axle", "anti_roll_bar", "on"))
    parent = into.frame(body, f"{corner.prefix}link".replace(".", "_"), members.frame_at(arm))
    child = into.frame(carrier, corner.frame_name(carrier, "drop_link"), members.frame_at(link))
    rod = Distance(parent=parent, child=child, length=model_number(reach))
    into.add("constraints", corner.name("drop_link"), rod)


def _check_reach(reach: np.ndarray, axis: np.ndarray, message: str) -> None:
    if np.linalg.norm(np.cross(values(reach), members.unit(values(axis)))) < 1e-3:
        raise ModelError(message, path=("axle", "anti_roll_bar", "arm"))


def add_heave_spring(into: Assembly, left: Corner, right: Corner, heave: HeaveSpring) -> None:
    """Add a spring and damper between parts of the two sides."""
    p = left.named_point("heave_spring.point", np.array(heave.point), False)
    ends = []
    for corner, sign in ((left, np.ones(3)), (right, MIRROR)):
        body = corner.carrier(heave.on, ("axle", "heave_spring", "on"))
        ends.append(into.frame(body, corner.frame_name(body, "heave"), members.frame_at(p * sign)))
    width = 2 * abs(p[1])
    if float(width) < 1e-4:
        raise ModelError(
            "lies on the center plane, so the heave spring has no length; move the point to the left",
            path=("axle", "heave_spring", "point"),
        )
    into.add("forces", "heave_spring", heave_between(heave, ends[0], ends[1], width))


def heave_between(heave: HeaveSpring, left: str, right: str, width: Any) -> SpringDamper:
    """The heave spring between two frames that are `width` (m) apart as drawn."""
    free = width + (heave.preload / heave.stiffness if heave.preload else 0.0)
    return SpringDamper(
        parent=left,
        child=right,
        stiffness=heave.stiffness,
        damping=heave.damping,
        free_length=model_number(free),
    )


def add_half_bar(into: Assembly, corner: Corner, bar: AntiRollBar) -> str:
    """Add one arm of a U bar to a single corner: the body `bar` with its drop link. Return its frame on the bar's
    axis.

    A T bar has one stem for both sides, so a corner gets only the frame of the drop link.
    """
    sign = np.ones(3) if corner.outward > 0 else MIRROR
    bar_point, arm, link = (np.array(p) * sign for p in (bar.bar, bar.arm, bar.link))
    if bar.type != "U":
        carrier = corner.carrier(bar.on, ("axle", "anti_roll_bar", "on"))
        return into.frame(carrier, "drop_link", members.frame_at(link))
    into.add("bodies", "bar", members.rod(bar.mass / 2, bar_point, arm))
    into.bar("bar_rod", "bar", RADIUS, bar_point * [1.0, 0.0, 1.0], bar_point, arm, color="dark")
    hinge = Revolute(parent="ground", child="bar", at=numbers(bar_point), axis=(0.0, 1.0, 0.0))
    into.add("joints", "bar_hinge", hinge)
    _drop_link(into, corner, bar, "bar", arm, link)
    return into.frame("bar", "axis", members.frame_at(bar_point * [1.0, 0.0, 1.0]))


def add_half_heave_spring(into: Assembly, corner: Corner, heave: HeaveSpring) -> str:
    """Add the frame at one end of the heave spring to a corner, and return its name."""
    p = np.array(heave.point) * (np.ones(3) if corner.outward > 0 else MIRROR)
    body = corner.carrier(heave.on, ("axle", "heave_spring", "on"))
    return into.frame(body, "heave", members.frame_at(p))
