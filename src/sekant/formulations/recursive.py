"""Recursive dynamics of a tree: articulated bodies, composite bodies, inverse dynamics.

All three work on links (parents first) with joint subspaces S (6, k) of the *free* coordinates, the
velocity-product accelerations zeta, twists V and external wrenches F, each in its link's own frame.
Equations: Featherstone, Rigid Body Dynamics Algorithms (2008), tables 5.1, 6.2, 6.5 and 7.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca

from sekant.geometry.spatial import SX, ArticulatedInertia, Pose, RigidInertia, Twist, Wrench
from sekant.tables.inlined import inlined


@dataclass(frozen=True)
class TreeState:
    """The inputs of the recursions; lists have one entry for each link."""

    parents: list[int]
    X_PM: list[Pose]
    S: list[SX]  # (6, k) free columns
    V: list[Twist]
    zeta: list[Twist]
    inertia: list[RigidInertia]
    F: list[Wrench]  # external, on the link
    tau: list[SX]  # (k,) generalized forces on the free coordinates
    A0: Twist  # acceleration of the ground: minus gravity, which accounts for weight
    locked: list[SX | None] | None = None  # (k,) 1 where a free coordinate has no acceleration, else 0
    rotors: frozenset[int] = frozenset()  # links of `sekant.formulations.rotors`: leaves that spin about z

    @cached_property
    def lumped(self) -> TreeState:
        """An equivalent tree that needs less computation: rotors keep only their inertia about z, and the
        rest is added to their carriers.

        Except for its spin, a rotor moves with its carrier, so its mass and its inertia across the axis are
        constant there. The `rotors` of this tree are those that were lumped; the wrenches in their joints are wrong.
        """
        inertia, lumped = list(self.inertia), set()
        for i in self.rotors:
            X, parent, own = self.X_PM[i], self.parents[i], inertia[i]
            if parent < 0:
                continue
            about, across = SX.zeros(3, 3), SX(own.J)
            about[2, 2], across[2, 2] = own.J[2, 2], 0
            inertia[i] = RigidInertia(SX(0), SX.zeros(3), about)
            inertia[parent] = inertia[parent] + RigidInertia(own.m, own.h, across).to_parent(X)
            lumped.add(i)
        return replace(self, inertia=inertia, rotors=frozenset(lumped))

    def without(self, leaves: Collection[int]) -> TreeState:
        """The tree without some of the links that carry no others."""
        kept = [i for i in range(len(self.parents)) if i not in leaves]
        place = {i: k for k, i in enumerate(kept)}
        lists = ("X_PM", "S", "V", "zeta", "inertia", "F", "tau")
        rest: dict[str, Any] = {name: [getattr(self, name)[i] for i in kept] for name in lists}
        locked = None if self.locked is None else [self.locked[i] for i in kept]
        parents = [place.get(self.parents[i], -1) for i in kept]
        return replace(self, parents=parents, locked=locked, rotors=frozenset(), **rest)


@dataclass(frozen=True)
class Accelerations:
    """Free accelerations per link (k,), and on request the links' accelerations and the joints' wrenches."""

    a: list[SX]
    wrenches: Callable[[], tuple[list[Wrench], list[Twist]]]

    @cached_property
    def _found(self) -> tuple[list[Wrench], list[Twist]]:
        return self.wrenches()

    @property
    def A(self) -> list[Twist]:
        """Link accelerations, gravity offset included, at M's origin, in M."""
        return self._found[1]

    @property
    def F_joint(self) -> list[Wrench]:
        """From parent to child, about M's origin, in M."""
        return self._found[0]


def inverse_dynamics(tree: TreeState, a: list[SX]) -> tuple[list[Wrench], list[Twist]]:
    """Wrench that each joint must transmit, and the links' accelerations, for free accelerations `a`."""
    A: list[Twist] = []
    F: list[Wrench] = []
    for i, parent in enumerate(tree.parents):
        A_parent = A[parent] if parent >= 0 else tree.A0
        A_i, F_i = _required(
            tree.X_PM[i], A_parent, tree.zeta[i], tree.S[i], a[i], tree.inertia[i], tree.V[i], tree.F[i]
        )
        A.append(A_i)
        F.append(F_i)
    for i in reversed(range(len(tree.parents))):
        if tree.parents[i] >= 0:
            F[tree.parents[i]] = _carried(F[tree.parents[i]], tree.X_PM[i], F[i])
    return F, A


@inlined
def _required(
    X: Pose, A_parent: Twist, zeta: Twist, S: SX, a: SX, I: RigidInertia, V: Twist, F: Wrench
) -> tuple[Twist, Wrench]:
    """Acceleration of a link, and the wrench required for it."""
    A = _moved(X, A_parent, zeta, S, a)
    return A, I.force(A, V) - F


@inlined
def _moved(X: Pose, A_parent: Twist, zeta: Twist, S: SX, a: SX) -> Twist:
    """Acceleration of a link for accelerations `a` of its joint."""
    A = X.twist_to_child(A_parent) + zeta
    return A + Twist.of(S @ a) if a.numel() else A


@inlined
def _carried(F_parent: Wrench, X: Pose, F: Wrench) -> Wrench:
    return F_parent + X.wrench_to_parent(F)


def mass_matrix(tree: TreeState) -> SX:
    """M (n, n) over the free coordinates by composite bodies; only its lower half is filled."""
    first = _first_rows(tree)
    composite = list(tree.inertia)
    M = SX.zeros(first[-1], first[-1])
    for i in reversed(range(len(tree.parents))):
        if tree.S[i].shape[1]:
            rows = slice(first[i], first[i + 1])
            F, M[rows, rows] = _own_forces(composite[i], tree.S[i])
            j = i
            while tree.parents[j] >= 0:
                X, j = tree.X_PM[j], tree.parents[j]
                F, M[rows, first[j] : first[j + 1]] = _forces_at_parent(X, F, tree.S[j])
        if tree.parents[i] >= 0:
            composite[tree.parents[i]] = _joined(composite[tree.parents[i]], composite[i], tree.X_PM[i])
    return M


@inlined
def _own_forces(I: RigidInertia, S: SX) -> tuple[SX, SX]:
    """Forces F = I S (6, k) of unit accelerations of a joint, and their contribution S^T F (k, k) to M."""
    F = ca.horzcat(*[(I * Twist.of(S[:, k])).column() for k in range(S.shape[1])])
    return F, ca.triu2symm(ca.triu(S.T @ F))


@inlined
def _forces_at_parent(X: Pose, F: SX, S_parent: SX) -> tuple[SX, SX]:
    """The forces (6, k) about the parent's origin, and their contribution F^T S_parent to M."""
    moved = [X.wrench_to_parent(Wrench(F[:3, k], F[3:, k])).column() for k in range(F.shape[1])]
    F = ca.horzcat(*moved)
    return F, F.T @ S_parent


@inlined
def _joined(I_parent: RigidInertia, I: RigidInertia, X: Pose) -> RigidInertia:
    return I_parent + I.to_parent(X)


def composite_body(tree: TreeState) -> list[SX]:
    """Free accelerations per link (k,) by M a = tau - h with a sparse L^T D L factorization along the tree.

    Rotors are treated separately: their gyroscopic moments and hinge torques act on the carriers, and their
    spins follow from the carriers' motion.
    """
    tree = tree.lumped
    apart = {i for i in tree.rotors if tree.locked is None or tree.locked[i] is None}
    F, found = list(tree.F), {}
    for i in apart:
        parent, nothing = (
            tree.parents[i],
            ArticulatedInertia.of(RigidInertia.of(0, [0, 0, 0], SX.zeros(3, 3))),
        )
        inertia, p = _alone(tree.inertia[i], tree.V[i], tree.F[i])
        turned = (tree.S[i], tree.tau[i], tree.zeta[i], tree.X_PM[i])
        found[i], _, felt = _handed_on(
            inertia, p, *turned, nothing, Wrench.zero(), None, unit_rows=_unit_rows(tree.S[i])
        )
        F[parent] = F[parent] - felt
    solved = iter(_composite(replace(tree, F=F).without(apart)))
    a: list[SX] = []
    A: list[Twist] = []
    for i, parent in enumerate(tree.parents):
        A_parent = A[parent] if parent >= 0 else tree.A0
        if i in apart:
            a_i, A_i = _accelerated(tree.X_PM[i], A_parent, tree.zeta[i], tree.S[i], found[i])
        else:
            a_i = next(solved)
            A_i = _moved(tree.X_PM[i], A_parent, tree.zeta[i], tree.S[i], a_i) if apart else A_parent
        a.append(a_i)
        A.append(A_i)
    return a


def _composite(tree: TreeState) -> list[SX]:
    first = _first_rows(tree)
    n = first[-1]
    F, _ = inverse_dynamics(tree, [SX.zeros(S.shape[1]) for S in tree.S])
    b = ca.vertcat(*[tau - S.T @ f.column() for S, tau, f in zip(tree.S, tree.tau, F, strict=True)])
    H = mass_matrix(tree)
    above = _rows_above(tree, first)
    inverse = [SX(0)] * n
    L = [SX(0)] * n
    free = _unlocked(tree, first)
    for k in reversed(range(n)):
        inverse[k] = free[k] * reciprocal(H[k, k])
        if above[k]:
            h = H[k, above[k]].T
            L[k] = h * inverse[k]
            H[above[k], above[k]] -= L[k] @ h.T
            b[above[k]] -= L[k] * b[k]
    x = SX.zeros(n)
    for k in range(n):
        x[k] = inverse[k] * b[k]
        if above[k]:
            x[k] -= ca.dot(L[k], x[above[k]])
    return [x[first[i] : first[i + 1]] for i in range(len(tree.parents))]


@dataclass(frozen=True)
class _Handed:
    """Results of the inward sweep at a link: U = IA S, D = S^T U, u = tau - S^T pA, and W = U D^-1."""

    U: SX  # (6, k)
    D: SX  # (k, k)
    u: SX  # (k,)
    W: SX | None  # (6, k), if something is passed to the parent


def articulated_body(tree: TreeState) -> list[SX]:
    """Free accelerations per link (k,) in one sweep in and one out; work grows linearly with the number of links."""
    tree = tree.lumped
    n = len(tree.parents)
    IA: list[ArticulatedInertia] = []
    pA: list[Wrench] = []
    for I, V, F in zip(tree.inertia, tree.V, tree.F, strict=True):
        inertia, p = _alone(I, V, F)
        IA.append(inertia)
        pA.append(p)
    found: list[_Handed] = [_Handed(SX(), SX(), SX(), None)] * n
    for i in reversed(range(n)):
        S, tau, X, parent = tree.S[i], tree.tau[i], tree.X_PM[i], tree.parents[i]
        lock = None if tree.locked is None else tree.locked[i]
        if parent < 0 or S.shape[1] == 6:
            found[i] = _projected(IA[i], pA[i], S, tau, lock)
            if parent >= 0:  # the joint transmits nothing but its own generalized force
                force = solve_symmetric_transposed(S, tau)
                pA[parent] = _carried(pA[parent], X, Wrench(force[:3], force[3:]))
        else:
            found[i], IA[parent], pA[parent] = _handed_on(
                IA[i],
                pA[i],
                S,
                tau,
                tree.zeta[i],
                X,
                IA[parent],
                pA[parent],
                lock,
                unit_rows=_unit_rows(S) if lock is None else (None,) * S.shape[1],
            )
    a: list[SX] = []
    A: list[Twist] = []
    for i, parent in enumerate(tree.parents):
        A_parent = A[parent] if parent >= 0 else tree.A0
        a_i, A_i = _accelerated(tree.X_PM[i], A_parent, tree.zeta[i], tree.S[i], found[i])
        a.append(a_i)
        A.append(A_i)
    return a


@inlined
def _alone(I: RigidInertia, V: Twist, F: Wrench) -> tuple[ArticulatedInertia, Wrench]:
    """Inertia and bias force of a link without its children."""
    return ArticulatedInertia.of(I), I.force(Twist.zero(), V) - F


@inlined
def _projected(I: ArticulatedInertia, p: Wrench, S: SX, tau: SX, lock: SX | None) -> _Handed:
    """U, D and u; a locked coordinate has no force and an artificial mass."""
    columns = [Twist.of(S[:, k]) for k in range(S.shape[1])]
    U = ca.horzcat(SX.zeros(6, 0), *[(I * column).column() for column in columns])
    D, u = ca.triu2symm(ca.triu(S.T @ U)), tau - S.T @ p.column()
    if lock is None:
        return _Handed(U, D, u, None)
    free = 1 - lock
    return _Handed(U * ca.repmat(free.T, 6, 1), D * (free @ free.T) + ca.diag(lock), u * free, None)


@inlined
def _handed_on(
    I: ArticulatedInertia,
    p: Wrench,
    S: SX,
    tau: SX,
    zeta: Twist,
    X: Pose,
    I_parent: ArticulatedInertia,
    p_parent: Wrench,
    lock: SX | None,
    *,
    unit_rows: tuple[int | None, ...],
) -> tuple[_Handed, ArticulatedInertia, Wrench]:
    """A link's part of the inward sweep, and its parent's inertia and bias force with the link's added.

    S^T W = 1 and Ia S = 0 hold exactly: where a column of S is the unit vector of row r (`unit_rows`), row r
    of W, of Ia and of the bias force need no arithmetic.
    """
    here = _projected(I, p, S, tau, lock)
    if not unit_rows:
        weight = I * zeta
        bias = Wrench(p.n + weight.n, p.f + weight.f)
        return here, I_parent + I.to_parent(X), p_parent + X.wrench_to_parent(bias)
    W = solve_symmetric(here.D, here.U.T).T
    for k, r in enumerate(unit_rows):
        if r is not None:
            W[r, :] = 0
            W[r, k] = 1
    Wn, Wf, Un, Uf = W[:3, :], W[3:, :], here.U[:3, :], here.U[3:, :]
    In = ca.triu2symm(ca.triu(I.I - Wn @ Un.T))
    H = I.H - Wn @ Uf.T
    M = ca.triu2symm(ca.triu(I.M - Wf @ Uf.T))
    for r in unit_rows:
        if r is not None and r < 3:
            In[r, :], In[:, r], H[r, :] = 0, 0, 0
        elif r is not None:
            M[r - 3, :], M[:, r - 3], H[:, r - 3] = 0, 0, 0
    Ia = ArticulatedInertia(In, H, M)
    bias = p.column() + (Ia * zeta).column() + W @ here.u
    for k, r in enumerate(unit_rows):
        if r is not None:
            bias[r] = tau[k]
    carried = X.wrench_to_parent(Wrench(bias[:3], bias[3:]))
    return _Handed(here.U, here.D, here.u, W), I_parent + Ia.to_parent(X), p_parent + carried


@inlined
def _accelerated(X: Pose, A_parent: Twist, zeta: Twist, S: SX, found: _Handed) -> tuple[SX, Twist]:
    """A link's part of the outward sweep: a = D^-1 (u - U^T A') with A' as if a were zero."""
    A = X.twist_to_child(A_parent) + zeta
    if not S.shape[1]:
        return SX.zeros(0, 1), A
    if found.W is None:
        a = solve_symmetric(found.D, found.u - found.U.T @ A.column())
    else:
        a = solve_symmetric(found.D, found.u) - found.W.T @ A.column()
    return a, A + Twist.of(S @ a)


def _unit_rows(S: SX) -> tuple[int | None, ...]:
    """For each column of S: the row of its only entry 1, or None if it is not a constant unit vector."""
    rows: list[int | None] = []
    for k in range(S.shape[1]):
        column = S[:, k]
        entries = [float(x) for x in ca.vertsplit(column)] if column.is_constant() else []
        rows.append(entries.index(1) if sorted(entries) == [0, 0, 0, 0, 0, 1] else None)
    return tuple(rows)


def reciprocal(x: SX) -> SX:
    """1 / x for use as a factor: CasADi would turn every product with a plain 1 / x into a division."""
    return 0.5 * (2 / x)


def solve_symmetric(D: SX, B: SX) -> SX:
    """D^-1 B for a small positive definite D (k, k), by an unrolled L D L^T."""
    k = D.shape[0]
    if k == 1:
        return B * reciprocal(D)
    L: dict[tuple[int, int], SX] = {}
    inverse: list[SX] = []
    pivots: list[SX] = []
    for j in range(k):
        pivot = D[j, j]
        for s in range(j):
            pivot = pivot - L[j, s] * L[j, s] * pivots[s]
        pivots.append(pivot)
        inverse.append(reciprocal(pivot))
        for i in range(j + 1, k):
            entry = D[i, j]
            for s in range(j):
                entry = entry - L[i, s] * L[j, s] * pivots[s]
            L[i, j] = entry * inverse[j]
    rows = [B[i, :] for i in range(k)]
    for i in range(k):
        for s in range(i):
            rows[i] = rows[i] - L[i, s] * rows[s]
    rows = [row * d for row, d in zip(rows, inverse, strict=True)]
    for i in reversed(range(k)):
        for s in range(i + 1, k):
            rows[i] = rows[i] - L[s, i] * rows[s]
    return ca.vertcat(*rows)


def solve_symmetric_transposed(S: SX, tau: SX) -> SX:
    """The wrench (6,) with S^T F = tau for an invertible S (6, 6)."""
    if tau.is_zero():
        return SX.zeros(6)
    return ca.solve(S.T, tau)


def _first_rows(tree: TreeState) -> list[int]:
    """Row of each link's first free coordinate; the last entry is the number of all free coordinates."""
    first = [0]
    for S in tree.S:
        first.append(first[-1] + S.shape[1])
    return first


def _unlocked(tree: TreeState, first: list[int]) -> list[SX]:
    """For each free coordinate 1, or 1 minus the flag that locks it."""
    free = [SX(1)] * first[-1]
    for i, lock in enumerate(tree.locked or ()):
        if lock is not None:
            free[first[i] : first[i + 1]] = ca.vertsplit(1 - lock)
    return free


def _rows_above(tree: TreeState, first: list[int]) -> list[list[int]]:
    """For each free coordinate, all those between it and the ground, nearest to the ground first."""
    through: list[list[int]] = []
    rows: list[list[int]] = []
    for i, parent in enumerate(tree.parents):
        above = list(through[parent]) if parent >= 0 else []
        for k in range(tree.S[i].shape[1]):
            rows.append(list(above))
            above.append(first[i] + k)
        through.append(above)
    return rows
