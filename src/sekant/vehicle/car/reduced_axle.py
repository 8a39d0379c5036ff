"""An axle whose corners follow paths over the travel or, if it is steered, surfaces over travel and rack.

Each side is reduced separately, with the same coordinate of the rack, which the surfaces share
(`second_coordinate_of`). A steered axle has three degrees of freedom in addition to the spin of its wheels: two
travels and the rack. The arms of a U bar follow the travel of their side; a T bar remains a mechanism between the
sides. An axle with bushings keeps their elastic modes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sekant.cache.content import Recent
from sekant.engine.cached import cached_answer
from sekant.model.forces import Bushing, SpringDamper
from sekant.model.joints import Revolute
from sekant.model.model import Model
from sekant.model.sensors import Position
from sekant.progress_bar import doing
from sekant.reduction import reduce
from sekant.reduction.lumping import Lump
from sekant.vehicle.car.axle_parts import hard_point_axle, points_of, points_with_wheels
from sekant.vehicle.car.description import Axle
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.suspension.anti_roll_bar import heave_between
from sekant.vehicle.suspension.build import corner

JOINED = (".joined_bar", ".joined_heave")  # sensors of frames that are connected to the other side
_REDUCED = Recent()
"""Reduced axles by their input, because fits take seconds."""
TOLERANCE = 1e-7


def reduced_axle(
    axle: Axle, file: str | HardPoints, inertia: str = "exact", tolerance: float = TOLERANCE
) -> Model:
    """The reduced axle, with the names of `hard_point_axle`; `inertia` says how masses of links are distributed."""
    return _part(axle, file, inertia, tolerance)[0]


def lumps_on_chassis(
    axle: Axle, file: str | HardPoints, inertia: str = "exact", tolerance: float = TOLERANCE
) -> tuple[Lump, ...]:
    """The masses of links that `split` assigns to the chassis, in chassis axes."""
    place = np.array(axle.at)
    return tuple(
        Lump(lump.source, "chassis", lump.mass, tuple((place + lump.position).tolist()))
        for lump in _part(axle, file, inertia, tolerance)[1]
    )


def _part(
    axle: Axle, file: str | HardPoints, inertia: str, tolerance: float
) -> tuple[Model, tuple[Lump, ...]]:
    points = points_of(file)
    key = f"{points.model_dump_json()} {axle.wheel} {axle.steering} {inertia} {tolerance}"

    def make() -> tuple[Model, tuple[Lump, ...]]:
        with doing(f"reducing {points.name or points.type.replace('_', ' ')}"):
            return _reduced(axle, points, file, inertia, tolerance)

    return _REDUCED.answer(key, make)


def _reduced(
    axle: Axle, points: HardPoints, file: str | HardPoints, inertia: str, tolerance: float
) -> tuple[Model, tuple[Lump, ...]]:
    """The reduced axle, and the point masses on its ground."""
    steered = axle.steering is not None
    made = points_with_wheels(axle, points)
    if steered:  # there is one rack for both sides
        made = made.model_copy(update={"masses": {**points.masses, "rack": 0.0}})
    soft = bool(made.bushings) and made.compliant
    part = _rack_of(hard_point_axle(axle, file)) if steered else Model(name="axle")
    travel, rack = points.suspension.travel, points.suspension.steering
    lumps: list[Lump] = []
    for side in ("left", "right"):
        one = corner(made, side=side, steered=steered, spin=True, half_axle=True)  # type: ignore[arg-type]
        one = one.changed(motions={}, shapes={n: s for n, s in one.shapes.items() if not n.endswith("tire")})
        center = float(made.on(side).point("wheel_center")[2])  # type: ignore[arg-type]
        spans: list[Any] = [(center + travel[0], center + travel[1])]
        drives = ["upright.wheel_center.z"]
        if steered:
            drives.append("rack.displacement")
            spans.append(rack)
        options = {"inertia": inertia, "tolerance": None if soft else tolerance, "elastic": soft}

        followed = one if soft else _evenly_hinged(_without_laws(one))

        def make(
            followed: Model = followed, how: Any = (drives, spans, options)
        ) -> tuple[Model, str, tuple[Lump, ...]]:
            found = reduce(followed, "upright.wheel_center", *how[:2], **how[2])
            return found.model, found.joint, found.lumps

        small, leader, masses = cached_answer(followed, f"reduced over {drives} {spans} {options}", make)
        if not soft:
            laws = {name: force for name, force in one.forces.items() if isinstance(force, SpringDamper)}
            small = small.changed(forces={**small.forces, **laws}, tables=one.tables)
        lumps += [lump for lump in masses if lump.body == "ground"]
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
    bar = points.axle.anti_roll_bar if points.axle is not None else None
    if bar is not None and bar.type != "U":
        part = _with_t_bar(part, hard_point_axle(axle, file))
    return _joined(part, points).changed(name=f"{part.name}_reduced"), tuple(lumps)


def _without_laws(one: Model) -> Model:
    """The corner with springs, dampers and stops that exert no force.

    The poses of a rigid corner do not depend on these forces, so one reduction serves for all springs.
    """
    forces = {
        name: SpringDamper(parent=force.parent, child=force.child)
        if isinstance(force, SpringDamper)
        else force
        for name, force in one.forces.items()
    }
    return one.changed(forces=forces, tables={})


def _evenly_hinged(one: Model) -> Model:
    """The corner with hinges whose axes point forward, to the left or up, unless an item refers to their angles.

    Hinges of a mirror image have opposite axes. With even axes, the poses are the same, and both sides have the same
    structure.
    """
    rest = one.model_copy(update={"bodies": {}, "joints": {}, "shapes": {}}).model_dump_json()
    joints = dict(one.joints)
    for name, joint in one.joints.items():
        if isinstance(joint, Revolute) and joint.q0 is None and name not in rest:
            axis = np.array(joint.axis, float)
            if axis[np.flatnonzero(axis)[0]] < 0.0:
                joints[name] = joint.model_copy(update={"axis": tuple((-axis).tolist())})
    return one.changed(joints=joints)


def _with_t_bar(part: Model, whole: Model) -> Model:
    """The part with the unchanged stem and crossbar of a T bar, and its drop links to the reduced bodies of both
    sides."""
    bodies = {name: whole.bodies[name] for name in ("bar_stem", "bar_top")}
    links = {name: whole.constraints[name] for name in ("left.drop_link", "right.drop_link")}
    shapes = {name: item for name, item in whole.shapes.items() if item.frame.partition(".")[0] in bodies}
    return part.changed(
        bodies={**part.bodies, **bodies},
        joints={**part.joints, **{name: whole.joints[name] for name in ("bar", "bar_twist")}},
        constraints={**part.constraints, **links},
        forces={**part.forces, "anti_roll_bar": whole.forces["anti_roll_bar"]},
        shapes={**part.shapes, **shapes},
    )


def _joined(part: Model, points: HardPoints) -> Model:
    """The part with the elements between its two sides: the torsion of a U bar between its arms, and the heave
    spring.

    The arms follow poses, like all bodies on which forces act. They turn about one axis across the vehicle, so the
    bar is a torque about this axis in proportion to the difference of their angles.
    """
    extra, forces = points.axle, dict(part.forces)
    sensors = {name: item for name, item in part.sensors.items() if not name.endswith(JOINED)}
    if extra is not None and extra.anti_roll_bar is not None and extra.anti_roll_bar.type == "U":
        bar = extra.anti_roll_bar
        ends = {"parent": "left.bar.axis", "child": "right.bar.axis"}
        forces["anti_roll_bar"] = Bushing(
            **ends,
            rotational_stiffness=(0.0, bar.stiffness, 0.0),
            rotational_damping=(0.0, bar.damping, 0.0),
        )
    if extra is not None and extra.heave_spring is not None:
        left, right = (part.sensors[f"{side}.joined_heave"] for side in ("left", "right"))
        assert isinstance(left, Position)
        assert isinstance(right, Position)
        width = 2 * abs(extra.heave_spring.point[1])
        forces["heave_spring"] = heave_between(extra.heave_spring, left.frame, right.frame, width)
    return part.changed(forces=forces, sensors=sensors)


def _rack_of(whole: Model) -> Model:
    """The rack of an axle alone."""
    shapes = {name: item for name, item in whole.shapes.items() if item.frame == "rack_bar"}
    return Model(
        name="axle",
        bodies={"rack_bar": whole.bodies["rack_bar"]},
        joints={"rack": whole.joints["rack"]},
        shapes=shapes,
    )
