"""Lagrange's equations of the first kind from energies and constraints (DERA 1.2.1, 1.2.2).

    d/dt(dL/dv) - dL/dq + dD/dv + Phi_q^T lam + B_v^T lam = Q ,   Phi(q, t) = 0 ,   B(q, v, t) = 0 .

Quantities with a rate of their own (DERA 3.2.2), s' = g(q, v, t), are coordinates without inertia under the velocity
equation s' - g = 0. If nothing depends on s its multiplier vanishes and the motion is untouched; a potential V(s)
acts on the others as virtual work demands, since the multiplier is then -dV/ds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.formulations.constrained import ConstrainedEquations
from sekant.formulations.constraints import ConstraintBlock
from sekant.formulations.contract import Inventory, Scene
from sekant.formulations.driver_jumps import GivenMotion
from sekant.formulations.group_motion import GroupRows
from sekant.formulations.natural.freedom import FreedomTable
from sekant.formulations.natural.singular import motion_without_inertia
from sekant.formulations.natural.time_stops import crossing_times, switching_functions
from sekant.formulations.outputs import Output
from sekant.geometry.spatial import SX
from sekant.model.points.geometric import Rows
from sekant.model.resolve import Parameter
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

DYNAMIC = "explicit_time"
"""Name of the power that energies with explicit dependence on time take in."""
Floats = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
GAUSS = (0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS)
"""Places in [0, 1] and weights of Gauss's quadrature."""


@dataclass(frozen=True, eq=False)
class LagrangianParts:
    """All that determines a motion: symbols, energies, constraints, start values.

    `q`, `v` (n,): coordinates and their rates, q' = v. `lagrangian` (): of q, v, t, p. `kinetic`, `potential` ():
    its physical parts, and `mass` (kg), if known. `rayleigh`: dissipation functions by name; `forces` (n,):
    generalized forces by name. `start`, `start_rates` (n,); `weights`, `rate_weights` (n,): how firmly assembly
    holds them. `tracked`: by number of the coordinate its rate and start; `states`: symbol, rate
    and start of quantities whose rates are not linear in the velocities. `prescribed(a, lam)`: all powers by name,
    where points are prescribed. `report(equations, work)`: outputs. `given_motions()`: functions of time, by name;
    `given_inputs`: those of inputs.
    `components`: by number of the coordinate the point or vector (3,) that it is a component of, which, and whether
    it is a point; `carried`: numbers of the coordinates of each part; `places`: position and velocity (3,) of each
    part. `items`: contents by kind. `table`: of the degrees of freedom.
    """

    name: str
    t: SX
    q: SX
    v: SX
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    lagrangian: SX
    start: Floats
    start_rates: Floats
    weights: Floats
    rate_weights: Floats
    kinetic: SX | None = None
    potential: SX | None = None
    mass: SX | None = None
    inertias: Mapping[str, SX] = field(
        default_factory=dict
    )  # masses and moments, none of which may be negative
    rayleigh: Mapping[str, SX] = field(default_factory=dict)
    forces: Mapping[str, SX] = field(default_factory=dict)
    positions: Sequence[Rows] = ()
    velocities: Sequence[Rows] = ()
    tracked: Mapping[int, tuple[SX, SX | None]] = field(default_factory=dict)
    states: Mapping[str, tuple[SX, SX, float]] = field(default_factory=dict)
    p: SX = field(default_factory=lambda: SX.zeros(0, 1))
    parameters: tuple[Parameter, ...] = ()
    lookups: Lookups = field(default_factory=Lookups)
    prescribed: Callable[[SX, SX], dict[str, SX]] | None = None
    report: Callable[[NaturalEquations, SX], Sequence[Output]] | None = None
    scene: Scene = field(default_factory=dict)
    components: Mapping[int, tuple[SX, int, bool]] = field(default_factory=dict)
    carried: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    places: Mapping[str, tuple[SX, SX]] = field(default_factory=dict)
    given_motions: Callable[[], Mapping[str, SX]] = dict
    given_inputs: Mapping[str, Table] = field(default_factory=dict)
    items: Mapping[str, Any] = field(default_factory=dict)
    table: FreedomTable | None = None


class NaturalMotion:
    """Names and structure of the coordinates, as analyses ask for them."""

    def __init__(self, parts: LagrangianParts):
        self._parts = parts
        self.unit_blocks: tuple[tuple[int, int], ...] = ()
        self.q_names = [(name, 0) for name in parts.q_names]
        self.v_names = [(name, 0) for name in parts.q_names]
        self.driven: dict[int, str] = {}
        self.cuts: tuple[str, ...] = ()
        self.auxiliary: dict[str, Any] = {}
        self.links: list[Any] = []
        self.free: list[Any] = []

    def owner_of(self, name: str) -> None:
        """Coordinates of points have no joint."""

    @property
    def movable(self) -> list[str]:
        """Names of what a group motion carries along."""
        return list(self._parts.carried)

    def place(self, name: str) -> tuple[SX, SX]:
        """(3,) m, (3,) m/s, in W: where a part begins, and its velocity there."""
        return self._parts.places[name]

    def group_rows(
        self, eq: Any, spins: SX, members: Collection[str], twist: Callable[[SX], SX]
    ) -> GroupRows:
        """Rates of the components of points and vectors less those of the group motion; integrals follow by
        themselves.

        What belongs to no part moves with the members.
        """
        parts, u = self._parts, eq.v - spins
        still = {k for name, numbers in parts.carried.items() if name not in members for k in numbers}
        going = {k for name, numbers in parts.carried.items() if name in members for k in numbers}
        rows = []
        for k, (place, axis, is_point) in parts.components.items():
            group = twist(place)
            rate = group[axis] if is_point else ca.cross(group[3:], place)[axis]
            rows.append((parts.v_names[k], u[k] - (0 if k in still - going else rate)))
        return GroupRows(rows, ())


class NaturalEquations(ConstrainedEquations):
    """The equations of motion that follow from `parts`."""

    formulation = "natural"

    def __init__(self, parts: LagrangianParts):
        self.parts = parts
        self.motion = NaturalMotion(parts)
        self.lookups = parts.lookups
        self.t, self.q, self.v, self.p = parts.t, parts.q, parts.v, parts.p
        self.qdot = parts.v
        self._frozen_rates: Mapping[str, SX] = {}
        self._z = ca.vertcat(SX.zeros(0, 1), *[symbol for symbol, _, _ in parts.states.values()])
        self._check()
        self.constraints: list[ConstraintBlock] = [
            *(self._position_block(rows) for rows in parts.positions),
            *(self._velocity_block(rows) for rows in parts.velocities),
        ]
        self.algorithm = "lagrange"

    # -- further states --------------------------------------------------------------------------------

    @property
    def frozen_rates(self) -> Mapping[str, SX]:
        return self._frozen_rates

    def frozen(self) -> NaturalEquations:
        parts = self.parts
        found = NaturalEquations(
            replace(
                parts,
                p=ca.vertcat(parts.p, self._z),
                parameters=(
                    *parts.parameters,
                    *(Parameter(name, np.array([start])) for name, (_, _, start) in parts.states.items()),
                ),
                states={},
            )
        )
        found._frozen_rates = {name: rate for name, (_, rate, _) in parts.states.items()}
        return found

    @property
    def z(self) -> SX:
        return self._z

    @property
    def zdot(self) -> SX:
        return ca.vertcat(SX.zeros(0, 1), *[rate for _, rate, _ in self.parts.states.values()])

    @property
    def z_start(self) -> SX:
        return ca.vertcat(SX.zeros(0, 1), *[SX(start) for _, _, start in self.parts.states.values()])

    @property
    def z_names(self) -> list[str]:
        return list(self.parts.states)

    # -- constraints -----------------------------------------------------------------------------------

    def _position_block(self, rows: Rows) -> ConstraintBlock:
        phi = ca.densify(rows.expression)
        drift = ca.densify(self.lookups.jacobian(phi, self.t))
        rate = self.lookups.jtimes(phi, self.q, self.v) + drift
        return ConstraintBlock(rows.name, rows.kind, phi, rate, drift, {}, {})

    def _velocity_block(self, rows: Rows) -> ConstraintBlock:
        rate = ca.densify(rows.expression)
        drift = self.lookups.substitute(rate, self.v, SX.zeros(self.nv))
        return ConstraintBlock(rows.name, rows.kind, SX.zeros(0, 1), rate, drift, {}, {})

    def _check(self) -> None:
        parts = self.parts
        known = [parts.t, parts.q, parts.v, parts.p, self._z]
        for what, expression in self._given():
            self._known(what, expression, known)
            for name, (symbol, _, _) in parts.states.items():
                if not what.startswith("force") and self.depends(expression, symbol):
                    raise ModelError(
                        f"the rate of '{name}' is not linear in the velocities, so forces and outputs may "
                        "depend on it, "
                        f"but no energy, dissipation or constraint; {what} does"
                    )
        for rows in parts.positions:
            if self.depends(rows.expression, parts.v):
                raise ModelError(
                    f"constraint '{rows.name}' contains velocities; state it as a velocity equation"
                )
        for rows in parts.velocities:
            slope = self.lookups.jacobian(rows.expression, parts.v)
            if self.depends(slope, parts.v):
                raise ModelError(
                    f"velocity equation '{rows.name}' is not linear in the velocities; only linear ones are "
                    "known to give Lagrange's equations"
                )
        if self.depends(self.mass_matrix, parts.v):
            raise ModelError(
                "the Lagrangian is not quadratic in the velocities: its mass matrix depends on them; integrate "
                "such a system as an ordinary differential equation"
            )

    def _given(self):
        parts = self.parts
        yield "the Lagrangian", parts.lagrangian
        yield from ((f"dissipation '{name}'", D) for name, D in parts.rayleigh.items())
        yield from ((f"force '{name}'", Q) for name, Q in parts.forces.items())
        yield from ((f"constraint '{rows.name}'", rows.expression) for rows in parts.positions)
        yield from ((f"velocity equation '{rows.name}'", rows.expression) for rows in parts.velocities)

    def _known(self, what: str, expression: SX, known: list[SX]) -> None:
        tables = [node.symbols for node in self.lookups.nodes]
        names = {s.element_hash() for group in (*known, *tables) for s in ca.symvar(group)}
        for symbol in ca.symvar(self._full(SX(expression))):
            if symbol.element_hash() not in names:
                raise ModelError(
                    f"{what} contains the unknown symbol '{symbol.name()}'; it may depend on the coordinates "
                    f"{', '.join(self.parts.q_names)}, their rates, time, and parameters"
                )

    # -- dynamics --------------------------------------------------------------------------------------

    @cached_property
    def _momentum(self) -> SX:
        """(n,) dL/dv."""
        return ca.densify(self.lookups.gradient(self.parts.lagrangian, self.v))

    @cached_property
    def mass_matrix(self) -> SX:
        return ca.densify(self.lookups.jacobian(self._momentum, self.v))

    def inverse_dynamics(self, a: SX) -> SX:
        parts, lk = self.parts, self.lookups
        state = ca.vertcat(self.q, self.v, self.t)
        rate = lk.jtimes(self._momentum, state, ca.vertcat(self.v, a, 1))
        forces = lk.gradient(parts.lagrangian, self.q)
        for D in parts.rayleigh.values():
            forces = forces - lk.gradient(D, self.v)
        for Q in parts.forces.values():
            forces = forces + Q
        return ca.densify(rate - forces)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.parts.parameters

    # -- what else the contract asks for ---------------------------------------------------------------

    def state_names(self) -> tuple[list[str], list[str]]:
        return list(self.parts.q_names), list(self.parts.v_names)

    def start_weight(self, key: tuple[str, int], velocity: bool) -> float:
        weights = self.parts.rate_weights if velocity else self.parts.weights
        return float(weights[self.parts.q_names.index(key[0])])

    def completed(self, q: Floats, v: Floats, t: float, p: Floats) -> tuple[Floats, Floats]:
        """Tracked quantities that start at a value of the coordinates, at that value."""
        parts = self.parts
        q, v = q.copy(), v.copy()
        for k, (rate, start) in parts.tracked.items():
            both = ca.vertcat(rate, parts.q[k] if start is None else start)
            oracle = parts.lookups.oracle("tracked", [parts.t, parts.q, parts.v, parts.p], [both])
            v[k], q[k] = np.array(oracle(t, q, v, p)).ravel()
        return q, v

    def counted(self, q: Floats, moved: Floats, t: float, p: Floats) -> Floats:
        """Tracked quantities by the integral of their rates on the straight way, which for angles is exact."""
        numbers = list(self.parts.tracked)
        if not numbers:
            return moved
        way, total = moved - q, np.zeros(len(numbers))
        for place, weight in zip(*GAUSS, strict=True):
            at = q + place * way
            along, standing = (np.array(self._tracked_rates(t, at, v, p)).ravel() for v in (way, 0.0 * way))
            total += weight * (along - standing)
        new = moved.copy()
        new[numbers] = q[numbers] + total
        return new

    @property
    def stated_counts(self) -> Sequence[int]:
        return [k for k, (_, start) in self.parts.tracked.items() if start is None]

    @cached_property
    def _tracked_rates(self) -> ca.Function:
        rates = ca.vertcat(*[rate for rate, _ in self.parts.tracked.values()])
        return self.lookups.oracle("rates", [self.t, self.q, self.v, self.p], [rates])

    def outputs(self, work: SX) -> tuple[Output, ...]:
        from sekant.formulations.natural.outputs import lagrangian_outputs

        return tuple((self.parts.report or lagrangian_outputs)(self, work))

    def quantities(self) -> Mapping[str, tuple[str, tuple[str, ...], SX]]:
        found = {
            o.name: (o.unit, o.components, ca.vec(o.expression))
            for o in self.outputs(SX.sym("w", len(self.powers)))
        }
        return {**{name: ("m", (), self.q[k]) for k, name in enumerate(self.parts.q_names)}, **found}  # type: ignore[dict-item]

    def time_stops(self, begin: float, end: float, values: Mapping[str, Any]) -> list[float]:
        p = [np.atleast_1d(np.asarray(values.get(x.name, x.default), float)).ravel() for x in self.parameters]
        chosen = np.concatenate([np.zeros(0), *p])
        return crossing_times(self._switching, self.t, self.p, self.lookups, chosen, begin, end)

    @cached_property
    def _switching(self) -> SX:
        """(k,) functions of t and p that change their sign where a load, a driver or a constraint switches."""
        parts = self.parts
        rows = [row.expression for row in (*parts.positions, *parts.velocities)]
        loads = [parts.lagrangian, *parts.rayleigh.values(), *parts.forces.values()]
        return switching_functions([*loads, *rows], self.t, self.p, self.lookups)

    def driver_jump(self, begin: float, end: float, values: Mapping[str, Any], p: Floats) -> str | None:
        times = self.time_stops(begin, end, values)
        for name, position in self.parts.given_motions().items() if times else ():
            found = GivenMotion(position, self.t, self.p, self.lookups).jump_text(p, times, (begin, end))
            if found:
                return f"{name}: {found}"
        return None

    def check(self, p: Floats) -> None:
        for what, value in self.parts.inertias.items():
            number = float(self.lookups.oracle("inertia", [self.p], [value])(p))
            if number < 0:
                raise ModelError(f"{what} must not be negative (got {number:g}); check the parameters")

    @property
    def given_inputs(self) -> Mapping[str, Table]:
        return self.parts.given_inputs

    def failure(self, t: float, q: Floats, v: Floats, z: Floats, p: Floats) -> str:
        outside = self.lookups.range_error([self.t, self.q, self.v, self.p], [t, q, v, p])
        return str(outside) if outside is not None else self.singularity(t, q, v, p)

    def singularity(self, t: float, q: Floats, v: Floats, p: Floats) -> str:
        return motion_without_inertia(self, self.parts.q_names, t, q, v, p)

    def inventory(self, p: Floats) -> Inventory:
        parts = self.parts
        lines = [
            f"mechanism '{parts.name}' in natural coordinates",
            *([str(parts.table)] if parts.table else []),
        ]
        mass = None
        if parts.mass is not None:
            mass = float(parts.lookups.oracle("mass", [parts.p], [parts.mass])(p))
        names = {"parameters": [parameter.name for parameter in parts.parameters]}
        counts = "" if self.constraints else f"{self.nv} coordinates"
        return Inventory(tuple(lines), counts, {**parts.items, **names}, mass)

    def scene(self, p: Floats) -> Scene:
        return self.parts.scene

    def initial(self) -> tuple[SX, SX]:
        return SX(ca.DM(self.parts.start)), SX(ca.DM(self.parts.start_rates))

    # -- energy ----------------------------------------------------------------------------------------

    @cached_property
    def energy(self) -> SX:
        """Kinetic and potential energy if they are known apart, else v dL/dv - L."""
        parts = self.parts
        if parts.kinetic is not None and parts.potential is not None:
            return parts.kinetic + parts.potential
        return ca.dot(self.v, self._momentum) - parts.lagrangian

    @property
    def kinetic_energy(self) -> SX:
        """For a bare Lagrangian its part of second degree in the velocities."""
        if self.parts.kinetic is not None:
            return self.parts.kinetic
        return ca.dot(self.v, self.mass_matrix @ self.v) / 2

    @property
    def potential_energy(self) -> SX:
        return self.parts.potential if self.parts.potential is not None else self.energy - self.kinetic_energy

    @property
    def powers(self) -> dict[str, SX]:
        """Power of each non-conservative element by name."""
        return self._powers

    @cached_property
    def _powers(self) -> dict[str, SX]:
        free = self.parts.prescribed is None and not self._moving_constraints
        zero = SX.zeros(0, 1)
        return self.powers_with(zero, zero) if free else self.powers_with(self.a, self.lam)

    @property
    def _moving_constraints(self) -> bool:
        return any(not block.drift.is_zero() for block in self.constraints)

    def powers_with(self, a: SX, lam: SX) -> dict[str, SX]:
        """The same as `powers`, for given accelerations a (nv,) and multipliers lam (m,)."""
        parts, lk = self.parts, self.lookups
        if parts.prescribed is not None:
            return parts.prescribed(a, lam)
        powers = {name: -ca.dot(self.v, lk.gradient(D, self.v)) for name, D in parts.rayleigh.items()}
        powers |= {name: ca.dot(self.v, Q) for name, Q in parts.forces.items()}
        if lam.numel():
            for block, part in self._by_block(lam):
                if not block.drift.is_zero():
                    powers[block.name] = powers.get(block.name, SX(0)) + ca.dot(part, block.drift)
        explicit = -lk.jacobian(parts.lagrangian, self.t)
        if not explicit.is_zero():
            powers[DYNAMIC] = explicit
        return powers
