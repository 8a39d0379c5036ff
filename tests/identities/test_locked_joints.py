"""Joints that stick: held by the recursion, solved for as forces, or left out as fixed, they move alike."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.formulations import locked_tree
from sekant.model.parse import model_from_dict

KINDS = ("revolute", "prismatic", "cylindrical", "revolute", "prismatic")
STUCK = {"r0", "r2", "r4"}


def chain():
    """Joints in a row, all of which rub; of the cylindrical one only the second coordinate."""
    axes = ([1, 0, 0.2], [0, 1, 0], [0.3, 0, 1])
    bodies, joints, forces = {}, {}, {}
    for i, kind in enumerate(KINDS):
        bodies[f"b{i}"] = {"mass": 1.1 + 0.2 * i, "com": [0.1, 0.02 * i, 0.2], "inertia": [0.1, 0.12, 0.13]}
        joints[f"j{i}"] = {
            "type": kind,
            "axis": axes[i % 3],
            "parent": "ground" if i == 0 else f"b{i - 1}",
            "child": f"b{i}",
            "child_pose": {"position": [0.1, 0, -0.3]},
        }
        coordinate = {"coordinate": 1} if kind == "cylindrical" else {}
        forces[f"r{i}"] = {"type": "joint_friction", "joint": f"j{i}", "level": 0.7 + 0.3 * i, **coordinate}
    return model_from_dict({"bodies": bodies, "joints": joints, "forces": forces})


def moves(system):
    """Accelerations and forces of friction at a state in which some joints stick and others slide."""
    eq = system.equations
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=system.nq), rng.normal(size=system.nv)
    held = np.zeros(len(eq.elements.held_values))
    for k, value in enumerate(eq.elements.held_values):
        owner, part = value.name.split(".")
        held[k] = (owner in STUCK) if part == "stuck" else 1.0
    for one in eq.elements.friction.frictions:
        if one.name in STUCK:
            v[[str(eq.v[k]) == str(one.slip) for k in range(system.nv)]] = 0.0
    function = system.function("moves", [eq.t, eq.q, eq.v, eq.p], [eq.a, eq.elements.friction.force])
    a, force = function(np.zeros(1), q, v, system.parameter_vector(None, held))
    return a.ravel(), force.ravel()


@pytest.mark.parametrize("algorithm", ["composite", "articulated"])
def test_held_by_the_recursion_or_solved_for(monkeypatch, algorithm):
    held = moves(sk.compile(chain(), algorithm=algorithm))
    monkeypatch.setattr(locked_tree, "suits", lambda eq, frictions: False)
    solved = moves(sk.compile(chain(), algorithm=algorithm))
    scale = np.abs(solved[0]).max()
    np.testing.assert_allclose(held[0], solved[0], atol=1e-11 * scale)
    np.testing.assert_allclose(held[1], solved[1], rtol=1e-9)
    assert np.count_nonzero(held[0] == 0.0) == len(STUCK)
