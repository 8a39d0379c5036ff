"""Additions of signals and force elements to the equations: states, held values and events, contacts, dry
friction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sekant.errors import ModelError
from sekant.formulations import friction, locked_tree
from sekant.formulations.constraints import ConstraintBlock, contact_blocks
from sekant.formulations.sign_laws import refuse_signs
from sekant.geometry.spatial import SX, column
from sekant.model.motion import Action, ContactForces, Delayed, Event, HeldValue, Sampled

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations


_NONE = SX.zeros(0, 1)


class Elements:
    """The elements of a mechanism; this base class has none. Expressions are of t, q, v, z, p."""

    z: SX = _NONE
    rates: SX = _NONE
    start: SX = _NONE
    names: Sequence[str] = ()
    """states (nz,), their rates, their start values as expressions of p, and ``owner.part`` of each"""
    frozen_rates: Mapping[str, SX] = {}
    """rates of the states that are run-time parameters here"""
    held_values: Sequence[HeldValue] = ()
    """the last entries of p, in order"""
    events: Sequence[Event] = ()
    """events, which set held values and states where a function crosses zero"""
    sampled: Sequence[Sampled] = ()
    """held values that are set at given times"""
    delayed: Sequence[Delayed] = ()
    """quantities that are delayed"""
    actions: Mapping[str, Action] = {}
    """the action of each force element, and of each joint with its own springs"""
    stated_actions: Mapping[str, Action] = {}
    """the same with symbols for the forces of dry friction and contacts"""
    passive: bool = True
    """whether only inertia, gravity and constraints act"""
    closed: frozenset[str] = frozenset()
    """contacts that stay closed"""
    contacts: Mapping[str, ConstraintBlock] = {}
    """the gap of every contact and its rate, closed or not"""
    regularized: bool = False
    """whether dry friction follows a smooth law, for methods without events"""
    friction: Any = None
    """forces of dry friction and rigid contacts, see `sekant.formulations.friction.Solved`; None: there are none"""
    locked: SX | None = None
    """(nv,): 1 for velocities that dry friction keeps at zero, 0 for the others; None if there are none"""

    @property
    def dry_friction(self) -> bool:
        """Whether joints may stick."""
        return self.friction is not None and bool(self.friction.frictions)


class ModelElements(Elements):
    """The elements of a model with bodies and joints."""

    def __init__(self, eq: Equations, closed: Collection[str], regularized: bool, frozen: bool):
        self._eq, self._motion, self._model = eq, eq.motion, eq.model
        self.closed, self.regularized, self.frozen = frozenset(closed), regularized, frozen

    def of(self, eq: Equations, **known: Any) -> ModelElements:
        """These elements for a copy of the equations; `known` parts are reused."""
        found = ModelElements(eq, self.closed, self.regularized, self.frozen)
        vars(found).update(known)
        return found

    # -- states ----------------------------------------------------------------------------------------

    @cached_property
    def _rates_by_owner(self) -> dict[tuple[str, str], SX]:
        """Rates of the states of all signals and force elements, by (owner, name of the state).

        States and held values of signals (in the order of `Kinematics.signal`) come before those of force elements,
        independently of the order in which they are used.
        """
        motion, found = self._motion, {}
        for name in self._model.signals:
            motion.signal(name)
        for name, action in self.actions.items():
            found.update({(name, part): rate for part, rate in action.rates.items()})
        for name, signal in self._model.signals.items():
            found.update({(name, part): rate for part, rate in signal.rates(name, motion).items()})
        missing = [f"{owner}.{part}" for owner, part in motion.states if (owner, part) not in found]
        if missing:
            raise ModelError(f"every state needs a rate; no rate is given for {', '.join(missing)}")
        place = {owner: i for i, owner in enumerate(self.actions, start=1)}
        for known in (motion.states, motion.held_values):
            entries = sorted(known.items(), key=lambda entry: place.get(entry[0][0], 0))
            known.clear()
            known.update(entries)  # pyright: ignore[reportCallIssue, reportArgumentType]
        return found

    @cached_property
    def _rates(self) -> dict[str, SX]:
        rates = self._rates_by_owner
        return {f"{owner}.{part}": SX(rates[owner, part]) for owner, part in self._motion.states}

    @cached_property
    def _states(self) -> tuple[SX, SX]:
        """Symbols (n,), and start values as expressions of p."""
        _ = self._rates_by_owner
        states = self._motion.states.values()
        return column([state.symbol for state in states]), column([state.start for state in states])

    @property
    def z(self) -> SX:
        return _NONE if self.frozen else self._states[0]

    @cached_property
    def rates(self) -> SX:
        return _NONE if self.frozen else column(list(self._rates.values()))

    @property
    def start(self) -> SX:
        return _NONE if self.frozen else self._states[1]

    @property
    def names(self) -> Sequence[str]:
        return [] if self.frozen else list(self._rates)

    @property
    def frozen_rates(self) -> Mapping[str, SX]:
        return self._rates if self.frozen else {}

    @property
    def frozen_states(self) -> tuple[SX, SX]:
        """Symbols and start values of the states that are run-time parameters."""
        return self._states if self.frozen else (_NONE, _NONE)

    # -- what changes at events ------------------------------------------------------------------------

    @cached_property
    def held_values(self) -> Sequence[HeldValue]:
        _ = self._rates_by_owner
        return tuple(self._motion.held_values.values())

    @cached_property
    def events(self) -> Sequence[Event]:
        own = [one for name, signal in self._signals for one in signal.events(name, self._motion)]
        return (*own, *(event for action in self.actions.values() for event in action.events))

    @cached_property
    def sampled(self) -> Sequence[Sampled]:
        return tuple(one for name, signal in self._signals for one in signal.samples(name, self._motion))

    @cached_property
    def delayed(self) -> Sequence[Delayed]:
        return tuple(one for name, signal in self._signals for one in signal.delays(name, self._motion))

    @property
    def _signals(self) -> list[tuple[str, Any]]:
        _ = self._rates_by_owner
        return list(self._model.signals.items())

    # -- forces ----------------------------------------------------------------------------------------

    @cached_property
    def actions(self) -> Mapping[str, Action]:
        stated = self.stated_actions
        refuse_signs(stated, self._eq)
        solved = self.friction
        return stated if solved is None else friction.completed(stated, solved, self._eq.lookups)

    @property
    def passive(self) -> bool:
        return not self.actions

    @cached_property
    def stated_actions(self) -> Mapping[str, Action]:
        motion, model = self._motion, self._model
        actions = {name: force.action(motion) for name, force in model.forces.items()}
        for name, joint in model.joints.items():
            inner = joint.action(name, motion)
            if inner is not None:
                actions[name] = inner
        for name, contact in model.contacts.items():
            action = contact.action(name, motion)
            actions[name] = Action() if name in self.closed else action
        return actions

    @cached_property
    def friction(self) -> friction.Solved | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        stated = self.stated_actions.values()
        found = [action.friction for action in stated if action.friction is not None]
        contacts = [action.contact for action in stated if action.contact is not None]
        if not found and not contacts:
            return None
        if not contacts and not self.regularized and locked_tree.suits(self._eq, found):
            return locked_tree.solve(self._eq, found)
        # the same motion, but the forces of friction are symbols
        probe = self._eq.copied(actions=self.stated_actions, friction=None)
        solved = friction.solve(probe, found, contacts, not self.regularized)
        shared = ("mass_matrix", *(("kkt", "G", "gamma", "rate") if self._eq.constraints else ()))
        vars(self._eq).update({name: getattr(probe, name) for name in shared}, a_of_forces=probe.a)
        return solved

    @cached_property
    def locked(self) -> SX | None:
        if self.friction is None or self.regularized or self._eq.constraints:
            return None
        return friction.locked(self.friction, self._eq.v)

    # -- contacts --------------------------------------------------------------------------------------

    @cached_property
    def contacts(self) -> Mapping[str, ConstraintBlock]:
        return {name: self._eq.differentiated(b) for name, b in contact_blocks(self._motion).items()}

    def contact_force(self, name: str) -> SX:
        """Normal force (N, or N m at the stop of a hinge) of a contact; zero unless it is closed."""
        if name in self.closed or self.friction is None:
            return -self._eq.multipliers[name]
        return self.friction.force[self.friction.place(name)]

    def stated_contact(self, name: str) -> ContactForces | None:
        """Symbols and held values of a contact."""
        return self.stated_actions[name].contact
