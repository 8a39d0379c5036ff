"""Structural analysis of differential-algebraic equations by Pryce's signature method.

For equations f_i = 0 in the variables x_j, sigma_ij is the highest order of a derivative of x_j in f_i. A transversal
of largest sum gives the offsets c_i, d_j, the smallest with d_j - c_i >= sigma_ij, and equality on the transversal:
f_i differentiated c_i times determines the derivatives of order d_j of the x_j. The index is max c_i, plus 1 if some
d_j is 0; the sum of the transversal, sum d_j - sum c_i, is the number of initial values that can be chosen. See DERA
3.3 and Pryce, BIT 41 (2001) 364-394. The analysis uses only the positions of variables, so it does not detect
redundant equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError

ABSENT = -(10**6)
Positions = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Tableau:
    """`sigma` (n, n): signature matrix, `ABSENT` where a variable does not occur. `transversal` (n,): the variable
    assigned to each equation. `c`, `d` (n,): offsets of equations and of variables."""

    sigma: NDArray[np.int64]
    transversal: NDArray[np.int64]
    c: NDArray[np.int64]
    d: NDArray[np.int64]
    equations: tuple[str, ...]
    variables: tuple[str, ...]

    @property
    def index(self) -> int:
        return int(self.c.max() + (1 if np.any(self.d == 0) else 0))

    @property
    def initial_values(self) -> int:
        """Number of initial values that can be chosen; twice the degrees of freedom of a mechanism."""
        return int(self.d.sum() - self.c.sum())

    @property
    def degrees_of_freedom(self) -> float:
        """Half of the initial values: for a mechanism, each has a position and a velocity."""
        return self.initial_values / 2

    def describe(self) -> str:
        """The tableau: signature matrix with offsets; the transversal is marked by a star."""
        columns = [["", *self.equations, "d"]]
        for j, name in enumerate(self.variables):
            cells = []
            for i in range(len(self.equations)):
                value = self.sigma[i, j]
                text = "" if value == ABSENT else str(value)
                cells.append(text + ("*" if self.transversal[i] == j else " "))
            columns.append([name + " ", *cells, f"{self.d[j]} "])
        columns.append(["c", *[str(x) for x in self.c], ""])
        widths = [max(len(cell) for cell in column) for column in columns]
        lines = []
        for row in zip(*columns, strict=True):
            first = row[0].ljust(widths[0])
            rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  ".join([first, *rest]).rstrip())
        summary = f"index {self.index}, {self.initial_values} free initial values"
        return "\n".join([*lines, summary])


def signature(n: int, orders: Mapping[int, Sequence[Positions]]) -> NDArray[np.int64]:
    """The signature matrix from the positions (rows, columns) of derivatives of each order."""
    sigma = np.full((n, n), ABSENT, dtype=np.int64)
    for order in sorted(orders):
        for rows, columns in orders[order]:
            rows, columns = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
            sigma[rows, columns] = np.maximum(sigma[rows, columns], order)
    return sigma


def analyze_structure(
    sigma: NDArray[np.int64],
    equations: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
) -> Tableau:
    """Transversal and canonical (smallest) offsets; raises if no transversal exists."""
    from scipy.optimize import linear_sum_assignment

    sigma = np.asarray(sigma, dtype=np.int64)
    n = sigma.shape[0]
    if sigma.shape != (n, n) or n == 0:
        raise SolverError(f"the signature matrix must be square, got shape {sigma.shape}")
    rows = tuple(equations) if equations is not None else tuple(f"f{i}" for i in range(n))
    names = tuple(variables) if variables is not None else tuple(f"x{j}" for j in range(n))
    if len(rows) != n or len(names) != n:
        raise SolverError(
            f"every equation and every variable needs a name (got {len(rows)} and {len(names)} names for n = {n})"
        )
    _, transversal = linear_sum_assignment(np.where(sigma == ABSENT, -ABSENT, -sigma))
    chosen = sigma[np.arange(n), transversal]
    if np.any(chosen == ABSENT):
        lonely = [rows[i] for i in np.flatnonzero(chosen == ABSENT)[:5]]
        raise SolverError(
            f"structurally singular: no variable is left for {', '.join(lonely)}; an equation is missing, or some "
            "equations determine the same variables twice"
        )
    c = np.zeros(n, dtype=np.int64)
    for _ in range(10 * n + 10):
        d = np.max(np.where(sigma == ABSENT, 0, sigma + c[:, None]), axis=0)
        raised = d[transversal] - chosen
        if np.array_equal(raised, c):
            return Tableau(sigma, np.asarray(transversal), c, d, rows, names)
        c = raised
    raise SolverError("the offsets of the structural analysis do not converge")
