"""States of mechanisms with loops: random consistent ones, the same state in another formulation, and what moves."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import sekant as sk
from sekant.engine.functions.outputs import all_outputs
from sekant.formulations.kinematics import relative_pose, relative_twist
from sekant.geometry.spatial import quaternion_from_rotation


def system_of(model: sk.Model, formulation: str = "joint") -> sk.System:
    """Compiled for CasADi's interpreter: nothing to wait for."""
    return sk.compile(model, formulation=formulation, engine="casadi")


def evaluate(system: sk.System, state: sk.State, t: float, *expressions: Any) -> list[np.ndarray]:
    """Numbers of expressions in the system's symbols at a state, by CasADi's interpreter."""
    eq = system.equations
    shapes = [ca.densify(ca.SX(e)) for e in expressions]
    oracle = eq.lookups.oracle("evaluate", [eq.t, eq.q, eq.v, eq.p], shapes)
    return [np.array(y) for y in oracle.call([t, ca.DM(state.q), ca.DM(state.v), system.parameter_vector()])]


def consistent_state(
    system: sk.System, seed: int, t: float = 0.0, reach: float = 0.15, speed: float = 0.8
) -> sk.State:
    """The model's own start, assembled, moved at random and assembled again."""
    rng = np.random.default_rng(900 + seed)
    start = sk.assemble(system, t=t)
    q = start.q + rng.uniform(-reach, reach, system.nq)
    for first, length in system.equations.motion.unit_blocks:
        q[first : first + length] /= np.linalg.norm(q[first : first + length])
    return sk.assemble(system, sk.State(q, rng.uniform(-speed, speed, system.nv)), t=t)


def carried_over(joints: sk.System, other: sk.System, state: sk.State, t: float = 0.0) -> sk.State:
    """The same positions and velocities of all bodies in the coordinates of another formulation."""
    columns = other.equations.start.placed_by(joints.equations.motion)
    q, v = evaluate(joints, state, t, *columns)
    return sk.State(q.ravel(), v.ravel())


def body_accelerations(system: sk.System, state: sk.State, t: float = 0.0) -> dict[str, np.ndarray]:
    """(6,) of each body: angular acceleration and acceleration of its origin, in W."""
    eq = system.equations
    expressions = []
    for i, link in enumerate(eq.motion.links):
        R, A, V = eq.motion.X_WM[i].R, eq.forward.A[i], eq.motion.V[i]
        r = -(link.X_BM.R.T @ link.X_BM.p)
        linear = A.v + ca.cross(A.w, r) + ca.cross(V.w, V.v + ca.cross(V.w, r))
        expressions.append(ca.vertcat(R @ A.w, R @ linear + eq.gravity))
    names = [link.body for link in eq.motion.links]
    return dict(zip(names, [y.ravel() for y in evaluate(system, state, t, *expressions)], strict=True))


def twists(system: sk.System, state: sk.State, t: float = 0.0) -> dict[str, np.ndarray]:
    """(6,) of each body: angular velocity and velocity of its origin, in W."""
    names = list(system.model.bodies)
    frames = [system.equations.motion.frame(name) for name in names]
    rows = evaluate(system, state, t, *[ca.vertcat(f.w_WF, f.v_WF) for f in frames])
    return {name: row.ravel() for name, row in zip(names, rows, strict=True)}


def reactions(system: sk.System, state: sk.State, t: float = 0.0) -> dict[str, np.ndarray]:
    """(6,) of each joint: force and moment on its child about its frame, in W."""
    found = {o.name: o.expression for o in all_outputs(system) if o.name.endswith(".reaction")}
    rows = evaluate(system, state, t, *found.values())
    return {name.removesuffix(".reaction"): y.ravel() for name, y in zip(found, rows, strict=True)}


def with_start(system: sk.System, state: sk.State, t: float = 0.0, **cuts: bool) -> sk.Model:
    """The system's model with all joints' start values as `state` has them; `cuts` sets their field `cut`."""
    motion = system.equations.motion
    joints = {}
    for name, item in system.model.joints.items():
        F, M = motion.joint_ends(name)
        X, V = relative_pose(F, M), relative_twist(F, M)
        update: dict[str, Any] = {"cut": cuts.get(name, False)}
        if item.unit_quaternion is not None:
            e, p, w, v = (
                y.ravel()
                for y in evaluate(system, state, t, quaternion_from_rotation(X.R), X.p, V.w, X.R @ V.v)
            )
            fields = type(item).model_fields
            update["orientation"] = sk.Frame(orientation={"quaternion": tuple(e)}).orientation
            update["angular_velocity"] = tuple(w)
            update |= {"position": tuple(p), "velocity": tuple(v)} if "position" in fields else {}
        elif item.nv:
            pairs = [motion.coordinate(name, i) for i in range(item.nv)]
            q, v = (
                evaluate(system, state, t, ca.vertcat(*column))[0].ravel()
                for column in zip(*pairs, strict=True)
            )
            scalar = np.isscalar(item.q0)
            update |= {"q0": float(q[0]), "v0": float(v[0])} if scalar else {"q0": tuple(q), "v0": tuple(v)}
        joints[name] = item.model_copy(update=update)
    return system.model.model_copy(update={"joints": joints})


def worst(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> float:
    """Largest difference of entries, relative to the largest entry where that exceeds one."""
    assert first.keys() == second.keys()
    scale = max(1.0, *(np.abs(y).max() for y in first.values()))
    return float(np.max([np.abs(first[name] - second[name]).max() for name in first])) / scale
