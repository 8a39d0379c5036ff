"""Start values that satisfy the given numbers. Defaults of lengths and frames follow from these values, not from an
approximate start.

The start moves as little as possible, weighted, by Gauss-Newton steps dy = -W^-1 J^T (J W^-1 J^T)^+ Phi on those
position equations whose numbers the user gave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry.spatial import SX
from sekant.solvers.newton import FullSteps, FunctionProblem, Rows, newton

if TYPE_CHECKING:
    from sekant.model.points.composition import Composition

Vector = NDArray[np.float64]
CLOSE = 1e-13
"""Residual, relative to the size of the start, below which an equation counts as satisfied."""
STEPS = 50


def solved_starts(m: Composition) -> dict[str, float] | None:
    """Start values by name of coordinates; None if the start is already consistent or nothing satisfies the
    equations."""
    rows = [row.expression for row in m.positions.values() if row.stated and m.moves(row.expression)]
    tracked = {number for number, _, _ in m.tracked.values()}
    free = [i for i, c in enumerate(m.coordinates) if c.fixed is None and i not in tracked]
    if not rows or not free:
        return None
    Phi = ca.densify(ca.vertcat(*[ca.vec(row) for row in rows]))
    y = m.y
    J = m.lookups.jacobian(Phi, y[free])
    f = m.lookups.oracle("stated", [y, m.y_rate, m.t, m.p], [Phi, ca.densify(SX(J))])
    start = np.array([c.start for c in m.coordinates])
    rates = np.array([c.start_rate for c in m.coordinates])
    inverse = 1.0 / np.array([m.coordinates[i].weight for i in free])
    size = max(1.0, float(np.max(np.abs(start))))

    def at(now: Vector) -> Rows:
        residual, slope = (np.array(part) for part in f(now, rates, 0.0, m.resolved.defaults))
        return Rows(residual.ravel(), slope, np.sqrt(inverse), 1e-10)

    def moved(now: Vector, step: Vector) -> Vector:
        ahead = now.copy()
        ahead[free] += step
        return ahead

    search = FullSteps(longest=10 * size)
    found = newton(FunctionProblem(at, moved), start, search, CLOSE * size * size, most=STEPS)
    if not found.converged or not found.iterations:
        return None
    return {m.coordinates[i].name: float(found.point[i]) for i in free}
