"""Poses of frames over travel and steering, with their exact derivatives with respect to both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.kinematics import kinematics
from sekant.engine.system import System, compile
from sekant.errors import AnalysisWarning
from sekant.geometry.spatial import Pose
from sekant.model.model import Model

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Poses:
    """A frame over a grid (n, m) of travel and steering, all in the world; `d` is 2, or 1 without steering.

    Derivatives are those with respect to travel and, if there are two, to the rack's displacement. NaN where the
    mechanism cannot go.
    """

    R: Vector  # (n, m, 3, 3)
    p: Vector  # (n, m, 3) m
    w: Vector  # (n, m, d, 3) rad/m: angular velocity over the rate of each drive
    v: Vector  # (n, m, d, 3) 1: velocity of the origin over the rate of each drive
    w_z: Vector  # (n, m, 3) rad/m^2: derivative of the first angular velocity by travel
    v_z: Vector  # (n, m, 3) 1/m: second derivative of the origin's position by travel
    R_start: Vector  # (3, 3) as drawn
    p_start: Vector  # (3,) m

    def of_frame(self, R_BF: Vector, p_BF: Vector) -> Poses:
        """The motion of a frame F fixed to this one."""
        r, w = self.R @ p_BF, self.w[..., 0, :]
        return Poses(
            self.R @ R_BF,
            self.p + r,
            self.w,
            self.v + np.cross(self.w, r[..., None, :]),
            self.w_z,
            self.v_z + np.cross(self.w_z, r) + np.cross(w, np.cross(w, r)),
            self.R_start @ R_BF,
            self.p_start + self.R_start @ p_BF,
        )


def sweep(
    model: Model, frames: Sequence[str], wheel: str, rack: str | None, travel: Vector, steering: Vector
) -> tuple[dict[str, Poses], tuple[str, ...], tuple[AnalysisWarning, ...]]:
    """Poses of `frames`, what limits the motion, if anything, and warnings.

    `travel` (n,) m is the height of `wheel` above its place at the model's start, `steering` (m,) m the displacement
    of the rack.
    """
    system = compile(model)
    resolved = system.equations.resolved.model
    where = {name: placed(resolved, name) for name in dict.fromkeys((wheel, *frames))}
    start = start_poses(system, {body for body, _, _ in where.values()} - {"ground"})
    body, _, p_BF = where[wheel]
    drives = {f"{wheel}.z": (start[body][1] + start[body][0] @ p_BF)[2] + travel}
    if rack is not None:
        drives[f"{rack}.{model.joints[rack].coordinates[0].name}"] = steering
    found = kinematics(system, drives)
    d, shape = len(drives), (travel.size, steering.size)

    def grid(values: Vector, *more: int) -> Vector:
        return found.on_grid(values).reshape(*shape, *more)

    bodies = {"ground": resting(*shape, d)}
    for name, at_start in start.items():
        motion = found.body(name)
        w_z, v_z = motion.angular_acceleration, motion.acceleration
        bodies[name] = Poses(
            grid(motion.rotation, 3, 3),
            grid(motion.position, 3),
            grid(motion.angular, d, 3),
            grid(motion.velocity, d, 3),
            grid(w_z if d == 1 else w_z[:, 0, 0], 3),
            grid(v_z if d == 1 else v_z[:, 0, 0], 3),
            *at_start,
        )
    poses = {name: bodies[body].of_frame(R, p) for name, (body, R, p) in where.items()}
    return poses, tuple(str(limit) for limit in found.limits), found.warnings


def placed(model: Model, reference: str) -> tuple[str, Vector, Vector]:
    """The body that a frame is on, and R (3, 3), p (3,) of the frame in it."""
    body, name = model.split_reference(reference)
    frames = model.ground.frames if body == "ground" else model.bodies[body].frames
    X = frames[name].pose() if name else Pose.identity()
    return body, ca.evalf(X.R).full(), ca.evalf(X.p).full().ravel()


def start_poses(system: System, bodies: set[str]) -> dict[str, tuple[Vector, Vector]]:
    """R (3, 3) and p (3,) of each body at the model's start."""
    eq, state = system.equations, assemble(system)
    names = sorted(bodies)
    poses = [part for name in names for part in (eq.motion.frame(name).R, eq.motion.frame(name).p)]
    function = eq.lookups.oracle("start", [eq.t, eq.q, eq.p], poses)
    numbers = [np.array(part) for part in function(0.0, state.q, system.parameter_vector())]
    return {name: (numbers[2 * i], numbers[2 * i + 1].ravel()) for i, name in enumerate(names)}


def resting(n: int, m: int, d: int) -> Poses:
    """The ground."""
    zero, rates = np.zeros((n, m, 3)), np.zeros((n, m, d, 3))
    return Poses(zero[..., None] + np.eye(3), zero, rates, rates, zero, zero, np.eye(3), np.zeros(3))
