"""Masses of dropped bodies as point masses on the remaining bodies (Hall, 4.2: split evenly)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from sekant.formulations.tree import joint_frames
from sekant.geometry.spatial import Pose
from sekant.model.body import Body, inertia_matrix
from sekant.model.model import Model
from sekant.model.resolve import resolve
from sekant.reduction.mechanism import MechanismParts, bodies_of

ROUND_OFF = 1e-14
"""Round-off of a sum, relative to its terms."""


@dataclass(frozen=True)
class Lump:
    """A point mass [kg] at `position` (3,) m in the frame of `body`, from the dropped body `source`."""

    source: str
    body: str
    mass: float
    position: tuple[float, float, float]


def split_masses(parts: MechanismParts, dropped: tuple[str, ...]) -> tuple[Lump, ...]:
    """The mass of each dropped body, divided equally among its joints; dropped bodies pass on the parts they receive.

    Masses are distributed like a random walk over the joints: with P the fractions that go to dropped bodies, a
    body's mass arrives at the joints with remaining bodies in the proportions (1 - P)^-1.
    """
    model = resolve(parts.model).model
    index = {name: i for i, name in enumerate(dropped)}
    ends: list[tuple[int, str, tuple[float, float, float]]] = []  # dropped body, remaining body, point
    P, count = np.zeros((len(dropped), len(dropped))), np.zeros(len(dropped))
    weights: list[float] = []
    for sides, weight in _links(parts, model):
        for body in (body for body in sides if body in index):
            other = next(b for b in sides if b != body)
            count[index[body]] += weight
            if other in index:
                P[index[body], index[other]] += weight
            else:
                x, y, z = (float(value) for value in ca.vertsplit(ca.DM(sides[other].p)))
                ends.append((index[body], other, (x, y, z)))
                weights.append(weight)
    share = np.linalg.inv(np.eye(len(dropped)) - P / count[:, None]) / count
    lumps = []
    for source, i in index.items():
        mass = float(model.bodies[source].mass)  # type: ignore[arg-type]
        for (k, body, point), weight in zip(ends, weights, strict=True):
            if mass * share[i, k] > 0.0:
                lumps.append(Lump(source, body, mass * float(share[i, k]) * weight, point))
    return tuple(lumps)


def _links(parts: MechanismParts, model: Any) -> list[tuple[dict[str, Any], float]]:
    """The frames of a body at each of its joints, by body; bushings between the same two bodies count as one joint
    together."""
    links = [(dict(joint_frames(model, model.joints[name])), 1.0) for name in parts.joints]
    forces = [model.forces[name] for name in parts.absorbed]
    soft = [_attached(model, force) for force in forces if len(bodies_of(model, force)) == 2]
    pairs = [frozenset(sides) for sides in soft]
    return links + [(sides, 1.0 / pairs.count(pair)) for sides, pair in zip(soft, pairs, strict=True)]


def _attached(model: Any, force: Any) -> dict[str, Any]:
    """The pose of the frame where a force acts, by body."""
    found = {}
    for field in force.frame_fields:
        body, frame = model.split_reference(getattr(force, field))
        frames = model.ground.frames if body == "ground" else model.bodies[body].frames
        found[body] = frames[frame].pose() if frame else Pose(ca.SX.eye(3), ca.SX.zeros(3))
    return found


def with_lumps(model: Model, name: str, lumps: tuple[Lump, ...]) -> Body:
    """The body `name` with its point masses."""
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
    com = _without_round_off(com, np.max(np.abs(places)))
    J = _without_round_off(J, np.trace(J))
    inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    update = {"mass": total, "com": tuple(com.tolist()), "inertia": tuple(float(x) for x in inertia)}
    return body.model_copy(update=update)


def _without_round_off(x: np.ndarray, size: float) -> np.ndarray:
    """Zero where masses on both sides cancel up to round-off, relative to the `size` of the terms."""
    return np.where(np.abs(x) <= ROUND_OFF * size, 0.0, x)
