"""Derivatives of the eigenvalues and of the left and right eigenvectors of any matrix, and warnings about repeated
eigenvalues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning

if TYPE_CHECKING:
    from sekant.analyses.linear.modes import Modes

Array = NDArray[Any]
REPEATED = 1e-7  # distance of eigenvalues, relative to the largest, below which they count as equal
CLOSE = 1e-3  # distance of eigenvalues, relative to their size, below which there is a warning


@dataclass(frozen=True, eq=False)
class EigenDerivatives:
    """Derivatives of eigenvalues, `values` (n, k), and eigenvectors, `right` and `left` (n, n, k).

    `repeated`: groups of repeated eigenvalues; `warnings`: about repeated and close eigenvalues.
    """

    values: Array
    right: Array
    left: Array
    repeated: tuple[tuple[int, ...], ...]
    warnings: tuple[AnalysisWarning, ...]


def eigen_derivatives(modes: Modes, dA: Array) -> EigenDerivatives:
    """Derivatives of the eigenvalues and eigenvectors for changes dA (n, n, k) of the matrix."""
    values, R, L = modes.eigenvalues, modes.right, modes.left
    n, count = values.size, dA.shape[2]
    groups = _groups(values)
    mixed = np.einsum("ij,jlp,lm->imp", L.conj().T, dA, R)  # l_i^H dA r_m
    d_values = np.einsum("iip->ip", mixed).astype(complex)
    d_right = np.full((n, n, count), np.nan, complex)
    d_left = np.full((n, n, count), np.nan, complex)
    warnings = _close(values, groups)
    in_group = {k for group in groups for k in group}
    for group in groups:
        d_values[list(group)], warning = _branches(values, R, L, dA, group)
        warnings.append(warning)
    for k in range(n):
        if k in in_group:
            continue
        others = [j for j in range(n) if j != k]
        gaps = values[k] - values[others]
        # the r_j of a group span its space, but the l_j may not be dual to them, so the duals are computed
        dual = np.linalg.pinv(R) if in_group else L.conj().T
        for p in range(count):
            d0 = R[:, others] @ ((dual[others] @ dA[:, :, p] @ R[:, k]) / gaps)
            r, at = R[:, k], int(np.argmax(np.abs(R[:, k]) > 0.999 * np.abs(R[:, k]).max()))
            c = -np.real(np.vdot(r, d0)) - 1j * np.imag(d0[at]) / np.real(r[at])
            d_right[:, k, p] = d0 + c * r
            row = ((dual[k] @ dA[:, :, p] @ R[:, others]) / gaps) @ dual[others] - c * dual[k]
            d_left[:, k, p] = np.conj(row)
    return EigenDerivatives(d_values, d_right, d_left, groups, tuple(warnings))


def _groups(values: Array) -> tuple[tuple[int, ...], ...]:
    limit = REPEATED * float(np.max(np.abs(values), initial=0.0))
    found, taken = [], set()
    for k in range(values.size):
        if k in taken:
            continue
        group = [j for j in range(values.size) if j not in taken and abs(values[j] - values[k]) <= limit]
        if len(group) > 1:
            found.append(tuple(group))
            taken.update(group)
    return tuple(found)


def _close(values: Array, groups: tuple[tuple[int, ...], ...]) -> list[AnalysisWarning]:
    together = {frozenset((i, j)) for group in groups for i in group for j in group}
    found = []
    for i in range(values.size):
        for j in range(i + 1, values.size):
            gap, size = abs(values[i] - values[j]), max(abs(values[i]), abs(values[j]))
            if frozenset((i, j)) not in together and gap < CLOSE * size:
                found.append(
                    AnalysisWarning(
                        "close_eigenvalues",
                        f"modes {i + 1} and {j + 1}",
                        "",
                        f"their eigenvalues are almost equal (relative difference {gap / size:.1e}), so "
                        "their eigenvectors change quickly",
                        "trust the derivatives only for relative changes much smaller than this difference",
                    )
                )
    return found


def _branches(values: Array, R: Array, L: Array, dA: Array, group: tuple[int, ...]):
    """Slopes (group, k) of the branches into which a repeated eigenvalue splits, and a warning."""
    label = ", ".join(str(k + 1) for k in group)
    members = list(group)
    inner = L[:, members].conj().T @ R[:, members]
    sizes = np.linalg.svd(R[:, members], compute_uv=False)
    if sizes[-1] < 1e-6 or np.linalg.cond(inner) > 1e8:
        cause = (
            f"they have the same eigenvalue, {values[members[0]]:.4g}, and the same eigenvector: the eigenvalue has "
            "no derivative"
        )
        remedy = "change a parameter slightly before differentiating"
        warning = AnalysisWarning("defective_eigenvalues", f"modes {label}", "", cause, remedy)
        return np.full((len(group), dA.shape[2]), np.nan, complex), warning
    block = np.stack(
        [
            np.linalg.eigvals(np.linalg.solve(inner, L[:, members].conj().T @ dA[:, :, p] @ R[:, members]))
            for p in range(dA.shape[2])
        ],
        axis=-1,
    )
    cause = (
        f"they have the same eigenvalue, {values[members[0]]:.4g}: its derivatives are the slopes of its branches, "
        "and the eigenvectors have no derivatives"
    )
    remedy = (
        "differentiate with respect to one parameter at a time, or use a symmetric function of these modes"
    )
    return block, AnalysisWarning("repeated_eigenvalues", f"modes {label}", "", cause, remedy)
