"""Shared elements of the bodies of a model: rigid groups, and points and directions that joints make common
(DERA 2.5).

Bodies joined by fixed joints form one group. A hinge makes a point and a direction common to two groups, a ball joint
a point, and a slider two directions. Coincident points of one group are one point, and parallel directions are one
direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.formulations.tree import joint_frames
from sekant.geometry.spatial import SX, Pose, RigidInertia
from sekant.model.joints import Joint
from sekant.model.model import Model
from sekant.model.resolve import ResolvedModel

Ends = tuple[str, str]
Rows = tuple[int, ...]
GROUND = "ground"
SAME = 1e-12  # m, or sine: places on a body closer than this are the same


@dataclass(frozen=True)
class GroupPlace:
    """A point (m) or a direction on a group, in the group's frame; `number` at the default parameters."""

    local: SX
    number: NDArray[np.float64]


@dataclass(eq=False)
class SharedElement:
    """A point or direction that belongs to one or more groups; `value` (3,) in W, once a group has fixed it."""

    name: str
    is_point: bool
    places: dict[str, GroupPlace]  # by group
    value: SX | None = None


@dataclass(frozen=True)
class Common:
    """A point or direction that a joint makes common to its two groups, and the rows of its equations that
    this replaces."""

    joint: str
    ends: tuple[str, str]
    element: SharedElement | None  # None if it cannot be common
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """Bodies that are fixed to one another, by X_GB; the group's frame is that of its first body."""

    name: str
    bodies: dict[str, Pose]

    def inertia(self, model: Model) -> RigidInertia:
        """Inertia of all bodies, about the group's origin, in its frame."""
        parts = [model.bodies[name].inertia_at(X.inverse()) for name, X in self.bodies.items()]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total


class Spots:
    """Places on groups; those that joints identify form one element (union-find with signs)."""

    def __init__(self) -> None:
        self._spots: list[tuple[str, bool, GroupPlace, str]] = []  # group, point or direction, place, name
        self._parent: list[int] = []
        self._sign: list[float] = []  # a direction is this times its parent's
        self._members: list[dict[str, int]] = []  # by root: spots by group

    def at(self, group: str, point: bool, place: GroupPlace, name: str) -> tuple[int, float]:
        """The spot at a place, and its sign: 1, or -1 if it points the other way. A missing spot is created."""
        for i, (owner, kind, known, _) in enumerate(self._spots):
            if owner == group and kind == point and known.local.is_constant() and place.local.is_constant():
                for sign in (1.0,) if point else (1.0, -1.0):
                    if np.abs(known.number - sign * place.number).max() < SAME:
                        return i, sign
        self._spots.append((group, point, place, name))
        self._parent.append(len(self._parent))
        self._sign.append(1.0)
        self._members.append({group: len(self._spots) - 1})
        return len(self._spots) - 1, 1.0

    def root(self, i: int) -> tuple[int, float]:
        sign = 1.0
        while self._parent[i] != i:
            sign, i = sign * self._sign[i], self._parent[i]
        return i, sign

    def unite(self, i: int, j: int, sign: float) -> bool:
        """Record that spot i is `sign` times spot j; return False if a group would have one element at two places."""
        (a, sign_i), (b, sign_j) = self.root(i), self.root(j)
        if a == b:
            return sign_i == sign * sign_j
        if set(self._members[a]) & set(self._members[b]):
            return False
        self._parent[b], self._sign[b] = a, sign_i * sign * sign_j
        self._members[a] |= self._members[b]
        return True

    def elements(self) -> dict[int, SharedElement]:
        """The elements by root; directions have the sign of the root."""
        found = {}
        for i in range(len(self._spots)):
            if self._parent[i] != i:
                continue
            places = {}
            for group, k in self._members[i].items():
                place, sign = self._spots[k][2], self.root(k)[1]
                places[group] = place if sign > 0 else GroupPlace(-place.local, -place.number)
            found[i] = SharedElement(self._spots[i][3], self._spots[i][1], places)
        return found


class Sharing:
    """Groups of bodies, and all points and directions that their joints make common."""

    def __init__(self, resolved: ResolvedModel):
        self.model = resolved.model
        self._p, self._defaults = resolved.p, resolved.defaults
        self.merged: set[str] = set()  # fixed joints that hold groups together
        self.groups = self._groups()
        self.group_of = {body: group.name for group in self.groups.values() for body in group.bodies}
        spots = Spots()
        pairs = [
            pair
            for name, joint in self.model.joints.items()
            if name not in self.merged
            for pair in self._pairs(spots, name, joint)
        ]
        elements = spots.elements()
        self.commons = [
            Common(name, ends, None if spot is None else elements[spots.root(spot)[0]], rows)
            for name, ends, spot, rows in pairs
        ]
        self.elements = list(elements.values())

    def place(self, local: SX) -> GroupPlace:
        """The place with its numbers at the default parameters."""
        numbers = ca.Function("place", [self._p], [ca.densify(local)])(self._defaults)
        return GroupPlace(ca.densify(local), np.array(numbers).ravel())

    def _pairs(self, spots: Spots, name: str, joint: Joint) -> Iterator[tuple[str, Ends, int | None, Rows]]:
        """For each element that the joint shares, the united spot (if possible) and its rows."""
        frames = []
        for body, X in joint_frames(self.model, joint):
            group = self.group_of[body]
            frames.append((group, self.groups[group].bodies[body] @ X))
        (F, X_F), (M, X_M) = frames
        for part, rows in joint.shared.items():
            point, column = part == "point", {"axis": 2, "side": 0}.get(part, 0)
            a, b = (X_F.p, X_M.p) if point else (X_F.R[:, column], X_M.R[:, column])
            i, s_i = spots.at(F, point, self.place(a), f"{name}.{part}")
            j, s_j = spots.at(M, point, self.place(b), f"{name}.{part}")
            united = F != M and spots.unite(i, j, s_i * s_j)
            yield name, (F, M), i if united else None, rows

    # -- groups ----------------------------------------------------------------------------------------

    def _groups(self) -> dict[str, Group]:
        neighbors: dict[str, list[tuple[str, str, Pose]]] = {}
        for name, joint in self.model.joints.items():
            if joint.type == "fixed":
                (parent, X_F), (child, X_M) = joint_frames(self.model, joint)
                X = X_F @ X_M.inverse()
                neighbors.setdefault(parent, []).append((name, child, X))
                neighbors.setdefault(child, []).append((name, parent, X.inverse()))
        groups, seen = {}, set()
        for first in (GROUND, *self.model.bodies):
            if first in seen:
                continue
            found = {first: Pose.identity()}
            front = [first]
            for body in front:
                for joint, other, X in neighbors.get(body, ()):
                    if other not in found:
                        found[other] = found[body] @ X
                        front.append(other)
                        self.merged.add(joint)
            seen |= found.keys()
            groups[first] = Group(first, found)
        return groups
