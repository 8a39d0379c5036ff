"""From hard points to a model: one corner, or an axle of two mirrored corners on one rack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sekant.errors import ModelError, check_known
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator, Torque
from sekant.model.input import Input
from sekant.model.model import Model
from sekant.model.sensors import Position
from sekant.vehicle.hardpoints.components import AxleParts, SteeringColumn
from sekant.vehicle.hardpoints.description import GivenPoints, HardPoints, Side, hard_points
from sekant.vehicle.layouts import LAYOUTS
from sekant.vehicle.suspension.anti_roll_bar import (
    add_anti_roll_bar,
    add_half_bar,
    add_half_heave_spring,
    add_heave_spring,
)
from sekant.vehicle.suspension.corner import Corner, Layout
from sekant.vehicle.suspension.members import Assembly
from sekant.vehicle.suspension.rack import RACK_LENGTH, add_rack

Points = Mapping[str, Sequence[float | str]]
BRAKE_SPEED = 0.2  # rad/s of spin over which a brake's torque reverses


def corner(
    given: GivenPoints,
    *,
    side: Side | None = None,
    steered: bool = True,
    spin: bool = False,
    movable: bool = False,
    half_axle: bool = False,
) -> Model:
    """The model of one corner. The vehicle's body is the ground.

    `side` mirrors the points if they are drawn on the other side. A steered corner has a rack, whose displacement the
    motion `steering` prescribes; otherwise the inner end of the tie rod is on the vehicle's body. With `spin`, the
    wheel is a separate body, `wheel`, on the joint `hub`. With `movable`, hard points are parameters of the model,
    ``lower_ball.z`` ..., which can be swept, optimized, or changed at run time. Joints and frames follow them; masses
    do not change. With `half_axle`, the corner has its half of the axle's anti-roll bar, and the sensors `joined_bar`
    and `joined_heave` of the frames to which the other side is connected.
    """
    points = hard_points(given)
    layout, into = _layout(points), Assembly()
    if layout.whole:
        raise ModelError(
            f"a {layout.name} cannot be built as a single corner, because its two sides share a part; build the "
            "axle instead",
            path=("type",),
        )
    built = _built(points, layout, into, side, steered, spin, movable=movable)
    if built.steered:
        add_rack(into, built.mass("rack"), _rack_end(built), (points.axle or AxleParts()).steering, None)
    if half_axle and points.axle is not None:
        bar, heave = points.axle.anti_roll_bar, points.axle.heave_spring
        if bar is not None:
            into.add("sensors", "joined_bar", Position(frame=add_half_bar(into, built, bar)))
        if heave is not None:
            into.add("sensors", "joined_heave", Position(frame=add_half_heave_spring(into, built, heave)))
    return into.model(points.name or layout.name)


def axle(given: GivenPoints, *, steered: bool = True, spin: bool = True, movable: bool = False) -> Model:
    """The model of an axle: both corners, whose names begin with ``left.`` and ``right.``, and their connections.

    The ground is the vehicle's body. The connections are a rack, if the axle is steered, and the parts under `axle`
    of the hard points: anti-roll bar, heave spring, brakes, drive. Unless `spin` is false, the wheels are the bodies
    ``left.wheel``, ``right.wheel`` on the joints ``left.hub``, ``right.hub``, whose rates are positive if the wheels
    roll forward. `Model.mount` mounts the axle on a vehicle's body. With `movable`, hard points are parameters of the
    model, the same for both sides (see `corner`).
    """
    points = hard_points(given)
    layout, into = _layout(points), Assembly()
    left = _built(points, layout, into, "left", steered, spin, "left.", movable)
    right = _built(points, layout, into, "right", steered, spin, "right.", movable)
    extra = points.axle or AxleParts()
    if left.steered:
        _add_rack(into, left, extra.steering)
    if extra.anti_roll_bar is not None:
        add_anti_roll_bar(into, left, right, extra.anti_roll_bar)
    if extra.heave_spring is not None:
        add_heave_spring(into, left, right, extra.heave_spring)
    for made in (left, right):
        _add_torques(made, extra)
    return into.model(points.name or layout.name)


def _add_rack(into: Assembly, left: Corner, steering: SteeringColumn) -> None:
    """Add the rack: across the vehicle, or in the steering box of a pitman arm."""
    if left.has("pitman_pivot"):
        box = left.p("pitman_pivot")
        add_rack(into, left.mass("rack"), box, steering, RACK_LENGTH, along=(1.0, 0.0, 0.0))
        return
    inner = _rack_end(left)
    length = max(2 * abs(float(inner[1])), RACK_LENGTH)
    add_rack(into, left.mass("rack"), inner * [1.0, 0.0, 1.0], steering, length)


def _add_torques(made: Corner, extra: AxleParts) -> None:
    """Add brake and drive torques as inputs."""
    if (extra.brakes or extra.drive) and not made.spin:
        raise ModelError("brakes and drive shafts require wheels that spin; build the axle with spin=True")
    into = made.into
    if extra.brakes:
        torque = into.add("inputs", made.name("brake_torque"), Input(unit="N*m"))
        law = Expression(f"-{torque}*tanh(v/{BRAKE_SPEED!r})")
        into.add("forces", made.name("brake"), Actuator(joint=made.name("hub"), force=law))
    if extra.drive:
        torque = into.add("inputs", made.name("drive_torque"), Input(unit="N*m"))
        shaft = Torque(
            frame=made.name("wheel"),
            torque=(0.0, Expression(torque), 0.0),
            resolved_in="frame",
            reaction="ground",
        )
        into.add("forces", made.name("drive_shaft"), shaft)


def _layout(points: HardPoints) -> Layout:
    problem = f"unknown type of suspension '{points.type}'"
    check_known(points.type, LAYOUTS, problem, "types", ("type",))
    return LAYOUTS[points.type]


def _built(
    points: HardPoints,
    layout: Layout,
    into: Assembly,
    side: Side | None,
    steered: bool,
    spin: bool,
    prefix: str = "",
    movable: bool = False,
) -> Corner:
    mirrored = False
    if "wheel_center" in points.points:
        mirrored = side not in (None, points.side)
        points = points.on(side)
    made = Corner(
        points, layout, into, steered=steered, spin=spin, prefix=prefix, mirrored=mirrored, movable=movable
    )
    layout.build(made)
    return made


def _rack_end(made: Corner) -> np.ndarray:
    if made.layout.name == "five_link":
        return made.p(f"link{made.given.tie_rod}_inner")
    return made.p("tie_rod_inner" if made.has("tie_rod_inner") else "drag_link_inner")


def _maker(layout: Layout):
    """A function that makes one corner of a layout from its hard points."""

    def make(points: Points, *, side: Side | None = None, steered: bool = True, **options: Any) -> Model:
        return corner({"type": layout.name, "points": dict(points), **options}, side=side, steered=steered)

    make.__name__ = layout.name
    make.__doc__ = (
        f"The model of a corner of type '{layout.name}' from its hard points (name -> position, m).\n\n"
        "    Further keywords are the keys of a file of hard points: unit, masses, spring, camber, toe, load ..."
    )
    return make


double_wishbone = _maker(LAYOUTS["double_wishbone"])
mcpherson = _maker(LAYOUTS["mcpherson"])
five_link = _maker(LAYOUTS["five_link"])
formula_student = _maker(LAYOUTS["formula_student"])
