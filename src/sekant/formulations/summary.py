"""Summaries of a model for a reader, in any formulation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, counted

Vector = NDArray[np.float64]


def constraint_rank(eq: Any, q: Vector, p: Vector) -> int:
    """Number of independent constraint equations at q (nq,); 0 for a tree."""
    if not eq.constraints:
        return 0
    G = np.array(eq.lookups.oracle("G", [eq.t, eq.q, eq.p], [eq.G])(0.0, q, p))
    _refuse_not_finite(eq, G)
    return int(np.linalg.matrix_rank(G, tol=1e-9 * max(1.0, np.abs(G).max())))


def _refuse_not_finite(eq: Any, G: Vector) -> None:
    """Raise an error that names the constraint of the first row of G (m, nv) that is not finite."""
    wrong = np.flatnonzero(~np.isfinite(G).all(axis=1))
    if not wrong.size:
        return
    blocks = eq.ordered_blocks
    ends = np.cumsum([block.rows for block in blocks])
    name = blocks[int(np.searchsorted(ends, wrong[0], side="right"))].name
    raise ModelError(
        f"constraint '{name}': the derivatives of its equations are not finite at the start; its points coincide, or "
        "a position is too large for the computation; correct the positions of the bodies that it joins"
    )


def freedom_text(eq: Any, q: Vector, p: Vector) -> str:
    if not eq.constraints:
        return counted(eq.nv, "degrees of freedom")
    rank, count = constraint_rank(eq, q, p), eq.rate.numel()
    redundant = f", {count - rank} redundant" if rank < count else ""
    size = f"{counted(eq.nv, 'coordinates')}, {counted(count, 'equations')}{redundant}"
    return f"{counted(eq.nv - rank, 'degrees of freedom')} ({size})"


def totals(eq: Any, q: Vector, p: Vector) -> str:
    """One line about the size of the model."""
    found = eq.reports.inventory(p)
    mass = "" if found.mass is None else f"; {found.mass:.6g} kg"
    return f"{found.counts + '; ' if found.counts else ''}{freedom_text(eq, q, p)}{mass}"


def summary(eq: Any, q: Vector, p: Vector) -> str:
    """Parts, constraints and totals."""
    return "\n".join([*eq.reports.inventory(p).lines, totals(eq, q, p)])
