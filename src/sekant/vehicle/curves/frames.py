"""Frames of a suspension: their motion as expressions along the drives of a sweep, and their start."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.engine.system import System
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.spatial import SX, Pose
from sekant.model.model import Model
from sekant.tables.bound_oracle import BoundOracle
from sekant.vehicle.curves.arrays import elements
from sekant.vehicle.hardpoints.suspension import Suspension

Vector = NDArray[np.float64]


def frame_motion(system: System, frame: str, drives: Sequence[SX], bend: SX) -> PoseMotion:
    """The motion of a frame in the world as expressions, with the leading axes (1, 1) of a grid of one point.

    `drives` contains the displacement (nv,) per unit of each drive, and `bend` (nv,) is the derivative of the first
    displacement with respect to the first drive.
    """
    eq = system.equations
    state, slope = eq.motion.frame(frame), twists(system, frame)
    along = np.stack([elements(slope @ w) for w in drives])
    first, N = drives[0], ca.jacobian(eq.qdot, eq.v)
    rate = elements(eq.lookups.jtimes(slope @ first, eq.q, N @ first) + slope @ bend)
    return PoseMotion(
        on_grid(elements(state.p)),
        on_grid(elements(state.R)),
        on_grid(along[:, 3:]),
        on_grid(along[:, :3]),
        on_grid(rate[3:].reshape(1, 1, 3)),
        on_grid(rate[:3].reshape(1, 1, 3)),
    )


def twists(system: System, frame: str) -> SX:
    """Derivatives (6, nv) of angular velocity and velocity of a frame with respect to the system's velocities."""
    eq = system.equations
    state = eq.motion.frame(frame)
    return eq.lookups.jacobian(ca.vertcat(state.w_WF, state.v_WF), eq.v)


def on_grid(values: np.ndarray) -> np.ndarray:
    """Expressions with the axes (1, 1) of a grid of one point."""
    found = np.empty((1, 1, *np.shape(values)), dtype=object)
    found[0, 0] = values
    return found


def wheel_start(system: System, roles: Suspension, q: Vector, p: Vector) -> Vector:
    """Center (3,) m, spin axis (3,) and radius (m) of a wheel at the start q (nq,), in one vector (7,)."""

    def make() -> BoundOracle:
        eq = system.equations
        center, contact = (eq.motion.frame(name) for name in (roles.wheel_center, roles.contact))
        numbers = ca.vertcat(center.p, center.R[:, 1], ca.norm_2(contact.p - center.p))
        return eq.lookups.bound([eq.t, eq.q, eq.p], [ca.densify(numbers)])

    return system.cached(("start of a wheel", roles.wheel_center, roles.contact), make)(0.0, q, p)[0]


def split_start(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Center (3,), spin axis (3,) and radius (1,) from the vector of `wheel_start`, as numbers or expressions."""
    return numbers[:3], numbers[3:6], numbers[6:]


def start_places(system: System, frames: tuple[str, ...]) -> Vector:
    """Origins of frames in the world at the model's start, (k, 3) m."""

    def make() -> BoundOracle:
        eq = system.equations
        return eq.lookups.bound(
            [eq.t, eq.q, eq.p], [ca.horzcat(*(ca.densify(eq.motion.frame(name).p) for name in frames))]
        )

    found = system.cached(("start places", frames), make)
    return found(0.0, assemble(system).q, system.parameter_vector())[0].reshape(3, -1).T


def frame_pose(model: Model, reference: str) -> Pose:
    """The pose of a frame in the body that it is on."""
    body, name = model.split_reference(reference)
    frames = model.ground.frames if body == "ground" else model.bodies[body].frames
    return frames[name].pose() if name else Pose.identity()
