"""Motion of a model in natural coordinates: points and directions instead of joint angles and Euler parameters.

Poses are computed from the point and the directions of each group; they are rigid where the group's rigidity
equations hold. Frames, forces, sensors and coordinates of joints work as in the other formulations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.formulations.contract import GroupRows
from sekant.formulations.kinematics import TreeKinematics
from sekant.formulations.natural.basis import Basis, GroupFrame
from sekant.formulations.natural.sharing import GROUND, Sharing
from sekant.formulations.tree import free_layout
from sekant.geometry.spatial import SX, Pose, Twist
from sekant.model.motion import FrameState
from sekant.model.resolve import ResolvedModel

if TYPE_CHECKING:
    from sekant.formulations.contract import SystemKinematics

Floats = NDArray[np.float64]


class PointKinematics(TreeKinematics):
    """Poses and twists of every body; q = points, vectors and the parameters of paths; q' = v."""

    rigid = False

    def __init__(self, resolved: ResolvedModel):
        self.sharing = Sharing(resolved)
        self.basis = Basis(self.sharing)
        super().__init__(resolved, free_layout(resolved.model))

    def _symbols(self) -> None:
        self.driven, self.unit_blocks, self.v_index = {}, [], {}
        self.joint_index = {}  # no joint has coordinates of its own
        self.grouped = False
        self.free = [list(range(link.joint.nv)) for link in self.links]
        self.q_names = [(basic.name, k) for basic in self.basis.basics for k in range(3)]
        self.v_names = list(self.q_names)
        q, v = [basic.q for basic in self.basis.basics], [basic.v for basic in self.basis.basics]
        self.tree_nv = 3 * len(q)
        self.auxiliary = {}
        for name, count in self._auxiliary_counts().items():
            symbols = [ca.vertcat(*[SX.sym(f"{name}.{x}{i}") for i in range(count)]) for x in "qv"]
            self.auxiliary[name] = (symbols[0], symbols[1])
            self.q_names += [(name, i) for i in range(count)]
            self.v_names += [(name, i) for i in range(count)]
            q.append(symbols[0])
            v.append(symbols[1])
        self.q, self.v = (ca.densify(ca.vertcat(SX.zeros(0, 1), *part)) for part in (q, v))
        self.q_all = self.v_all = self.a_driven = SX.zeros(0, 1)
        self.qdot = self.v

    def rate(self, expression: SX) -> SX:
        """d/dt of an expression of points and vectors alone."""
        return ca.densify(ca.jtimes(expression, self.q, self.v)) if self.q.numel() else 0 * expression

    def second_rate(self, rate: SX, a: SX) -> SX:
        """d/dt of an expression of points, vectors and their rates, for accelerations `a` (nv,)."""
        if not self.q.numel():
            return 0 * rate
        return ca.densify(ca.jtimes(rate, ca.vertcat(self.q, self.v), ca.vertcat(self.v, a)))

    def _motions(self) -> None:
        self.spin = [None] * len(self.links)
        self._X_WB: dict[str, Pose] = {}
        self._velocity: dict[str, tuple[SX, SX, SX]] = {}  # rates of R and p, and angular velocity, in W
        for name, group in self.sharing.groups.items():
            X_WG = Pose.identity() if name == GROUND else group_pose(self.basis.frames[name])
            for body, X_GB in group.bodies.items():
                X = X_WG @ X_GB
                R_rate, p_rate = (self.rate(part) for part in (X.R, X.p))
                self._X_WB[body], self._velocity[body] = X, (R_rate, p_rate, _turning(X.R, R_rate))

    @cached_property
    def X_WM(self) -> list[Pose]:
        return [self._X_WB[link.body] for link in self.links]

    @cached_property
    def V(self) -> list[Twist]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Twist of every body at its origin, in its frame."""
        twists = []
        for link in self.links:
            R, (_, p_rate, w) = self._X_WB[link.body].R, self._velocity[link.body]
            twists.append(Twist(R.T @ w, R.T @ p_rate))
        return twists

    def accelerations(self, a: SX, gravity: SX) -> list[Twist]:
        """Spatial acceleration of every body at its origin, in its frame, gravity offset included."""
        found = []
        for link, V in zip(self.links, self.V, strict=True):
            R, (_, p_rate, w) = self._X_WB[link.body].R, self._velocity[link.body]
            angular, linear = self.second_rate(w, a), self.second_rate(p_rate, a) - gravity
            found.append(Twist(R.T @ angular, R.T @ linear - ca.cross(V.w, V.v)))
        return found

    def state_names(self) -> tuple[list[str], list[str]]:
        names = [f"{name}.{'xyz'[k]}" for name, k in self.q_names[: self.tree_nv]]
        q, v = self._joint_names(self.tree_nv)
        return [*names, *q], [*(f"{name}_rate" for name in names), *v]

    def group_rows(
        self, eq: Any, spins: SX, members: Collection[str], twist: Callable[[SX], SX]
    ) -> GroupRows:
        """Rates of points and directions minus those of the group motion."""
        u = eq.v - spins
        rows: list[tuple[str, SX]] = []
        for k, basic in enumerate(self.basis.basics):
            moves = set(self.sharing.groups[basic.group].bodies) & set(members)
            group = twist(basic.q)
            rate = group[:3] if basic.is_point else ca.cross(group[3:], basic.q)
            away = ca.densify(u[3 * k : 3 * k + 3] - (rate if moves else SX.zeros(3)))
            rows += zip((f"{basic.name}.{c}" for c in "xyz"), ca.vertsplit(away), strict=True)
        return GroupRows(rows, tuple(range(self.tree_nv, eq.nv)))

    def described(self, p: Floats) -> list[str]:
        """The basic points and vectors, for a reader."""
        kinds = {
            "points": [basic.name for basic in self.basis.basics if basic.is_point],
            "vectors": [basic.name for basic in self.basis.basics if not basic.is_point],
            "parameters": [f"{name} ({q.numel()})" for name, (q, _) in self.auxiliary.items()],
        }
        lines = [f"  {kind}: {', '.join(names)}" for kind, names in kinds.items() if names]
        return ["in natural coordinates", *lines]

    def frame_on(self, body: str, X_BF: Pose) -> FrameState:
        if body == GROUND:
            return FrameState(GROUND, X_BF, SX.zeros(3), SX.zeros(3))
        R_rate, p_rate, w = self._velocity[body]
        return FrameState(body, self._X_WB[body] @ X_BF, p_rate + R_rate @ X_BF.p, w)

    def placed_by(self, other: SystemKinematics) -> dict[str, tuple[SX, SX]]:
        """The points and vectors and their rates, from another set of coordinates."""
        found = {}
        for basic in self.basis.basics:
            state = other.frame(basic.group)
            arm = state.R @ basic.place.local
            turning = ca.cross(state.w_WF, arm)
            if basic.is_point:
                found[basic.name] = (state.p + arm, state.v_WF + turning)
            else:
                found[basic.name] = (arm, turning)
        return found


def group_pose(frame: GroupFrame) -> Pose:
    """X_WG of a group."""
    R = ca.densify(frame.a @ frame.inverse)
    return Pose(R, frame.r - R @ frame.r_G)


def _turning(R: SX, R_rate: SX) -> SX:
    """Angular velocity (3,) in W: half the sum of e x e' over the axes e of a frame."""
    return sum((ca.cross(R[:, k], R_rate[:, k]) for k in range(3)), SX.zeros(3)) / 2
