"""Velocities that neither start values nor constraints determine: they get the values with the least kinetic energy.

Of all velocities v that satisfy G v = -drift with the stated ones kept, v = v1 + N c, the one with the least
T(v1 + N c) has c = -(N^T M N)^+ N^T dT/dv(v1). It does not depend on the points or axes in which a body is described.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.loop_geometry import RANK, LoopGeometry
from sekant.engine.system import System
from sekant.tables.bound_oracle import BoundOracle

Vector = NDArray[np.float64]
NONE = 1e-9
"""Share of the largest velocity, or of a unit direction, below which a value counts as zero."""


@dataclass(frozen=True)
class FreeVelocity:
    """A velocity that nothing determines, and its chosen value."""

    name: str
    value: float


@dataclass(frozen=True)
class Filled:
    """`v` (nv,) with the least kinetic energy; `free`: velocities that would determine the free motions, one
    for each. `moving`: whether any motion is connected with them by inertia or constraints."""

    v: Vector
    free: tuple[FreeVelocity, ...] = ()
    moving: bool = False


def filled(geometry: LoopGeometry, q: Vector, v: Vector) -> Filled:
    """Velocities v (nv,) that satisfy all constraints at q; free ones have the least kinetic energy."""
    system = geometry.system
    N = _free_directions(geometry, q)
    if not N.shape[1]:
        return Filled(v)
    M, momentum = system.cached("kinetic terms", lambda: _kinetic_terms(system))(
        float(geometry.t[0]), q, v, geometry.p
    )
    M, momentum = M.reshape(system.nv, system.nv), momentum.ravel()
    if not (np.isfinite(M).all() and np.isfinite(momentum).all()):
        return Filled(v)
    v = v - N @ np.linalg.lstsq(N.T @ M @ N, N.T @ momentum, rcond=RANK)[0]
    largest = float(np.abs(v).max())
    v = np.where(np.abs(v) > 1e-14 * largest, v, 0.0)
    names = system.state_names[system.nq : system.nq + system.nv]
    connected = _reached(np.linalg.norm(N, axis=1) > NONE, geometry)
    moving = bool((connected & (np.abs(v) > NONE * largest)).any())
    chosen = sorted(_deciding(N))
    return Filled(v, tuple(FreeVelocity(names[i], float(v[i])) for i in chosen), moving)


def _free_directions(geometry: LoopGeometry, q: Vector) -> Vector:
    """N (nv, k), orthonormal: changes of the velocities that violate no constraint and change no stated value."""
    nv, G = geometry.system.nv, geometry.terms(q)[1]
    open_ = np.flatnonzero(geometry.free_rates & ~geometry.given_rates)
    N = np.zeros((nv, 0))
    if open_.size:
        found = _null_space(G[:, open_])
        N = np.zeros((nv, found.shape[1]))
        N[open_] = found
    return N


def _null_space(A: Vector) -> Vector:
    if not A.shape[0]:
        return np.eye(A.shape[1])
    _, sizes, rows = np.linalg.svd(A)
    rank = int(np.sum(sizes > RANK * max(1.0, float(sizes.max(initial=0.0)))))
    return rows[rank:].T


def _reached(first: NDArray[np.bool_], geometry: LoopGeometry) -> NDArray[np.bool_]:
    """(nv,) the velocities `first`, and all that share entries of the mass matrix or rows of G with them.

    Decided by structure, not by numbers: an entry that vanishes at one position, up to rounding, may be
    nonzero later.
    """
    rows, columns = ca.sparsify(geometry.system.equations.mass_matrix).sparsity().get_triplet()
    linked, reached = geometry.shares_constraint.copy(), first
    linked[rows, columns] = True
    while True:
        more = reached | linked[:, reached].any(axis=1)
        if (more == reached).all():
            return reached
        reached = more


def _deciding(N: Vector) -> list[int]:
    """Indices of k velocities that determine all others; each is the one least determined by the rest."""
    left, found = N.copy(), []
    for _ in range(N.shape[1]):
        sizes = np.linalg.norm(left, axis=1)
        i = int(np.argmax(np.round(sizes, 9)))
        found.append(i)
        along = left[i] / sizes[i]
        left = left - np.outer(left @ along, along)
    return found


def _kinetic_terms(system: System) -> BoundOracle:
    """(t, q, v, p) -> M (nv, nv), dT/dv (nv,)."""
    eq = system.equations
    momentum = eq.lookups.gradient(eq.energies.kinetic, eq.v)
    return eq.lookups.bound([eq.t, eq.q, eq.v, eq.p], [eq.mass_matrix, momentum])
