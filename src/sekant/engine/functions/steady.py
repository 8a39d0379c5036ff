"""Compiled equations of steady motions: the velocities are, and remain, those of a group motion.

All bodies move as one rigid body that turns about an axis and travels (the group motion), while some
coordinates change at constant rates in addition. With u = v less these rates, the conditions and their rate
along the motion are

    E(q, v) = J(q) u - xi(q) = 0 ,      dE/dt = 0 ,

J u being the twists of all bodies in W (in natural coordinates, the rates of points and directions) and xi those of
the group motion at their places. Without a group motion they are E = u. The vector g of numbers holds the turn
(rad/s), the velocity (3,) m/s, the axis (3,), a point of it (3,) m, and the rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.functions.linear import MotionPoint, linear_functions
from sekant.engine.system import System
from sekant.geometry.spatial import SX

Array = NDArray[Any]
FIRST_RATE = 10
"""Index of the first rate in g, after turn, velocity, axis and point."""
MEASURES = ("speed", "radius", "lateral_acceleration")


@dataclass(frozen=True, eq=False)
class Conditions:
    """E and dE/dt (k,); derivatives of E with respect to s, v, p, g and of dE/dt by s, v, p, g."""

    E: Array
    E_rate: Array
    by: tuple[Array, ...]
    rate_by: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class MotionField:
    """J (k, nv), E_s (k, nv) and their rates along the motion."""

    J: Array
    E_s: Array
    J_rate: Array
    E_s_rate: Array


class SteadyFunctions:
    """For a set of `rates` (indices of velocities) and of bodies in the group motion (None: there is none)."""

    def __init__(self, system: System, rates: Sequence[int], members: frozenset[str] | None):
        self.system, self.rates, self.members = system, tuple(rates), members
        self.variation = linear_functions(system).variation
        self.g = SX.sym("g", FIRST_RATE + len(self.rates))
        self.row_names: list[str] = []

    def twist_of_group(self, place: SX) -> SX:
        """(6,) velocity of the point `place` and angular velocity, in W."""
        turn = self.g[0] * self.g[4:7]
        return ca.vertcat(self.g[1:4] + ca.cross(turn, place - self.g[7:10]), turn)

    @cached_property
    def E(self) -> SX:
        eq = self.system.equations
        spins = SX.zeros(self.system.nv)
        for k, i in enumerate(self.rates):
            spins[i] = self.g[FIRST_RATE + k]
        u = eq.v - spins
        names = self.system.state_names[self.system.nq :]
        if self.members is None:
            self.row_names = [f"steady {names[i]}" for i in range(self.system.nv)]
            return u
        moving = eq.motion.group_rows(eq, spins, self.members, self.twist_of_group)
        self.row_names = [f"steady {name}" for name, _ in moving.rows]
        self.row_names += [f"steady {names[i]}" for i in moving.own]
        return ca.densify(ca.vertcat(*[row for _, row in moving.rows], *[u[i] for i in moving.own]))

    @cached_property
    def _inputs(self) -> list[SX]:
        eq = self.system.equations
        return [eq.t, eq.q, eq.v, self.variation.a, eq.p, self.g]

    def _by(self, expression: SX) -> list[SX]:
        v, eq = self.variation, self.system.equations
        parts = [v.by_coordinates(expression), *(v.by(expression, x) for x in (eq.v, eq.p, self.g))]
        return [ca.densify(part) for part in parts]

    def _native(self, name: str, results: Sequence[SX]) -> Any:
        return self.system.function(f"steady.{name}", self._inputs, [ca.densify(r) for r in results])

    @cached_property
    def _conditions(self) -> Any:
        rate = self.variation.along(self.E)
        return self._native("conditions", [self.E, rate, *self._by(self.E), *self._by(rate)])

    def _arguments(self, point: MotionPoint, g: Array) -> tuple[Array, ...]:
        return np.array([point.t]), point.q, point.v, point.a, point.p, g

    def conditions(self, point: MotionPoint, g: Array) -> Conditions:
        E, rate, *parts = self._conditions(*self._arguments(point, g))
        k = E.size
        widths = (self.system.nv, self.system.nv, point.p.size, g.size)
        shaped = [part.reshape(k, w) for part, w in zip(parts, (*widths, *widths), strict=True)]
        return Conditions(E.ravel(), rate.ravel(), tuple(shaped[:4]), tuple(shaped[4:]))

    @cached_property
    def _rows(self) -> Any:
        J = self.variation.by(self.E, self.system.equations.v)
        return self._native("rows", [J, self.E, self.variation.along(self.E)])

    def rows(self, point: MotionPoint, g: Array) -> tuple[Array, Array, Array]:
        """J (k, nv), E and dE/dt (k,): the parts of the conditions that determine velocities and accelerations."""
        J, E, rate = self._rows(*self._arguments(point, g))
        return J.reshape(-1, self.system.nv), E.ravel(), rate.ravel()

    @cached_property
    def _field_terms(self) -> list[SX]:
        v = self.variation
        J, E_s = v.by(self.E, self.system.equations.v), v.by_coordinates(self.E)
        return [ca.densify(part) for part in (J, E_s, v.along(J), v.along(E_s))]

    @cached_property
    def _field(self) -> Any:
        return self._native("field", self._field_terms)

    def _shaped(self, parts: Sequence[Array]) -> MotionField:
        n = self.system.nv
        return MotionField(*(part.reshape(-1, n) if part.size else np.zeros((0, n)) for part in parts))

    def field(self, point: MotionPoint, g: Array) -> MotionField:
        return self._shaped(self._field(*self._arguments(point, g)))

    @cached_property
    def _field_change(self) -> Any:
        eq, v, n = self.system.equations, self.variation, self.system.nv
        sizes = (("ds", n), ("dv", n), ("da", n), ("dp", eq.p.numel()), ("dg", self.g.numel()))
        change = [SX.sym(name, size) for name, size in sizes]
        symbols = ca.vertcat(eq.q, eq.v, v.a, eq.p, self.g)
        direction = ca.vertcat(v.N @ change[0], *change[1:])
        rates = [ca.densify(eq.lookups.jtimes(term, symbols, direction)) for term in self._field_terms]
        return self.system.function("steady.field_change", [*self._inputs, *change], rates)

    def field_change(
        self, point: MotionPoint, g: Array, ds: Array, dv: Array, da: Array, dp: Array, dg: Array
    ) -> MotionField:
        """Derivative of the field along a change of the point and of g."""
        return self._shaped(self._field_change(*self._arguments(point, g), ds, dv, da, dp, dg))

    def measure(self, body: str, what: str) -> Any:
        """The function (as `conditions`) of a body's speed (m/s), its radius (m) about the axis, or turn times
        speed (m/s^2), and its derivatives with respect to s, v, p, g."""
        p, v = self.system.equations.motion.place(body)
        turn, axis, arm = self.g[0], self.g[4:7], p - self.g[7:10]
        across = arm - axis * ca.dot(axis, arm)
        values = {
            "speed": ca.norm_2(v),
            "radius": ca.norm_2(across),
            "lateral_acceleration": turn * ca.norm_2(v),
        }
        value = values[what]
        name = f"measure.{body}.{what}"
        return self.system.once(
            ("steady", name, self.rates, self.members),
            lambda: self._native(name, [value, *self._by(value)]),
        )
