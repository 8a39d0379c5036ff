"""An axle whose corners follow paths or, steered, surfaces of poses over the wheel's travel and one rack for both.

Each side is reduced by itself, so that the rack's travel means the same on both; the surfaces share its coordinate
(`second_coordinate_of`). A steered axle has three freedoms besides the spin of its wheels: two travels and the rack.
The arms of an anti-roll bar follow the travel of their sides. An axle on bushings that is not steered keeps their
elastic modes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sekant.errors import ModelError
from sekant.model.forces import Bushing, SpringDamper
from sekant.model.model import Model
from sekant.model.sensors import Position
from sekant.reduction import reduce
from sekant.reduction.lumping import Lump
from sekant.vehicle.build import corner
from sekant.vehicle.car.description import Axle
from sekant.vehicle.car.hard_point_axle import hard_point_axle, points_of
from sekant.vehicle.hardpoints import HardPoints

JOINED = (".joined_bar", ".joined_heave")  # sensors of frames that the other side is joined to
KEPT: dict[str, tuple[Model, tuple[Lump, ...]]] = {}
"""Parts that were reduced in this session, by what they were made from: fits take seconds."""
TOLERANCE = 1e-7


def reduced_axle(axle: Axle, file: str, inertia: str = "exact", tolerance: float = TOLERANCE) -> Model:
    """The part, as `hard_point_axle` names it; `inertia` of links: exact, split or ignore."""
    return _kept(axle, file, inertia, tolerance)[0]


def lumps_on_chassis(
    axle: Axle, file: str, inertia: str = "exact", tolerance: float = TOLERANCE
) -> tuple[Lump, ...]:
    """The shares of links' masses that fall on the chassis where they are split, in the chassis' axes."""
    place = np.array(axle.at)
    return tuple(
        Lump(lump.source, "chassis", lump.mass, tuple((place + lump.position).tolist()))
        for lump in _kept(axle, file, inertia, tolerance)[1]
    )


def _kept(axle: Axle, file: str, inertia: str, tolerance: float) -> tuple[Model, tuple[Lump, ...]]:
    points = points_of(file)
    key = f"{points.model_dump_json()} {axle.wheel} {axle.steering} {inertia} {tolerance}"
    if key not in KEPT:
        KEPT[key] = _reduced(axle, points, file, inertia, tolerance)
    return KEPT[key]


def _reduced(
    axle: Axle, points: HardPoints, file: str, inertia: str, tolerance: float
) -> tuple[Model, tuple[Lump, ...]]:
    """The part, and the point masses on its ground."""
    steered = axle.steering is not None
    wheel = points.wheel.model_copy(update={"mass": axle.wheel.mass, "inertia": axle.wheel.inertia})
    weightless = {**points.masses, "rack": 0.0}  # the rack is there once, for both sides
    made = points.model_copy(update={"wheel": wheel, "masses": weightless if steered else points.masses})
    soft = bool(made.bushings) and made.compliant
    if soft and steered:
        raise ModelError(
            f"{file}: elastic modes follow one coordinate, and a steered axle has travel and rack; write compliant: "
            "false, or drive the whole axle"
        )
    part = _rack_of(hard_point_axle(axle, file)) if steered else Model(name="axle")
    travel, rack = points.suspension.travel, points.suspension.steering
    lumps: list[Lump] = []
    for side in ("left", "right"):
        one = corner(made, side=side, steered=steered, spin=True, half_axle=True)  # type: ignore[arg-type]
        one = one.changed(drivers={}, shapes={n: s for n, s in one.shapes.items() if not n.endswith("tire")})
        center = float(made.on(side).point("wheel_center")[2])  # type: ignore[arg-type]
        spans: list[Any] = [(center + travel[0], center + travel[1])]
        drives = ["upright.wheel_center.z"]
        if steered:
            drives.append("rack.displacement")
            spans.append(rack)
        found = reduce(
            one,
            "upright.wheel_center",
            drives,
            spans,
            inertia=inertia,
            tolerance=None if soft else tolerance,
            elastic=soft,
        )
        small, leader = found.model, found.joint
        lumps += [lump for lump in found.lumps if lump.body == "ground"]
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
    return _joined(part, points).changed(name=f"{part.name}_reduced"), tuple(lumps)


def _joined(part: Model, points: HardPoints) -> Model:
    """With what joins the two sides: the torsion of the anti-roll bar between its arms, and the heave spring.

    The arms follow poses of their own, as all bodies do that forces act on; they turn about one axis across the
    vehicle, so that a couple about it over their angle is the bar.
    """
    extra, forces = points.axle, dict(part.forces)
    sensors = {name: item for name, item in part.sensors.items() if not name.endswith(JOINED)}
    if extra is not None and extra.anti_roll_bar is not None:
        bar = extra.anti_roll_bar
        ends = {"parent": "left.bar.axis", "child": "right.bar.axis"}
        forces["anti_roll_bar"] = Bushing(
            **ends,
            rotational_stiffness=(0.0, bar.stiffness, 0.0),
            rotational_damping=(0.0, bar.damping, 0.0),
        )
    if extra is not None and extra.heave_spring is not None:
        heave, left, right = (
            extra.heave_spring,
            *(part.sensors[f"{s}.joined_heave"] for s in ("left", "right")),
        )
        assert isinstance(left, Position)
        assert isinstance(right, Position)
        free = 2 * abs(heave.point[1]) + (heave.preload / heave.stiffness if heave.preload else 0.0)
        forces["heave_spring"] = SpringDamper(
            parent=left.frame,
            child=right.frame,
            stiffness=heave.stiffness,
            damping=heave.damping,
            free_length=free,
        )
    return part.changed(forces=forces, sensors=sensors)


def _rack_of(whole: Model) -> Model:
    """The rack of an axle by itself."""
    shapes = {name: item for name, item in whole.shapes.items() if item.frame == "rack_bar"}
    return Model(
        name="axle",
        bodies={"rack_bar": whole.bodies["rack_bar"]},
        joints={"rack": whole.joints["rack"]},
        shapes=shapes,
    )
