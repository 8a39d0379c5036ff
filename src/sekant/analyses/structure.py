"""Structural analysis of a system: index, degrees of freedom and redundant constraints, by name.

The structural analysis uses only which variables occur in which equations, not numbers, so it cannot detect
redundant constraints (structurally, Bricard's mechanism has no degree of freedom; in fact it has one). The result
therefore also contains the rank of the constraint Jacobian at a consistent state, and the rows that others imply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.engine.arguments import check_state
from sekant.engine.state import State
from sekant.engine.system import System, as_system
from sekant.errors import SolverError, counted
from sekant.geometry.spatial import SX
from sekant.model.model import Model
from sekant.solvers.linear.rank import redundant_rows
from sekant.solvers.structure import Tableau, analyze_structure, signature

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector


@dataclass(frozen=True)
class Redundant:
    """A constraint, the number of its `rows` that other constraints imply, and the names of those constraints."""

    name: str
    rows: int
    implied_by: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SystemStructure:
    """The structure of the equations, from their pattern and from their numbers at a consistent state."""

    tableau: Tableau
    coordinates: int
    equations: int
    rank: int
    redundant: tuple[Redundant, ...]
    free_initial_values: tuple[str, ...] = ()
    """Coordinates and velocities whose start values may be chosen freely; they determine all others (DERA 3.2)."""
    nonlinear: tuple[str, ...] = ()
    """Equations that are not linear in the leading derivatives, x_j^(d_j); empty for a quasilinear system."""

    @property
    def quasilinear(self) -> bool:
        """Whether the leading derivatives, usually accelerations and multipliers, occur linearly: start values of
        lower derivatives then determine the motion (DERA 3.3)."""
        return not self.nonlinear

    @property
    def degrees_of_freedom(self) -> int:
        """Number of coordinates minus independent constraints, by the numerical rank."""
        return self.coordinates - self.rank

    @property
    def index(self) -> int:
        return self.tableau.index

    def __str__(self) -> str:
        leading = "no" if self.nonlinear else "yes"
        if self.nonlinear:
            leading += f": leading derivatives occur nonlinearly in {', '.join(self.nonlinear)}"
        lines = [
            self.tableau.describe(),
            f"quasilinear: {leading}",
            f"structural degrees of freedom {self.tableau.degrees_of_freedom:g}",
            f"numerical rank {self.rank} of {self.equations} constraint equations: "
            f"{counted(self.degrees_of_freedom, 'degrees of freedom')}",
        ]
        for entry in self.redundant:
            lines.append(
                f"'{entry.name}': {counted(entry.rows, 'redundant equations')}, implied by "
                f"{', '.join(entry.implied_by) or 'itself'}"
            )
        if self.free_initial_values:
            lines.append(f"start values that may be chosen freely: {', '.join(self.free_initial_values)}")
        return "\n".join(lines)


def structural_analysis(
    system: System | Model | Collector,
    state: State | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> SystemStructure:
    """The structure of the index-3 equations of a system: signature matrix, offsets, index, degrees of freedom, and
    whether the equations are quasilinear.

    `state` must be consistent; the default is the assembled start of the model. Print the result to see the tableau.
    """
    system = as_system(system, parameters)
    if state is not None:
        check_state(system, state)
    eq = system.equations
    rows = [block.name for block in eq.ordered_blocks for _ in range(block.rows)]
    point = state or (assemble(system, parameters=parameters) if rows else system.initial_state(parameters))
    inputs, p = [eq.t, eq.q, eq.p], system.parameter_vector(parameters)
    G = np.array(eq.lookups.oracle("G", inputs, [eq.G])(0.0, point.q, p)).reshape(len(rows), system.nv)
    found = redundant_rows(G)
    partners: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    for row, others in zip(found.redundant, found.partners, strict=True):
        name = rows[row]
        counts[name] = counts.get(name, 0) + 1
        partners.setdefault(name, set()).update(rows[k] for k in others)
    redundant = tuple(
        Redundant(name, count, tuple(sorted(partners[name] - {name}))) for name, count in counts.items()
    )
    sigma = _signature(system, len(rows))
    try:
        tableau = _analyzed(system, sigma, rows, range(len(rows)))
    except SolverError:  # some rows are zero, such as those normal to the plane of a planar loop
        tableau = _analyzed(system, sigma, rows, [k for k in range(len(rows)) if k not in found.redundant])
    free = _free_values(system, G, sum(block.rows for block in eq.ordered_blocks if block.holonomic))
    bent = _nonlinear(system, tableau, len(rows))
    return SystemStructure(tableau, system.nv, len(rows), found.rank, redundant, free, bent)


def _free_values(system: System, G: NDArray[np.float64], m_h: int) -> tuple[str, ...]:
    """Names of a set of coordinates, then velocities, that determine all others; preferably those to whose start
    values the model gives a large weight.

    A pivoted QR factorization orders the columns of G such that the first `rank` of them can be solved for.
    """
    from scipy.linalg import qr

    eq, n = system.equations, system.nv
    names = system.start_facts.coordinate_of, system.state_names[system.nq : system.nq + n]
    found: list[str] = []
    for rows, known, velocity in ((m_h, names[0], False), (len(G), names[1], True)):
        weights = np.array([eq.start.weight(key, velocity) for key in eq.motion.v_names])
        scaled = G[:rows] / np.sqrt(np.maximum(weights, 1e-6))
        if not scaled.size:
            found += known
            continue
        factors: Any = qr(scaled, mode="r", pivoting=True)
        R, order = factors
        sizes = np.abs(np.diag(R))
        rank = int(np.sum(sizes > 1e-9 * max(1e-300, sizes[0])))
        found += [known[i] for i in sorted(order[rank:])]
    return tuple(found)


def _nonlinear(system: System, tableau: Tableau, m: int) -> tuple[str, ...]:
    """Equations with c_i = 0 in which the leading derivatives occur nonlinearly; differentiated equations (c_i > 0)
    are linear in them.

    The forces come first among the equations, coordinates first among the variables, as `_analyzed` orders them.
    """
    eq, n = system.equations, system.nv
    a, lam = SX.sym("a", n), SX.sym("lam", m)
    orders = {2: a, 1: eq.v}
    leading = [orders[d][j] for j, d in enumerate(tableau.d[:n].tolist()) if d in orders]
    rows = [i for i, c in enumerate(tableau.c[:n].tolist()) if c == 0]
    if not rows or not leading:
        return ()
    w = ca.vertcat(*leading, lam)
    slopes = eq.lookups.jacobian(eq.residual(a, lam)[rows], w)
    bent = [i for k, i in enumerate(rows) if ca.depends_on(slopes[k, :], w)]
    return tuple(tableau.equations[i] for i in bent)


def _signature(system: System, m: int) -> NDArray[np.int64]:
    """Signature matrix of ``R(s'', s', s, lam) = 0``, ``Phi(s) = 0``, ``B(s', s) = 0`` in displacements s, s' = v."""
    eq, n = system.equations, system.nv
    a, lam = SX.sym("a", n), SX.sym("lam", m)
    residual = eq.residual(a, lam)
    N = eq.lookups.jacobian(eq.qdot, eq.v)

    def where(expression: SX, by: SX, first_row: int, first_column: int):
        J = ca.sparsify(eq.lookups.jacobian(expression, by))
        if by is eq.q:
            J = ca.sparsify(J @ N)
        i, j = J.sparsity().get_triplet()
        return np.array(i, dtype=np.int64) + first_row, np.array(j, dtype=np.int64) + first_column

    m_h = eq.Phi.numel()
    zeroth = [where(residual, eq.q, 0, 0), where(residual, lam, 0, n)]
    first, second = [where(residual, eq.v, 0, 0)], [where(residual, a, 0, 0)]
    if m_h:
        zeroth.append(where(eq.Phi, eq.q, n, 0))
    if m > m_h:
        zeroth.append(where(eq.B, eq.q, n + m_h, 0))
        first.append(where(eq.B, eq.v, n + m_h, 0))
    return signature(n + m, {0: zeroth, 1: first, 2: second})


def _analyzed(system: System, sigma: NDArray[np.int64], rows: list[str], used: Iterable[int]) -> Tableau:
    """The tableau with the constraint rows `used` and their multipliers."""
    n, used = system.nv, list(used)
    names = _numbered(rows)
    part = [*range(n), *(n + k for k in used)]
    motions = system.start_facts.coordinate_of
    return analyze_structure(
        sigma[np.ix_(part, part)],
        [*(f"force {name}" for name in motions), *(names[k] for k in used)],
        [*motions, *(f"lam {names[k]}" for k in used)],
    )


def _numbered(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(f"{name} {seen[name]}" if names.count(name) > 1 else name)
    return out
