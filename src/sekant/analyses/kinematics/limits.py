"""Limits of the travel of a driven mechanism: dead points by arc-length continuation, ends of paths by bisection.

At a dead point the drive has a maximum or minimum along the motion: its rate by arc length, g = h_q tau with the unit
tangent tau of the motion, changes sign, while the motion itself continues. The search therefore continues by arc
length, for which such points are regular, until the zero of g is bracketed; then it computes the zero to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.equations import DrivenEquations
from sekant.analyses.kinematics.mobility import displacement_name
from sekant.engine.reports import explain_failure
from sekant.solvers.newton import FullSteps, FunctionProblem, Reason, Rows, newton

Vector = NDArray[np.float64]
DEAD_POINT = "dead point"
ROUND_OFF = 1e-13  # m, rad: smaller values appear as zero in messages
MEETING = "branches meet"
END = "end of range"
LOST = "lost"


@dataclass(frozen=True, eq=False)
class Limit:
    """A position where the travel ends, or where branches meet.

    `value` (m,): values of the drives. `q` (nq,): coordinates; they are NaN if branches meet next to another singular
    position, where the meeting is known only to 1e-4 of a step. `kind`: "dead point", "branches meet", "end of
    range" or "lost". `text`: a description.
    """

    kind: str
    value: Vector
    direction: Vector  # (m,) direction of the motion of the drives
    q: Vector
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class _Point:
    """A point of the motion: coordinates q (nq,), unit tangent (nv,) as a displacement, drives d (m,), rate g."""

    q: Vector
    tangent: Vector
    d: Vector
    g: float


class TravelEnd:
    """Searches for the end of travel along a straight line in the space of drives, from d_A at q_A toward d_B."""

    def __init__(self, equations: DrivenEquations, q_A: Vector, d_A: Vector, d_B: Vector):
        self.equations, self.m = equations, len(d_A)
        self.way = float(np.linalg.norm(d_B - d_A))
        self.e = (d_B - d_A) / self.way
        self.across = np.linalg.svd(self.e[None, :])[2][1:]  # (m - 1, m): drives that stay constant
        self.d_A = d_A
        self.start = self._point(q_A, None)

    def _rows(self, q: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Equations of the motion and their matrix, drives (m,) and their slopes (m, nv)."""
        F, J = self.equations.terms(q)
        k = self.equations.rows - self.m
        h, H = F[k:], J[k:]
        difference = h - self.d_A
        for j, drive in enumerate(self.equations.drives):
            if drive.periodic:
                difference[j] -= 2 * np.pi * np.round(difference[j] / (2 * np.pi))
        rows = np.concatenate([F[:k], self.across @ difference])
        return rows, np.vstack([J[:k], self.across @ H]), self.d_A + difference, H

    def _point(self, q: Vector, before: Vector | None) -> _Point:
        _, A, d, H = self._rows(q)
        tangent = np.linalg.svd(A)[2][-1] if A.shape[0] else np.ones(A.shape[1])
        tangent = tangent / np.linalg.norm(tangent)
        g = float(self.e @ H @ tangent)
        forward = g if before is None else float(tangent @ before)
        if forward < 0:
            tangent, g = -tangent, -g
        return _Point(q, tangent, d, g)

    def _ahead(self, base: _Point, length: float) -> _Point | None:
        """The point of the motion at `length` along the tangent of `base`; None if there is none."""
        q = self.equations.move(base.q, length * base.tangent)
        size = max(1.0, float(np.max(np.abs(q))))

        def at(q: Vector) -> Rows:
            rows, A, d, _ = self._rows(q)
            known = np.all(np.isfinite(A)) and np.all(np.isfinite(d))
            return Rows(
                np.append(rows, 0.0) if known else np.append(rows, np.nan), np.vstack([A, base.tangent])
            )

        problem = FunctionProblem(at, self.equations.move)
        search = FullSteps(contraction=0.7, floor=1e-14 * size, travel=0.5 * abs(length))
        found = newton(problem, q, search, 1e-13 * size, most=12, smallest_step=1e-15 * size)
        if found.reason in (Reason.NOT_FINITE, Reason.DIVERGED):
            return None
        q = found.point
        point = self._point(q, base.tangent)
        return point if point.tangent @ base.tangent > 0.5 else None

    def find(self, most: int = 2000) -> Limit | None:
        """The end of the travel; None if d_B can be reached."""
        base = self.start
        length = 0.02 * min(1.0, self.way / max(base.g, 1e-12))
        shortest = 1e-13 * max(1.0, float(np.max(np.abs(base.q))))
        for _ in range(most):
            if length < shortest:
                return self._end(base)
            ahead = self._ahead(base, length)
            if ahead is None:
                length *= 0.5
                continue
            if ahead.g <= 0:
                return self._dead_point(base, length)
            if self.e @ (ahead.d - self.d_A) >= self.way:
                return None
            base, length = ahead, 1.5 * length
        return self._limit(LOST, base, "the search for the end of the travel stopped after too many steps at")

    def _dead_point(self, base: _Point, length: float) -> Limit:
        low, high, best = 0.0, length, base
        for _ in range(80):
            middle = 0.5 * (low + high)
            found = self._ahead(base, middle)
            if found is None:
                high = middle
                continue
            best = found if abs(found.g) <= abs(best.g) else best
            low, high = (middle, high) if found.g > 0 else (low, middle)
            if abs(found.g) < 1e-14 or high - low < 1e-15 * max(1.0, length):
                break
        _, A, _, _ = self._rows(best.q)
        sizes = np.linalg.svd(A, compute_uv=False)
        n = self.equations.system.nv
        if n > 1 and sizes.size >= n - 1 and sizes[n - 2] < 1e-5 * sizes[0]:
            return self._limit(MEETING, best, "two branches of the motion meet at")
        fastest = displacement_name(self.equations.system, int(np.argmax(np.abs(best.tangent))))
        return self._limit(DEAD_POINT, best, "dead point at", f", where '{fastest}' can still move")

    def _end(self, base: _Point) -> Limit:
        system = self.equations.system
        beyond = self.equations.move(base.q, 1e-7 * base.tangent)
        fault = explain_failure(system, self.equations.t, np.concatenate([beyond, np.zeros(system.nv)]))
        if fault:
            return self._limit(END, base, "travel ends at", f": {fault}")
        return self._limit(LOST, base, "no branch continues from")

    def _limit(self, kind: str, point: _Point, text: str, more: str = "") -> Limit:
        where = drive_text(self.equations, point.d)
        return Limit(kind, point.d, self.e, point.q, f"{text} {where}{more}")


def drive_text(equations: DrivenEquations, d: Vector) -> str:
    """The values d (m,) of the drives as a string, such as ``hinge.angle = 1.234 rad, rack.s = 0.01 m``."""
    parts = []
    for k, (drive, at) in enumerate(zip(equations.drives, d, strict=True)):
        label, zero = equations.shown_as(k)
        value = at - zero
        parts.append(f"{label} = {value if abs(value) > ROUND_OFF else 0.0:.9g} {drive.unit}".rstrip())
    return ", ".join(dict.fromkeys(parts))
