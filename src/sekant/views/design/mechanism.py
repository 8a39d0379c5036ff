"""The corner or the axle of a design page: its system with hard points and set-up changes as run-time parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.kinematics.equations import DrivenEquations
from sekant.analyses.kinematics.mobility import check_mobility, displacement_name
from sekant.analyses.kinematics.quantities import scalar
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System, compile
from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.vehicle.curves.corner_curves import corner_mechanism, without_steering_motions
from sekant.vehicle.curves.frames import frame_pose, wheel_start
from sekant.vehicle.hardpoints.coordinates import coordinates
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.hardpoints.suspension import Suspension
from sekant.vehicle.kc.compiled import CompiledCurves
from sekant.vehicle.kc.roles import SIDES, AxleRoles, on_rig
from sekant.vehicle.suspension.build import axle, corner

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DesignMechanism:
    """The mechanism of a page.

    `drives`: heights of the wheels, and the rack if there is one. `curves`: function of t, q, w (d, nv), second
    derivatives by the first `bends` drives, the displacements of an axle's wheels, the wheels' start, p -> `names`
    in `units`. `begin`: function of t, q, p -> the drives' values at q, the values from which travel and rack are
    measured, and the wheel's start.
    """

    given: HardPoints
    system: System
    roles: Suspension
    equations: DrivenEquations
    points: tuple[str, ...]
    """coordinates of hard points that are parameters, ``lower_ball.z`` ..."""
    set_up: tuple[str, ...]
    """changes that are parameters, ``left.camber_shim`` ..."""
    curves: NativeFunction
    names: tuple[str, ...]
    units: tuple[str, ...]
    begin: NativeFunction
    side: str
    """left or right, or axle"""

    @property
    def is_axle(self) -> bool:
        return self.side == "axle"

    @property
    def wheels(self) -> int:
        return 2 if self.is_axle else 1

    @property
    def steered(self) -> bool:
        return len(self.equations.drives) > self.wheels

    @property
    def springs(self) -> dict[str, str | None]:
        """Prefix of the columns of a wheel -> its spring."""
        if not self.is_axle:
            return {"": self.roles.spring}
        return {f"{side}.": f"{side}.{self.roles.spring}" for side in SIDES}

    def labels(self) -> list[str]:
        """Labels of the drives in messages."""
        wheels = [f"travel of the {side} wheel" for side in SIDES] if self.is_axle else ["travel"]
        return [*wheels, "rack"][: len(self.equations.drives)]

    def displacements(self) -> list[str]:
        """Names of the displacements of the mechanism."""
        return [displacement_name(self.system, k) for k in range(self.system.nv)]


def mechanism_of(given: HardPoints, side: str | None, *, both: bool) -> DesignMechanism:
    """The mechanism of an axle (`both`), or of the corner on a side, as `sekant kc` moves them."""
    return _axle(given) if both else _corner(given, side)


def _axle(given: HardPoints) -> DesignMechanism:
    given = given.model_copy(update={"compliant": False, "load": 0.0})
    drawn = axle(given, movable=True)
    roles = AxleRoles.of(drawn, given.suspension)
    model = on_rig(drawn, roles)
    points = tuple(coordinates(given))
    system = _system(model, points)
    made = CompiledCurves(system, model, roles, SIDES, drawn=True)
    drives = [f"{role.wheel_center}.z" for _, role in roles.sides]
    if roles.left.rack is not None:
        drives.append(f"{roles.left.rack}.{model.joints[roles.left.rack].coordinates[0].name}")
    eq = system.equations
    zeros = [frame_pose(eq.resolved.model, role.wheel_center).p[2] for _, role in roles.sides]
    curves = (made.function, tuple(made.names), tuple(made.units))
    return _made(given, system, given.suspension, points, curves, drives, zeros, SX(0, 1), "axle")


def _corner(given: HardPoints, side: str | None) -> DesignMechanism:
    if given.bushings and given.compliant:
        raise ModelError(
            "on bushings, the positions of wheel and rack do not determine those of the links; write "
            "compliant: false for rigid joints, or use --axle, which computes both sides with rigid joints",
            path=("bushings",),
        )
    model = corner(given, side=side, movable=True)  # pyright: ignore[reportArgumentType]
    points, roles = tuple(coordinates(given)), given.suspension
    steered = roles.rack in model.joints
    system = _system(without_steering_motions(model, roles.rack), points)
    known = corner_mechanism(system, roles, steered, None)
    q, p = assemble(system).q, system.parameter_vector()
    place = "left" if wheel_start(system, roles, q, p)[1] > 0 else "right"
    names, units, curves = known.compiled(place)
    drives = [f"{roles.wheel_center}.z", *([] if known.drive is None else [known.drive])]
    motion = system.equations.motion
    center, contact = motion.frame(roles.wheel_center), motion.frame(roles.contact)
    start = ca.vertcat(center.p, center.R[:, 1], ca.norm_2(contact.p - center.p))
    made = (curves, names, units)
    return _made(given, system, roles, points, made, drives, [center.p[2]], start, place)


def _system(model: Any, points: tuple[str, ...]) -> System:
    """The system, with its expressions, from which code for other targets is made."""
    names = [*points, *(name for name in model.parameters if name not in points)]
    return compile(model, parameters=names).with_expressions()


def _made(
    given: HardPoints,
    system: System,
    roles: Suspension,
    points: tuple[str, ...],
    curves: tuple[NativeFunction, tuple[str, ...], tuple[str, ...]],
    drives: list[str],
    zeros: list[Any],
    start: SX,
    side: str,
) -> DesignMechanism:
    eq = system.equations
    quantities = tuple(scalar(system, name) for name in drives)
    heights = ca.vertcat(*(one.expression for one in quantities))
    zero = ca.vertcat(*zeros, *([0.0] * (len(drives) - len(zeros))))
    begin = system.function("begin", [eq.t, eq.q, eq.p], [ca.densify(one) for one in (heights, zero, start)])
    equations = DrivenEquations(system, quantities, 0.0, system.parameter_vector())
    check_mobility(equations, assemble(system).q, 0)
    set_up = tuple(name for name in system.model.parameters if name not in points)
    return DesignMechanism(given, system, roles, equations, points, set_up, *curves, begin, side)
