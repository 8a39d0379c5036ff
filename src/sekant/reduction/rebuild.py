"""The reduced model: kept bodies on path or surface joints, everything else unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sekant.errors import ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.fields import expressions_of
from sekant.model.joints import Path, Surface
from sekant.model.joints.elastic import ElasticModes
from sekant.model.model import Model
from sekant.reduction.lumping import Lump, with_lumps
from sekant.reduction.mechanism import USERS, MechanismParts, names_of_items, unused_name, used_parameters
from sekant.reduction.poses import DrivenMechanism, drive_of, driven_coordinates


def rebuild(
    parts: MechanismParts,
    poses: DrivenMechanism,
    shapes: dict[str, Any],
    lumps: tuple[Lump, ...],
    left_out: Sequence[str],
    elastic: Mapping[str, ElasticModes] | None = None,
) -> tuple[Model, str]:
    """The model in which bodies or frames follow `shapes`, led by the first of them; and the leading joint.

    `elastic`: modes of each; a body without modes follows a curve over the single drive that moves it.
    """
    model = parts.model
    followed = {reference: model.split_reference(reference)[0] for reference in shapes}
    gone = {*parts.dropped, *parts.joints, *parts.constraints} - set(followed.values())
    names = names_of_items(model) - gone
    joints = {name: joint for name, joint in model.joints.items() if name not in parts.joints}
    curves, used = dict(model.curves), dict(model.curve_parameters)
    leader = ""
    for reference, shape in shapes.items():
        body = followed[reference]
        path = isinstance(shape, PoseCurve)
        curve = unused_name(f"{body}_poses", names)
        joint = unused_name(f"{body}_{'path' if path else 'surface'}", names)
        curves[curve] = shape.renamed(curve) if path else shape
        used[curve] = used_parameters(parts)
        follower = _follower(parts.base, reference, curve, shape, poses, leader)
        if elastic is not None and reference in elastic:
            follower = follower.model_copy(update={"elastic": elastic[reference]})
        elif elastic is not None:
            follower = follower.model_copy(update={"coordinate": poses.drives.index(shape.parameter)})
        joints[joint] = follower
        leader = leader or joint
    lost = set(parts.dropped) - set(followed.values())
    drawn = {n: x for n, x in model.shapes.items() if model.split_reference(x.frame)[0] not in lost}
    bodies = {name: with_lumps(model, name, lumps) for name in model.bodies if name not in lost}
    update: dict[str, Any] = {
        "name": f"{model.name}_reduced",
        "curves": curves,
        "curve_parameters": {name: value for name, value in used.items() if value},
        "bodies": bodies,
        "joints": joints,
        "constraints": {n: c for n, c in model.constraints.items() if n not in parts.constraints},
        "motions": _motions(parts, poses, leader),
        "shapes": drawn,
    }
    for collection in USERS:
        gone_items = (*left_out, *parts.absorbed)
        items = {n: x for n, x in getattr(model, collection).items() if n not in gone_items}
        update[collection] = {n: _moved(parts, poses, leader, n, item) for n, item in items.items()}
    _refuse_lost_signals(parts, update)
    return model.changed(**update), leader


def _follower(
    base: str, child: str, curve: str, shape: Any, poses: DrivenMechanism, leader: str
) -> Path | Surface:
    own: dict[str, Any] = {"coordinate_of": leader} if leader else {}
    if isinstance(shape, PoseCurve):
        own = own or {"q0": float(poses.start[0]), "v0": float(poses.speed[0])}
        return Path(parent=base, child=child, curve=curve, **own)
    own = own or {"q0": tuple(poses.start.tolist()), "v0": tuple(poses.speed.tolist())}
    return Surface(parent=base, child=child, surface=curve, **own)


def _motions(parts: MechanismParts, poses: DrivenMechanism, leader: str) -> dict[str, Any]:
    """Prescribed motions of the remaining items; motions of drives act on the coordinates that replace the drives."""
    driven, found = driven_coordinates(parts, poses.drives), {}
    for name, prescribed in parts.model.motions.items():
        if name in driven:
            place = {"joint": leader, "coordinate": poses.drives.index(driven[name])}
            found[name] = prescribed.model_copy(update=place)
        elif prescribed.joint not in parts.joints:
            found[name] = prescribed
    return found


def _moved(parts: MechanismParts, poses: DrivenMechanism, leader: str, name: str, item: Any) -> Any:
    """An item on a coordinate of a removed joint acts on the coordinate that replaces it, or is refused."""
    joint = getattr(item, "joint", None)
    if joint is None or joint not in parts.joints:
        return item
    drive = drive_of(parts.model, joint, item.coordinate, poses.drives)
    if drive is None:
        raise ModelError(
            f"reduce: '{name}' acts on joint '{joint}', which the reduction replaces; reduce over a "
            f"coordinate of this joint, keep the bodies it joins, or leave '{name}' out (drop)"
        )
    return item.model_copy(update={"joint": leader, "coordinate": poses.drives.index(drive)})


def _refuse_lost_signals(parts: MechanismParts, update: dict[str, Any]) -> None:
    """Raise an error for expressions that read coordinates of removed joints."""
    lost = {
        f"{name}.{letter}{i}"
        for name in parts.joints
        for letter in "qv"
        for i in ("", *range(parts.model.joints[name].nv))
    }
    for collection in (*USERS, "joints"):
        for name, item in update[collection].items():
            used = {n for _, e in expressions_of(item) for n in e.names} & lost
            if used:
                raise ModelError(
                    f"reduce: '{name}' reads '{min(used)}', the coordinate of a joint that the reduction replaces; "
                    f"use a sensor on a kept body instead, or leave '{name}' out (drop)"
                )
