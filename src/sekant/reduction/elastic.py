"""Reduction of a mechanism on bushings: one body on the path without load, with the elastic modes about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sekant.engine.system import compile
from sekant.errors import DataError, ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.expressions.expression import Expression
from sekant.model.forces import PointForce
from sekant.model.joints.elastic import ElasticModes
from sekant.model.model import Model
from sekant.reduction.bushings import (
    BushingPath,
    RestingFrame,
    check_modes,
    elastic_modes,
    pose_errors,
    strained,
)
from sekant.reduction.fits import PoseError
from sekant.reduction.lumping import split_masses
from sekant.reduction.parts import bodies_of, carried_bodies, find_parts, heavy_bodies, kept_bodies
from sekant.reduction.poses import DrivenMechanism, mechanism, start_of
from sekant.reduction.rebuild import rebuild
from sekant.reduction.result import Reduction

NODES = 33
MOST_NODES = 257
LIGHT = 1e-3  # of the mass of the kept body: lighter bodies are split even where others follow exactly
TOLERANCE = 1e-6  # m and rad, of the poses; of the compliance against its largest entry, 1000 times that


def reduce_elastic(
    model: Model,
    keep: Sequence[str],
    drives: Sequence[str],
    ranges: Sequence[Sequence[Any]],
    base: str,
    tolerance: float | None,
    nodes: Sequence[int] | None,
    inertia: str,
    drop: Sequence[str],
    elastic: bool | int,
) -> Reduction:
    """See `sekant.reduction.reduce.reduce`."""
    if len(keep) != 1 or len(drives) != 1:
        raise ModelError("reduce: with elastic modes one frame is kept, over one of its own coordinates")
    parts = find_parts(model, kept_bodies(model, keep), base, elastic=True)
    if not parts.absorbed:
        raise ModelError(
            f"reduce: no force acts on the bodies between '{keep[0]}' and '{base}'; leave elastic out"
        )
    carried = carried_bodies(parts, drop)
    followers = heavy_bodies(parts, carried, LIGHT) if inertia == "exact" else ()
    rest = tuple(body for body in parts.dropped if body not in (*carried, *followers))
    inside = {*parts.bodies, base, "ground"}
    acting = {n: f for n, f in model.forces.items() if n not in drop and bodies_of(model, f) <= inside}
    loaded = mechanism(parts, drives).model_copy(update={"forces": acting, "shapes": {}})
    absorbed = {name: model.forces[name] for name in parts.absorbed}
    alone = loaded.model_copy(update={"gravity": (0.0, 0.0, 0.0), "forces": absorbed})
    path = BushingPath(alone, loaded, keep[0], drives[0], (*carried, *followers))
    low, high = (float(end) for end in ranges[0])
    start, speed = start_of(compile(model), drives, base)
    curves, places, between, errors = _fitted(path, (low, high), drives[0], tolerance or TOLERANCE, nodes)
    modes = elastic_modes(places, None if elastic is True else int(elastic))
    off = check_modes(modes[keep[0]], between)
    lumps = split_masses(parts, rest) if inertia != "ignore" and rest else ()
    poses = DrivenMechanism(path.system, tuple(drives), ("m",), ((low, high),), (), start, speed)
    parts_alone = replace(parts, model=loaded)
    lone, joint = rebuild(
        parts_alone, replace(poses, start=poses.start * 0 + places[0].u), curves, lumps, drop, modes
    )
    modes[keep[0]] = _with_force_along(lone, joint, modes[keep[0]], places, path.loaded.axis, keep[0])
    reduced, joint = rebuild(parts, poses, curves, lumps, drop, modes)
    count = modes[keep[0]].count
    how = f"path without load, {count} elastic modes (compliance off by {off:.1e} of the largest between the poses)"
    return Reduction(
        model=reduced,
        original=model,
        joint=joint,
        base=base,
        keep=tuple(keep),
        drives=tuple(drives),
        units=("m",),
        ranges=((low, high),),
        method=how,
        nodes=(len(places),),
        errors=errors,
        inertia=inertia,
        carried=carried,
        followers=followers,
        dropped=rest,
        lumps=lumps,
        left_out=(*drop, *parts.absorbed),
    )


def _with_force_along(
    model: Model, joint: str, modes: ElasticModes, places: list[RestingFrame], axis: int, frame: str
) -> ElasticModes:
    """The modes with the force along the path that keeps the reduced model at rest where the mechanism rests."""
    names = [f"hold_{x}" for x in "xyz"]
    hold = PointForce(frame=frame, force=tuple(Expression(name) for name in names))  # type: ignore[arg-type]
    held = model.changed(
        parameters={**model.parameters, **dict.fromkeys(names, 0.0)},
        forces={**model.forces, "hold_load": hold},
    )
    system = compile(held, parameters=[names[axis]])
    at = [i for i, name in enumerate(system.state_names[: system.nq]) if name.startswith(f"{joint}.")]
    force = []
    for place in places:
        q, none = system.initial_state().q.copy(), np.zeros(system.nv)
        q[at] = [place.u, *strained(modes, place)]
        needed = system.inverse_dynamics(q, none, none, parameters={names[axis]: place.rest[2]})
        force.append(float(-needed[at[0]]))
    return modes.model_copy(update={"force": tuple(force)})


def _fitted(
    path: BushingPath, span: tuple[float, float], drive: str, tolerance: float, nodes: Sequence[int] | None
) -> tuple[dict[str, PoseCurve], list[RestingFrame], list[RestingFrame], dict[str, PoseError]]:
    """Curves, their places, places between them and the errors there; as many nodes as the tolerance needs."""
    count = nodes[0] if nodes is not None else NODES
    while True:
        u = np.linspace(*span, count)
        places = [path.at(value) for value in u]
        between = [path.at(value) for value in 0.5 * (u[:-1] + u[1:])]
        curves, errors = {}, {}
        for name in path.names:
            position, rotation = (np.array([place.poses[name][i] for place in places]) for i in range(2))
            data = {drive: u, "position": position, "rotation": rotation}
            curves[name] = PoseCurve.fit(data, drive, units={drive: "m"}, name=name)
            far, turned = pose_errors(curves[name], name, between)
            errors[name] = PoseError(float(far.max()), _rms(far), float(turned.max()), _rms(turned))
        worst = max(errors, key=lambda name: errors[name].worst)
        if nodes is not None or errors[worst].worst <= tolerance:
            return curves, places, between, errors
        if 2 * count > MOST_NODES:
            raise DataError(
                f"reduce: the path of {count} poses of '{worst}' is off by {errors[worst].position_max:.2g} m and "
                f"{errors[worst].angle_max:.2g} rad between them, where {tolerance:g} is asked for; narrow the "
                "range, or allow a larger tolerance"
            )
        count = 2 * count - 1


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2)))
