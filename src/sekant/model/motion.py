"""The parts of a moving model that forces, sensors and prescribed motions can use, and the results of forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import casadi as ca

from sekant.geometry.spatial import SX, Pose
from sekant.tables.lookups import Lookups


@dataclass(frozen=True, slots=True)
class FrameState:
    """Motion of a frame relative to the world W."""

    body: str
    X_WF: Pose
    v_WF: SX  # (3,) m/s, velocity of the origin, in W
    w_WF: SX  # (3,) rad/s, angular velocity, in W

    @property
    def R(self) -> SX:
        return self.X_WF.R

    @property
    def p(self) -> SX:
        return self.X_WF.p


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Two points on bodies that a joint of few coordinates connects; vectors in any one frame."""

    joint: str
    d: SX  # (3,) m, from the first point to the second
    v: SX  # (k,) velocities of the joint
    products: SX  # (k,) m^2: of d and its rate by each of them


class Kinematics(Protocol):
    """The moving model as force elements and sensors see it; each formulation provides one."""

    model: Any  # the resolved model
    t: SX
    lookups: Lookups

    def frame(self, reference: str) -> FrameState:
        """State of ``body`` or ``body.frame``."""
        ...

    def joint_ends(self, joint: str) -> tuple[FrameState, FrameState]:
        """States of a joint's frames F and M."""
        ...

    def coordinate(self, joint: str, index: int) -> tuple[SX, SX]:
        """(q, v) of one coordinate of a joint whose velocities are the rates of its coordinates."""
        ...

    def value(self, number: Any, local: dict[str, SX] | None = None) -> SX:
        """A number, or a signal in t, parameters, sensors, tables and the `local` names, as SX."""
        ...

    def table(self, name: str, x: SX, order: int = 0) -> SX:
        """Named table at `x`; order -1: its antiderivative, zero at x = 0 or where its range comes nearest."""
        ...


class ConstraintKinematics(Kinematics, Protocol):
    """The same for constraints."""

    def between(self, parent: str, child: str) -> SX:
        """(3,) m, from one point to another or back, in the cheapest frame; for its length."""
        ...


class ElementKinematics(Kinematics, Protocol):
    """The same for signals and force elements, which may have their own states."""

    def neighbors(self, parent: str, child: str) -> Neighbors | None:
        """The relative motion of two frames, if a joint of the tree with one or two coordinates connects their
        bodies."""
        ...

    def signal(self, name: str) -> SX:
        """Value of a signal; one that depends on itself without a state in between is an error."""
        ...

    def state(self, owner: str, part: str, start: Any = 0.0, unit: str = "1") -> SX:
        """A state () of an element, a symbol: created with its start value at the first call, looked up by
        later ones."""
        ...

    def held(self, owner: str, part: str, start: Any = 0.0, unit: str = "1") -> SX:
        """A number () that is constant between events, a symbol; created and looked up like a state."""
        ...

    def start_of(self, owner: str, part: str) -> SX:
        """Start value of a state or held value that has been created."""
        ...


@dataclass(frozen=True, slots=True)
class PointWrench:
    """A force f (3,) N and moment n (3,) N m on a body at the point p (3,) m; all in W.

    `when`: both are zero where this is zero, so they need not be computed there.
    """

    body: str
    p: SX
    f: SX
    n: SX
    when: SX | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An event: if `function` (), an expression of t, q, v, z, p, passes zero, held values and states are set.

    `direction`: -1 where it falls, 1 where it rises, 0 for both. `sets`: by (owner, part) of a held value or a state
    of an element its value just after, an expression at the moment before. `stop`: why the run ends here, if it does.
    `level`: it happens at the start too, if the function is already beyond zero.
    """

    name: str
    function: SX
    direction: int
    sets: Mapping[tuple[str, str], SX] = field(default_factory=dict)
    stop: str = ""
    level: bool = False


@dataclass(frozen=True, slots=True)
class Sampled:
    """A held value (owner, part) that is set to `expression` () every `period` s, the first time at `offset` s."""

    key: tuple[str, str]
    expression: SX
    period: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Delayed:
    """`expression` () is kept as polynomials of a degree, `pieces` of them in `time` s, and played back after `time`.

    Held values of `owner`: c0, c1, ... of the polynomial in (t - middle) / half, and these two.
    """

    owner: str
    expression: SX
    time: float
    pieces: int
    degree: int


@dataclass(frozen=True, slots=True)
class DryFriction:
    """Coulomb friction on one velocity: it sticks or slides, and the equations of motion determine the force.

    `force` (): the symbol of that force, which the element puts where it acts. `slip` (): velocity against which it
    acts. `stuck`, `direction`: held values; 1 where it sticks, and the sign of `slip` where it slides. `level`: of
    the force while it slides; `limit`: up to which it sticks. Both may contain `load` (), the symbol of what
    `measure` finds of the wrench (6,) (force, moment, in the joint frame M) in `joint`. `width`: of the regularized
    law.
    """

    name: str
    joint: str
    force: SX
    slip: SX
    stuck: SX
    direction: SX
    level: SX
    limit: SX
    width: SX
    load: SX | None = None
    measure: Callable[[SX], SX] | None = None


@dataclass(frozen=True, slots=True)
class ContactForces:
    """A rigid contact: one-sided, and with friction if there is a `coefficient`.

    `normal` (): the symbol of the normal force; `gap` () and its rate. `closed`: held, 1 where it is closed.
    `tangential` (2,): symbols of the forces against `slip` (2,), the relative velocity of the bodies; `stuck`
    and `direction` (2,): held values as in `DryFriction`. `width` (m/s): below this it counts as at rest.
    """

    name: str
    gap: SX
    gap_rate: SX
    normal: SX
    closed: SX
    coefficient: SX | None = None
    tangential: SX | None = None
    slip: SX | None = None
    stuck: SX | None = None
    direction: SX | None = None
    width: float = 1e-3

    @property
    def symbols(self) -> SX:
        """The symbols of all its forces (1 or 3,)."""
        return self.normal if self.tangential is None else ca.vertcat(self.normal, self.tangential)


@dataclass(frozen=True, slots=True)
class Action:
    """The effects of a force element on the model.

    `potential` is the energy stored in its conservative part; `power` is the power that its non-conservative part
    delivers to the bodies. Their sum accounts for all of the element's work. `within`: `wrenches` expressed
    as generalized forces of one joint, if they act between its bodies; these make accelerations cheaper to
    compute. `rests`: the law itself handles standstill, as that of tires does, and does not switch its sign
    like dry friction. `margins`: by cause, numbers () that become zero where the law has no value.
    """

    wrenches: tuple[PointWrench, ...] = ()
    generalized: tuple[tuple[str, int, SX], ...] = ()  # (joint, coordinate index, force)
    within: tuple[tuple[str, int, SX], ...] = ()  # as `generalized`, in place of `wrenches`
    potential: SX | float = 0.0
    power: SX | None = None
    outputs: dict[str, tuple[str, SX]] = field(default_factory=dict)  # name -> (unit, value)
    rates: dict[str, SX] = field(default_factory=dict)  # of the element's own states, see `Kinematics.state`
    events: tuple[Event, ...] = ()
    friction: DryFriction | None = None
    contact: ContactForces | None = None
    rests: bool = False
    margins: Mapping[str, SX] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ElementState:
    """A state of a signal or a force element: its symbol (), start value (an expression of parameters) and unit."""

    symbol: SX
    start: SX
    unit: str


@dataclass(frozen=True, slots=True)
class HeldValue:
    """A number that is constant between events: a branch, a sample, a flag.

    Its symbol () is among the last parameters of all functions; `start` is an expression of the parameters.
    """

    name: str
    symbol: SX
    start: SX
    unit: str
