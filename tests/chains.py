"""Chains of hinges in random places: bodies that differ in numbers only."""

from __future__ import annotations

import numpy as np

import sekant as sk
from loops import at


def chain(n: int) -> sk.Model:
    """`n` bodies, each on a hinge at the one before, with a spring and damper in every hinge."""
    rng = np.random.default_rng(n)
    bodies, joints, forces = {}, {}, {}
    for i in range(n):
        place = at(*rng.uniform(-0.5, 0.5, size=3))
        com, tensor = rng.uniform(-0.1, 0.1, size=3), rng.uniform(0.1, 0.2, size=3)
        bodies[f"b{i}"] = sk.Body(
            mass=float(rng.uniform(1, 2)), com=tuple(com), inertia=tuple(tensor), frames={"end": place}
        )
        parent = {} if i == 0 else {"parent": f"b{i - 1}.end"}
        axis = rng.normal(size=3)
        joints[f"j{i}"] = sk.joints.Revolute(child=f"b{i}", axis=tuple(axis / np.linalg.norm(axis)), **parent)
        stiffness, damping = rng.uniform(30, 60), rng.uniform(0.3, 0.6)
        forces[f"s{i}"] = sk.forces.RotationalSpringDamper(
            joint=f"j{i}", stiffness=float(stiffness), damping=float(damping)
        )
    return sk.Model(name="chain", bodies=bodies, joints=joints, forces=forces)
