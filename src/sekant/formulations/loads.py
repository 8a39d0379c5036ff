"""Forces assigned to the links and coordinates of a tree."""

from __future__ import annotations

import casadi as ca

from sekant.formulations.kinematics import TreeKinematics, relative_pose
from sekant.geometry.spatial import SX, Wrench
from sekant.tables.lookups import Lookups


class Loads:
    """External wrenches on links, generalized forces on the tree's and on auxiliary coordinates."""

    def __init__(self, motion: TreeKinematics):
        self._motion = motion
        self.F = [Wrench.zero() for _ in motion.links]
        self.tau = [[SX(0)] * link.joint.nv for link in motion.links]
        self.auxiliary = {name: [SX(0)] * q.numel() for name, (q, _) in motion.auxiliary.items()}
        self.through: dict[str, Wrench] = {}  # on the child of a cut joint, about M's origin, in W

    def push(self, body: str, p: SX, f: SX, n: SX, when: SX | None = None) -> None:
        """A force f (3,) N and moment n (3,) N m on a body at the point p (3,) m, all in W; zero unless `when`."""
        if body == "ground":
            return
        i = self._motion.link_index[body]
        X_WM = self._motion.X_WM[i]
        arm = p - X_WM.p
        moment, force = X_WM.R.T @ (n + ca.cross(arm, f)), X_WM.R.T @ f
        if when is not None:
            moment, force = ca.if_else(when, moment, 0), ca.if_else(when, force, 0)
        self.push_link(body, Wrench(moment, force))

    def push_link(self, body: str, wrench: Wrench) -> None:
        """A wrench on the link of a body, about its origin, in its frame."""
        i = self._motion.link_index[body]
        self.F[i] = self.F[i] + wrench

    def drive(self, joint: str, index: int, force: SX) -> None:
        """A generalized force on one coordinate of a joint, or of an owner of auxiliary parameters.

        For a joint outside the tree, it becomes the smallest wrench between its bodies with the same power;
        any other differs by a wrench that the joint's constraints carry.
        """
        motion = self._motion
        if joint in motion.joint_index:
            i = motion.joint_index[joint]
            self.tau[i][index] = self.tau[i][index] + force
        elif joint in self.auxiliary:
            self.auxiliary[joint][index] = self.auxiliary[joint][index] + force
        else:
            F, M = motion.joint_ends(joint)
            kind = motion.model.joints[joint]
            S = kind.subspace(kind.measure(relative_pose(F, M)), Lookups())
            unit = SX.zeros(S.shape[1])
            unit[index] = force
            wrench = S @ ca.solve(S.T @ S, unit)
            n_W, f_W = M.R @ wrench[:3], M.R @ wrench[3:]
            self.through[joint] = self.through.get(joint, Wrench.zero()) + Wrench(n_W, f_W)
            self.push(M.body, M.p, f_W, n_W)
            self.push(F.body, M.p, -f_W, -n_W)

    def plus(self, other: Loads) -> Loads:
        """The sum of both loads."""
        both = Loads(self._motion)
        both.F = [a + b for a, b in zip(self.F, other.F, strict=True)]
        both.tau = [
            [x + y for x, y in zip(a, b, strict=True)] for a, b in zip(self.tau, other.tau, strict=True)
        ]
        both.auxiliary = {
            name: [x + y for x, y in zip(forces, other.auxiliary[name], strict=True)]
            for name, forces in self.auxiliary.items()
        }
        return both
