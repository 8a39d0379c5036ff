"""Exact derivatives of a driven motion by run-time parameters, by the implicit function theorem.

F(q, p) = (0, d), J w_i = e_i and J w_ij + d(J w_i)/dq N w_j = 0 (see `equations`) hold for all p. Along dp, with the
drives moved by dd, q moves by N s, and

    J s     = (0, dd) - F_p dp ,
    J dw_i  = - D(J w_i) [N s, dp] ,
    J dw_ij = - D(J w_ij + d(J w_i)/dq N w_j) [N s, dw_i, dw_j, dp] ,

where D[...] is the derivative along the named changes of q, w_i, w_j and p, with constant unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.equations import DrivenEquations
from sekant.engine.codegen.native import NativeFunction
from sekant.errors import SolverError
from sekant.geometry.spatial import SX

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ParameterRates:
    """Derivatives along k directions of p, at n points of m drives."""

    s: Array  # (n, k, nv) displacements of q
    w: Array  # (n, k, m, nv)
    ww: Array  # (n, k, m, m, nv)


def parameter_rates(
    equations: DrivenEquations, q: Array, w: Array, ww: Array, directions: Array, drives: Array
) -> ParameterRates:
    """Derivatives at q (n, nq) with w (n, m, nv), ww (n, m, m, nv), along `directions` (k, np) of p.

    `drives` (k, M) or (n, k, M): derivatives of the values of all M drives along each direction; held quantities are
    last.
    """
    system = equations.system
    by_p, first, second, terms = _functions(equations)
    n, k, nv, m = q.shape[0], directions.shape[0], system.nv, w.shape[1]
    time, row = np.array([[equations.t]]), equations.p.reshape(1, -1)
    J = terms.map(time, q, row)[1].reshape(n, -1, nv)
    inverse = _inverse(J)
    Q, D = np.repeat(q, k, axis=0), np.tile(directions, (n, 1))

    def solved(rhs: Array) -> Array:
        """Solutions (n k, nv)."""
        return np.einsum("naj,nkj->nka", inverse, rhs.reshape(n, k, -1)).reshape(n * k, nv)

    rhs = -by_p.map(time, Q, row, D)[0].reshape(n, k, -1)
    rhs[:, :, -len(equations.drives) :] += drives
    s = solved(rhs)
    dw, dww = np.empty((n * k, m, nv)), np.empty((n * k, m, m, nv))
    W, WW = np.repeat(w, k, axis=0), np.repeat(ww, k, axis=0)
    for i in range(m):
        dw[:, i] = solved(-first.map(time, Q, W[:, i], s, row, D)[0])
    for i in range(m):
        for j in range(m):
            given = (Q, W[:, i], W[:, j], WW[:, i, j], s, dw[:, i], dw[:, j])
            dww[:, i, j] = solved(-second.map(time, *given, row, D)[0])
    return ParameterRates(s.reshape(n, k, nv), dw.reshape(n, k, m, nv), dww.reshape(n, k, m, m, nv))


def _inverse(J: Array) -> Array:
    """Inverse (n, nv, M) of J (n, M, nv), or the pseudo-inverse if it has more rows, which are then consistent."""
    try:
        return np.asarray(np.linalg.inv(J) if J.shape[1] == J.shape[2] else np.linalg.pinv(J), float)
    except np.linalg.LinAlgError:
        raise SolverError(
            "there are no derivatives with respect to parameters at a singular position; exclude the "
            "dead point from the sweep"
        ) from None


def _functions(
    equations: DrivenEquations,
) -> tuple[NativeFunction, NativeFunction, NativeFunction, NativeFunction]:
    key = ("parameter rates", tuple(drive.name for drive in equations.drives))
    return equations.system.once(key, lambda: _build(equations))


def _build(
    equations: DrivenEquations,
) -> tuple[NativeFunction, NativeFunction, NativeFunction, NativeFunction]:
    system, eq = equations.system, equations.system.equations
    F, J = equations.expressions()
    N = ca.jacobian(eq.qdot, eq.v)
    w, u, ww, s, dw, du = (SX.sym(name, system.nv) for name in ("w", "u", "ww", "s", "dw", "du"))
    dp = SX.sym("dp", eq.p.numel())
    jtimes = eq.lookups.jtimes
    turned = jtimes(J @ w, eq.q, N @ u) + J @ ww
    by_p = jtimes(F, eq.p, dp)
    first = jtimes(J @ w, ca.vertcat(eq.q, eq.p), ca.vertcat(N @ s, dp))
    second = jtimes(turned, ca.vertcat(eq.q, w, u, eq.p), ca.vertcat(N @ s, dw, du, dp))
    t, q, p = eq.t, eq.q, eq.p
    return (
        system.function("by_p", [t, q, p, dp], [ca.densify(by_p)]),
        system.function("by_p1", [t, q, w, s, p, dp], [ca.densify(first)]),
        system.function("by_p2", [t, q, w, u, ww, s, dw, du, p, dp], [ca.densify(second)]),
        equations.functions[0],
    )
