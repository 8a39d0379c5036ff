"""The two wheels of an axle along paths of travel, one path for each position of the rack, with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics import KinematicsResult, kinematics
from sekant.engine.system import System, compile
from sekant.errors import AnalysisWarning
from sekant.model.model import Model
from sekant.vehicle.kc.roles import AxleRoles, on_rig
from sekant.vehicle.sweep import Poses, placed, resting, start_poses

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AxleMotion:
    """An axle over a grid (n, m) of travel and rack; drives are the heights of both wheels, and the rack last.

    `ways` (2,) says how far the left and the right wheel go for one unit of travel: (1, 1) in parallel travel, (1,
    -1) in roll.
    """

    system: System
    model: Model
    roles: AxleRoles
    rows: tuple[KinematicsResult, ...]
    ways: Vector
    shape: tuple[int, int]
    steered: bool

    def grid(self, values: Sequence[Vector]) -> Vector:
        """Values (n, m, ...) of the rows (n_reached, ...) of each position of the rack; NaN where not reached."""
        return np.stack([row.on_grid(part) for row, part in zip(self.rows, values, strict=True)], axis=1)

    def quantity(self, name: str) -> Vector:
        """(n, m) of anything that `kinematics` knows by name."""
        return self.grid([row[name] for row in self.rows])

    def slopes(self, name: str) -> Vector:
        """(n, m, d) derivatives by each drive."""
        return self.grid([row.derivative(name) for row in self.rows])

    def bends(self, name: str) -> Vector:
        """(n, m, d, d) second derivatives."""
        return self.grid([row.second_derivative(name) for row in self.rows])

    def poses(self, frames: Sequence[str], side: int) -> dict[str, Poses]:
        """Poses of frames, with derivatives by the travel of the wheel of one side, and by the rack."""
        resolved = self.system.equations.resolved.model
        where = {name: placed(resolved, name) for name in dict.fromkeys(frames)}
        names = {body for body, _, _ in where.values()} - {"ground"}
        start = start_poses(self.system, names)
        way = self.ways / self.ways[side]
        d = 2 if self.steered else 1
        bodies = {"ground": resting(*self.shape, d)}
        for name in names:
            motions = [row.body(name) for row in self.rows]
            w, v = (self.grid([getattr(m, key) for m in motions]) for key in ("angular", "velocity"))
            bend = [
                self.grid([getattr(m, key) for m in motions])
                for key in ("angular_acceleration", "acceleration")
            ]
            w_z, v_z = (np.einsum("nmijk,i,j->nmk", b[:, :, :2, :2], way, way) for b in bend)
            bodies[name] = Poses(
                self.grid([m.rotation for m in motions]),
                self.grid([m.position for m in motions]),
                _by_travel(w, way, self.steered),
                _by_travel(v, way, self.steered),
                w_z,
                v_z,
                *start[name],
            )
        return {name: bodies[body].of_frame(R, p) for name, (body, R, p) in where.items()}

    @property
    def limits(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(limit) for row in self.rows for limit in row.limits))

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        return tuple(warning for row in self.rows for warning in row.warnings)


def _by_travel(rates: Vector, way: Vector, steered: bool) -> Vector:
    """(n, m, 2, 3): by the travel and by the rack, from rates (n, m, d, 3) by each drive."""
    travel = np.einsum("nmik,i->nmk", rates[:, :, :2], way)
    return np.stack([travel, rates[:, :, 2]] if steered else [travel], axis=2)


def axle_motion(
    model: Model, roles: AxleRoles, ways: Sequence[float], travel: Vector, steering: Vector
) -> AxleMotion:
    """The wheels moved by `travel` (n,) m times `ways` (2,) from the start, at each position (m,) m of the rack."""
    system = compile(on_rig(model, roles))
    return moved_on(system, model, roles, np.array(ways, float), travel, steering)


def moved_on(
    system: System, model: Model, roles: AxleRoles, ways: Vector, travel: Vector, steering: Vector
) -> AxleMotion:
    """The same on a rig that is compiled."""
    rack = roles.left.rack
    centers = [roles.left.wheel_center, roles.right.wheel_center]
    resolved = system.equations.resolved.model
    where = [placed(resolved, name) for name in centers]
    start = start_poses(system, {body for body, _, _ in where})
    z = [(start[body][1] + start[body][0] @ p)[2] for body, _, p in where]
    rows = []
    for move in steering if rack is not None else np.zeros(1):
        drives = {f"{c}.z": z0 + way * travel for c, z0, way in zip(centers, z, ways, strict=True)}
        if rack is not None:
            drives[f"{rack}.{model.joints[rack].coordinates[0].name}"] = np.full(travel.size, move)
        rows.append(kinematics(system, drives, path=True))
    shape = (travel.size, len(rows))
    return AxleMotion(system, model, roles, tuple(rows), ways, shape, rack is not None)
