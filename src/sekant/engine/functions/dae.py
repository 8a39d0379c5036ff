"""Native functions of a differential-algebraic system of index 3, and the patterns of its matrices.

    q' = qdot(q, v, t, p)
    0  = R(t, q, v, a, lam, p),  R = M(q, t) a + G(q, t)^T lam - f(q, v, t)      (nv,)  with a = v'
    0  = Phi(q, t, p)                                                            (mh,)  positions
    0  = B(q, v, t, p)                                                           (mn,)  velocities

Newton's method in an implicit step of length h works on the derivatives with respect to (v, a, q), in which
``da = mu dv`` and ``mu dq = d(qdot)``, with mu = constant / h. Coordinates whose rate does not depend on q are
eliminated; the others, the *curved* ones (such as quaternions), remain unknowns, as z = mu dq. What remains is

    K(s) [dv; z; dlam / mu] = ... ,   K(s) = K0 + s K1 + s^2 K2 ,   s = 1 / mu ,

    rows R:      [ Ra + s Rv + s^2 Rq N    s^2 Rq_c       G^T ]
    rows curved: [ -N_c - s Q_c N          I - s Q_cc     0   ]     N = d(qdot)/dv, zero in curved rows where it
    rows Phi:    [ Phi_q N                 Phi_q,c        0   ]     stands for the eliminated coordinates;
    rows B:      [ Bv + s Bq N             s Bq_c         0   ]     Q = d(qdot)/dq of the curved rows

The values of K0, K1, K2 come from one native function, on one common pattern; Rv and Rq N are computed by
directions if that needs less code (see `directions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.build import build
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.codegen.tangents import Tangent
from sekant.engine.functions.directions import Directional, by_directions
from sekant.errors import SekantError
from sekant.solvers.dae.problem import DaeFunctions
from sekant.tables.lookups import Lookups

SX = ca.SX
Integers = NDArray[np.int64]


def _nothing() -> SX:
    return SX.zeros(0, 1)


@dataclass(frozen=True, eq=False)
class DaeExpressions:
    """The system as CasADi expressions of the symbols t, q (nq,), v (nv,), a (nv,), lam (mh + mn,), p (np,).

    `lam` holds the multipliers of `positions` first, then those of `velocities`. `power` (nw,): rates of
    quadratures, which do not affect the motion. `unit_blocks`: (start, length) of blocks of q with unit norm.
    """

    t: SX
    q: SX
    v: SX
    a: SX
    lam: SX
    qdot: SX
    R: SX
    Phi: SX = field(default_factory=_nothing)
    B: SX = field(default_factory=_nothing)
    p: SX = field(default_factory=_nothing)
    power: SX = field(default_factory=_nothing)
    lookups: Lookups = field(default_factory=Lookups)
    unit_blocks: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for name, expected in (
            ("qdot", self.q.numel()),
            ("R", self.v.numel()),
            ("a", self.v.numel()),
            ("lam", self.Phi.numel() + self.B.numel()),
        ):
            found = getattr(self, name).numel()
            if found != expected:
                raise SekantError(
                    f"equations of motion: {name} has size {found}, but must have size {expected}"
                )


def build_dae(
    name: str, e: DaeExpressions, engine: str = "llvm", cache: bool = True
) -> DaeFunctions[NativeFunction]:
    """Differentiate the system and compile all functions that the solvers call."""
    nq, nv, mh, mn = e.q.numel(), e.v.numel(), e.Phi.numel(), e.B.numel()
    jacobian = e.lookups.jacobian
    Q = ca.sparsify(jacobian(e.qdot, e.q))
    N = ca.sparsify(jacobian(e.qdot, e.v))
    curved = sorted(set(Q.sparsity().row()))
    straight = [i for i in range(nq) if i not in set(curved)]

    M, G_T = jacobian(e.R, e.a), jacobian(e.R, e.lam)
    Rq, Rv = jacobian(e.R, e.q), jacobian(e.R, e.v)
    Phi_q, Bq, Bv = jacobian(e.Phi, e.q), jacobian(e.B, e.q), jacobian(e.B, e.v)
    N_s, N_c, Q_c = N[straight, :], N[curved, :], Q[curved, :]
    nc, m = len(curved), mh + mn

    def zero(rows: int, columns: int) -> SX:
        return SX(rows, columns)

    K0 = _blocks(
        [
            [M, zero(nv, nc), G_T],
            [-N_c, SX.eye(nc), zero(nc, m)],
            [Phi_q[:, straight] @ N_s, Phi_q[:, curved], zero(mh, m)],
            [Bv, zero(mn, nc), zero(mn, m)],
        ]
    )
    K1 = _blocks(
        [
            [Rv, zero(nv, nc), zero(nv, m)],
            [-(Q_c[:, straight] @ N_s), -Q_c[:, curved], zero(nc, m)],
            [zero(mh, nv), zero(mh, nc), zero(mh, m)],
            [Bq[:, straight] @ N_s, Bq[:, curved], zero(mn, m)],
        ]
    )
    K2 = _blocks(
        [
            [Rq[:, straight] @ N_s, Rq[:, curved], zero(nv, m)],
            [zero(nc + m, nv), zero(nc + m, nc), zero(nc + m, m)],
        ]
    )
    pattern = K0.sparsity() + K1.sparsity() + K2.sparsity()
    full, state = [e.t, e.q, e.v, e.a, e.lam, e.p], [e.t, e.q, e.v, e.p]
    along_q = ca.horzcat(_at_rows(N_s, straight, nq), _at_rows(SX.eye(nc), curved, nq))
    matrices = [K0, K1, K2]
    directional = [Directional(1, K1, e.R, e.v, SX.eye(nv)), Directional(2, K2, e.R, e.q, along_q)]
    left, tangents = by_directions(directional if engine == "llvm" else [], matrices, e.lookups, pattern)
    values = [_values(K, pattern) for K in left]

    G = ca.sparsify(ca.vertcat(Phi_q @ N, Bv))
    rates = ca.vertcat(Phi_q @ e.qdot + jacobian(e.Phi, e.t), e.B)
    gamma = -(jacobian(rates, e.q) @ e.qdot + jacobian(rates, e.t))
    at_rest = ca.substitute([e.R], [e.a, e.lam], [SX.zeros(nv), SX.zeros(m)])[0]
    M = ca.sparsify(M)
    M_pattern = M.sparsity() + M.sparsity().T

    def native(
        kind: str,
        inputs: list[SX],
        outputs: list[SX],
        tangents: Sequence[Tangent] = (),
        seldom: bool = False,
    ) -> NativeFunction:
        how: Any = {"tangents": tangents, "seldom": seldom}
        return build(f"{name}.{kind}", inputs, outputs, e.lookups, engine, cache, **how)

    residual = native("residual", full, [e.R, e.qdot[curved], e.Phi, e.B])
    return DaeFunctions(
        nq=nq,
        nv=nv,
        mh=mh,
        mn=mn,
        nw=e.power.numel(),
        curved=np.array(curved, dtype=np.int64),
        residual=residual,
        jacobian=native("jacobian", full, values, tangents, seldom=True),
        kinematics=native("kinematics", state, [e.qdot]),
        constraints=native("constraints", state, [e.Phi, rates]),
        saddle=native("saddle", state, [_values(M, M_pattern), _values(G, G.sparsity())], seldom=True),
        bias=native("bias", state, [-at_rest, gamma], seldom=True),
        power=native("power", full, [e.power]) if e.power.numel() else None,
        K_row=_rows(pattern),
        K_col=_columns(pattern),
        M_row=_rows(M_pattern),
        M_col=_columns(M_pattern),
        G_row=_rows(G.sparsity()),
        G_col=_columns(G.sparsity()),
        unit_blocks=tuple(e.unit_blocks),
    )


def _blocks(rows: list[list[SX]]) -> SX:
    return ca.sparsify(ca.vertcat(*[ca.horzcat(*row) for row in rows]))


def _at_rows(matrix: SX, rows: list[int], count: int) -> SX:
    """A matrix of `count` rows with those of `matrix` at the numbers `rows`."""
    if not rows:
        return SX(count, matrix.shape[1])
    return ca.mtimes(SX(ca.Sparsity.triplet(count, len(rows), rows, range(len(rows))), 1), matrix)


def _values(matrix: SX, pattern: ca.Sparsity) -> SX:
    """The values of a matrix at the positions of a larger pattern, as a dense column."""
    spread = ca.project(matrix, pattern)
    return ca.densify(spread.nz[:]) if pattern.nnz() else _nothing()


def _rows(pattern: ca.Sparsity) -> Integers:
    return np.array(pattern.row(), dtype=np.int64)


def _columns(pattern: ca.Sparsity) -> Integers:
    return np.array(pattern.get_col(), dtype=np.int64)
