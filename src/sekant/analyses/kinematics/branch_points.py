"""Computes the points where two branches of the motion meet, with an accuracy of round-off.

The sweep detects a meeting by a change of sign of the determinant of its equations, and locates it within a small
part of a step. The equations are nearly singular close to the meeting, but regular on both sides of it: a polynomial
through the determinants at six nearby points has its root at the meeting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.equations import DrivenEquations
from sekant.solvers.newton import FullSteps, FunctionProblem, Rows, newton
from sekant.solvers.sweep import sweep

Vector = NDArray[np.float64]
PLACES = np.array([1.0, 2.0, 3.0])  # points on either side, in units of `SPACING` of the distance
SPACING = 0.02  # relative to the distance of `before` and `after`


def meeting(
    equations: DrivenEquations,
    before: tuple[Vector, Vector],
    after: tuple[Vector, Vector],
    near: Vector,
    tolerance: float,
) -> tuple[Vector, Vector] | None:
    """Drive values (m,) and coordinates (nq,) of the meeting close to the drive values `near`, or None.

    `before` and `after` are regular points (q, d) of the branch on both sides of it.
    """
    step = SPACING * (after[1] - before[1])
    left = _solutions(equations, *before, near - PLACES[:, None] * step, tolerance)
    right = _solutions(equations, *after, near + PLACES[:, None] * step, tolerance)
    if left is None or right is None:
        return None
    q = np.vstack([left[::-1], right])
    matrices = [equations.terms(row)[1] for row in q]
    determinants = np.array([np.linalg.det(matrices[2].T @ J) for J in matrices])
    if not np.all(determinants[:3] * determinants[3:] < 0):
        return None
    x = np.concatenate([-PLACES[::-1], PLACES])
    powers = np.vander(x)
    roots = np.roots(np.linalg.solve(powers, determinants / np.abs(determinants).max()))
    roots = roots[np.abs(roots.imag) < 1e-9].real
    if not roots.size or np.abs(roots).min() > 0.5:
        return None
    root = float(roots[np.argmin(np.abs(roots))])
    there = np.vander([root], x.size)[0] @ np.linalg.solve(powers, q)
    return near + root * step, equations.move(there, np.zeros(equations.system.nv))


def _solutions(
    equations: DrivenEquations, q: Vector, d: Vector, points: Vector, tolerance: float
) -> Vector | None:
    """Coordinates (k, nq) at `points` (k, m), from q at d, to round-off; None if one is not found."""
    k = np.arange(len(points))
    edges = np.column_stack([k - 1, np.where(k + 1 < len(points), k + 1, -1)])
    found = sweep(equations.problem(), q, d, points, edges, tolerance, equations.pool)
    if not np.all(found.reached == 1) or len(found.meetings):
        return None
    return np.array([_polished(equations, row, point) for row, point in zip(found.q, points, strict=True)])


def _polished(equations: DrivenEquations, q: Vector, d: Vector) -> Vector:
    """q after two more steps of Newton's method, because near a meeting a small residual does not imply a small
    error."""
    first = equations.rows - d.size

    def at(q: Vector) -> Rows:
        F, J = equations.terms(q)
        residual = F.copy()
        residual[first:] -= d
        for i, drive in enumerate(equations.drives, first):
            if drive.periodic:
                residual[i] -= 2 * np.pi * np.round(residual[i] / (2 * np.pi))
        return Rows(residual, J, rank=1e-15)

    return newton(FunctionProblem(at, equations.move), q, FullSteps(), 0.0, most=2).point
