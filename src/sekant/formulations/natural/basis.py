"""Natural coordinates of a model: for each group of bodies a point and two directions, shared where joints allow it.

A group's frame is spanned by a point r, two directions a1, a2 and a3 = a1 x a2 (DERA 2.3). Groups are processed one
after another, starting at the ground. Each group first uses known points and directions, then those that it shares
with later groups, and finally introduces its own. Its other common points and directions follow from its frame. If
these were already known, a loop closes, and equations of the joint remain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sekant.formulations.natural.sharing import GROUND, Group, GroupPlace, SharedElement, Sharing
from sekant.geometry.spatial import SX, vector

SHORT = 1e-4  # m: points closer than this do not define a direction
KNOWN, FRESH = (
    0.05,
    0.3,
)  # smallest sine between two directions: for known and for introduced ones


@dataclass(frozen=True, eq=False)
class Basic:
    """A basic point or vector: three coordinates q and their rates v, at a place of a group."""

    name: str
    q: SX
    v: SX
    is_point: bool
    group: str
    place: GroupPlace


@dataclass(frozen=True, eq=False)
class GroupFrame:
    """The elements that span a group's frame: the point r (3,) and the directions a (3, 3) in W. In the group, the
    point is r_G (3,), and `inverse` (3, 3) is the inverse of the directions."""

    group: Group
    r: SX
    a: SX
    r_G: SX
    inverse: SX


@dataclass(frozen=True, eq=False)
class RigidRow:
    """An equation that keeps a group rigid."""

    name: str
    expression: SX


@dataclass(frozen=True, eq=False)
class _Arm:
    """A direction to choose: an element, from the origin if it is a point."""

    element: SharedElement
    place: GroupPlace  # of the direction, in the group


class Basis:
    """The coordinates of all groups, and the equations that remain."""

    def __init__(self, sharing: Sharing):
        self.sharing = sharing
        self.basics: list[Basic] = []
        self.frames: dict[str, GroupFrame] = {}
        self.rigid: list[RigidRow] = []
        self._realized: dict[SharedElement, set[str]] = {element: set() for element in sharing.elements}
        self._settled = [GROUND]
        for element in sharing.elements:
            if GROUND in element.places:
                element.value = element.places[GROUND].local
                self._realized[element].add(GROUND)
        rest = [name for name in sharing.groups if name != GROUND]
        while rest:
            best = max(rest, key=lambda name: sum(e.value is not None for e in self._elements(name)))
            rest.remove(best)
            self._settle(sharing.groups[best])
            self._settled.append(best)
        self.dropped = self._dropped_rows()

    def _elements(self, group: str) -> list[SharedElement]:
        return [element for element in self.sharing.elements if group in element.places]

    # -- one group -------------------------------------------------------------------------------------

    def _settle(self, group: Group) -> None:
        name = group.name
        known = sorted((e for e in self._elements(name) if e.value is not None), key=_rank)
        fresh = [e for e in self._elements(name) if e.value is None and len(e.places) > 1]
        origin = next((e for e in (*known, *fresh) if e.is_point), None) or self._own_point(group)
        first = self._choose(name, origin, known, fresh, None)
        second = self._choose(name, origin, known, fresh, first)
        self._make(name, origin)
        arms = [self._made(name, origin, arm) for arm in (first, second)]
        a, inverse = _completed(*arms), _inverse(_completed(first.place.local, second.place.local))
        assert origin.value is not None
        frame = GroupFrame(group, origin.value, a, origin.places[name].local, inverse)
        self.frames[name] = frame
        self._keep_rigid(name, origin, (first, second), arms)
        R = a @ frame.inverse
        for element in self._elements(name):
            if element in (origin, first.element, second.element):
                self._realized[element].add(name)
            elif element.value is None:
                place = element.places[name].local
                element.value = frame.r + R @ (place - frame.r_G) if element.is_point else R @ place
                self._realized[element].add(name)

    def _choose(
        self,
        group: str,
        origin: SharedElement,
        known: list[SharedElement],
        fresh: list[SharedElement],
        other: _Arm | None,
    ) -> _Arm:
        fresh = sorted(fresh, key=lambda element: element.is_point)  # directions distinguish orientations
        for elements, least in ((known, KNOWN), (fresh, FRESH)):
            for element in elements:
                if element is origin:
                    continue
                arm = _Arm(element, _direction(self.sharing, group, origin, element))
                if np.linalg.norm(arm.place.number) > SHORT and _sine(arm, other) > least:
                    return arm
        return self._own_direction(group, other)

    def _own_point(self, group: Group) -> SharedElement:
        body, X = next(iter(group.bodies.items()))
        com = self.sharing.place(X.point(vector(self.sharing.model.bodies[body].com)))
        return self._own(f"{group.name}.com", True, group.name, com)

    def _own_direction(self, group: str, other: _Arm | None) -> _Arm:
        """A unit vector across the other direction."""
        along = np.array([0.0, 1.0, 0.0]) if other is None else other.place.number
        along = along / np.linalg.norm(along)
        axis = np.eye(3)[int(np.argmin(np.abs(along)))]
        across = axis - along * (along @ axis)
        place = self.sharing.place(vector(across / np.linalg.norm(across)))
        number = 1 + sum(basic.group == group and not basic.is_point for basic in self.basics)
        if other is not None and other.element.value is None and not other.element.is_point:
            number += 1
        return _Arm(self._own(f"{group}.axis{number}", False, group, place), place)

    def _own(self, name: str, point: bool, group: str, place: GroupPlace) -> SharedElement:
        element = SharedElement(name, point, {group: place})
        self._realized[element] = {group}
        return element

    def _make(self, group: str, element: SharedElement) -> None:
        """New coordinates, unless the element is known."""
        if element.value is None:
            q, v = (
                ca.vertcat(*[SX.sym(f"{element.name}.{k}{mark}") for k in "xyz"]) for mark in ("", "_rate")
            )
            element.value = q
            place = element.places[group]
            self.basics.append(Basic(element.name, q, v, element.is_point, group, place))

    def _made(self, group: str, origin: SharedElement, arm: _Arm) -> SX:
        self._make(group, arm.element)
        assert arm.element.value is not None
        assert origin.value is not None
        return arm.element.value - origin.value if arm.element.is_point else arm.element.value

    def _keep_rigid(self, group: str, origin: SharedElement, arms: tuple[_Arm, _Arm], a: list[SX]) -> None:
        """Constrain the lengths and the product of the two directions, unless another group with the same
        elements already does so."""
        for i, j in ((0, 0), (1, 1), (0, 1)):
            pair = (arms[i].element, arms[j].element)
            elements = {*pair, *({origin} if pair[0].is_point or pair[1].is_point else ())}
            product = ca.dot(arms[i].place.local, arms[j].place.local)
            if self._stated(elements, origin, pair, product):
                continue
            self.rigid.append(RigidRow(group, ca.dot(a[i], a[j]) - product))

    def _stated(self, elements: Iterable[SharedElement], origin: SharedElement, pair, product: SX) -> bool:
        """Whether a settled group has all these elements, with the same product of the directions."""
        if not product.is_constant():
            return False
        for other in self._settled:
            if not all(other in element.places for element in elements):
                continue
            there = [_direction(self.sharing, other, origin, element) for element in pair]
            same = there[0].number @ there[1].number
            constant = all(place.local.is_constant() for place in there)
            if constant and abs(same - float(product)) < 1e-12 * max(1.0, abs(same)):
                return True
        return False

    # -- equations of joints ---------------------------------------------------------------------------

    def _dropped_rows(self) -> dict[str, set[int]]:
        """Rows of joints' equations that hold because both bodies have the same point or direction."""
        dropped: dict[str, set[int]] = {}
        linked = {element: [set(groups)] for element, groups in self._realized.items()}
        for common in self.sharing.commons:
            if common.element is not None and not _link(linked[common.element], *common.ends):
                dropped.setdefault(common.joint, set()).update(common.rows)
        return dropped


def _link(sets: list[set[str]], first: str, second: str) -> bool:
    """Unite two sets of groups; return True if they were separate."""
    mine = [next((s for s in sets if group in s), {group}) for group in (first, second)]
    if mine[0] is mine[1]:
        return False
    sets[:] = [s for s in sets if s is not mine[0] and s is not mine[1]]
    sets.append(mine[0] | mine[1])
    return True


def _rank(element: SharedElement) -> int:
    """Constants first, then coordinates, then elements that follow from them."""
    assert element.value is not None
    return 0 if element.value.is_constant() else 1 if element.value.is_valid_input() else 2


def _direction(sharing: Sharing, group: str, origin: SharedElement, element: SharedElement) -> GroupPlace:
    place = element.places[group]
    if not element.is_point:
        return place
    return sharing.place(place.local - origin.places[group].local)


def _sine(arm: _Arm, other: _Arm | None) -> float:
    if other is None:
        return 1.0
    a, b = arm.place.number, other.place.number
    return float(np.linalg.norm(np.cross(a, b)) / (np.linalg.norm(a) * np.linalg.norm(b)))


def _completed(a1: SX, a2: SX) -> SX:
    """(3, 3): two directions and their cross product."""
    return ca.densify(ca.horzcat(a1, a2, ca.cross(a1, a2)))


def _inverse(a: SX) -> SX:
    """Inverse of a matrix (3, 3) by cross products: its rows are the dual vectors of the columns."""
    rows = [ca.cross(a[:, 1], a[:, 2]), ca.cross(a[:, 2], a[:, 0]), ca.cross(a[:, 0], a[:, 1])]
    return ca.densify(ca.horzcat(*rows).T / ca.dot(a[:, 0], rows[0]))
