"""Reduction of a mechanism on bushings: one body on the unloaded path or surface, with elastic modes about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.quantities import scalar
from sekant.analyses.statics.rest_equations import Statics
from sekant.engine.system import compile
from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.forces import PointForce
from sekant.model.joints.elastic import ElasticModes
from sekant.model.model import Model
from sekant.model.quantities import read_value
from sekant.reduction.bushings import BushingPath
from sekant.reduction.elastic_fits import RestingRow, fit_places, fitted
from sekant.reduction.lumping import split_masses
from sekant.reduction.mechanism import bodies_of, carried_bodies, find_parts, heavy_bodies, kept_bodies
from sekant.reduction.poses import DrivenMechanism, driven_coordinates, mechanism, start_of
from sekant.reduction.rebuild import rebuild
from sekant.reduction.result import Reduction

Array = NDArray[np.float64]
LIGHT = 1e-3  # of the mass of the kept body: lighter bodies are split even if others follow exactly
TOLERANCE = 1e-6  # m and rad, of the poses; of the compliance relative to its largest entry, 1000 times that


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
    if len(keep) != 1:
        raise ModelError("reduce: with elastic modes, keep one frame and reduce over one of its coordinates")
    if inertia == "identify":
        raise ModelError(
            "reduce: with elastic modes, inertia must be 'exact', 'split' or 'ignore'; 'identify' applies only "
            "to rigid links"
        )
    parts = find_parts(model, kept_bodies(model, keep), base, elastic=True)
    if not parts.absorbed:
        raise ModelError(
            f"reduce: no bushing acts on '{keep[0]}' or on the bodies between it and '{base}'; remove "
            "elastic (--elastic)"
        )
    carried = carried_bodies(parts, drop)
    followers = heavy_bodies(parts, carried, LIGHT) if inertia == "exact" else ()
    rest = tuple(body for body in parts.dropped if body not in (*carried, *followers))
    inside = {*parts.bodies, base, "ground"}
    acting = {n: f for n, f in model.forces.items() if n not in drop and bodies_of(model, f) <= inside}
    driven = tuple(driven_coordinates(parts, drives))
    loaded = mechanism(parts, drives, without=driven)
    loaded = loaded.model_copy(update={"forces": acting, "shapes": {}})
    absorbed = {name: model.forces[name] for name in parts.absorbed}
    alone = loaded.model_copy(update={"gravity": (0.0, 0.0, 0.0), "forces": absorbed})
    path = BushingPath(alone, loaded, keep[0], drives, (*carried, *followers))
    units = ("m", *(scalar(path.system, drive).unit for drive in drives[1:]))
    spans = tuple(_span(ends, drive, unit) for ends, drive, unit in zip(ranges, drives, units, strict=True))
    start, speed = start_of(compile(model, quick=True), drives, base)
    found = fit_places(path, spans, drives, units, tolerance or TOLERANCE, nodes, elastic)
    lumps = split_masses(parts, rest) if inertia != "ignore" and rest else ()
    poses = DrivenMechanism(path.system, tuple(drives), units, spans, (), start, speed)
    parts_alone = replace(parts, model=loaded)
    at_rest = replace(poses, start=found.row.places[0].u)
    axis, frame = path.loaded.axis, keep[0]
    lone, joint = rebuild(parts_alone, at_rest, found.shapes, lumps, drop, found.row.modes())
    row = _ReducedAlone(lone, joint, frame, axis).balanced(found.row)
    shapes, modes = fitted(row, drives, units), row.modes()
    lone, joint = rebuild(parts_alone, at_rest, shapes, lumps, drop, modes)
    modes[frame] = _ReducedAlone(lone, joint, frame, axis).with_stored(modes[frame], row)
    reduced, joint = rebuild(parts, poses, shapes, lumps, drop, modes)
    count, what = modes[frame].count, "path" if len(drives) == 1 else "surface"
    how = (
        f"unloaded {what}, {count} elastic modes (relative error of the compliance between the poses: "
        f"{found.off:.1e})"
    )
    return Reduction(
        model=reduced,
        original=model,
        joint=joint,
        base=base,
        keep=tuple(keep),
        drives=tuple(drives),
        units=units,
        ranges=spans,
        method=how,
        nodes=found.counts,
        errors=found.errors,
        inertia=inertia,
        carried=carried,
        followers=followers,
        dropped=rest,
        lumps=lumps,
        left_out=(*drop, *parts.absorbed),
    )


def _span(ends: Sequence[Any], drive: str, unit: str) -> tuple[float, float]:
    """The lower and the upper end of a range in SI."""
    found = []
    for given in ends:
        try:
            found.append(float(given))
        except (TypeError, ValueError):
            try:
                value = read_value(given, unit)
            except ModelError as error:
                raise ModelError(f"reduce: range of '{drive}': {error.message}") from None
            if not isinstance(value, (int, float)):
                raise ModelError(
                    f"reduce: '{given}' is not a value of '{drive}'; give a number in {unit}"
                ) from None
            found.append(float(value))
    return min(found), max(found)


class _ReducedAlone:
    """A reduced mechanism alone, with a load that holds its frame along an axis."""

    def __init__(self, model: Model, joint: str, frame: str, axis: int):
        names = [f"hold_{x}" for x in "xyz"]
        hold = PointForce(frame=frame, force=tuple(Expression(name) for name in names))  # type: ignore[arg-type]
        held = model.changed(
            parameters={**model.parameters, **dict.fromkeys(names, 0.0)},
            forces={**model.forces, "hold_load": hold},
        )
        self.load, self.system = names[axis], compile(held, parameters=[names[axis]])
        states = self.system.state_names[: self.system.nq]
        self.at = [i for i, name in enumerate(states) if name.startswith(f"{joint}.")]

    def needed(self, row: RestingRow) -> tuple[Array, Array]:
        """Additional generalized forces (n, k + r) that hold it in equilibrium at the nodes, and their slopes by
        the coordinates (n, k + r, k + r)."""
        system, forces, growth = self.system, [], []
        statics = Statics(system, 0.0, None, ()).functions
        for place, e in zip(row.places, row.e, strict=True):
            q = system.initial_state().q.copy()
            q[self.at] = [*place.u, *e]
            p = system.parameter_vector({self.load: place.rest[2][0]})
            now = statics.static(0.0, q, np.zeros(0), p)
            forces.append(now.R[self.at])
            growth.append(now.K[np.ix_(self.at, self.at)])
        return np.array(forces), np.array(growth)

    def balanced(self, row: RestingRow) -> RestingRow:
        """The row with mode stiffnesses for which the reduced model as a whole has the stiffness and
        equilibrium of the mechanism."""
        k = row.places[0].u.size
        forces, growth = self.needed(row)
        K = row.K - (growth[:, k:, k:] - row.K)
        K = 0.5 * (K + K.transpose(0, 2, 1))
        if np.linalg.eigvalsh(K).min() <= 0:
            raise ModelError(
                "reduce: in one direction the mechanism is held by its forces but not by its bushings; use "
                f"fewer elastic modes (elastic={row.W.shape[1] - 1}), or leave out a force (drop)"
            )
        g = np.einsum("nij,nj->ni", row.K, row.e) - forces[:, k:]
        return replace(row, K=K, e=np.linalg.solve(K, g[..., None])[..., 0])

    def with_stored(self, modes: ElasticModes, row: RestingRow) -> ElasticModes:
        """The modes with the force along the path, or the energy over the surface, for which the reduced model has
        the same rest positions as the mechanism."""
        loads = np.array([[0.0, *place.rest[2][1:]] for place in row.places])
        force = loads - self.needed(row)[0][:, : modes.along]
        if modes.u2 is None:
            return modes.model_copy(update={"force": tuple(force[:, 0].tolist())})
        stored = energy_of(np.array(modes.u), np.array(modes.u2), force)
        return modes.model_copy(update={"energy": tuple(stored.tolist())})


def energy_of(u1: Array, u2: Array, force: Array) -> Array:
    """(n,) J on the grid of u1 and u2, zero on average, whose splines have the slopes `force` (n, 2) there.

    The forces derive from an energy, so the equations, twice as many as values, agree except for the error of the
    splines.
    """
    from scipy.interpolate import CubicSpline

    slopes = [CubicSpline(u, np.eye(u.size))(u, 1) for u in (u1, u2)]
    A = np.vstack([np.kron(slopes[0], np.eye(u2.size)), np.kron(np.eye(u1.size), slopes[1])])
    found = np.linalg.lstsq(A, force.T.ravel(), rcond=None)[0]
    return found - found.mean()
