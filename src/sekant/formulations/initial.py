"""Where a motion starts: the model's own start values in the coordinates of a formulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from sekant.formulations.kinematics import TreeKinematics
from sekant.formulations.tree import tree_layout
from sekant.geometry.lookups import Lookups
from sekant.geometry.spatial import SX, quaternion_from_rotation, scalar

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations


def initial_state(equations: Equations) -> tuple[SX, SX]:
    """q0 (nq,), v0 (nv,) as expressions of the parameters, at t = 0."""
    motion = equations.motion
    q0, v0 = _joint_values(motion)
    if equations.formulation == "cartesian":
        tree = TreeKinematics(equations.resolved, tree_layout(equations.model))
        q0, v0 = _floating(tree, equations.lookups, *_joint_values(tree), q0, v0)
    q = [q0[name] for name in motion.q_names]
    v = [v0[name] for name in motion.v_names]
    return ca.vertcat(SX.zeros(0, 1), *q), ca.vertcat(SX.zeros(0, 1), *v)


def _joint_values(motion: TreeKinematics) -> tuple[dict, dict]:
    """Start values by (owner, index), of the joints and of auxiliary parameters."""
    q0: dict[tuple[str, int], SX] = {}
    v0: dict[tuple[str, int], SX] = {}
    for name, joint in motion.model.joints.items():
        start, rates = joint.initial()
        q0.update({(name, i): scalar(x) for i, x in enumerate(start)})
        v0.update({(name, i): scalar(x) for i, x in enumerate(rates)})
    for name, item in motion.model.constraints.items():
        q0.update({(name, i): scalar(x) for i, x in enumerate(item.auxiliary_start())})
        v0.update({(name, i): SX(0) for i in range(len(item.auxiliary))})
    return q0, v0


def _floating(
    tree: TreeKinematics, lookups: Lookups, q0: dict, v0: dict, q: dict, v: dict
) -> tuple[dict, dict]:
    """Position, Euler parameters and twist of every body when the tree's joints have their start values."""
    given = [SX(0)]
    given += [ca.vertcat(SX.zeros(0, 1), *[q0[name] for name in tree.q_names])]
    given += [ca.vertcat(SX.zeros(0, 1), *[v0[name] for name in tree.v_names])]
    symbols = [tree.t, tree.q, tree.v]
    q, v = dict(q), dict(v)
    names = list(tree.model.bodies)
    columns = [floating_coordinates(tree, name) for name in names]
    for name, column in zip(names, _at(tree, lookups, columns, symbols, given), strict=True):
        q.update({(name, i): column[i] for i in range(7)})
        v.update({(name, i): column[7 + i] for i in range(6)})
    return q, v


def floating_coordinates(motion: TreeKinematics, body: str) -> SX:
    """(13,): position in W, unit quaternion, and twist (angular, linear) in the body's frame."""
    state = motion.frame(body)
    e = quaternion_from_rotation(state.R)
    return ca.vertcat(state.p, e, state.R.T @ state.w_WF, state.R.T @ state.v_WF)


def _at(
    tree: TreeKinematics, lookups: Lookups, columns: list[SX], symbols: list[SX], given: list[SX]
) -> list[SX]:
    """`columns` with numbers in place of the state; tables are looked up there again, by `lookups`."""
    old, new = list(symbols), list(given)
    for node in tree.lookups.needed_by(ca.vertcat(*columns)):
        arguments = ca.substitute(list(node.arguments), old, new)
        old.append(node.symbols)
        new.append(lookups(node.table, *arguments, order=node.order))
    return ca.substitute(columns, old, new)
