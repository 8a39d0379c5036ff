"""A mechanism on bushings: the path and the compliance of its body, about the state that the model's forces cause.

The base stands still, and a load f along the drive holds the body at u. At rest under the other forces of the model,

    R(q, lam, f) = 0 ,  Phi(q) = 0 ,  p_a(q) = u ,

loads F (6,) on the body displace it by C(u) F, with u unchanged, where C is that of links and bushings strained as
they are there. The path is where the body would be if all forces were taken away along this tangent: then path and
compliance together give the position under the model's forces exactly, and that under other loads to first order.
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
from sekant.analyses.kinematics.quantities import XYZ
from sekant.engine.functions.linear import MotionPoint
from sekant.errors import ModelError, SolverError
from sekant.geometry.rotations import angle_between_rotations, quaternion_from_euler, rotation_from_quaternion
from sekant.model.joints.elastic import ElasticModes, rows_of, spanning_loads
from sekant.model.model import Model
from sekant.solvers.newton import FullSteps, FunctionProblem, Rows, newton

Array = NDArray[Any]
LENGTH = 0.3  # m: a turn counts as the displacement at this distance
Resting = tuple[Array, Array, float]
"""Coordinates (nq,), multipliers (m,), load (N)."""
MOST_STEPS = 60
LARGEST_STEP = 0.02  # m between states of rest that the search walks along


@dataclass(frozen=True, eq=False)
class RestingFrame:
    """The frame at rest at u under the forces of the model.

    `rest`: q, lam and the load () that holds the frame. `poses`: p (3,) and R (3, 3) of the frame and of all bodies
    that follow it, without forces; `strain`: displacement and turns about x, y, z (6,) of each from there to the
    state of rest, and `moved` (6, 6) by loads on the frame. C: the compliance of the frame, in its own axes at rest.
    `R_v`: damping of the bushings, for the velocities `by_u` (nv,) and `by_load` (nv, 6) that come with the rates of
    u and of loads.
    """

    u: float
    rest: tuple[Array, Array, float]
    poses: dict[str, tuple[Array, Array]]
    strain: dict[str, Array]
    moved: dict[str, Array]
    C: Array
    C_path: Array  # the same in the axes of the path
    R_v: Array
    by_u: Array
    by_load: Array

    def damping(self, W: Array) -> Array:
        """(1 + r, 1 + r) for the rates of u and of coordinates with the loads W (6, r)."""
        Q = np.column_stack([self.by_u, self.by_load @ W])
        D = Q.T @ self.R_v @ Q
        return 0.5 * (D + D.T)


class HeldFrame:
    """States of rest of a mechanism whose `frame` a load holds at u along an axis of the world."""

    def __init__(self, model: Model, frame: str, axis: int):
        self.axis = axis
        self.response = Response(model, frame, [], 0.0)
        self.system, self.functions = self.response.system, self.response.statics.functions

    def p(self, load: float) -> Array:
        """The parameter vector with this load (N) along the axis."""
        return self.response.parameters(np.zeros(0), load * np.eye(6)[self.axis])

    def bordered(self, q: Array, lam: Array, load: float) -> tuple[Any, Array, Array, Array, Array]:
        """Statics, p and R of the frame, slopes (nv, 6) of the residual by loads, and the matrix of the equations."""
        p, nv, m = self.p(load), self.system.nv, lam.size
        now = self.functions.static(0.0, q, lam, p)
        position, R, slope = self.response.frame(np.zeros(1), q, p)
        by = self.functions.slopes(MotionPoint(0.0, q, np.zeros(nv), np.zeros(nv), lam, p)).R[:, -6:]
        A = np.zeros((nv + m + 1, nv + m + 1))
        A[:nv, :nv], A[:nv, nv : nv + m], A[nv : nv + m, :nv] = now.K, now.G.T, now.G
        A[:nv, -1], A[-1, :nv] = by[:, self.axis], slope.reshape(6, nv)[self.axis]
        return now, position.ravel(), R.reshape(3, 3), by, A

    def rest(self, q: Array, lam: Array, load: float, u: float) -> tuple[Array, Array, float]:
        """q, lam and load at rest at u, by Newton's method from those nearby."""
        nv = self.system.nv

        def at(place: Resting) -> Rows:
            now, p, _, _, A = self.bordered(*place)
            return Rows(np.concatenate([now.R, now.Phi, [p[self.axis] - u]]), A, rank=1e-13)

        def moved(place: Resting, step: Array) -> Resting:
            at_q = self.response.statics.geometry.move(place[0], step[:nv])
            return at_q, place[1] + step[nv:-1], place[2] + float(step[-1])

        problem, search = FunctionProblem(at, moved), FullSteps(judged=nv)
        found = newton(problem, (q, lam, load), search, 0.0, most=MOST_STEPS, smallest_step=1e-11)
        if found.converged:
            return found.point
        raise SolverError(
            f"reduce: '{self.system.model.name}' finds no state of rest on its bushings at {u:.6g} m; narrow the "
            "range"
        )


class BushingPath:
    """A mechanism whose `frame` is driven along an axis of the world (`drive`: ``frame.z``).

    `loaded`: with all forces on it, `alone`: with its bushings only. `followers`: further bodies that are wanted.
    """

    def __init__(self, alone: Model, loaded: Model, frame: str, drive: str, followers: Sequence[str] = ()):
        owner, _, axis = drive.rpartition(".")
        if owner != frame or axis not in XYZ:
            raise ModelError(
                "reduce: a mechanism on bushings is reduced over a coordinate of the kept frame, such as "
                f"'{frame}.z' (got '{drive}'); keep the frame '{owner}', or name its coordinate"
            )
        self.alone, self.loaded = (HeldFrame(model, frame, XYZ.index(axis)) for model in (alone, loaded))
        self.system, self.names = self.alone.system, (frame, *followers)
        self._poses = self._pose_function()
        start, none = assemble(self.system), np.zeros(self.alone.response.statics.m)
        u = float(self.alone.bordered(start.q, none, 0.0)[1][self.alone.axis])
        self._known = [self._place(u, (start.q, none, 0.0))]

    def _pose_function(self) -> Any:
        """(t, q, p) -> for each name p (3,), R (3, 3) and the slopes (6, nv) of its velocities, in the world."""
        eq, outputs = self.system.equations, []
        for name in self.names:
            state = eq.motion.frame(name)
            outputs += [state.p, state.R, eq.lookups.jacobian(ca.vertcat(state.v_WF, state.w_WF), eq.v)]
        return self.system.function(
            "bodies on bushings", [eq.t, eq.q, eq.p], [ca.densify(x) for x in outputs]
        )

    def _place(self, u: float, near: tuple[Array, Array, float]) -> RestingFrame:
        """The place at u; `near`: a guess of its state of rest."""
        q, lam, load = self.loaded.rest(*near, u)
        nv, p = self.system.nv, self.alone.p(0.0)
        now, _, R, by, A = self.alone.bordered(q, lam, 0.0)
        sides = np.zeros((A.shape[0], 8))
        sides[-1, 0] = 1.0
        sides[:nv, 1:7] = -by @ np.kron(np.eye(2), R)
        sides[:nv, 7] = now.R  # what the forces of the model do, with the opposite sign
        by_u, by_load, by_forces = np.split(np.linalg.lstsq(A, sides, rcond=1e-13)[0][:nv], [1, 7], axis=1)
        found = self._poses(np.zeros(1), q, p)
        poses, strain, moved = {}, {}, {}
        for k, name in enumerate(self.names):
            position, turn = found[3 * k].ravel(), found[3 * k + 1].reshape(3, 3)
            slope = np.kron(np.eye(2), turn).T @ found[3 * k + 2].reshape(6, nv)
            to_shapes, strain[name] = _on_path((slope @ by_forces).ravel())
            if k == 0:
                C = slope @ by_load
                C = 0.5 * (C + C.T)
                C_path = to_shapes @ C @ to_shapes.T
            moved[name] = to_shapes @ slope @ by_load
            R_path = turn @ _turned(strain[name][3:]).T
            poses[name] = (position - R_path @ strain[name][:3], R_path)
        rest = np.zeros(nv)
        R_v = self.alone.functions.rest_tangent(MotionPoint(0.0, q, rest, rest, lam, p)).R_v
        return RestingFrame(u, (q, lam, load), poses, strain, moved, C, C_path, R_v, by_u.ravel(), by_load)

    def at(self, u: float) -> RestingFrame:
        """The place at u, walked to from the nearest one that is known."""
        near = min(self._known, key=lambda place: abs(place.u - u))
        steps = max(1, int(np.ceil(abs(u - near.u) / LARGEST_STEP)))
        for value in np.linspace(near.u, u, steps + 1)[1:].tolist():
            q, lam, load = near.rest
            ahead = self.alone.response.statics.geometry.move(q, near.by_u * (value - near.u))
            near = self._place(value, (ahead, lam, load))
        self._known.append(near)
        return near


def _turned(angles: Array) -> Array:
    """R (3, 3) of the turns about x, y, z, as `Displaced` has them."""
    return rotation_from_quaternion(quaternion_from_euler(angles, "xyz"))


def _on_path(strain: Array) -> tuple[Array, Array]:
    """The matrix (6, 6) from twists of a strained body, in its axes, to rates of displacement and angles; the strain.

    `strain` (6,): what the forces do, as such a twist: v = R^T d', w = J angles' with J of turns about x, y, z.
    """
    angles = strain[3:].copy()
    for _ in range(8):  # angles of a few hundredths of a radian: each pass gains two digits
        R_yz, R_z = (_turned(angles * part) for part in ([0, 1, 1], [0, 0, 1]))
        J = np.column_stack([R_yz[0], R_z[1], [0.0, 0.0, 1.0]])
        angles = np.linalg.solve(J, strain[3:])
    turn = _turned(angles)
    change = np.zeros((6, 6))
    change[:3, :3], change[3:, 3:] = turn, np.linalg.inv(J)
    return change, np.concatenate([turn @ strain[:3], angles])


def elastic_modes(places: list[RestingFrame], modes: int | None = None) -> dict[str, ElasticModes]:
    """The modes of a row of places, of the frame and of the bodies that follow it.

    `modes`: how many, by default all that are not rigid beside the largest.
    """
    C = np.array([place.C for place in places])
    W = spanning_loads(C, modes)
    frame, *followers = places[0].poses
    u = tuple(place.u for place in places)
    shapes = {
        name: rows_of(np.array([place.moved[name] @ W for place in places])) for name in (frame, *followers)
    }
    K = W.T @ C @ W
    leading = ElasticModes(
        u=u,
        shapes=shapes[frame],
        stiffness=rows_of(0.5 * (K + K.transpose(0, 2, 1))),
        damping=rows_of(np.array([place.damping(W) for place in places])),
    )
    return {frame: leading} | {name: ElasticModes(u=u, shapes=shapes[name]) for name in followers}


def strained(modes: ElasticModes, place: RestingFrame) -> Array:
    """Elastic coordinates e (r,) at the state of rest of a place."""
    values, r = modes.table(place.u), modes.count
    return np.linalg.lstsq(values[: 6 * r].reshape(6, r), next(iter(place.strain.values())), rcond=None)[0]


def check_modes(modes: ElasticModes, places: list[RestingFrame]) -> float:
    """Largest error of the compliance at places, in m and rad by N and N m, against its largest entry."""
    S = np.diag([1.0, 1.0, 1.0, LENGTH, LENGTH, LENGTH])
    size = max(np.abs(S @ place.C @ S).max() for place in places)
    gaps = [np.abs(S @ (modes.compliance(place.u) - place.C_path) @ S).max() for place in places]
    return float(max(gaps) / size)


def pose_errors(curve: Any, name: str, places: list[RestingFrame]) -> tuple[Array, Array]:
    """Distances (n,) m and angles (n,) rad of a curve from the places of a body."""
    R, p = curve.pose(np.array([place.u for place in places]))
    exact = [np.array([place.poses[name][i] for place in places]) for i in range(2)]
    return np.linalg.norm(p - exact[0], axis=1), np.asarray(angle_between_rotations(R, exact[1]))
