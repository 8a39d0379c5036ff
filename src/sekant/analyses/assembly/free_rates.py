"""Velocities that neither start values nor constraints determine, and what depends on them."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.loop_geometry import Closed, LoopGeometry

Vector = NDArray[np.float64]
NONE = 1e-9
"""Share of the largest velocity, or of a unit direction, below which a value counts as zero."""


@dataclass(frozen=True)
class FreeVelocity:
    """A velocity that nothing determines, and its chosen value."""

    name: str
    value: float


def free_velocities(geometry: LoopGeometry, closed: Closed) -> tuple[tuple[FreeVelocity, ...], bool]:
    """Velocities that would determine the free motions, one for each, and whether any motion is connected with these
    by inertia or constraints."""
    system, N, v = geometry.system, closed.free, closed.v
    if not N.shape[1]:
        return (), False
    names = system.state_names[system.nq : system.nq + system.nv]
    connected = _reached(np.linalg.norm(N, axis=1) > NONE, geometry)
    moving = bool((connected & (np.abs(v) > NONE * np.abs(v).max())).any())
    return tuple(FreeVelocity(names[i], float(v[i])) for i in sorted(_deciding(N))), moving


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
