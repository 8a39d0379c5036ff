"""Lagrange's equations of the first kind from energies and constraints (DERA 1.2.1, 1.2.2).

    d/dt(dL/dv) - dL/dq + dD/dv + Phi_q^T lam + B_v^T lam = Q ,   Phi(q, t) = 0 ,   B(q, v, t) = 0 .

Quantities with a rate of their own (DERA 3.2.2), s' = g(q, v, t), are coordinates without inertia under the velocity
equation s' - g = 0. If nothing depends on s its multiplier vanishes and the motion is untouched; a potential V(s)
acts on the others as virtual work demands, since the multiplier is then -dV/ds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.formulations.constrained import ConstrainedEquations
from sekant.formulations.constraints import ConstraintBlock
from sekant.formulations.outputs import Output
from sekant.geometry.spatial import SX
from sekant.tables.lookups import Lookups

DYNAMIC = "explicit_time"
"""Name of the power that energies with explicit dependence on time take in."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Equations under one name. `text` shows a reader what they demand. `conjugate`: what one multiplier means as a
    force, -conjugate * lam, with `unit`."""

    name: str
    kind: str
    expression: SX
    text: str = ""
    conjugate: SX | float = 1.0
    unit: str = "J"


@dataclass(frozen=True, eq=False)
class LagrangianParts:
    """All that determines a motion: symbols, energies, constraints, start values.

    `q`, `v` (n,): coordinates and their rates, q' = v. `lagrangian` (): of q, v, t, p. `kinetic`, `potential` ():
    its physical parts, and `mass` (kg), if known. `rayleigh`: dissipation functions by name; `forces` (n,):
    generalized forces by name. `start`, `start_rates` (n,); `weights`, `rate_weights` (n,): how firmly assembly
    holds them. `tracked`: by number of the coordinate its rate and start. `prescribed(a, lam)`: all powers by name,
    where points are prescribed. `report(equations, work)`: outputs.
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
    p: SX = field(default_factory=lambda: SX.zeros(0, 1))
    parameters: Mapping[str, float] = field(default_factory=dict)
    lookups: Lookups = field(default_factory=Lookups)
    prescribed: Callable[[SX, SX], dict[str, SX]] | None = None
    report: Callable[[NaturalEquations, SX], Sequence[Output]] | None = None


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

    def state_names(self) -> tuple[list[str], list[str]]:
        return list(self._parts.q_names), list(self._parts.v_names)

    def owner_of(self, name: str) -> None:
        """Coordinates of points have no joint."""


class NaturalEquations(ConstrainedEquations):
    """The equations of motion that follow from `parts`."""

    formulation = "natural"

    def __init__(self, parts: LagrangianParts):
        self.parts = parts
        self.motion = NaturalMotion(parts)
        self.lookups = parts.lookups
        self.t, self.q, self.v, self.p = parts.t, parts.q, parts.v, parts.p
        self.qdot = parts.v
        self._check()
        self.constraints: list[ConstraintBlock] = [
            *(self._position_block(rows) for rows in parts.positions),
            *(self._velocity_block(rows) for rows in parts.velocities),
        ]
        self.algorithm = "lagrange"

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
        known = [parts.t, parts.q, parts.v, parts.p]
        for what, expression in self._given():
            self._known(what, expression, known)
        for rows in parts.positions:
            if self._depends(rows.expression, parts.v):
                raise ModelError(
                    f"constraint '{rows.name}' contains velocities; state it as a velocity equation"
                )
        for rows in parts.velocities:
            slope = self.lookups.jacobian(rows.expression, parts.v)
            if self._depends(slope, parts.v):
                raise ModelError(
                    f"velocity equation '{rows.name}' is not linear in the velocities; only linear ones are "
                    "known to give Lagrange's equations"
                )
        if self._depends(self.mass_matrix, parts.v):
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

    def _full(self, expression: SX) -> SX:
        inner = [x for node in self.lookups.needed_by(expression) for x in node.arguments]
        return ca.vertcat(ca.vec(expression), *inner)

    def _depends(self, expression: SX, symbols: SX) -> bool:
        return bool(symbols.numel()) and ca.depends_on(self._full(SX(expression)), symbols)

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
    def defaults(self) -> Floats:
        return np.array(list(self.parts.parameters.values()), float)

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
