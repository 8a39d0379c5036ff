"""Motion of a tree of bodies in joint coordinates (TROM ch. 2 in spatial-vector form)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.formulations.contract import GroupRows
from sekant.formulations.counted import counted_joints
from sekant.formulations.named_values import NamedValues
from sekant.formulations.rotors import rotors_of
from sekant.formulations.tree import Link, SpanningTree, joint_frames, tree_lines
from sekant.geometry.spatial import SX, Pose, Twist, column, quaternion_from_rotation
from sekant.model.joints import Joint, JointMotion, leader_of, shared_coordinates
from sekant.model.motion import FrameState, Neighbors
from sekant.model.resolve import ResolvedModel
from sekant.tables.lookups import Lookups

if TYPE_CHECKING:
    from sekant.formulations.contract import SystemKinematics


class TreeKinematics(NamedValues):
    """Poses and twists of every link as expressions of the state, and the quantities that forces may use.

    The state contains only the free coordinates; driven coordinates are functions of time. The tree's coordinates are
    followed by the auxiliary parameters of constraints and of path and surface joints that close loops.
    Symbols: `t`, `q` (nq,), `v` (nv,), and the parameters `p`.
    """

    rigid = True
    """Whether the poses of links are rigid for all values of the coordinates, without further equations."""

    def __init__(self, resolved: ResolvedModel, layout: SpanningTree):
        super().__init__(resolved)
        self.links: tuple[Link, ...] = layout.links
        self.cuts: tuple[str, ...] = layout.cuts
        # links by the joint that carries them; cut joints are not in it
        self.joint_index = {link.joint_name: i for i, link in enumerate(layout.links)}
        self._symbols()
        self._motions()

    def _symbols(self) -> None:
        """Free coordinates are symbols, prescribed ones expressions of time."""
        motions = {(d.joint, d.coordinate): (name, d) for name, d in self.model.motions.items()}
        self.driven: dict[int, str] = {}  # index among all velocities -> prescribed motion
        q, v, q_all, v_all, a_all = [], [], [], [], []
        self.q_names: list[tuple[str, int]] = []
        self.v_names: list[tuple[str, int]] = []
        self.unit_blocks: list[tuple[int, int]] = []
        self.v_index: dict[int, int] = {}  # of the free ones among all velocities of the tree, in v
        for link in self.links:
            name, joint = link.joint_name, link.joint
            shared = shared_coordinates(joint)
            if joint.unit_quaternion is not None:
                self.unit_blocks.append((len(q) + joint.unit_quaternion, 4))
            for i in range(joint.nq):
                if i in shared:  # see `_follow`
                    for every in (q_all, v_all, a_all):
                        every.append(None)
                    continue
                if (name, i) in motions:
                    motion_name, prescribed = motions[name, i]
                    self.driven[len(v_all)] = motion_name
                    position = self.value(prescribed.value)
                    rate = self.lookups.jacobian(position, self.t)
                    q_all.append(position)
                    v_all.append(rate)
                    a_all.append(self.lookups.jacobian(rate, self.t))
                    continue
                q.append(SX.sym(f"{name}.q{i}"))
                q_all.append(q[-1])
                self.q_names.append((name, i))
                if joint.nq == joint.nv:
                    self._free_velocity(name, i, v, v_all, a_all)
            if joint.nq != joint.nv:
                for i in range(joint.nv):
                    self._free_velocity(name, i, v, v_all, a_all)
        self._follow(q_all, v_all, a_all)
        self.tree_nv = len(v)
        self.auxiliary: dict[str, tuple[SX, SX]] = {}  # owner -> (parameters, their rates)
        for name, count in self._auxiliary_counts().items():
            first = len(q)
            for i in range(count):
                q.append(SX.sym(f"{name}.q{i}"))
                v.append(SX.sym(f"{name}.v{i}"))
                self.q_names.append((name, i))
                self.v_names.append((name, i))
            self.auxiliary[name] = (column(q[first:]), column(v[len(v) - count :]))
        self.q, self.v = column(q), column(v)
        self.q_all, self.v_all, self.a_driven = column(q_all), column(v_all), column(a_all)

    def _follow(self, q_all: list, v_all: list, a_all: list) -> None:
        """Joints that share the coordinates of another joint have its values, rates and prescribed motions."""
        places = {link.joint_name: link for link in self.links}
        self.grouped = False
        for name in self.cuts:
            if getattr(self.model.joints[name], "second_coordinate_of", None) is not None:
                raise ModelError(
                    "shares one of its coordinates and cannot close a loop; use formulation 'joint', and cut another "
                    "joint of that loop",
                    path=("joints", name, "second_coordinate_of"),
                )
        for link in self.links:
            for i, (name, k) in shared_coordinates(link.joint).items():
                if name not in places:
                    raise ModelError(
                        f"shares the coordinate of '{name}', which closes a loop; cut another joint of that loop",
                        path=("joints", link.joint_name, "coordinate_of"),
                    )
                further = shared_coordinates(places[name].joint)  # the leader may share one of its own
                name, k = further.get(k, (name, k))
                leader = places[name]
                q, v = leader.q.start + k, leader.v.start + k
                q_all[link.q.start + i] = q_all[q]
                v_all[link.v.start + i], a_all[link.v.start + i] = v_all[v], a_all[v]
                if v in self.driven:
                    self.driven[link.v.start + i] = self.driven[v]
                else:
                    self.v_index[link.v.start + i] = self.v_index[v]
                    self.grouped = True

    def free_columns(self, i: int) -> list[int]:
        """Indices in v of the free columns of link i's subspace; links of one group have the same."""
        first = self.links[i].v.start
        return [self.v_index[first + k] for k in self.free[i]]

    def _auxiliary_counts(self) -> dict[str, int]:
        own = [name for name in self.cuts if leader_of(self.model.joints[name]) is None]
        counts = {name: self.model.joints[name].loop_parameters for name in own}
        counted = {name for name in counted_joints(self.model) if name in own}
        counts.update({name: self.model.joints[name].nq for name in counted})
        counts.update({name: len(item.auxiliary) for name, item in self.model.constraints.items()})
        return {name: count for name, count in counts.items() if count}

    def _free_velocity(self, name: str, i: int, v: list, v_all: list, a_all: list) -> None:
        self.v_index[len(v_all)] = len(v)
        v.append(SX.sym(f"{name}.v{i}"))
        v_all.append(v[-1])
        a_all.append(SX(0))
        self.v_names.append((name, i))

    def _motions(self) -> None:
        """Outward recursion: V_i = X V_parent + S v, and the velocity-product acceleration of each link."""
        self.X_PM: list[Pose] = []
        self.V: list[Twist] = []
        self.S: list[SX] = []
        self.free: list[list[int]] = []  # columns of S that are free
        self.zeta: list[
            Twist
        ] = []  # acceleration of a link without those of its parent and of its free coordinates
        self.spin: list[
            SX | None
        ] = []  # of rotors: R from the link's frame, which does not turn, to the joint's M
        qdot_all: list[SX] = []
        free = set(self.q_names)
        self.rotors = rotors = rotors_of(self.links)
        for i, link in enumerate(self.links):
            q, v, a = self.q_all[link.q], self.v_all[link.v], self.a_driven[link.v]
            is_driven = any(i in self.driven for i in range(link.v.start, link.v.stop))
            motion = _joint_motion(link.joint, q, v, self.lookups, is_driven)
            if link.reversed:
                motion = _backwards(motion)
            self.spin.append(motion.X_FM.R if i in rotors else None)
            X_PM = link.X_PF if i in rotors else link.X_PF @ motion.X_FM
            V_joint = Twist.of(ca.densify(motion.S @ v)) if link.joint.nv else Twist.zero()
            V = V_joint if link.parent < 0 else X_PM.twist_to_child(self.V[link.parent]) + V_joint
            zeta = Twist.of(motion.c)
            if link.parent >= 0:  # on the ground V is the joint's own, and V x V = 0
                zeta = zeta + V.cross(V_joint)
            driven = [k for k in range(link.joint.nv) if link.v.start + k in self.driven]
            if driven:
                zeta = zeta + Twist.of(motion.S[:, driven] @ a[driven])
            self.X_PM.append(X_PM)
            self.V.append(V)
            self.S.append(motion.S)
            self.free.append([k for k in range(link.joint.nv) if k not in driven])
            self.zeta.append(zeta)
            names = [(link.joint_name, i) for i in range(link.joint.nq)]
            rates = ca.vertsplit(motion.qdot) if link.joint.nq else []
            qdot_all += [rate for name, rate in zip(names, rates, strict=True) if name in free]
        qdot_all += [rates for _, rates in self.auxiliary.values()]
        self.qdot = column(qdot_all)

    @cached_property
    def link_index(self) -> dict[str, int]:
        return {link.body: i for i, link in enumerate(self.links)}

    def owner_of(self, name: str) -> Joint | None:
        """The joint whose coordinates are named `name`: in the tree, or cut; None for a constraint."""
        if name in self.joint_index:
            return self.links[self.joint_index[name]].joint
        return self.model.joints.get(name)

    @property
    def movable(self) -> list[str]:
        """Names of the parts that a group motion carries along."""
        return [link.body for link in self.links]

    def place(self, name: str) -> tuple[SX, SX]:
        """(3,) m, (3,) m/s, in W: where a body is, and its velocity."""
        state = self.frame(name)
        return state.p, state.v_WF

    def group_rows(
        self, eq: Any, spins: SX, members: Collection[str], twist: Callable[[SX], SX]
    ) -> GroupRows:
        """Twists of all bodies, including prescribed ones, minus those of `spins` (nv,) and of the group motion."""
        rows: list[tuple[str, SX]] = []
        for link in self.links:
            state = self.frame(link.body)
            whole = ca.vertcat(state.v_WF, state.w_WF)
            own = whole - eq.lookups.jtimes(whole, eq.v, spins)
            group = twist(state.p) if link.body in members else SX.zeros(6)
            names = [f"{link.body}.{kind}.{c}" for kind in ("velocity", "angular_velocity") for c in "xyz"]
            rows += zip(names, ca.vertsplit(ca.densify(own - group)), strict=True)
        return GroupRows(rows, tuple(range(self.tree_nv, eq.nv)))

    def described(self, p: NDArray[np.float64]) -> list[str]:
        """The connections of the bodies, as text."""
        return list(tree_lines(self, p))

    def state_names(self) -> tuple[list[str], list[str]]:
        """Names of the coordinates and of the velocities, e.g. ``hinge.angle`` and ``hinge.rate``."""
        return self._joint_names(0)

    def _joint_names(self, first: int) -> tuple[list[str], list[str]]:
        """The same for the coordinates and velocities of joints and constraints from index `first` on."""
        q, v = [], []
        for name, i in self.q_names[first:]:
            joint = self.owner_of(name)
            part = joint.coordinates[i].name if joint else self.model.constraints[name].auxiliary[i]
            q.append(f"{name}.{part}")
        for name, i in self.v_names[first:]:
            joint = self.owner_of(name)
            part = joint.velocities[i].name if joint else f"{self.model.constraints[name].auxiliary[i]}_rate"
            v.append(f"{name}.{part}")
        return q, v

    @cached_property
    def X_WM(self) -> list[Pose]:
        """Pose of every link in the world."""
        poses: list[Pose] = []
        for link, X_PM in zip(self.links, self.X_PM, strict=True):
            poses.append(X_PM if link.parent < 0 else poses[link.parent] @ X_PM)
        return poses

    def place_of(self, reference: str) -> tuple[str, Pose]:
        """The body of ``body`` or ``body.frame``, and the frame's pose on it."""
        body, name = self.model.split_reference(reference)
        frames = self.model.ground.frames if body == "ground" else self.model.bodies[body].frames
        return body, frames[name].pose() if name else Pose.identity()

    def frame(self, reference: str) -> FrameState:
        return self.frame_on(*self.place_of(reference))

    def frame_on(self, body: str, X_BF: Pose) -> FrameState:
        """State of a frame given by its pose on a body."""
        if body == "ground":
            return FrameState("ground", X_BF, SX.zeros(3), SX.zeros(3))
        i = self.link_index[body]
        X_MF = self.on_link(i, X_BF)
        X_WM, V = self.X_WM[i], self.V[i]
        v_WF = X_WM.R @ (V.v + ca.cross(V.w, X_MF.p))
        return FrameState(body, X_WM @ X_MF, v_WF, X_WM.R @ V.w)

    def neighbors(self, parent: str, child: str) -> Neighbors | None:
        (a, X_A), (b, X_B) = self._on_links(parent), self._on_links(child)
        if b >= 0 and self.links[b].parent == a:
            i, p_P, p_M, sign = b, X_A.p, X_B.p, 1
        elif a >= 0 and self.links[a].parent == b:
            i, p_P, p_M, sign = a, X_B.p, X_A.p, -1
        else:
            return None
        link = self.links[i]
        if link.joint_name not in self.joint_index or not 1 <= link.joint.nv <= 2:
            return None
        X, S = self.X_PM[i], self.S[i]
        d = p_M - X.R.T @ (p_P - X.p)
        products = ca.vertcat(
            *[ca.dot(S[:, k], ca.vertcat(ca.cross(p_M, d), d)) for k in range(link.joint.nv)]
        )
        return Neighbors(link.joint_name, sign * d, self.v_all[link.v], products)

    def _on_links(self, reference: str) -> tuple[int, Pose]:
        """The link (-1: the ground) that carries a frame, and the frame's pose on it."""
        body, X_BF = self.place_of(reference)
        i = -1 if body == "ground" else self.link_index[body]
        return i, X_BF if i < 0 else self.on_link(i, X_BF)

    def on_link(self, i: int, X_BF: Pose) -> Pose:
        """Pose of a frame on link i's body in the link's frame."""
        X_MF, spin = self.links[i].X_BM.inverse() @ X_BF, self.spin[i]
        return X_MF if spin is None else Pose(spin, SX.zeros(3)) @ X_MF

    def joint_ends(self, joint: str) -> tuple[FrameState, FrameState]:
        """States of the joint's frames F and M."""
        (parent, X_BF), (child, X_BM) = joint_frames(self.model, self.model.joints[joint])
        return self.frame_on(parent, X_BF), self.frame_on(child, X_BM)

    def coordinate(self, joint: str, index: int) -> tuple[SX, SX]:
        if joint in self.joint_index:
            link = self.links[self.joint_index[joint]]
            return self.q_all[link.q.start + index], self.v_all[link.v.start + index]
        if joint in self.auxiliary:
            q, v = self.auxiliary[joint]
            return q[index], v[index]
        shared = shared_coordinates(self.model.joints[joint])
        if index in shared:
            return self.coordinate(*shared[index])
        return measured_coordinate(self.model.joints[joint], *self.joint_ends(joint), index)

    def placed_by(self, other: SystemKinematics) -> dict[str, tuple[SX, SX]]:
        """Coordinates and velocities of floating links, by body, from another set of coordinates."""
        found = {}
        for link in self.links:
            if link.joint_name == link.body:
                state = other.frame(link.body)
                q = ca.vertcat(state.p, quaternion_from_rotation(state.R))
                found[link.body] = (q, ca.vertcat(state.R.T @ state.w_WF, state.R.T @ state.v_WF))
        return found


def relative_pose(F: FrameState, M: FrameState) -> Pose:
    """X_FM."""
    return F.X_WF.inverse() @ M.X_WF


def relative_twist(F: FrameState, M: FrameState) -> Twist:
    """Twist of M in F, at M's origin, resolved in M."""
    v = M.v_WF - F.v_WF - ca.cross(F.w_WF, M.p - F.p)
    return Twist(M.R.T @ (M.w_WF - F.w_WF), M.R.T @ v)


def measured_coordinate(joint: Joint, F: FrameState, M: FrameState, index: int) -> tuple[SX, SX]:
    """(q, v) of a joint that is not part of the tree, computed from the motion of its two frames."""
    q = joint.measure(relative_pose(F, M))
    S = joint.subspace(q, Lookups())
    # the twist lies in the span of S wherever the joint's constraints hold
    v = ca.solve(S.T @ S, S.T @ relative_twist(F, M).column())
    return q[index], v[index]


def _joint_motion(joint: Joint, q: SX, v: SX, lookups: Lookups, driven: bool) -> JointMotion:
    """The joint's motion; for driven coordinates, first in terms of symbols, because joints differentiate by q."""
    if not driven:
        return joint.motion(q, v, lookups)
    z, own = SX.sym("z", q.numel()), Lookups()
    motion = joint.motion(z, v, own)
    parts = [motion.X_FM.R, motion.X_FM.p, motion.S, motion.c, motion.qdot]
    old, new = [z], [q]
    for node in own.needed_by(ca.veccat(*parts)):
        arguments = ca.substitute(list(node.arguments), old, new)
        old.append(node.symbols)
        new.append(lookups(node.table, *arguments, order=node.order))
    R, p, S, c, qdot = ca.substitute([ca.densify(part) for part in parts], old, new)
    return JointMotion(Pose(R, p), S, c, qdot)


def _backwards(motion: JointMotion) -> JointMotion:
    """The same joint traversed from child to parent: X_MF, S' = -Ad(X_FM) S, and likewise the bias."""
    X = motion.X_FM

    def carried(column: SX) -> SX:
        w = X.R @ column[:3]
        return -ca.vertcat(w, X.R @ column[3:] + ca.cross(X.p, w))

    S = SX.zeros(6, 0)
    for k in range(motion.S.shape[1]):
        S = ca.horzcat(S, carried(motion.S[:, k]))
    return JointMotion(X.inverse(), ca.densify(S), carried(motion.c), motion.qdot)
