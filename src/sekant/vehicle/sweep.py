"""Poses of frames over travel and steering, with their exact derivatives with respect to both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.kinematics import kinematics
from sekant.engine.system import State, System
from sekant.errors import AnalysisWarning
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.spatial import Pose
from sekant.model.model import Model
from sekant.tables.bound_oracle import BoundOracle

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SweptFrame:
    """A frame over a grid (n, m) of travel and steering, and as drawn, all in the world.

    `motion`: derivatives with respect to travel and, if there are two drives, to the rack's displacement, second ones
    by travel alone. NaN where the mechanism cannot go. `R_start` (3, 3), `p_start` (3,) m: as drawn.
    """

    motion: PoseMotion
    R_start: Vector
    p_start: Vector

    @property
    def bend(self) -> Vector:
        """(n, m, 3) 1/m: second derivative of the origin's position by travel."""
        return self.motion.acceleration[..., 0, 0, :]

    def of_frame(self, R_BF: Vector, p_BF: Vector) -> SweptFrame:
        """The motion of a frame F fixed to this one."""
        moved = self.motion.of_frame(R_BF, p_BF)
        return SweptFrame(moved, self.R_start @ R_BF, self.p_start + self.R_start @ p_BF)


def sweep(
    system: System,
    frames: Sequence[str],
    wheel: str,
    rack: str | None,
    travel: Vector,
    steering: Vector,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> tuple[dict[str, SweptFrame], tuple[str, ...], tuple[AnalysisWarning, ...]]:
    """Poses of `frames`, what limits the motion, if anything, and warnings.

    `travel` (n,) m is the height of `wheel` above its place at the model's start, `steering` (m,) m the displacement
    of the rack, `parameters` values of the system's run-time parameters.
    """
    where = _all_placed(system, tuple(dict.fromkeys((wheel, *frames))), parameters)
    state = assemble(system, parameters=parameters)
    start = start_poses(system, {body for body, _, _ in where.values()} - {"ground"}, parameters, state)
    body, _, p_BF = where[wheel]
    drives = {f"{wheel}.z": (start[body][1] + start[body][0] @ p_BF)[2] + travel}
    if rack is not None:
        drives[f"{rack}.{system.model.joints[rack].coordinates[0].name}"] = steering
    found = kinematics(system, drives, guess=state, parameters=parameters)
    d, shape = len(drives), (travel.size, steering.size)

    def grid(values: Vector, *more: int) -> Vector:
        return found.on_grid(values).reshape(*shape, *more)

    still = PoseMotion.resting(*shape, drives=d, second=1)
    bodies = {"ground": SweptFrame(still, np.eye(3), np.zeros(3))}
    for name, at_start in start.items():
        of = found.body(name)
        first = () if d == 1 else (slice(None), 0, 0)
        motion = PoseMotion(
            grid(of.position, 3),
            grid(of.rotation, 3, 3),
            grid(of.velocity, d, 3),
            grid(of.angular, d, 3),
            grid(of.acceleration[first], 1, 1, 3),
            grid(of.angular_acceleration[first], 1, 1, 3),
        )
        bodies[name] = SweptFrame(motion, *at_start)
    poses = {name: bodies[body].of_frame(R, p) for name, (body, R, p) in where.items()}
    return poses, tuple(str(limit) for limit in found.limits), found.warnings


def placed(model: Model, reference: str) -> tuple[str, Vector, Vector]:
    """The body that a frame is on, and R (3, 3), p (3,) of the frame in it."""
    body, X = frame_pose(model, reference)
    return body, ca.evalf(X.R).full(), ca.evalf(X.p).full().ravel()


def frame_pose(model: Model, reference: str) -> tuple[str, Pose]:
    """The body that a frame is on, and its pose in it."""
    body, name = model.split_reference(reference)
    frames = model.ground.frames if body == "ground" else model.bodies[body].frames
    return body, frames[name].pose() if name else Pose.identity()


def _all_placed(
    system: System, references: tuple[str, ...], parameters: Mapping[str, ArrayLike] | None
) -> dict[str, tuple[str, Vector, Vector]]:
    """As `placed`, at values of the system's run-time parameters."""

    def make() -> tuple[list[str], BoundOracle]:
        model = system.equations.resolved.model
        found = [frame_pose(model, name) for name in references]
        parts = [ca.densify(part) for _, X in found for part in (X.R, X.p)]
        return [body for body, _ in found], BoundOracle(ca.Function("frames", [system.equations.p], parts))

    bodies, function = system.kept(("frames", references), make)
    numbers = function(system.parameter_vector(parameters))
    return {name: (bodies[i], numbers[2 * i], numbers[2 * i + 1]) for i, name in enumerate(references)}


def start_poses(
    system: System,
    bodies: set[str],
    parameters: Mapping[str, ArrayLike] | None = None,
    state: State | None = None,
) -> dict[str, tuple[Vector, Vector]]:
    """R (3, 3) and p (3,) of each body at the model's start, or at a consistent `state`."""
    names = tuple(sorted(bodies))
    state = assemble(system, parameters=parameters) if state is None else state

    def make() -> BoundOracle:
        eq = system.equations
        poses = [part for name in names for part in (eq.motion.frame(name).R, eq.motion.frame(name).p)]
        return eq.lookups.bound([eq.t, eq.q, eq.p], poses)

    numbers = system.kept(("start poses", names), make)(0.0, state.q, system.parameter_vector(parameters))
    return {name: (numbers[2 * i], numbers[2 * i + 1]) for i, name in enumerate(names)}
