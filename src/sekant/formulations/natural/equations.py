"""Lagrange's equations of the first kind from energies and constraints (DERA 1.2.1, 1.2.2).

    d/dt(dL/dv) - dL/dq + dD/dv + Phi_q^T lam + B_v^T lam = Q ,   Phi(q, t) = 0 ,   B(q, v, t) = 0 .

Quantities that are integrated from a rate (DERA 3.2.2), s' = g(q, v, t), are coordinates without inertia
under the velocity equation s' - g = 0. If nothing depends on s, its multiplier vanishes and the motion is
unaffected. With a potential V(s) the multiplier is -dV/ds, so the potential acts on the other coordinates
according to virtual work.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.constrained import ConstrainedEquations
from sekant.formulations.constraints import ConstraintBlock
from sekant.formulations.natural.answers import (
    LagrangianElements,
    LagrangianEnergies,
    LagrangianReports,
    LagrangianStart,
    LagrangianTimeline,
)
from sekant.formulations.natural.lagrangian_parts import LagrangianParts
from sekant.formulations.natural.motion import NaturalMotion
from sekant.geometry.spatial import SX
from sekant.model.points.geometric import EquationRows
from sekant.model.resolve import Parameter, ResolvedModel


class NaturalEquations(ConstrainedEquations):
    """The equations of motion that follow from `parts`."""

    motion: NaturalMotion  # pyright: ignore[reportIncompatibleVariableOverride]
    formulation = "natural"

    def __init__(self, parts: LagrangianParts, frozen_rates: Mapping[str, SX] | None = None):
        self.parts = parts
        self.motion = NaturalMotion(parts)
        self.lookups = parts.lookups
        self.elements = LagrangianElements(parts, frozen_rates or {})
        self._check()
        self.constraints: list[ConstraintBlock] = [
            *(self._position_block(rows) for rows in parts.positions),
            *(self._velocity_block(rows) for rows in parts.velocities),
        ]
        self.algorithm = "lagrange"

    @property
    def resolved(self) -> ResolvedModel:
        return self.parts.resolved

    def changed(
        self,
        *,
        closed: Collection[str] | None = None,
        regularized: bool | None = None,
        frozen: bool | None = None,
    ) -> NaturalEquations:
        """A copy with the states z as parameters; there are no contacts and no dry friction."""
        parts = self.parts
        if not frozen or not parts.states:
            return self
        stated = parts.resolved
        more = [Parameter(name, np.array([start])) for name, (_, _, start) in parts.states.items()]
        resolved = replace(
            stated, parameters=(*stated.parameters, *more), p=ca.vertcat(stated.p, self.elements.z)
        )
        rates = {name: rate for name, (_, rate, _) in parts.states.items()}
        return NaturalEquations(replace(parts, resolved=resolved, states={}), rates)

    @cached_property
    def energies(self) -> LagrangianEnergies:
        return LagrangianEnergies(self)

    @cached_property
    def start(self) -> LagrangianStart:
        return LagrangianStart(self)

    @cached_property
    def timeline(self) -> LagrangianTimeline:
        return LagrangianTimeline(self)

    @cached_property
    def reports(self) -> LagrangianReports:
        return LagrangianReports(self)

    # -- constraints -----------------------------------------------------------------------------------

    def _position_block(self, rows: EquationRows) -> ConstraintBlock:
        phi = ca.densify(rows.expression)
        drift = ca.densify(self.lookups.jacobian(phi, self.t))
        rate = self.lookups.jtimes(phi, self.q, self.v) + drift
        return ConstraintBlock(rows.name, rows.kind, phi, rate, drift, {}, {})

    def _velocity_block(self, rows: EquationRows) -> ConstraintBlock:
        rate = ca.densify(rows.expression)
        drift = self.lookups.substitute(rate, self.v, SX.zeros(self.nv))
        return ConstraintBlock(rows.name, rows.kind, SX.zeros(0, 1), rate, drift, {}, {})

    def _check(self) -> None:
        parts = self.parts
        known = [parts.t, parts.q, parts.v, parts.resolved.p, self.elements.z]
        for what, expression in self._given():
            self._known(what, expression, known)
            for name, (symbol, _, _) in parts.states.items():
                if not what.startswith("force") and self.depends(expression, symbol):
                    raise ModelError(
                        f"the rate of '{name}' is not linear in the velocities, so only forces and outputs may "
                        f"depend on '{name}'; energies, dissipations and constraints may not ({what} does)"
                    )
        for name, D in parts.rayleigh.items():
            self._check_dissipation(name, D)
        for rows in parts.positions:
            if self.depends(rows.expression, parts.v):
                raise ModelError(
                    f"constraint '{rows.name}' contains velocities; state it as a velocity equation"
                )
        for rows in parts.velocities:
            slope = self.lookups.jacobian(rows.expression, parts.v)
            if self.depends(slope, parts.v):
                raise ModelError(
                    f"velocity equation '{rows.name}' is not linear in the velocities; Lagrange's equations "
                    "require linear velocity equations"
                )
        if self.depends(self.mass_matrix, parts.v):
            raise ModelError(
                "the Lagrangian is not quadratic in the velocities: its mass matrix depends on them; integrate "
                "such a system as an ordinary differential equation"
            )

    def _check_dissipation(self, name: str, D: SX) -> None:
        """Check that D depends on the velocities and dissipates energy.

        Tested at the start of the motion, along each velocity and some directions between them.
        """
        parts = self.parts
        if D.is_zero():
            return  # a damper between points that do not move, or without damping
        if not self.depends(D, parts.v):
            raise ModelError(
                f"dissipation '{name}' does not depend on the velocities, so its forces -dD/dv vanish; write it in "
                "terms of velocities, e.g. 0.5*c*v^2, or give it as a potential if it is an energy"
            )
        powers = self.lookups.gradient(D, parts.v) * parts.v
        known = [parts.q, parts.v, parts.t, parts.resolved.p]
        free = {s.element_hash() for group in known for s in ca.symvar(group)}
        if any(s.element_hash() not in free for s in ca.symvar(powers)):
            return  # tables and states
        n = parts.v.numel()
        values = ca.Function("powers", known, [ca.sum1(powers), ca.sum1(ca.fabs(powers))])
        directions = np.concatenate([np.eye(n), np.random.default_rng(0).normal(size=(8, n))])
        for direction in directions:
            found = [
                [float(x) for x in values(parts.start, speed * direction, 0.0, parts.resolved.defaults)]
                for speed in (1e-3, 1.0, 1e3)
            ]
            if all(power < -1e-9 * size for power, size in found):
                along = parts.v_names[int(np.argmax(np.abs(direction)))]
                raise ModelError(
                    f"dissipation '{name}' drives the motion instead of damping it: at the start, {along} = 1 adds "
                    f"the power -v dD/dv = {-found[1][0]:.3g} W; change the sign, or use a force if this is intended"
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
    def momentum(self) -> SX:
        """(n,) dL/dv."""
        return ca.densify(self.lookups.gradient(self.parts.lagrangian, self.v))

    @cached_property
    def mass_matrix(self) -> SX:
        return ca.densify(self.lookups.jacobian(self.momentum, self.v))

    def inverse_dynamics(self, a: SX) -> SX:
        parts, lk = self.parts, self.lookups
        state = ca.vertcat(self.q, self.v, self.t)
        rate = lk.jtimes(self.momentum, state, ca.vertcat(self.v, a, 1))
        forces = lk.gradient(parts.lagrangian, self.q)
        for D in parts.rayleigh.values():
            forces = forces - lk.gradient(D, self.v)
        for Q in parts.forces.values():
            forces = forces + Q
        return ca.densify(rate - forces)
