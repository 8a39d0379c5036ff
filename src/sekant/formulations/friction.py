"""Forces of dry friction and of rigid contacts, solved as part of the equations of motion.

Accelerations, multipliers and reactions are affine in the forces phi (n,). With the flags h (1 where a joint sticks,
a contact is closed), the directions s of what slides, and the velocities w that belong to the forces, w' = b + D phi,

    h_i w_i' / D_ii + (1 - h_i) (phi_i + s_i level_i) = 0 ,        level_i = level_i(N_i) ,  N_i = |R_i0 + R_i1 phi| ,

where N_i is the size of a joint's own reaction, or the force of the contact that slides; an open contact has level
0. Without loads of joints this is one linear system; with them, Newton's method from phi = 0 is unrolled: the sizes
N are convex in phi, and a few iterations reach round-off unless friction is about to jam (`Solved.margin` falls to
zero there: Painleve's paradox). One set of expressions covers all combinations of sticking, sliding and
contact. Stuck joints that lock the same motion share the force: a small multiple of the unit matrix makes
their system definite, and refinement removes its effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca

from sekant.formulations.outputs import local_reaction
from sekant.geometry.spatial import SX
from sekant.model.motion import Action, ContactForces, DryFriction
from sekant.tables.lookups import Lookups

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

ROUNDS = 6
"""Newton steps used if a friction depends on reactions."""
SWEEPS = 2
_TINY = 1e-18  # N^2
SHARE = 1e-9
"""Weight of the unit matrix beside the scaled matrix of stuck joints."""
IMMOBILE = 1e-3
SLOW = 1e-7
"""Slip of a contact, relative to its width, below which friction keeps the direction in which the slip began."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The equations of frictions and contacts: expressions of t, q, v, z, p.

    `symbols` (those of the elements) are replaced by `values`. Over all forces (n,), those of the `frictions`
    first, then of each contact the normal and, with friction, the two tangential ones: `slip` w, its rate
    `slip_rate` w', `force` phi, `mobility` dw'/dphi. `limit`: largest force of each friction while it sticks.
    `margin` (k,): 1 without coupling, 0 where friction jams; `miss` (): residual of Newton's method, relative
    to the forces.
    """

    frictions: tuple[DryFriction, ...]
    contacts: tuple[ContactForces, ...]
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
    looped: bool = False
    """whether constraints may determine a slip, as within a closed loop"""
    acting: SX | None = None
    """values of the forces in the equations if these lock sticking coordinates themselves"""

    def place(self, contact: str) -> int:
        """Index of the normal force of a contact among the forces."""
        at = len(self.frictions)
        for one in self.contacts:
            if one.name == contact:
                return at
            at += 1 if one.coefficient is None else 3
        raise KeyError(contact)

    @property
    def touching(self) -> SX:
        """Zero where all contacts are open."""
        return ca.sum1(ca.vertcat(SX(0), *[one.closed for one in self.contacts]))

    @property
    def coupled(self) -> bool:
        """Whether friction depends on forces that in turn depend on friction."""
        loads = [one.load for one in self.frictions] + [one.coefficient for one in self.contacts]
        return any(load is not None for load in loads)


@dataclass(frozen=True, eq=False)
class _Row:
    """One force: its symbol, velocity, flag, and its value if it is not bound: -level."""

    force: SX
    slip: SX
    flag: SX
    level: SX


def _rows(frictions: Sequence[DryFriction], contacts: Sequence[ContactForces], exact: bool) -> list[_Row]:
    rows = []
    for one in frictions:
        smooth = one.slip / ca.sqrt(one.slip**2 + one.width**2)
        sign = one.direction if exact else smooth
        rows.append(_Row(one.force, one.slip, one.stuck if exact else SX(0), sign * one.level))
    for one in contacts:
        rows.append(_Row(one.normal, one.gap_rate, one.closed, SX(0)))
        if one.coefficient is None or one.tangential is None or one.slip is None:
            continue
        assert one.stuck is not None
        assert one.direction is not None
        # an open contact contributes exactly zero: the series of a direction close to zero would overflow
        toward = one.closed * one.slip + SLOW * one.width * one.direction
        unit = toward / ca.sqrt(ca.dot(toward, toward) + (1e-6 * SLOW * one.width) ** 2)
        for k in range(2):
            level = one.coefficient * one.normal * unit[k]
            rows.append(_Row(one.tangential[k], one.slip[k], one.closed * one.stuck, level))
    return rows


def solve(
    probe: Equations, frictions: Sequence[DryFriction], contacts: Sequence[ContactForces], exact: bool
) -> Solved:
    """Solve for all forces; `probe`: the equations with the symbols of these forces.

    `exact`: by flags and directions; otherwise friction is regularized, and contacts stay open.
    """
    lk = probe.lookups
    rows = _rows(frictions, contacts, exact)
    n = len(rows)
    phi = ca.vertcat(*[row.force for row in rows])
    w = ca.vertcat(*[row.slip for row in rows])
    slope = lk.jacobian(w, probe.v)
    driven = tuple(ca.sparsify(slope[i, :]).nnz() == 0 for i in range(n))
    drift = lk.jtimes(w, probe.q, probe.qdot) + lk.jacobian(w, probe.t)
    whole_rate = drift + slope @ probe.a
    zero = SX.zeros(n)
    b = lk.substitute(whole_rate, phi, zero)
    D = ca.densify(lk.jacobian(whole_rate, phi))
    loaded = [i for i, f in enumerate(frictions) if f.load is not None]
    loads = ca.vertcat(SX.zeros(0, 1), *[f.load for f in frictions if f.load is not None])
    R0, R1 = _reactions(probe, frictions, loaded, phi)
    level = ca.vertcat(*[row.level for row in rows])
    limit = ca.vertcat(SX.zeros(0, 1), *[f.limit for f in frictions])
    h = ca.vertcat(*[SX(0) if fixed else row.flag for row, fixed in zip(rows, driven, strict=True)])
    least = _least_mobility(contacts, D, len(frictions))
    # h / D; a row without h must not use D, because no motion may be left in a loop that holds its joint
    weight = ca.vertcat(*[_over(h[i], D[i, i] + least[i]) for i in range(n)])

    def sizes(force: SX) -> SX:
        found = [frictions[i].measure(R0[k] + R1[k] @ force) for k, i in enumerate(loaded)]  # type: ignore[misc]
        return ca.vertcat(SX.zeros(0, 1), *found)

    def levels(force: SX) -> SX:
        return lk.substitute(level, ca.vertcat(phi, loads), ca.vertcat(force, sizes(force)))

    def residual(force: SX) -> SX:
        return weight * (b + D @ force) + (1 - h) * (force + levels(force))

    x = SX.sym("phi", n)
    force = zero
    if not exact and not loaded:
        force = -level
    else:
        J = ca.densify(lk.jacobian(residual(x), x))
        for _ in range(ROUNDS if loaded else 1):
            matrix = lk.substitute(J, x, force) if loaded else J
            force = force - _solve(matrix, residual(force), h)
        if not loaded:  # no sticking and no contact: no system to solve
            force = ca.if_else(ca.sum1(h), force, -levels(zero))
    size = sizes(force)
    miss, margin = SX(0), _contact_margins(contacts, level, h, D, len(frictions))
    if loaded:
        left = residual(force)
        miss = ca.dot(left, left) / (ca.dot(force, force) + _TINY)
        slopes = lk.substitute(lk.jacobian(levels(x)[loaded], x), x, force)[:, loaded]
        free = ca.repmat(1 - h[loaded], 1, len(loaded))
        margin = ca.vertcat(margin, _determinant(SX.eye(len(loaded)) + free * slopes))
    return Solved(
        tuple(frictions),
        tuple(contacts),
        ca.vertcat(phi, loads),
        ca.vertcat(force, size),
        w,
        (1 - h) * (b + D @ force),
        force,
        lk.substitute(limit, loads, size) if loaded else limit,
        ca.vertcat(*[D[i, i] for i in range(n)]),
        margin,
        miss,
        driven,
        looped=probe.G.shape[0] > 0,
    )


def _over(h: SX, mobility: SX) -> SX:
    """h / mobility where h is 1, else 0."""
    return h if h.is_constant() and not float(h) else h / (1 - h + h * mobility)


def _least_mobility(contacts: Sequence[ContactForces], D: SX, first: int) -> list[SX]:
    """A small fraction of the normal mobility, for the tangents of a contact, since a tangent along which nothing can
    move has no mobility."""
    found = [SX(0)] * first
    for one in contacts:
        normal = D[len(found), len(found)]
        found += [SX(0)] if one.coefficient is None else [SX(0), IMMOBILE * normal, IMMOBILE * normal]
    return found


def _contact_margins(contacts: Sequence[ContactForces], level: SX, h: SX, D: SX, first: int) -> SX:
    """1 - mu D_nt / D_nn of every sliding contact with friction. It is zero if friction increases the normal force as
    fast as the normal force increases friction."""
    margins, at = SX.zeros(0, 1), first
    for one in contacts:
        if one.coefficient is None:
            at += 1
            continue
        pushed = ca.jacobian(level[at + 1 : at + 3], one.normal)
        sliding = h[at] * (1 - h[at + 1])
        margins = ca.vertcat(margins, 1 - sliding * (D[at, at + 1 : at + 3] @ pushed) / D[at, at])
        at += 3
    return margins


def slip_places(frictions: Sequence[DryFriction], v: SX) -> list[int]:
    """Index in v (nv,) of the slip of each friction; -1 if the slip is not itself a velocity."""
    return [next((k for k in range(v.numel()) if ca.is_equal(one.slip, v[k])), -1) for one in frictions]


def locked(solved: Solved, v: SX) -> SX:
    """(nv,): 1 for velocities that are themselves the slip of a joint that sticks, else 0; expressions of p."""
    found = SX.zeros(v.numel())
    for one, k, driven in zip(
        solved.frictions, slip_places(solved.frictions, v), solved.driven, strict=False
    ):
        if k >= 0 and not driven:
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
    """A^-1 b, refined. While A is factored, the rows of stuck joints have `SHARE` added on the diagonal."""
    factors = _eliminated(A + SHARE * ca.diag(h))
    x = _back(factors, b)
    for _ in range(SWEEPS):
        x = x + _back(factors, b - A @ x)
    return x


def _eliminated(A: SX) -> tuple[dict[tuple[int, int], SX], list[SX]]:
    """Factors L U of A without a search for pivots, because its diagonal is 1 where nothing is coupled."""
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
    """Determinant by the same elimination as for the forces."""
    product = SX(1)
    for pivot in _eliminated(A)[1]:
        product = product / pivot
    return product


def completed(actions: Mapping[str, Action], solved: Solved, lookups: Lookups) -> dict[str, Action]:
    """The actions with the computed forces substituted for their symbols."""

    def put(expression: SX, values: SX = solved.values) -> SX:
        if not ca.depends_on(SX(expression), solved.symbols):
            return expression
        return lookups.substitute(SX(expression), solved.symbols, values)

    acting = solved.values if solved.acting is None else solved.acting

    found = {}
    for name, action in actions.items():
        if action.friction is None and action.contact is None:
            found[name] = action
            continue
        found[name] = replace(
            action,
            wrenches=tuple(replace(wrench, f=put(wrench.f)) for wrench in action.wrenches),
            generalized=tuple((joint, k, put(force, acting)) for joint, k, force in action.generalized),
            power=None if action.power is None else put(action.power, acting),
            outputs={key: (unit, put(value)) for key, (unit, value) in action.outputs.items()},
        )
    return found
