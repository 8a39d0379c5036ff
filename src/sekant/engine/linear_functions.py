"""Compiled first variation of a system: residual, exact tangent, derivatives with respect to parameters.

See `sekant.formulations.variation` for the equations. All arrays are in the tangent space: displacements s and
velocities have nv entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.native import NativeFunction
from sekant.engine.system import System
from sekant.formulations.variation import Variation
from sekant.geometry.spatial import SX

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Point:
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
class Tangent:
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
    return system.once("linear functions", lambda: LinearFunctions(system))


class LinearFunctions:
    """Functions are compiled when first asked for."""

    def __init__(self, system: System):
        self.system = system
        self.variation = Variation(system.equations)
        v = self.variation
        self.nv, self.m = system.nv, v.lam.numel()
        self.row_names = [block.name for block in v.blocks for _ in range(block.rows)]
        self.holonomic = np.array([block.holonomic for block in v.blocks for _ in range(block.rows)], bool)
        gaps = {id(block) for block in v.gaps}
        self.unilateral = np.array([id(block) in gaps for block in v.blocks for _ in range(block.rows)], bool)

    def _native(self, name: str, inputs: list[SX], results: list[SX]) -> NativeFunction:
        return self.system.function(f"linear.{name}", inputs, [ca.densify(r) for r in results])

    def _matrix(self, value: Array, rows: int) -> Array:
        return value.reshape(rows, -1) if value.size else np.zeros((rows, self.nv))

    # -- in motion -------------------------------------------------------------------------------------

    @cached_property
    def _residual(self) -> NativeFunction:
        v = self.variation
        return self._native("residual", v.inputs, [v.residual, v.Phi, v.rate, v.acceleration])

    def residual(self, point: Point) -> tuple[Array, Array, Array, Array]:
        """R (nv,), Phi, rate and acceleration (m,)."""
        R, Phi, rate, acceleration = self._residual(*point.arguments)
        return R.ravel(), Phi.ravel(), rate.ravel(), acceleration.ravel()

    @cached_property
    def _tangent(self) -> NativeFunction:
        v, eq = self.variation, self.system.equations
        results = [v.by(v.residual, v.a), v.by(v.residual, eq.v), v.by_coordinates(v.residual)]
        if self.m:
            results += [
                v.by(v.rate, eq.v),
                v.by_coordinates(v.rate),
                v.by(v.acceleration, eq.v),
                v.by_coordinates(v.acceleration),
            ]
        return self._native("tangent", v.inputs, [*results, *v.turning])

    def tangent(self, point: Point) -> Tangent:
        n, m = self.nv, self.m
        M, R_v, R_s, *rest = self._tangent(*point.arguments)
        M, R_v, R_s = (self._matrix(x, n) for x in (M, R_v, R_s))
        rows = [self._matrix(x, m) for x in rest[:4]] if m else [np.zeros((0, n))] * 4
        turning = rest[4:] if m else rest
        X = X_rate = np.zeros((n, n))
        if turning:
            N, N_rate, T, T_rate = (x.reshape(self.system.nq, n) for x in turning)
            inverse = np.linalg.pinv(N)
            X = inverse @ T
            X_rate = inverse @ (T_rate - N_rate @ X)
        G, H, acc_v, acc_s = rows
        return Tangent(M, R_v, R_s, G, H, acc_v, acc_s, X, X_rate)

    @cached_property
    def _slopes(self) -> NativeFunction:
        v, p = self.variation, self.system.equations.p
        results = [v.by(e, p) for e in (v.residual, v.Phi, v.rate, v.acceleration)]
        return self._native("slopes", v.inputs, results)

    def slopes(self, point: Point) -> Slopes:
        count = point.p.size
        if not count:
            none = np.zeros((self.m, 0))
            return Slopes(np.zeros((self.nv, 0)), none, none, none)
        R, Phi, rate, acceleration = self._slopes(*point.arguments)
        rows = (x.reshape(self.m, count) for x in (Phi, rate, acceleration))
        return Slopes(R.reshape(self.nv, count), *rows)

    # -- at rest ---------------------------------------------------------------------------------------

    @cached_property
    def _static(self) -> NativeFunction:
        v, eq = self.variation, self.system.equations
        R, Phi, drift, gamma = v.at_rest([v.residual, v.Phi, v.rate, v.acceleration])
        G = v.by(v.rate, eq.v) if self.m else SX.zeros(0, self.nv)
        G = v.at_rest([G])[0]
        results = [R, v.by_coordinates(R), Phi, G, drift, gamma]
        return self._native("static", [eq.t, eq.q, v.lam, eq.p], results)

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
    def _mass(self) -> NativeFunction:
        eq = self.system.equations
        M = eq.lookups.substitute(eq.mass_matrix, eq.v, SX.zeros(self.nv))
        return self._native("mass", [eq.t, eq.q, eq.p], [M])

    def mass_matrix(self, t: float, q: Array, p: Array) -> Array:
        """M (nv, nv)."""
        return self._matrix(self._mass(np.array([t]), q, p)[0], self.nv)
