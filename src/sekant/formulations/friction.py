"""Forces of dry friction, solved for within the equations of motion.

Accelerations, multipliers and reactions are affine in the forces phi (n,) of all frictions. With the flags h (1
where a joint sticks), the directions s of those that slide, and the slip w with its rate w' = b + D phi, the forces
satisfy

    h_i w_i' / D_ii + (1 - h_i) (phi_i + s_i level_i) = 0 ,        level_i = level_i(N_i) ,  N_i = |R_i0 + R_i1 phi| ,

where N_i is the size of a joint's own reaction. Without such loads this is one linear system; with them, Newton's
method from phi = 0 is unrolled: the sizes N are convex in phi, and a few rounds reach round-off unless friction is
about to jam (its determinant, `Solved.margin`, falls to zero there: Painleve's paradox). One set of expressions
serves all combinations of sticking and sliding joints. Stuck joints that hold the same motion share the force: a
small multiple of the unit matrix makes their system definite, and refinement removes its trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca

from sekant.formulations.outputs import local_reaction
from sekant.geometry.spatial import SX
from sekant.model.motion import Action, DryFriction

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

ROUNDS = 6
"""Newton steps where a friction depends on reactions."""
SWEEPS = 2
SHARE = 1e-9
"""Weight of the unit matrix beside the scaled matrix of stuck joints."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What the equations say of frictions, all (n,) and expressions of t, q, v, z, p.

    `symbols` (those of the elements) are replaced by `values`. `slip` w, its rate `slip_rate` w', `force` phi,
    `limit` up to which a joint sticks, `mobility` dw'/dphi. `margin` (): the determinant of the coupling through
    reactions, 1 where there is none; `miss` (): how far Newton's method is off, against the forces.
    """

    frictions: tuple[DryFriction, ...]
    symbols: SX
    values: SX
    slip: SX
    slip_rate: SX
    force: SX
    limit: SX
    mobility: SX
    margin: SX
    miss: SX
    driven: tuple[bool, ...]


def solve(probe: Equations, frictions: Sequence[DryFriction], regularized: bool) -> Solved:
    """The forces of all frictions; `probe`: the equations with the symbols of these forces in place."""
    lk = probe.lookups
    n = len(frictions)
    phi = ca.vertcat(*[f.force for f in frictions])
    w = ca.vertcat(*[f.slip for f in frictions])
    slope = lk.jacobian(w, probe.v)
    driven = tuple(slope[i, :].nnz() == 0 or ca.sparsify(slope[i, :]).nnz() == 0 for i in range(n))
    drift = lk.jtimes(w, probe.q, probe.qdot) + lk.jacobian(w, probe.t)
    whole_rate = drift + slope @ probe.a
    zero = SX.zeros(n)
    b = lk.substitute(whole_rate, phi, zero)
    D = ca.densify(lk.jacobian(whole_rate, phi))
    loaded = [i for i, f in enumerate(frictions) if f.load is not None]
    loads = ca.vertcat(SX.zeros(0, 1), *[f.load for f in frictions if f.load is not None])
    R0, R1 = _reactions(probe, frictions, loaded, phi)
    level = ca.vertcat(*[f.level for f in frictions])
    limit = ca.vertcat(*[f.limit for f in frictions])
    if regularized:
        h, s = zero, ca.vertcat(*[f.slip / ca.sqrt(f.slip**2 + f.width**2) for f in frictions])
    else:
        h = ca.vertcat(*[SX(0) if fixed else f.stuck for f, fixed in zip(frictions, driven, strict=True)])
        s = ca.vertcat(*[f.direction for f in frictions])
    scale = ca.vertcat(*[SX(1) if driven[i] else 1 / D[i, i] for i in range(n)])

    def sizes(force: SX) -> SX:
        found = [frictions[i].measure(R0[k] + R1[k] @ force) for k, i in enumerate(loaded)]  # type: ignore[misc]
        return ca.vertcat(SX.zeros(0, 1), *found)

    def residual(force: SX) -> SX:
        at = lk.substitute(level, loads, sizes(force)) if loaded else level
        return h * scale * (b + D @ force) + (1 - h) * (force + s * at)

    x = SX.sym("phi", n)
    J = ca.densify(lk.jacobian(residual(x), x))
    force = zero
    if regularized and not loaded:
        force = -s * level
    else:
        for _ in range(ROUNDS if loaded else 1):
            matrix = J if not loaded else lk.substitute(J, x, force)
            force = force - _solve(matrix, residual(force), h)
    miss = SX(0)
    margin = SX(1)
    if loaded:
        r = residual(force)
        miss = ca.norm_inf(r) / (ca.norm_inf(force) + 1e-9)
        margin = _determinant(lk.substitute(J, x, force) + SHARE * ca.diag(h))
        size = sizes(force)
        limit = lk.substitute(limit, loads, size)
    else:
        size = SX.zeros(0, 1)
    return Solved(
        tuple(frictions),
        ca.vertcat(phi, loads),
        ca.vertcat(force, size),
        w,
        h * 0 + (1 - h) * (b + D @ force),
        force,
        limit,
        ca.vertcat(*[D[i, i] for i in range(n)]),
        margin,
        miss,
        driven,
    )


def locked(solved: Solved, v: SX) -> SX:
    """(nv,): 1 for velocities that are themselves the slip of a joint that sticks, else 0; expressions of p."""
    found = SX.zeros(v.numel())
    for one, driven in zip(solved.frictions, solved.driven, strict=True):
        for k in range(v.numel()):
            if not driven and ca.is_equal(one.slip, v[k]):
                found[k] = one.stuck + found[k] - one.stuck * found[k]
    return found


def _reactions(
    probe: Equations, frictions: Sequence[DryFriction], loaded: list[int], phi: SX
) -> tuple[list[SX], list[SX]]:
    """Wrench (6,) in each of the `loaded` frictions' joints without friction, and its slopes (6, n)."""
    lk, free, slopes = probe.lookups, [], []
    for i in loaded:
        wrench = local_reaction(probe, frictions[i].joint)
        free.append(lk.substitute(wrench, phi, SX.zeros(phi.numel())))
        slopes.append(ca.densify(lk.jacobian(wrench, phi)))
    return free, slopes


def _solve(A: SX, b: SX, h: SX) -> SX:
    """A^-1 b, refined; the rows of stuck joints with `SHARE` on the diagonal while A is factored."""
    factors = _eliminated(A + SHARE * ca.diag(h))
    x = _back(factors, b)
    for _ in range(SWEEPS):
        x = x + _back(factors, b - A @ x)
    return x


def _eliminated(A: SX) -> tuple[dict[tuple[int, int], SX], list[SX]]:
    """Factors L U of A without a search for pivots: its diagonal is 1 where nothing is coupled."""
    n = A.shape[0]
    U = {(i, j): A[i, j] for i in range(n) for j in range(n)}
    inverse = []
    for k in range(n):
        inverse.append(1 / U[k, k])
        for i in range(k + 1, n):
            U[i, k] = U[i, k] * inverse[k]
            for j in range(k + 1, n):
                U[i, j] = U[i, j] - U[i, k] * U[k, j]
    return U, inverse


def _back(factors: tuple[dict[tuple[int, int], SX], list[SX]], b: SX) -> SX:
    U, inverse = factors
    n = len(inverse)
    y = [b[i] for i in range(n)]
    for i in range(n):
        for k in range(i):
            y[i] = y[i] - U[i, k] * y[k]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            y[i] = y[i] - U[i, k] * y[k]
        y[i] = y[i] * inverse[i]
    return ca.vertcat(*y)


def _determinant(A: SX) -> SX:
    """By elimination, as the forces are found."""
    product = SX(1)
    for pivot in _eliminated(A)[1]:
        product = product / pivot
    return product


def completed(actions: dict[str, Action], solved: Solved, lookups) -> dict[str, Action]:
    """The actions with the forces of friction in the place of their symbols."""

    def put(expression: SX) -> SX:
        if not ca.depends_on(SX(expression), solved.symbols):
            return expression
        return lookups.substitute(SX(expression), solved.symbols, solved.values)

    found = {}
    for name, action in actions.items():
        if action.friction is None:
            found[name] = action
            continue
        found[name] = replace(
            action,
            generalized=tuple((joint, k, put(force)) for joint, k, force in action.generalized),
            power=None if action.power is None else put(action.power),
            outputs={key: (unit, put(value)) for key, (unit, value) in action.outputs.items()},
        )
    return found
