"""Equations of motion of a model: a tree in joint coordinates, or floating bodies, with constraints if needed."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np

from sekant.formulations import friction, recursive
from sekant.formulations.constrained import ConstrainedEquations
from sekant.formulations.constraints import ConstraintBlock, constraint_blocks
from sekant.formulations.elements import ModelElements
from sekant.formulations.energies import ModelEnergies
from sekant.formulations.initial import ModelStart
from sekant.formulations.kinematics import TreeKinematics
from sekant.formulations.loads import Loads
from sekant.formulations.model_reports import ModelReports
from sekant.formulations.recursive import Accelerations, TreeState
from sekant.formulations.timeline import ModelTimeline
from sekant.formulations.tree import free_layout, tree_layout
from sekant.geometry.spatial import SX, Pose, Twist, Wrench, column, vector
from sekant.model.resolve import PLAIN, Parameter, ResolvedModel

Algorithm = Literal["auto", "articulated", "composite"]
MotionForces = dict[str, tuple[SX, SX]]
"""Generalized force of each prescribed motion, and the power that it supplies."""


class Equations(ConstrainedEquations):
    """M(q) a + G(q, t)^T lam = f(q, v, t), Phi(q, t) = 0, and all other quantities of the motion.

    Formulation "joint": relative coordinates along a spanning tree, loops closed by constraints. "cartesian":
    position and Euler parameters of every body, all joints as constraints. Symbols: `t` (), `q` (nq,),
    `v` (nv,), `z` (nz,), `p` (np,). All expressions may contain lookups of `lookups`.
    """

    motion: TreeKinematics  # pyright: ignore[reportIncompatibleVariableOverride]
    elements: ModelElements  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self,
        resolved: ResolvedModel,
        algorithm: Algorithm = "auto",
        formulation: str = "joint",
        closed: Collection[str] = (),
        regularized: bool = False,
        frozen: bool = False,
    ):
        self.stated_model = resolved
        self.model = resolved.model
        self.formulation = formulation
        self.motion = self._kinematics()
        self.lookups = self.motion.lookups
        self.elements = ModelElements(self, closed, regularized, frozen)
        self.constraints: list[ConstraintBlock] = self._blocks()
        self.algorithm = "constrained" if self.constraints else _choose(algorithm, self.motion)
        if self.motion.grouped and not self.constraints:
            self.algorithm = "composite"

    def changed(
        self,
        *,
        closed: Collection[str] | None = None,
        regularized: bool | None = None,
        frozen: bool | None = None,
    ) -> Equations:
        had = self.elements
        return type(self)(
            self.stated_model,
            "auto",
            self.formulation,
            had.closed if closed is None else closed,
            had.regularized if regularized is None else regularized,
            had.frozen if frozen is None else frozen,
        )

    def copied(self, **known: Any) -> Equations:
        """A copy of these equations; `known` results of the elements are reused."""
        found = copy(self)
        for group in ("energies", "start", "timeline", "reports"):
            vars(found).pop(group, None)
        found.elements = self.elements.of(found, **known)
        return found

    def _kinematics(self) -> TreeKinematics:
        floating = self.formulation == "cartesian"
        layout = free_layout(self.model) if floating else tree_layout(self.model)
        return TreeKinematics(self.stated_model, layout)

    def _blocks(self) -> list[ConstraintBlock]:
        return constraint_blocks(self.motion, self.elements.closed)

    def differentiated(self, block: ConstraintBlock) -> ConstraintBlock:
        """The block with its rate and drift in these coordinates."""
        return block

    @cached_property
    def resolved(self) -> ResolvedModel:
        symbols, start = self.elements.frozen_states
        if not symbols.numel():
            return self.stated_model
        stated = self.stated_model
        values = self.lookups.oracle("states", [stated.p], [start])(stated.defaults)
        names = self.elements.frozen_rates
        more = [
            Parameter(name, np.array([x])) for name, x in zip(names, np.array(values).ravel(), strict=True)
        ]
        return replace(stated, parameters=(*stated.parameters, *more), p=ca.vertcat(stated.p, symbols))

    @cached_property
    def energies(self) -> ModelEnergies:
        return ModelEnergies(self)

    @cached_property
    def start(self) -> ModelStart:
        return ModelStart(self)

    @cached_property
    def timeline(self) -> ModelTimeline:
        return ModelTimeline(self)

    @cached_property
    def reports(self) -> ModelReports:
        return ModelReports(self)

    @cached_property
    def gravity(self) -> SX:
        """(3,) m/s^2, in W."""
        return vector(self.model.gravity)

    @cached_property
    def _loads(self) -> Loads:
        """Applied forces of all elements, assigned to links and coordinates."""
        loads = Loads(self.motion)
        self._apply(loads)
        return loads

    def _apply(self, loads: Loads, lean: bool = False) -> None:
        for action in self.elements.actions.values():
            within = action.within if lean else ()
            for joint, k, force in within:
                loads.drive(joint, k, force)
            for w in () if within else action.wrenches:
                loads.push(w.body, w.p, w.f, w.n, w.when)
            for joint, k, force in action.generalized:
                loads.drive(joint, k, force)

    def _tree_under(self, loads: Loads) -> TreeState:
        motion = self.motion
        return TreeState(
            parents=[link.parent for link in motion.links],
            X_PM=motion.X_PM,
            S=[S[:, free] for S, free in zip(motion.S, motion.free, strict=True)],
            V=motion.V,
            zeta=motion.zeta,
            inertia=[link.inertia for link in motion.links],
            F=loads.F,
            tau=[
                column([forces[k] for k in free]) for forces, free in zip(loads.tau, motion.free, strict=True)
            ],
            A0=Twist(SX.zeros(3), -self.gravity),
            locked=self._locked_columns,
            rotors=motion.rotors,
        )

    @property
    def _locked_columns(self) -> list[SX | None] | None:
        """For each link, the flags of the sticking coordinates that the recursion locks."""
        lock: SX | None = vars(self).get("_lock")
        if lock is None:
            return None
        columns = [self.motion.free_columns(i) for i in range(len(self.motion.links))]
        return [lock[free] if free and not lock[free].is_zero() else None for free in columns]

    @property
    def joint_forces(self) -> list[SX]:
        """Applied generalized forces of each link's joint (nv of it,), driven coordinates included."""
        return [column(forces) for forces in self._loads.tau]

    @cached_property
    def tree(self) -> TreeState:
        return self._tree_under(self._loads)

    @cached_property
    def _lean_tree(self) -> TreeState:
        """The tree with the same accelerations and fewer wrenches; see `Action.within`.

        If a link moves relative to the ground by a single coordinate, V = S v, its gyroscopic wrench V x* (I V) does
        no work along S and occurs only in the joint's reaction.
        """
        tree = self.tree
        if any(action.within for action in self.elements.actions.values()):
            loads = Loads(self.motion)
            self._apply(loads, lean=True)
            tree = self._tree_under(loads)
        alone = [link.parent < 0 and link.joint.nv == 1 for link in self.motion.links]
        return replace(tree, V=[Twist.zero() if one else V for one, V in zip(alone, tree.V, strict=True)])

    @cached_property
    def forward(self) -> Accelerations:
        """Forward dynamics by the chosen algorithm."""
        if self.constraints:
            return self._constrained[0]
        return self._grouped[1] if self.motion.grouped else self.forward_by(self.algorithm)

    @cached_property
    def _grouped(self) -> tuple[SX, Accelerations]:
        """For joints that share coordinates: a (nv,) from T^T M T a = T^T f, and the accelerations of all links."""
        a = recursive.solve_symmetric(self.mass_matrix, self.f)
        return a, self.motion_with(a, SX.zeros(0, 1))[0]

    def _parts(self, a: SX) -> list[SX]:
        """Split accelerations `a` (nv,) into the columns of each link's joint."""
        return [a[self.motion.free_columns(i)] for i in range(len(self.motion.links))]

    @cached_property
    def _sharing(self) -> SX:
        """T (columns of all links, free coordinates of the tree): links of a group have the same coordinate."""
        index = [k for i in range(len(self.motion.links)) for k in self.motion.free_columns(i)]
        T = SX(len(index), self.motion.tree_nv)
        for row, k in enumerate(index):
            T[row, k] = 1
        return T

    def forward_by(self, algorithm: str) -> Accelerations:
        """Forward dynamics of the tree alone."""
        solve = recursive.articulated_body if algorithm == "articulated" else recursive.composite_body
        a = solve(self._lean_tree)
        return Accelerations(a, lambda: recursive.inverse_dynamics(self.tree, a))

    @cached_property
    def a(self) -> SX:
        """(nv,) accelerations of the free coordinates, auxiliary parameters last."""
        if self.elements.friction is not None:
            return self._with_friction(self.elements.friction)
        if self.constraints:
            return self._solution[0]
        return self._grouped[0] if self.motion.grouped else column(self.forward.a)

    def _with_friction(self, solved: friction.Solved) -> SX:
        """a (nv,) at the forces of friction; that of a sticking coordinate is exactly zero."""
        of_forces = vars(self)["a_of_forces"]
        a = self.lookups.substitute(of_forces, solved.symbols, solved.values)
        if solved.contacts:  # while all contacts are open, nothing of them is computed
            opened = ca.vertcat(*[one.symbols for one in solved.contacts])
            flying = self.lookups.substitute(of_forces, opened, SX.zeros(opened.numel()))
            flying = self.lookups.substitute(flying, solved.symbols, solved.values)
            a = ca.if_else(solved.touching, a, flying)
        return a if self.elements.regularized else (1 - friction.locked(solved, self.v)) * a

    # -- constraints -----------------------------------------------------------------------------------

    @cached_property
    def _constrained(self) -> tuple[Accelerations, Loads]:
        return self.motion_with(*self._solution)

    def motion_with(self, a: SX, lam: SX) -> tuple[Accelerations, Loads]:
        """Accelerations and wrenches in all joints for given a (nv,) and lam (m,), and all forces that act."""
        parts = self._parts(a)
        loads = self._loads.plus(self.reaction_loads(lam)) if self.constraints else self._loads
        held = self._tree_under(loads)
        return Accelerations(parts, lambda: recursive.inverse_dynamics(held, parts)), loads

    def reaction_loads(self, lam: SX) -> Loads:
        """Forces of all constraints on links and coordinates for multipliers `lam` (m,)."""
        loads = Loads(self.motion)
        for block, part in self.by_block(lam):
            for body, J in block.bodies.items():
                wrench = -(J.T @ part)
                loads.push_link(body, Wrench(wrench[:3], wrench[3:]))
            for (owner, k), J in block.coordinates.items():
                loads.drive(owner, k, -ca.dot(J, part))
        return loads

    @cached_property
    def reaction_parts(self) -> list[tuple[ConstraintBlock, SX]]:
        """The equations of every cut joint and constraint, with their multipliers."""
        return list(self.by_block(self.lam))

    def transmitted(self, joint: str) -> tuple[SX, SX]:
        """Force (3,) and moment (3,) about M's origin, in W, that a cut joint transmits to its child.

        As in a joint of the tree, it includes constraint forces and the forces along its coordinates: springs,
        prescribed motions, couplings.
        """
        F_end, M_end = self.motion.joint_ends(joint)
        side, sign = (F_end.body, -1) if M_end.body == "ground" else (M_end.body, 1)
        found = self._loads.through.get(joint, Wrench.zero())  # about M's origin, in W
        for block, part in self.reaction_parts:
            if block.name == joint and side in block.bodies:
                found = found + self._at(M_end.p, side, -sign * (block.bodies[side].T @ part))
            if joint in block.through:
                found = found + self._at(M_end.p, M_end.body, -(block.through[joint].T @ part))
        return found.f, found.n

    def _at(self, p: SX, body: str, wrench: SX) -> Wrench:
        """A wrench (6,) on the link of a body, in its frame, about the point p (3,) in W, in W."""
        X = Pose.identity() if body == "ground" else self.motion.X_WM[self.motion.link_index[body]]
        f = X.R @ wrench[3:]
        return Wrench(X.R @ wrench[:3] + ca.cross(X.p - p, f), f)

    # -- dynamics --------------------------------------------------------------------------------------

    @cached_property
    def mass_matrix(self) -> SX:
        """(nv, nv), complete; auxiliary parameters have no mass."""
        tree = ca.tril2symm(ca.tril(recursive.mass_matrix(self.tree)))
        if self.motion.grouped:
            tree = self._sharing.T @ tree @ self._sharing
        extra = self.nv - tree.shape[0]
        return ca.densify(ca.diagcat(tree, SX.zeros(extra, extra)) if extra else tree)

    def inverse_dynamics(self, a: SX) -> SX:
        """(nv,) generalized forces that must act, in addition to those of the model, for accelerations `a` (nv,)."""
        tree = self._lean_tree
        F, _ = recursive.inverse_dynamics(tree, self._parts(a))
        forces = [S.T @ f.column() - tau for S, f, tau in zip(tree.S, F, tree.tau, strict=True) if S.shape[1]]
        if self.motion.grouped:
            forces = [self._sharing.T @ column(forces)]
        own = [-force for forces in self._loads.auxiliary.values() for force in forces]
        return column([*forces, *own])

    @cached_property
    def motion_forces(self) -> MotionForces:
        """Generalized force that each prescribed motion exerts, and the power it supplies."""
        loads = self._constrained[1] if self.constraints else self._loads
        return self.motion_forces_with(self.forward, loads, self.lam)

    def motion_forces_with(self, forward: Accelerations, loads: Loads, lam: SX) -> MotionForces:
        """The same for given accelerations, loads and multipliers."""
        found = {}
        for i, link in enumerate(self.motion.links):
            for k in range(link.joint.nv):
                name = self.motion.driven.get(link.v.start + k)
                if name is not None:
                    f = forward.F_joint[i].column()
                    force = ca.dot(self.motion.S[i][:, k], f) - loads.tau[i][k]
                    before = found.get(name, (SX(0), SX(0)))  # of other joints that share the coordinate
                    power = force * self.motion.v_all[link.v.start + k]
                    found[name] = (before[0] + force, before[1] + power)
        for block, part in self.by_block(lam):
            if block.kind == "motion":
                prescribed = self.model.motions[block.name]
                rate = self.motion.coordinate(prescribed.joint, prescribed.coordinate)[1]
                found[block.name] = (-part, -part * rate)
        return found

    @cached_property
    def momentum(self) -> tuple[SX, SX]:
        """Linear (3,) kg m/s and angular (3,) kg m^2/s momentum about W's origin, in W."""
        linear, angular = SX.zeros(3), SX.zeros(3)
        for link, X_WM, V in zip(self.motion.links, self.motion.X_WM, self.motion.V, strict=True):
            h = X_WM.wrench_to_parent(link.inertia * V)
            linear, angular = linear + h.f, angular + h.n
        return linear, angular


def _choose(algorithm: Algorithm, motion: TreeKinematics) -> str:
    """Choose the algorithm: composite bodies are faster for shallow trees, articulated bodies for deep ones (see
    benchmarks/dynamics_vehicle).

    In measurements, both are equally fast for chains of 8 to 10 hinges. If the masses are known, the composite
    inertia behind sliders is a number, which raises the limit.
    """
    if algorithm != "auto":
        return algorithm
    depth: list[int] = []
    for link, free in zip(motion.links, motion.free, strict=True):
        depth.append(len(free) + (depth[link.parent] if link.parent >= 0 else 0))
    masses = ca.SX(ca.veccat(*(part for link in motion.links for part in (link.inertia.m, link.inertia.J))))
    known = all(symbol.name().startswith(PLAIN) for symbol in ca.symvar(masses))
    return "composite" if max(depth, default=0) <= (9 if known else 7) else "articulated"
