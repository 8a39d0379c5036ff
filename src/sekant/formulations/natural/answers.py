"""The members of the contract of mechanisms modeled with points and of bare Lagrangians, apart from their equations:
elements, energies, start, timeline, reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, counted
from sekant.formulations.contract import Inventory, Key, RangeExit, Start
from sekant.formulations.elements import Elements
from sekant.formulations.natural.lagrangian_parts import LagrangianParts
from sekant.formulations.natural.singular import MotionWithoutInertia, motion_without_inertia
from sekant.formulations.natural.time_stops import crossing_times, switching_functions
from sekant.formulations.outputs import Output
from sekant.formulations.timeline import GivenMotion, jump_text
from sekant.geometry.spatial import SX, column
from sekant.model.number_signs import SignedNumber
from sekant.model.points.geometric import FOLLOWS
from sekant.model.scene import Scene
from sekant.tables.bound_oracle import BoundOracle

if TYPE_CHECKING:
    from sekant.formulations.natural.equations import NaturalEquations

Floats = NDArray[np.float64]
DYNAMIC = "explicit_time"
"""Name of the power supplied to energies that depend explicitly on time."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
GAUSS = (0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS)
"""Nodes in [0, 1] and weights of Gauss's quadrature."""


class LagrangianElements(Elements):
    """States whose rates are not linear in the velocities."""

    def __init__(self, parts: LagrangianParts, frozen_rates: Mapping[str, SX]):
        states = parts.states.values()
        none = SX.zeros(0, 1)
        self.names = list(parts.states)
        self.z = ca.vertcat(none, *[symbol for symbol, _, _ in states])
        self.rates = ca.vertcat(none, *[rate for _, rate, _ in states])
        self.start = ca.vertcat(none, *[SX(start) for _, _, start in states])
        self.frozen_rates = frozen_rates
        self.passive = False  # energies may hold springs


class LagrangianEnergies:
    """Energies as given; otherwise derived from the Lagrangian."""

    def __init__(self, eq: NaturalEquations):
        self._eq, self._parts = eq, eq.parts

    @cached_property
    def total(self) -> SX:
        """Kinetic plus potential energy if they are known separately, else v dL/dv - L."""
        parts = self._parts
        if parts.kinetic is not None and parts.potential is not None:
            return parts.kinetic + parts.potential
        return ca.dot(self._eq.v, self._eq.momentum) - parts.lagrangian

    @property
    def kinetic(self) -> SX:
        """Kinetic energy; for a bare Lagrangian, its part of second degree in the velocities."""
        if self._parts.kinetic is not None:
            return self._parts.kinetic
        return ca.dot(self._eq.v, self._eq.mass_matrix @ self._eq.v) / 2

    @property
    def potential(self) -> SX:
        return self._parts.potential if self._parts.potential is not None else self.total - self.kinetic

    @cached_property
    def powers(self) -> dict[str, SX]:
        moving = any(not block.drift.is_zero() for block in self._eq.constraints)
        if self._parts.prescribed is None and not moving:
            return self.powers_with(SX.zeros(0, 1), SX.zeros(0, 1))
        return self.powers_with(self._eq.a, self._eq.lam)

    def powers_with(self, a: SX, lam: SX) -> dict[str, SX]:
        eq, parts, lk = self._eq, self._parts, self._eq.lookups
        if parts.prescribed is not None:
            return parts.prescribed(a, lam)
        powers = {name: -ca.dot(eq.v, lk.gradient(D, eq.v)) for name, D in parts.rayleigh.items()}
        powers |= {name: ca.dot(eq.v, Q) for name, Q in parts.forces.items()}
        if lam.numel():
            for block, part in eq.by_block(lam):
                if not block.drift.is_zero():
                    powers[block.name] = powers.get(block.name, SX(0)) + ca.dot(part, block.drift)
        explicit = -lk.jacobian(parts.lagrangian, eq.t)
        if not explicit.is_zero():
            powers[DYNAMIC] = explicit
        return powers


class LagrangianStart(Start):
    """The given start, with the start values of tracked quantities."""

    fills = True

    def __init__(self, eq: NaturalEquations):
        self._eq, self._parts = eq, eq.parts
        self.stated_counts = [k for k, (_, start) in eq.parts.tracked.items() if start is None]
        self.overridden = eq.parts.overridden

    def values(self) -> tuple[SX, SX]:
        return SX(ca.DM(self._parts.start)), SX(ca.DM(self._parts.start_rates))

    def weight(self, key: Key, velocity: bool) -> float:
        weights = self._parts.rate_weights if velocity else self._parts.weights
        return float(weights[self._number(key)])

    def stated(self, key: Key, velocity: bool) -> bool:
        """All positions and the given velocities are stated; tracked quantities follow from them."""
        k = self._number(key)
        return k not in self._parts.tracked and (not velocity or self._parts.rate_weights[k] > FOLLOWS)

    def slack(self, key: Key, velocity: bool) -> float:
        return float((self._parts.rate_slack if velocity else self._parts.slack)[self._number(key)])

    def _number(self, key: Key) -> int:
        return self._parts.q_names.index(key[0])

    @property
    def completes(self) -> bool:
        return bool(self._parts.tracked)

    def completed(self, q: Floats, v: Floats, t: float, p: Floats) -> tuple[Floats, Floats]:
        """The start with tracked quantities computed, if their start value depends on coordinates."""
        eq = self._eq
        q, v = q.copy(), v.copy()
        for k, (rate, start) in self._parts.tracked.items():
            both = ca.vertcat(rate, eq.q[k] if start is None else start)
            oracle = eq.lookups.oracle("tracked", [eq.t, eq.q, eq.v, eq.p], [both])
            v[k], q[k] = np.array(oracle(t, q, v, p)).ravel()
        return q, v

    def counted(self, moved: SX) -> SX:
        """Tracked quantities from the integral of their rates along a straight line, which is exact for angles."""
        eq, new = self._eq, SX(moved)
        way, state = moved - eq.q, ca.vertcat(eq.q, eq.v)
        for k, (rate, _) in self._parts.tracked.items():
            new[k] = eq.q[k]
            for place, weight in zip(*GAUSS, strict=True):
                at = eq.q + place * way
                along, standing = (
                    eq.lookups.substitute(rate, state, ca.vertcat(at, v)) for v in (way, SX.zeros(eq.nv))
                )
                new[k] += weight * (along - standing)
        return new


class LagrangianTimeline:
    """Switches in time, found by a search."""

    def __init__(self, eq: NaturalEquations):
        self._eq = eq

    def items(self) -> None:
        """None, because expressions have no source text: a search is needed."""

    def stops(self, begin: float, end: float, values: Mapping[str, Any]) -> list[float]:
        eq = self._eq
        known = eq.resolved.parameters
        p = [np.atleast_1d(np.asarray(values.get(x.name, x.default), float)).ravel() for x in known]
        chosen = np.concatenate([np.zeros(0), *p])
        return crossing_times(self._switching, eq.t, eq.p, eq.lookups, chosen, begin, end)

    @cached_property
    def _switching(self) -> SX:
        """(k,) functions of t and p that change their sign where a load, a motion or a constraint switches."""
        eq, parts = self._eq, self._eq.parts
        rows = [row.expression for row in (*parts.positions, *parts.velocities)]
        loads = [parts.lagrangian, *parts.rayleigh.values(), *parts.forces.values()]
        return switching_functions([*loads, *rows], eq.t, eq.p, eq.lookups)

    def jump_parameters(self) -> NDArray[np.bool_]:
        """All parameters."""
        return np.full(self._eq.resolved.p.numel(), True)

    def motions(self) -> dict[str, BoundOracle]:
        eq = self._eq
        given = eq.parts.given_motions().items()
        return {name: GivenMotion(position, eq.t, eq.p, eq.lookups).at for name, position in given}

    def motion_jump(self, begin: float, end: float, values: Mapping[str, Any], p: Floats) -> str | None:
        times = self.stops(begin, end, values)
        for name, at in self.motions().items() if times else ():
            found = jump_text(at, p, times, (begin, end))
            if found:
                return f"{name}: {found}"
        return None


@dataclass(frozen=True, eq=False)
class InertiaCheck:
    """Raises an error for parameters that would make a mass or a moment of inertia negative. `numbers`: p -> these
    (n,)."""

    words: tuple[str, ...]
    numbers: BoundOracle
    signed: tuple[SignedNumber, ...] = ()

    def __call__(self, p: Floats) -> None:
        for number in self.signed:
            number.check(p)
        for what, number in zip(self.words, self.numbers(p)[0].ravel().tolist(), strict=True):
            if number < 0:
                raise ModelError(f"{what} must not be negative (got {number:g}); check the parameters")


class LagrangianReports:
    """Reports of a mechanism modeled with points or of a bare Lagrangian."""

    def __init__(self, eq: NaturalEquations):
        self._eq, self._parts = eq, eq.parts

    def outputs(self, work: SX) -> tuple[Output, ...]:
        return tuple(self._parts.report(self._eq, work))

    def quantities(self) -> Mapping[str, tuple[str | tuple[str, ...], tuple[str, ...], SX]]:
        eq = self._eq
        places = [(name, ("m", (), eq.q[k])) for k, name in enumerate(self._parts.q_names)]
        outputs = self.outputs(SX.sym("w", len(eq.energies.powers)))
        return dict([*places, *((o.name, (o.unit, o.components, ca.vec(o.expression))) for o in outputs)])

    @cached_property
    def check(self) -> InertiaCheck:
        inertias = self._parts.inertias
        values = column([*inertias.values()])
        numbers = self._eq.lookups.bound([self._eq.p], [values])
        return InertiaCheck(tuple(inertias), numbers, self._parts.resolved.signed)

    def left_range(self, t: float, q: Floats, v: Floats, z: Floats, p: Floats) -> RangeExit | None:
        eq = self._eq
        outside = eq.lookups.range_error([eq.t, eq.q, eq.v, eq.p], [t, q, v, p])
        return None if outside is None else RangeExit.of(str(outside))

    def failure(self, t: float, q: Floats, v: Floats, z: Floats, p: Floats) -> str:
        eq = self._eq
        left = self.left_range(t, q, v, z, p) or eq.lookups.failed_function(
            [eq.t, eq.q, eq.v, eq.p], [t, q, v, p]
        )
        return str(left) if left is not None else self._coincidence(t, q, p) or self.singularity(t, q, v, p)

    def _coincidence(self, t: float, q: Floats, p: Floats) -> str:
        """The element along a line whose ends coincide."""
        eq, spans = self._eq, self._parts.spans
        squares = eq.lookups.oracle("spans", [eq.t, eq.q, eq.p], [column([*spans.values()])])(t, q, p)
        for what, square in zip(spans, np.array(squares).ravel().tolist(), strict=True):
            if square == 0:
                return (
                    f"{what} coincide, so a force along the line between them has no direction; move them "
                    "apart, or use an isotropic damper and a spring of length 0"
                )
        return ""

    @cached_property
    def singularity(self) -> MotionWithoutInertia:
        return motion_without_inertia(self._eq, self._parts.q_names)

    def inventory(self, p: Floats) -> Inventory:
        eq, parts = self._eq, self._parts
        lines = [
            f"mechanism '{parts.resolved.model.name}' in natural coordinates",
            *([str(parts.table)] if parts.table else []),
        ]
        mass = None
        if parts.mass is not None:
            mass = float(eq.lookups.oracle("mass", [eq.p], [parts.mass])(p))
        names = {"parameters": [parameter.name for parameter in parts.resolved.parameters]}
        counts = "" if eq.constraints else counted(eq.nv, "coordinates")
        return Inventory(tuple(lines), counts, {**parts.items, **names}, mass)

    def scene(self, p: Floats) -> Scene:
        return self._parts.scene
