"""Masses of dropped bodies as point masses on the bodies that stay (Hall, 4.2: split evenly)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.formulations.tree import joint_frames
from sekant.model.body import Body, inertia_matrix
from sekant.model.model import Model
from sekant.model.resolve import resolve
from sekant.reduction.parts import Parts, bodies_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Lump:
    """A point mass [kg] at `position` (3,) m in the frame of `body`, which took it over from `source`."""

    source: str
    body: str
    mass: float
    position: tuple[float, float, float]


def split_masses(parts: Parts, dropped: tuple[str, ...]) -> tuple[Lump, ...]:
    """The mass of each dropped body in equal shares at its joints; what falls on another dropped body is passed on.

    Shares settle as a random walk over the joints does: with P the shares that go to dropped bodies, a body's mass
    arrives at the joints with bodies that stay in the proportions (1 - P)^-1.
    """
    model = resolve(parts.model).model
    index = {name: i for i, name in enumerate(dropped)}
    ends: list[tuple[int, str, tuple[float, float, float]]] = []  # dropped body, body that stays, point
    P, count = np.zeros((len(dropped), len(dropped))), np.zeros(len(dropped))
    for name in parts.joints:
        joint = model.joints[name]
        sides = dict(joint_frames(model, joint))
        inside = [body for body in bodies_of(model, joint) if body in index]
        for body in inside:
            other = next(b for b in sides if b != body)
            count[index[body]] += 1
            if other in index:
                P[index[body], index[other]] += 1
            else:
                x, y, z = (float(value) for value in ca.vertsplit(ca.DM(sides[other].p)))
                ends.append((index[body], other, (x, y, z)))
    share = np.linalg.inv(np.eye(len(dropped)) - P / count[:, None]) / count
    lumps = []
    for source, i in index.items():
        mass = float(model.bodies[source].mass)  # type: ignore[arg-type]
        for k, body, point in ends:
            if mass * share[i, k] > 0.0:
                lumps.append(Lump(source, body, mass * float(share[i, k]), point))
    return tuple(lumps)


def with_lumps(model: Model, name: str, lumps: tuple[Lump, ...]) -> Body:
    """The body `name` with the point masses that fall on it."""
    body = model.bodies[name]
    own = [lump for lump in lumps if lump.body == name]
    if not own:
        return body
    numbers: Any = resolve(model).model.bodies[name]
    m, c, J = (
        float(numbers.mass),
        np.array(numbers.com, float),
        np.array(inertia_matrix(numbers.inertia), float),
    )
    masses = np.array([m, *(lump.mass for lump in own)])
    places = np.array([c, *(np.array(lump.position) for lump in own)])
    total = float(masses.sum())
    com = masses @ places / total
    for mass, place in zip(masses, places, strict=True):
        r = place - com
        J = J + mass * (r @ r * np.eye(3) - np.outer(r, r))
    inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    update = {"mass": total, "com": tuple(com.tolist()), "inertia": tuple(float(x) for x in inertia)}
    return body.model_copy(update=update)
