"""Trees of bodies as plain numbers, from which each library builds its own model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sekant as sk
from sekant.model.forces import Actuator
from sekant.model.joints import Free, Prismatic, Revolute

GRAVITY = (0.3, -0.2, -9.7)
"""Not along an axis, so that a wrong direction shows."""


@dataclass(frozen=True)
class Link:
    """A body and the joint that carries it: "free", "hinge" or "slider", along z of the frame F.

    The frame F has the position `p_PF` (m) and the unit quaternion `e_PF` (scalar first) in the parent's frame.
    The body's frame is the joint's frame M, which is F at zero coordinates. `com` (m) and `inertia`
    (kg m^2: Ixx, Iyy, Izz, Ixy, Ixz, Iyz, about the center of mass) are in it.
    """

    parent: int
    kind: str
    p_PF: tuple[float, ...]
    e_PF: tuple[float, ...]
    mass: float
    com: tuple[float, ...]
    inertia: tuple[float, ...]


def vehicle() -> list[Link]:
    """A floating chassis, four sliders, front steering, and four rolling bodies: 16 degrees of freedom.

    Depth first, as both peers number the coordinates.
    """
    upright = (1.0, 0.0, 0.0, 0.0)
    lying = _unit((1.0, 1.0, 0.0, 0.0))  # z of F along -y of the parent
    heavy = (400.0, 1500.0, 1700.0, 3.0, -21.0, 7.0)
    links = [Link(-1, "free", (0.0, 0.0, 0.0), upright, 1200.0, (0.05, 0.01, 0.1), heavy)]
    corners = [
        ((1.4, 0.75, -0.2), (0.03, 0.01), True),
        ((1.4, -0.74, -0.21), (-0.025, 0.015), True),
        ((-1.3, 0.73, -0.22), (0.02, -0.01), False),
        ((-1.3, -0.72, -0.19), (-0.015, -0.02), False),
    ]
    for place, (roll, pitch), steered in corners:
        side = float(np.sign(place[1]))
        lean = _unit((1.0, roll, pitch, 0.0))
        tensor = (0.8, 0.9, 0.7, 0.02, -0.03, 0.01)
        links.append(Link(0, "slider", place, lean, 30.0, (0.01, 0.02 * side, 0.015), tensor))
        if steered:
            arm, tensor = (0.01, 0.02 * side, -0.01), (0.1, 0.12, 0.09, 0.01, 0.0, 0.005)
            links.append(Link(len(links) - 1, "hinge", (0.0, 0.05 * side, 0.0), upright, 8.0, arm, tensor))
        disc = (0.6, 0.61, 1.0, 0.0, 0.0, 0.0)
        place = (0.0, 0.04 * side, 0.0)
        links.append(Link(len(links) - 1, "hinge", place, lying, 18.0, (0.0, 0.0, 0.002), disc))
    return links


def _unit(e: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(x) for x in np.array(e) / np.linalg.norm(e))


def chain(n: int) -> list[Link]:
    """A chain of `n` bodies on hinges in random places with random directions."""
    rng = np.random.default_rng(7)
    links = []
    for i in range(n):
        e = rng.normal(size=4)
        e /= np.linalg.norm(e)
        a = rng.normal(size=(3, 3))
        J = 0.01 * (a @ a.T / np.trace(a @ a.T) + np.eye(3))
        tensor = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        place, com = rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.1, 0.1, 3)
        links.append(
            Link(
                i - 1,
                "hinge",
                tuple(place),
                tuple(e),
                1 + rng.uniform(),
                tuple(com),
                tuple(map(float, tensor)),
            )
        )
    return links


def names(links: list[Link]) -> list[str]:
    return [f"b{i}" for i in range(len(links))]


def sekant_model(links: list[Link], actuated: bool = True) -> sk.Model:
    """The tree in Sekant, with an actuator of force 0 on each hinge and slider."""
    classes = {"hinge": Revolute, "slider": Prismatic, "free": Free}
    bodies, joints, forces = {}, {}, {}
    for i, (name, link) in enumerate(zip(names(links), links, strict=True)):
        bodies[name] = sk.Body(mass=link.mass, com=link.com, inertia=link.inertia)
        joints[f"j{i}"] = classes[link.kind](
            parent="ground" if link.parent < 0 else f"b{link.parent}",
            child=name,
            parent_pose=sk.Frame(position=link.p_PF, orientation={"quaternion": link.e_PF}),
        )
        if actuated and link.kind != "free":
            forces[f"u{i}"] = Actuator(joint=f"j{i}", force=0.0)
    return sk.Model(name="tree", gravity=GRAVITY, bodies=bodies, joints=joints, forces=forces)


def force_names(links: list[Link]) -> list[str]:
    """The actuators' forces, as names of run-time parameters."""
    return [f"u{i}.force" for i, link in enumerate(links) if link.kind != "free"]


def mass_names(links: list[Link]) -> list[str]:
    """All masses, centers of mass and inertias, as names of run-time parameters."""
    return [f"{name}.{field}" for name in names(links) for field in ("mass", "com", "inertia")]


@dataclass(frozen=True)
class TreeMotion:
    """A random state in Sekant's coordinates: [x y z e0 e1 e2 e3] and [w; v] in the body for a free joint.

    `force` (nv,): generalized forces, zero on a free joint.
    """

    q: np.ndarray
    v: np.ndarray
    force: np.ndarray


def motion(links: list[Link], seed: int = 3) -> TreeMotion:
    """A random state and random forces, in the order of the links."""
    rng = np.random.default_rng(seed)
    q, v, force = [], [], []
    for link in links:
        if link.kind == "free":
            e = rng.normal(size=4)
            q += [*rng.uniform(-1, 1, 3), *(e / np.linalg.norm(e))]
            v += [*rng.uniform(-1, 1, 6)]
            force += [0.0] * 6
        else:
            q.append(rng.uniform(-0.5, 0.5) * (1.0 if link.kind == "hinge" else 0.2))
            v.append(rng.uniform(-1, 1))
            force.append(rng.uniform(-20, 20))
    return TreeMotion(np.array(q), np.array(v), np.array(force))


def state_order(system: sk.System, links: list[Link]) -> tuple[np.ndarray, np.ndarray]:
    """Position of each of the system's coordinates and velocities in the order of the links."""
    q_at, v_at, q, v = {}, {}, 0, 0
    for i, link in enumerate(links):
        nq, nv = (7, 6) if link.kind == "free" else (1, 1)
        q_at |= {(f"j{i}", k): q + k for k in range(nq)}
        v_at |= {(f"j{i}", k): v + k for k in range(nv)}
        q, v = q + nq, v + nv
    motion = system.equations.motion
    return np.array([q_at[name] for name in motion.q_names]), np.array(
        [v_at[name] for name in motion.v_names]
    )


def forces(links: list[Link], motion: TreeMotion) -> dict[str, float]:
    """The forces of `motion` as values of the run-time parameters `force_names`."""
    return dict(zip(force_names(links), motion.force[-len(force_names(links)) :], strict=True))
