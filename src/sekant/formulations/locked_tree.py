"""Joints of a tree that stick: the recursion locks them, at the cost of one or two products per joint.

If every friction has a given level and acts on a free coordinate of a tree without constraints, the force of a
sticking joint needs no equation: its acceleration is zero, a_k = (1 - h_k) (...), also in the factors of the mass
matrix. The force that it carries then follows from inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca

from sekant.formulations import friction
from sekant.geometry.spatial import SX
from sekant.model.motion import DryFriction

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations


def suits(eq: Equations, frictions: Sequence[DryFriction]) -> bool:
    """Whether these frictions can be treated this way."""
    places = friction.slip_places(frictions, eq.v)
    plain = not eq.constraints and not eq.motion.grouped and eq.formulation == "joint"
    return (
        plain
        and min(places) >= 0
        and len(set(places)) == len(places)
        and all(f.load is None for f in frictions)
    )


def solve(eq: Equations, frictions: Sequence[DryFriction]) -> friction.Solved:
    """The forces of these frictions; the accelerations of `eq` are set as well."""
    places = friction.slip_places(frictions, eq.v)
    lock = SX.zeros(eq.nv)
    for one, k in zip(frictions, places, strict=True):
        lock[k] = one.stuck
    stuck = ca.vertcat(*[one.stuck for one in frictions])
    symbols = ca.vertcat(*[one.force for one in frictions])
    sliding = ca.vertcat(*[-(1 - one.stuck) * one.direction * one.level for one in frictions])
    slip = ca.vertcat(*[one.slip for one in frictions])
    n = len(frictions)
    solved = friction.Solved(
        tuple(frictions),
        (),
        symbols,
        sliding,
        slip,
        SX.zeros(n),
        sliding,
        ca.vertcat(*[one.limit for one in frictions]),
        SX.ones(n),
        SX.zeros(0, 1),
        SX(0),
        (False,) * n,
    )
    actions = friction.completed(eq.elements.stated_actions, solved, eq.lookups)
    held = eq.copied(friction=None, actions=actions)
    vars(held)["_lock"] = lock
    a, M = held.a, held.mass_matrix
    needed = held.inverse_dynamics(a)[places]
    vars(eq).update(_lock=lock, a=a, mass_matrix=M)
    force = sliding + stuck * needed
    return replace(
        solved,
        values=force,
        acting=sliding,
        force=force,
        slip_rate=(1 - stuck) * a[places],
        mobility=ca.vertcat(*[1 / M[k, k] for k in places]),
    )
