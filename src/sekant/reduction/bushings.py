"""A mechanism on bushings: the path and the compliance of its body, about the equilibrium under the model's forces.

The base is fixed, and a load f along the drive holds the body at u. In equilibrium under the other forces of the
model,

    R(q, lam, f) = 0 ,  Phi(q) = 0 ,  p_a(q) = u .

If two coordinates are kept, a second load acts along a coordinate of a joint (the rack of a steering). Then loads F
(6,) on the body displace it by C(u) F, with u unchanged. C is the compliance of links, springs and bushings, at their
strain and load in this position. The path is the position that the body would have if all forces were removed along
this tangent. Path and compliance together therefore give the position under the model's forces exactly, and the
position under other loads to first order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.compliance.response import Response
from sekant.analyses.kinematics.quantities import scalar
from sekant.engine.functions.linear import MotionPoint
from sekant.errors import ModelError, SolverError
from sekant.formulations.outputs import XYZ
from sekant.geometry.rotations import rotation_from_quaternion
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator
from sekant.model.model import Model
from sekant.reduction.poses import drive_of
from sekant.solvers.newton import FullSteps, FunctionProblem, Rows, newton

Array = NDArray[Any]
Resting = tuple[Array, Array, Array]
"""Coordinates (nq,), multipliers (m,), loads (k,) along the k drives (N, N m)."""
MOST_STEPS = 60
LARGEST_STEP = 0.02  # m (or rad) between successive equilibria of the search
SECOND = "hold_second"


@dataclass(frozen=True, eq=False)
class RestingFrame:
    """The frame in equilibrium at u (k,) under the forces of the model.

    `rest`: q, lam and the loads (k,) that hold the drives. `poses`: p (3,) and R (3, 3) of the frame and of all
    bodies that follow it; `moved` (6, 6): displacement and rotation of each by loads on the frame, in its own axes.
    `C`: the compliance of the frame, symmetric; `g` (6,): the loads on the frame that are equivalent to the model's
    forces, from their work over `by_load`. `R_v`: damping of the bushings, for the velocities `by_u` (nv, k) and
    `by_load` (nv, 6) that result from the rates of u and of loads.
    """

    u: Array
    rest: Resting
    poses: dict[str, tuple[Array, Array]]
    moved: dict[str, Array]
    C: Array
    g: Array
    R_v: Array
    by_u: Array
    by_load: Array

    def damping(self, W: Array, e_u: Array) -> Array:
        """Damping matrix (k + r, k + r) for the rates of u and of coordinates e with the loads W (6, r).

        e_u (r, k): change of e along the equilibria, consistent with `by_u`.
        """
        by_e = self.by_load @ W
        Q = np.hstack([self.by_u - by_e @ e_u, by_e])
        D = Q.T @ self.R_v @ Q
        return 0.5 * (D + D.T)

    def unstrained(self, name: str, W: Array, e: Array) -> Unstrained:
        """A body or frame without the strain of the coordinates e (r,) with the loads W (6, r)."""
        p, R = self.poses[name]
        change, strain = _on_path(self.moved[name] @ W @ e)
        R_path = R @ _turned(strain[3:]).T
        return Unstrained(p - R_path @ strain[:3], R_path, change @ self.moved[name] @ W, change)


@dataclass(frozen=True, eq=False)
class Unstrained:
    """p (3,) and R (3, 3) on the path, and shapes (6, r) of the elastic coordinates there.

    `change` (6, 6): from twists of the strained frame to rates of displacement and angles on the path.
    """

    p: Array
    R: Array
    shapes: Array
    change: Array


class HeldFrame:
    """Equilibria of a mechanism whose `frame` is held at u along an axis of the world by a load.

    `second`: a coordinate of a joint that another load holds, by joint, number and name.
    """

    def __init__(self, model: Model, frame: str, axis: int, second: tuple[str, int, str] | None = None):
        self.axis = axis
        if second is not None:
            load = Actuator(joint=second[0], coordinate=second[1], force=Expression(SECOND))
            forces, parameters = {**model.forces, f"{SECOND}_load": load}, {**model.parameters, SECOND: 0.0}
            model = model.changed(parameters=parameters, forces=forces)
        self.response = Response(model, frame, [] if second is None else [SECOND], 0.0)
        self.system, self.functions = self.response.system, self.response.statics.functions
        self.drives, self._by = 1 if second is None else 2, None
        if second is not None:
            eq, h = self.system.equations, scalar(self.system, second[2]).expression
            rate = eq.lookups.jacobian(eq.lookups.jtimes(h, eq.q, eq.qdot), eq.v)
            self._by = self.system.function("second drive", [eq.t, eq.q, eq.p], [h, ca.densify(rate)])

    def p(self, loads: Array) -> Array:
        """The parameter vector with these loads (k,) along the drives."""
        return self.response.parameters(loads[1:], loads[0] * np.eye(6)[self.axis])

    def bordered(self, q: Array, lam: Array, loads: Array) -> tuple[Any, Array, Array, Array, Array]:
        """The system of equations with loads at q.

        Statics, values of the drives (k,), R of the frame, slopes (nv, 6) of the residual with respect to
        loads on it, and the matrix of the equations.
        """
        p, nv, m, k = self.p(loads), self.system.nv, lam.size, self.drives
        now = self.functions.static(0.0, q, lam, p)
        position, R, slope = self.response.frame(np.zeros(1), q, p)
        slopes = self.functions.slopes(MotionPoint(0.0, q, np.zeros(nv), np.zeros(nv), lam, p)).R
        by, u = slopes[:, -6:], [position.ravel()[self.axis]]
        A = np.zeros((nv + m + k, nv + m + k))
        A[:nv, :nv], A[:nv, nv : nv + m], A[nv : nv + m, :nv] = now.K, now.G.T, now.G
        A[:nv, nv + m], A[nv + m, :nv] = by[:, self.axis], slope.reshape(6, nv)[self.axis]
        if self._by is not None:
            h, rate = self._by(np.zeros(1), q, p)
            A[:nv, -1], A[-1, :nv] = slopes[:, -7], rate.ravel()
            u.append(float(h.ravel()[0]))
        return now, np.array(u), R.reshape(3, 3), by, A

    def rest(self, near: Resting, u: Array) -> Resting:
        """q, lam and loads in equilibrium at u (k,), by Newton's method from a nearby solution."""
        nv, k = self.system.nv, self.drives

        def at(place: Resting) -> Rows:
            now, found, _, _, A = self.bordered(*place)
            return Rows(np.concatenate([now.R, now.Phi, found - u]), A, rank=1e-13)

        def moved(place: Resting, step: Array) -> Resting:
            at_q = self.response.statics.geometry.move(place[0], step[:nv])
            return at_q, place[1] + step[nv:-k], place[2] + step[-k:]

        problem, search = FunctionProblem(at, moved), FullSteps(judged=nv)
        found = newton(problem, near, search, 0.0, most=MOST_STEPS, smallest_step=1e-11)
        if found.converged:
            return found.point
        where = ", ".join(f"{value:.6g}" for value in u)
        where = f"{where} m" if u.size == 1 else f"({where}) (SI units)"
        raise SolverError(
            f"reduce: model '{self.system.model.name}' has no equilibrium on its bushings with the kept "
            f"coordinate{'' if u.size == 1 else 's'} at {where}; narrow the range"
        )


class BushingPath:
    """A mechanism whose `frame` is driven along an axis of the world (first of `drives`: ``frame.z``).

    The second drive, if there is one, is a coordinate of a joint (``rack.displacement``). `loaded`: with all forces
    on it, `alone`: with its bushings only. `followers`: further bodies to include.
    """

    def __init__(
        self, alone: Model, loaded: Model, frame: str, drives: Sequence[str], followers: Sequence[str] = ()
    ):
        drive, second = drives[0], _joint_drive(alone, drives[1]) if len(drives) == 2 else None
        owner, _, axis = drive.rpartition(".")
        if owner != frame or axis not in XYZ:
            raise ModelError(
                f"reduce: a mechanism on bushings is reduced over x, y or z of the kept frame '{frame}', such as "
                f"'{frame}.z', not over '{drive}'; name another coordinate, or keep another frame"
            )
        held = [HeldFrame(model, frame, XYZ.index(axis), second) for model in (alone, loaded)]
        self.alone, self.loaded = held
        self.system, self.names = self.alone.system, (frame, *followers)
        self._poses = self._pose_function()
        start, none = assemble(self.system), np.zeros(self.alone.response.statics.m)
        unloaded = np.zeros(len(drives))
        u = self.alone.bordered(start.q, none, unloaded)[1]
        self._known = [self._place(u, (start.q, none, unloaded))]

    def _pose_function(self) -> Any:
        """Function (t, q, p) -> for each name p (3,), R (3, 3) and the slopes (6, nv) of its velocities, in the
        world."""
        eq, outputs = self.system.equations, []
        for name in self.names:
            state = eq.motion.frame(name)
            outputs += [state.p, state.R, eq.lookups.jacobian(ca.vertcat(state.v_WF, state.w_WF), eq.v)]
        return self.system.function(
            "bodies on bushings", [eq.t, eq.q, eq.p], [ca.densify(x) for x in outputs]
        )

    def _place(self, u: Array, near: Resting) -> RestingFrame:
        """The solution at u; `near`: a guess of its equilibrium."""
        q, lam, loads = self.loaded.rest(near, u)
        nv, k = self.system.nv, self.alone.drives
        p = self.alone.p(np.zeros(k))
        _, _, R, by, A = self.loaded.bordered(q, lam, loads)
        sides = np.zeros((A.shape[0], k + 6))
        sides[-k:, :k] = np.eye(k)
        sides[:nv, k:] = -by @ np.kron(np.eye(2), R)
        by_u, by_load = np.split(np.linalg.lstsq(A, sides, rcond=1e-13)[0][:nv], [k], axis=1)
        found, poses, moved = self._poses(np.zeros(1), q, p), {}, {}
        for i, name in enumerate(self.names):
            position, turn = found[3 * i].ravel(), found[3 * i + 1].reshape(3, 3)
            slope = np.kron(np.eye(2), turn).T @ found[3 * i + 2].reshape(6, nv)
            poses[name], moved[name] = (position, turn), slope @ by_load
        C = moved[self.names[0]]
        rest, strained = np.zeros(nv), self.alone.functions.static(0.0, q, lam, p).R
        R_v = self.alone.functions.rest_tangent(MotionPoint(0.0, q, rest, rest, lam, p)).R_v
        g = (
            by_load.T @ strained
        )  # the effect of the model's forces, from the bushing forces that balance them
        return RestingFrame(u, (q, lam, loads), poses, moved, 0.5 * (C + C.T), g, R_v, by_u, by_load)

    def at(self, *u: float) -> RestingFrame:
        """The solution at u (k,), starting from the nearest known one."""
        goal = np.array(u)
        near = min(self._known, key=lambda place: float(np.abs(place.u - goal).max()))
        steps = max(1, int(np.ceil(np.abs(goal - near.u).max() / LARGEST_STEP)))
        for value in np.linspace(near.u, goal, steps + 1)[1:]:
            q, lam, loads = near.rest
            ahead = self.alone.response.statics.geometry.move(q, near.by_u @ (value - near.u))
            near = self._place(value, (ahead, lam, loads))
        self._known.append(near)
        return near


def _joint_drive(model: Model, drive: str) -> tuple[str, int, str]:
    """Joint and number of the coordinate of the second drive, and its name."""
    for joint, item in model.joints.items():
        for i in range(item.nq):
            if item.nq == item.nv and drive_of(model, joint, i, [drive]) is not None:
                return joint, i, drive
    raise ModelError(
        "reduce: the second coordinate of a mechanism on bushings must be a joint coordinate, such as "
        "'rack.displacement' "
        f"(got '{drive}')"
    )


def _turned(t: Array) -> Array:
    """R (3, 3) of the quaternion (1, t / 2), as in `ElasticPose`."""
    return rotation_from_quaternion(np.concatenate([[1.0], 0.5 * t]))


def _on_path(strain: Array) -> tuple[Array, Array]:
    """The matrix (6, 6) from twists of a strained body, in its axes, to rates of displacement and rotation; and the
    strain.

    `strain` (6,): the effect of the forces, as such a twist: v = R^T d', w = (t' - t x t' / 2) / (1 + t^2 / 4), so
    that w = s is the twist of t' = t for t = 2 s / (1 + sqrt(1 - s^2)).
    """
    s = strain[3:]
    t = 2 * s / (1 + np.sqrt(1 - s @ s))
    turn = _turned(t)
    change = np.zeros((6, 6))
    change[:3, :3] = turn
    change[3:, 3:] = np.eye(3) + 0.5 * np.cross(np.eye(3), t) + 0.25 * np.outer(t, t)
    return change, np.concatenate([turn @ strain[:3], t])
