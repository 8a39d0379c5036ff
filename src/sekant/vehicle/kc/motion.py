"""The wheels of an axle along their travel, at each position of the rack, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.kinematics import KinematicsResult, reachable
from sekant.analyses.kinematics.limits import END, Limit
from sekant.analyses.kinematics.parameter_rates import parameter_rates
from sekant.engine.system import System, compile
from sekant.errors import AnalysisWarning, SolverError
from sekant.model.model import Model
from sekant.vehicle.curves.frames import frame_pose, start_places, wheel_start
from sekant.vehicle.kc.compiled import CompiledCurves
from sekant.vehicle.kc.roles import SIDES, AxleRoles, on_rig

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AxleMotion:
    """An axle over a grid (n, m) of travel and rack. The drives are the heights of both wheels, then the rack.

    `ways` (2,) are the displacements of the left and the right wheel per unit of travel: (1, 1) in parallel travel,
    (1, -1) in roll.
    """

    system: System
    model: Model
    roles: AxleRoles
    rows: tuple[KinematicsResult, ...]
    ways: Vector
    shape: tuple[int, int]
    steered: bool
    drawn: bool
    """whether travel is measured from the drawing of hard points, not from the start of a model"""

    @property
    def moving(self) -> tuple[str, ...]:
        """The sides whose wheels move."""
        return tuple(side for side, way in zip(SIDES, self.ways, strict=True) if way)

    def grid(self, of: Callable[[KinematicsResult], Vector]) -> Vector:
        """Values (n, m, c) of all curves from the rows (n_reached, c) that `of` returns for each position of the
        rack.

        They are NaN at positions that are not reached.
        """
        nothing = np.zeros((0, len(self.compiled.names)))
        return np.stack([row.on_grid(of(row) if len(row) else nothing) for row in self.rows], axis=1)

    @property
    def compiled(self) -> CompiledCurves:
        """All curves as one function, which is compiled once per rig."""
        key = ("axle curves", self.roles, self.moving, self.drawn)
        return self.system.once(
            key, lambda: CompiledCurves(self.system, self.model, self.roles, self.moving, drawn=self.drawn)
        )

    def columns(self) -> dict[str, tuple[str, Vector]]:
        """Name -> (unit, values (n, m)) of every curve, SI."""
        made = self.compiled
        return made.columns(self.grid(lambda row: made.values(*self._arguments(row))))

    def slopes(self, by: str) -> Vector:
        """Derivatives (n, m, c) of all curves with respect to the travel or the rack."""

        def along(row: KinematicsResult) -> Vector:
            way = np.array([*self.ways, 0.0] if by == "travel" else [0.0, 0.0, 1.0])[: len(row.drive_names)]
            still = np.zeros((1, row.equations.p.size))
            rates = parameter_rates(row.equations, row.q, row.w, row.ww, still, way[None])
            return self.compiled.slopes(*self._arguments(row), rates, still)[:, 0]

        return self.grid(along)

    def _arguments(self, row: KinematicsResult) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
        return row.q, row.w, row.ww, self.ways, self._start, row.equations.p

    @cached_property
    def _start(self) -> Vector:
        """The start of the wheels that move, in the form of `CompiledCurves`."""
        if self.drawn:
            return np.zeros(0)
        q, p = assemble(self.system).q, self.system.parameter_vector()
        moving = [role for side, role in self.roles.sides if side in self.moving]
        return np.concatenate([wheel_start(self.system, role, q, p) for role in moving])

    @property
    def limits(self) -> tuple[str, ...]:
        """The ends of the travel, each listed once."""
        return tuple(dict.fromkeys(self._in_words(row, limit) for row in self.rows for limit in row.limits))

    def _in_words(self, row: KinematicsResult, limit: Limit) -> str:
        """The text of a limit. The end of a path is the same at every rack position, and is described as a travel."""
        if limit.kind != END:
            return str(limit)
        label, zero = row.equations.shown_as(0)
        return (
            f"{label} ends at {1e3 * (limit.value[0] - zero):.4g} mm, because the measured curves or poses of the "
            "wheel end there; reduce the travel"
        )

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        return tuple(dict.fromkeys(warning for row in self.rows for warning in row.warnings))


def axle_motion(
    model: Model,
    roles: AxleRoles,
    ways: Sequence[float],
    travel: Vector,
    steering: Vector,
    drawn: bool = False,
) -> AxleMotion:
    """The wheels, moved by `travel` (n,) m times `ways` (2,) from the start, at each position (m,) m of the rack.

    With `drawn`, they are moved from the drawing of the hard points. Set-up changes move the start of such a model,
    but its travel remains the height above the drawing.
    """
    system = compile(on_rig(model, roles))
    rack = roles.left.rack
    centers = [roles.left.wheel_center, roles.right.wheel_center]
    if drawn:
        z = [float(ca.evalf(frame_pose(system.numbers, name).p[2])) for name in centers]
    else:
        z = start_places(system, tuple(centers))[:, 2].tolist()
    rows = []
    for move in steering if rack is not None else np.zeros(1):
        drives = {f"{c}.z": z0 + way * travel for c, z0, way in zip(centers, z, ways, strict=True)}
        if rack is not None:
            drives[f"{rack}.{model.joints[rack].coordinates[0].name}"] = np.full(travel.size, move)
        rows.append(reachable(system, drives, path=True, shown=_shown(centers, z, ways, rack, list(drives))))
    if not any(len(row) for row in rows):
        raise SolverError(rows[0].nothing)
    shape = (travel.size, len(rows))
    steered = rack is not None
    return AxleMotion(system, model, roles, tuple(rows), np.array(ways, float), shape, steered, drawn)


def _shown(
    centers: Sequence[str], z: Sequence[float], ways: Sequence[float], rack: str | None, drives: Sequence[str]
) -> dict[str, tuple[str, float]]:
    """Labels of the drives in messages: the travel of each wheel, or of both if they move together, and the rack."""
    together = ways[0] == ways[1] and abs(z[0] - z[1]) < 1e-12
    labels = ["travel", "travel"] if together else [f"travel of the {side} wheel" for side in SIDES]
    shown = {f"{c}.z": (label, z0) for c, label, z0 in zip(centers, labels, z, strict=True)}
    return shown if rack is None else {**shown, drives[-1]: ("rack", 0.0)}
