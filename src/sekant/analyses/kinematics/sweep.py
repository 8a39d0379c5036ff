"""Kinematic analysis: a mechanism driven through a range, with exact derivatives with respect to the drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import Assembled, assemble, conditions_of
from sekant.analyses.kinematics.branch_points import meeting
from sekant.analyses.kinematics.equations import DrivenEquations, driven_equations, refuse_rolling
from sekant.analyses.kinematics.grid import grid_points, path_points, walk
from sekant.analyses.kinematics.limits import MEETING, Limit, TravelEnd, drive_text
from sekant.analyses.kinematics.mobility import check_mobility
from sekant.analyses.kinematics.quantities import SweepQuantity, scalar
from sekant.analyses.kinematics.ranges import Drive, axis, requested_values
from sekant.analyses.kinematics.result import KinematicsResult
from sekant.engine.arguments import names_of
from sekant.engine.state import State
from sekant.engine.system import System, as_system
from sekant.errors import ModelError, SolverError
from sekant.model.model import Model
from sekant.solvers.sweep import Sweep

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

Vector = NDArray[np.float64]
TOLERANCE = 1e-12
MOST_LIMITS = 200  # largest number of limits that are searched for in a grid; more would add no information


def kinematics(
    system: System | Model | Collector,
    drive: Drive,
    range: Any = None,
    values: Any = None,
    *,
    path: bool = False,
    relative: bool = False,
    hold: str | Sequence[str] = (),
    guess: State | None = None,
    t: float = 0.0,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> KinematicsResult:
    """Positions of a mechanism while one or two quantities are driven, and the derivatives with respect to these
    quantities.

    `drive` names the driven quantities. A quantity is a coordinate of a joint (``hinge.angle``) or of a point in the
    world (``upright.z``, ``upright.hub.z``), a scalar sensor or a component of a sensor, the length of a force
    element (``strut.length``), or a distance (``distance(body.frame, ground.other)``). The requested values are
    either a `range` (first, last, count) or `values` (n,); if `relative` is true, they are relative to the values at
    the start of the model. For two drives, give a pair of ranges or of lists, or a mapping ``{name: (first, last,
    count), other: [...]}``. Quantities in `hold` keep their values. Prescribed motions of the model are frozen at
    time `t` (s).

    The sweep begins at the assembled start of the model, or at `guess`, and stays on the branch of solutions that
    contains this point. If the mechanism cannot reach the end of the range, the result contains the points that it
    can reach, and `limits` of the result says where the travel ends and why. With two drives, the first drive is
    swept for each value of the second.

    With `path`, any number of quantities are driven along one path. All drives have the same number of values; the
    k-th values of all drives define the k-th point of the path. The result contains the derivatives with respect to
    every driven quantity.
    """
    found = reachable(
        system,
        drive,
        range,
        values,
        path=path,
        relative=relative,
        hold=hold,
        guess=guess,
        t=t,
        parameters=parameters,
    )
    if not len(found):
        raise SolverError(found.nothing)
    return found


def reachable(
    system: System | Model | Collector,
    drive: Drive,
    range: Any = None,
    values: Any = None,
    *,
    path: bool = False,
    relative: bool = False,
    hold: str | Sequence[str] = (),
    guess: State | None = None,
    t: float = 0.0,
    parameters: Mapping[str, ArrayLike] | None = None,
    shown: Mapping[str, tuple[str, float]] | None = None,
) -> KinematicsResult:
    """Like `kinematics`, but returns a result without points if nothing can be reached; `nothing` then says why.

    `shown`: label and zero of the values of drives in messages, by name of the drive.
    """
    system, hold = as_system(system, parameters), names_of(hold, "hold")
    refuse_rolling(system)
    if not system.nv:
        raise SolverError(f"model '{system.model.name}' has no coordinates: nothing in it can be driven")
    requested = requested_values(drive, range, values, path)
    names = tuple(requested)
    drives = tuple(_drive(system, name) for name in (*names, *hold))
    axes = [axis(drive, requested[drive.name], path) for drive in drives[: len(names)]]
    equations = driven_equations(system, drives, t, parameters)
    coordinates = [name for name in hold if name in system.state_names]
    state = _assembled(system, guess, coordinates, t, parameters)
    if state.report.lost:
        raise SolverError(_singular_start(equations, state.q))
    check_mobility(equations, state.q, len(hold))
    d0 = equations.drive_values(state.q)
    if relative:
        shown = {name: (f"{name} from the start", float(d)) for name, d in zip(names, d0, strict=False)}
    if shown:
        equations = replace(equations, shown=shown)
    if relative:
        axes = [offsets + begin for offsets, begin in zip(axes, d0, strict=False)]
    if path:
        points, axes = path_points(names, axes, d0[len(names) :])
    else:
        points = grid_points(axes, d0[len(names) :])
    scale = max(1.0, float(np.abs(state.q).max()), float(np.abs(points).max()))
    found = walk(equations.problem(), state.q, d0, axes, points, TOLERANCE * scale, equations.pool)
    if found.start == "singular":
        raise SolverError(_singular_start(equations, state.q))
    limits = _limits(equations, found, points, state.q, d0, TOLERANCE * scale)
    found = _with_ends(found, points, limits)
    reached, m = found.reached > 0, len(names)
    return KinematicsResult(
        equations,
        drive_names=names,
        axes=tuple(axes),
        begin=d0,
        asked=points,
        reached=reached,
        q=found.q[reached],
        w=np.ascontiguousarray(found.w[reached][:, :m]),
        ww=np.ascontiguousarray(found.ww[reached][:, :m, :m]),
        singular=found.reached[reached] == 2,
        limits=limits,
        iterations=found.iterations,
    )


def _assembled(
    system: System,
    guess: State | None,
    coordinates: Sequence[str],
    t: float,
    parameters: Mapping[str, ArrayLike] | None,
) -> Assembled:
    """A consistent start; `guess` itself if it was already assembled for these conditions."""
    if isinstance(guess, Assembled) and guess.conditions == conditions_of(system, t, parameters):
        return guess
    return assemble(system, guess, hold=coordinates, t=t, parameters=parameters)


def _singular_start(equations: DrivenEquations, q: Vector) -> str:
    where = drive_text(equations, equations.drive_values(q))
    return (
        f"model '{equations.system.model.name}' starts at a singular position ({where}), from which the motion may "
        "continue in several ways; give start values on the branch that you want"
    )


def _drive(system: System, name: str) -> SweepQuantity:
    """The scalar quantity `name` as a drive; raises a `ModelError` if it cannot be driven."""
    return system.cached(("drive", name), lambda: _new_drive(system, name))


def _new_drive(system: System, name: str) -> SweepQuantity:
    found, eq = scalar(system, name), system.equations
    if ca.sparsify(eq.lookups.jacobian(found.expression, eq.q)).nnz():
        return found.described
    for motion_name, prescribed in system.model.motions.items():
        if name.startswith(f"{prescribed.joint}."):
            raise ModelError(
                f"kinematics: '{name}' is prescribed by motion '{motion_name}' as a function of time; "
                "remove this motion from 'motions'"
            )
    raise ModelError(f"kinematics: '{name}' does not depend on the coordinates and cannot be driven")


def _limits(
    equations: DrivenEquations, found: Sweep, points: Vector, q0: Vector, d0: Vector, tolerance: float
) -> tuple[Limit, ...]:
    """Limits where the sweep could not continue, and where branches meet."""
    limits = []
    for a, b in found.failed[:MOST_LIMITS]:
        if found.reached[b]:
            continue
        q, d = (q0, d0) if a < 0 else (found.q[a], points[a])
        limit = TravelEnd(equations, q, d, points[b]).find()
        if limit is not None:
            limits.append(limit)
        if a < 0:  # no requested value can be reached: report the other end as well, if it is close
            other = TravelEnd(equations, q, d, d - 10 * (points[b] - d)).find(most=500)
            if other is not None and other.kind != "lost":
                limits.append(other)
    for (a, b), at in zip(found.meetings, found.meeting_at, strict=True):
        before = (q0, d0) if a < 0 else (found.q[a], points[a])
        exact = meeting(equations, before, (found.q[b], points[b]), at, tolerance)
        d, q = exact or (at, np.full(q0.size, np.nan))
        way = points[b] - before[1]
        text = (
            f"two branches of the motion meet at {drive_text(equations, d)}; the sweep continues straight on"
        )
        limits.append(Limit(MEETING, d, way / np.linalg.norm(way), q, text))
    return tuple(limits)


def _with_ends(found: Sweep, points: Vector, limits: tuple[Limit, ...]) -> Sweep:
    """`found`, with requested points that are themselves dead points marked as reached, without derivatives."""
    span = np.ptp(points, axis=0)
    span[span == 0.0] = np.maximum(1.0, np.abs(points[0]))[span == 0.0]  # held
    for limit in limits:
        if np.isnan(limit.q).any():
            continue
        near = np.max(np.abs(points - limit.value) / span, axis=1)
        for k in np.flatnonzero((near < 1e-9) & (found.reached == 0)):
            found.q[k], found.reached[k] = limit.q, 2
    return found
