"""Random mechanisms: trees of every registered joint, loaded with every registered force, all values different.

Nothing is symmetric or aligned: placements, axes, inertias (which obey the triangle inequality), centers of
mass and gravity are all skew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from sekant.formulations.equations import Equations
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.body import Body
from sekant.model.driver import Driver
from sekant.model.forces import FORCES, Force
from sekant.model.joints import JOINTS, Joint
from sekant.model.model import Ground, Model
from sekant.model.placement import Orientation, Placement
from sekant.model.quantities import Expression
from sekant.model.resolve import resolve
from sekant.model.table import TableData
from sekant.tables.table import Table, Table2

FIELD_MAKERS: dict[str, Callable[[np.random.Generator], Any]] = {
    "axis": lambda rng: tuple(rng.normal(size=3)),
    "pitch": lambda rng: rng.uniform(0.2, 0.7),
}
"""Fields of joints besides their placement, by name; a joint type that needs others is left out."""


def _can_build(cls: type[Joint]) -> bool:
    needed = {name for name, field in cls.model_fields.items() if field.is_required()}
    return needed <= {"child", *FIELD_MAKERS}


def curve(rng: np.random.Generator) -> PoseCurve:
    """A skew path in space with turning frames, over u in [-2, 2]."""
    u = np.linspace(-2.0, 2.0, 15)
    a, b = rng.uniform(-0.4, 0.4, (2, 6)), rng.uniform(0.8, 1.6, 6)
    y = np.outer(u, rng.uniform(0.3, 0.8, 6)) + a[0] + a[1] * np.sin(np.outer(u, b))
    return PoseCurve(Table.cubic(u, y, extrapolation="linear"), "euler:zyx")


def surface(rng: np.random.Generator) -> PoseSurface:
    """A skew family of poses over (u1, u2) in [-2, 2]^2."""
    u = np.linspace(-2.0, 2.0, 9)
    x1, x2 = np.meshgrid(u, u, indexing="ij")
    c = rng.uniform(-0.4, 0.4, (4, 6))
    y = (
        c[0] * x1[..., None]
        + c[1] * x2[..., None]
        + c[2] * np.sin(x1 * x2)[..., None]
        + c[3] * np.cos(x1)[..., None]
    )
    y[..., 0] += x1
    y[..., 1] += x2
    return PoseSurface(Table2.cubic(u, u, y), "euler:zyx")


FOLLOWERS = {"path": ("curve", curve), "surface": ("surface", surface)}
"""Joints that follow given poses, whose frames do not coincide at zero: the field they need, its maker."""
JOINT_TYPES = tuple(name for name, cls in JOINTS.items() if _can_build(cls))
COORDINATE_JOINTS = tuple(name for name in JOINT_TYPES if JOINTS[name].unit_quaternion is None)
ALL_JOINTS = (*JOINT_TYPES, *FOLLOWERS)
MOVING_JOINTS = tuple(name for name in COORDINATE_JOINTS if JOINTS[name].velocities)
FORCE_TYPES = tuple(name for name, cls in FORCES.items() if cls.__module__.startswith("sekant.model."))
GRAVITY = (1.3, -2.1, -9.4)


def rotation(rng: np.random.Generator) -> np.ndarray:
    """A random proper rotation (3, 3)."""
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def unit_quaternion(rng: np.random.Generator) -> np.ndarray:
    e = rng.normal(size=4)
    return e / np.linalg.norm(e)


def placement(rng: np.random.Generator, reach: float = 0.6) -> Placement:
    return Placement(
        position=tuple(rng.uniform(-reach, reach, 3)),
        orientation=Orientation(quaternion=tuple(unit_quaternion(rng))),
    )


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
    """A joint of the registered type `kind`; fields that it needs are filled by name."""
    cls = JOINTS[kind]
    fields: dict[str, Any] = {"parent": parent, "child": child}
    if rng.random() < 0.2:
        fields["at"] = tuple(rng.uniform(-0.5, 0.5, 3))
    else:
        fields["parent_pose"], fields["child_pose"] = placement(rng), placement(rng)
    for name, make in FIELD_MAKERS.items():
        if name in cls.model_fields:
            fields[name] = make(rng)
    if kind in FOLLOWERS:
        name, make = FOLLOWERS[kind]
        fields[name] = make(rng)
    return cls(**fields)


@dataclass
class Parts:
    """A mechanism under construction."""

    rng: np.random.Generator
    bodies: dict[str, Body] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    forces: dict[str, Force] = field(default_factory=dict)
    drivers: dict[str, Driver] = field(default_factory=dict)
    tables: dict[str, TableData] = field(default_factory=dict)

    def two_frames(self) -> tuple[str, str]:
        """Frames on two different bodies, of which one may be the ground."""
        first, second = self.rng.choice(["ground", *self.bodies], 2, replace=False)
        return f"{first}.tip", f"{second}.hub"

    def coordinate(self) -> tuple[str, int]:
        """A coordinate that is the integral of its velocity."""
        names = [name for name, item in self.joints.items() if item.unit_quaternion is None and item.nv]
        name = str(self.rng.choice(names))
        return name, int(self.rng.integers(self.joints[name].nv))

    def table(self, name: str) -> str:
        """A smooth characteristic over [-3, 3]."""
        x = np.linspace(-3.0, 3.0, 13)
        y = 7.0 * x + 3.0 * np.sin(1.7 * x) + self.rng.uniform(-1, 1)
        self.tables[name] = TableData(x=tuple(x), y=tuple(y), kind="cubic", extrapolation="linear")
        return name


def _spring_damper(parts: Parts, name: str) -> dict[str, Any]:
    parent, child = parts.two_frames()
    return {
        "parent": parent,
        "child": child,
        "stiffness": parts.rng.uniform(20, 60),
        "damping": parts.rng.uniform(1, 4),
        "free_length": 0.3,
        "spring": parts.table(f"{name}_spring"),
        "damper": parts.table(f"{name}_damper"),
        "force": Expression("3.1*sin(2*t) + 1.3*deflection*rate - 0.4*length^3"),
    }


def _rotational_spring_damper(parts: Parts, name: str) -> dict[str, Any]:
    joint_name, k = parts.coordinate()
    return {
        "joint": joint_name,
        "coordinate": k,
        "stiffness": parts.rng.uniform(5, 9),
        "damping": parts.rng.uniform(0.5, 2),
        "free_angle": 0.2,
        "spring": parts.table(f"{name}_spring"),
        "damper": parts.table(f"{name}_damper"),
        "torque": Expression("1.1*cos(3*t) + 0.3*angle*rate - 0.2*deflection"),
    }


def _bushing(parts: Parts, name: str) -> dict[str, Any]:
    parent, child = parts.two_frames()
    keys = ("stiffness", "damping", "rotational_stiffness", "rotational_damping")
    ranges = ((20, 60), (1, 4), (5, 9), (0.3, 0.9))
    return {"parent": parent, "child": child} | {
        key: tuple(parts.rng.uniform(*limits, 3)) for key, limits in zip(keys, ranges, strict=True)
    }


def _joint_limit(parts: Parts, name: str) -> dict[str, Any]:
    joint_name, k = parts.coordinate()
    return {
        "joint": joint_name,
        "coordinate": k,
        "lower": -0.010,
        "upper": 0.005,
        "stiffness": 210.0,
        "damping": 3.0,
        "ramp": 0.4,
    }


def _on_a_coordinate(key: str, text: str):
    def make(parts: Parts, name: str) -> dict[str, Any]:
        joint_name, k = parts.coordinate()
        return {"joint": joint_name, "coordinate": k, key: Expression(text)}

    return make


def _point_force(parts: Parts, name: str) -> dict[str, Any]:
    frame, _ = parts.two_frames()
    force = (2.3, Expression("-1.7*cos(2*t)"), 0.9)
    where = "frame" if parts.rng.random() < 0.5 else "world"
    return {"frame": frame.replace("ground.tip", "b0.tip"), "force": force, "resolved_in": where}


def _torque(parts: Parts, name: str) -> dict[str, Any]:
    frame, reaction = parts.two_frames()
    where = "frame" if parts.rng.random() < 0.5 else "world"
    return {
        "frame": frame,
        "torque": (0.7, Expression("1.9*sin(t)"), -1.1),
        "resolved_in": where,
        "reaction": reaction,
    }


CONTACT_LAW = {"stiffness": 37.0, "exponent": 1.5, "dissipation": 0.05, "friction": 0.3, "width": 0.4}


def _plane_contact(parts: Parts, name: str) -> dict[str, Any]:
    frame, plane = parts.two_frames()
    return {"frame": frame, "radius": 4.1, "plane": plane, "normal": (0.3, -0.5, 0.7), **CONTACT_LAW}


def _sphere_contact(parts: Parts, name: str) -> dict[str, Any]:
    frame, other = parts.two_frames()
    return {"frame": frame, "radius": 3.1, "other": other, "other_radius": 2.3, **CONTACT_LAW}


def _surface_contact(parts: Parts, name: str) -> dict[str, Any]:
    frame, surface = parts.two_frames()
    height = Expression("0.02*x - 0.03*y + 0.001*x*y + 0.002*sin(x)")
    return {"frame": frame, "radius": 5.3, "surface": surface, "height": height, **CONTACT_LAW}


def _bump_stop(parts: Parts, name: str) -> dict[str, Any]:
    parent, child = parts.two_frames()
    return {
        "parent": parent,
        "child": child,
        "length": 9.0,
        "stiffness": 31.0,
        "exponent": 1.7,
        "dissipation": 0.04,
    }


FORCE_MAKERS = {
    "spring_damper": _spring_damper,
    "rotational_spring_damper": _rotational_spring_damper,
    "bushing": _bushing,
    "joint_limit": _joint_limit,
    "joint_friction": _on_a_coordinate("damping", "0.8 + 0.3*v^2"),
    "actuator": _on_a_coordinate("force", "1.2*sin(t) - 2.2*q + 0.1*v"),
    "point_force": _point_force,
    "torque": _torque,
    "plane_contact": _plane_contact,
    "sphere_contact": _sphere_contact,
    "surface_contact": _surface_contact,
    "bump_stop": _bump_stop,
}


def random_model(
    seed: int,
    joints: Sequence[str] = JOINT_TYPES,
    forces: Sequence[str] = (),
    drivers: int = 0,
    gravity: tuple[float, float, float] = GRAVITY,
    branching: float = 0.5,
) -> Model:
    """A tree with one body for each entry of `joints`, in random order, and one force for each of `forces`.

    `branching`: chance that a body hangs on a random earlier one (or the ground) and not on the last.
    """
    rng = np.random.default_rng(seed)
    parts = Parts(rng)
    for i, kind in enumerate(rng.permutation(np.array(joints, dtype=object))):
        name = f"b{i}"
        parent = "ground" if i == 0 else f"b{i - 1}"
        if i and rng.random() < branching:
            parent = str(rng.choice(["ground", *parts.bodies]))
        if rng.random() < 0.5:
            parent += ".hub"
        parts.joints[f"j{i}"] = joint(kind, rng, parent, f"{name}.tip" if rng.random() < 0.5 else name)
        parts.bodies[name] = body(rng)
    for k in range(drivers):
        taken = {(d.joint, d.coordinate) for d in parts.drivers.values()}
        while (at := parts.coordinate()) in taken:
            pass
        value = Expression(f"{0.3 + 0.1 * k}*sin(2.3*t + {k}) + 0.2*t^2")
        parts.drivers[f"drive{k}"] = Driver(joint=at[0], coordinate=at[1], value=value)
    for k, kind in enumerate(forces):
        name = f"{kind}_{k}"
        parts.forces[name] = FORCES[kind](**FORCE_MAKERS[kind](parts, name))
    return Model(
        name=f"random{seed}",
        gravity=gravity,
        ground=Ground(frames={"hub": placement(rng), "tip": placement(rng)}),
        bodies=parts.bodies,
        joints=parts.joints,
        forces=parts.forces,
        drivers=parts.drivers,
        tables=parts.tables,
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
    inputs = [eq.t, eq.q, eq.v, eq.p, *[symbols for symbols, _ in extra]]
    given = [t, q, v, np.asarray(p, float), *[numbers for _, numbers in extra]]
    function = eq.lookups.oracle("values", inputs, [ca.SX(e) for e in expressions])
    return [np.array(y) for y in function.call([ca.DM(np.asarray(x, float)) for x in given])]


def time_derivative(eq: Equations, expression: ca.SX) -> ca.SX:
    """Total derivative along the motion: d/dt + qdot d/dq + a d/dv, by differentiation of the expression."""
    direction = ca.vertcat(ca.SX(1), eq.qdot, eq.a)
    return eq.lookups.jtimes(ca.SX(expression), ca.vertcat(eq.t, eq.q, eq.v), direction)
