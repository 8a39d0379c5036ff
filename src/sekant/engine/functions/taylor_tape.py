"""Equations of motion as a tape for the Taylor-series integrator."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.operation_table import TABLE
from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, core_function, lookup_groups, make_tape
from sekant.errors import SekantError
from sekant.solvers.taylor.tape import SeriesTape, TableUse
from sekant.tables.lookups import Lookups
from sekant.tables.numeric import NumericFunction

SX = ca.SX


def taylor_tape(
    *,
    v: SX,
    a: SX,
    residual: SX,
    q: SX | None = None,
    t: SX | None = None,
    p: SX | None = None,
    rates: SX | None = None,
    positions: SX | None = None,
    velocities: SX | None = None,
    mass_matrix: SX | None = None,
    events: SX | None = None,
    lam: SX | None = None,
    powers: SX | None = None,
    lookups: Lookups | None = None,
) -> SeriesTape:
    """The tape of ``q' = rates``, ``residual + G^T lam = 0``, ``positions = 0``, ``velocities = 0``.

    `residual` (nv,): M(q, t, p) a - f(q, v, t, p), linear in `a`; `rates` (nq,): N(q, t) v, by default v;
    `positions` (nc,): Phi(q, t, p); `velocities` (nb,): B(q, v, t, p), linear in v. The multipliers and
    ``G = [Phi_q N; B_v]`` are added here. `mass_matrix`: M, if a cheaper form than d residual / d a is available.
    `events` (ne,): functions of (q, v, t, p). `powers` (nw,): functions of (q, v, a, lam, t, p) that are
    integrated with the motion, with symbols `lam` (nc + nb,) for the multipliers.
    """
    lookups = lookups if lookups is not None else Lookups()
    empty = SX.zeros(0, 1)
    q = empty if q is None else q
    p = empty if p is None else p
    t = SX.sym("t") if t is None else t
    rates = v if rates is None and q.numel() else (empty if rates is None else ca.densify(rates))
    Phi = empty if positions is None else ca.densify(positions)
    B = empty if velocities is None else ca.densify(velocities)
    events = empty if events is None else ca.densify(events)
    powers = empty if powers is None else ca.densify(powers)
    if rates.numel() != q.numel():
        raise SekantError(f"q and rates must have the same size (got {q.numel()} and {rates.numel()})")
    if residual.numel() != v.numel() or a.numel() != v.numel():
        raise SekantError(
            f"{v.numel()} velocities need the same number of accelerations and equations (got {a.numel()}, "
            f"{residual.numel()})"
        )
    _refuse(lookups, "the position constraints", Phi, {"v": v, "a": a})
    _refuse(lookups, "the velocity constraints", B, {"a": a})
    _refuse(lookups, "the rates of the coordinates", rates, {"a": a})
    _refuse(lookups, "an event function", events, {"a": a})
    M = lookups.jacobian(residual, a) if mass_matrix is None else mass_matrix
    _refuse(lookups, "the mass matrix", M, {"v": v, "a": a})
    lam = SX.sym("lam", Phi.numel() + B.numel()) if lam is None else lam
    N = lookups.jacobian(rates, v)
    _refuse(lookups, "the matrix N of the rates N v", N, {"v": v})
    _refuse(lookups, "the matrix of the velocity constraints", lookups.jacobian(B, v), {"v": v})
    if ca.sparsify(ca.substitute(rates, v, SX.zeros(v.numel(), 1))).nnz():
        raise SekantError("the rates of the coordinates must be zero when the velocities are zero")
    blocks, forces = [], SX.zeros(v.numel(), 1)
    if Phi.numel():
        blocks.append(ca.mtimes(lookups.jacobian(Phi, q), N))
        forces += ca.mtimes(N.T, lookups.gradient(ca.dot(lam[: Phi.numel()], Phi), q))
    if B.numel():
        blocks.append(lookups.jacobian(B, v))
        forces += lookups.gradient(ca.dot(lam[Phi.numel() :], B), v)
    G = ca.vertcat(*blocks) if blocks else SX(0, v.numel())
    M, G = ca.sparsify(M), ca.sparsify(G)
    outputs = [
        rates,
        ca.densify(residual + forces),
        Phi,
        B,
        events,
        SX(M.nz[:]) if M.nnz() else empty,
        SX(G.nz[:]) if G.nnz() else empty,
        powers,
    ]
    numeric = lookups.numeric(ca.veccat(*outputs))
    if numeric is not None:
        raise SekantError(
            f"{numeric.label}: a numeric function has no Taylor series; use the method dop853, rk4 or radau5, or "
            "record the function (sk.signals.traced)"
        )
    groups = lookup_groups(lookups, ca.veccat(*outputs))
    function = core_function("taylor", [q, v, a, lam, t, p], outputs, groups)
    tape = make_tape(function, groups)
    rows_M, cols_M = _places(M)
    rows_G, cols_G = _places(G)
    names = {
        int(INPUT): "input",
        int(CONST): "const",
        int(LOOKUP): "lookup",
        **{code: row.name for code, row in TABLE.items()},
    }
    uses = [
        TableUse(group.nodes[0].table, look.arguments, look.orders, look.first)
        for group, look in zip(groups, tape.lookups, strict=True)
        if not isinstance(group.nodes[0].table, NumericFunction)
    ]
    numbers = [np.asarray(o, dtype=np.int64) for o in tape.outputs]
    return SeriesTape(
        op=tuple(names[int(op)] for op in tape.op),
        a=tape.a.astype(np.int64),
        b=tape.b.astype(np.int64),
        constant=tape.constant,
        lookups=tuple(uses),
        sizes_in=tape.sizes_in,
        rates=numbers[0],
        residual=numbers[1],
        positions=numbers[2],
        velocities=numbers[3],
        events=numbers[4],
        powers=numbers[7],
        M=numbers[5],
        M_row=rows_M,
        M_col=cols_M,
        G=numbers[6],
        G_row=rows_G,
        G_col=cols_G,
    )


def _places(matrix: SX) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows, cols = matrix.sparsity().get_triplet()
    return np.array(rows, dtype=np.int64), np.array(cols, dtype=np.int64)


def _refuse(lookups: Lookups, what: str, expr: SX, symbols: dict[str, SX]) -> None:
    """Raise if the expression depends on any of these symbols, also through lookups."""
    full = ca.vertcat(ca.vec(expr), *[x for n in lookups.needed_by(expr) for x in n.arguments])
    for name, x in symbols.items():
        if ca.depends_on(full, x):
            raise SekantError(f"{what} must not depend on {name}; the Taylor method has no series for that")
