"""What a formulation provides: the contract on which `System` and all analyses work.

Every formulation (joint, cartesian and natural coordinates of a model, points, a bare Lagrangian) states

    q' = N(q) v ,   M(q, t, p) v' + G^T lam = f(q, v, z, t, p) ,   z' = g(q, v, z, t, p) ,
    Phi(q, t, p) = 0 ,   B(q, v, t, p) = 0

in CasADi symbols. `ConstrainedEquations` turns the members below into accelerations, multipliers and projections,
so a new formulation subclasses it and writes these. Nothing else may be asked of the equations of a system by what
needs to work for all of them; in particular nobody asks what kind they are.

z are states of signals and force elements. p are the run-time parameters (inputs from outside among them), and behind
them the *held values*: what elements hold between events (branches, samples, flags) and change only there. For all
compiled functions and derivatives these are parameters like others; users do not see them among the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sekant.formulations.constraints import ConstraintBlock
from sekant.formulations.outputs import Output
from sekant.geometry.spatial import SX
from sekant.model.motion import Delayed, Event, HeldValue, Sampled
from sekant.model.quantities import Description
from sekant.model.resolve import Parameter
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

Vector = NDArray[np.float64]
Scene = dict[str, Any]
STATED = 100.0
"""Weight of a coordinate whose start value the model states, against 1 for the others."""


@dataclass(frozen=True, eq=False)
class Inventory:
    """What a model consists of, for readers and programs.

    `lines`: how the parts hang together, as text. `counts`: one phrase, such as "3 bodies, 4 joints". `items`:
    names and facts by kind, as JSON can hold them. `mass` kg; None where there are no parts with mass.
    """

    lines: tuple[str, ...]
    counts: str
    items: Mapping[str, Any]
    mass: float | None


class Formulation(Protocol):
    """The equations of motion of one model. Arrays are columns; units are SI."""

    formulation: str
    """its name, for files and messages; never for decisions"""
    t: SX
    q: SX
    v: SX
    p: SX
    """symbols: time (), coordinates (nq,), velocities (nv,), run-time parameters and held values (np,)"""
    z: SX
    """symbols of further states (nz,)"""
    zdot: SX
    z_start: SX
    z_names: list[str]
    """rates of z as expressions of t, q, v, z, p; start values as expressions of p; names"""
    qdot: SX
    """(nq,) linear in v"""
    constraints: list[ConstraintBlock]
    """equations Phi = 0 and B = 0 by name, with their rates"""
    lookups: Lookups
    """tables that the expressions refer to"""
    held_values: Sequence[HeldValue]
    """what stands at the end of p, in order"""
    events: Sequence[Event]
    """where held values and states of elements are set as guards pass zero"""
    sampled: Sequence[Sampled]
    """held values that are set at given times"""
    delayed: Sequence[Delayed]
    """quantities that are taken up later"""

    def held_start(self, own: Vector) -> Vector:
        """(nh,) start values of the held values at the run-time parameters `own`, which stand before them in p."""
        ...

    frozen_rates: Mapping[str, SX]
    """rates of the states that are parameters here, by name; see `frozen`"""

    def frozen(self) -> Formulation:
        """The same equations with the states z as run-time parameters."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Run-time parameters in the order of p, with their defaults; held values are not among them."""
        ...

    @property
    def given_inputs(self) -> Mapping[str, Table]:
        """Inputs of the model that are functions of time here; all others are among the parameters."""
        ...

    def check(self, p: Vector) -> None:
        """Refuse values (np,) of the parameters with which some part could not exist."""
        ...

    def state_names(self) -> tuple[list[str], list[str]]:
        """Names of coordinates and velocities."""
        ...

    @property
    def mass_matrix(self) -> SX:
        """(nv, nv), complete."""
        ...

    def inverse_dynamics(self, a: SX) -> SX:
        """(nv,) generalized forces that must act besides the model's own for accelerations `a` (nv,)."""
        ...

    @property
    def kinetic_energy(self) -> SX:
        """J."""
        ...

    @property
    def potential_energy(self) -> SX:
        """J."""
        ...

    @property
    def powers(self) -> dict[str, SX]:
        """W, that each non-conservative element supplies, by name."""
        ...

    def initial(self) -> tuple[SX, SX]:
        """Start values q0 (nq,), v0 (nv,) that the model describes, as expressions of p; perhaps rough."""
        ...

    def completed(self, q: Vector, v: Vector, t: float, p: Vector) -> tuple[Vector, Vector]:
        """A start that satisfies the constraints, with what follows from it alone (integrals, angles) filled in."""
        ...

    def counted(self, q: Vector, moved: Vector, t: float, p: Vector) -> Vector:
        """Coordinates `moved` from q at time t, with those that count what was passed brought along."""
        ...

    @property
    def stated_counts(self) -> Sequence[int]:
        """Coordinates that count what was passed and begin at a number that the model states."""
        ...

    def start_weight(self, key: tuple[str, int], velocity: bool) -> float:
        """How firmly assembly holds the start of the coordinate or velocity `key`."""
        ...

    def outputs(self, work: SX) -> tuple[Output, ...]:
        """All that can be reported; `work` (nw,) J: symbols of the work of each element in `powers`."""
        ...

    def quantities(self) -> Mapping[str, tuple[str, tuple[str, ...], SX]]:
        """Unit, components and value by name of what kinematics can follow besides joints, frames, sensors and
        forces."""
        ...

    def timed_items(self) -> Sequence[Description] | None:
        """Items whose expressions in text hold all switches in time; None where these have to be searched for."""
        ...

    def time_stops(self, begin: float, end: float, values: Mapping[str, Any]) -> list[float]:
        """Times in [begin, end] at which something jumps or kinks with time alone, at the given run-time
        parameters."""
        ...

    def driver_jump(self, begin: float, end: float, values: Mapping[str, Any], p: Vector) -> str | None:
        """Which given motion jumps within (begin, end), and when, if one does."""
        ...

    def failure(self, t: float, q: Vector, v: Vector, z: Vector, p: Vector) -> str:
        """Why the motion cannot go on, as far as it can be told; else empty."""
        ...

    def singularity(self, t: float, q: Vector, v: Vector, p: Vector) -> str:
        """The coordinate that nothing resists, for a reader; else empty."""
        ...

    def inventory(self, p: Vector) -> Inventory:
        """What the model consists of."""
        ...

    def scene(self, p: Vector) -> Scene:
        """What a viewer draws; see `sekant.formulations.scene`."""
        ...
