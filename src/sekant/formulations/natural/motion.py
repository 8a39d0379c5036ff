"""Coordinates of mechanisms modeled with points, in the form that analyses use."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import casadi as ca

from sekant.errors import ModelError
from sekant.formulations.contract import GroupRows
from sekant.formulations.natural.lagrangian_parts import LagrangianParts
from sekant.geometry.spatial import SX
from sekant.model.joints.base import Joint
from sekant.model.motion import FrameState


class NaturalMotion:
    """Names and structure of the coordinates, in the form that analyses use."""

    def __init__(self, parts: LagrangianParts):
        self._parts = parts
        self.t, self.q, self.v, self.qdot = parts.t, parts.q, parts.v, parts.v
        self.q_all = self.v_all = self.a_driven = SX.zeros(0, 1)
        self.joint_index: dict[str, int] = {}
        self.unit_blocks: tuple[tuple[int, int], ...] = ()
        self.q_names = [(name, 0) for name in parts.q_names]
        self.v_names = [(name, 0) for name in parts.q_names]
        self.driven: dict[int, str] = {}
        self.cuts: tuple[str, ...] = ()
        self.auxiliary: dict[str, Any] = {}
        self.links: list[Any] = []

    def state_names(self) -> tuple[list[str], list[str]]:
        return list(self._parts.q_names), list(self._parts.v_names)

    def owner_of(self, name: str) -> Joint | None:
        """None, because coordinates of points have no joint."""
        return None

    def frame(self, reference: str) -> FrameState:
        raise ModelError(
            f"a mechanism modeled with points has no frame '{reference}'; name a point, or an output"
        )

    def joint_ends(self, joint: str) -> tuple[FrameState, FrameState]:
        raise ModelError(f"a mechanism modeled with points has no joint '{joint}'")

    def coordinate(self, joint: str, index: int) -> tuple[SX, SX]:
        raise ModelError(f"a mechanism modeled with points has no joint '{joint}'")

    def sensed(self, sensor: str) -> tuple[str, SX]:
        raise ModelError(f"a mechanism modeled with points has no sensor '{sensor}'; name an output")

    @property
    def movable(self) -> list[str]:
        """Names of the parts that a group motion carries along."""
        return list(self._parts.carried)

    def place(self, name: str) -> tuple[SX, SX]:
        """(3,) m, (3,) m/s, in W: the first point of a part, and its velocity."""
        return self._parts.places[name]

    def group_rows(
        self, eq: Any, spins: SX, members: Collection[str], twist: Callable[[SX], SX]
    ) -> GroupRows:
        """Rates of the components of points and vectors minus those of the group motion; tracked quantities follow
        from these. Points that do not belong to a part move with the members.
        """
        parts, u = self._parts, eq.v - spins
        still = {k for name, numbers in parts.carried.items() if name not in members for k in numbers}
        going = {k for name, numbers in parts.carried.items() if name in members for k in numbers}
        rows = []
        for k, (place, axis, is_point) in parts.components.items():
            group = twist(place)
            rate = group[axis] if is_point else ca.cross(group[3:], place)[axis]
            rows.append((parts.v_names[k], u[k] - (0 if k in still - going else rate)))
        return GroupRows(rows, ())
