"""Kinematic curves of a suspension corner versus travel and steering (the K of K&C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.kinematics import reachable
from sekant.analyses.kinematics.quantities import find
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System, compile
from sekant.errors import ModelError, SolverError, suggest
from sekant.geometry.spatial import SX
from sekant.model.constraints import Coupling
from sekant.model.forces import SpringDamper
from sekant.model.joints import Prismatic
from sekant.model.model import Model
from sekant.vehicle.curves.arrays import elements
from sekant.vehicle.curves.corner_formulas import CornerQuantities
from sekant.vehicle.curves.frames import frame_motion, split_start, wheel_start
from sekant.vehicle.curves.ranges import grid_values, through_zero
from sekant.vehicle.curves.rate_warnings import rate_warnings
from sekant.vehicle.curves.table import SuspensionCurves
from sekant.vehicle.hardpoints.suspension import Suspension

Vector = NDArray[np.float64]
DEFAULT = Suspension()
ROCKER_HINGE = "rocker_hinge"


def suspension_curves(
    model: Model | System,
    suspension: Suspension | None = None,
    *,
    travel: ArrayLike | None = None,
    steering: ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> SuspensionCurves:
    """Camber, toe, steering axis, roll center, motion ratio and more on a grid of travel and steering.

    `travel` (n,) m is the height of the wheel's center above its position as drawn, by default 41 values over the
    range of `suspension`. `steering` (m,) m is the displacement of the rack to the left, by default zero. Prescribed
    motions of the rack are removed. `parameters` are values of run-time parameters, such as the hard points of a
    system that was compiled with them; each of thousands of variants then takes milliseconds. Values are NaN at
    positions that the mechanism cannot reach, and `limits` reports why. docs/suspensions.md contains definitions and
    signs.
    """
    roles = suspension or DEFAULT
    corner = corner_mechanism(model, roles, steering is not None, parameters)
    heights = corner.heights if travel is None else grid_values(travel, corner.heights, "travel")
    moves = grid_values(steering, np.zeros(1), "steering")
    system, parameters = corner.system, corner.system.checked(parameters)
    state = assemble(system, parameters=parameters)
    start = wheel_start(system, roles, state.q, system.parameter_vector(parameters))
    drives = {f"{roles.wheel_center}.z": start[2] + heights}
    if corner.drive is not None:
        drives[corner.drive] = moves
    shown = dict.fromkeys(drives, ("rack", 0.0)) | {f"{roles.wheel_center}.z": ("travel", float(start[2]))}
    found = reachable(system, drives, guess=state, parameters=parameters, shown=shown)
    if not len(found):
        raise SolverError(found.nothing)
    side = _side(roles, start)
    names, units, function = corner.compiled(side)
    n, p = len(found), found.equations.p
    values = function.map(
        np.zeros((1, 1)), found.q, found.w.reshape(n, -1), found.ww[:, 0, 0], start[None], p[None]
    )[0]
    values = found.on_grid(values).reshape(heights.size, moves.size, len(names))
    columns = drive_columns(roles, corner.drive is not None, heights, moves)
    columns |= {name: (units[k], values[..., k]) for k, name in enumerate(names)}
    limits = tuple(str(limit) for limit in found.limits)
    warnings = found.warnings + rate_warnings(system.model, {"": roles.spring}, heights, columns)
    return SuspensionCurves(system.model.name, side, heights, moves, columns, limits, warnings)


def drive_columns(
    roles: Suspension, steered: bool, heights: Vector, moves: Vector
) -> dict[str, tuple[str, Vector]]:
    """Name -> (unit, values (n, m)), SI, of the columns with positions."""
    shape = (heights.size, moves.size)
    found = {"travel": ("m", np.broadcast_to(heights[:, None], shape))}
    if steered:
        found["rack"] = ("m", np.broadcast_to(moves, shape))
        if roles.rack_per_turn is not None:
            found["steering_wheel"] = ("rad", found["rack"][1] * 2 * np.pi / roles.rack_per_turn)
    return found


@dataclass(frozen=True, eq=False)
class CornerMechanism:
    """Data that all curves of a system share.

    They are the system without steering motions, the coordinate `drive` of its rack, the frames at the ends of its
    springs by role, and the default `heights` (n,) m.
    """

    system: System
    roles: Suspension
    drive: str | None
    springs: Mapping[str, Sequence[str]]
    heights: Vector

    def compiled(self, side: str) -> tuple[tuple[str, ...], tuple[str, ...], NativeFunction]:
        """Names and units of the columns, and the function that computes them.

        Its arguments are t, q, displacements by all drives, the derivative of the first one with respect to
        travel, the start of the wheel, and p.
        """
        key = ("corner curves", self.roles, self.drive, tuple(self.springs.items()), side)
        return self.system.cached(key, lambda: self._compile(side))

    def _compile(self, side: str) -> tuple[tuple[str, ...], tuple[str, ...], NativeFunction]:
        system, roles, eq = self.system, self.roles, self.system.equations
        w = SX.sym("w", system.nv, 1 if self.drive is None else 2)
        bend, start = SX.sym("bend", system.nv), SX.sym("start", 7)
        ends = [end for pair in self.springs.values() for end in pair]
        frames = dict.fromkeys([roles.wheel_center, *(roles.steer_axis or ()), *ends])
        poses = {name: frame_motion(system, name, ca.horzsplit(w), bend) for name in frames}
        made = CornerQuantities(
            roles, poses, split_start(elements(start)), self.springs, side, self._tension(w[:, 0])
        )
        columns = made.quantities() | self._rocker()
        values = ca.densify(ca.vertcat(*(SX(values[0, 0]) for _, values in columns.values())))
        function = system.function("corner_curves", [eq.t, eq.q, w, bend, start, eq.p], [values])
        return tuple(columns), tuple(unit for unit, _ in columns.values()), function

    def _rocker(self) -> dict[str, tuple[str, Any]]:
        """The angle of the rocker relative to the start, if there is a rocker."""
        if ROCKER_HINGE not in self.system.model.joints:
            return {}
        angle = find(self.system, f"{ROCKER_HINGE}.angle").expression
        return {"rocker_angle": ("rad", elements(angle).reshape(1, 1))}

    def _tension(self, along: SX) -> tuple[Any, Any] | None:
        """Tension (1, 1) N of the spring and of the stops between the same frames, and its derivative along a
        displacement (nv,); None if none of them is elastic."""
        eq, ends = self.system.equations, set(self.springs.get("spring", ()))
        names = [
            name
            for name, force in self.system.model.forces.items()
            if isinstance(force, SpringDamper) and {force.parent, force.child} == ends and _elastic(force)
        ]
        if not names:
            return None
        tension = sum((find(self.system, f"{name}.force").expression for name in names), SX(0))
        rate = eq.lookups.jtimes(tension, eq.q, ca.jacobian(eq.qdot, eq.v) @ along)
        return elements(tension).reshape(1, 1), elements(SX(rate)).reshape(1, 1)


def _elastic(force: SpringDamper) -> bool:
    return force.spring is not None or force.stiffness != 0.0


def corner_mechanism(
    given: Model | System, roles: Suspension, steered: bool, parameters: Mapping[str, ArrayLike] | None
) -> CornerMechanism:
    """Data for the curves; computed once for each system."""
    model = given.model if isinstance(given, System) else given

    def make() -> CornerMechanism:
        rack = _rack(model, roles, steered)
        _check_frames(model, roles)
        springs = {name: _spring(model, name, role) for name, role in _springs(model, roles).items()}
        drive = None if rack is None else f"{rack}.{model.joints[rack].coordinates[0].name}"
        heights = through_zero(*roles.travel, 41)
        heights.flags.writeable = False
        return CornerMechanism(_free_system(given, rack, parameters), roles, drive, springs, heights)

    return given.once(("corner", roles, steered), make) if isinstance(given, System) else make()


def _side(roles: Suspension, start: Vector) -> str:
    """The side of the vehicle on which a wheel with this start lies."""
    center, axis, _ = split_start(start)
    if axis[1] < 0:
        raise ModelError(
            f"frame '{roles.wheel_center}': the y axis must point to the left, along the spin axis of the wheel, "
            f"but its direction is {np.round(axis, 3).tolist()}; rotate the frame"
        )
    return "left" if center[1] > 0 else "right"


def _free_system(
    given: Model | System, rack: str | None, parameters: Mapping[str, ArrayLike] | None
) -> System:
    """The system without steering motions; compiled once if a system is given."""
    if not isinstance(given, System):
        return compile(without_steering_motions(given, rack), parameters=[*(parameters or {})])
    free = without_steering_motions(given.model, rack)
    if free.motions == given.model.motions:
        return given
    names = [name for name in given.parameters if name not in given.inputs]
    return given.once(
        ("without steering motions", rack),
        lambda: compile(free, formulation=given.facts.formulation, parameters=names, engine=given.engine),
    )


def _rack(model: Model, roles: Suspension, wanted: bool) -> str | None:
    """The joint of the rack; None if the model has no rack and none is `wanted`."""
    if roles.rack in model.joints:
        if not isinstance(model.joints[roles.rack], Prismatic):
            raise ModelError(
                f"joint '{roles.rack}' is used as the rack, but it is not prismatic; give the name of a prismatic "
                "joint as 'rack' in the Suspension"
            )
        return roles.rack
    if wanted:
        hint = suggest(str(roles.rack), list(model.joints), "joints")
        raise ModelError(
            f"model '{model.name}' has no joint '{roles.rack}', which steering curves require; {hint}"
        )
    return None


def without_steering_motions(model: Model, rack: str | None) -> Model:
    """The model without motions of the rack, and without motions of items coupled to it, such as a steering
    wheel."""
    ties = [c for c in model.constraints.values() if isinstance(c, Coupling)]
    steering = (
        {rack} | {c.joint for c in ties if c.driven == rack} | {c.driven for c in ties if c.joint == rack}
    )
    kept = {
        name: prescribed for name, prescribed in model.motions.items() if prescribed.joint not in steering
    }
    return model.model_copy(update={"motions": kept})


def _check_frames(model: Model, roles: Suspension) -> None:
    known = model.frame_names()
    for frame in (roles.wheel_center, roles.contact, *(roles.steer_axis or ())):
        if frame not in known:
            raise ModelError(
                f"model '{model.name}' has no frame '{frame}', which is needed for curves; rename a frame, or give "
                f"the model's own frame names in a Suspension; {suggest(frame, known, 'frames')}"
            )


def _springs(model: Model, roles: Suspension) -> dict[str, str]:
    """Role -> force element. A spring with the default name may be missing."""
    found = {}
    default = Suspension.model_fields["spring"].default
    for role, name in (("spring", roles.spring), ("damper", roles.damper)):
        if name is not None and not (name == default and name not in model.forces):
            found[role] = name
    return found


def _spring(model: Model, role: str, name: str) -> Sequence[str]:
    force = model.forces.get(name)
    if not isinstance(force, SpringDamper):
        hint = suggest(
            name, [key for key, f in model.forces.items() if isinstance(f, SpringDamper)], "springs"
        )
        raise ModelError(
            f"model '{model.name}' has no spring_damper '{name}', which the Suspension names as its {role}; {hint}"
        )
    return force.parent, force.child
