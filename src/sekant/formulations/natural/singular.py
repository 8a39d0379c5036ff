"""Motions that the constraints allow and no mass resists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.formulations.constrained import ConstrainedEquations

Floats = NDArray[np.float64]
SINGULAR = 1e-12
"""Smallest eigenvalue of the mass matrix on the free motions, against the largest, that still counts as inertia."""


def motion_without_inertia(
    eq: ConstrainedEquations, names: Sequence[str], t: float, q: Floats, v: Floats, p: Floats
) -> str:
    """The coordinate that can move but that no mass resists, for a reader; else empty. `names`: of the velocities."""
    inputs = [eq.t, eq.q, eq.v, eq.p]
    M, G = (np.array(y) for y in eq.lookups.oracle("inertia", inputs, [eq.mass_matrix, eq.G])(t, q, v, p))
    if not (np.all(np.isfinite(M)) and np.all(np.isfinite(G))):
        return ""
    _, sizes, rows = np.linalg.svd(G) if G.size else (None, np.zeros(0), np.eye(eq.nv))
    rank = int(np.sum(sizes > 1e-10 * max(1.0, np.max(sizes, initial=0.0))))
    free = rows[rank:].T
    if not free.shape[1]:
        return ""
    values, vectors = np.linalg.eigh(free.T @ M @ free)
    if values[0] > SINGULAR * max(values[-1], float(np.max(np.abs(M)))):
        return ""
    name = names[int(np.argmax(np.abs(free @ vectors[:, 0])))]
    return (
        f"the mass matrix is singular: '{name}' can move but has no inertia (eigenvalues from "
        f"{values[0]:.1e} to {values[-1]:.1e}); give its part a mass or an inertia, or constrain it"
    )
