"""Random mechanisms: trees of every registered joint, loaded with every registered force, all values different.

Nothing is symmetric or aligned: placements, axes, inertias (which obey the triangle inequality), centers of
mass and gravity are all skew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from sekant.extensions import load_extensions
from sekant.formulations.equations import Equations
from sekant.model.body import Body
from sekant.model.examples import Stage
from sekant.model.forces import FORCES
from sekant.model.joints import JOINTS, Joint
from sekant.model.model import Ground, Model
from sekant.model.placement import Placement
from sekant.model.prescribed_motion import Motion
from sekant.model.quantities import Expression
from sekant.model.resolve import resolve
from sekant.tables.lookups import Lookups


def coincides(kind: str) -> bool:
    """Whether the frames of a joint coincide at zero coordinates; those that follow given poses do not."""
    lookups, item = Lookups(), joint(kind, np.random.default_rng(1), "ground", "body")
    q = np.zeros(item.nq)
    if item.unit_quaternion is not None:
        q[item.unit_quaternion] = 1.0
    symbols = ca.SX.sym("q", item.nq)
    X = item.pose(symbols, lookups)
    R, p = lookups.oracle("pose", [symbols], [ca.densify(X.R), ca.densify(X.p)]).call([ca.DM(q)])
    return bool(np.allclose(np.array(R), np.eye(3)) and np.allclose(np.array(p), 0.0))


GRAVITY = (1.3, -2.1, -9.4)


def rotation(rng: np.random.Generator) -> np.ndarray:
    """A random proper rotation (3, 3)."""
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def unit_quaternion(rng: np.random.Generator) -> np.ndarray:
    e = rng.normal(size=4)
    return e / np.linalg.norm(e)


def placement(rng: np.random.Generator) -> Placement:
    return Stage(rng).placement()


def body(rng: np.random.Generator) -> Body:
    """A body with two frames; its inertia is that of a skew ellipsoid."""
    squares = rng.uniform(0.01, 0.2, 3)
    R = rotation(rng)
    J = R @ np.diag(squares.sum() - squares) @ R.T
    mass = rng.uniform(0.5, 4.0)
    return Body(
        mass=mass,
        com=tuple(rng.uniform(-0.4, 0.4, 3)),
        inertia=(mass * 0.5 * (J + J.T)).tolist(),
        frames={"hub": placement(rng), "tip": placement(rng)},
    )


def joint(kind: str, rng: np.random.Generator, parent: str, child: str) -> Joint:
    """The random instance that the registered type `kind` makes of itself."""
    stage = Stage(rng)
    stage.parent, stage.child = parent, child
    return JOINTS[kind].example(stage)


FOLLOWERS = tuple(name for name in JOINTS if not coincides(name))
"""Joints that follow given poses, whose frames do not coincide at zero."""
JOINT_TYPES = tuple(name for name in JOINTS if name not in FOLLOWERS)
COORDINATE_JOINTS = tuple(name for name in JOINT_TYPES if JOINTS[name].unit_quaternion is None)
ALL_JOINTS = (*JOINT_TYPES, *FOLLOWERS)
MOVING_JOINTS = tuple(name for name in COORDINATE_JOINTS if JOINTS[name].velocities)


def coordinates_of(joints: dict[str, Joint]) -> tuple[tuple[str, int], ...]:
    """Those that are the integrals of their velocities."""
    return tuple(
        (name, k) for name, item in joints.items() if item.unit_quaternion is None for k in range(item.nv)
    )


def random_model(
    seed: int,
    joints: Sequence[str] = JOINT_TYPES,
    forces: Sequence[str] = (),
    motions: int = 0,
    gravity: tuple[float, float, float] = GRAVITY,
    branching: float = 0.5,
) -> Model:
    """A tree with one body for each entry of `joints`, in random order, and one force for each of `forces`.

    `branching`: chance that a body hangs on a random earlier one (or the ground) and not on the last.
    """
    rng = np.random.default_rng(seed)
    bodies: dict[str, Body] = {}
    tree: dict[str, Joint] = {}
    for i, kind in enumerate(rng.permutation(np.array(joints, dtype=object))):
        name = f"b{i}"
        parent = "ground" if i == 0 else f"b{i - 1}"
        if i and rng.random() < branching:
            parent = str(rng.choice(["ground", *bodies]))
        if rng.random() < 0.5:
            parent += ".hub"
        tree[f"j{i}"] = joint(kind, rng, parent, f"{name}.tip" if rng.random() < 0.5 else name)
        bodies[name] = body(rng)
    stage = Stage(rng, tuple(bodies), coordinates_of(tree))
    driven: dict[str, Motion] = {}
    for k in range(motions):
        taken = {(d.joint, d.coordinate) for d in driven.values()}
        while tuple((at := stage.coordinate()).values()) in taken:
            pass
        driven[f"drive{k}"] = Motion(**at, value=Expression(f"{0.3 + 0.1 * k}*sin(2.3*t + {k}) + 0.2*t^2"))
    return Model(
        name=f"random{seed}",
        gravity=gravity,
        ground=Ground(frames={"hub": placement(rng), "tip": placement(rng)}),
        bodies=bodies,
        joints=tree,
        forces={f"{kind}_{k}": FORCES[kind].example(stage) for k, kind in enumerate(forces)},
        motions=driven,
        tables=stage.tables,
    )


def floating_model(seed: int, joints: Sequence[str], gravity=(0.0, 0.0, 0.0)) -> Model:
    """A tree whose first body floats and carries all others."""
    rng = np.random.default_rng(seed)
    bodies, tree = {"b0": body(rng)}, {"j0": joint("free", rng, "ground", "b0")}
    for i, kind in enumerate(joints, start=1):
        parent = str(rng.choice(list(bodies)))
        tree[f"j{i}"] = joint(kind, rng, parent, f"b{i}")
        bodies[f"b{i}"] = body(rng)
    return Model(name=f"floating{seed}", gravity=gravity, bodies=bodies, joints=tree)


def equations_of(model: Model, parameters: Sequence[str] = (), algorithm: Any = "auto") -> Equations:
    return Equations(resolve(model, parameters), algorithm)


def random_state(eq: Equations, seed: int, speed: float = 1.5) -> tuple[float, np.ndarray, np.ndarray]:
    """(t, q, v): consistent, i.e. with unit quaternions."""
    rng = np.random.default_rng(1000 + seed)
    q = rng.uniform(-1.2, 1.2, eq.nq)
    for start, length in eq.motion.unit_blocks:
        q[start : start + length] /= np.linalg.norm(q[start : start + length])
    return float(rng.uniform(0.2, 1.4)), q, rng.uniform(-speed, speed, eq.nv)


def values(eq: Equations, state, *expressions: ca.SX, p=(), extra=()) -> list[np.ndarray]:
    """Numbers of expressions at a state, tables included; `extra`: pairs (symbols, numbers)."""
    t, q, v = state
    z = np.linspace(0.02, 0.05, eq.z.numel())
    inputs = [eq.t, eq.q, eq.v, eq.p, eq.z, *[symbols for symbols, _ in extra]]
    given = [t, q, v, np.asarray(p, float), z, *[numbers for _, numbers in extra]]
    function = eq.lookups.oracle("values", inputs, [ca.SX(e) for e in expressions])
    return [np.array(y) for y in function.call([ca.DM(np.asarray(x, float)) for x in given])]


def time_derivative(eq: Equations, expression: ca.SX) -> ca.SX:
    """Total derivative along the motion: d/dt + qdot d/dq + a d/dv + zdot d/dz, by differentiation."""
    direction = ca.vertcat(ca.SX(1), eq.qdot, eq.a, eq.elements.rates)
    return eq.lookups.jtimes(ca.SX(expression), ca.vertcat(eq.t, eq.q, eq.v, eq.z), direction)


def has_states(kind: str) -> bool:
    """Whether random instances of a force have states of their own."""
    return equations_of(random_model(3, ("revolute", "prismatic"), (kind,))).elements.z.numel() > 0


load_extensions()
WITH_STATES = tuple(name for name in FORCES if has_states(name))
FORCE_TYPES = tuple(name for name in FORCES if name not in WITH_STATES)
