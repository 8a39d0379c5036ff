"""Linear equations of a constrained motion in independent coordinates, and their exact derivatives.

The variation (s, w) of `sekant.formulations.variation` is expressed by z = E_q s and y = E_v w with constant rows
E_q, E_v: named coordinates, or an orthonormal basis of the current null space (TROM 4.9). With inputs u, whose
derivatives are R_u, Phi_u, rate_u, acc_u:

    s  = Z_q z + P u                      G_h Z_q = 0,      G_h P = -Phi_u
    w  = Z_v y + W z + V u                G_v Z_v = 0,      G W = -H Z_q,    G V = -(H P + rate_u)
    w' = Z_v y' + A_y y + A_z z + A_u u   G A_y = -acc_v Z_v,   G A_z = -(acc_v W + acc_s Z_q),   ...

with E_q Z_q = 1, E_v Z_v = 1, and E x = 0 for every other column x of these. The remaining equations are

    z' = E_q (X s + w) ,     Z_v^T (M w' + R_v w + R_s s + R_u u) = 0 .

W, A_y and A_z are the second-order terms of moving constraints. R_s contains d(Phi_q^T lam)/dq, which TROM (4.12)
neglects. The derivative of x from ``G x = b, E x = 0`` solves ``G dx = db - dG x, E dx = 0``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from sekant.analyses.assembly.tangent_space import TangentSpace
from sekant.engine.functions.linear import EquationTangent
from sekant.errors import SolverError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class InputColumns:
    """Derivatives of the equations with respect to inputs: R (nv, k); Phi, rate, acceleration (m, k)."""

    R: Array
    Phi: Array
    rate: Array
    acceleration: Array

    @staticmethod
    def none(nv: int, m: int, count: int) -> InputColumns:
        rows = np.zeros((m, count))
        return InputColumns(np.zeros((nv, count)), rows, rows, rows)


@dataclass(frozen=True, eq=False)
class InputResponse:
    """Effects of inputs: rates of z (fq, k) and y (fv, k), displacements P (nv, k) and velocities V (nv, k)."""

    z: Array
    y: Array
    P: Array
    V: Array


class IndependentRows:
    """Rows E_q (fq, nv), E_v (fv, nv) and the null spaces of constraints G (m, nv); `holonomic` (m,) marks rows."""

    def __init__(self, G: Array, holonomic: NDArray[np.bool_], independent: list[int] | None = None):
        self.holonomic, self.orthonormal = holonomic, independent is None
        self.positions = TangentSpace.of(G[holonomic])
        self.velocities = self.positions if np.all(holonomic) else TangentSpace.of(G)
        self.E_q, self.E_v = self.positions.Z.T, self.velocities.Z.T
        if independent is not None:
            rows = np.eye(G.shape[1])[independent]
            self.E_q = rows
            self.E_v = rows if self.velocities is self.positions else self.E_v
        self.Z_q = self.positions.Z @ np.linalg.inv(self.E_q @ self.positions.Z)
        self.Z_v = self.velocities.Z @ np.linalg.inv(self.E_v @ self.velocities.Z)

    @property
    def second_order(self) -> bool:
        return self.velocities is self.positions

    def at_positions(self, b: Array) -> Array:
        """x with G_h x = b, E_q x = 0."""
        x = self.positions.inverse @ b[self.holonomic]
        return x - self.Z_q @ (self.E_q @ x)

    def at_velocities(self, b: Array) -> Array:
        """x with G x = b, E_v x = 0."""
        x = self.velocities.inverse @ b
        return x - self.Z_v @ (self.E_v @ x)


class ReducedEquations:
    """The equations in independent coordinates, ``z' = X_r z + T y + ..., M y' + C_y y + K_z z = ...``, for z (fq,)
    and y (fv,)."""

    def __init__(self, tangent: EquationTangent, basis: IndependentRows):
        self.tangent, self.basis = tangent, basis
        T, b = tangent, basis
        self.W = b.at_velocities(-T.H @ b.Z_q)
        self.A_y = b.at_velocities(-T.acc_v @ b.Z_v)
        self.A_z = b.at_velocities(-(T.acc_v @ self.W + T.acc_s @ b.Z_q))
        self.force_z = T.M @ self.A_z + T.R_v @ self.W + T.R_s @ b.Z_q
        self.force_y = T.M @ self.A_y + T.R_v @ b.Z_v
        self.M = b.Z_v.T @ T.M @ b.Z_v
        self.C_y = b.Z_v.T @ self.force_y
        self.K_z = b.Z_v.T @ self.force_z
        self.rates_z = b.E_q @ (T.X @ b.Z_q + self.W)
        self.rates_y = b.E_q @ b.Z_v
        self._factor = _factored(self.M)

    def solve(self, forces: Array) -> Array:
        """M^-1 forces."""
        return scipy.linalg.lu_solve(self._factor, forces) if forces.size else forces

    @property
    def A(self) -> Array:
        """System matrix (fq + fv, fq + fv)."""
        below = np.hstack([-self.solve(self.K_z), -self.solve(self.C_y)])
        return np.vstack([np.hstack([self.rates_z, self.rates_y]), below])

    def second_order(self) -> tuple[Array, Array, Array]:
        """M, C, K (f, f) of M z'' + C z' + K z = 0."""
        T, b = self.tangent, self.basis
        if not b.second_order:
            raise SolverError(
                "velocity constraints (rolling) leave more positions than velocities free, so M, C and K "
                "would differ in size; use A, or the descriptor form"
            )
        turn = b.E_q @ T.X @ b.Z_q
        Z_rate = b.at_positions(-(T.H - T.G @ T.X) @ b.Z_q)
        turn_rate = b.E_q @ (T.X_rate @ b.Z_q + T.X @ Z_rate)
        C = self.C_y - self.M @ turn
        return self.M, C, self.K_z - self.C_y @ turn - self.M @ turn_rate

    def respond(self, u: InputColumns) -> InputResponse:
        T, b = self.tangent, self.basis
        P = b.at_positions(-u.Phi)
        V = b.at_velocities(-(T.H @ P + u.rate))
        A_u = b.at_velocities(-(T.acc_v @ V + T.acc_s @ P + u.acceleration))
        force = b.Z_v.T @ (T.M @ A_u + T.R_v @ V + T.R_s @ P + u.R)
        return InputResponse(b.E_q @ (T.X @ P + V), -self.solve(force), P, V)


class ReductionRate:
    """Derivative of a reduction along a change dT of the tangent.

    The rows E are constant, or (`turning`) remain an orthonormal basis of the null space as it rotates,
    dE = -(G^+ dG Z)^T; columns x with E x = 0 then change by E dx = -dE x. `turning` has an effect only for
    equations frozen at an instant of a motion, whose eigenvalues depend on the coordinates.
    """

    def __init__(self, reduction: ReducedEquations, change: EquationTangent, turning: bool = False):
        r, T, b, d = reduction, reduction.tangent, reduction.basis, change
        self.reduction, self.change = r, change
        turning = turning and b.orthonormal
        self.E_q = -(b.positions.inverse @ d.G[b.holonomic] @ b.Z_q).T if turning else np.zeros_like(b.E_q)
        self.E_v = -(b.velocities.inverse @ d.G @ b.Z_v).T if turning else np.zeros_like(b.E_v)
        self.Z_q = b.at_positions(-d.G @ b.Z_q)
        self.Z_v = self.Z_q if b.second_order else b.at_velocities(-d.G @ b.Z_v)
        self.W = self._at_velocities(r.W, -(d.H @ b.Z_q + T.H @ self.Z_q))
        self.A_y = self._at_velocities(r.A_y, -(d.acc_v @ b.Z_v + T.acc_v @ self.Z_v))
        below = d.acc_v @ r.W + T.acc_v @ self.W + d.acc_s @ b.Z_q + T.acc_s @ self.Z_q
        self.A_z = self._at_velocities(r.A_z, -below)
        force_z = (
            d.M @ r.A_z + T.M @ self.A_z + d.R_v @ r.W + T.R_v @ self.W + d.R_s @ b.Z_q + T.R_s @ self.Z_q
        )
        force_y = d.M @ r.A_y + T.M @ self.A_y + d.R_v @ b.Z_v + T.R_v @ self.Z_v
        self.M = self.Z_v.T @ T.M @ b.Z_v + b.Z_v.T @ (d.M @ b.Z_v + T.M @ self.Z_v)
        self.C_y = self.Z_v.T @ r.force_y + b.Z_v.T @ force_y
        self.K_z = self.Z_v.T @ r.force_z + b.Z_v.T @ force_z
        self.rates_z = b.E_q @ (d.X @ b.Z_q + T.X @ self.Z_q + self.W) + self.E_q @ (T.X @ b.Z_q + r.W)
        self.rates_y = b.E_q @ self.Z_v + self.E_q @ b.Z_v

    def _at_velocities(self, x: Array, db: Array) -> Array:
        """dx for x with G x = b, E_v x = 0."""
        b = self.reduction.basis
        return b.at_velocities(db - self.change.G @ x) - b.Z_v @ (self.E_v @ x)

    def _at_positions(self, x: Array, db: Array) -> Array:
        """dx for x with G_h x = b, E_q x = 0."""
        b = self.reduction.basis
        return b.at_positions(db - self.change.G @ x) - b.Z_q @ (self.E_q @ x)

    def _solve_rate(self, x: Array, d_forces: Array) -> Array:
        """d(M^-1 f) for x = M^-1 f."""
        return self.reduction.solve(d_forces - self.M @ x)

    @property
    def A(self) -> Array:
        r = self.reduction
        K = self._solve_rate(r.solve(r.K_z), self.K_z)
        C = self._solve_rate(r.solve(r.C_y), self.C_y)
        return np.vstack([np.hstack([self.rates_z, self.rates_y]), np.hstack([-K, -C])])

    def respond(self, u: InputColumns, du: InputColumns) -> InputResponse:
        r, d = self.reduction, self.change
        T, b = r.tangent, r.basis
        at = r.respond(u)
        A_u = b.at_velocities(-(T.acc_v @ at.V + T.acc_s @ at.P + u.acceleration))
        P = self._at_positions(at.P, -du.Phi)
        V = self._at_velocities(at.V, -(d.H @ at.P + T.H @ P + du.rate))
        below = d.acc_v @ at.V + T.acc_v @ V + d.acc_s @ at.P + T.acc_s @ P + du.acceleration
        A_rate = self._at_velocities(A_u, -below)
        inner = T.M @ A_u + T.R_v @ at.V + T.R_s @ at.P + u.R
        change = d.M @ A_u + T.M @ A_rate + d.R_v @ at.V + T.R_v @ V + d.R_s @ at.P + T.R_s @ P + du.R
        forces = self.Z_v.T @ inner + b.Z_v.T @ change
        z = b.E_q @ (d.X @ at.P + T.X @ P + V) + self.E_q @ (T.X @ at.P + at.V)
        return InputResponse(z, -self._solve_rate(-at.y, forces), P, V)


def restricted(tangent: EquationTangent, rows: NDArray[np.bool_]) -> EquationTangent:
    """The tangent with only these `rows` (m,) of the constraints."""
    parts = {f.name: getattr(tangent, f.name) for f in fields(tangent)}
    for name in ("G", "H", "acc_v", "acc_s"):
        parts[name] = parts[name][rows]
    return EquationTangent(**parts)


def _factored(M: Array) -> Any:
    if not M.size:
        return None
    sizes = np.linalg.svd(M, compute_uv=False)
    if sizes[-1] <= 1e-13 * sizes[0]:
        raise SolverError(
            f"the mass matrix of the free motions is singular (singular values from {sizes[-1]:.1e} to "
            f"{sizes[0]:.1e}): a coordinate without mass can move; give its body a mass, or use the descriptor form"
        )
    return scipy.linalg.lu_factor(M)
