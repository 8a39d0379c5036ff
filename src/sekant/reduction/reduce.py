"""`reduce`: replace a mechanism with loops by bodies on path or surface joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from sekant.analyses.kinematics import kinematics
from sekant.analyses.kinematics.mobility import UndrivenMotion
from sekant.engine.arguments import names_of, values_of
from sekant.engine.by_structure import compile_by_structure
from sekant.engine.system import System, as_system
from sekant.errors import ModelError, SolverError, listed, suggest
from sekant.model.model import Model
from sekant.model.numbers import with_numbers
from sekant.model.points.collector import Collector
from sekant.reduction.elastic import reduce_elastic
from sekant.reduction.fits import fit_poses
from sekant.reduction.identified_masses import identify_masses
from sekant.reduction.lumping import split_masses
from sekant.reduction.mechanism import (
    USERS,
    MechanismParts,
    carried_bodies,
    find_parts,
    heavy_bodies,
    kept_bodies,
)
from sekant.reduction.poses import (
    DrivenMechanism,
    carries_the_rest,
    complete,
    driven_coordinates,
    mechanism,
    start_of,
)
from sekant.reduction.rebuild import rebuild
from sekant.reduction.result import Reduction

INERTIA = ("exact", "split", "identify", "ignore")


def reduce(
    model: Model | System | Collector,
    keep: str | Sequence[str],
    coordinate: str | Sequence[str],
    range: Sequence[Any],
    *,
    relative_to: str = "ground",
    method: str = "table",
    tolerance: float | None = None,
    nodes: int | Sequence[int] | None = None,
    inertia: str = "exact",
    drop: str | Sequence[str] = (),
    elastic: bool | int = False,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Reduction:
    """A model without loops in which the bodies `keep` follow poses that depend on one or two coordinates.

    `keep` may also name a frame of a body, such as `upright.hub`; the body then follows the pose of that frame. In a
    compliant mechanism, the springs that allow motion across the path act at this frame.

    `coordinate` names the kept coordinates, as in `kinematics`: ``upright.z``, ``hinge.angle``, ``strut.length``,
    relative to the body `relative_to`; `range` = (first, last), or two pairs for two coordinates. `method`: "table"
    interpolates the poses (for one coordinate, also their derivatives) with quintic polynomials; "path" fits a curve
    to the poses alone. For two coordinates, "path" fits a polynomial surface of degree 5 x 5, as Hall does. `nodes`:
    number of poses along each coordinate; by default, as many as `tolerance` (m and rad, by default 1e-8) requires,
    and 21 x 9 for the polynomial. If you give both `nodes` and `tolerance`, the tolerance is only checked.

    Forces, contacts and sensors remain, except those named in `drop`. Dropped bodies to which these items refer
    follow their own poses, which depend on the same coordinates. `inertia` determines what happens to the other
    dropped bodies. "exact": they follow their own poses too, so kinetic energy and weight are those of the mechanism.
    "split": they become equal point masses at their joints, as in Hall's thesis. "identify": they become point masses
    on the kept body, chosen for the smallest errors of inertia and weight along the coordinates; `mass_errors` of the
    result reports these errors. "ignore": their inertia is neglected, including that of dropped bodies that follow
    only because a force acts on them.

    `elastic`: for a mechanism that is compliant because of its bushings. `keep` must name one frame
    (``upright.hub``), and `coordinate` must name one of the frame's coordinates (``upright.hub.z``) and, for a
    steered corner, also a coordinate of a joint. The path is that of the unloaded mechanism. The path joint has the
    elastic modes of the bushings: all modes if `elastic` is True, or the given number of modes. These modes replace
    the bushings; other forces on dropped bodies remain.

    `parameters`: values that replace numbers of the model, such as hard points, by the names of run-time parameters.
    """
    model = model if isinstance(model, Model) else as_system(model).model
    if values_of(parameters):
        model = with_numbers(model, values_of(parameters))
    if not model.bodies:
        raise ModelError(
            f"model '{model.name}' has no bodies with joints, which a reduction requires; describe the mechanism "
            "with bodies and joints instead of points, or use sk.kinematics"
        )
    keep, drop = tuple(names_of(keep, "keep")), names_of(drop, "drop")
    drives = (coordinate,) if isinstance(coordinate, str) else tuple(coordinate)
    ranges = [range] if isinstance(coordinate, str) else list(range)
    counts = None if nodes is None else (nodes,) * len(drives) if isinstance(nodes, int) else tuple(nodes)
    _check(model, drives, ranges, counts, inertia, drop)
    if elastic:
        return reduce_elastic(
            model, keep, drives, ranges, relative_to, tolerance, counts, inertia, drop, elastic
        )
    parts = find_parts(model, kept_bodies(model, keep), relative_to)
    driven = driven_coordinates(parts, drives)
    system = compile_by_structure(mechanism(parts, drives, without=tuple(driven)), quick=True)
    count = 17 if len(drives) == 1 else 7
    try:  # the whole ranges must be reached
        first = complete(
            kinematics(system, {name: (*span, count) for name, span in zip(drives, ranges, strict=True)})
        )
    except UndrivenMotion as error:
        raise (_soft(parts, error.found) or error) from None
    spans = tuple((float(axis.min()), float(axis.max())) for axis in first.axes)
    alone = relative_to == "ground" and not driven and carries_the_rest(parts)
    whole = system if alone else compile_by_structure(model, quick=True)
    start, speed = start_of(whole, drives, relative_to)
    for name, unit, (low, high), value in zip(drives, first.drive_units, spans, start, strict=True):
        if not low <= value <= high and name not in driven.values():
            raise SolverError(
                f"reduce: the model starts at {name} = {value:.6g} {unit}, which is outside the range {low:.6g} to "
                f"{high:.6g} of the reduction; widen the range, or change the start values"
            )
    poses = DrivenMechanism(system, drives, first.drive_units, spans, first.warnings, start, speed)
    carried = carried_bodies(parts, drop)
    followers = heavy_bodies(parts, carried) if inertia == "exact" else ()
    rest = tuple(body for body in parts.dropped if body not in (*carried, *followers))
    lumps, off = split_masses(parts, rest) if inertia == "split" and rest else (), {}
    if inertia == "identify" and rest:
        lumps, off = identify_masses(parts, poses, rest)
    fits = fit_poses(poses, (*keep, *carried, *followers), method, tolerance, counts)
    reduced, joint = rebuild(parts, poses, fits.shapes, lumps, drop)
    if inertia == "ignore":
        reduced = _without_mass(reduced, carried)
    return Reduction(
        model=reduced,
        original=model,
        joint=joint,
        base=relative_to,
        keep=keep,
        drives=drives,
        units=poses.units,
        ranges=poses.ranges,
        method=fits.how,
        nodes=fits.nodes,
        errors=fits.errors,
        inertia=inertia,
        carried=carried,
        followers=followers,
        dropped=rest,
        lumps=lumps,
        left_out=tuple(drop),
        warnings=poses.warnings,
        mass_errors=off,
    )


def _soft(parts: MechanismParts, found: str) -> ModelError | None:
    """Advice for a mechanism on bushings that moves although its drives are held; None for other mechanisms."""
    soft = find_parts(parts.model, parts.keep, parts.base, elastic=True).absorbed
    if not soft:
        return None
    return ModelError(
        f"reduce: {found}, because it is mounted on bushings ({listed(soft)}); include their elastic modes "
        "with elastic=True (sekant reduce --elastic), keep one frame, and reduce over one of its coordinates"
    )


def _without_mass(model: Model, bodies: Sequence[str]) -> Model:
    """The model with these bodies as frames, on which only forces act."""
    light = {"mass": 0.0, "com": (0.0, 0.0, 0.0), "inertia": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)}
    return model.changed(
        bodies={n: b.model_copy(update=light) if n in bodies else b for n, b in model.bodies.items()}
    )


def _check(model: Model, drives, ranges, counts, inertia: str, drop: Sequence[str]) -> None:
    if not 1 <= len(drives) <= 2:
        raise ModelError(f"reduce: name one or two coordinates (got {len(drives)})")
    if len(ranges) != len(drives) or any(len(tuple(span)) != 2 for span in ranges):
        raise ModelError("reduce: give a range (first, last) for each coordinate")
    if counts is not None and (len(counts) != len(drives) or min(counts) < 6):
        raise ModelError("reduce: nodes must be one whole number for each coordinate, each at least 6")
    if inertia not in INERTIA:
        raise ModelError(f"reduce: unknown inertia '{inertia}'; {suggest(inertia, list(INERTIA), 'values')}")
    known = [name for collection in USERS for name in getattr(model, collection)]
    for name in drop:
        if name not in known:
            raise ModelError(
                f"reduce: there is no force, contact or sensor '{name}' to leave out; "
                f"{suggest(name, known, 'forces, contacts and sensors')}"
            )
