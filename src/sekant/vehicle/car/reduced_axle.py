"""An axle whose corners follow paths or, steered, surfaces of poses over the wheel's travel and one rack for both.

Each side is reduced by itself, so that the rack's travel means the same on both; the surfaces share its coordinate
(`second_coordinate_of`). A steered axle has three freedoms besides the spin of its wheels: two travels and the rack.
"""

from __future__ import annotations

from typing import Any

from sekant.errors import ModelError
from sekant.model.model import Model
from sekant.reduction import reduce
from sekant.vehicle.build import corner
from sekant.vehicle.car.description import Axle
from sekant.vehicle.car.hard_point_axle import hard_point_axle, points_of
from sekant.vehicle.hardpoints import HardPoints

KEPT: dict[str, Model] = {}
"""Parts that were reduced in this session, by what they were made from: fits take seconds."""


def reduced_axle(axle: Axle, file: str, inertia: str = "exact", tolerance: float = 1e-7) -> Model:
    """The part, as `hard_point_axle` names it; `inertia` of links: exact, split or ignore."""
    points = points_of(file)
    if points.axle is not None and (points.axle.anti_roll_bar or points.axle.heave_spring):
        raise ModelError(
            f"{file}: an axle with a bar between its sides cannot be reduced corner by corner; drop it"
        )
    key = f"{points.model_dump_json()} {axle.wheel} {axle.steering} {inertia} {tolerance}"
    if key not in KEPT:
        KEPT[key] = _reduced(axle, points, file, inertia, tolerance)
    return KEPT[key]


def _reduced(axle: Axle, points: HardPoints, file: str, inertia: str, tolerance: float) -> Model:
    steered = axle.steering is not None
    wheel = points.wheel.model_copy(update={"mass": axle.wheel.mass, "inertia": axle.wheel.inertia})
    weightless = {**points.masses, "rack": 0.0}  # the rack is there once, for both sides
    made = points.model_copy(update={"wheel": wheel, "masses": weightless if steered else points.masses})
    part = _rack_of(hard_point_axle(axle, file)) if steered else Model(name="axle")
    travel, rack = points.suspension.travel, points.suspension.steering
    for side in ("left", "right"):
        one = corner(made, side=side, steered=steered, spin=True)  # type: ignore[arg-type]
        one = one.changed(drivers={}, shapes={n: s for n, s in one.shapes.items() if not n.endswith("tire")})
        center = float(made.on(side).point("wheel_center")[2])  # type: ignore[arg-type]
        spans: list[Any] = [(center + travel[0], center + travel[1])]
        drives = ["upright.wheel_center.z"]
        if steered:
            drives.append("rack.displacement")
            spans.append(rack)
        found = reduce(one, "upright.wheel_center", drives, spans, inertia=inertia, tolerance=tolerance)
        small, leader = found.model, found.joint
        if steered:
            joints = dict(small.joints)
            first = small.joints[leader].q0[0]  # type: ignore[index,union-attr]
            joints[leader] = joints[leader].model_copy(update={"q0": (first, 0.0)})
            small = small.changed(joints=joints)
        part = part.mount(small, side)
        if steered:
            joints = dict(part.joints)
            name = f"{side}.{leader}"
            joints[name] = joints[name].model_copy(update={"second_coordinate_of": "rack"})
            part = part.changed(joints=joints)
    return part.changed(name=f"{part.name}_reduced")


def _rack_of(whole: Model) -> Model:
    """The rack of an axle by itself."""
    shapes = {name: item for name, item in whole.shapes.items() if item.frame == "rack_bar"}
    return Model(
        name="axle",
        bodies={"rack_bar": whole.bodies["rack_bar"]},
        joints={"rack": whole.joints["rack"]},
        shapes=shapes,
    )
