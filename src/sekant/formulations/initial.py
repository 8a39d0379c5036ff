"""The start of a motion: the model's own start values in the coordinates of a formulation."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from sekant.formulations.contract import STATED, Start, SystemKinematics
from sekant.formulations.kinematics import TreeKinematics
from sekant.formulations.tree import tree_layout
from sekant.geometry.spatial import SX, column, scalar
from sekant.tables.lookups import Lookups

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

POSITION_FIELDS = ("q0", "position", "orientation")
VELOCITY_FIELDS = ("v0", "velocity", "angular_velocity")
NEAR = 1e-9
"""Largest difference between a stated start value and that of a motion, in its unit, that gives no warning."""


class ModelStart(Start):
    """The start of a model with bodies and joints, given in joint coordinates."""

    def __init__(self, eq: Equations):
        self._eq = eq
        self.placed_by_joints = eq.formulation != "joint"

    def values(self) -> tuple[SX, SX]:
        eq, motion = self._eq, self._eq.motion
        q0, v0 = _joint_values(motion)
        if self.placed_by_joints:
            tree = TreeKinematics(eq.stated_model, tree_layout(eq.model))
            q0, v0 = _placed(motion, tree, eq.lookups, q0, v0)
        q = [q0[name] for name in motion.q_names]
        v = [v0[name] for name in motion.v_names]
        return ca.vertcat(SX.zeros(0, 1), *q), ca.vertcat(SX.zeros(0, 1), *v)

    def placed_by(self, other: SystemKinematics) -> tuple[SX, SX]:
        motion = self._eq.motion
        placed = motion.placed_by(other)

        def entry(owner: str, i: int, k: int) -> SX:
            return placed[owner][k][i] if owner in placed else other.coordinate(owner, i)[k]

        return (
            ca.vertcat(SX.zeros(0, 1), *[entry(owner, i, 0) for owner, i in motion.q_names]),
            ca.vertcat(SX.zeros(0, 1), *[entry(owner, i, 1) for owner, i in motion.v_names]),
        )

    def weight(self, key: tuple[str, int], velocity: bool) -> float:
        joint = self._eq.model.joints.get(key[0])
        fields = VELOCITY_FIELDS if velocity else POSITION_FIELDS
        return STATED if joint is not None and set(fields) & joint.model_fields_set else 1.0

    @cached_property
    def overridden(self) -> tuple[tuple[str, float, float], ...]:
        """Stated start values of coordinates that motions prescribe otherwise. Motions that depend on run-time
        parameters are left out."""
        eq, t, found = self._eq, self._eq.motion.t, []
        inputs = ca.vertcat(eq.p, eq.z)
        for item in eq.model.motions.values():
            joint, k = eq.model.joints[item.joint], item.coordinate
            stated = [getattr(joint, field, None) is not None for field in ("q0", "v0")]
            if not any(stated):
                continue
            value = eq.motion.value(item.value)
            pair = [value, eq.lookups.jacobian(value, t)]
            starts = [SX(row[k]) for row in joint.initial()]  # type: ignore[arg-type]
            before = [start if known else x for start, known, x in zip(starts, stated, pair, strict=True)]
            if not eq.lookups.jacobian(column(before + pair), inputs).is_zero():
                continue
            rows = eq.lookups.oracle("start_of_motion", [t, inputs], before + pair)(0.0, 0.0)
            for i, kind in enumerate((joint.coordinates[k], joint.velocities[k])):
                model, actual = float(rows[i]), float(rows[2 + i])
                if not abs(actual - model) <= NEAR:
                    found.append((f"{item.joint}.{kind.name}", model, actual))
        return tuple(found)


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


def _placed(
    motion: TreeKinematics, tree: TreeKinematics, lookups: Lookups, q: dict, v: dict
) -> tuple[dict, dict]:
    """The coordinates of all bodies at the start values of the tree's joints, in addition to q and v."""
    q0, v0 = _joint_values(tree)
    given = [SX(0)]
    given += [ca.vertcat(SX.zeros(0, 1), *[q0[name] for name in tree.q_names])]
    given += [ca.vertcat(SX.zeros(0, 1), *[v0[name] for name in tree.v_names])]
    symbols = [tree.t, tree.q, tree.v]
    q, v = dict(q), dict(v)
    placed = motion.placed_by(tree)
    columns = _at(tree, lookups, [part for pair in placed.values() for part in pair], symbols, given)
    for name, place, rate in zip(placed, columns[::2], columns[1::2], strict=True):
        q.update({(name, i): place[i] for i in range(place.numel())})
        v.update({(name, i): rate[i] for i in range(rate.numel())})
    return q, v


def _at(
    tree: TreeKinematics, lookups: Lookups, columns: list[SX], symbols: list[SX], given: list[SX]
) -> list[SX]:
    """`columns` with numbers substituted for the state; `lookups` looks up the tables again there."""
    old, new = list(symbols), list(given)
    for node in tree.lookups.needed_by(column(columns)):
        arguments = ca.substitute(list(node.arguments), old, new)
        old.append(node.symbols)
        new.append(lookups(node.table, *arguments, order=node.order))
    return ca.substitute(columns, old, new)
