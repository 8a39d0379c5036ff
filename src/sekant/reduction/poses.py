"""Exact poses of the bodies of a mechanism over the kept coordinates, by kinematic analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.kinematics import kinematics
from sekant.analyses.kinematics.quantities import scalar
from sekant.analyses.kinematics.result import KinematicsResult
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, ModelError, SolverError
from sekant.formulations.outputs import XYZ
from sekant.geometry.pose_motion import PoseMotion
from sekant.model.joints import Fixed
from sekant.model.model import Model
from sekant.reduction.mechanism import MechanismParts, bodies_of, names_of_items, unused_name
from sekant.tables.bound_oracle import BoundOracle

Array = NDArray[np.float64]
ROUND_OFF = 1e-15
"""Below this a coordinate (m, rad) counts as zero."""


@dataclass(frozen=True, eq=False)
class DrivenMechanism:
    """The mechanism alone, with a fixed base, and the drives over their ranges in SI."""

    system: System
    drives: tuple[str, ...]
    units: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    warnings: tuple[AnalysisWarning, ...]
    start: Array  # (m,) values of the drives where the model starts
    speed: Array  # (m,) their rates there

    def sweep(self, *axes: Array) -> KinematicsResult:
        """The mechanism at values of the drive, or on the grid of two; raises an error if one is not reached."""
        return complete(kinematics(self.system, dict(zip(self.drives, axes, strict=True))))

    def bodies(self, names: Sequence[str], *axes: Array) -> dict[str, PoseMotion]:
        """Poses of bodies in the base, at values in any order; for one drive, values may repeat."""
        if len(axes) == 2:
            result = self.sweep(*axes)
            return {name: result.body(name) for name in names}
        values, back = np.unique(axes[0], return_inverse=True)
        result = self.sweep(values)
        return {name: result.body(name).at(back) for name in names}


def carries_the_rest(parts: MechanismParts) -> bool:
    """Whether each of the other bodies is connected to the mechanism by one joint, so that they do not affect its
    start."""
    model = parts.model
    others = set(model.bodies) - set(parts.bodies)
    return set(parts.constraints) == set(model.constraints) and len(model.joints) - len(parts.joints) == len(
        others
    )


def driven_coordinates(parts: MechanismParts, drives: Sequence[str]) -> dict[str, str]:
    """Prescribed motions of the model that move a drive of the reduction, with its name."""
    found = {}
    for name, prescribed in parts.model.motions.items():
        if prescribed.joint not in parts.joints:
            continue
        drive = drive_of(parts.model, prescribed.joint, prescribed.coordinate, drives)
        if drive is not None:
            found[name] = drive
        elif "t" in getattr(prescribed.value, "names", ()):
            moved = parts.model.joints[prescribed.joint].coordinates[prescribed.coordinate]
            raise ModelError(
                f"reduce: motion '{name}' moves joint '{prescribed.joint}' of the mechanism over time; make "
                f"'{prescribed.joint}.{moved.name}' a second "
                "coordinate, or give the motion a constant value"
            )
    return found


def drive_of(model: Model, joint: str, coordinate: int, drives: Sequence[str]) -> str | None:
    """The drive that is this coordinate of a joint, if there is one."""
    item = model.joints[joint]
    names = {f"{joint}.{item.coordinates[coordinate].name}", f"{joint}.q{coordinate}"}
    if item.nq == 1:
        names.add(f"{joint}.q")
    return next((drive for drive in drives if drive in names), None)


def mechanism(parts: MechanismParts, drives: Sequence[str], without: Sequence[str] = ()) -> Model:
    """The mechanism alone, with its base fixed in the world; prescribed motions named in `without` are left out."""
    model, base = parts.model, parts.base
    joints: dict[str, Any] = {name: model.joints[name] for name in parts.joints}
    names = list(parts.bodies)
    if base != "ground":
        names.append(base)
        joints[unused_name("base", names_of_items(model))] = Fixed(child=base)
    motions = {
        name: prescribed
        for name, prescribed in model.motions.items()
        if prescribed.joint in parts.joints and name not in without
    }

    def named(collection: dict[str, Any]) -> dict[str, Any]:
        """The items that define the drives."""
        return {n: x for n, x in collection.items() if any(d == n or d.startswith(f"{n}.") for d in drives)}

    return model.model_copy(
        update={
            "bodies": {name: model.bodies[name] for name in model.bodies if name in names},
            "joints": joints,
            "constraints": {name: model.constraints[name] for name in parts.constraints},
            "forces": named(model.forces) | {name: model.forces[name] for name in parts.absorbed},
            "sensors": named(model.sensors),
            "contacts": {},
            "motions": motions,
        }
    )


def start_of(system: System, drives: Sequence[str], base: str) -> tuple[Array, Array]:
    """Values (m,) of the drives relative to `base`, and their rates in the assembled start of the whole model."""

    def make() -> BoundOracle:
        eq = system.equations
        h = ca.vertcat(*[_seen_from(system, name, base) for name in drives])
        rate = eq.lookups.jtimes(h, eq.q, eq.qdot) + eq.lookups.jacobian(h, eq.t)
        return eq.lookups.bound([eq.t, eq.q, eq.v, eq.p], [h, rate])

    function = system.cached(("drives and their rates", tuple(drives), base), make)
    state = assemble(system) if system.facts.constrained else system.initial_state()
    place, speed = function(0.0, state.q, state.v, system.parameter_vector())
    return np.where(np.abs(place) < ROUND_OFF, 0.0, place), speed


def _seen_from(system: System, name: str, base: str) -> ca.SX:
    """The expression of a drive; coordinates of a point are in the frame of `base`, other drives do not
    depend on its position."""
    model = system.model
    sensor = model.sensors.get(name) or model.sensors.get(name.rpartition(".")[0])
    if base != "ground" and sensor is not None and "ground" in bodies_of(model, sensor):
        raise ModelError(
            f"reduce: the sensor of '{name}' measures relative to the ground; define it relative to '{base}', as "
            "the poses of the kept bodies are"
        )
    owner, _, part = name.rpartition(".")
    if base == "ground" or part not in XYZ or owner not in model.frame_names():
        return scalar(system, name).expression
    B = system.equations.motion.frame(base)
    return (B.R.T @ (system.equations.motion.frame(owner).p - B.p))[XYZ.index(part)]


def complete(result: KinematicsResult) -> KinematicsResult:
    """The result of a sweep; raises an error if the sweep does not reach all requested values."""
    if result.complete and not result.singular.any():
        return result
    if result.complete:
        values = result.points[np.flatnonzero(result.singular)[0]]
        named = zip(result.drive_names, values, result.drive_units, strict=True)
        where = ", ".join(f"{name} = {value:.6g} {unit}" for name, value, unit in named)
        raise SolverError(f"reduce: the position at {where} is singular; narrow the range")
    lines = []
    for k, (name, unit) in enumerate(zip(result.drive_names, result.drive_units, strict=True)):
        asked = result.axes[k]
        found = [result.points[:, k].min(), result.points[:, k].max()]
        if len(result.drive_names) == 1:
            ends = [limit.value[k] for limit in result.limits]
            found = [min([found[0], *ends]), max([found[1], *ends])]
        lines.append(
            f"{name} = {asked.min():.6g} to {asked.max():.6g} {unit} is requested, but only "
            f"{found[0]:.6g} to {found[1]:.6g} {unit} can be reached"
        )
    why = "; ".join(limit.text for limit in result.limits[:2])
    raise SolverError(f"reduce: {'; '.join(lines)}: {why or 'a position is singular'}; narrow the range")
