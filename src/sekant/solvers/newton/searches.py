"""Control of Newton's steps: whole steps near a solution, or damped steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sekant.solvers.newton.newton import Advance, Reason, largest

FALL = 1e-4
"""Share of the decrease of a linear residual that a step must reach."""


@dataclass(frozen=True)
class FullSteps:
    """Whole steps, only while they shrink as expected near a solution.

    `contraction`: the largest ratio of a step to the one before it, unless it is below `floor`; `longest`:
    largest entry of a step, and `travel`: of the sum of all, above which the solution is not near. `judged`:
    number of leading entries of a step that are tested (coordinates, not the multipliers after them); None: all.
    """

    contraction: float = np.inf
    floor: float = 0.0
    longest: float = np.inf
    travel: float = np.inf
    judged: int | None = None

    def first(self) -> float:
        return 0.0

    def advance(self, problem: Any, point: Any, linear: Any, memory: float) -> Advance | Reason:
        """`memory`: the sum of the previous steps."""
        step = linear.step()
        size = largest(step[: self.judged])
        if not size <= self.longest or memory + size > self.travel:
            return Reason.DIVERGED
        ahead = problem.moved(point, step)
        if ahead is None:
            return Reason.DIVERGED
        there = problem.at(ahead)
        if np.isfinite(self.contraction) and np.all(np.isfinite(there.residual)):
            left = largest(there.step()[: self.judged])
            if left > self.contraction * size and left > self.floor:
                return Reason.DIVERGED
        return Advance(ahead, there, size, memory + size)


@dataclass(frozen=True)
class Damping:
    """Levenberg and Marquardt's damping, increased until the residual decreases by the share `fall`.

    `start`: the first damping, `least`: the smallest above zero; `factor`: for increasing and decreasing it.
    """

    start: float = 0.0
    least: float = 1e-8
    factor: float = 10.0
    fall: float = FALL
    greatest: float = 1e9

    def first(self) -> float:
        return self.start

    def advance(self, problem: Any, point: Any, linear: Any, memory: float) -> Advance | Reason:
        """`memory`: the decreased damping of the previous step."""
        damping, before = memory, np.linalg.norm(linear.residual)
        while damping < self.greatest:
            step = linear.step(damping)
            ahead = problem.moved(point, step)
            if ahead is not None:
                there = problem.at(ahead)
                if np.linalg.norm(there.residual) < (1 - self.fall) * before:
                    lower = damping / self.factor
                    return Advance(ahead, there, largest(step), lower if lower > self.least else 0.0)
            damping = max(self.factor * damping, self.least)
        return Reason.STALLED
