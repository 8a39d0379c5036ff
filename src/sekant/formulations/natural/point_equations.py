"""Equations of motion of a model in natural coordinates.

A point of a group is x = Y c, with Y (3, 4) = [r a1 a2 a3] in W and c (4,) constant; the kinetic energy is
tr(Y' E Y'^T) / 2 with the constant E = integral of c c^T dm. So the equations are

    B^T (E x 1) (vec Y)'' = forces ,   B = d(vec Y)/dq ,

and the mass matrix B^T (E x 1) B is constant wherever a3 is linear in the coordinates, as for hinges in the
ground. Forces act through the virtual work f . r' + n . w; the angular velocity is w = sum d_k x a_k' / 2 with
the dual vectors d_k, so a moment n is the force n x d_k / 2 on a_k.

Joints with a common point or direction need no equation and therefore have no multiplier. Their reactions follow from
Newton's and Euler's laws for each body, once its acceleration is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import casadi as ca

from sekant.formulations.constraints import ConstraintBlock, constraint_blocks
from sekant.formulations.equations import Equations
from sekant.formulations.kkt import RELATIVE, KktFactor
from sekant.formulations.loads import Loads
from sekant.formulations.natural.basis import GroupFrame
from sekant.formulations.natural.point_kinematics import PointKinematics
from sekant.formulations.natural.sharing import GROUND
from sekant.formulations.recursive import Accelerations
from sekant.geometry.spatial import SX, RigidInertia, Wrench, column


class PointLoads(Loads):
    """Forces on bodies, about the origin of their group's frame, in W."""

    _motion: PointKinematics

    def __init__(self, motion: PointKinematics):
        super().__init__(motion)
        self.wrenches = {body: Wrench.zero() for body in motion.model.bodies}

    def push(self, body: str, p: SX, f: SX, n: SX, when: SX | None = None) -> None:
        if body != GROUND:
            moment = n + ca.cross(p - self.about(body), f)
            if when is not None:
                moment, f = ca.if_else(when, moment, 0), ca.if_else(when, f, 0)
            self.wrenches[body] = self.wrenches[body] + Wrench(moment, f)

    def about(self, body: str) -> SX:
        """The point (3,) in W about which moments on a body are taken."""
        group = self._motion.sharing.group_of[body]
        return SX.zeros(3) if group == GROUND else self._motion.basis.frames[group].r


class PointEquations(Equations):
    """A model in natural coordinates, see the module docstring."""

    motion: PointKinematics  # pyright: ignore[reportIncompatibleVariableOverride]

    def _kinematics(self) -> PointKinematics:
        return PointKinematics(self.stated_model)

    # -- constraints -----------------------------------------------------------------------------------

    def _blocks(self) -> list[ConstraintBlock]:
        """Equations that keep groups rigid, and the remaining equations of all others; rates by
        differentiation of Phi."""
        self._stated = constraint_blocks(self.motion, self.elements.closed)
        rigid: dict[str, list[SX]] = {}
        for row in self.motion.basis.rigid:
            rigid.setdefault(row.name, []).append(row.expression)
        blocks = [
            ConstraintBlock(name, "rigid body", phi, self.motion.rate(phi), SX.zeros(phi.shape), {}, {})
            for name, rows in rigid.items()
            for phi in [column(rows)]
        ]
        return blocks + [
            self.differentiated(left) for block in self._stated for left in self._left_over(block)
        ]

    def _left_over(self, block: ConstraintBlock) -> Iterator[ConstraintBlock]:
        dropped = self.motion.basis.dropped.get(block.name, set()) if block.kind == "loop" else set()
        if block.kind == "loop" and block.name in self.motion.sharing.merged:
            dropped = set(range(block.rows))
        kept = [i for i in range(block.rows) if i not in dropped]
        if len(kept) == block.rows:
            yield block
        elif kept:
            yield replace(block, phi=block.phi[kept], rate=block.rate[kept], drift=block.drift[kept])

    def differentiated(self, block: ConstraintBlock) -> ConstraintBlock:
        if not block.holonomic:
            return block
        lookups, phi = self.lookups, block.phi
        rate = lookups.jtimes(phi, self.q, self.v) + lookups.jacobian(phi, self.t)
        return replace(block, rate=ca.densify(rate))

    # -- dynamics --------------------------------------------------------------------------------------

    @cached_property
    def _loads(self) -> PointLoads:
        loads = PointLoads(self.motion)
        self._apply(loads)
        return loads

    @cached_property
    def _inertias(self) -> dict[str, SX]:
        """E (4, 4) of each moving group."""
        frames = self.motion.basis.frames
        return {
            name: _second_moments(frame, frame.group.inertia(self.model)) for name, frame in frames.items()
        }

    @cached_property
    def mass_matrix(self) -> SX:
        M = SX(self.nv, self.nv)
        for name, frame in self.motion.basis.frames.items():
            B = ca.sparsify(ca.jacobian(_columns(frame), self.q))
            M = M + B.T @ ca.kron(self._inertias[name], SX.eye(3)) @ B
        return ca.densify(M)

    def inverse_dynamics(self, a: SX) -> SX:
        motion, total = self.motion, SX.zeros(self.nv)
        for name, frame in motion.basis.frames.items():
            Y, E = _columns(frame), self._inertias[name]
            acceleration = ca.reshape(motion.second_rate(motion.rate(Y), a), 3, 4)
            forces = acceleration @ E - self.gravity @ E[0, :]
            total = total + ca.jtimes(Y, self.q, ca.vec(forces - self._group_force(frame)), True)
        own = [force for forces in self._loads.auxiliary.values() for force in forces]
        first = self.nv - len(own)
        for i, force in enumerate(own):
            total[first + i] = total[first + i] - force
        return ca.densify(total)

    def _group_force(self, frame: GroupFrame) -> SX:
        """(3, 4): applied forces on r, a1, a2, a3."""
        total = Wrench.zero()
        for body in frame.group.bodies:
            total = total + self._loads.wrenches[body]
        dual = frame.a @ frame.inverse @ frame.inverse.T
        moments = [ca.cross(total.n, dual[:, k]) / 2 for k in range(3)]
        return ca.horzcat(total.f, *moments)

    @cached_property
    def a(self) -> SX:
        if self.elements.friction is not None:
            return self._with_friction(self.elements.friction)
        return self._solution[0] if self.nv else SX.zeros(0, 1)

    @cached_property
    def forward(self) -> Accelerations:
        return self.motion_with(self.a, self.lam)[0]

    def motion_with(self, a: SX, lam: SX) -> tuple[Accelerations, Loads]:
        return Accelerations([a], lambda: ([], self.motion.accelerations(a, self.gravity))), self._loads

    # -- reactions -------------------------------------------------------------------------------------

    @cached_property
    def reaction_parts(self) -> list[tuple[ConstraintBlock, SX]]:
        """Every joint's and constraint's full equations with their multipliers.

        The reactions of joints with a common point or direction follow from the balance of forces and moments
        of each body; where this does not determine them, the smallest ones are used.
        """
        whole = {(b.name, b.kind, b.holonomic): part for b, part in self.by_block(self.lam)}
        found: list[tuple[ConstraintBlock, SX]] = []
        open_blocks: list[ConstraintBlock] = []
        for block in self._stated:
            joint = self.model.joints.get(block.name) if block.kind == "loop" else None
            part = whole.get((block.name, block.kind, block.holonomic))
            if part is not None and not (joint and joint.shared):
                found.append((block, part))
            else:
                open_blocks.append(block)
        if not open_blocks:
            return found
        missing = self._unbalanced(found)
        at = {body: 6 * i for i, body in enumerate(self.model.bodies)}
        rows = []
        for block in open_blocks:
            J = SX(block.rows, 6 * len(at))
            for body, slope in block.bodies.items():
                J[:, at[body] : at[body] + 6] = slope
            rows.append(J)
        J = ca.sparsify(ca.vertcat(*rows))
        _, mu = KktFactor(SX.eye(6 * len(at)), J, RELATIVE, 0.0).solve(-missing, SX.zeros(J.shape[0]))
        first = 0
        for block in open_blocks:
            found.append((block, mu[first : first + block.rows]))
            first += block.rows
        return found

    def _unbalanced(self, known: list[tuple[ConstraintBlock, SX]]) -> SX:
        """(6 bodies,): wrench on each body, about its origin, in its frame, needed in addition to the loads
        and `known`."""
        columns = {}
        motion = self.motion
        for link, X, V, A in zip(motion.links, motion.X_WM, motion.V, self.forward.A, strict=True):
            needed = link.inertia.force(A, V)
            applied = self._loads.wrenches[link.body]
            moment = applied.n + ca.cross(self._loads.about(link.body) - X.p, applied.f)
            columns[link.body] = (needed - Wrench(X.R.T @ moment, X.R.T @ applied.f)).column()
        for block, part in known:
            for body, J in block.bodies.items():
                columns[body] = columns[body] + J.T @ part
        return ca.vertcat(*columns.values())


def _columns(frame: GroupFrame) -> SX:
    """vec Y (12,)."""
    return ca.vertcat(frame.r, ca.vec(frame.a))


def _second_moments(frame: GroupFrame, inertia: RigidInertia) -> SX:
    """E (4, 4): integral of c c^T dm with c = (1, coordinates along a1, a2, a3)."""
    P = ca.trace(inertia.J) / 2 * SX.eye(3) - inertia.J  # integral of x x^T dm
    moments = ca.blockcat([[inertia.m, inertia.h.T], [inertia.h, P]])
    shift = ca.vertcat(
        ca.horzcat(SX(1), SX.zeros(1, 3)), ca.horzcat(-frame.inverse @ frame.r_G, frame.inverse)
    )
    return ca.densify(shift @ moments @ shift.T)
