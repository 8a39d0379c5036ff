"""Mechanisms with loops for the tests: planar and spatial ones, and random chains that any joint type closes.

All values are different and skew. Start values are rough where a mechanism is to be assembled; random loops
close exactly at their start values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

import sekant as sk
from mechanisms import body, joint
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.spatial import Pose
from sekant.model.constraints import Coupling, Distance, DriveOrientation, DrivePoint, PointOnPath, Rolling
from sekant.model.joints import (
    JOINTS,
    Free,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from sekant.model.model import Ground
from sekant.model.placement import Orientation, Placement
from sekant.model.quantities import Expression
from sekant.model.table import TableData
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

GRAVITY = (1.3, -2.1, -9.4)
Y = (0.0, 1.0, 0.0)
LIFTED = Placement(orientation=Orientation(sequence="yxz", angles=(1.4, 0.3, 0.2)))


def at(*position: float) -> Placement:
    return Placement(position=position)


def rod(mass: float, length: float, skew: float = 0.0) -> sk.Body:
    """A rod along x from its origin, with frames at both ends; `skew` moves its center of mass off the line."""
    J = mass * length**2 / 12
    return sk.Body(
        mass=mass,
        com=(0.55 * length, skew, -0.7 * skew),
        inertia=(0.02 * mass + 0.3 * J, 0.8 * J + 0.01 * mass, J + 0.013 * mass, 0.0, 0.0, 0.0),
        frames={"end": at(length, 0.0, 0.0)},
    )


# -- planar -----------------------------------------------------------------------------------------------


def four_bar(size: float = 1.0, **options: Any) -> sk.Model:
    """Planar, so three of the five equations that close the loop are redundant. `size`: of lengths, not inertias."""
    joints = {
        "A": Revolute(child="crank", axis=Y, q0=(-1.0,), v0=(2.3,)),
        "B": Revolute(parent="crank.end", child="coupler", axis=Y, q0=(0.6,)),
        "C": Revolute(parent="coupler.end", child="rocker.end", axis=Y),
        "D": Revolute(child="rocker", axis=Y, parent_pose=at(0.8 * size, 0.0, 0.1 * size), q0=(-1.8,)),
    }
    lengths = {"crank": (1.1, 0.3), "coupler": (1.9, 0.9), "rocker": (1.5, 0.6)}
    bodies = {name: rod(mass, length * size) for name, (mass, length) in lengths.items()}
    return sk.Model(name="four_bar", gravity=GRAVITY, bodies=bodies, joints=joints, **options)


def slider_crank(**options: Any) -> sk.Model:
    joints = {
        "A": Revolute(child="crank", axis=Y, q0=(-0.7,), v0=(3.1,)),
        "B": Revolute(parent="crank.end", child="coupler", axis=Y, q0=(1.0,)),
        "C": Revolute(parent="coupler.end", child="slider", axis=Y),
        "D": Prismatic(child="slider", axis=(1.0, 0.0, 0.0), parent_pose=at(0.0, 0.0, 0.05), q0=(1.2,)),
    }
    bodies = {"crank": rod(1.1, 0.4), "coupler": rod(0.9, 1.0), "slider": rod(0.7, 0.1)}
    return sk.Model(name="slider_crank", gravity=GRAVITY, bodies=bodies, joints=joints, **options)


def door() -> sk.Model:
    """Two hinges on one axis: five equations say again what the first hinge says."""
    axis = (0.1, -0.2, 1.0)
    joints = {
        name: Revolute(child="leaf", axis=axis, parent_pose=at(*place), child_pose=at(*place))
        for name, place in (("lower", (0.1, 0.2, 0.3)), ("upper", (0.25, -0.1, 1.8)))
    }
    joints["lower"] = joints["lower"].model_copy(update={"q0": (0.8,), "v0": (1.7,)})
    return sk.Model(
        name="door", gravity=GRAVITY, bodies={"leaf": body(np.random.default_rng(3))}, joints=joints
    )


# -- spatial ----------------------------------------------------------------------------------------------


def spatial_four_bar(middle: type[Joint]) -> sk.Model:
    """Crank and rocker about skew axes; the coupler on a ball at the crank and `middle` at the rocker."""
    joints: dict[str, Joint] = {
        "A": Revolute(child="crank", axis=(0.2, 1.0, 0.1), q0=(0.3,), v0=(2.1,)),
        "B": Spherical(parent="crank.end", child="coupler"),
        "C": middle(parent="coupler.end", child="rocker.end", parent_pose=LIFTED, child_pose=LIFTED),
        "D": Revolute(child="rocker", axis=(1.0, 0.3, -0.2), parent_pose=at(1.0, 0.2, 0.1), q0=(0.4,)),
    }
    bodies = {"crank": rod(1.1, 0.3, 0.05), "coupler": rod(1.9, 1.2, 0.08)}
    bodies["rocker"] = rod(1.5, 0.7, -0.06).model_copy(update={"frames": {"end": at(0.1, 0.5, 0.45)}})
    return sk.Model(
        name=f"RS{middle.__name__[0]}R",
        gravity=GRAVITY,
        bodies=bodies,
        joints=joints,
        forces={"damper": sk.forces.JointFriction(joint="A", damping=0.3)},
    )


def wishbones() -> sk.Model:
    """Two arms, an upright between two balls, a track rod, a spring: one degree of freedom."""
    upright = body(np.random.default_rng(5)).model_copy(
        update={
            "frames": {"low": at(0, 0, -0.12), "high": at(0.02, -0.05, 0.15), "rod": at(-0.15, -0.02, 0.01)}
        }
    )
    arm = {"end": at(0.03, 0.42, -0.02)}
    joints = {
        "low": Revolute(child="lower", axis=(1.0, 0.03, 0.05), parent_pose=at(0.01, 0.35, 0.2), v0=(0.9,)),
        "high": Revolute(child="upper", axis=(1.0, -0.04, -0.08), parent_pose=at(-0.02, 0.4, 0.45)),
        "ball": Spherical(parent="lower.end", child="upright.low"),
        "top": Spherical(parent="upper.end", child="upright.high"),
    }
    constraints = {"track": Distance(parent="ground.rack", child="upright.rod", length=0.44)}
    spring = sk.forces.SpringDamper(
        parent="ground.tower", child="lower.end", stiffness=21e3, damping=900.0, free_length=0.55
    )
    return sk.Model(
        name="wishbones",
        gravity=GRAVITY,
        ground=Ground(frames={"rack": at(-0.14, 0.33, 0.29), "tower": at(0.0, 0.6, 0.7)}),
        bodies={
            "lower": rod(2.3, 0.4, 0.03).model_copy(update={"frames": arm}),
            "upper": rod(1.7, 0.33, 0.02).model_copy(update={"frames": {"end": at(0.02, 0.33, 0.01)}}),
            "upright": upright,
        },
        joints=joints,
        constraints=constraints,
        forces={"spring": spring},
    )


def five_link() -> sk.Model:
    """A floating wheel carrier on five rods."""
    inner = [(0.1, 0.0, 0.1), (-0.2, 0.02, 0.12), (0.13, 0.03, 0.4), (-0.17, 0.05, 0.38), (-0.25, 0.01, 0.2)]
    outer = [
        (0.02, 0.4, 0.05),
        (-0.03, 0.42, 0.06),
        (0.01, 0.35, 0.36),
        (-0.04, 0.36, 0.35),
        (-0.12, 0.4, 0.17),
    ]
    center = np.array([0.0, 0.45, 0.2])
    carrier = body(np.random.default_rng(8)).model_copy(
        update={"frames": {f"o{i}": at(*(np.array(p) - center)) for i, p in enumerate(outer)}}
    )
    rods = {
        f"rod{i}": Distance(
            parent=f"ground.i{i}",
            child=f"carrier.o{i}",
            length=float(np.linalg.norm(np.subtract(a, b))) * 1.01,
        )
        for i, (a, b) in enumerate(zip(inner, outer, strict=True))
    }
    return sk.Model(
        name="five_link",
        gravity=GRAVITY,
        ground=Ground(frames={f"i{i}": at(*p) for i, p in enumerate(inner)}),
        bodies={"carrier": carrier},
        joints={"float": Free(child="carrier", position=tuple(center), velocity=(0.0, 0.0, 0.7))},
        constraints=rods,
    )


def stewart(legs: int = 6) -> sk.Model:
    """A platform on legs with universal joint, slider and ball."""
    base = [(np.cos(a), 1.1 * np.sin(a), 0.02 * i) for i, a in enumerate([0.2, 0.9, 2.3, 3.0, 4.4, 5.1])]
    top = [(0.5 * np.cos(a), 0.6 * np.sin(a), -0.05) for a in [0.5, 0.7, 2.5, 2.8, 4.6, 4.9]]
    center = np.array([0.05, -0.03, 1.2])
    platform = body(np.random.default_rng(12)).model_copy(
        update={"mass": 9.0, "frames": {f"p{i}": at(*p) for i, p in enumerate(top)}}
    )
    bodies, forces = {"platform": platform}, {}
    joints: dict[str, Joint] = {
        "float": Free(child="platform", position=tuple(center), velocity=(0.2, 0.1, 0.3))
    }
    for i in range(legs):
        away = center + top[i] - np.array(base[i])
        length = float(np.linalg.norm(away))
        x = away / length
        bodies[f"lower{i}"] = rod(0.6 + 0.1 * i, 0.5)
        bodies[f"upper{i}"] = rod(0.4 + 0.07 * i, 0.6)
        # R_x(a) R_y(b) turns the leg's own axis, x of the tilted ground frame, into the leg's direction
        across = np.cross([0.3, 0.2, 1.0], x)
        y = across / np.linalg.norm(across)
        R = np.column_stack([x, y, np.cross(x, y)])
        frame = Placement(position=base[i], orientation=Orientation(quaternion=quaternion(R)))
        swap = Placement(orientation=Orientation(sequence="zyx", angles=(0.0, np.pi / 2, 0.0)))
        joints[f"u{i}"] = Universal(child=f"lower{i}", parent_pose=_after(frame, swap), child_pose=swap)
        joints[f"s{i}"] = Prismatic(
            parent=f"lower{i}", child=f"upper{i}", axis=(1.0, 0.0, 0.0), q0=(length - 0.6,)
        )
        joints[f"b{i}"] = Spherical(parent=f"upper{i}.end", child=f"platform.p{i}")
        forces[f"leg{i}"] = sk.forces.RotationalSpringDamper(
            joint=f"s{i}", stiffness=300.0 + 20 * i, damping=7.0 + i, free_angle=length - 0.5
        )
    return sk.Model(name="stewart", gravity=GRAVITY, bodies=bodies, joints=joints, forces=forces)


def _after(outer: Placement, inner: Placement) -> Placement:
    X = outer.pose() @ inner.pose()
    R, p = (np.array(ca.DM(part)) for part in (X.R, X.p))
    return Placement(position=tuple(p.ravel()), orientation=Orientation(quaternion=quaternion(R)))


def quaternion(R: np.ndarray) -> tuple[float, float, float, float]:
    """Unit quaternion of a rotation (3, 3), scalar first."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return float(w), float(x), float(y), float(z)


# -- random loops -----------------------------------------------------------------------------------------


def start_of(item: Joint, rng: np.random.Generator) -> tuple[Joint, np.ndarray]:
    """The joint with random start values, and its coordinates."""
    q, first = rng.uniform(-0.9, 0.9, item.nq), item.unit_quaternion
    if first is not None:
        e = rng.normal(size=4)
        q[first : first + 4] = e / np.linalg.norm(e)
    return item.started(q.tolist()), q


def random_loop(seed: int, chain: Sequence[str], closing: str, backwards: bool = False) -> sk.Model:
    """Bodies in a chain of joints from the ground, whose end a joint of type `closing` ties to the ground.

    It closes exactly at the start values. `backwards`: every second joint has its child nearer to the ground.
    """
    rng = np.random.default_rng(seed)
    bodies: dict[str, sk.Body] = {}
    joints: dict[str, Joint] = {}
    X_WB = Pose.identity()
    previous = "ground"
    for i, kind in enumerate(chain):
        name = f"b{i}"
        ends = (name, previous) if backwards and i % 2 else (previous, name)
        item, q = start_of(joint(kind, rng, *ends), rng)
        joints[f"j{i}"] = item
        X_F, X_M = item.frame_poses()
        X_parent_child = X_F @ pose_at(item, q) @ X_M.inverse()
        X_WB = X_WB @ (X_parent_child.inverse() if ends[0] == name else X_parent_child)
        bodies[name] = body(rng)
        previous = name
    closer = joint(closing, rng, "ground", previous)
    item, q = start_of(closer.model_copy(update={"cut": True, "at": None}), rng)
    X_WM = X_WB @ item.frame_poses()[1]
    X_WF = X_WM @ pose_at(item, q).inverse()
    R, p = (np.array(ca.DM(part)) for part in (X_WF.R, X_WF.p))
    home = Placement(position=tuple(p.ravel()), orientation=Orientation(quaternion=quaternion(R)))
    joints["close"] = item.model_copy(update={"parent_pose": home})
    spring = sk.forces.Bushing(
        parent="ground",
        child=previous,
        stiffness=(31.0, 23.0, 17.0),
        damping=(1.1, 0.7, 0.9),
        rotational_stiffness=(3.0, 2.0, 4.0),
        rotational_damping=(0.2, 0.3, 0.1),
    )
    return sk.Model(
        name=f"loop{seed}", gravity=GRAVITY, bodies=bodies, joints=joints, forces={"bushing": spring}
    )


def pose_at(item: Joint, q: np.ndarray) -> Pose:
    """X_FM of a joint at the coordinates q, as numbers."""
    lookups, symbol = Lookups(), ca.SX.sym("q", item.nq)
    X = item.pose(symbol, lookups)
    R, p = lookups.oracle("pose", [symbol], [ca.densify(X.R), ca.densify(X.p)]).call([ca.DM(q)])
    return Pose(ca.SX(R), ca.SX(p))


# -- couplings, prescribed motions, paths, rolling -------------------------------------------------------------------


def gears() -> sk.Model:
    """Two shafts with wheels in mesh; the second carries a pendulum, and a rack hangs on the first."""
    joints = {
        "first": Revolute(child="wheel1", axis=(0.1, 1.0, 0.2), v0=(1.9,)),
        "second": Revolute(child="wheel2", axis=(0.3, 1.0, -0.1), parent_pose=at(0.7, 0.0, 0.1)),
        "rack": Prismatic(child="bar", axis=(0.9, 0.1, 0.3), parent_pose=at(0.0, 0.2, -0.3)),
        "swing": Revolute(parent="wheel2.end", child="pendulum", axis=(0.2, 1.0, 0.0), q0=(0.6,)),
    }
    rng = np.random.default_rng(21)
    bodies = {name: body(rng) for name in ("wheel1", "bar", "pendulum")}
    bodies["wheel2"] = rod(1.3, 0.25, 0.04)
    constraints = {
        "mesh": Coupling(joint="first", driven="second", ratio=-1.7, offset=0.2),
        "pinion": Coupling(joint="first", driven="rack", ratio=0.11),
    }
    return sk.Model(name="gears", gravity=GRAVITY, bodies=bodies, joints=joints, constraints=constraints)


def cam() -> sk.Model:
    """A slider that follows the angle of a shaft by a smooth table."""
    x = np.linspace(-8.0, 8.0, 41)
    relation = TableData(
        x=tuple(x), y=tuple(0.2 * np.sin(1.3 * x) + 0.05 * x), kind="cubic", extrapolation="linear"
    )
    joints = {
        "shaft": Revolute(child="disc", axis=(0.2, 1.0, 0.3), q0=(0.4,), v0=(2.7,)),
        "lift": Prismatic(child="follower", axis=(0.1, 0.3, 1.0), parent_pose=at(0.5, 0.1, 0.0)),
    }
    rng = np.random.default_rng(23)
    return sk.Model(
        name="cam",
        gravity=GRAVITY,
        tables={"relation": relation},
        bodies={"disc": body(rng), "follower": body(rng)},
        joints=joints,
        constraints={"cam": Coupling(joint="shaft", driven="lift", table="relation", offset=0.03)},
    )


def bent(extrapolation: str = "linear") -> PoseCurve:
    """A path in space whose frames keep their orientation."""
    u = np.linspace(-3.0, 3.0, 61)
    p = np.column_stack([u + 0.1 * np.sin(2 * u), 0.3 * u**2 / (1 + 0.1 * u**2), 0.2 * np.cos(1.1 * u)])
    y = np.hstack([p, np.zeros((u.size, 3))])
    return PoseCurve(Table.cubic(u, y, extrapolation=extrapolation), "euler:zyx")


def bead() -> sk.Model:
    """A skew pendulum whose tip is held on a path; it swings in a ball."""
    pendulum = body(np.random.default_rng(31)).model_copy(update={"frames": {"tip": at(0.1, -0.2, -0.9)}})
    curve = bent()
    p = np.array(curve.table(0.4)).ravel()[:3]
    tip = np.array([0.1, -0.2, -0.9])
    place = tuple(p - tip)
    return sk.Model(
        name="bead",
        gravity=GRAVITY,
        bodies={"arm": pendulum},
        joints={
            "plane": Planar(child="arm", axis=(0.1, 0.2, 1.0), parent_pose=at(*place), v0=(0.7, 0.2, 0.4))
        },
        constraints={"on": PointOnPath(frame="arm.tip", curve=curve, u0=0.4)},
    )


def driven_four_bar(joint_name: str) -> sk.Model:
    """The planar four-bar with one coordinate driven, in the tree or at the cut."""
    motion = {
        "A": "-0.6 + 0.4*sin(2*t)",
        "C": "-0.85 + 0.1*sin(3*t)",
    }[joint_name]
    motions = {"motor": sk.Motion(joint=joint_name, value=Expression(motion))}
    return four_bar(motions=motions, forces={"load": sk.forces.JointFriction(joint="D", damping=0.7)})


def driven_platform(kind: str) -> sk.Model:
    """A floating body moved by a driven distance, point, or orientation."""
    rng = np.random.default_rng(41)
    plate = body(rng)
    joints = {"float": Free(child="plate", position=(0.3, -0.2, 0.9), angular_velocity=(0.4, 0.3, -0.2))}
    constraints: dict[str, Any] = {
        "distance": {
            "winch": Distance(parent="ground", child="plate.hub", length=Expression("1.1 + 0.1*sin(2*t)")),
        },
        "point": {
            "guide": DrivePoint(
                frame="plate.tip", x=Expression("0.3 + 0.2*t^2"), z=Expression("0.7 + 0.1*sin(3*t)")
            )
        },
        "orientation": {
            "gyro": DriveOrientation(
                frame="plate.hub",
                sequence="xyz",
                angles=(Expression("0.3*sin(2*t)"), Expression("0.2 + 0.1*t"), Expression("0.4*t^2")),
            )
        },
    }[kind]
    return sk.Model(
        name=f"driven_{kind}",
        gravity=GRAVITY,
        bodies={"plate": plate},
        joints=joints,
        constraints=constraints,
    )


def disc(
    radius: float = 0.4, tilt: float = 0.3, spin: float = 4.0, precession: float = 0.5, **fields: Any
) -> sk.Model:
    """A thin disc that leans by `tilt` (rad) from upright and rolls on the ground z = 0; axle along its y."""
    m = 1.7
    R = Orientation(sequence="zxy", angles=(0.2, tilt, 0.1))
    height = radius * np.cos(tilt)
    wheel = sk.Body(mass=m, inertia=(m * radius**2 / 4, m * radius**2 / 2, m * radius**2 / 4, 0.0, 0.0, 0.0))
    free = Free(
        child="wheel",
        position=(0.1, -0.2, height),
        orientation=R,
        angular_velocity=(0.1, spin, precession),
        velocity=(0.0, 0.0, 0.0),
    )
    return sk.Model(
        name="disc",
        gravity=fields.pop("gravity", (0.0, 0.0, -9.81)),
        bodies={"wheel": wheel},
        joints={"free": free},
        constraints={"roll": Rolling(frame="wheel", radius=radius, **fields)},
    )


CLOSERS = tuple(name for name in JOINTS if name != "free")
"""Joint types that close random loops; `free` closes nothing."""
CHAIN = ("revolute", "spherical", "universal", "prismatic", "cylindrical")
"""Nine relative coordinates."""

MECHANISMS: dict[str, Callable[[], sk.Model]] = {
    "four_bar": four_bar,
    "slider_crank": slider_crank,
    "door": door,
    "RSSR": lambda: spatial_four_bar(Spherical),
    "RSUR": lambda: spatial_four_bar(Universal),
    "wishbones": wishbones,
    "five_link": five_link,
    "stewart": stewart,
    "gears": gears,
    "cam": cam,
    "bead": bead,
    "driven_in_tree": lambda: driven_four_bar("A"),
    "driven_at_cut": lambda: driven_four_bar("C"),
    "driven_distance": lambda: driven_platform("distance"),
    "driven_point": lambda: driven_platform("point"),
    "driven_orientation": lambda: driven_platform("orientation"),
    "disc": disc,
    **{f"loop_{kind}": (lambda kind=kind: random_loop(7, CHAIN, kind)) for kind in CLOSERS},
}
