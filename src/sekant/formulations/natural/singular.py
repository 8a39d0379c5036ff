"""Motions that the constraints allow but no mass resists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.formulations.constrained import ConstrainedEquations
from sekant.tables.bound_oracle import BoundOracle

Floats = NDArray[np.float64]
SINGULAR = 1e-12
"""Smallest eigenvalue of the mass matrix on the free motions, relative to the largest, that counts as inertia."""


@dataclass(frozen=True, eq=False)
class MotionWithoutInertia:
    """The coordinate that can move but that no mass resists. `names`: of the velocities; `inertia`: (t, q, v, p) ->
    mass matrix (nv, nv) and rows of the constraints (m, nv)."""

    names: tuple[str, ...]
    inertia: BoundOracle

    def __call__(self, t: float, q: Floats, v: Floats, p: Floats) -> str:
        """A message for a reader; empty if mass resists every motion."""
        n = v.size
        M, G = self.inertia(t, q, v, p)
        M, G = M.reshape(n, n), G.reshape(-1, n)
        if not (np.all(np.isfinite(M)) and np.all(np.isfinite(G))):
            return ""
        _, sizes, rows = np.linalg.svd(G) if G.size else (None, np.zeros(0), np.eye(n))
        rank = int(np.sum(sizes > 1e-10 * max(1.0, np.max(sizes, initial=0.0))))
        free = rows[rank:].T
        if not free.shape[1]:
            return ""
        values, vectors = np.linalg.eigh(free.T @ M @ free)
        if values[0] > SINGULAR * max(values[-1], float(np.max(np.abs(M)))):
            return ""
        name = self.names[int(np.argmax(np.abs(free @ vectors[:, 0])))]
        return (
            f"the mass matrix is singular: '{name}' can move but has no inertia (eigenvalues from "
            f"{values[0]:.1e} to {values[-1]:.1e}); give its part a mass or an inertia, or constrain it"
        )


def motion_without_inertia(eq: ConstrainedEquations, names: Sequence[str]) -> MotionWithoutInertia:
    inertia = eq.lookups.bound([eq.t, eq.q, eq.v, eq.p], [eq.mass_matrix, eq.G])
    return MotionWithoutInertia(tuple(names), inertia)
