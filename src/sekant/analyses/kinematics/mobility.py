"""Checks that the drives determine all degrees of freedom of a mechanism."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.equations import DrivenEquations
from sekant.engine.system import System
from sekant.errors import ModelError
from sekant.solvers.newton.closing import NOTHING

Vector = NDArray[np.float64]
RANK = 1e-9  # singular values below this, relative to the largest, count as zero


class UndrivenMotion(ModelError):
    """Some coordinates are not determined by any drive. `found`: the cause, without a remedy."""

    def __init__(self, found: str, remedy: str):
        super().__init__(f"{found}; {remedy}")
        self.found = found


def check_mobility(equations: DrivenEquations, q: Vector, held: int) -> None:
    """Raise a `ModelError` unless the drives, the last `held` of which are held quantities, determine the position
    at q."""
    system, m = equations.system, len(equations.drives)
    J = equations.terms(q)[1]
    if not np.isfinite(J).all():
        raise ModelError(
            f"model '{system.model.name}': the derivatives of {_listed(equations)} are not finite at the "
            "start; start elsewhere, or drive other quantities"
        )
    J = np.where(np.einsum("ij,ij->i", J, J)[:, None] > NOTHING**2, J, 0.0)
    if J.shape[0] == J.shape[1] and J.size:
        sizes = np.linalg.svd(J, compute_uv=False)
        if (
            sizes[-1] > RANK * sizes[0]
        ):  # regular: all rows are independent, including those of the constraints
            return
    G = J[: equations.rows - m]
    freedom = system.nv - _rank(G)
    rest = null_space(J)
    if freedom == m and not rest.shape[1]:
        return
    name, drives = system.model.name, _listed(equations)
    count = f"{freedom} degree{'' if freedom == 1 else 's'} of freedom"
    given = f"{m - held} drive{'' if m - held == 1 else 's'}" + (
        f" and {held} held quantit{'y' if held == 1 else 'ies'}" if held else ""
    )
    if freedom < m:
        if freedom == 0:
            raise ModelError(f"model '{name}' has no degree of freedom at its start: nothing can be driven")
        raise ModelError(f"model '{name}' has {count} but {given} ({drives}); remove {m - freedom} of them")
    if freedom > m:
        free = _moving(equations, rest)
        which = f"{rest.shape[1]} of these coordinates" if "," in free else "this coordinate"
        raise UndrivenMotion(
            f"model '{name}' has {count} but {given} ({drives})",
            f"{free} can still move; drive or hold (hold=[...]) {which}, or fix joints",
        )
    raise ModelError(
        f"model '{name}': at the start, driving {drives} does not determine the motion: "
        f"{_moving(equations, rest)} can move while every drive is held (a dead point, or drives that depend on "
        "one another); start elsewhere, or drive other quantities"
    )


def null_space(J: Vector) -> Vector:
    """Basis (nv, k) of the displacements that J (M, nv) maps to zero."""
    if not J.shape[0]:
        return np.eye(J.shape[1])
    _, sizes, V = np.linalg.svd(J)
    rank = int(np.count_nonzero(sizes > RANK * max(sizes.max(initial=0.0), 1e-300)))
    return V[rank:].T


def _rank(G: Vector) -> int:
    return G.shape[1] - null_space(G).shape[1] if G.shape[0] else 0


def _moving(equations: DrivenEquations, rest: Vector, most: int = 8) -> str:
    """Names of the coordinates that move in `rest` (nv, k), in the order of their amplitudes."""
    size = np.linalg.norm(rest, axis=1)
    order = [int(i) for i in np.argsort(-size, kind="stable") if size[i] > 1e-6]
    shown = [displacement_name(equations.system, i) for i in order]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(f"'{name}'" for name in shown[:most]) + more


def displacement_name(system: System, i: int) -> str:
    """Name of the coordinate that displacement i moves; if it moves several, the name of its rate."""
    motion = system.equations.motion
    key = motion.v_names[i]
    owner = motion.owner_of(key[0])
    if owner is not None and owner.unit_quaternion is not None:
        return system.state_names[system.nq + i]
    return system.state_names[motion.q_names.index(key)]


def _listed(equations: DrivenEquations) -> str:
    return ", ".join(f"'{drive.name}'" for drive in equations.drives)
