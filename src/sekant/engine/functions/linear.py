"""Compiled first variation of a system: residual, exact tangent, derivatives with respect to parameters.

See `sekant.formulations.variation` for the equations. All arrays are in the tangent space: displacements s and
velocities have nv entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.errors import SekantError, SolverError
from sekant.formulations.kkt import KktFactor
from sekant.formulations.variation import Variation
from sekant.geometry.spatial import SX

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionPoint:
    """A moment of a motion: time t (s), q (nq,), v (nv,), a (nv,), multipliers lam (m,), parameters p (np,)."""

    t: float
    q: Array
    v: Array
    a: Array
    lam: Array
    p: Array

    @property
    def arguments(self) -> tuple[Array, ...]:
        return np.array([self.t]), self.q, self.v, self.a, self.lam, self.p


@dataclass(frozen=True, eq=False)
class EquationTangent:
    """Derivatives at a point: M, R_v, R_s, X, X_rate (nv, nv); G, H, acc_v, acc_s (m, nv)."""

    M: Array
    R_v: Array
    R_s: Array
    G: Array
    H: Array
    acc_v: Array
    acc_s: Array
    X: Array
    X_rate: Array


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives with respect to p: of the residual (nv, np), of Phi, its rate and its acceleration (m, np)."""

    R: Array
    Phi: Array
    rate: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class Static:
    """At rest: residual R (nv,), its stiffness K (nv, nv), Phi (m,), drift (m,), gamma (m,), G (m, nv)."""

    R: Array
    K: Array
    Phi: Array
    G: Array
    drift: Array
    gamma: Array


def linear_functions(system: System) -> LinearFunctions:
    """The functions of a system, made once."""
    if system.nz:
        names = ", ".join(system.equations.elements.names[:4]) + (", ..." if system.nz > 4 else "")
        raise SolverError(
            f"model '{system.model.name}' has states of signals or elements ({names}), "
            "which this analysis does not support; simulate it, or remove those elements"
        )
    return system.once("linear functions", lambda: LinearFunctions(system))


class LinearFunctions:
    """Native functions, compiled when they are first needed."""

    def __init__(self, system: System):
        self.system, self.nv = system, system.nv
        rows: list[tuple[str, bool, bool, bool]] = system.cached("linear rows", self._rows)
        self.m, self.row_names = len(rows), [name for name, *_ in rows]
        self.holonomic, self.tracked, self.unilateral = (
            np.array([row[k] for row in rows], bool) for k in (1, 2, 3)
        )

    @cached_property
    def variation(self) -> Variation:
        return Variation(self.system.equations)

    def _rows(self) -> list[tuple[str, bool, bool, bool]]:
        """For every equation: the name, and whether it restricts positions, is tracked, is one-sided."""
        v = self.variation
        gaps = {id(block) for block in v.gaps}
        found = [
            (b.name, bool(b.holonomic), b.kind == "tracked", id(b) in gaps)
            for b in v.blocks
            for _ in range(b.rows)
        ]
        assert len(found) == v.lam.numel()
        return found

    def _native(self, name: str, terms: Callable[[], tuple[list[SX], list[SX]]]) -> NativeFunction:
        """The function with this name; `terms` makes its inputs and results."""

        def make() -> NativeFunction:
            inputs, results = terms()
            return self.system.function(f"linear.{name}", inputs, [ca.densify(r) for r in results])

        return self.system.cached(("linear", name), make)

    @cached_property
    def _curved(self) -> bool:
        return self.system.cached("linear curved", lambda: bool(self.variation.curved))

    def _matrix(self, value: Array, rows: int) -> Array:
        return value.reshape(rows, -1) if value.size else np.zeros((rows, self.nv))

    # -- in motion -------------------------------------------------------------------------------------

    @cached_property
    def _residual(self) -> NativeFunction:
        def terms() -> tuple[list[SX], list[SX]]:
            v = self.variation
            return v.inputs, [v.residual, v.Phi, v.rate, v.acceleration]

        return self._native("residual", terms)

    @property
    def has_switches(self) -> bool:
        """Whether the residual contains tables or comparisons."""
        return bool(self._residual.sites)

    def residual(self, point: MotionPoint) -> tuple[Array, Array, Array, Array]:
        """R (nv,), Phi, rate and acceleration (m,)."""
        R, Phi, rate, acceleration = self._residual(*point.arguments)
        return R.ravel(), Phi.ravel(), rate.ravel(), acceleration.ravel()

    @property
    def differences(self) -> tuple[NativeFunction, NativeFunction]:
        """(t, q, v, a, lam, p) -> R, Phi, rate, acceleration; and (q, s) -> q displaced by s, as native functions."""

        def terms() -> tuple[list[SX], list[SX]]:
            eq, s = self.system.equations, SX.sym("s", self.nv)
            return [eq.q, s], [eq.q + ca.substitute(eq.qdot, eq.v, s)]

        return self._residual, self._native("retract", terms)

    @cached_property
    def _tangent_terms(self) -> list[SX]:
        v, eq = self.variation, self.system.equations
        results = [eq.mass_matrix, v.by(v.residual, eq.v), v.by_coordinates(v.residual)]
        if self.m:
            results += [v.G, v.H, v.acceleration_by_velocities, v.by_coordinates(v.acceleration)]
        return results

    @cached_property
    def _tangent(self) -> NativeFunction:
        return self._native("tangent", lambda: (self.variation.inputs, self._tangent_terms))

    @property
    def native_tangent(self) -> NativeFunction:
        """(t, q, v, a, lam, p) -> M, R_v, R_s, with constraints also G, H, acc_v, acc_s, as native function."""
        return self._tangent

    @property
    def forward_derivatives(self) -> SX:
        """(nv, 1 + 2 nv): accelerations of a tree, and their derivatives with respect to s and v."""
        if self.m:
            raise SekantError(
                "derivatives of accelerations exist only for trees; with constraints, use sk.linearize"
            )
        v, eq = self.variation, self.system.equations
        slopes = (
            eq.lookups.substitute(R, v.a, eq.a)
            for R in (v.by_coordinates(v.residual), v.by(v.residual, eq.v))
        )
        factor = KktFactor(eq.mass_matrix, SX(0, self.nv), 0.0, 0.0)
        return ca.horzcat(eq.a, *(-factor.direct(ca.densify(R)) for R in slopes))

    def tangent(self, point: MotionPoint) -> EquationTangent:
        return self._shaped(self._tangent(*point.arguments), *self.turning(point))

    def _shaped(self, values: list[Array], X: Array, X_rate: Array) -> EquationTangent:
        n, m = self.nv, self.m
        M, R_v, R_s, *rest = values
        M, R_v, R_s = (self._matrix(x, n) for x in (M, R_v, R_s))
        rows = [self._matrix(x, m) for x in rest[:4]] if m else [np.zeros((0, n))] * 4
        G, H, acc_v, acc_s = rows
        return EquationTangent(M, R_v, R_s, G, H, acc_v, acc_s, X, X_rate)

    @cached_property
    def _slopes(self) -> NativeFunction:
        def terms() -> tuple[list[SX], list[SX]]:
            v, p = self.variation, self.system.equations.p
            return v.inputs, [v.by(e, p) for e in (v.residual, v.Phi, v.rate, v.acceleration)]

        return self._native("slopes", terms)

    def slopes(self, point: MotionPoint) -> Slopes:
        count = point.p.size
        if not count:
            none = np.zeros((self.m, 0))
            return Slopes(np.zeros((self.nv, 0)), none, none, none)
        R, Phi, rate, acceleration = self._slopes(*point.arguments)
        rows = (x.reshape(self.m, count) for x in (Phi, rate, acceleration))
        return Slopes(R.reshape(self.nv, count), *rows)

    @cached_property
    def _turning(self) -> NativeFunction:
        return self._native("turning", lambda: (self.variation.inputs, self.variation.turning))

    def turning(self, point: MotionPoint) -> tuple[Array, Array]:
        """X and its rate, each (nv, nv)."""
        if not self._curved:
            return np.zeros((self.nv, self.nv)), np.zeros((self.nv, self.nv))
        return self._turned(self._turning(*point.arguments))

    def _turned(self, values: list[Array]) -> tuple[Array, Array]:
        N, N_rate, T, T_rate = (x.reshape(self.system.nq, self.nv) for x in values)
        inverse = np.linalg.pinv(N)
        X = inverse @ T
        return X, inverse @ (T_rate - N_rate @ X)

    # -- second derivatives ----------------------------------------------------------------------------

    def _along(self, expressions: list[SX]) -> tuple[list[SX], list[SX]]:
        """Derivatives along a change of the point, and the symbols ds, dv, da (nv,), dlam (m,), dp (np,) of it."""
        v, eq = self.variation, self.system.equations
        names = (("ds", self.nv), ("dv", self.nv), ("da", self.nv), ("dlam", self.m), ("dp", eq.p.numel()))
        change = [SX.sym(name, size) for name, size in names]
        ds, dv, da, dlam, dp = change
        symbols = ca.vertcat(eq.q, eq.v, v.a, v.lam, eq.p)
        direction = ca.vertcat(v.N @ ds, dv, da, dlam, dp)
        return [eq.lookups.jtimes(ca.densify(e), symbols, direction) for e in expressions], change

    @cached_property
    def _tangent_change(self) -> NativeFunction:
        def terms() -> tuple[list[SX], list[SX]]:
            rates, change = self._along([*self._tangent_terms, *self.variation.turning])
            return [*self.variation.inputs, *change], rates

        return self._native("tangent_change", terms)

    def tangent_change(
        self, point: MotionPoint, ds: Array, dv: Array, da: Array, dlam: Array, dp: Array
    ) -> EquationTangent:
        """Derivative of the tangent along a change of the point; the rate of X is not included."""
        values = self._tangent_change(*point.arguments, ds, dv, da, dlam, dp)
        unknown = np.full((self.nv, self.nv), np.nan)
        if not self._curved:
            return self._shaped(values, np.zeros((self.nv, self.nv)), unknown)
        shape = (self.system.nq, self.nv)
        N, _, T, _ = (x.reshape(shape) for x in self._turning(*point.arguments))
        dN, _, dT, _ = (x.reshape(shape) for x in values[-4:])
        inverse = np.linalg.pinv(N)
        return self._shaped(values[:-4], inverse @ (dT - dN @ (inverse @ T)), unknown)

    @cached_property
    def _slopes_change(self) -> NativeFunction:
        def terms() -> tuple[list[SX], list[SX]]:
            v, p = self.variation, self.system.equations.p
            rates, change = self._along([v.by(e, p) for e in (v.residual, v.Phi, v.rate, v.acceleration)])
            return [*v.inputs, *change], rates

        return self._native("slopes_change", terms)

    def slopes_change(
        self, point: MotionPoint, ds: Array, dv: Array, da: Array, dlam: Array, dp: Array
    ) -> Slopes:
        """Derivative of the slopes along a change of the point."""
        values = self._slopes_change(*point.arguments, ds, dv, da, dlam, dp)
        R, *rows = values
        return Slopes(R.reshape(self.nv, -1), *(x.reshape(self.m, point.p.size) for x in rows))

    # -- at rest ---------------------------------------------------------------------------------------

    @cached_property
    def _static(self) -> NativeFunction:
        def terms() -> tuple[list[SX], list[SX]]:
            v, eq = self.variation, self.system.equations
            R, Phi, drift, gamma = v.at_rest([v.residual, v.Phi, v.rate, v.acceleration])
            G = v.at_rest([v.G])[0] if self.m else SX.zeros(0, self.nv)
            return [eq.t, eq.q, v.lam, eq.p], [R, v.by_coordinates(R), Phi, G, drift, gamma]

        return self._native("static", terms)

    def static(self, t: float, q: Array, lam: Array, p: Array) -> Static:
        R, K, Phi, G, drift, gamma = self._static(np.array([t]), q, lam, p)
        return Static(
            R.ravel(),
            self._matrix(K, self.nv),
            Phi.ravel(),
            self._matrix(G, self.m),
            drift.ravel(),
            gamma.ravel(),
        )

    @cached_property
    def native_rest_tangent(self) -> NativeFunction:
        """(t, q, v, a, lam, p) -> the results of `native_tangent` for v = 0 and a = 0, with far fewer operations."""

        def terms() -> tuple[list[SX], list[SX]]:
            v, eq = self.variation, self.system.equations
            R, rate, acceleration = v.at_rest([v.residual, v.rate, v.acceleration])
            M, R_v = v.at_rest([eq.mass_matrix, v.by(v.residual, eq.v)])
            results = [M, R_v, v.by_coordinates(R)]
            if self.m:
                moving = not ca.simplify(rate).is_zero()
                acc_v = v.at_rest([v.acceleration_by_velocities])[0] if moving else SX(self.m, self.nv)
                results += [v.at_rest([v.G])[0], v.by_coordinates(rate), acc_v]
                results.append(v.by_coordinates(acceleration))
            return v.inputs, results

        return self._native("rest_tangent", terms)

    def rest_tangent(self, point: MotionPoint) -> EquationTangent:
        """The tangent at a point at rest, with v = 0 and a = 0."""
        none = np.zeros((self.nv, self.nv))
        return self._shaped(self.native_rest_tangent(*point.arguments), none, none)

    @cached_property
    def native_rest_residual(self) -> NativeFunction:
        """(t, q, lam, p) -> R (nv,) at rest."""

        def terms() -> tuple[list[SX], list[SX]]:
            v, eq = self.variation, self.system.equations
            return [eq.t, eq.q, v.lam, eq.p], v.at_rest([v.residual])

        return self._native("rest_residual", terms)

    @cached_property
    def native_mass(self) -> NativeFunction:
        """(t, q, p) -> M (nv, nv)."""

        def terms() -> tuple[list[SX], list[SX]]:
            eq = self.system.equations
            return [eq.t, eq.q, eq.p], [eq.lookups.substitute(eq.mass_matrix, eq.v, SX.zeros(self.nv))]

        return self._native("mass", terms)

    def mass_matrix(self, t: float, q: Array, p: Array) -> Array:
        """M (nv, nv)."""
        return self._matrix(self.native_mass(np.array([t]), q, p)[0], self.nv)
