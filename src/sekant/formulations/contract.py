"""The contract of a formulation: everything that `System` and all analyses use.

Every formulation (joint, cartesian and natural coordinates of a model, points, a bare Lagrangian) states

    q' = N(q) v ,   M(q, t, p) v' + G^T lam = f(q, v, z, t, p) ,   z' = g(q, v, z, t, p) ,
    Phi(q, t, p) = 0 ,   B(q, v, t, p) = 0

in CasADi symbols: the fourteen members of `Formulation`, some of which are small objects with their own
methods. `ConstrainedEquations` derives accelerations, multipliers and projections from them, so a new formulation
is a subclass that implements these members. Code that works for all formulations uses nothing else of the equations;
in particular, it never checks which formulation it has.

z are states of signals and force elements. p contains the run-time parameters (including the inputs),
followed by the *held values*: numbers of elements that change only at events (branches, samples, flags).
Compiled functions and derivatives treat held values as ordinary parameters; users do not see them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sekant.formulations.constrained import ConstrainedEquations
    from sekant.formulations.constraints import ConstraintBlock
    from sekant.formulations.elements import Elements
    from sekant.formulations.outputs import Output
    from sekant.formulations.tree import Link
    from sekant.geometry.spatial import SX
    from sekant.model.joints.base import Joint
    from sekant.model.motion import FrameState
    from sekant.model.quantities import Description
    from sekant.model.resolve import ResolvedModel
    from sekant.model.scene import Scene
    from sekant.tables.bound_oracle import BoundOracle
    from sekant.tables.lookups import Lookups

Vector = NDArray[np.float64]
Key = tuple[str, int]
"""The owner of a coordinate, and its index there."""
STATED = 100.0
"""Weight of a coordinate whose start value the model states; other coordinates have the weight 1."""


class SystemKinematics(Protocol):
    """Coordinates and their names; poses of bodies, frames and joints, if there are any."""

    @property
    def t(self) -> SX:
        """(): symbol of time."""
        ...

    @property
    def q(self) -> SX:
        """(nq,): symbols of the free coordinates."""
        ...

    @property
    def v(self) -> SX:
        """(nv,): symbols of the velocities."""
        ...

    @property
    def qdot(self) -> SX:
        """(nq,) linear in v."""
        ...

    @property
    def q_names(self) -> Sequence[Key]:
        """Names of the coordinates."""
        ...

    @property
    def v_names(self) -> Sequence[Key]:
        """Names of the velocities."""
        ...

    @property
    def unit_blocks(self) -> Sequence[tuple[int, int]]:
        """(first, size) of the coordinates that form unit quaternions."""
        ...

    @property
    def q_all(self) -> SX:
        """Coordinates of the joints' tree, including driven coordinates."""
        ...

    @property
    def v_all(self) -> SX:
        """Their velocities."""
        ...

    @property
    def a_driven(self) -> SX:
        """(size of v_all,): accelerations of driven coordinates; zero for the others."""
        ...

    @property
    def driven(self) -> Mapping[int, str]:
        """Prescribed motions, by the index in `v_all` of the velocity that they prescribe."""
        ...

    @property
    def cuts(self) -> Sequence[str]:
        """Joints that close loops."""
        ...

    @property
    def auxiliary(self) -> Mapping[str, tuple[SX, SX]]:
        """Further coordinates of cut joints and constraints, and their rates."""
        ...

    @property
    def links(self) -> Sequence[Link]:
        """The bodies of the joints' tree."""
        ...

    @property
    def joint_index(self) -> Mapping[str, int]:
        """Indices of the joints' links in the tree."""
        ...

    @property
    def movable(self) -> Sequence[str]:
        """Names of the parts that can take part in a group motion."""
        ...

    def state_names(self) -> tuple[list[str], list[str]]:
        """Names of coordinates and velocities."""
        ...

    def owner_of(self, name: str) -> Joint | None:
        """The joint that owns the coordinates `name`; None if they belong to something else."""
        ...

    def place(self, name: str) -> tuple[SX, SX]:
        """(3,) m, (3,) m/s, in W: where a movable part is, and its velocity."""
        ...

    def group_rows(
        self, eq: Any, spins: SX, members: Collection[str], twist: Callable[[SX], SX]
    ) -> GroupRows:
        """Residuals that vanish if `members` move with the `twist` of a point and additional `spins` (nv,)."""
        ...

    def frame(self, reference: str) -> FrameState:
        """State of ``body`` or ``body.frame``."""
        ...

    def joint_ends(self, joint: str) -> tuple[FrameState, FrameState]:
        """States of a joint's frames F and M."""
        ...

    def coordinate(self, joint: str, index: int) -> tuple[SX, SX]:
        """(q, v) of one coordinate of a joint."""
        ...

    def sensed(self, sensor: str) -> tuple[str, SX]:
        """Unit and value of a sensor."""
        ...


class Energies(Protocol):
    """Stored energies, and the powers that elements supply."""

    @property
    def kinetic(self) -> SX:
        """J."""
        ...

    @property
    def potential(self) -> SX:
        """J."""
        ...

    @property
    def total(self) -> SX:
        """Kinetic plus potential energy, J."""
        ...

    @property
    def powers(self) -> dict[str, SX]:
        """W, that each non-conservative element supplies, by name."""
        ...

    def powers_with(self, a: SX, lam: SX) -> dict[str, SX]:
        """The same for given accelerations a (nv,) and multipliers lam (m,)."""
        ...


class Start:
    """The start of a motion."""

    placed_by_joints: bool = False
    """whether a start is found in joint coordinates first"""
    stated_counts: Sequence[int] = ()
    """coordinates that count turns and begin at a number that the model states"""
    fills: bool = False
    """whether velocities that the model does not state are free; they then take the least kinetic energy"""
    overridden: Sequence[tuple[str, float, float]] = ()
    """start values of quantities that are not coordinates here: name, value in the model, actual value"""

    def values(self) -> tuple[SX, SX]:
        """q0 (nq,), v0 (nv,) that the model describes, as expressions of p; perhaps rough."""
        raise NotImplementedError

    def placed_by(self, other: SystemKinematics) -> tuple[SX, SX]:
        """q (nq,), v (nv,) where the coordinates of joints, `other`, place the bodies."""
        raise NotImplementedError

    def weight(self, key: Key, velocity: bool) -> float:
        """Weight in assembly of the start value of the coordinate or velocity `key`."""
        raise NotImplementedError

    def stated(self, key: Key, velocity: bool) -> bool:
        """Whether the model states the start of the coordinate or velocity `key`."""
        return self.weight(key, velocity) >= STATED

    def slack(self, key: Key, velocity: bool) -> float:
        """Largest change of the start value of `key`, in its unit, that assembly may make without a warning."""
        return 0.0

    @property
    def completes(self) -> bool:
        """Whether `completed` fills in anything, and `counted` updates anything."""
        return False

    def completed(self, q: Vector, v: Vector, t: float, p: Vector) -> tuple[Vector, Vector]:
        """The start `q`, `v`, which satisfies the constraints, with dependent quantities (integrals, angles)
        filled in."""
        return q, v

    def counted(self, moved: SX) -> SX:
        """Coordinates `moved` from q (nq,), with those that count turns updated."""
        return moved


class Timeline(Protocol):
    """Changes that depend on time alone."""

    def items(self) -> Sequence[Description] | None:
        """Items whose expressions contain all switches that depend on time alone; None if a search is needed."""
        ...

    def stops(self, begin: float, end: float, values: Mapping[str, Any]) -> list[float]:
        """Times in [begin, end] at which something jumps or kinks, at the given run-time parameters."""
        ...

    def jump_parameters(self) -> NDArray[np.bool_]:
        """(np,) whether `motion_jump` may depend on each run-time parameter; held values are not included."""
        ...

    def motions(self) -> dict[str, BoundOracle]:
        """For each given motion, (t, p) -> its position and velocity (2,)."""
        ...

    def motion_jump(self, begin: float, end: float, values: Mapping[str, Any], p: Vector) -> str | None:
        """The given motion that jumps within (begin, end), and when; empty if none does."""
        ...


@dataclass(frozen=True, eq=False)
class Inventory:
    """The contents of a model, for readers and programs.

    `lines`: how the parts are connected, as text. `counts`: one phrase, such as "3 bodies, 4 joints". `items`:
    names and facts by kind, as JSON can hold them. `mass` kg; None where there are no parts with mass.
    """

    lines: tuple[str, ...]
    counts: str
    items: Mapping[str, Any]
    mass: float | None


@dataclass(frozen=True)
class RangeExit:
    """The range that a motion has left: `item` (``joint 'rail'``), `cause` with coordinate, value and range,
    `remedy`."""

    item: str
    cause: str
    remedy: str

    @staticmethod
    def of(text: str) -> RangeExit:
        """Parse one line for a reader: ``item: cause; remedy``."""
        item, _, rest = text.partition(": ")
        cause, _, remedy = rest.partition("; ")
        return RangeExit(item, cause, remedy)

    def __str__(self) -> str:
        return f"{self.item}: {self.cause}; {self.remedy}"


class Reports(Protocol):
    """Reports about the mechanism."""

    def outputs(self, work: SX) -> tuple[Output, ...]:
        """All outputs; `work` (nw,) J: symbols of the work of each element in `Energies.powers`."""
        ...

    def quantities(self) -> Mapping[str, tuple[str | tuple[str, ...], tuple[str, ...], SX]]:
        """Further quantities that kinematics can follow, by name: unit, components and value. Quantities of joints,
        frames, sensors and forces are not included."""
        ...

    @property
    def check(self) -> Callable[[Vector], None]:
        """Raises an error for impossible values (np,) of the parameters; contains no expressions."""
        ...

    def left_range(self, t: float, q: Vector, v: Vector, z: Vector, p: Vector) -> RangeExit | None:
        """The joint or table whose range the motion has left; None if there is none."""
        ...

    def failure(self, t: float, q: Vector, v: Vector, z: Vector, p: Vector) -> str:
        """Why the motion cannot continue; empty if unknown."""
        ...

    @property
    def singularity(self) -> Callable[[float, Vector, Vector, Vector], str]:
        """(t, q, v, p) -> the coordinate that nothing resists, for a reader; otherwise empty. Contains no
        expressions."""
        ...

    def inventory(self, p: Vector) -> Inventory:
        """The contents of the model."""
        ...

    def scene(self, p: Vector) -> Scene:
        """The scene that a viewer draws."""
        ...


class Formulation(ABC):
    """The equations of motion of one model. Arrays are columns; units are SI."""

    formulation: str
    """its name, for files, messages and compiling again; code must not decide by it"""
    algorithm: str
    """how accelerations are found, for files and messages"""
    motion: SystemKinematics
    """coordinates, their names and rates"""
    lookups: Lookups
    """tables that the expressions refer to"""
    constraints: Sequence[ConstraintBlock]
    """equations Phi = 0 and B = 0 by name, with their rates"""
    elements: Elements
    """contributions of signals and forces: states z, held values, events, contacts, dry friction"""

    @property
    @abstractmethod
    def resolved(self) -> ResolvedModel:
        """The model in numbers and symbols: run-time parameters in order, inputs that are functions of time."""

    @property
    @abstractmethod
    def mass_matrix(self) -> SX:
        """(nv, nv), complete."""

    @abstractmethod
    def inverse_dynamics(self, a: SX) -> SX:
        """(nv,) generalized forces that must act, in addition to those of the model, for accelerations `a` (nv,)."""

    @property
    @abstractmethod
    def energies(self) -> Energies: ...

    @property
    @abstractmethod
    def start(self) -> Start: ...

    @property
    @abstractmethod
    def timeline(self) -> Timeline: ...

    @property
    @abstractmethod
    def reports(self) -> Reports: ...

    @abstractmethod
    def changed(
        self,
        *,
        closed: Collection[str] | None = None,
        regularized: bool | None = None,
        frozen: bool | None = None,
    ) -> ConstrainedEquations:
        """A copy of the equations with the contacts `closed` closed, with smoothed dry friction, or with the
        states z as run-time parameters of the same names (`Elements.frozen_rates` are then their rates)."""


@dataclass(frozen=True, eq=False)
class GroupRows:
    """`rows`: velocities minus those of the group motion, by name; each row () is zero in a steady motion. `own`:
    indices of velocities outside the group motion that must vanish (parameters of paths)."""

    rows: list[tuple[str, SX]]
    own: tuple[int, ...]
