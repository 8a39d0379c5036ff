"""Equations of motion of a model: a tree in joint coordinates, or floating bodies, with constraints if any."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.formulations import friction, locked_tree, model_answers, recursive
from sekant.formulations.constrained import ConstrainedEquations, column
from sekant.formulations.constraints import ConstraintBlock, constraint_blocks, contact_blocks
from sekant.formulations.contract import Inventory
from sekant.formulations.initial import initial_state
from sekant.formulations.kinematics import TreeKinematics
from sekant.formulations.loads import Loads
from sekant.formulations.outputs import Output, model_outputs
from sekant.formulations.recursive import Accelerations, TreeState
from sekant.formulations.scene import Scene, model_scene
from sekant.formulations.sign_laws import refuse_signs
from sekant.formulations.tree import free_layout, tree_layout
from sekant.geometry.spatial import SX, Twist, Wrench, vector
from sekant.model.motion import Action, ContactForces, Delayed, Event, HeldValue, Sampled
from sekant.model.quantities import Description
from sekant.model.resolve import Parameter, ResolvedModel
from sekant.tables.table import Table

Floats = NDArray[np.float64]
Algorithm = Literal["auto", "articulated", "composite"]


class Equations(ConstrainedEquations):
    """M(q) a + G(q, t)^T lam = f(q, v, t), Phi(q, t) = 0, and everything else that is known of the motion.

    Formulation "joint": relative coordinates along a spanning tree, loops closed by constraints. "cartesian":
    position and Euler parameters of every body, all joints as constraints. Symbols: `t` (), `q` (nq,),
    `v` (nv,), `z` (nz,), `p` (np,). All expressions may contain lookups of `lookups`.
    """

    def __init__(
        self,
        resolved: ResolvedModel,
        algorithm: Algorithm = "auto",
        formulation: str = "joint",
        closed: Collection[str] = (),
        regularized: bool = False,
        frozen: bool = False,
    ):
        self.resolved = resolved
        self.regularized = regularized  # dry friction by a smooth law, for methods without events
        self.is_frozen = frozen  # states of elements are parameters
        self.closed = frozenset(closed)  # contacts that are closed and stay so
        self.model = resolved.model
        self.formulation = formulation
        self.motion = self._kinematics()
        self.lookups = self.motion.lookups
        self.t, self.q, self.v = self.motion.t, self.motion.q, self.motion.v
        self.qdot = self.motion.qdot
        self.constraints: list[ConstraintBlock] = self._blocks()
        self.algorithm = "constrained" if self.constraints else _choose(algorithm, self.motion)
        if self.motion.grouped and not self.constraints:
            self.algorithm = "composite"

    def holding(self, closed: Collection[str]) -> Equations:
        """The same equations with the contacts `closed` closed."""
        return self._variant(closed=closed)

    def smoothed(self) -> Equations:
        """The same equations with dry friction by its regularized law."""
        return self._variant(regularized=True)

    def frozen(self) -> Equations:
        return self._variant(frozen=True)

    def _variant(self, **changed: Any) -> Equations:
        given = {"closed": self.closed, "regularized": self.regularized, "frozen": self.is_frozen}
        return Equations(self.resolved, "auto", self.formulation, **given | changed)

    def _kinematics(self) -> TreeKinematics:
        floating = self.formulation == "cartesian"
        return TreeKinematics(self.resolved, free_layout(self.model) if floating else tree_layout(self.model))

    def _blocks(self) -> list[ConstraintBlock]:
        return constraint_blocks(self.motion, self.closed)

    @cached_property
    def gravity(self) -> SX:
        """(3,) m/s^2, in W."""
        return vector(self.model.gravity)

    @cached_property
    def actions(self) -> dict[str, Action]:
        """What each force element, and each joint with springs of its own, does; by name."""
        stated = self.stated_actions
        refuse_signs(stated, self)
        solved = self.friction
        return stated if solved is None else friction.completed(stated, solved, self.lookups)

    @cached_property
    def friction(self) -> friction.Solved | None:
        """Forces of dry friction and rigid contacts, and what decides on them; None where there are none."""
        stated = self.stated_actions.values()
        found = [action.friction for action in stated if action.friction is not None]
        contacts = [action.contact for action in stated if action.contact is not None]
        if not found and not contacts:
            return None
        if not contacts and not self.regularized and locked_tree.suits(self, found):
            return locked_tree.solve(self, found)
        probe = copy(self)  # the same motion, but the forces of friction are symbols
        vars(probe).update(actions=self.stated_actions, friction=None)
        solved = friction.solve(probe, found, contacts, not self.regularized)
        shared = ("mass_matrix", *(("kkt", "G", "gamma", "rate") if self.constraints else ()))
        vars(self).update({name: getattr(probe, name) for name in shared})
        vars(self)["_a_of_forces"] = probe.a
        return solved

    @cached_property
    def stated_actions(self) -> dict[str, Action]:
        """The actions with symbols for the forces of dry friction."""
        actions = {name: force.action(self.motion) for name, force in self.model.forces.items()}
        for name, joint in self.model.joints.items():
            inner = joint.action(name, self.motion)
            if inner is not None:
                actions[name] = inner
        for name, contact in self.model.contacts.items():
            action = contact.action(name, self.motion)
            actions[name] = Action() if name in self.closed else action
        return actions

    @cached_property
    def _element_rates(self) -> dict[tuple[str, str], SX]:
        """Rates of the states of all signals and force elements, by (owner, name of the state)."""
        motion, found = self.motion, {}
        for name in self.model.signals:
            motion.signal(name)
        for name, action in self.actions.items():
            found.update({(name, part): rate for part, rate in action.rates.items()})
        for name, signal in self.model.signals.items():
            found.update({(name, part): rate for part, rate in signal.rates(name, motion).items()})
        missing = [f"{owner}.{part}" for owner, part in motion.states if (owner, part) not in found]
        if missing:
            raise ModelError(f"states without rates: {', '.join(missing)}")
        return found

    @cached_property
    def z(self) -> SX:
        """(nz,) states of signals and force elements."""
        return SX.zeros(0, 1) if self.is_frozen else self._states

    @cached_property
    def zdot(self) -> SX:
        """(nz,) their rates, expressions of t, q, v, z, p."""
        return SX.zeros(0, 1) if self.is_frozen else column(list(self._state_rates.values()))

    @cached_property
    def z_start(self) -> SX:
        """(nz,) their start values, expressions of p."""
        return SX.zeros(0, 1) if self.is_frozen else self._state_starts

    @property
    def z_names(self) -> list[str]:
        """``owner.part`` of every state in z."""
        return [] if self.is_frozen else list(self._state_rates)

    @cached_property
    def _state_rates(self) -> dict[str, SX]:
        rates = self._element_rates
        return {f"{owner}.{part}": SX(rates[owner, part]) for owner, part in self.motion.states}

    @cached_property
    def _states(self) -> SX:
        _ = self._element_rates
        return column([state.symbol for state in self.motion.states.values()])

    @cached_property
    def _state_starts(self) -> SX:
        _ = self._element_rates
        return column([state.start for state in self.motion.states.values()])

    @property
    def frozen_rates(self) -> Mapping[str, SX]:
        return self._state_rates if self.is_frozen else {}

    @cached_property
    def held_values(self) -> tuple[HeldValue, ...]:
        """What elements hold between events; behind the parameters in p."""
        _ = self._element_rates
        return tuple(self.motion.held_values.values())

    @cached_property
    def p(self) -> SX:
        """(np,) run-time parameters, then held values."""
        states = [self._states] if self.is_frozen else []
        return column([self.motion.p, *states, *(value.symbol for value in self.held_values)])

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Of signals and force elements."""
        _ = self._element_rates
        own = [
            event for name, signal in self.model.signals.items() for event in signal.events(name, self.motion)
        ]
        return (*own, *(event for action in self.actions.values() for event in action.events))

    @cached_property
    def sampled(self) -> tuple[Sampled, ...]:
        """Held values that are set at given times."""
        _ = self._element_rates
        return tuple(
            one for name, signal in self.model.signals.items() for one in signal.samples(name, self.motion)
        )

    @cached_property
    def delayed(self) -> tuple[Delayed, ...]:
        """Quantities that signals take up later."""
        _ = self._element_rates
        return tuple(
            one for name, signal in self.model.signals.items() for one in signal.delays(name, self.motion)
        )

    @cached_property
    def _loads(self) -> Loads:
        """Applied forces of all elements, sorted onto links and coordinates."""
        loads = Loads(self.motion)
        self._apply(loads)
        return loads

    def _apply(self, loads: Loads) -> None:
        for action in self.actions.values():
            for w in action.wrenches:
                loads.push(w.body, w.p, w.f, w.n)
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
        )

    @property
    def _locked_columns(self) -> list[SX | None] | None:
        """By link, the flags of coordinates that stick, where the recursion itself holds them."""
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
    def forward(self) -> Accelerations:
        """Forward dynamics by the chosen algorithm."""
        if self.constraints:
            return self._constrained[0]
        return self._grouped[1] if self.motion.grouped else self.forward_by(self.algorithm)

    @cached_property
    def _grouped(self) -> tuple[SX, Accelerations]:
        """Where joints share coordinates: a (nv,) from T^T M T a = T^T f, and the accelerations of all links."""
        a = recursive.solve_symmetric(self.mass_matrix, self.f)
        return a, self.motion_with(a, SX.zeros(0, 1))[0]

    def _parts(self, a: SX) -> list[SX]:
        """Accelerations `a` (nv,) by the columns of each link's joint."""
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
        return solve(self.tree)

    @cached_property
    def a(self) -> SX:
        """(nv,) accelerations of the free coordinates, auxiliary parameters last."""
        if self.friction is not None:
            return self._with_friction(self.friction)
        if self.constraints:
            return self._solution[0]
        return self._grouped[0] if self.motion.grouped else column(self.forward.a)

    def _with_friction(self, solved: friction.Solved) -> SX:
        """a (nv,) at the forces of friction; that of a coordinate that sticks is zero and not a difference."""
        a = self.lookups.substitute(vars(self)["_a_of_forces"], solved.symbols, solved.values)
        return a if self.regularized else (1 - friction.locked(solved, self.v)) * a

    @cached_property
    def locked(self) -> SX | None:
        """(nv,): 1 for velocities that friction holds at zero, 0 for the others; None where that is never so."""
        if self.friction is None or self.regularized or self.constraints:
            return None
        return friction.locked(self.friction, self.v)

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

    @cached_property
    def contacts(self) -> dict[str, ConstraintBlock]:
        """The gap of every contact and its rate, whether it is closed or not."""
        return contact_blocks(self.motion)

    def contact_force(self, name: str) -> SX:
        """Normal force (N, or N m at the stop of a hinge) of a contact; zero unless it is closed."""
        if name in self.closed or self.friction is None:
            return -self.multipliers[name]
        return self.friction.force[self.friction.place(name)]

    def stated_contact(self, name: str) -> ContactForces | None:
        """Symbols and held values of a contact."""
        return self.stated_actions[name].contact

    def reaction_loads(self, lam: SX) -> Loads:
        """Forces of all constraints on links and coordinates for multipliers `lam` (m,)."""
        loads = Loads(self.motion)
        for block, part in self._by_block(lam):
            for body, J in block.bodies.items():
                wrench = -(J.T @ part)  # about W's origin
                loads.push(body, SX.zeros(3), wrench[3:], wrench[:3])
            for (owner, k), J in block.coordinates.items():
                loads.drive(owner, k, -ca.dot(J, part))
        return loads

    @cached_property
    def reaction_parts(self) -> list[tuple[ConstraintBlock, SX]]:
        """The equations of every cut joint and constraint, with their multipliers."""
        return list(self._by_block(self.lam))

    def transmitted(self, joint: str) -> tuple[SX, SX]:
        """Force (3,) and moment (3,) about M's origin, in W, that a cut joint transmits to its child.

        It holds, as in a joint of the tree, what its constraints carry and what acts along its coordinates:
        springs, drivers, couplings.
        """
        F_end, M_end = self.motion.joint_ends(joint)
        side, sign = (F_end.body, -1) if M_end.body == "ground" else (M_end.body, 1)
        wrench = SX.zeros(6)  # about W's origin
        for block, part in self.reaction_parts:
            if block.name == joint and side in block.bodies:
                wrench = wrench - sign * (block.bodies[side].T @ part)
            if joint in block.through:
                wrench = wrench - block.through[joint].T @ part
        along = self._loads.through.get(joint, Wrench.zero())
        return wrench[3:] + along.f, wrench[:3] - ca.cross(M_end.p, wrench[3:]) + along.n

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
        """(nv,) generalized forces that must act besides the model's own for accelerations `a` (nv,)."""
        tree = self.tree
        F, _ = recursive.inverse_dynamics(tree, self._parts(a))
        forces = [S.T @ f.column() - tau for S, f, tau in zip(tree.S, F, tree.tau, strict=True) if S.shape[1]]
        if self.motion.grouped:
            forces = [self._sharing.T @ column(forces)]
        own = [-force for forces in self._loads.auxiliary.values() for force in forces]
        return column([*forces, *own])

    @cached_property
    def driver_forces(self) -> dict[str, tuple[SX, SX]]:
        """Generalized force that each driver exerts, and the power it supplies."""
        loads = self._constrained[1] if self.constraints else self._loads
        return self._driver_forces(self.forward, loads, self.lam)

    def _driver_forces(self, forward: Accelerations, loads: Loads, lam: SX) -> dict[str, tuple[SX, SX]]:
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
        for block, part in self._by_block(lam):
            if block.kind == "driver":
                driver = self.model.drivers[block.name]
                rate = self.motion.coordinate(driver.joint, driver.coordinate)[1]
                found[block.name] = (-part, -part * rate)
        return found

    @cached_property
    def kinetic_energy(self) -> SX:
        links, V = self.motion.links, self.motion.V
        return _sum([link.inertia.kinetic_energy(twist) for link, twist in zip(links, V, strict=True)])

    @cached_property
    def potential_energy(self) -> SX:
        """Of gravity (zero with every center of mass at W's origin) and of all springs."""
        energies = [SX(action.potential) for action in self.actions.values()]
        for link, X_WM in zip(self.motion.links, self.motion.X_WM, strict=True):
            moment = link.inertia.m * X_WM.p + X_WM.R @ link.inertia.h
            energies.append(-ca.dot(self.gravity, moment))
        return _sum(energies)

    @cached_property
    def powers(self) -> dict[str, SX]:
        """Power that each non-conservative element supplies to the bodies, by name (drivers included)."""
        return self._powers(self.driver_forces, self.lam)

    def powers_with(self, a: SX, lam: SX) -> dict[str, SX]:
        """The same as `powers`, for given accelerations a (nv,) and multipliers lam (m,)."""
        forward, loads = self.motion_with(a, lam)
        return self._powers(self._driver_forces(forward, loads, lam), lam)

    def _powers(self, drivers: dict[str, tuple[SX, SX]], lam: SX) -> dict[str, SX]:
        powers = {name: action.power for name, action in self.actions.items() if action.power is not None}
        powers.update({name: power for name, (_, power) in drivers.items()})
        for name in self.model.contacts:  # their work is done in impacts, and by friction
            powers.setdefault(name, SX(0))
        for block, part in self._by_block(lam):
            if block.kind != "driver" and not block.drift.is_zero():
                powers[block.name] = powers.get(block.name, SX(0)) + ca.dot(part, block.drift)
        return powers

    # -- what else the contract asks for ---------------------------------------------------------------

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (*self.resolved.parameters, *self._frozen_parameters)

    @cached_property
    def _frozen_parameters(self) -> tuple[Parameter, ...]:
        if not self.is_frozen or not self._states.numel():
            return ()
        start = self.lookups.oracle("states", [self.motion.p], [self._state_starts])
        values = np.array(start(self.resolved.defaults)).ravel()
        return tuple(
            Parameter(name, np.array([value])) for name, value in zip(self._state_rates, values, strict=True)
        )

    @property
    def given_inputs(self) -> Mapping[str, Table]:
        return self.resolved.given

    def _own(self, p: Floats) -> Floats:
        """The run-time parameters among p (np,)."""
        return np.asarray(p, float)[: self.motion.p.numel()]

    def check(self, p: Floats) -> None:
        self.resolved.check(self._own(p))

    @property
    def placed_by_joints(self) -> bool:
        return self.formulation != "joint"

    def state_names(self) -> tuple[list[str], list[str]]:
        return self.motion.state_names()

    def start_weight(self, key: tuple[str, int], velocity: bool) -> float:
        return model_answers.start_weight(self, key, velocity)

    def outputs(self, work: SX) -> tuple[Output, ...]:
        return model_outputs(self, work)

    def timed_items(self) -> list[Description]:
        model = self.model
        collections = (model.forces, model.drivers, model.sensors, model.signals)
        return [item for collection in collections for item in collection.values()]

    def time_stops(self, begin: float, end: float, values: Mapping[str, Any]) -> list[float]:
        return model_answers.time_stops(self, begin, end, values)

    def driver_jump(self, begin: float, end: float, values: Mapping[str, Any], p: Floats) -> str | None:
        return model_answers.driver_jump(self, begin, end, values, p)

    def failure(self, t: float, q: Floats, v: Floats, z: Floats, p: Floats) -> str:
        return model_answers.failure(self, t, q, v, z, p)

    def singularity(self, t: float, q: Floats, v: Floats, p: Floats) -> str:
        return model_answers.singularity(self, t, q, v, p)

    def inventory(self, p: Floats) -> Inventory:
        return model_answers.inventory(self, p)

    def scene(self, p: Floats) -> Scene:
        return model_scene(self.model, self.resolved.p, self._own(p))

    def initial(self) -> tuple[SX, SX]:
        """Start values q0 (nq,), v0 (nv,) that the model describes, as expressions of p; perhaps rough."""
        return initial_state(self)

    @cached_property
    def momentum(self) -> tuple[SX, SX]:
        """Linear (3,) kg m/s and angular (3,) kg m^2/s momentum about W's origin, in W."""
        linear, angular = SX.zeros(3), SX.zeros(3)
        for link, X_WM, V in zip(self.motion.links, self.motion.X_WM, self.motion.V, strict=True):
            h = X_WM.wrench_to_parent(link.inertia * V)
            linear, angular = linear + h.f, angular + h.n
        return linear, angular


def _choose(algorithm: Algorithm, motion: TreeKinematics) -> str:
    """Composite bodies win on shallow trees, articulated bodies on deep ones (see benchmarks/dynamics_vehicle).

    Measured: chains of hinges break even at 8 to 10 degrees of freedom. With the masses known, a composite
    inertia behind sliders folds to numbers, which moves the limit up.
    """
    if algorithm != "auto":
        return algorithm
    depth: list[int] = []
    for link, free in zip(motion.links, motion.free, strict=True):
        depth.append(len(free) + (depth[link.parent] if link.parent >= 0 else 0))
    known = all(link.inertia.m.is_constant() and link.inertia.J.is_constant() for link in motion.links)
    return "composite" if max(depth, default=0) <= (9 if known else 7) else "articulated"


def _sum(entries: list[SX]) -> SX:
    total = SX(0)
    for entry in entries:
        total = total + entry
    return total
